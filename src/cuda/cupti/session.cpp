#include "cuda/cupti/session.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "runtime/process.hpp"

namespace cuscope::cuda::cupti {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20, buffer_alignment = 64;
constexpr std::size_t most_buffers = 256;  // CUPTI drops records beyond them
constexpr std::size_t most_kept = 8;       // for the next requests

constexpr std::array work_kinds = {Kind::concurrent_kernel, Kind::memcpy, Kind::memset, Kind::memcpy2};
constexpr std::array driver_apis = {
#define CUSCOPE_API(name, number) std::uint32_t{number},
#include "cuda/cupti/driver_apis.inc"
#undef CUSCOPE_API
};
constexpr std::array runtime_apis = {
#define CUSCOPE_API(name, number) std::uint32_t{number},
#include "cuda/cupti/runtime_apis.inc"
#undef CUSCOPE_API
};

template <class Clock>
std::uint64_t nanoseconds() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

void ignore(void*, int, std::uint32_t, const void*) {}

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
        result = library_->subscribe_v2(&subscriber_, ignore, nullptr, &parameters);
    } else {
        result = library_->subscribe(&subscriber_, ignore, nullptr);
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
    const auto fails = [&](const char* call, Result result) {
        return std::string("CUPTI (") + library_->path + ") refused " + call + ": " +
               result_text(*library_, result);
    };
    // The host's clock of traces, so that the times of devices and calls can be compared.
    if (const Result result =
            library_->activity_register_timestamp_callback(nanoseconds<std::chrono::steady_clock>);
        result != success)
        return fails("cuptiActivityRegisterTimestampCallback", result);
    if (const Result result = library_->activity_register_callbacks(request_buffer, complete_buffer);
        result != success)
        return fails("cuptiActivityRegisterCallbacks", result);
    const auto enable_kind = [&](Kind kind) {
        const Result result = library_->activity_enable(kind);
        if (result == success) enabled_.push_back(kind);
        return result;
    };
    if (const Result result = enable_kind(Kind::external_correlation); result != success)
        return fails("CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION", result);
    // Only the functions that give work to a device: each record of a call takes time.
    if (library_->activity_enable_driver_api != nullptr && library_->activity_enable_runtime_api != nullptr) {
        for (const std::uint32_t api : driver_apis) library_->activity_enable_driver_api(api, 1);
        for (const std::uint32_t api : runtime_apis) library_->activity_enable_runtime_api(api, 1);
        apis_enabled_ = true;
    } else {
        enable_kind(Kind::driver);
        enable_kind(Kind::runtime);
    }
    for (const Kind kind : work_kinds) {
        if (const Result result = enable_kind(kind); result != success)
            return fails(kind == Kind::concurrent_kernel ? "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"
                                                         : "an activity kind of copies",
                         result);
    }
    return "";
}

void Session::disable() {
    if (std::exchange(apis_enabled_, false)) {
        for (const std::uint32_t api : driver_apis) library_->activity_enable_driver_api(api, 0);
        for (const std::uint32_t api : runtime_apis) library_->activity_enable_runtime_api(api, 0);
    }
    for (; !enabled_.empty(); enabled_.pop_back()) library_->activity_disable(enabled_.back());
}

void Session::stop() {
    if (subscriber_ == nullptr) return;
    running_ = false;
    disable();
    recorder_ = nullptr;  // the records that are left are of no trace
    library_->activity_flush_all(flush_forced);
    // CUPTI's own default, for other tools of this process.
    library_->activity_register_timestamp_callback(nanoseconds<std::chrono::system_clock>);
    library_->unsubscribe(subscriber_);
    subscriber_ = nullptr;
    collector_.clear();
}

void Session::flush(bool last) {
    if (!running()) return;
    library_->activity_flush_all(0);
    if (last) library_->activity_flush_all(flush_forced);
    if (ActivityRecorder* const recorder = recorder_) collector_.deliver(*recorder, true);
}

void Session::push(const CallOfWork& call) {
    library_->activity_push_external_correlation_id(custom_correlation, calls_.add(call));
}

void Session::pop() {
    std::uint64_t last = 0;
    library_->activity_pop_external_correlation_id(custom_correlation, &last);
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

void Session::take_buffer(std::uint8_t* buffer, std::size_t valid_bytes) {
    ActivityRecorder* const recorder = recorder_;
    if (buffer != nullptr && recorder != nullptr && !forked_after_use()) {
        void* record = nullptr;
        while (library_->activity_get_next_record(buffer, valid_bytes, &record) == success)
            collector_.take(record);
        std::size_t dropped = 0;
        if (library_->activity_get_num_dropped_records(nullptr, 0, &dropped) == success && dropped > 0)
            recorder->drop(dropped);
        collector_.deliver(*recorder, false);
    }
    if (buffer != nullptr) keep_buffer(buffer);
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
