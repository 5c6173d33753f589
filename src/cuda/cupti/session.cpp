#include "cuda/cupti/session.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "cuda/cupti/layouts.hpp"
#include "runtime/process.hpp"

namespace cuscope::cuda::cupti {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20, buffer_alignment = 64;
constexpr std::size_t most_buffers = 256;  // CUPTI drops records beyond them
constexpr std::size_t most_unread = 32;    // full buffers
constexpr std::size_t most_kept = 40;      // for the next requests

// Not memsets: with records of them, CUPTI 13.0 and 13.2 lose the device or crash where threads use graphs.
// The events of MeasuringRuntime measure memsets.
constexpr std::array work_kinds = {Kind::concurrent_kernel, Kind::memcpy, Kind::memcpy2};

// The functions that give work to a device.
struct Api {
    int domain;
    std::uint32_t id;
};
constexpr std::array apis = {
#define CUSCOPE_API(name, number) Api{driver_calls, number},
#include "cuda/cupti/driver_apis.inc"
#undef CUSCOPE_API
#define CUSCOPE_API(name, number) Api{runtime_calls, number},
#include "cuda/cupti/runtime_apis.inc"
#undef CUSCOPE_API
};

// Of the traced call that the thread is in.
constinit thread_local CallOfWork call_of_thread;

template <class Clock>
std::uint64_t nanoseconds() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

void on_call(void*, int, std::uint32_t, const void* about) {
    const auto& call = *static_cast<const CallLayout*>(about);
    if (call.site == call_begins) session().note_call(call.correlation);
}

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
    *most_records = 0;  // as many as there is room for
    session().give_buffer(buffer, bytes);
}

void complete_buffer(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
    session().take_buffer(buffer, valid_bytes);
}

}  // namespace

Session& session() {
    static auto* const instance = new Session;
    return *instance;
}

std::string Session::start(ActivityRecorder& recorder) {
    if (running()) return "";
    std::string problem;
    library_ = library(&problem);
    if (library_ == nullptr) return problem;
    problem = subscribe();
    if (!problem.empty()) return problem;
    recorder_ = &recorder;
    problem = enable();
    if (!problem.empty()) {
        stop();
        return problem;
    }
    running_ = true;
    return "";
}

// CUPTI refuses a second subscriber. So this finds out whether another tool records in this process, and
// keeps others away meanwhile: all clients of a process share CUPTI's buffers.
std::string Session::subscribe() {
    std::array<char, 128> other{};
    Result result;
    if (library_->subscribe_v2 != nullptr) {
        SubscriberParameters parameters;
        parameters.name = "cuscope";
        parameters.other = other.data();
        parameters.other_bytes = other.size();
        result = library_->subscribe_v2(&subscriber_, on_call, nullptr, &parameters);
    } else {
        result = library_->subscribe(&subscriber_, on_call, nullptr);
    }
    if (result == success) return "";
    subscriber_ = nullptr;
    const std::string answer = result_text(*library_, result);
    if (result != multiple_subscribers) return "CUPTI (" + library_->path + ") does not start: " + answer;
    other.back() = '\0';
    const std::string name = other[0] != '\0' ? std::string(" (") + other.data() + ")" : "";
    return "another tool" + name + " uses CUPTI in this process, and CUPTI serves one tool at a time (" +
           answer +
           "). Trace without the other tool: it may be torch.profiler, nsys, ncu, cuda-gdb or "
           "compute-sanitizer";
}

std::string Session::enable() {
    // The host's clock of traces, so that the times of devices and calls can be compared.
    if (const Result result =
            library_->activity_register_timestamp_callback(nanoseconds<std::chrono::steady_clock>);
        result != success)
        return refusal("cuptiActivityRegisterTimestampCallback", result);
    if (const Result result = library_->activity_register_callbacks(request_buffer, complete_buffer);
        result != success)
        return refusal("cuptiActivityRegisterCallbacks", result);
    if (std::string problem = enable_callbacks(); !problem.empty()) return problem;
    for (const Kind kind : work_kinds) {
        const Result result = library_->activity_enable(kind);
        if (result != success)
            return refusal(kind == Kind::concurrent_kernel ? "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"
                                                           : "an activity kind of copies",
                           result);
        enabled_.push_back(kind);
    }
    return "";
}

