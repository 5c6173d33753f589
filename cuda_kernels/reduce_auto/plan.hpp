// The launches of this folder's reductions: the instance for an operation on a type, its arguments, and the
// grid, block and workspace for a shape. Plain C++20 without CUDA, for the host.
//
//   plan_whole    whole<P>(in, out, n, bits, kind, divisor, slots); few<P> if is_few
//                 dot<P>(first, second, out, n, bits, kind, slots)
//   plan_rows     rows<P>(in, out, count, length, distance, bits, kind, divisor, lanes, splits, slots)
//   plan_columns  columns<P>(in, out, outer, length, inner, distance, outer_distance, bits, kind, divisor,
//                            lanes, splits, slots)
//   plan_slices, plan_shallow, plan_narrow: slices<P>, shallow<P>, narrow<P> with the arguments of columns<P>
//
//   plan_strided  strided<P>(in, out, outer_columns, outer_row, outer_column, rows, columns, row, column,
//                            bits, kind, divisor, lanes, splits, slots)
//
// plan_axis chooses among rows, columns, slices, shallow and narrow for the middle axis of a contiguous
// (outer, length, inner).
//
// Lengths and distances are long long and count elements. bits is unsigned long long; kind, lanes and splits
// are int; divisor is double; the other arguments are pointers to device memory. No kernel uses dynamic
// shared memory. Every axis has at least one element: the caller handles empty reductions.
//
// Workspace: slots are zero before the first launch, and each launch leaves them zero. They are 16-byte
// aligned, and only one launch at a time may use them, as launches in one stream do.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

#include "../common/types.hpp"
#include "rules.hpp"

