// Reductions on a simulated device, computed in the fastest way for the CPU. The work is divided into pieces
// of fixed size, independent of the number of cores, so that the same array gives the same bits on every
// machine.
#include "ops/reduce/cpu.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "ops/launch.hpp"
#include "ops/reduce/accumulators.hpp"
#include "ops/reduce/workspace.hpp"

namespace cuscope::ops {
namespace {

constexpr std::int64_t piece_length = 1 << 16;  // elements of a row, or rows of a tile, in one piece
constexpr std::int64_t tile_width = 256;        // columns in one piece
constexpr std::int64_t leaf = 128;              // elements, or rows, that are added one after the other
constexpr int lanes = 8;  // independent partial results, so that the compiler can vectorise

using Operands = NativeReduction::Operands;

template <class T, class Operation>
struct Plain {
    using Element = T;
    using Op = Operation;
    using Partial = typename Operation::Partial;
    const T* in;
    explicit Plain(const Operands& operands) : in(static_cast<const T*>(operands.in)) {}
    Partial at(std::int64_t place, std::int64_t index) const { return Op::of(in[place], index); }
};

// The products of the elements of two arrays.
template <class T>
struct Products {
    using Element = T;
    using Op = Sum<T>;
    using Partial = Total<T>;
    const T *in, *other;
    explicit Products(const Operands& operands)
        : in(static_cast<const T*>(operands.in)), other(static_cast<const T*>(operands.other)) {}
    Partial at(std::int64_t place, std::int64_t) const {
        return total_of(in[place]) * total_of(other[place]);
    }
};

// Reduces contiguous elements pairwise, so that rounding errors grow only with the logarithm of their number.
template <class Source>
typename Source::Partial reduce_run(const Source& source, std::int64_t place, std::int64_t index,
                                    std::int64_t count) {
    using Op = typename Source::Op;
    if (count > leaf) {
        const std::int64_t half = count / 2 / lanes * lanes;
        return Op::combine(reduce_run(source, place, index, half),
                           reduce_run(source, place + half, index + half, count - half));
    }
    std::array<typename Source::Partial, lanes> partial;
    partial.fill(Op::identity());
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (int lane = 0; lane < lanes; ++lane) {
            auto& mine = partial[static_cast<std::size_t>(lane)];
            mine = Op::combine(mine, source.at(place + i + lane, index + i + lane));
        }
    }
    for (; i < count; ++i) partial[0] = Op::combine(partial[0], source.at(place + i, index + i));
    for (std::size_t step = lanes / 2; step > 0; step /= 2) {
        for (std::size_t lane = 0; lane < step; ++lane)
            partial[lane] = Op::combine(partial[lane], partial[lane + step]);
    }
    return partial[0];
}

// Reduces neighbouring columns, row after row, a leaf of rows at a time.
template <class Source>
void reduce_tile(const Source& source, std::int64_t place, std::int64_t step, std::int64_t index,
                 std::int64_t rows, std::int64_t columns, typename Source::Partial* result) {
    using Op = typename Source::Op;
    std::fill(result, result + columns, Op::identity());
    std::array<typename Source::Partial, tile_width> partial;
    for (std::int64_t first = 0; first < rows; first += leaf) {
        std::fill(partial.begin(), partial.begin() + columns, Op::identity());
        for (std::int64_t row = first; row < std::min(rows, first + leaf); ++row) {
            for (std::int64_t column = 0; column < columns; ++column) {
                auto& mine = partial[static_cast<std::size_t>(column)];
                mine = Op::combine(mine, source.at(place + row * step + column, index + row));
            }
        }
        for (std::int64_t column = 0; column < columns; ++column)
            result[column] = Op::combine(result[column], partial[static_cast<std::size_t>(column)]);
    }
}

// Converts the last partial result to an element of the result.
template <class Out, class Partial>
Out finished(const Partial& partial, std::int64_t) {
    return rounded<Out>(partial);
}
template <class Out, class T>
Out finished(const Placed<T>& partial, std::int64_t) {
    return static_cast<Out>(partial.index);
}
template <class Out>
struct Plainly {
    template <class Partial>
    static Out of(const Partial& partial, std::int64_t length) {
        return finished<Out>(partial, length);
    }
};
template <class Out>
struct AsMean {
    template <class Partial>
    static Out of(const Partial& partial, std::int64_t length) {
        return rounded<Out>(partial / static_cast<double>(length));
    }
};

// Reduces this block's share of the pieces. Each piece gives one partial result for each of its columns. If
// an element of the result has only one piece, that is the final result.
template <class Source, class Out, class Finish>
void reduce_pieces(const Operands& operands, unsigned block, unsigned blocks) {
    using Partial = typename Source::Partial;
    const Source source(operands);
    const auto [outer, length, inner] = operands.extents;
    auto* const partials = static_cast<Partial*>(operands.partials);
    auto* const out = static_cast<Out*>(operands.out);
    std::array<Partial, tile_width> result;
    const std::int64_t count = outer * operands.pieces * operands.tiles;
    for (std::int64_t item = count * block / blocks; item < count * (block + 1) / blocks; ++item) {
        const std::int64_t tile = item % operands.tiles, piece = item / operands.tiles % operands.pieces;
        const std::int64_t row = item / operands.tiles / operands.pieces;
        const std::int64_t first = piece * piece_length, rows = std::min(piece_length, length - first);
        const std::int64_t column = tile * tile_width, columns = std::min(tile_width, inner - column);
        const std::int64_t place = (row * length + first) * inner + column;
        if (inner == 1) {
            result[0] = reduce_run(source, place, first, rows);
        } else {
            reduce_tile(source, place, inner, first, rows, columns, result.data());
        }
        if (operands.pieces == 1) {
            std::transform(result.begin(), result.begin() + columns, out + row * inner + column,
                           [length = length](const Partial& partial) { return Finish::of(partial, length); });
        } else {
            std::copy_n(result.begin(), columns, partials + (row * operands.pieces + piece) * inner + column);
        }
    }
}

// Combines the pieces of each element of the result, in their order.
template <class Source, class Out, class Finish>
void combine_pieces(const Operands& operands) {
    using Op = typename Source::Op;
    const auto [outer, length, inner] = operands.extents;
    const auto* const partials = static_cast<const typename Source::Partial*>(operands.partials);
    auto* const out = static_cast<Out*>(operands.out);
    for (std::int64_t i = 0; i < outer * inner; ++i) {
        const auto* const first = partials + i / inner * operands.pieces * inner + i % inner;
        auto partial = first[0];
        for (std::int64_t piece = 1; piece < operands.pieces; ++piece)
            partial = Op::combine(partial, first[piece * inner]);
        out[i] = Finish::of(partial, length);
    }
}

// One launch: the last block to finish combines the partial results of all blocks.
template <class Source, class Out, class Finish>
void reduce_share(const Operands& operands, unsigned block, unsigned blocks) {
    reduce_pieces<Source, Out, Finish>(operands, block, blocks);
    if (operands.pieces == 1) return;
    std::atomic_ref<unsigned> ended(*static_cast<unsigned*>(operands.ticket));
    if (ended.fetch_add(1, std::memory_order_acq_rel) + 1 < blocks) return;
    ended.store(0, std::memory_order_relaxed);
    combine_pieces<Source, Out, Finish>(operands);
}

struct Way {
    void (*function)(const Operands&, unsigned, unsigned) = nullptr;
    std::size_t partial_bytes = 0;
};

template <class Source, class Out, class Finish = Plainly<Out>>
Way way() {
    return {reduce_share<Source, Out, Finish>, sizeof(typename Source::Partial)};
}

// Sums of integers have 64 bits and keep their signedness.
template <class T>
using Widened = std::conditional_t<
    std::is_integral_v<T>,
    std::conditional_t<std::is_same_v<T, bool> || std::is_signed_v<T>, std::int64_t, std::uint64_t>, T>;
template <class T>
using MeanOf = std::conditional_t<std::is_integral_v<T>, double, T>;

// Means of integers convert each element to double.
template <class T>
struct Mean : Sum<T> {
    using Partial = std::conditional_t<is_complex<T>, std::complex<double>, double>;
    static Partial identity() { return Partial(0); }
    static Partial of(T element, std::int64_t) { return static_cast<Partial>(value_of(element)); }
    static Partial combine(const Partial& a, const Partial& b) { return a + b; }
};

template <class T>
Way way_for(Operation operation) {
    switch (operation) {
        case Operation::sum:
            return way<Plain<T, Sum<T>>, Widened<T>>();
        case Operation::prod:
            return way<Plain<T, Product<T>>, Widened<T>>();
        case Operation::mean:
            return way<Plain<T, Mean<T>>, MeanOf<T>, AsMean<MeanOf<T>>>();
        case Operation::dot:
            return way<Products<T>, T>();
        case Operation::any:
            return way<Plain<T, Any<T>>, bool>();
        case Operation::all:
            return way<Plain<T, All<T>>, bool>();
        default:
            break;
    }
    if constexpr (is_complex<T>) {
        throw core::WrongKind(std::string(name(operation)) + ": complex numbers have no order");
    } else {
        switch (operation) {
            case Operation::min:
                return way<Plain<T, Minimum<T>>, T>();
            case Operation::max:
                return way<Plain<T, Maximum<T>>, T>();
            case Operation::argmin:
                return way<Plain<T, Extreme<T, true>>, std::int64_t>();
            default:
                return way<Plain<T, Extreme<T, false>>, std::int64_t>();
        }
    }
}

}  // namespace

