// Recording by CUPTI while traces run. CUPTI has one client in a process at a time, so there is one session.
// Outside of traces CUPTI is not subscribed and records nothing, and before the first trace it is not loaded.
//
// CUPTI calls take_buffer() on any thread, also on its own, with locks of its own. So nothing here takes the
// GIL or calls CUPTI under a lock that take_buffer() needs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/cupti/calls.hpp"
#include "cuda/cupti/collector.hpp"
#include "cuda/cupti/library.hpp"
#include "runtime/activity.hpp"

namespace cuscope::cuda::cupti {

class Session {
  public:
    // Records for `recorder`, which lives until stop(). Returns why it does not: CUPTI was not found, or it
    // refused. Start and stop are not called at the same time.
    std::string start(ActivityRecorder& recorder);
    void stop();
    bool running() const { return running_.load(std::memory_order_relaxed); }

    // Returns when the records of all work that has ended were handed over. `last`: also gives up the work
    // that has not ended, whose buffers CUPTI would keep otherwise.
    void flush(bool last);

    // Between these calls, work that this thread gives to a device belongs to the call.
    void push(const CallOfWork& call);
    void pop();

    void add_stream(const StreamRecord& stream) { collector_.add_stream(stream); }
    bool knows_stream(std::uint64_t id) { return collector_.knows_stream(id); }

    // For CUPTI.
    void give_buffer(std::uint8_t** buffer, std::size_t* bytes);
    void take_buffer(std::uint8_t* buffer, std::size_t valid_bytes);

  private:
    std::string subscribe();
    std::string enable();
    void disable();
    void keep_buffer(std::uint8_t* buffer);

    const Library* library_ = nullptr;
    Subscriber subscriber_ = nullptr;
    std::vector<Kind> enabled_;
    bool apis_enabled_ = false;
    Calls calls_;
    Collector collector_{calls_};
    std::atomic<ActivityRecorder*> recorder_{nullptr};
    std::atomic<bool> running_{false};

    std::mutex mutex_;  // guards the members below; never held during a call of CUPTI
    std::vector<std::uint8_t*> free_buffers_;
    std::size_t buffers_ = 0;  // of CUPTI and free
};

// Never destroyed: CUPTI may hand over records while the process exits.
Session& session();

}  // namespace cuscope::cuda::cupti
