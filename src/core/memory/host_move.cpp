#include "core/memory/host_move.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/memory/thread_team.hpp"

namespace cuscope::core {
namespace {

// A run of this many bytes on one side is worth a visit of the other side's cache lines and pages.
constexpr std::size_t run_bytes = 256;

// So many runs are fetched ahead, because each lies in another page, which the processor does not foresee.
// They go to the second cache: steps of a power of two would evict each other from the first.
constexpr std::size_t rows_ahead = 32;

template <bool Write>
void fetch(const std::byte* run, std::size_t bytes) {
    for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(run + line, Write ? 1 : 0, 2);
}

// An element of N bytes at any address.
template <std::size_t N>
struct Bytes {
    std::byte bytes[N];
};

template <class E>
void move_row(std::byte* to, std::ptrdiff_t to_step, const std::byte* from, std::ptrdiff_t from_step,
              std::size_t count) {
    constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(E));
    if (to_step == size && from_step == size) {
        std::memcpy(to, from, count * sizeof(E));
    } else if (to_step == size) {
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(to + i * sizeof(E), from + static_cast<std::ptrdiff_t>(i) * from_step, sizeof(E));
    } else if (from_step == size) {
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(to + static_cast<std::ptrdiff_t>(i) * to_step, from + i * sizeof(E), sizeof(E));
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            const auto at = static_cast<std::ptrdiff_t>(i);
            std::memcpy(to + at * to_step, from + at * from_step, sizeof(E));
        }
    }
}

// Transposes a square of elements that fill one word in each row, with exchanges of halves of words.
template <class E>
void transpose_words(std::uint64_t (&rows)[8 / sizeof(E)]) {
    constexpr std::size_t edge = 8 / sizeof(E);
    for (std::size_t half = edge / 2; half > 0; half /= 2) {
        const std::size_t shift = half * sizeof(E) * 8;
        const std::uint64_t low = ~std::uint64_t{0} / ((std::uint64_t{1} << shift) + 1);
        for (std::size_t i = 0; i < edge; ++i) {
            if ((i & half) != 0) continue;
            const std::uint64_t exchanged = ((rows[i] >> shift) ^ rows[i + half]) & low;
            rows[i] ^= exchanged << shift;
            rows[i + half] ^= exchanged;
        }
    }
}

// Stores `height` rows of `width` contiguous elements as columns, as far as these fill whole words. Returns
// how many rows it has stored.
template <class E, std::size_t Edge>
std::size_t store_columns(E* to, const std::byte* from, std::ptrdiff_t step, std::size_t width,
                          std::size_t height) {
    if constexpr (8 % sizeof(E) != 0 || sizeof(E) == 8 || std::endian::native != std::endian::little) {
        return 0;
    } else {
        constexpr std::size_t edge = 8 / sizeof(E);
        if (width % edge != 0) return 0;
        std::size_t j = 0;
        for (; j + edge <= height; j += edge) {
            const std::byte* const source = from + static_cast<std::ptrdiff_t>(j) * step;
            for (std::size_t i = 0; i < width; i += edge) {
                std::uint64_t rows[edge];
                for (std::size_t k = 0; k < edge; ++k)
                    std::memcpy(&rows[k], source + static_cast<std::ptrdiff_t>(k) * step + i * sizeof(E), 8);
                transpose_words<E>(rows);
                for (std::size_t k = 0; k < edge; ++k) std::memcpy(to + (i + k) * Edge + j, &rows[k], 8);
            }
        }
        return j;
    }
}