NativeReduction plan_natively(core::Device& device, Operation operation, Type type, const Extents& extents,
                              std::int64_t duration_ns) {
    const Way way = with_element(
        type, [&](auto element) { return way_for<typename decltype(element)::type>(operation); });
    const auto [outer, length, inner] = extents;
    NativeReduction plan;
    plan.kernel = native_kernel(device);
    plan.name = index_of_name(name(operation));
    plan.function = way.function;
    plan.operands = {nullptr, nullptr, nullptr, nullptr, nullptr, extents, 0, 0};
    plan.operands.pieces = (length + piece_length - 1) / piece_length;
    plan.operands.tiles = (inner + tile_width - 1) / tile_width;
    const std::int64_t partials = plan.operands.pieces > 1 ? outer * inner * plan.operands.pieces : 0;
    plan.partial_bytes = static_cast<std::size_t>(partials) * way.partial_bytes;
    const auto most = static_cast<std::int64_t>(4 * std::max(1U, std::thread::hardware_concurrency()));
    const std::int64_t blocks =
        std::clamp<std::int64_t>(outer * plan.operands.pieces * plan.operands.tiles, 1, most);
    plan.launch = {.grid = {static_cast<unsigned>(blocks), 1, 1},
                   .block = {1, 1, 1},
                   .duration_ns = duration_ns,
                   .brief = outer * length * inner <= most_brief_operations};
    return plan;
}

void NativeReduction::run(const Place& in, const Place* other, const Place& out,
                          const core::StreamPtr& stream) const {
    Operands now = operands;
    now.in = in.pointer;
    now.other = other == nullptr ? nullptr : other->pointer;
    now.out = out.pointer;
    std::array<core::Memory*, 5> memories{in.memory, out.memory};
    std::size_t used = 2;
    if (other != nullptr) memories[used++] = other->memory;
    if (partial_bytes == 0) {
        run_natively(*kernel, name, function, now, launch, stream, std::span(memories).first(used));
        return;
    }
    const core::Enqueue enqueue(*stream);  // a graph has a workspace of its own
    const Workspace ticket(stream, sizeof(unsigned));
    const auto partials = core::DeviceMemory::allocate(stream, partial_bytes);
    memories[used++] = partials.get();
    now.partials = partials->pointer();
    now.ticket = ticket.pointer();
    if (ticket.memory() != nullptr) memories[used++] = ticket.memory();
    run_natively(*kernel, name, function, now, launch, stream, std::span(memories).first(used));
}

}  // namespace cuscope::ops
