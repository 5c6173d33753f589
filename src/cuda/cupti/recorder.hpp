// Records the work of GPUs with CUPTI.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda/cupti/library.hpp"
#include "cuda/recording/work.hpp"

namespace cuscope::cuda::cupti {

class Recorder final : public WorkRecorder {
  public:
    static Recorder& instance();

    // False, with the reason in *problem, if CUPTI is missing or serves another profiler.
    bool start(ActivityRecorder* records, std::string* problem);
    // From now on, calls cost what they cost without CUPTI, but for a few dozen nanoseconds.
    void stop();

    void begin(const Work& work) override;
    void end() override;
    void flush(bool last) override;

  private:
    // A call of the driver that issued work. CUPTI numbers them one after the other.
    struct Issue {
        std::atomic<std::uint32_t> correlation;
        std::uint32_t label;  // a name for the kernel in place of its own
        std::uint64_t call;   // of the program, in the trace
        std::uint64_t stream;
        std::uint64_t graph;  // the record of the graph's launch; 0: none yet
    };
    // Work that has not ended when so many more calls have been made loses its call. Streams hold 1024
    // commands each, so this takes a thousand full streams.
    static constexpr std::size_t issues = std::size_t{1} << 20;

    Recorder() = default;
    Result enable();
    std::string problem_of(Result result) const;
    void note_issue(const CallbackData& data);
    void take(std::uint8_t* buffer, std::size_t bytes);
    void take(const Record& record, ActivityRecorder& records);
    template <class Real>
    WorkRecord describe(const Real& real, ActivityRecorder& records);
    template <class Real>
    void take_copy(const Real& real, ActivityRecorder& records);
    std::uint32_t name_of_kernel(const char* mangled);

    const Library* library_ = nullptr;
    bool registered_ = false, running_ = false;
    Subscriber subscriber_ = nullptr;
    std::vector<std::uint32_t> functions_;  // of the driver that issue work
    Issue* issues_ = nullptr;               // by correlation, modulo their number

    std::atomic<ActivityRecorder*> records_{nullptr};
    std::mutex mutex_;  // of the deliveries, which come on CUPTI's thread; guards the names and the streams
    std::unordered_map<std::string, std::uint32_t> kernel_names_;  // by mangled names
    // cuscope's numbers of streams by CUPTI's, which count anew in each context.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> streams_;
};

}  // namespace cuscope::cuda::cupti
