// Recording by CUPTI while traces run. CUPTI has one client in a process at a time, so there is one session.
// Outside of traces CUPTI is not subscribed and records nothing, and before the first trace it is not loaded.
//
// While a stream is captured, CUPTI is not started, stopped or flushed, since that could invalidate the
// capture. The callers see to it: see calls/tracing.cpp.
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
    // Not while a device works: CUPTI would give up what the device still writes to. Profilers that switched
    // CUPTI off beside launches of graphs have seen illegal accesses to memory.
    void stop();
    bool running() const { return running_.load(std::memory_order_relaxed); }

    // In place of stop() while a stream is captured or a device works: no more records are handed over, but
    // CUPTI stays on. resume() goes on for another recorder; a later stop() switches CUPTI off.
    void pause();
    void resume(ActivityRecorder& recorder);
    bool paused() const { return paused_.load(std::memory_order_relaxed); }

    // Returns when the records of all work that has ended were handed over.
    void flush();

    // Until the next call of it, work that this thread gives to a device belongs to the call.
    static void set_call(const CallOfWork& call);

    void add_stream(const StreamRecord& stream) { collector_.add_stream(stream); }
    bool knows_stream(std::uint64_t id) { return collector_.knows_stream(id); }

    // For CUPTI.
    void note_call(std::uint32_t correlation);
    void give_buffer(std::uint8_t** buffer, std::size_t* bytes);
    void take_buffer(std::uint8_t* buffer, std::size_t valid_bytes);

  private:
    struct FullBuffer {
        std::uint8_t* buffer;
        std::size_t valid_bytes;
    };

    std::string subscribe();
    std::string enable();
    std::string enable_callbacks();
    std::string refusal(const char* call, Result result) const;
    void read_buffers();
    void keep_buffer(std::uint8_t* buffer);

    const Library* library_ = nullptr;
    Subscriber subscriber_ = nullptr;
    std::vector<Kind> enabled_;
    Calls calls_;
    Collector collector_{calls_};
    std::atomic<ActivityRecorder*> recorder_{nullptr};
    std::atomic<bool> running_{false}, paused_{false};

    std::mutex mutex_;  // guards the members below; never held during a call of CUPTI
    std::vector<FullBuffer> full_buffers_;
    std::vector<std::uint8_t*> free_buffers_;
    std::size_t buffers_ = 0;  // of CUPTI, full and free
};

// Never destroyed: CUPTI may hand over records while the process exits.
Session& session();

}  // namespace cuscope::cuda::cupti
