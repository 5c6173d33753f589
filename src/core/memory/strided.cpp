#include "core/memory/strided.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "core/graph/capture.hpp"
#include "core/memory/mem_pool.hpp"
#include "core/stream/mark.hpp"

namespace cuscope::core {
namespace {

// The largest pitch that the runtime takes.
constexpr std::ptrdiff_t most_pitch = 2147483647;

struct Axis {
    std::size_t count;
    std::ptrdiff_t to, from;
};

// The axes longer than 1, outermost first. Axes that are negative on both sides are reversed, and axes that
// can be walked as one are joined.
std::vector<Axis> normalised(const std::vector<std::size_t>& shape, const std::vector<std::ptrdiff_t>& to,
                             const std::vector<std::ptrdiff_t>& from, CopyPlan* plan) {
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 1) continue;
        Axis axis{shape[i], to[i], from[i]};
        if (axis.to < 0 && axis.from <= 0) {
            const auto last = static_cast<std::ptrdiff_t>(axis.count - 1);
            plan->to_first += last * axis.to;
            plan->from_first += last * axis.from;
            axis.to = -axis.to;
            axis.from = -axis.from;
        }
        axes.push_back(axis);
    }
    std::stable_sort(axes.begin(), axes.end(),
                     [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
    std::vector<Axis> joined;
    for (const Axis& axis : axes) {
        const auto count = static_cast<std::ptrdiff_t>(axis.count);
        if (!joined.empty() && joined.back().to == axis.to * count &&
            joined.back().from == axis.from * count) {
            joined.back() = {joined.back().count * axis.count, axis.to, axis.from};
        } else {
            joined.push_back(axis);
        }
    }
    return joined;
}

constexpr std::size_t none = static_cast<std::size_t>(-1);

// The axes that become the rows and the slices of a box.
struct RowsAndSlices {
    std::size_t rows = none, slices = none;
};

bool can_be_rows(const Axis& axis, std::ptrdiff_t width) {
    return std::min(axis.to, axis.from) >= width && std::max(axis.to, axis.from) <= most_pitch;
}

// Is the distance between slices a whole number of rows on both sides?
bool can_be_slices(const Axis& axis, const Axis& rows) {
    const auto height = static_cast<std::ptrdiff_t>(rows.count);
    return axis.to > 0 && axis.from > 0 && axis.to % rows.to == 0 && axis.from % rows.from == 0 &&
           axis.to / rows.to >= height && axis.from / rows.from >= height;
}

// The choice that puts most rows into a box, so that the number of copies is smallest.
RowsAndSlices fewest_boxes(const std::vector<Axis>& axes, std::ptrdiff_t width) {
    RowsAndSlices best;
    std::size_t most = 0;
    for (std::size_t rows = 0; rows < axes.size(); ++rows) {
        if (!can_be_rows(axes[rows], width)) continue;
        if (axes[rows].count > most) {
            most = axes[rows].count;
            best = {rows, none};
        }
        for (std::size_t slices = 0; slices < axes.size(); ++slices) {
            if (slices == rows || !can_be_slices(axes[slices], axes[rows])) continue;
            const std::size_t count = axes[rows].count * axes[slices].count;
            if (count > most) {
                most = count;
                best = {rows, slices};
            }
        }
    }
    return best;
}

// Calls `visit` with the offsets of each box from the first elements.
void for_each_box(const CopyPlan& plan, const std::function<void(std::ptrdiff_t, std::ptrdiff_t)>& visit) {
    std::vector<std::size_t> at(plan.repeats.size(), 0);
    std::ptrdiff_t to = plan.to_first, from = plan.from_first;
    for (;;) {
        visit(to, from);
        std::size_t axis = plan.repeats.size();
        while (axis > 0) {
            const CopyPlan::Repeat& repeat = plan.repeats[axis - 1];
            to += repeat.to;
            from += repeat.from;
            if (++at[axis - 1] < repeat.count) break;
            to -= repeat.to * static_cast<std::ptrdiff_t>(repeat.count);
            from -= repeat.from * static_cast<std::ptrdiff_t>(repeat.count);
            at[--axis] = 0;
        }
        if (axis == 0) return;
    }
}

}  // namespace

std::size_t CopyPlan::boxes() const {
    std::size_t count = width == 0 ? 0 : 1;
    for (const Repeat& repeat : repeats) count *= repeat.count;
    return count;
}

CopyPlan plan_copy(const std::vector<std::size_t>& shape, std::size_t element,
                   const std::vector<std::ptrdiff_t>& to, const std::vector<std::ptrdiff_t>& from) {
    CopyPlan plan;
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return plan;
    std::vector<Axis> axes = normalised(shape, to, from, &plan);
    const auto size = static_cast<std::ptrdiff_t>(element);
    plan.width = element;
    if (!axes.empty() && axes.back().to == size && axes.back().from == size) {
        plan.width = element * axes.back().count;
        axes.pop_back();
    }
    const RowsAndSlices best = fewest_boxes(axes, static_cast<std::ptrdiff_t>(plan.width));
    if (best.rows != none) {
        const Axis rows = axes[best.rows];
        plan.height = rows.count;
        plan.to_pitch = static_cast<std::size_t>(rows.to);
        plan.from_pitch = static_cast<std::size_t>(rows.from);
    }
    if (best.slices != none) {
        const Axis slices = axes[best.slices];
        plan.depth = slices.count;
        plan.to_slice = static_cast<std::size_t>(slices.to);
        plan.from_slice = static_cast<std::size_t>(slices.from);
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (i == best.rows || i == best.slices) continue;
        plan.repeats.push_back({axes[i].count, axes[i].to, axes[i].from});
    }
    return plan;
}

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
    const RelaxedCapture relaxed(device);
    const auto pinned = host != nullptr ? PinnedMemory::find(device, host, host_bytes) : nullptr;
    if (pinned) pinned->use(stream, enqueue);
    Runtime& runtime = device.runtime();
    const auto copy = [&](std::ptrdiff_t to_offset, std::ptrdiff_t from_offset) {
        std::byte* const destination = to.first + to_offset;
        std::byte* const source = from.first + from_offset;
        if (plan.height == 1) {
            device.check_wait(runtime.memcpy_async(destination, source, plan.width, kind, stream->handle()),
                              "cudaMemcpyAsync");
        } else if (plan.depth == 1) {
            device.check_wait(runtime.memcpy_2d_async(destination, plan.to_pitch, source, plan.from_pitch,
                                                      plan.width, plan.height, kind, stream->handle()),
                              "cudaMemcpy2DAsync");
        } else {
            Memcpy3DParameters p;
            p.destination = {destination, plan.to_pitch, plan.width, plan.to_slice / plan.to_pitch};
            p.source = {source, plan.from_pitch, plan.width, plan.from_slice / plan.from_pitch};
            p.extent = {plan.width, plan.height, plan.depth};
            p.kind = kind;
            device.check_wait(runtime.memcpy_3d_async(&p, stream->handle()), "cudaMemcpy3DAsync");
        }
    };
    try {
        for_each_box(plan, copy);
    } catch (const Interrupted&) {
        if (host != nullptr && !pinned && keep_alive) keep_until_done(stream, keep_alive());
        throw;
    }
    if (stream->capturing() && host != nullptr) keep_host(*stream, pinned != nullptr, keep_alive);
    device.sweep();
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
    const std::vector<Axis> axes = normalised(shape, to.strides, to.strides, &plan);
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
    Runtime& runtime = device.runtime();
    const std::size_t patterns = uniform ? 1 : element / unit;
    for (std::size_t i = 0; i < patterns; ++i) {
        std::uint32_t bytes = 0;
        std::memcpy(&bytes, value.data() + i * unit, unit);
        for_each_box(plan, [&](std::ptrdiff_t offset, std::ptrdiff_t) {
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