// `columns` has the smallest step of `to`, `rows` that of `from`. Blocks are transposed in a buffer, so that
// each cache line of both sides is visited once.
template <class E>
void transpose_plane(std::byte* to, const std::byte* from, const Axis& rows, const Axis& columns) {
    constexpr std::size_t edge = sizeof(E) <= 4 ? 64 : sizeof(E) <= 16 ? 32 : 16;
    alignas(64) E buffer[edge * edge];
    const auto place = [](std::size_t i, std::size_t j, std::ptrdiff_t row, std::ptrdiff_t column) {
        return static_cast<std::ptrdiff_t>(i) * row + static_cast<std::ptrdiff_t>(j) * column;
    };
    const auto source = [&](std::size_t i, std::size_t j) {
        return from + place(i, j, rows.from, columns.from);
    };
    const auto target = [&](std::size_t i, std::size_t j) { return to + place(i, j, rows.to, columns.to); };
    for (std::size_t x = 0; x < rows.count; x += edge) {
        const std::size_t width = std::min(edge, rows.count - x);
        for (std::size_t y = 0; y < columns.count; y += edge) {
            const std::size_t height = std::min(edge, columns.count - y);
            for (std::size_t j = y;
                 j < std::min(y + height, columns.count - std::min(columns.count, rows_ahead)); ++j)
                fetch<false>(source(x, j + rows_ahead), width * sizeof(E));
            std::size_t stored = 0;
            if (rows.from == static_cast<std::ptrdiff_t>(sizeof(E)))
                stored = store_columns<E, edge>(buffer, source(x, y), columns.from, width, height);
            for (std::size_t j = stored; j < height; ++j) {
                move_row<E>(reinterpret_cast<std::byte*>(buffer + j), edge * sizeof(E), source(x, y + j),
                            rows.from, width);
            }
            for (std::size_t i = x; i < std::min(x + width, rows.count - std::min(rows.count, rows_ahead));
                 ++i)
                fetch<true>(target(i + rows_ahead, y), height * sizeof(E));
            for (std::size_t i = 0; i < width; ++i) {
                move_row<E>(target(x + i, y), columns.to,
                            reinterpret_cast<const std::byte*>(buffer + i * edge), sizeof(E), height);
            }
        }
    }
}

struct Plane {
    Axis rows{1, 0, 0}, columns{1, 0, 0};
    bool transposed = false;
};

template <class E>
void move_plane(std::byte* to, const std::byte* from, const Plane& plane, std::size_t) {
    // A block pays if both sides have several elements in a cache line.
    if (plane.transposed && plane.rows.count >= 4 && plane.columns.count >= 4)
        return transpose_plane<E>(to, from, plane.rows, plane.columns);
    for (std::size_t i = 0; i < plane.rows.count; ++i) {
        const auto at = static_cast<std::ptrdiff_t>(i);
        move_row<E>(to + at * plane.rows.to, plane.columns.to, from + at * plane.rows.from,
                    plane.columns.from, plane.columns.count);
    }
}

// Elements of any size. They are about as long as a cache line, so the order within a box does not matter.
void move_long_elements(std::byte* to, const std::byte* from, const Plane& plane, std::size_t element) {
    const auto size = static_cast<std::ptrdiff_t>(element);
    const bool rows_contiguous = plane.columns.to == size && plane.columns.from == size;
    for (std::size_t i = 0; i < plane.rows.count; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(i);
        std::byte* const target = to + row * plane.rows.to;
        const std::byte* const source = from + row * plane.rows.from;
        if (rows_contiguous) {
            std::memcpy(target, source, plane.columns.count * element);
            continue;
        }
        for (std::size_t j = 0; j < plane.columns.count; ++j) {
            const auto column = static_cast<std::ptrdiff_t>(j);
            std::memcpy(target + column * plane.columns.to, source + column * plane.columns.from, element);
        }
    }
}

using MovePlane = void (*)(std::byte*, const std::byte*, const Plane&, std::size_t);

MovePlane mover(std::size_t element) {
    switch (element) {
        case 1:
            return move_plane<Bytes<1>>;
        case 2:
            return move_plane<Bytes<2>>;
        case 3:
            return move_plane<Bytes<3>>;
        case 4:
            return move_plane<Bytes<4>>;
        case 6:
            return move_plane<Bytes<6>>;
        case 8:
            return move_plane<Bytes<8>>;
        case 12:
            return move_plane<Bytes<12>>;
        case 16:
            return move_plane<Bytes<16>>;
        case 24:
            return move_plane<Bytes<24>>;
        case 32:
            return move_plane<Bytes<32>>;
        default:
            return move_long_elements;
    }
}

// A short run that is contiguous on both sides becomes one element.
void widen(std::vector<Axis>& axes, std::size_t& element) {
    while (axes.size() > 1) {
        const Axis inner = axes.back();
        const auto size = static_cast<std::ptrdiff_t>(element);
        if (inner.to != size || inner.from != size || inner.count * element >= run_bytes) return;
        element *= inner.count;
        axes.pop_back();
    }
}

