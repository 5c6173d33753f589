#include "core/memory/strided.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/memory/host_memory.hpp"
#include "core/memory/mem_pool.hpp"
#include "core/memory/staging.hpp"
#include "core/stream/same_device.hpp"

namespace cuscope::core {
namespace {

// The copy engines take long for shorter rows, and for many boxes.
constexpr std::size_t shortest_row = 64, most_boxes_of_piece = 64;

}  // namespace

void copy_strided(const StridedSide& to, const StridedSide& from, const CopyPlan& plan, MemcpyKind kind,
                  const std::vector<std::shared_ptr<DeviceMemory>>& memories, const void* host,
                  std::size_t host_bytes, const StreamPtr& stream, const KeepAlive& keep_alive) {
    if (plan.width == 0) return;
    stream->check_usable();
    refuse_legacy_in_capture(*stream, "cudaMemcpy3DAsync");
    Device& device = stream->device();
    const DeviceScope scope(device);
    const Enqueue enqueue(*stream);
    for (const auto& memory : memories) {
        memory->use(stream, enqueue);
        MemPool::let_copy(device, *memory);
    }
    std::size_t bytes = plan.width * plan.height * plan.depth;
    for (const auto& repeat : plan.repeats) bytes *= repeat.count;
    stream->note(Enqueued::copy, bytes, static_cast<std::uint64_t>(kind));
    with_host_memory(host, host_bytes, stream, enqueue, keep_alive, [&](bool) {
        plan.for_each_box([&](std::ptrdiff_t to_offset, std::ptrdiff_t from_offset) {
            device.check_wait(plan.enqueue_box(device.runtime(), to.first + to_offset,
                                               from.first + from_offset, kind, stream->handle()),
                              plan.function());
        });
    });
}

bool copy_through_ring(const StridedSide& on_device, const StridedSide& on_host,
                       const std::vector<std::size_t>& shape, std::size_t element, MemcpyKind kind,
                       const std::shared_ptr<DeviceMemory>& memory, const StreamPtr& stream) {
    Axes axes = normalised(shape, on_device.strides, on_host.strides, Reversed::negative_to);
    std::byte* const there = on_device.first + axes.to_first;
    std::byte* const here = on_host.first + axes.from_first;
    std::size_t bytes = element;
    for (const std::size_t extent : shape) bytes *= extent;
    const bool up = kind == MemcpyKind::host_to_device;
    // Where elements of the destination overlap, the order of the copies counts, and the ring has none. It
    // copies rows of the device, which do not overlap either.
    if (may_overlap(axes.list, element, &Axis::to) || (!up && may_overlap(axes.list, element, &Axis::from)))
        return false;
    if (element > StagingRing::chunk_bytes || !goes_through_ring(*stream, kind, here, bytes)) return false;
    const Boxes boxes(std::move(axes.list), element, StagingRing::chunk_bytes);
    const CopyPlan piece = StagingRing::plan(boxes[0], element, kind);
    if (piece.boxes() > most_boxes_of_piece || (piece.width < shortest_row && piece.height > 1)) return false;
    stream->check_usable();
    memory->check_usable();
    refuse_legacy_in_capture(*stream, "cudaMemcpyAsync");
    Device& device = stream->device();
    check_same_device({"array"}, memory->device(), *stream);
    const DeviceScope scope(device);
    const Enqueue enqueue(*stream);
    if (stream->capturing()) return false;  // another thread has begun a capture
    const RelaxedCapture relaxed(device);
    memory->use(stream, enqueue);
    MemPool::let_copy(device, *memory);
    stream->note(Enqueued::copy, bytes, static_cast<std::uint64_t>(kind));
    const bool done = up ? device.staging().to_device(there, here, boxes, *stream)
                         : device.staging().to_host(here, there, boxes, *stream);
    device.sweep();
    return done;
}

void fill_strided(const std::shared_ptr<DeviceMemory>& memory, const StridedSide& to,
                  const std::vector<std::size_t>& shape, std::span<const std::byte> value,
                  const StreamPtr& stream) {
    stream->check_usable();
    refuse_legacy_in_capture(*stream, "cudaMemset2DAsync");
    memory->check_usable();
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
    Device& device = stream->device();
    const DeviceScope scope(device);
    const Enqueue enqueue(*stream);
    memory->use(stream, enqueue);
    CopyPlan plan;
    const Axes normal = normalised(shape, to.strides, to.strides, Reversed::negative_on_both);
    plan.to_first = normal.to_first;
    plan.from_first = normal.from_first;
    const std::vector<Axis>& axes = normal.list;
    const std::size_t element = value.size();
    const bool uniform = std::all_of(value.begin(), value.end(), [&](std::byte b) { return b == value[0]; });
    // The widest memset pattern that the addresses allow. An element may consist of several patterns.
    auto bits = reinterpret_cast<std::uintptr_t>(to.first) | element;
    for (const Axis& axis : axes) bits |= static_cast<std::uintptr_t>(axis.to);
    std::size_t unit = uniform ? 1 : bits % 4 == 0 ? 4 : bits % 2 == 0 ? 2 : 1;
    std::vector<Axis> rest = axes;
    std::size_t run = uniform ? element : unit;  // contiguous bytes that one value fills
    if ((uniform || unit == element) && !rest.empty() &&
        rest.back().to == static_cast<std::ptrdiff_t>(element)) {
        run = element * rest.back().count;
        rest.pop_back();
    }
    auto rows = rest.end();
    for (auto axis = rest.begin(); axis != rest.end(); ++axis) {
        const bool longer = rows == rest.end() || axis->count > rows->count;
        if (longer && can_be_rows(*axis, static_cast<std::ptrdiff_t>(run))) rows = axis;
    }
    std::size_t height = 1, pitch = std::max<std::size_t>(run, 4);
    if (rows != rest.end()) {
        height = rows->count;
        pitch = static_cast<std::size_t>(rows->to);
        rest.erase(rows);
    }
    plan.width = run;
    for (const Axis& axis : rest) plan.repeats.push_back({axis.count, axis.to, axis.to});
    std::size_t filled = element;
    for (const std::size_t extent : shape) filled *= extent;
    stream->note(Enqueued::memset, filled);
    Runtime& runtime = device.runtime();
    const std::size_t patterns = uniform ? 1 : element / unit;
    for (std::size_t i = 0; i < patterns; ++i) {
        std::uint32_t bytes = 0;
        std::memcpy(&bytes, value.data() + i * unit, unit);
        plan.for_each_box([&](std::ptrdiff_t offset, std::ptrdiff_t) {
            std::byte* const first = to.first + offset + i * unit;
            const std::size_t count = run / unit;
            Status status = Status::success;
            if (unit == 1) {
                status = runtime.memset_2d_async(first, pitch, static_cast<int>(bytes), count, height,
                                                 stream->handle());
            } else if (unit == 2) {
                status = runtime.memset_d2d16_async(first, pitch, static_cast<unsigned short>(bytes), count,
                                                    height, stream->handle());
            } else {
                status = runtime.memset_d2d32_async(first, pitch, bytes, count, height, stream->handle());
            }
            device.check(status, unit == 1 ? "cudaMemset2DAsync" : "cuMemsetD2D32Async");
        });
    }
}

}  // namespace cuscope::core
