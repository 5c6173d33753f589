#include "cuda/cupti/recorder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "cuda/recording/copy_names.hpp"
#include "cuda/recording/streams.hpp"
#include "runtime/compile/signature.hpp"
#include "runtime/process.hpp"

namespace cuscope::cuda::cupti {
namespace {

constexpr std::array kinds = {RecordKind::concurrent_kernel, RecordKind::copy,
                              RecordKind::copy_between_devices, RecordKind::memset};

// The beginnings of the names of the driver's functions that issue recorded work.
constexpr std::array<std::string_view, 4> issuing = {"cuLaunch", "cuMemcpy", "cuMemset", "cuGraphLaunch"};

constexpr std::size_t buffer_bytes = 1 << 20;  // about 5000 records

// The stream that the calling thread's current call gives work; 0: unknown.
constinit thread_local std::uint64_t current_stream = 0;

// The clock of Runtime::trace_clock_ns(). CUPTI converts the times of the GPU to it.
std::uint64_t clock_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
    *buffer = static_cast<std::uint8_t*>(std::malloc(buffer_bytes));
    *bytes = *buffer == nullptr ? 0 : buffer_bytes;
    *most_records = 0;  // as many as fit
}

// The memory of the host that a copy reads or writes; managed memory counts as the device's.
bool of_host(MemoryOfCopy memory) {
    return memory == MemoryOfCopy::pageable || memory == MemoryOfCopy::page_locked;
}

}  // namespace

// Never destroyed: CUPTI's thread may deliver records while the process exits.
Recorder& Recorder::instance() {
    static auto* const recorder = new Recorder;
    return *recorder;
}

std::string Recorder::problem_of(Result result) const {
    if (result == multiple_subscribers)
        return "CUPTI serves another profiler of this process, and it serves only one";
    const char* text = nullptr;
    library_->get_result_string(result, &text);
    return std::string("CUPTI does not start: ") + (text != nullptr ? text : std::to_string(result).c_str());
}

bool Recorder::start(ActivityRecorder* records, std::string* problem) {
    records_ = records;
    if (running_) return true;
    library_ = library(problem);
    if (library_ == nullptr) return false;
    if (issues_ == nullptr)  // pages of zeros, which take no memory before their first use
        issues_ = static_cast<Issue*>(std::calloc(issues, sizeof(Issue)));
    if (issues_ == nullptr) {
        *problem = "there is no memory for the records of CUPTI";
        return false;
    }
    running_ = true;
    if (const Result result = enable(); result != 0) {
        *problem = problem_of(result);
        stop();
    }
    return running_;
}

Result Recorder::enable() {
    const Library& cupti = *library_;
    const auto on_call = [](void*, int, std::uint32_t, const CallbackData* data) {
        instance().note_issue(*data);
    };
    const auto on_buffer = [](void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
        instance().take(buffer, valid);
    };
    if (const Result result = cupti.subscribe(&subscriber_, on_call, nullptr); result != 0) {
        subscriber_ = nullptr;
        return result;
    }
    if (!registered_) {
        if (const Result result = cupti.activity_register_timestamp_callback(clock_ns)) return result;
        if (const Result result = cupti.activity_register_callbacks(request_buffer, on_buffer)) return result;
        registered_ = true;
    }
    if (functions_.empty()) {
        const char* name = nullptr;
        for (std::uint32_t i = 1; cupti.get_callback_name(driver_functions, i, &name) == 0; ++i) {
            const std::string_view function = name;
            if (std::any_of(issuing.begin(), issuing.end(),
                            [&](std::string_view begin) { return function.starts_with(begin); }))
                functions_.push_back(i);
        }
    }
    for (const std::uint32_t function : functions_) {
        if (const Result result = cupti.enable_callback(1, subscriber_, driver_functions, function))
            return result;
    }
    for (const RecordKind kind : kinds) {
        if (const Result result = cupti.activity_enable(kind)) return result;
    }
    return 0;
}

void Recorder::stop() {
    if (!running_) return;
    running_ = false;
    for (const RecordKind kind : kinds) library_->activity_disable(kind);
    if (subscriber_ != nullptr) library_->unsubscribe(subscriber_);
    subscriber_ = nullptr;
    records_ = nullptr;
    const std::lock_guard lock(mutex_);
    streams_.clear();
}

void Recorder::begin(const Work& work) {
    if (ActivityRecorder* const records = records_) current_stream = note_stream(work.stream, *records);
}

void Recorder::end() { current_stream = 0; }

// Without a lock: CUPTI may deliver on this thread or wait for its own.
void Recorder::flush(bool last) {
    if (!running_) return;
    library_->activity_flush_all(flush_complete);
    // Buffers with a record of unfinished work come only when forced, and lose this record.
    if (last) library_->activity_flush_all(flush_forced);
}

