#include "core/memory/copy_plan.hpp"

#include <algorithm>

namespace cuscope::core {
namespace {

// The largest pitch that the runtime takes.
constexpr std::ptrdiff_t most_pitch = 2147483647;

constexpr std::size_t none = static_cast<std::size_t>(-1);

// The axes that become the rows and the slices of a box.
struct RowsAndSlices {
    std::size_t rows = none, slices = none;
};

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

}  // namespace

bool can_be_rows(const Axis& axis, std::ptrdiff_t width) {
    return std::min(axis.to, axis.from) >= width && std::max(axis.to, axis.from) <= most_pitch;
}

std::size_t CopyPlan::boxes() const {
    std::size_t count = width == 0 ? 0 : 1;
    for (const Repeat& repeat : repeats) count *= repeat.count;
    return count;
}

const char* CopyPlan::function() const {
    return height == 1 ? "cudaMemcpyAsync" : depth == 1 ? "cudaMemcpy2DAsync" : "cudaMemcpy3DAsync";
}

void CopyPlan::for_each_box(const std::function<void(std::ptrdiff_t, std::ptrdiff_t)>& visit) const {
    std::vector<std::size_t> at(repeats.size(), 0);
    std::ptrdiff_t to = to_first, from = from_first;
    for (;;) {
        visit(to, from);
        std::size_t axis = repeats.size();
        while (axis > 0) {
            const Repeat& repeat = repeats[axis - 1];
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

Status CopyPlan::enqueue_box(Runtime& runtime, std::byte* to, std::byte* from, MemcpyKind kind,
                             StreamHandle stream) const {
    if (height == 1) return runtime.memcpy_async(to, from, width, kind, stream);
    if (depth == 1) {
        return runtime.memcpy_2d_async(to, to_pitch, from, from_pitch, width, height, kind, stream);
    }
    Memcpy3DParameters p;
    p.destination = {to, to_pitch, width, to_slice / to_pitch};
    p.source = {from, from_pitch, width, from_slice / from_pitch};
    p.extent = {width, height, depth};
    p.kind = kind;
    return runtime.memcpy_3d_async(&p, stream);
}

CopyPlan plan_copy(const std::vector<std::size_t>& shape, std::size_t element,
                   const std::vector<std::ptrdiff_t>& to, const std::vector<std::ptrdiff_t>& from) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return {};
    return plan_copy(normalised(shape, to, from, Reversed::negative_on_both), element);
}

CopyPlan plan_copy(const Axes& normalised, std::size_t element) {
    CopyPlan plan;
    plan.to_first = normalised.to_first;
    plan.from_first = normalised.from_first;
    std::vector<Axis> axes = normalised.list;
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

}  // namespace cuscope::core
