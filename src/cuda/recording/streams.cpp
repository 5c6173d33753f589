#include "cuda/recording/streams.hpp"

#include <array>
#include <atomic>
#include <string>

#include "cuda/driver/capture_use.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/function.hpp"
#include "cuda/handles.hpp"

namespace cuscope::cuda {
namespace {

// The driver's functions: they leave the library's last error alone.
DriverFunction<CUresult (*)(CUstream, unsigned long long*)> number_of_stream("cuStreamGetId", 12000);
DriverFunction<CUresult (*)(CUstream, int*)> priority_of_stream("cuStreamGetPriority", 5050);
DriverFunction<CUresult (*)(CUstream, unsigned*)> flags_of_stream("cuStreamGetFlags", 5050);

// Grows with each trace, so that what threads remember of earlier ones is void.
std::atomic<unsigned> trace_count{1};

struct Noted {
    unsigned trace = 0;
    std::uint64_t id = 0;
};

void record_stream(StreamHandle stream, std::uint64_t id, ActivityRecorder& recorder) {
    StreamRecord record;
    record.id = id;
    const int device = current_device();
    record.device = device < 0 ? 0 : index_of_device(static_cast<unsigned>(device));
    unsigned flags = 0;
    if (const auto get = priority_of_stream.get()) get(native(stream), &record.priority);
    if (const auto get = flags_of_stream.get()) get(native(stream), &flags);
    record.blocking = (flags & flags::stream_non_blocking) == 0;
    record.legacy = stream == nullptr || stream == stream_legacy;
    record.per_thread = stream == stream_per_thread;
    recorder.add(record);
}

}  // namespace

std::uint64_t note_stream(StreamHandle stream, ActivityRecorder& recorder) {
    if (captures_underway.load(std::memory_order_relaxed) > 0) return 0;
    const auto get = number_of_stream.get();
    unsigned long long id = 0;
    if (get == nullptr || get(native(stream), &id) != CUDA_SUCCESS) return 0;
    // Programs use few streams at a time, so a thread seldom notes one twice.
    static thread_local std::array<Noted, 16> known;
    Noted& noted = known[id % known.size()];
    const unsigned trace = trace_count.load(std::memory_order_relaxed);
    if (noted.trace != trace || noted.id != id) {
        record_stream(stream, id, recorder);
        noted = {trace, id};
    }
    return id;
}

void forget_noted_streams() { ++trace_count; }

std::uint32_t index_of_device(std::uint32_t device) {
    static std::array<std::atomic<std::uint32_t>, 64> known{};
    if (device >= known.size()) return index_of_name("cuda:" + std::to_string(device));
    std::uint32_t index = known[device].load(std::memory_order_relaxed);
    if (index == 0) known[device] = index = index_of_name("cuda:" + std::to_string(device));
    return index;
}

}  // namespace cuscope::cuda