// CUPTI tells the correlation of these calls when they begin. That costs a launch less than external
// correlation ids, which need two records more for each call. Unsubscribing disables the callbacks.
std::string Session::enable_callbacks() {
    for (const Api& api : apis) {
        const Result result = library_->enable_callback(1, subscriber_, api.domain, api.id);
        const bool unknown = result == invalid_parameter;  // in this version of CUPTI
        if (result != success && !unknown) return refusal("cuptiEnableCallback", result);
    }
    return "";
}

std::string Session::refusal(const char* call, Result result) const {
    return std::string("CUPTI (") + library_->path + ") refused " + call + ": " +
           result_text(*library_, result);
}

// Not cuptiFinalize(): it makes launches as fast as before, but with CUPTI 13.2 and 13.5 calls of other
// threads crashed in three of eight runs of the stress test.
void Session::stop() {
    if (subscriber_ == nullptr) return;
    pause();
    paused_ = false;
    for (; !enabled_.empty(); enabled_.pop_back()) library_->activity_disable(enabled_.back());
    library_->activity_flush_all(flush_forced);  // also buffers that are not full
    read_buffers();
    // CUPTI's own default, for other tools of this process.
    library_->activity_register_timestamp_callback(nanoseconds<std::chrono::system_clock>);
    library_->unsubscribe(subscriber_);
    subscriber_ = nullptr;
    collector_.clear();
    calls_.clear();
}

void Session::pause() {
    running_ = false;
    recorder_ = nullptr;  // the records that are left are of no trace
    paused_ = true;
}

void Session::resume(ActivityRecorder& recorder) {
    paused_ = false;
    recorder_ = &recorder;
    running_ = true;
}

void Session::flush() {
    if (!running()) return;
    library_->activity_flush_all(0);
    read_buffers();
    if (ActivityRecorder* const recorder = recorder_) collector_.deliver(*recorder, true);
}

void Session::set_call(const CallOfWork& call) { call_of_thread = call; }

void Session::note_call(std::uint32_t correlation) {
    if (call_of_thread.call != 0) calls_.add(correlation, call_of_thread);
}

void Session::give_buffer(std::uint8_t** buffer, std::size_t* bytes) {
    *buffer = nullptr;
    *bytes = 0;
    {
        const std::lock_guard lock(mutex_);
        if (!free_buffers_.empty()) {
            *buffer = free_buffers_.back();
            free_buffers_.pop_back();
        } else if (buffers_ == most_buffers) {
            return;
        } else {
            ++buffers_;
        }
    }
    if (*buffer == nullptr)
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
    if (*buffer != nullptr) {
        *bytes = buffer_bytes;
        return;
    }
    const std::lock_guard lock(mutex_);
    --buffers_;
}

// Buffers are read when records are wanted, so that launches need not share their processor with this work.
void Session::take_buffer(std::uint8_t* buffer, std::size_t valid_bytes) {
    if (buffer == nullptr) return;
    if (recorder_ == nullptr || forked_after_use()) return keep_buffer(buffer);
    bool many = false;
    {
        const std::lock_guard lock(mutex_);
        full_buffers_.push_back({buffer, valid_bytes});
        many = full_buffers_.size() >= most_unread;
    }
    if (many) read_buffers();
}

void Session::read_buffers() {
    std::vector<FullBuffer> full;
    {
        const std::lock_guard lock(mutex_);
        full.swap(full_buffers_);
    }
    ActivityRecorder* const recorder = recorder_;
    for (const auto& [buffer, valid_bytes] : full) {
        void* record = nullptr;
        while (recorder != nullptr &&
               library_->activity_get_next_record(buffer, valid_bytes, &record) == success)
            collector_.take(record);
        keep_buffer(buffer);
    }
    if (recorder == nullptr) return;
    std::size_t dropped = 0;
    if (library_->activity_get_num_dropped_records(nullptr, 0, &dropped) == success && dropped > 0)
        recorder->drop(dropped);
    collector_.deliver(*recorder, false);
}

void Session::keep_buffer(std::uint8_t* buffer) {
    {
        const std::lock_guard lock(mutex_);
        if (free_buffers_.size() < most_kept) {
            free_buffers_.push_back(buffer);
            return;
        }
        --buffers_;
    }
    std::free(buffer);
}

}  // namespace cuscope::cuda::cupti
