#include "cuda/calls/stream_ids.hpp"

#include <array>
#include <atomic>
#include <string>

#include "cuda/driver/capture_use.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/handles.hpp"

namespace cuscope::cuda {
namespace {

DriverFunction<CUresult (*)(CUstream, unsigned long long*)> stream_get_id("cuStreamGetId", 12000);
DriverFunction<CUresult (*)(CUstream, unsigned*)> stream_get_flags("cuStreamGetFlags", 7000);
DriverFunction<CUresult (*)(CUstream, int*)> stream_get_priority("cuStreamGetPriority", 7000);

std::atomic<unsigned> generation{1};

// The handles that a thread used lately.
struct Known {
    unsigned generation = 0;
    int device = -1;  // of default streams; otherwise -1
    StreamHandle stream = nullptr;
    std::uint64_t id = 0;
};
constexpr std::size_t most_known = 8;

}  // namespace

void forget_stream_ids() { generation.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t id_of_stream(StreamHandle stream) {
    static thread_local std::array<Known, most_known> known;
    static thread_local std::size_t next = 0;
    const unsigned now = generation.load(std::memory_order_relaxed);
    const int device = is_default(stream) ? current_device() : -1;
    for (const Known& one : known) {
        if (one.generation == now && one.stream == stream && one.device == device) return one.id;
    }
    unsigned long long id = 0;
    const StreamUse use(native(stream));
    if (is_captured(native(stream))) return 0;
    if (driver_call(stream_get_id, native(stream), &id) != Status::success) return 0;
    known[next] = {now, device, stream, id};
    next = (next + 1) % most_known;
    return id;
}

std::optional<StreamRecord> describe_stream(StreamHandle stream, std::uint64_t id) {
    StreamRecord record;
    record.id = id;
    record.device = index_of_name("cuda:" + std::to_string(current_device()));
    record.legacy = stream == nullptr || stream == stream_legacy;
    record.per_thread = stream == stream_per_thread;
    if (record.legacy) return record;  // blocking, of priority 0
    const StreamUse use(native(stream));
    if (is_captured(native(stream))) return std::nullopt;
    unsigned flags = 0;
    if (driver_call(stream_get_flags, native(stream), &flags) == Status::success)
        record.blocking = (flags & cudaStreamNonBlocking) == 0;
    driver_call(stream_get_priority, native(stream), &record.priority);
    return record;
}

}  // namespace cuscope::cuda
