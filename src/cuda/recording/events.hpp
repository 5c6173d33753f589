// Records the work of GPUs with events around it, where there is no CUPTI. The times include the waits for
// other work on the device, and the nodes of graphs are not seen.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/recording/work.hpp"

namespace cuscope::cuda {

class EventRecorder final : public WorkRecorder {
  public:
    static EventRecorder& instance();

    void start(ActivityRecorder* records);
    void stop();

    // Nothing is recorded while a stream is captured: the events would become part of the capture.
    void begin(const Work& work) override;
    void end() override;
    void flush(bool last) override;

  private:
    // Work that was issued, with the events before and after it.
    struct Timed {
        WorkRecord record;
        CUcontext context = nullptr;
        CUevent start = nullptr, end = nullptr;
        CUstream stream = nullptr;  // while the call is made
    };
    // What a context has for its times.
    struct Clock {
        CUevent base = nullptr;
        std::int64_t base_ns = 0;  // the host's time of the event
        std::vector<CUevent> spare;
    };
    static constexpr std::size_t most_unfinished = 1 << 16;  // work beyond it is counted as dropped

    EventRecorder() = default;
    // Null if the driver refuses.
    CUevent take_event(CUcontext context);
    void give_back(const Timed& timed);
    bool set_base(Clock& clock);
    enum class Which { all, oldest };
    void collect(Which which);

    static thread_local Timed current_;

    std::mutex mutex_;  // not held during calls that wait
    ActivityRecorder* records_ = nullptr;
    std::deque<Timed> unfinished_;
    std::map<CUcontext, Clock> clocks_;
};

}  // namespace cuscope::cuda
