// The launches of this folder's reductions: the instance for an operation on a type, its arguments, and the
// grid, block and workspace for a shape. Plain C++20 without CUDA, for the host.
//
//   plan_whole    whole<P>(in, out, n, bits, kind, divisor, slots); few<P> if is_few
//                 dot<P>(first, second, out, n, bits, kind, slots)
//   plan_rows     rows<P>(in, out, count, length, distance, bits, kind, divisor, lanes, splits, slots)
//   plan_columns  columns<P>(in, out, outer, length, inner, distance, outer_distance, bits, kind, divisor,
//                            lanes, splits, tickets, partials)
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
// Workspace: slots and tickets are zero before the first launch, and each launch leaves them zero. They are
// 16-byte aligned, and only one launch at a time may use them, as launches in one stream do. Partials may
// have any content.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <string_view>

#include "../common/types.hpp"
#include "groups.hpp"

namespace cuscope::reduce {

using kernels::Type;

enum class Operation { sum, mean, product, minimum, maximum, first_minimum, first_maximum, any, all, dot };

struct Launch {
    unsigned grid = 1, block = 1;
    int lanes = 1, splits = 1;
    std::size_t slot_bytes = 0, ticket_bytes = 0, partial_bytes = 0;
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

// The size of the policy's Value. The partials of `columns` are such Values.
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

// `count` rows of `length` elements each. A thread takes 16 vectors of a row. That is two rounds of loads, so
// the threads of a block do not all wait at a barrier after their only round. If this leaves the device idle,
// a thread takes fewer vectors, down to four. If even one block for each row leaves the device idle, rows are
// split.
constexpr Launch plan_rows(long long count, long long length, int element_bytes, int multiprocessors) {
    constexpr int threads = 256, loads = 8, blocks = 4;  // a multiprocessor
    const long long vectors = std::max(1ll, length * element_bytes / 16);
    const long long at_once = static_cast<long long>(multiprocessors) * blocks;
    Launch launch;
    launch.block = threads;
    const auto lanes_for = [&](long long each, long long most) {
        return static_cast<int>(std::clamp(power_of_two_up_to(vectors / each), std::min(vectors, 2ll), most));
    };
    launch.lanes = lanes_for(2 * loads, threads / 2);
    while (launch.lanes < lanes_for(4, threads) && count * launch.lanes < at_once * threads)
        launch.lanes *= 2;
    if (launch.lanes == threads && count < at_once)
        launch.splits =
            static_cast<int>(std::max(1ll, std::min(at_once / count, vectors / (threads * loads / 2))));
    const long long rows_a_block = threads / launch.lanes;
    launch.grid = static_cast<unsigned>((count + rows_a_block - 1) / rows_a_block * launch.splits);
    launch.slot_bytes = launch.splits > 1 ? launch.grid * slot_size : 0;
    return launch;
}

// The number of columns that one thread owns.
constexpr int strip_columns(int element_bytes, int value_bytes) {
    int columns = 16 / element_bytes;
    while (columns * value_bytes * 256 > 32768) columns /= 2;
    return columns;
}

// A launch of `columns`: strips of `bytes` bytes and `width` columns in `length` rows. A block takes `lanes`
// strips, and `splits` blocks share the rows of each strip.
struct ColumnsLaunch {
    long long strips, length;
    int width, bytes, lanes;
    long long splits;