namespace cuscope::reduce {

using kernels::Type;

enum class Operation { sum, mean, product, minimum, maximum, first_minimum, first_maximum, any, all, dot };

struct Launch {
    unsigned grid = 1, block = 1;
    int lanes = 1, splits = 1;
    std::size_t slot_bytes = 0;
};

constexpr int bytes_of(Type type) {
    switch (type) {
#define CUSCOPE_BYTES(id, name, bytes, kind, cuda, exponent, fraction, dlpack) \
    case Type::id:                                                             \
        return bytes;
        CUSCOPE_ELEMENT_TYPES(CUSCOPE_BYTES)
#undef CUSCOPE_BYTES
    }
    return 0;
}

constexpr bool is_complex(Type type) { return type == Type::complex64 || type == Type::complex128; }
constexpr bool is_floating(Type type) { return type <= Type::float64; }
constexpr bool is_signed_integer(Type type) { return type >= Type::int8 && type <= Type::int64; }

// The policy P for an operation on elements of a type; empty if there is none (minima and maxima of complex
// numbers). `mean` also serves the sum of 64-bit integers in a floating type.
constexpr std::string_view policy_of(Operation operation, Type type) {
#define CUSCOPE_SUM(id, name, bytes, kind, cuda, exponent, fraction, dlpack) "SumOf<" #cuda ">",
#define CUSCOPE_PRODUCT(id, name, bytes, kind, cuda, exponent, fraction, dlpack) "ProductOf<" #cuda ">",
#define CUSCOPE_DOT(id, name, bytes, kind, cuda, exponent, fraction, dlpack) "DotOf<" #cuda ">",
#define CUSCOPE_EXTREME(id, name, bytes, kind, cuda, exponent, fraction, dlpack) "ExtremeOf<" #cuda ">",
#define CUSCOPE_FIRST(id, name, bytes, kind, cuda, exponent, fraction, dlpack) "FirstExtremeOf<" #cuda ">",
#define CUSCOPE_NUMBERS(X) CUSCOPE_FLOATS(X) CUSCOPE_SIGNED_INTEGERS(X) CUSCOPE_COMPLEX_NUMBERS(X)
#define CUSCOPE_KEYS(X) CUSCOPE_FLOATS(X) CUSCOPE_UNSIGNED_INTEGERS(X)
    constexpr std::string_view sums[] = {CUSCOPE_NUMBERS(CUSCOPE_SUM)};
    constexpr std::string_view products[] = {CUSCOPE_NUMBERS(CUSCOPE_PRODUCT)};
    constexpr std::string_view dots[] = {CUSCOPE_NUMBERS(CUSCOPE_DOT)};
    constexpr std::string_view extremes[] = {CUSCOPE_KEYS(CUSCOPE_EXTREME)};
    constexpr std::string_view firsts[] = {CUSCOPE_KEYS(CUSCOPE_FIRST)};
#undef CUSCOPE_SUM
#undef CUSCOPE_PRODUCT
#undef CUSCOPE_DOT
#undef CUSCOPE_EXTREME
#undef CUSCOPE_FIRST
#undef CUSCOPE_NUMBERS
#undef CUSCOPE_KEYS
    constexpr std::string_view truths[] = {"TruthOf<unsigned char>", "TruthOf<unsigned short>",
                                           "TruthOf<unsigned int>", "TruthOf<unsigned long long>",
                                           "TruthOf<TwoWords>"};
    const int width =
        std::countr_zero(static_cast<unsigned>(bytes_of(type)));  // 0 for bytes, 1 for halves, ...
    constexpr int floats = static_cast<int>(Type::float64) + 1, integers = 4;  // of one sign
    const int index = is_floating(type) ? static_cast<int>(type)
                      : is_complex(type)
                          ? floats + integers + static_cast<int>(type) - static_cast<int>(Type::complex64)
                          : floats + width;
    switch (operation) {
        case Operation::mean:
            if (type == Type::int64) return "MeanOf<long long>";
            if (type == Type::uint64) return "MeanOf<unsigned long long>";
            [[fallthrough]];
        case Operation::sum:
            return sums[index];
        case Operation::product:
            return products[index];
        case Operation::dot:
            return dots[index];
        case Operation::minimum:
        case Operation::maximum:
            return is_complex(type) ? std::string_view() : extremes[index];
        case Operation::first_minimum:
        case Operation::first_maximum:
            return is_complex(type) ? std::string_view() : firsts[index];
        case Operation::any:
        case Operation::all:
            return truths[width];
    }
    return {};
}

// The value of the kernels' argument `bits`.
constexpr unsigned long long bits_of(Operation operation, Type type) {
    const int bytes = bytes_of(type) > 8 ? 8 : bytes_of(type);
    const unsigned long long ones = ~0ull >> (64 - 8 * bytes);
    const unsigned long long top = 1ull << (8 * bytes - 1);
    const unsigned long long everywhere = ~0ull / ones;  // an element's bits, repeated through eight bytes
    const bool is_float = is_floating(type), is_signed = is_signed_integer(type);
    switch (operation) {
        case Operation::sum:
        case Operation::mean:
            return !is_float && !is_signed && type != Type::boolean && bytes < 8 ? top * everywhere : 0;
        case Operation::product:
        case Operation::dot:
            return is_signed && bytes < 8 ? top : 0;
        case Operation::minimum:
        case Operation::first_minimum:
            return (is_float ? top : is_signed ? ones ^ top : ones) * everywhere;
        case Operation::maximum:
        case Operation::first_maximum:
            return is_signed ? top * everywhere : 0;
        case Operation::any:
        case Operation::all:
            if (type == Type::complex64) return 0x7fffffff7fffffffull;
            if (type == Type::complex128) return 0x7fffffffffffffffull;
            return (is_float ? ones ^ top : ones) * everywhere;
    }
    return 0;
}

// The value of the kernels' argument `kind`.
constexpr int kind_of(Operation operation, Type output) {
    if (operation == Operation::any) return 0;
    return operation == Operation::all ? 1 : static_cast<int>(output);
}

// The size of the policy's Value.
constexpr int value_bytes(Operation operation, Type type) {
    switch (operation) {
        case Operation::sum:
        case Operation::mean:
        case Operation::dot:
            if (type == Type::complex128) return 32;
            if (type == Type::complex64 || type == Type::float64) return 16;
            return operation == Operation::mean && !is_floating(type) && bytes_of(type) == 8 ? 16 : 8;
        case Operation::product:
            return is_complex(type) ? 16 : 8;
        case Operation::minimum:
        case Operation::maximum:
            return bytes_of(type) == 8 ? 8 : 4;
        case Operation::first_minimum:
        case Operation::first_maximum:
            return bytes_of(type) == 8 ? 16 : 12;
        case Operation::any:
        case Operation::all:
            return 4;
    }
    return 0;
}

constexpr long long power_of_two_from(long long x) {
    return static_cast<long long>(std::bit_ceil(static_cast<unsigned long long>(x)));
}
constexpr long long power_of_two_up_to(long long x) {  // 0 for 0
    return static_cast<long long>(std::bit_floor(static_cast<unsigned long long>(x)));
}

// A slot holds a Value of up to 32 bytes, and as many bytes of flags.
inline constexpr std::size_t slot_size = 64;

// Most vectors for a thread of `few`.
inline constexpr int few_vectors = 4;

// n contiguous elements of so many bytes: `whole`, `few` and `dot`.
//
// Up to 32 KiB, one block is enough, because it need not wait for other blocks. Above, there are as many
// blocks as have a vector for every thread, up to one block for four multiprocessors; then one block for each
// multiprocessor, and two as soon as one block would give a thread more than four vectors. (Launches that
// overlap took longer with block counts in between.)
constexpr Launch plan_whole(long long n, int element_bytes, int multiprocessors) {
    constexpr int threads = 512;
    const long long vectors = (n * element_bytes + 15) / 16;
    Launch launch;
    launch.block = threads;
    if (vectors > threads * few_vectors) {
        const long long useful = (vectors + threads - 1) / threads, one_each = multiprocessors;
        launch.grid = static_cast<unsigned>(vectors > one_each * threads * few_vectors ? 2 * one_each
                                            : useful > one_each / 4                    ? one_each
                                                                                       : useful);
    }
    launch.slot_bytes = launch.grid > 1 ? launch.grid * slot_size : 0;
    return launch;
}

// Are n contiguous elements so few that `few` is used instead of `whole`?
constexpr bool is_few(long long n, int element_bytes, int multiprocessors) {
    const Launch launch = plan_whole(n, element_bytes, multiprocessors);
    return (n * element_bytes + 15) / 16 <= static_cast<long long>(launch.grid) * launch.block * few_vectors;
}

// `count` rows of `length` elements each. A thread takes 6 to 12 vectors of a row, more of rows that half a
// block shares. If this leaves the device idle, a thread takes fewer vectors, down to three. If even one
// block for each row leaves the device idle, rows are split. 284 shapes take 1.028 times as long as
// with the fastest number of lanes and splits that was measured on an H200 (geometric mean; 1.25 in the worst
// case), and 1.035 times as long with 16 vectors.
constexpr Launch plan_rows(long long count, long long length, int element_bytes, int multiprocessors) {
    constexpr int threads = 256, loads = 8, blocks = 4;  // a multiprocessor
    const long long vectors = std::max(1ll, length * element_bytes / 16);
    const long long at_once = static_cast<long long>(multiprocessors) * blocks;
    Launch launch;
    launch.block = threads;
    const auto lanes_for = [&](long long each, long long most) {
        return static_cast<int>(std::clamp(power_of_two_up_to(vectors / each), std::min(vectors, 2ll), most));
    };
    launch.lanes = lanes_for(6, threads / 2);
    while (launch.lanes < lanes_for(3, threads) && count * launch.lanes < at_once * threads)
        launch.lanes *= 2;
    if (launch.lanes == threads && count < at_once)
        launch.splits =
            static_cast<int>(std::max(1ll, std::min(at_once / count, vectors / (threads * loads / 2))));
    const long long rows_a_block = threads / launch.lanes;
    launch.grid = static_cast<unsigned>((count + rows_a_block - 1) / rows_a_block * launch.splits);
    launch.slot_bytes = launch.splits > 1 ? launch.grid * slot_size : 0;
    return launch;
}

// A stream keeps a workspace of this size (src/ops/reduce/workspace.cpp).
inline constexpr std::size_t most_workspace = std::size_t{1} << 20;

// The slots with which `splits` blocks combine `results` values, `times` times in a launch (splits.cuh).
constexpr std::size_t slot_bytes(long long times, long long splits, long long results, int threads,
                                 int value_bytes) {
    if (splits == 1) return 0;
    const int size = splits_of_group(static_cast<int>(splits), static_cast<int>(results), threads);
    const long long values = times * results * (splits + groups(static_cast<int>(splits), size));
    return static_cast<std::size_t>(values) * 8 * ((value_bytes + 3) / 4);
}

// A launch of `columns`: strips of `bytes` bytes and `width` columns in `length` rows, which hold whole
// strips or not. A block takes `lanes` strips, and `splits` blocks share the rows of each strip.
struct ColumnsLaunch {
    long long strips, length;
    bool whole;
    int width, bytes, lanes;
    long long splits;

