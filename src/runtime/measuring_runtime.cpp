#include "runtime/measuring_runtime.hpp"

#include <exception>
#include <memory>
#include <utility>

#include "runtime/compile/signature.hpp"

namespace cuscope {
namespace {

// While this object lives, the thread's calls invalidate no capture.
class Relaxed {
  public:
    explicit Relaxed(Runtime& runtime)
        : runtime_(runtime),
          changed_(runtime.thread_exchange_stream_capture_mode(&mode_) == Status::success) {}
    Relaxed(const Relaxed&) = delete;
    Relaxed& operator=(const Relaxed&) = delete;
    ~Relaxed() {
        if (changed_) runtime_.thread_exchange_stream_capture_mode(&mode_);
    }

  private:
    Runtime& runtime_;
    CaptureMode mode_ = CaptureMode::relaxed;
    const bool changed_;
};

// Without memory measuring may throw, which must not reach the program.
template <class Part>
void guarded(const Part& part) {
    try {
        part();
    } catch (const std::exception&) {
        // The caller finds that the part did not come to its end.
    }
}

std::array<std::uint32_t, 3> sizes(const Dim3& size) { return {size.x, size.y, size.z}; }

std::size_t volume(const Extent& extent) { return extent.width * extent.height * extent.depth; }

}  // namespace

// ---- recording

WorkRecording MeasuringRuntime::set_recorder(ActivityRecorder* recorder) {
    WorkRecording own = under().set_recorder(recorder);
    by_events_ = recorder != nullptr && (always_ || own.source == WorkSource::none);
    memsets_by_events_ = by_events_ || own.source == WorkSource::cupti;
    const bool begins = recorder_.exchange(recorder) == nullptr;
    if (recorder == nullptr) timer_.clear();
    if (begins || recorder == nullptr) forget_kernels();  // libraries may be unloaded between traces
    if (by_events_) own.source = WorkSource::events;
    return own;
}

std::string MeasuringRuntime::flush_records(bool last) {
    std::string problem = under().flush_records(last);
    if (ActivityRecorder* const recorder = recorder_) timer_.flush(*recorder);
    return problem;
}

template <class Call, class Describe>
Status MeasuringRuntime::measured(StreamHandle stream, ActivityKind kind, const Call& call,
                                  const Describe& describe) {
    ActivityRecorder* const recorder = recorder_;
    const bool wanted = kind == ActivityKind::memset ? memsets_by_events_ : by_events_;
    if (!wanted || recorder == nullptr) return call();
    using Begun = WorkTimer::Begun;
    WorkTimer::Timed timed;
    Begun begun = Begun::failed;
    guarded([&] { begun = timer_.begin(stream, &timed); });
    const Status status = call();
    if (begun == Begun::no) return status;
    const bool issued = status == Status::success;
    bool complete = false, added = false;
    if (begun == Begun::yes && issued) {
        guarded([&] {
            if (!timer_.end(stream, timed)) return;
            WorkRecord& record = timed.record;
            record.number = next_activity_number();
            record.call = call_context().call;
            record.kind = kind;
            describe(&record);
            record.engine = ActivityEngine::none;  // a span that includes waits would show a busy engine
            complete = true;
            timer_.add(timed, *recorder);
            added = true;
        });
    }
    if (issued && !added) recorder->drop(1);
    if (begun == Begun::yes && !complete) guarded([&] { timer_.give_back(timed); });
    return status;
}

// ---- kernels, graphs, host functions

void MeasuringRuntime::forget_kernels() {
    const std::lock_guard lock(mutex_);
    kernels_.clear();
    forgotten_.fetch_add(1, std::memory_order_relaxed);
}

// A thread often launches the same kernel again: it remembers the latest one.
MeasuringRuntime::KernelFacts MeasuringRuntime::facts_of(KernelHandle kernel) {
    struct Latest {
        const MeasuringRuntime* runtime;
        KernelHandle kernel;
        std::uint64_t forgotten;
        KernelFacts facts;
    };
    static constinit thread_local Latest latest{};
    const std::uint64_t forgotten = forgotten_.load(std::memory_order_relaxed);
    if (latest.runtime != this || latest.kernel != kernel || latest.forgotten != forgotten)
        latest = {this, kernel, forgotten, look_up(kernel)};
    return latest.facts;
}

MeasuringRuntime::KernelFacts MeasuringRuntime::look_up(KernelHandle kernel) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = kernels_.find(kernel); found != kernels_.end()) return found->second;
    }
    const Relaxed relaxed(under());
    KernelFacts facts;
    const char* name = nullptr;
    FunctionAttributes attributes;
    if (under().func_get_name(&name, kernel) != Status::success || name == nullptr) {
        under().get_last_error();
    } else {
        facts.name = index_of_name(function_name(demangle(name)));
    }
    if (under().func_get_attributes(&attributes, kernel) != Status::success) {
        under().get_last_error();
    } else {
        facts.static_shared_bytes = static_cast<std::uint32_t>(attributes.shared_size);
    }
    const std::lock_guard lock(mutex_);
    kernels_[kernel] = facts;
    return facts;
}