// The axis with the smallest step of `from`. A step of zero does not count.
std::size_t closest_from(const std::vector<Axis>& axes) {
    std::size_t best = axes.size() - 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
        const auto step = std::abs(axes[i].from);
        if (axes[i].count > 1 && step != 0 && (axes[best].from == 0 || step < std::abs(axes[best].from)))
            best = i;
    }
    return best;
}

}  // namespace

void move_elements(std::byte* to, const std::byte* from, const std::vector<Axis>& given,
                   std::size_t element) {
    std::vector<Axis> axes;
    axes.reserve(given.size());
    for (const Axis& axis : given) {
        if (axis.count == 0) return;
        if (axis.count > 1) axes.push_back(axis);
    }
    std::stable_sort(axes.begin(), axes.end(),
                     [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
    widen(axes, element);
    Plane plane;
    if (!axes.empty()) {
        const std::size_t rows = closest_from(axes);
        plane.transposed = rows != axes.size() - 1;
        plane.columns = axes.back();
        axes.pop_back();
        if (plane.transposed) {
            plane.rows = axes[rows];
            axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(rows));
            // Short runs of `from`: the next runs of the same cache line come soon.
            if (plane.rows.count * element < run_bytes) {
                std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
                    return std::abs(a.from) > std::abs(b.from);
                });
            }
        } else if (!axes.empty()) {
            plane.rows = axes.back();
            axes.pop_back();
        }
    }
    const MovePlane move = mover(element);
    std::vector<std::size_t> at(axes.size(), 0);
    for (;;) {
        move(to, from, plane, element);
        std::size_t axis = axes.size();
        for (; axis > 0; --axis) {
            const Axis& outer = axes[axis - 1];
            to += outer.to;
            from += outer.from;
            if (++at[axis - 1] < outer.count) break;
            to -= outer.to * static_cast<std::ptrdiff_t>(outer.count);
            from -= outer.from * static_cast<std::ptrdiff_t>(outer.count);
            at[axis - 1] = 0;
        }
        if (axis == 0) return;
    }
}

Boxes::Boxes(std::vector<Axis> axes, std::size_t element, std::size_t most_bytes)
    : axes_(std::move(axes)), extents_(axes_.size(), 1), element_(element) {
    if (axes_.empty()) return;
    std::size_t left = std::max<std::size_t>(most_bytes / element, 1);  // elements that still fit in
    const auto grow = [&](std::size_t axis, std::size_t most) {
        const std::size_t before = extents_[axis];
        extents_[axis] = std::min({axes_[axis].count, most, left * before});
        left = left * before / extents_[axis];
    };
    std::vector<Axis> wide = axes_;
    std::size_t run = element;
    widen(wide, run);
    // Axes behind these belong to a run.
    const std::size_t columns = wide.size() - 1, rows = closest_from(wide);
    for (std::size_t axis = axes_.size(); --axis > columns;) grow(axis, axes_[axis].count);
    if (rows != columns) grow(rows, std::max<std::size_t>(run_bytes / run, 1));
    for (std::size_t axis = columns + 1; axis-- > 0;) grow(axis, axes_[axis].count);
    for (std::size_t axis = 0; axis < axes_.size(); ++axis)
        count_ *= (axes_[axis].count + extents_[axis] - 1) / extents_[axis];
}

Boxes::Box Boxes::operator[](std::size_t index) const {
    Box box{axes_, 0, 0, element_};
    for (std::size_t axis = axes_.size(); axis-- > 0;) {
        const std::size_t boxes = (axes_[axis].count + extents_[axis] - 1) / extents_[axis];
        const std::size_t first = index % boxes * extents_[axis];
        index /= boxes;
        box.axes[axis].count = std::min(extents_[axis], axes_[axis].count - first);
        box.to += static_cast<std::ptrdiff_t>(first) * axes_[axis].to;
        box.from += static_cast<std::ptrdiff_t>(first) * axes_[axis].from;
        box.bytes *= box.axes[axis].count;
    }
    return box;
}

void move_boxes(std::byte* to, const std::byte* from, const Boxes& boxes) {
    const auto move = [&](std::size_t i) {
        const Boxes::Box box = boxes[i];
        move_elements(to + box.to, from + box.from, box.axes, boxes.element());
    };
    if (boxes.count() > 1) {
        ThreadTeam team(boxes.count(), move);
        if (team) {
            team.allow(boxes.count());
            team.wait_for_all();
            return;
        }
    }
    for (std::size_t i = 0; i < boxes.count(); ++i) move(i);
}

}  // namespace cuscope::core