// Called by the driver on the thread of the call, before there is any work.
void Recorder::note_issue(const CallbackData& data) {
    if (data.site != 0) return;
    const CallContext& context = call_context();
    Issue& issue = issues_[data.correlation % issues];
    issue.label = context.label;
    issue.call = context.call;
    issue.stream = current_stream;
    issue.graph = 0;
    issue.correlation.store(data.correlation, std::memory_order_release);
}

void Recorder::take(std::uint8_t* buffer, std::size_t bytes) {
    {
        const std::lock_guard lock(mutex_);
        if (ActivityRecorder* const records = records_; records != nullptr && bytes > 0) {
            Record* record = nullptr;
            while (library_->activity_get_next_record(buffer, bytes, &record) == 0) take(*record, *records);
            std::size_t dropped = 0;
            if (library_->activity_get_dropped(nullptr, 0, &dropped) == 0) records->add_dropped(dropped);
        }
    }
    std::free(buffer);
}

void Recorder::take(const Record& record, ActivityRecorder& records) {
    switch (record.kind) {
        case RecordKind::concurrent_kernel: {
            const auto& kernel = reinterpret_cast<const KernelRecord&>(record);
            if (kernel.end == 0) return;  // it has not ended
            WorkRecord work = describe(kernel, records);
            work.kind = ActivityKind::kernel;
            work.engine = ActivityEngine::kernels;
            if (work.name == 0) work.name = name_of_kernel(kernel.name);
            for (std::size_t i = 0; i < 3; ++i) {
                work.grid[i] = static_cast<std::uint32_t>(kernel.grid[i]);
                work.block[i] = static_cast<std::uint32_t>(kernel.block[i]);
            }
            work.shared_bytes =
                static_cast<std::uint32_t>(kernel.static_shared_bytes + kernel.dynamic_shared_bytes);
            records.add(work);
            return;
        }
        case RecordKind::copy:
            return take_copy(reinterpret_cast<const CopyRecord&>(record), records);
        case RecordKind::copy_between_devices:
            return take_copy(reinterpret_cast<const CopyBetweenDevicesRecord&>(record), records);
        case RecordKind::memset: {
            const auto& memset = reinterpret_cast<const MemsetRecord&>(record);
            if (memset.end == 0) return;
            WorkRecord work = describe(memset, records);
            work.kind = ActivityKind::memset;
            work.engine = ActivityEngine::kernels;
            work.bytes = static_cast<std::int64_t>(memset.bytes);
            records.add(work);
            return;
        }
    }
}

template <class Real>
void Recorder::take_copy(const Real& real, ActivityRecorder& records) {
    if (real.end == 0) return;
    WorkRecord work = describe(real, records);
    work.kind = ActivityKind::copy;
    work.bytes = static_cast<std::int64_t>(real.bytes);
    work.pageable = real.source == MemoryOfCopy::pageable || real.destination == MemoryOfCopy::pageable;
    const std::uint32_t label = work.name;
    describe_direction(of_host(real.source), of_host(real.destination), &work);
    if (label != 0) work.name = label;
    records.add(work);
}

// The fields that all kinds of records have. The first node of a graph's launch also makes the record of the
// launch, which Python lets begin with the first node and end with the last.
template <class Real>
WorkRecord Recorder::describe(const Real& real, ActivityRecorder& records) {
    WorkRecord work;
    work.number = next_activity_number();
    work.start = static_cast<std::int64_t>(real.start);
    work.end = static_cast<std::int64_t>(real.end);
    work.device = index_of_device(real.device);
    work.stream = real.stream;
    std::uint64_t& known_stream = streams_[{real.context, real.stream}];
    Issue& issue = issues_[real.correlation % issues];
    const bool known = issue.correlation.load(std::memory_order_acquire) == real.correlation;
    if (known) {
        work.call = issue.call;
        if (real.graph == 0) work.name = issue.label;
        if (issue.stream != 0) known_stream = issue.stream;
    }
    if (known_stream != 0) work.stream = known_stream;
    if (real.graph == 0 || !known) return work;
    if (issue.graph == 0) {
        issue.graph = next_activity_number();
        WorkRecord launch = work;
        launch.kind = ActivityKind::graph;
        launch.number = issue.graph;
        records.add(launch);
    }
    work.graph = issue.graph;
    return work;
}

std::uint32_t Recorder::name_of_kernel(const char* mangled) {
    if (mangled == nullptr) return 0;
    const auto [found, is_new] = kernel_names_.try_emplace(mangled, 0);
    if (is_new) found->second = index_of_name(function_name(demangle(mangled)));
    return found->second;
}

}  // namespace cuscope::cuda::cupti
