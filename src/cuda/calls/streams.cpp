// Streams, events and host functions.
#include "cuda/calls/printing.hpp"
#include "cuda/calls/stream_ids.hpp"
#include "cuda/cuda_runtime.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/driver/wait.hpp"
#include "cuda/handles.hpp"

namespace cuscope::cuda {
namespace {

// Default streams go through the library, which knows the current device.
DriverFunction<CUresult (*)(CUevent, CUstream)> event_record("cuEventRecord", 2000);
DriverFunction<CUresult (*)(CUstream, CUevent, unsigned)> stream_wait("cuStreamWaitEvent", 3020);

}  // namespace

Status CudaRuntime::stream_create_with_priority(StreamHandle* stream, unsigned flags, int priority) {
    clear(stream);
    const Status status = [&] {
        const InsideDriver inside;
        return make([&] { return cudaStreamCreateWithPriority(native(stream), flags, priority); });
    }();
    if (status == Status::success) streams_.made(native(*stream));
    return status;
}

Status CudaRuntime::stream_destroy(StreamHandle stream) {
    if (!forked_after_use()) streams_.leaving(native(stream));
    CaptureChange change(CaptureChange::Unless::nothing_is_captured);
    const Status status = make([&] { return cudaStreamDestroy(native(stream)); });
    forget_stream_ids();
    change.gone(native(stream));
    return status;
}

Status CudaRuntime::stream_synchronize(StreamHandle stream) {
    if (forked_after_use()) return failed(Status::initialization_error);
    return make_after_wait(wait_for_stream(native(stream)),
                           [&] { return cudaStreamSynchronize(native(stream)); });
}

Status CudaRuntime::stream_query(StreamHandle stream) {
    return make_in(stream, [&] { return cudaStreamQuery(native(stream)); });
}

Status CudaRuntime::stream_wait_event(StreamHandle stream, EventHandle event, unsigned flags) {
    const auto wait = [&] { return cudaStreamWaitEvent(native(stream), native(event), flags); };
    // The stream may join the capture that the event was recorded in.
    const CaptureChange change(CaptureChange::Unless::nothing_is_captured);
    if (flags == 0 && !is_default(stream) && captures_underway == 0) {
        if (const auto status = driver_call(stream_wait, native(stream), native(event), 0u))
            return answered(*status);
    }
    return make(wait);
}

Status CudaRuntime::stream_get_flags(StreamHandle stream, unsigned* flags) {
    clear(flags);
    return make_in(stream, [&] { return cudaStreamGetFlags(native(stream), flags); });
}

Status CudaRuntime::stream_get_priority(StreamHandle stream, int* priority) {
    clear(priority);
    return make_in(stream, [&] { return cudaStreamGetPriority(native(stream), priority); });
}

Status CudaRuntime::stream_get_id(StreamHandle stream, unsigned long long* id) {
    clear(id);
    return make_in(stream, [&] { return cudaStreamGetId(native(stream), id); });
}

Status CudaRuntime::stream_get_device(StreamHandle stream, int* device) {
    clear(device);
    return make_in(stream, [&] { return cudaStreamGetDevice(native(stream), device); });
}

Status CudaRuntime::launch_host_func(StreamHandle stream, HostFunction function, void* data) {
    return make_in(stream, [&] { return cudaLaunchHostFunc(native(stream), function, data); });
}

Status CudaRuntime::stream_add_callback(StreamHandle stream, StreamCallback callback, void* data,
                                        unsigned flags) {
    // The two callback types agree in layout: a stream is a pointer and a status an int.
    return make_in(stream, [&] {
        return cudaStreamAddCallback(native(stream), reinterpret_cast<cudaStreamCallback_t>(callback), data,
                                     flags);
    });
}

Status CudaRuntime::event_create_with_flags(EventHandle* event, unsigned flags) {
    clear(event);
    return make([&] { return cudaEventCreateWithFlags(native(event), flags); });
}

Status CudaRuntime::event_destroy(EventHandle event) {
    // Its last record may be part of a capture.
    const CaptureChange change(CaptureChange::Unless::nothing_is_captured);
    return make([&] { return cudaEventDestroy(native(event)); });
}

Status CudaRuntime::event_record_with_flags(EventHandle event, StreamHandle stream, unsigned flags) {
    const StreamUse use(native(stream));
    if (flags == 0 && (!is_default(stream) || captures_underway == 0)) {
        if (const auto status = driver_call(event_record, native(event), native(stream)))
            return answered(*status);
    }
    return make([&] { return cudaEventRecordWithFlags(native(event), native(stream), flags); });
}

Status CudaRuntime::event_query(EventHandle event) {
    const InsideDriver inside;
    return make([&] { return cudaEventQuery(native(event)); });
}

GraphNodeHandle CudaRuntime::last_captured(StreamHandle stream) {
    CaptureStatus status = CaptureStatus::none;
    const GraphNodeHandle* dependencies = nullptr;
    const GraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    if (stream_get_capture_info(stream, &status, nullptr, nullptr, &dependencies, &edges, &count) !=
        Status::success) {
        get_last_error();
        return nullptr;
    }
    return status == CaptureStatus::active && count == 1 ? dependencies[0] : nullptr;
}

EventLook CudaRuntime::look_at(EventHandle event) {
    const Status status = event_query(event);
    if (status == Status::success) return {EventState::happened};
    if (status == Status::not_ready) return {EventState::pending};
    get_last_error();
    return {};
}

Status CudaRuntime::event_synchronize(EventHandle event) {
    if (forked_after_use()) return failed(Status::initialization_error);
    return make_after_wait(wait_for_event(native(event)),
                           [&] { return cudaEventSynchronize(native(event)); });
}

Status CudaRuntime::event_elapsed_time(float* milliseconds, EventHandle start, EventHandle end) {
    clear(milliseconds);
    return make([&] { return cudaEventElapsedTime(milliseconds, native(start), native(end)); });
}

}  // namespace cuscope::cuda