Status MeasuringRuntime::library_unload(LibraryHandle library) {
    forget_kernels();
    return under().library_unload(library);
}

void MeasuringRuntime::forget_device(int ordinal) {
    const std::uint64_t lost = timer_.forget_device(ordinal);
    if (ActivityRecorder* const recorder = recorder_; recorder != nullptr && lost > 0) recorder->drop(lost);
}

Status MeasuringRuntime::device_reset() {
    if (ActivityRecorder* const recorder = recorder_) timer_.flush(*recorder);
    return under().device_reset();
}

Status MeasuringRuntime::launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) {
    return measured(
        config.stream, ActivityKind::kernel, [&] { return under().launch_kernel(config, kernel, arguments); },
        [&](WorkRecord* record) {
            const KernelFacts facts = facts_of(kernel);
            const std::uint32_t chosen = call_context().work_name;
            record->name = chosen != 0 ? chosen : facts.name;
            record->grid = sizes(config.grid);
            record->block = sizes(config.block);
            record->shared_bytes =
                facts.static_shared_bytes + static_cast<std::uint32_t>(config.dynamic_shared_bytes);
        });
}

Status MeasuringRuntime::graph_launch(GraphExecHandle exec, StreamHandle stream) {
    return measured(
        stream, ActivityKind::graph, [&] { return under().graph_launch(exec, stream); }, [](WorkRecord*) {});
}

struct MeasuringRuntime::HostCall {
    MeasuringRuntime& runtime;
    WorkRecord record;
    StreamRecord stream;
    HostFunction function;
    void* data;
};

void MeasuringRuntime::run_host_call(void* data) {
    const std::unique_ptr<HostCall> call(static_cast<HostCall*>(data));
    MeasuringRuntime& runtime = call->runtime;
    call->record.start = runtime.under().trace_clock_ns();
    call->function(call->data);
    call->record.end = runtime.under().trace_clock_ns();
    ActivityRecorder* const recorder = runtime.recorder_;
    if (recorder == nullptr) return;
    bool added = false;
    guarded([&] {
        recorder->add(call->record);
        recorder->add(call->stream);
        added = true;
    });
    if (!added) recorder->drop(1);
}

Status MeasuringRuntime::launch_host_func(StreamHandle stream, HostFunction function, void* data) {
    StreamRecord about;
    if (recorder_ == nullptr || function == nullptr || !under().describe_stream(stream, &about))
        return under().launch_host_func(stream, function, data);
    auto call = std::make_unique<HostCall>(HostCall{*this, {}, about, function, data});
    WorkRecord& record = call->record;
    record.number = next_activity_number();
    record.call = call_context().call;
    record.stream = about.id;
    record.device = about.device;
    record.kind = ActivityKind::host_function;
    record.engine = ActivityEngine::host_functions;
    const Status status = under().launch_host_func(stream, run_host_call, call.get());
    if (status == Status::success) call.release();  // run_host_call deletes it
    return status;
}

// ---- copies

MemoryType MeasuringRuntime::type_of(const void* pointer) {
    const Relaxed relaxed(under());
    PointerAttributes attributes;
    if (under().pointer_get_attributes(&attributes, pointer) == Status::success) return attributes.type;
    under().get_last_error();
    return MemoryType::unregistered;
}