    static constexpr int threads = 256;
    constexpr int members() const { return threads / lanes; }  // the threads of a strip
    constexpr long long tiles() const { return (strips + lanes - 1) / lanes; }
    constexpr std::size_t slots(int value_bytes) const {
        return slot_bytes(tiles(), splits, lanes * width, threads, value_bytes);
    }
    // The blocks that wait for others: the last one of each group.
    constexpr long long waiting() const {
        if (splits == 1) return 0;
        const int count = static_cast<int>(splits);
        return tiles() * groups(count, splits_of_group(count, lanes * width, threads));
    }
    constexpr Launch plan(int value_bytes) const {
        return {static_cast<unsigned>(tiles() * splits), threads, lanes, static_cast<int>(splits),
                slots(value_bytes)};
    }
};

constexpr double rounded_up(double x) {
    const auto whole = static_cast<double>(static_cast<long long>(x));
    return whole < x ? whole + 1 : whole;
}

// Shared by the estimates of times below, of kernels with blocks of 256 threads.
inline constexpr int resident_blocks = 3;        // that a multiprocessor holds
inline constexpr int least_resident_blocks = 2;  // of products of bytes

// The estimated microseconds in which `bytes` come from memory. blocks: of a multiprocessor.
constexpr double memory_microseconds(double bytes, double blocks, int multiprocessors) {
    constexpr double bytes_of_microsecond = 34e3;  // of a multiprocessor
    // The multiprocessor that has most blocks, or that gets the last one, ends last.
    const double last = blocks <= resident_blocks ? rounded_up(blocks) / blocks : 1 + 2.5 / blocks;
    return bytes / bytes_of_microsecond / multiprocessors * last;
}

// The estimated microseconds. The constants fit 4,050 launches on an H200, one after the other in a stream:
// of the 294 shapes in tests/operations/reduction_times_h200.json ("columns") and of 25 others. For these
// 294, the launch with the shortest estimate takes 1.020 times as long as the fastest one (geometric
// mean; 1.33 in the worst case). With constants that fit half of all, it took 1.022 and 1.026 times as long
// for the other half.
constexpr double microseconds(const ColumnsLaunch& launch, int multiprocessors) {
    const double blocks = static_cast<double>(launch.tiles() * launch.splits) / multiprocessors;
    const double rows =
        static_cast<double>(launch.length) / static_cast<double>(launch.members() * launch.splits);
    double memory = memory_microseconds(static_cast<double>(launch.strips * launch.length * launch.bytes),
                                        blocks, multiprocessors);
    // One block reads more slowly than a multiprocessor can.
    if (blocks <= 1) memory *= 1.4;
    // Pieces of rows of 128 bytes are the fastest to read.
    const int piece = launch.lanes * launch.bytes;
    memory *= piece <= 64 ? 1.06 : piece > 128 ? 1.14 : 1;
    // A thread that begins or ends has fewer loads under way.
    memory *= 1 + 0.6 / rows;
    const double waves = std::max(1.0, blocks / resident_blocks);
    const double waiting = 1.1 * rounded_up(rows / strips_of_columns(launch.width, launch.whole)) *
                           waves;  // of a thread, for its loads
    double beginning = 1.1 * std::min<double>(blocks, resident_blocks);
    // With 1 to 2.25 blocks, the next launch does not begin early (common/overlap.cuh).
    if (blocks > 1 && blocks <= 2.25) beginning += 1;
    double combining = 0;
    if (launch.splits > 1) {
        // The last block of a group reads the values of the group's splits. The last block of the tile reads
        // the values of the groups.
        constexpr double loads = 8;
        const int results = launch.lanes * launch.width, splits = static_cast<int>(launch.splits);
        const int size = splits_of_group(splits, results, launch.threads), parts = groups(splits, size);
        const double at_once = loads * readers(results, launch.threads);
        const double rounds = rounded_up(size / at_once) + (parts > 1 ? rounded_up(parts / at_once) : 0);
        combining = 1.3 * (parts > 1 ? 2 : 1) +
                    1.3 * rounded_up(static_cast<double>(results) / launch.threads) * rounds;
    }
    return std::max(memory, waiting) + 5 * (waves - 1) + beginning + combining;
}

// Calls use(launch) for the launches of `columns` among which a plan chooses. Few lanes make many tiles. Then
// few blocks share the rows of a tile, and combining their values takes less time. Many lanes read long
// pieces of a row, and leave each thread more rows.
template <class Use>
constexpr void for_each_columns(long long outer, long long length, long long inner, int element_bytes,
                                int value_bytes, int multiprocessors, const Use& use) {
    constexpr int least_lanes = 4;
    constexpr int least_rows = 4;  // of a thread, if rows are split
    const int width = strip_columns(element_bytes, value_bytes);
    const long long strips = (inner + width - 1) / width * outer;
    bool any = false;
    for (int lanes = least_lanes; lanes <= ColumnsLaunch::threads; lanes *= 2) {
        ColumnsLaunch launch{strips, length, inner % width == 0, width, width * element_bytes, lanes, 0};
        if (launch.members() > length && lanes < ColumnsLaunch::threads) continue;
        if (any && lanes / 2 >= strips) break;  // half as many lanes suffice
        const long long most = std::max(1ll, length / (launch.members() * least_rows));
        for (const int blocks : {0, 1, 2, 3, 4, 6, 9, 12}) {  // of a multiprocessor; 0: no splits
            const long long splits =
                std::clamp(static_cast<long long>(multiprocessors) * blocks / launch.tiles(), 1ll, most);
            if (splits == std::exchange(launch.splits, splits)) continue;
            if (launch.slots(value_bytes) > most_workspace) continue;
            // Blocks that wait never take all places of a device that has no other work. So the others run,
            // in whatever order blocks begin.
            if (launch.waiting() >= static_cast<long long>(multiprocessors) * least_resident_blocks) continue;
            any = true;
            use(launch);
        }
    }
}

constexpr ColumnsLaunch best_columns(long long outer, long long length, long long inner, int element_bytes,
                                     int value_bytes, int multiprocessors) {
    ColumnsLaunch best{};
    double shortest = 0;
    for_each_columns(outer, length, inner, element_bytes, value_bytes, multiprocessors,
                     [&](const ColumnsLaunch& launch) {
                         const double time = microseconds(launch, multiprocessors);
                         if (best.lanes == 0 || time < shortest) best = launch, shortest = time;
                     });
    return best;
}

constexpr Launch plan_columns(long long outer, long long length, long long inner, int element_bytes,
                              int value_bytes, int multiprocessors) {
    return best_columns(outer, length, inner, element_bytes, value_bytes, multiprocessors).plan(value_bytes);
}

// Slices of length * inner elements, short enough that at least 16 of them fit beside 16 bytes into 16 KiB:
// then any such number of slices is a multiple of 16 bytes. A block takes as many as fit. If that gives less
// than eight blocks for each multiprocessor, it takes fewer, but a result for each thread where they fit.
inline constexpr long long longest_slice = (16384 - 16) / 16;

constexpr Launch plan_slices(long long outer, long long length, long long inner, int element_bytes,
                             int multiprocessors) {
    const long long slice = length * inner * element_bytes;
    const long long most = (16384 - 16) / slice / 16 * 16;
    const long long enough = outer / (8ll * multiprocessors) / 16 * 16;
    Launch launch;
    launch.block = 256;
    const long long least = std::min(most, (256 / inner + 15) / 16 * 16);
    launch.lanes = static_cast<int>(std::clamp(enough, std::max(16ll, least), most));
    launch.grid = static_cast<unsigned>((outer + launch.lanes - 1) / launch.lanes);
    return launch;
}

// Few long rows: each thread has strip_columns columns, and every row of them. If rows hold whole strips, the
// strips of all o follow each other. Else each o begins with a block of its own.
constexpr Launch plan_shallow(long long outer, long long inner, int element_bytes, int value_bytes) {
    const long long width = strip_columns(element_bytes, value_bytes), tile = 256 * width;
    Launch launch;
    launch.block = 256;
    launch.grid = static_cast<unsigned>(inner % width == 0 ? (outer * inner + tile - 1) / tile
                                                           : (inner + tile - 1) / tile * outer);
    return launch;
}

// Few columns. The fewest threads whose strips hold a multiple of `inner` elements are the launch's lanes,
// and as many of them as fit into 256 threads are a block.
constexpr long long narrow_lanes(long long inner, int element_bytes, int value_bytes) {
    const long long width = strip_columns(element_bytes, value_bytes);
    return inner / std::gcd(inner, width);
}

// The rows of each o are split if there are fewer than three blocks for each multiprocessor, which holds
// three (of products of bytes two: for them, this number was not measured). Two read as fast, but then the
// next launch cannot begin early (common/overlap.cuh). If rows are split, a thread reads at least 1.5 times
// the strips that it has under way: on an H200, 77 shapes take 1.03 times as long as with the best number of
// blocks that was measured (1.22 in the worst case).
constexpr Launch plan_narrow(long long outer, long long length, long long inner, int element_bytes,
                             int value_bytes, int multiprocessors) {
    constexpr long long most_threads = 256, blocks = 3;
    const int least_strips = strips_of_narrow(strip_columns(element_bytes, value_bytes), value_bytes) * 3 / 2;
    const long long strips = length * inner / strip_columns(element_bytes, value_bytes);
    const long long lanes = narrow_lanes(inner, element_bytes, value_bytes);
    Launch launch;
    launch.lanes = static_cast<int>(lanes);
    launch.block = static_cast<unsigned>(most_threads / lanes * lanes);
    const long long wanted =
        std::min(multiprocessors * blocks / outer, strips / (launch.block * least_strips));
    launch.splits = static_cast<int>(std::max(1ll, wanted));
    launch.grid = static_cast<unsigned>(outer * launch.splits);
    launch.slot_bytes = slot_bytes(outer, launch.splits, inner, static_cast<int>(launch.block), value_bytes);
    return launch;
}

struct AxisPlan {
    const char* kernel;  // without its policy
    Launch launch;
};

// The estimated microseconds of `shallow`, on the scale of the estimate for `columns`: each thread reads all
// rows of its columns, eight at once. Threads without columns, in the last tile of a row, cost as much again:
// a guess that fits. The constants fit 370 random shapes on an H200, of up to 48 rows.
constexpr double shallow_microseconds(const Launch& launch, long long outer, long long length,
                                      long long inner, int element_bytes, int value_bytes,
                                      int multiprocessors) {
    constexpr double resident = 4;  // blocks of a multiprocessor
    const double threads = static_cast<double>(launch.grid) * launch.block;
    const double busy = static_cast<double>(outer * inner) / strip_columns(element_bytes, value_bytes);
    const double waves = std::max(1.0, launch.grid * (threads / busy) / resident / multiprocessors);
    return 1.29 * rounded_up(static_cast<double>(length) / 8) * waves;
}

// The estimated microseconds of `narrow`, on the scale of the estimate for `columns`. The constants fit 568
// random shapes on an H200, which are the shapes in reduction_times_h200.json ("kernels") that the earlier
// limits of `slices` and `shallow` left to the two. The kernel with the smaller estimate takes 1.009 times as
// long as the faster kernel. With constants that fit half of them, it took 1.012 and 1.014 times as long on
// the other half.
constexpr double narrow_microseconds(const Launch& launch, long long length, long long inner,
                                     int element_bytes, int value_bytes, int multiprocessors) {
    const int width = strip_columns(element_bytes, value_bytes);
    const int loads = strips_of_narrow(width, value_bytes);
    const long long outer = launch.grid / launch.splits;
    const double blocks = static_cast<double>(launch.grid) / multiprocessors;
    const double waves = std::max(1.0, blocks / resident_blocks);
    const double strips =  // of a thread
        static_cast<double>(length * inner / width) / (static_cast<double>(launch.splits) * launch.block);
    const double memory =
        0.66 * memory_microseconds(static_cast<double>(outer * length * inner * element_bytes),
                                   std::max(1.0, blocks), multiprocessors);
    const double waiting = (loads == 4 ? 0.95 : 0.2) * rounded_up(strips / loads) * waves;
    return std::max(memory, waiting) + (width > 8 ? 2.7 : 2.2) * waves + (launch.splits > 1 ? 3 : 0) +
           0.6 * std::min<double>(blocks, resident_blocks);
}

// The middle axis of a contiguous (outer, length, inner), of which `inner` or `outer` is more than 1.
//
//   slices    an o has at most 256 bytes, or at most 1023 if its results lie side by side. Rows of 128 and of
//             256 bytes are left to `rows`: in shared memory, the threads of a warp would wait for the same
//             banks
//   shallow   up to 48 rows
//   narrow    few columns: they do not fill whole strips, or they fill fewer than 8; and at most 256 threads
//             have strips with a whole number of rows
//   columns   all others, and those for which the estimates say that it is faster
//
// `narrow` gives each o blocks of its own. These blocks need rows enough to stay busy: (130867, 36, 48) bytes
// took 18 times as long as with `columns`. On 900 random shapes of few rows or few columns, the chosen kernel
// takes 1.011 times as long as the fastest one on an H200 (geometric mean; 1.63 in the worst case).
constexpr AxisPlan plan_axis(long long outer, long long length, long long inner, int element_bytes,
                             int value_bytes, int multiprocessors) {
    constexpr long long most_rows = 48;
    const long long slice = length * inner * element_bytes;
    if (inner == 1 ? slice <= 256 && slice % 128 != 0 : slice <= longest_slice)
        return {"slices", plan_slices(outer, length, inner, element_bytes, multiprocessors)};
    if (inner == 1) return {"rows", plan_rows(outer, length, element_bytes, multiprocessors)};
    const ColumnsLaunch columns =
        best_columns(outer, length, inner, element_bytes, value_bytes, multiprocessors);
    AxisPlan best{"columns", columns.plan(value_bytes)};
    double shortest = microseconds(columns, multiprocessors);
    const auto consider = [&](const char* kernel, const Launch& launch, double time) {
        if (time < shortest) best = {kernel, launch}, shortest = time;
    };
    if ((!columns.whole || inner < 8 * columns.width) &&
        narrow_lanes(inner, element_bytes, value_bytes) <= 256) {
        const Launch narrow = plan_narrow(outer, length, inner, element_bytes, value_bytes, multiprocessors);
        if (narrow.slot_bytes <= most_workspace)
            consider("narrow", narrow,
                     narrow_microseconds(narrow, length, inner, element_bytes, value_bytes, multiprocessors));
    }
    if (length <= most_rows) {
        const Launch shallow = plan_shallow(outer, inner, element_bytes, value_bytes);
        consider(
            "shallow", shallow,
            shallow_microseconds(shallow, outer, length, inner, element_bytes, value_bytes, multiprocessors));
    }
    return best;
}

// Elements that do not lie together, `results` times `rows` times `columns`. Each result gets blocks of its
// own, up to four for each multiprocessor in all, but at least eight elements for each thread.
constexpr Launch plan_strided(long long results, long long rows, long long columns, int multiprocessors) {
    constexpr long long threads = 256, loads = 8, blocks = 4;
    Launch launch;
    launch.block = threads;
    launch.lanes = static_cast<int>(std::min(threads, power_of_two_from(columns)));
    const long long members = threads / launch.lanes;
    const long long wanted = std::min({multiprocessors * blocks / results, rows * columns / (threads * loads),
                                       (rows + members - 1) / members});
    launch.splits = static_cast<int>(std::max(1ll, wanted));
    launch.grid = static_cast<unsigned>(results * launch.splits);
    launch.slot_bytes = launch.splits > 1 ? launch.grid * slot_size : 0;
    return launch;
}

// Is `strided` better than a copy and the kernels for elements that lie together? It needs work for its
// blocks.
constexpr bool is_strided(long long results, long long rows, long long columns) {
    return rows * columns >= 4096 && results < 1ll << 22;
}

}  // namespace cuscope::reduce