    static constexpr int threads = 256;
    constexpr int members() const { return threads / lanes; }  // the threads of a strip
    constexpr long long tiles() const { return (strips + lanes - 1) / lanes; }
};

constexpr double rounded_up(double x) {
    const auto whole = static_cast<double>(static_cast<long long>(x));
    return whole < x ? whole + 1 : whole;
}

// Shared by the estimates of times below, of kernels with blocks of 256 threads.
inline constexpr int resident_blocks = 3;  // that a multiprocessor holds; of products of bytes it holds two

// The estimated microseconds in which `bytes` come from memory. blocks: of a multiprocessor.
constexpr double memory_microseconds(double bytes, double blocks, int multiprocessors) {
    constexpr double bytes_of_microsecond = 34e3;  // of a multiprocessor
    // The multiprocessor that has most blocks, or that gets the last one, ends last.
    const double last = blocks <= resident_blocks ? rounded_up(blocks) / blocks : 1 + 2.5 / blocks;
    return bytes / bytes_of_microsecond / multiprocessors * last;
}

// The estimated microseconds. The constants fit 3,616 launches on an H200, of 145 shapes and five kinds
// (tests/operations/reduction_times_h200.json): the launch with the shortest estimate takes 1.03 times as
// long as the fastest one (geometric mean; 1.20 in the worst case).
constexpr double microseconds(const ColumnsLaunch& launch, int multiprocessors) {
    constexpr int loads = 8;  // of a thread at once; other types than float have 4 or 6
    const double blocks = static_cast<double>(launch.tiles() * launch.splits) / multiprocessors;
    const double rows =
        static_cast<double>(launch.length) / static_cast<double>(launch.members() * launch.splits);
    double memory = memory_microseconds(static_cast<double>(launch.strips * launch.length * launch.bytes),
                                        blocks, multiprocessors);
    // Pieces of rows of 64 bytes are slow to read.
    if (launch.lanes * launch.bytes <= 64) memory *= 2;
    // A thread that begins or ends has fewer loads under way.
    memory *= 1 + 1.5 / rows;
    const double waves = std::max(1.0, blocks / resident_blocks);
    const double waiting = 2.5 * rounded_up(rows / loads) * waves;  // of a thread, for its loads
    double combining = 0;
    if (launch.splits > 1) {
        // The last block of a group reads the values of the group's splits. The last block of the tile reads
        // the values of the groups.
        const int results = launch.lanes * launch.width, splits = static_cast<int>(launch.splits);
        const int size = splits_of_group(splits, results, launch.threads), parts = groups(splits, size);
        const double at_once = loads * readers(results, launch.threads);
        const double rounds = rounded_up(size / at_once) + (parts > 1 ? rounded_up(parts / at_once) : 0);
        combining = 1.5 * (parts > 1 ? 2 : 1) +
                    1.5 * rounded_up(static_cast<double>(results) / launch.threads) * rounds;
    }
    return std::max(memory, waiting) + 2.5 * (waves - 1) + combining;
}

// The middle axis of (outer, length, inner). Few lanes make many tiles. Then few blocks share the rows of a
// tile, and combining their values takes less time. Many lanes read long pieces of a row, and leave each
// thread more rows.
constexpr ColumnsLaunch best_columns(long long outer, long long length, long long inner, int element_bytes,
                                     int value_bytes, int multiprocessors) {
    constexpr int least_lanes = 4;
    constexpr int least_rows = 8;  // of a thread, if rows are split
    const int width = strip_columns(element_bytes, value_bytes);
    ColumnsLaunch best{(inner + width - 1) / width * outer, length, width, width * element_bytes, 0, 1};
    double shortest = 0;
    for (int lanes = least_lanes; lanes <= ColumnsLaunch::threads; lanes *= 2) {
        ColumnsLaunch launch = best;
        launch.lanes = lanes;
        if (launch.members() > length && lanes < ColumnsLaunch::threads) continue;
        if (lanes > least_lanes && lanes / 2 >= launch.strips && best.lanes > 0)
            break;  // half as many lanes suffice
        const long long most = std::max(1ll, length / (launch.members() * least_rows));
        for (const int blocks : {0, 1, 2, 3, 4, 6, 9, 12}) {  // of a multiprocessor; 0: no splits
            launch.splits =
                std::clamp(static_cast<long long>(multiprocessors) * blocks / launch.tiles(), 1ll, most);
            const double time = microseconds(launch, multiprocessors);
            if (best.lanes == 0 || time < shortest) best = launch, shortest = time;
        }
    }
    return best;
}

constexpr Launch plan_columns(long long outer, long long length, long long inner, int element_bytes,
                              int value_bytes, int multiprocessors) {
    const ColumnsLaunch best =
        best_columns(outer, length, inner, element_bytes, value_bytes, multiprocessors);
    Launch launch;
    launch.block = ColumnsLaunch::threads;
    launch.lanes = best.lanes;
    launch.splits = static_cast<int>(best.splits);
    launch.grid = static_cast<unsigned>(best.tiles() * best.splits);
    if (launch.splits > 1) {
        launch.ticket_bytes = static_cast<std::size_t>(best.tiles()) * sizeof(unsigned) *
                              tickets(launch.splits, launch.lanes * best.width, ColumnsLaunch::threads);
        launch.partial_bytes =
            static_cast<std::size_t>(launch.lanes * best.width * value_bytes) * launch.grid;
    }
    return launch;
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

// The strips that a thread has under way: the same rule as in narrow.cuh.
constexpr int narrow_loads(int element_bytes, int value_bytes) {
    return strip_columns(element_bytes, value_bytes) * value_bytes > 64 ? 4 : 8;
}

// The rows of each o are split if there are fewer than two blocks for each multiprocessor. A multiprocessor
// holds more, but two read as fast, and leave fewer values to be combined. If rows are split, a thread reads
// half as many strips again as it has under way, or more: on an H200, 77 shapes take 1.024 times as long as
// with the best number of blocks that was measured.
constexpr Launch plan_narrow(long long outer, long long length, long long inner, int element_bytes,
                             int value_bytes, int multiprocessors) {
    constexpr long long most_threads = 256, blocks = 2;
    const int least_strips = narrow_loads(element_bytes, value_bytes) * 3 / 2;
    const long long strips = length * inner / strip_columns(element_bytes, value_bytes);
    const long long lanes = narrow_lanes(inner, element_bytes, value_bytes);
    Launch launch;
    launch.lanes = static_cast<int>(lanes);
    launch.block = static_cast<unsigned>(most_threads / lanes * lanes);
    const long long wanted =
        std::min(multiprocessors * blocks / outer, strips / (launch.block * least_strips));
    launch.splits = static_cast<int>(std::max(1ll, wanted));
    launch.grid = static_cast<unsigned>(outer * launch.splits);
    if (launch.splits > 1) {
        const int of_group =
            splits_of_group(launch.splits, static_cast<int>(inner), static_cast<int>(launch.block));
        const long long values = outer * inner * (launch.splits + groups(launch.splits, of_group));
        launch.ticket_bytes = static_cast<std::size_t>(values) * 8 * ((value_bytes + 3) / 4);
    }
    return launch;
}

// A stream keeps a workspace of this size (src/ops/reduce/workspace.cpp).
inline constexpr std::size_t most_workspace = std::size_t{1} << 20;

struct AxisPlan {
    const char* kernel;  // without its policy
    Launch launch;
};

// So few rows that `shallow` is faster than the other kernels: up to 40. If rows do not hold whole strips,
// the last tile of a row may lack columns, and bytes and halves may have up to 24 and 8 rows. More rows need
// more blocks. The limits fit random shapes on an H200.
constexpr bool is_shallow(long long outer, long long length, long long inner, int element_bytes,
                          int value_bytes, int multiprocessors) {
    const long long width = strip_columns(element_bytes, value_bytes), tile = 256 * width;
    const long long tiles = (inner + tile - 1) / tile, missing = tiles * tile - inner;
    const long long blocks = plan_shallow(outer, inner, element_bytes, value_bytes).grid;
    if (inner % width == 0) {
        // A thread's 16 sums or products of bytes usually have 8 bytes each, so neighbouring threads would
        // store in pieces of 128 bytes.
        if (element_bytes == 1 && width == 16 && value_bytes == 8) return false;
    } else if (element_bytes < 4) {
        // Each 4 bytes take two loads.
        const long long most_rows = element_bytes == 1 ? 24 : 8;
        if (length > most_rows || missing > inner * 3 / 4 ||
            blocks < multiprocessors * std::max(8ll, length) / 8)
            return false;
    } else if (missing > inner) {
        return false;
    }
    // Each thread reduces its columns alone, so many rows take many columns.
    return length <= 40 && blocks >= multiprocessors * std::max(3ll, length - 8) / 12;
}

// The estimated microseconds of `columns` or `narrow` for few columns. A thread waits for `rounds` rounds of
// loads, one after the other. split: do blocks share rows?
struct FewColumnsEstimate {
    double bytes, rounds;
    long long blocks;
    bool split;
    double of_round, of_block, of_split;  // microseconds

    constexpr double microseconds(int multiprocessors) const {
        const double each = static_cast<double>(blocks) / multiprocessors;
        const double waves = std::max(1.0, each / resident_blocks);
        return std::max(memory_microseconds(bytes, each, multiprocessors), of_round * rounds * waves) +
               of_block * waves + (split ? of_split : 0);
    }
};

// Few columns, for which `narrow` is faster than `columns`. They do not fill whole strips, or they fill fewer
// than 8, and at most 256 threads have strips with a whole number of rows.
//
// `narrow` gives each o blocks of its own. These blocks need rows enough to stay busy: (130867, 36, 48) bytes
// took 18 times as long as with `columns`. `columns` reads parts of strips, so its threads wait more often.
// The constants for `columns` fit 930 random shapes on an H200, those for `narrow`, and for rows that do not
// fill a strip, the 324 shapes in tests/operations/reduction_times_h200.json for which the two compete: there
// the chosen kernel takes 1.016 times as long as the faster one. With constants that fit half of them, it
// took 1.019 times as long on the other half.
constexpr bool is_narrow(long long outer, long long length, long long inner, int element_bytes,
                         int value_bytes, int multiprocessors) {
    const int width = strip_columns(element_bytes, value_bytes);
    const bool whole = inner % width == 0;
    if ((whole && inner >= 8 * width) || narrow_lanes(inner, element_bytes, value_bytes) > 256) return false;
    const int loads = width == 4 ? 8 : width < 4 ? 6 : 4;  // of a thread of `columns` at once
    const int parts = width > 8 ? 1 : loads / 2;           // the same of strips that are not aligned
    const auto bytes = static_cast<double>(outer * length * inner * element_bytes);
    const ColumnsLaunch columns =
        best_columns(outer, length, inner, element_bytes, value_bytes, multiprocessors);
    const double rows = static_cast<double>(length) / static_cast<double>(columns.members() * columns.splits);
    const Launch narrow = plan_narrow(outer, length, inner, element_bytes, value_bytes, multiprocessors);
    if (narrow.ticket_bytes > most_workspace) return false;
    const double strips =
        static_cast<double>(length * inner / width) / (static_cast<double>(narrow.splits) * narrow.block);
    const FewColumnsEstimate by_columns{bytes,
                                        rounded_up(rows / (whole ? loads : parts)),
                                        columns.tiles() * columns.splits,
                                        columns.splits > 1,
                                        whole           ? 0.62
                                        : inner < width ? 2.97
                                                        : 1.88,
                                        5.15,
                                        3.26};
    const int of_narrow = narrow_loads(element_bytes, value_bytes);
    const FewColumnsEstimate by_narrow{bytes,
                                       rounded_up(strips / of_narrow),
                                       narrow.grid,
                                       narrow.splits > 1,
                                       of_narrow == 4 ? 1.23 : 1.25,
                                       width > 8 ? 15.79 : 4.47,
                                       1.31};
    return by_narrow.microseconds(multiprocessors) < by_columns.microseconds(multiprocessors);
}

// The middle axis of a contiguous (outer, length, inner), of which `inner` or `outer` is more than 1.
//
//   slices    an o has at most 256 bytes, or at most 1023 if its results lie side by side. Rows of 128 and of
//             256 bytes are left to `rows`: in shared memory, the threads of a warp would wait for the same
//             banks
//   shallow   few rows (is_shallow)
//   narrow    few columns (is_narrow)
constexpr AxisPlan plan_axis(long long outer, long long length, long long inner, int element_bytes,
                             int value_bytes, int multiprocessors) {
    const long long slice = length * inner * element_bytes;
    if (inner == 1 ? slice <= 256 && slice % 128 != 0 : slice <= longest_slice)
        return {"slices", plan_slices(outer, length, inner, element_bytes, multiprocessors)};
    if (inner == 1) return {"rows", plan_rows(outer, length, element_bytes, multiprocessors)};
    if (is_shallow(outer, length, inner, element_bytes, value_bytes, multiprocessors))
        return {"shallow", plan_shallow(outer, inner, element_bytes, value_bytes)};
    if (is_narrow(outer, length, inner, element_bytes, value_bytes, multiprocessors))
        return {"narrow", plan_narrow(outer, length, inner, element_bytes, value_bytes, multiprocessors)};
    return {"columns", plan_columns(outer, length, inner, element_bytes, value_bytes, multiprocessors)};
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