void MeasuringRuntime::describe_copy(WorkRecord* record, MemcpyKind kind, const void* destination,
                                     const void* source) {
    const auto on_host = [](MemoryType type) {
        return type == MemoryType::unregistered || type == MemoryType::host;
    };
    if (kind == MemcpyKind::device_to_device) return set_direction(record, CopyDirection::device_to_device);
    const MemoryType from = type_of(source), to = type_of(destination);
    bool to_host = on_host(to), from_host = on_host(from);
    if (kind != MemcpyKind::by_address) {
        from_host = kind == MemcpyKind::host_to_device || kind == MemcpyKind::host_to_host;
        to_host = kind == MemcpyKind::device_to_host || kind == MemcpyKind::host_to_host;
    }
    set_direction(record, from_host ? to_host ? CopyDirection::host_to_host : CopyDirection::host_to_device
                          : to_host ? CopyDirection::device_to_host
                                    : CopyDirection::device_to_device);
    record->pageable =
        (from_host && from == MemoryType::unregistered) || (to_host && to == MemoryType::unregistered);
}

template <class Call>
Status MeasuringRuntime::measured_copy(StreamHandle stream, std::size_t bytes, MemcpyKind kind,
                                       const void* destination, const void* source, const Call& call) {
    return measured(stream, ActivityKind::copy, call, [&](WorkRecord* record) {
        record->bytes = static_cast<std::int64_t>(bytes);
        describe_copy(record, kind, destination, source);
    });
}

Status MeasuringRuntime::memcpy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind) {
    return measured_copy(stream_legacy, bytes, kind, destination, source,
                         [&] { return under().memcpy(destination, source, bytes, kind); });
}

Status MeasuringRuntime::memcpy_async(void* destination, const void* source, std::size_t bytes,
                                      MemcpyKind kind, StreamHandle stream) {
    return measured_copy(stream, bytes, kind, destination, source,
                         [&] { return under().memcpy_async(destination, source, bytes, kind, stream); });
}

Status MeasuringRuntime::memcpy_2d(void* destination, std::size_t destination_pitch, const void* source,
                                   std::size_t source_pitch, std::size_t width, std::size_t height,
                                   MemcpyKind kind) {
    return measured_copy(stream_legacy, width * height, kind, destination, source, [&] {
        return under().memcpy_2d(destination, destination_pitch, source, source_pitch, width, height, kind);
    });
}

Status MeasuringRuntime::memcpy_2d_async(void* destination, std::size_t destination_pitch, const void* source,
                                         std::size_t source_pitch, std::size_t width, std::size_t height,
                                         MemcpyKind kind, StreamHandle stream) {
    return measured_copy(stream, width * height, kind, destination, source, [&] {
        return under().memcpy_2d_async(destination, destination_pitch, source, source_pitch, width, height,
                                       kind, stream);
    });
}

// The width is in elements if an array takes part.
void MeasuringRuntime::describe_3d(WorkRecord* record, const Memcpy3DParameters& parameters) {
    std::size_t bytes = volume(parameters.extent);
    ArrayHandle const array =
        parameters.source_array != nullptr ? parameters.source_array : parameters.destination_array;
    if (array != nullptr) {
        const Relaxed relaxed(under());
        ChannelFormat format;
        Extent extent;
        unsigned flags = 0;
        if (under().array_get_info(&format, &extent, &flags, array) == Status::success) {
            bytes *= static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
        } else {
            under().get_last_error();
        }
    }
    record->bytes = static_cast<std::int64_t>(bytes);
    describe_copy(record, parameters.kind, parameters.destination.pointer, parameters.source.pointer);
}

Status MeasuringRuntime::memcpy_3d(const Memcpy3DParameters* parameters) {
    return measured(
        stream_legacy, ActivityKind::copy, [&] { return under().memcpy_3d(parameters); },
        [&](WorkRecord* record) { describe_3d(record, *parameters); });
}

Status MeasuringRuntime::memcpy_3d_async(const Memcpy3DParameters* parameters, StreamHandle stream) {
    return measured(
        stream, ActivityKind::copy, [&] { return under().memcpy_3d_async(parameters, stream); },
        [&](WorkRecord* record) { describe_3d(record, *parameters); });
}

