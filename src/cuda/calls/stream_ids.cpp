#include "cuda/calls/stream_ids.hpp"

#include <array>
#include <atomic>
#include <string>

#include "cuda/driver/capture_use.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/driver/wait.hpp"
#include "cuda/handles.hpp"

namespace cuscope::cuda {
namespace {

DriverFunction<CUresult (*)(CUstream, unsigned long long*)> stream_get_id("cuStreamGetId", 12000);
DriverFunction<CUresult (*)(CUstream, unsigned*)> stream_get_flags("cuStreamGetFlags", 7000);
DriverFunction<CUresult (*)(CUstream, int*)> stream_get_priority("cuStreamGetPriority", 7000);
DriverFunction<CUresult (*)(CUstream, CUdevice*)> stream_get_device("cuStreamGetDevice", 12080);

std::atomic<unsigned> generation{1};

// The streams that a thread used lately.
struct Known {
    unsigned generation = 0;
    int device = -1;  // of default streams; otherwise -1
    StreamHandle stream = nullptr;
    StreamRecord record;
};
constexpr std::size_t most_known = 8;

bool ask(StreamHandle stream, StreamRecord* record) {
    cudaStream_t const handle = cuda::native(stream);
    // A default stream is one of the thread's context. A thread that has made no call of the library has
    // none, although the library launches its kernels.
    if (is_default(stream)) {
        const RelaxedThread relaxed;
        CUcontext context = nullptr;
        if (current_context(&context) != cudaSuccess) return false;
    }
    const StreamUse use(handle);
    if (is_captured(handle)) return false;
    unsigned long long id = 0;
    if (driver_call(stream_get_id, handle, &id) != Status::success) return false;
    record->id = id;
    record->legacy = stream == nullptr || stream == stream_legacy;
    record->per_thread = stream == stream_per_thread;
    record->ordinal = current_device();
    CUdevice device = 0;  // the driver's number, which is the library's
    if (!is_default(stream) && driver_call(stream_get_device, handle, &device) == Status::success)
        record->ordinal = device;
    record->device = index_of_name("cuda:" + std::to_string(record->ordinal));
    if (record->legacy) return true;  // blocking, of priority 0
    unsigned flags = 0;
    if (driver_call(stream_get_flags, handle, &flags) == Status::success)
        record->blocking = (flags & cudaStreamNonBlocking) == 0;
    driver_call(stream_get_priority, handle, &record->priority);
    return true;
}

}  // namespace

void forget_stream_ids() { generation.fetch_add(1, std::memory_order_relaxed); }

const StreamRecord* description_of_stream(StreamHandle stream) {
    static thread_local std::array<Known, most_known> known;
    static thread_local std::size_t next = 0;
    const unsigned now = generation.load(std::memory_order_relaxed);
    const int device = is_default(stream) ? current_device() : -1;
    for (const Known& one : known) {
        if (one.generation == now && one.stream == stream && one.device == device) return &one.record;
    }
    Known made{now, device, stream, {}};
    if (!ask(stream, &made.record)) return nullptr;
    Known& place = known[next];
    next = (next + 1) % most_known;
    place = made;
    return &place.record;
}

}  // namespace cuscope::cuda
