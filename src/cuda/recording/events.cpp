#include "cuda/recording/events.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <string>

#include "cuda/driver/capture_use.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/function.hpp"
#include "cuda/handles.hpp"
#include "cuda/recording/copy_names.hpp"
#include "cuda/recording/streams.hpp"
#include "runtime/compile/signature.hpp"

namespace cuscope::cuda {
namespace {

// The driver's functions: they leave the library's last error alone.
namespace driver {
DriverFunction<CUresult (*)(CUevent*, unsigned)> event_create("cuEventCreate", 2000);
DriverFunction<CUresult (*)(CUevent, CUstream)> event_record("cuEventRecord", 2000);
DriverFunction<CUresult (*)(CUevent)> event_query("cuEventQuery", 2000);
DriverFunction<CUresult (*)(float*, CUevent, CUevent)> event_elapsed_time("cuEventElapsedTime", 2000);
DriverFunction<CUresult (*)(CUstream*, unsigned)> stream_create("cuStreamCreate", 2000);
DriverFunction<CUresult (*)(CUstream)> stream_destroy("cuStreamDestroy", 4000);
DriverFunction<CUresult (*)(void*, CUpointer_attribute, CUdeviceptr)> pointer_get_attribute(
    "cuPointerGetAttribute", 4000);
}  // namespace driver

template <class Function, class... Arguments>
bool done(DriverFunction<Function>& function, Arguments... arguments) {
    const Function call = function.get();
    return call != nullptr && call(arguments...) == CUDA_SUCCESS;
}

enum class Memory { pageable, page_locked, device };

Memory memory_of(const void* pointer) {
    unsigned type = 0;
    if (!done(driver::pointer_get_attribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
              reinterpret_cast<CUdeviceptr>(pointer)))
        return Memory::pageable;
    return type == CU_MEMORYTYPE_HOST ? Memory::page_locked : Memory::device;
}

void describe(const Work& work, WorkRecord* record) {
    record->number = next_activity_number();
    record->call = call_context().call;
    record->kind = work.kind;
    record->bytes = static_cast<std::int64_t>(work.bytes);
    if (work.kind == ActivityKind::copy) {
        // An array has no address, and is of the device.
        const Memory source = work.source != nullptr ? memory_of(work.source) : Memory::device;
        const Memory destination = work.destination != nullptr ? memory_of(work.destination) : Memory::device;
        describe_direction(source != Memory::device, destination != Memory::device, record);
        record->pageable = source == Memory::pageable || destination == Memory::pageable;
    }
    if (work.kind == ActivityKind::memset) record->engine = ActivityEngine::kernels;
    if (work.kind == ActivityKind::kernel) {
        record->engine = ActivityEngine::kernels;
        const char* name = nullptr;
        if (work.kernel != nullptr && cudaFuncGetName(&name, function(work.kernel)) == cudaSuccess)
            record->name = index_of_name(function_name(demangle(name)));
        const LaunchConfig& config = *work.config;
        record->grid = {config.grid.x, config.grid.y, config.grid.z};
        record->block = {config.block.x, config.block.y, config.block.z};
        record->shared_bytes = static_cast<std::uint32_t>(config.dynamic_shared_bytes);
    }
    if (call_context().label != 0) record->name = call_context().label;
}

}  // namespace

thread_local EventRecorder::Timed EventRecorder::current_;

// Never destroyed: a thread may be in a scope while the process exits.
EventRecorder& EventRecorder::instance() {
    static auto* const recorder = new EventRecorder;
    return *recorder;
}

void EventRecorder::start(ActivityRecorder* records) {
    const std::lock_guard lock(mutex_);
    records_ = records;
}

void EventRecorder::stop() {
    const std::lock_guard lock(mutex_);
    records_ = nullptr;
    unfinished_.clear();  // of work that goes on after the trace. Their events are not used again.
}

CUevent EventRecorder::take_event(CUcontext context) {
    {
        const std::lock_guard lock(mutex_);
        std::vector<CUevent>& spare = clocks_[context].spare;
        if (!spare.empty()) {
            CUevent const event = spare.back();
            spare.pop_back();
            return event;
        }
    }
    CUevent event = nullptr;
    return done(driver::event_create, &event, CU_EVENT_DEFAULT) ? event : nullptr;
}

void EventRecorder::give_back(const Timed& timed) {
    std::vector<CUevent>& spare = clocks_[timed.context].spare;
    if (timed.start != nullptr) spare.push_back(timed.start);
    if (timed.end != nullptr) spare.push_back(timed.end);
}

// An event in a stream of its own happens as soon as it is issued, however busy the device is.
bool EventRecorder::set_base(Clock& clock) {
    constexpr std::int64_t most_ns = 10'000'000;
    const auto now = [] {
        const auto time = std::chrono::steady_clock::now().time_since_epoch();
        return std::int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()};
    };
    CUstream stream = nullptr;
    CUevent event = nullptr;
    if (!done(driver::stream_create, &stream, CU_STREAM_NON_BLOCKING)) return false;
    bool happened = false;
    if (done(driver::event_create, &event, CU_EVENT_DEFAULT) && done(driver::event_record, event, stream)) {
        const std::int64_t issued = now();
        while (!happened && now() - issued < most_ns) happened = done(driver::event_query, event);
        clock.base = event;
        clock.base_ns = now();
    }
    done(driver::stream_destroy, stream);
    return happened;
}