Status MeasuringRuntime::memcpy_peer(void* destination, int destination_device, const void* source,
                                     int source_device, std::size_t bytes) {
    return measured(
        stream_legacy, ActivityKind::copy,
        [&] { return under().memcpy_peer(destination, destination_device, source, source_device, bytes); },
        [&](WorkRecord* record) {
            record->bytes = static_cast<std::int64_t>(bytes);
            set_direction(record, CopyDirection::to_other_device);
        });
}

Status MeasuringRuntime::memcpy_peer_async(void* destination, int destination_device, const void* source,
                                           int source_device, std::size_t bytes, StreamHandle stream) {
    return measured(
        stream, ActivityKind::copy,
        [&] {
            return under().memcpy_peer_async(destination, destination_device, source, source_device, bytes,
                                             stream);
        },
        [&](WorkRecord* record) {
            record->bytes = static_cast<std::int64_t>(bytes);
            set_direction(record, CopyDirection::to_other_device);
        });
}

// One span for all copies of the batch, with the direction of the first.
Status MeasuringRuntime::memcpy_batch_async(void* const* destinations, const void* const* sources,
                                            const std::size_t* sizes, std::size_t count,
                                            const MemcpyAttributes* attributes,
                                            const std::size_t* attribute_indices, std::size_t attribute_count,
                                            StreamHandle stream) {
    return measured(
        stream, ActivityKind::copy,
        [&] {
            return under().memcpy_batch_async(destinations, sources, sizes, count, attributes,
                                              attribute_indices, attribute_count, stream);
        },
        [&](WorkRecord* record) {
            for (std::size_t i = 0; i < count; ++i) record->bytes += static_cast<std::int64_t>(sizes[i]);
            if (count > 0) describe_copy(record, MemcpyKind::by_address, destinations[0], sources[0]);
        });
}

// ---- memsets

template <class Call>
Status MeasuringRuntime::measured_set(StreamHandle stream, std::size_t bytes, const Call& call) {
    return measured(stream, ActivityKind::memset, call,
                    [&](WorkRecord* record) { record->bytes = static_cast<std::int64_t>(bytes); });
}

Status MeasuringRuntime::memset(void* pointer, int value, std::size_t bytes) {
    return measured_set(stream_legacy, bytes, [&] { return under().memset(pointer, value, bytes); });
}

Status MeasuringRuntime::memset_async(void* pointer, int value, std::size_t bytes, StreamHandle stream) {
    return measured_set(stream, bytes, [&] { return under().memset_async(pointer, value, bytes, stream); });
}

Status MeasuringRuntime::memset_2d(void* pointer, std::size_t pitch, int value, std::size_t width,
                                   std::size_t height) {
    return measured_set(stream_legacy, width * height,
                        [&] { return under().memset_2d(pointer, pitch, value, width, height); });
}

Status MeasuringRuntime::memset_2d_async(void* pointer, std::size_t pitch, int value, std::size_t width,
                                         std::size_t height, StreamHandle stream) {
    return measured_set(stream, width * height, [&] {
        return under().memset_2d_async(pointer, pitch, value, width, height, stream);
    });
}

Status MeasuringRuntime::memset_3d(PitchedPointer pitched, int value, Extent extent) {
    return measured_set(stream_legacy, volume(extent),
                        [&] { return under().memset_3d(pitched, value, extent); });
}

Status MeasuringRuntime::memset_3d_async(PitchedPointer pitched, int value, Extent extent,
                                         StreamHandle stream) {
    return measured_set(stream, volume(extent),
                        [&] { return under().memset_3d_async(pitched, value, extent, stream); });
}

Status MeasuringRuntime::memset_d2d16_async(void* pointer, std::size_t pitch, unsigned short value,
                                            std::size_t width, std::size_t height, StreamHandle stream) {
    return measured_set(stream, width * height * sizeof value, [&] {
        return under().memset_d2d16_async(pointer, pitch, value, width, height, stream);
    });
}

Status MeasuringRuntime::memset_d2d32_async(void* pointer, std::size_t pitch, unsigned value,
                                            std::size_t width, std::size_t height, StreamHandle stream) {
    return measured_set(stream, width * height * sizeof value, [&] {
        return under().memset_d2d32_async(pointer, pitch, value, width, height, stream);
    });
}

}  // namespace cuscope