void EventRecorder::begin(const Work& work) {
    current_ = {};
    if (captures_underway.load(std::memory_order_relaxed) > 0) return;
    CUcontext context = nullptr;
    if (current_context(&context) != cudaSuccess) return;
    ActivityRecorder* records = nullptr;
    {
        const std::lock_guard lock(mutex_);
        records = records_;
        if (records == nullptr) return;
        collect(Which::oldest);
        Clock& clock = clocks_[context];
        if (clock.base == nullptr && !set_base(clock)) return;
        if (unfinished_.size() >= most_unfinished) return records->add_dropped(1);
    }
    current_.context = context;
    current_.stream = native(work.stream);
    describe(work, &current_.record);
    current_.record.stream = note_stream(work.stream, *records);
    const int device = current_device();
    current_.record.device = device < 0 ? 0 : index_of_device(static_cast<unsigned>(device));
    current_.start = take_event(context);
    current_.end = take_event(context);
    if (current_.start == nullptr || current_.end == nullptr ||
        !done(driver::event_record, current_.start, current_.stream)) {
        const std::lock_guard lock(mutex_);
        give_back(current_);
        current_ = {};
    }
}

void EventRecorder::end() {
    if (current_.start == nullptr) return;
    const bool recorded = done(driver::event_record, current_.end, current_.stream);
    const std::lock_guard lock(mutex_);
    if (recorded && records_ != nullptr) {
        unfinished_.push_back(current_);
    } else {
        give_back(current_);
    }
    current_ = {};
}

void EventRecorder::flush(bool) {
    CUcontext context = nullptr;
    if (current_context(&context) != cudaSuccess) return;  // the thread may not have called the library yet
    const std::lock_guard lock(mutex_);
    collect(Which::all);
}

// Hands over work that has ended. Called under the lock; asks and does not wait. Nothing is asked while a
// stream is captured, since that would invalidate some captures.
void EventRecorder::collect(Which which) {
    // Each launch comes here, so it asks about little. Work of one stream may go on while others end theirs.
    constexpr std::size_t few = 16;
    if (records_ == nullptr || captures_underway.load(std::memory_order_relaxed) > 0) return;
    std::size_t seen = 0, kept = 0;
    for (; seen < unfinished_.size() && (which == Which::all || kept < few); ++seen) {
        Timed timed = unfinished_[seen];
        if (!done(driver::event_query, timed.end)) {
            unfinished_[kept++] = timed;
            continue;
        }
        const Clock& clock = clocks_[timed.context];
        float to_start = 0, to_end = 0;  // milliseconds
        if (done(driver::event_elapsed_time, &to_start, clock.base, timed.start) &&
            done(driver::event_elapsed_time, &to_end, clock.base, timed.end)) {
            timed.record.start = clock.base_ns + static_cast<std::int64_t>(to_start * 1e6);
            timed.record.end = clock.base_ns + static_cast<std::int64_t>(to_end * 1e6);
            records_->add(timed.record);
        }
        give_back(timed);
    }
    const auto begin = unfinished_.begin();
    unfinished_.erase(begin + static_cast<std::ptrdiff_t>(kept), begin + static_cast<std::ptrdiff_t>(seen));
}

}  // namespace cuscope::cuda
