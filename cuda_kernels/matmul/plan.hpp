// The choice of a rung of matmul for a problem. Plain C++20, for host code that launches the rungs.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "instances.hpp"

namespace cuscope::matmul {

struct Shape {
    long long m = 1, n = 1, k = 1, batch = 1;
};

struct Device {
    int capability = 90;  // ten times the compute capability
    int multiprocessors = 132;
    int shared_bytes = 227 << 10;  // limit for a block, with the kernel's attribute set
};

inline bool runs_on(const Instance& i, const Device& device) {
    return device.capability >= i.least_capability &&
           device.shared_bytes >= i.shared_bytes + i.along_k_bytes &&
           (i.only_capability == 0 || device.capability == i.only_capability);
}

// How busy the multiprocessors are while an instance computes a shape: 1 if all of them always have the same
// amount of work.
inline double wave_efficiency(const Instance& i, const Shape& shape, const Device& device) {
    const double blocks = static_cast<double>(i.blocks(shape.m, shape.n)) * static_cast<double>(shape.batch);
    return blocks / (std::ceil(blocks / device.multiprocessors) * device.multiprocessors);
}

// The work of the busiest multiprocessor, in multiplications of a full multiprocessor of efficiency 1.
inline double cost(const Instance& i, const Shape& shape, const Device& device) {
    if ((i.planes || i.parts) && shape.batch > 1)  // one matrix after the other
        return static_cast<double>(shape.batch) * cost(i, {shape.m, shape.n, shape.k, 1}, device);
    const double blocks = static_cast<double>(i.blocks(shape.m, shape.n)) * static_cast<double>(shape.batch);
    const double each = std::ceil(blocks / device.multiprocessors);
    // With fewer blocks than it can hold, a multiprocessor waits more often. With half of them, it is assumed
    // to be a quarter slower.
    const bool narrow = shape.n <= 16 && shape.k < 1000 && i.in == "int32";  // measured
    const double filled = i.fast_alone && !narrow ? 1 : std::min(1.0, each / i.resident);
    double work = each * i.tile_m * i.tile_n / (i.efficiency * (0.5 + 0.5 * filled));
    // Each operand is divided into parts or bytes once. Of narrow products, that is a large share.
    if (i.parts) {
        constexpr long long step = 64;  // of k, which the kernel fills up with zeros
        work *= static_cast<double>((shape.k + step - 1) / step * step) / static_cast<double>(shape.k);
        work += 0.7 * static_cast<double>(shape.m + shape.n);
    }
    if (i.planes) work += 0.075 * element(i.in)->size * static_cast<double>(shape.m + shape.n);
    if (!i.boxes) return work;
    // These blocks start later: at n = 256 on an H200, by 2 microseconds in comparison with rung 09. 1.5 of
    // them, in multiplications for one step of k. Blocks with several tiles make up for it.
    const double start = each > 1 ? 0 : 2.1e6 / static_cast<double>(shape.k);
    if (i.cluster > 1) return start + work;
    // Without clusters, each block loads all of its columns of B. That takes longer if the rows of B do not
    // begin at multiples of 32 bytes, a sector of the cache, and if A and B do not fit into the second-level
    // cache.
    const double size = element(i.in)->size;
    const double bytes = (static_cast<double>(shape.m) + static_cast<double>(shape.n)) *
                         static_cast<double>(shape.k) * static_cast<double>(shape.batch) * size;
    const bool between_sectors = shape.n * element(i.in)->size % 32 > 0;
    return start + work * (between_sectors ? 1.3 : bytes > 100e6 ? 1.1 : 1);
}

// How the matrices lie in memory.
struct Packs {
    bool a = true, b = true;  // can be read 16 bytes at a time as they are
    bool b_columns = false;   // B is stored transposed
    bool c_columns = false;   // C is stored transposed
};

// The multiplications of a full multiprocessor of efficiency 1 in a second, on an H200; 0: not known. They
// make seconds of cost(), for the choice between kernels of which some need copies of the operands or a
// split of k.
inline double multiplications_per_second(std::string_view type) {
    if (type == "float32" || type == "int32" || type == "int64") return 2.1e11;
    if (type == "float64") return 1.2e11;
    if (type == "float16" || type == "bfloat16") return 1.4e12;
    return type == "int8" ? 2.2e12 : 0;
}

// The type of the parts of a product whose k is split.
inline std::string_view sum_type(std::string_view type) {
    if (type == "int8") return "int32";
    return type == "float64" ? "float64" : "float32";
}

// A split of k: `count` parts of `depth`, and one of `rest` if that is not 0. The parts are matrices of a
// batch. For kernels with boxes the last one may be shorter, and there is no rest.
struct Split {
    int count = 1;
    long long depth = 0, rest = 0;

    int parts() const { return count + (rest > 0 ? 1 : 0); }
};

// The split into about `parts` parts that leaves the smallest rest. Parts begin at multiples of `unit`, so
// that rows stay aligned. The rest is a launch of its own.
inline Split split_of(long long k, long long parts, long long unit) {
    Split best;
    for (long long count = parts; count >= 2 && count > parts - parts / 4 - 1; --count) {
        const long long depth = k / count / unit * unit, rest = k - count * depth;
        if (depth > 0 && (best.depth == 0 || rest < best.rest)) best = {static_cast<int>(count), depth, rest};
    }
    return best;
}

// The split into at most `parts` parts for kernels with boxes, which read zeros past the end of k. No part is
// empty.
inline Split split_in_boxes(long long k, long long parts, long long unit) {
    const long long each = (k + parts - 1) / parts, depth = (each + unit - 1) / unit * unit;
    return {static_cast<int>((k + depth - 1) / depth), depth, 0};
}

inline constexpr double slab_bytes = 128;  // of k, in a slab of A or B

// The time of a slab, if a block does not wait for memory. Tiles of rung 08 that load one number at a time
// are slower where columns are missing.
inline double slab_seconds(const Instance& i, const Shape& shape) {
    if (i.rung != "08_warp_tiles" || i.aligned_b) return i.slab_seconds;
    const double missing = static_cast<double>((i.tile_n - shape.n % i.tile_n) % i.tile_n) / i.tile_n;
    return i.slab_seconds * (1 + missing);
}

// The same for a rung that reads B as fast as the memory delivers it. With few blocks, each block has its own
// rate.
inline double seconds_of_few_rows(const Instance& i, const Shape& shape, double blocks) {
    constexpr double start = 60;  // of a block, in steps of k
    const double of_block = i.tile_m > 8 ? 17e9 : 26e9, of_memory = i.tile_m > 8 ? 3.3e12 : 4.0e12;
    const double bytes = (static_cast<double>(shape.k) + start) * static_cast<double>(shape.batch) *
                         static_cast<double>(shape.n) * element(i.in)->size;
    const double alone = bytes / (of_block * blocks), together = bytes / of_memory;
    return std::pow(std::pow(alone, 4) + std::pow(together, 4), 0.25);
}

// The device's seconds for a product of `shape` in one launch.
inline double seconds(const Instance& i, const Shape& shape, const Device& device) {
    const double blocks = static_cast<double>(i.blocks(shape.m, shape.n)) * static_cast<double>(shape.batch);
    // The start and the end of a block of 16 x 16 threads take as long as 22 steps of k.
    const double k = static_cast<double>(shape.k) + (i.block_y > 1 && i.efficiency > 0 ? 22 : 0),
                 size = element(i.in)->size;
    if (i.efficiency == 0 && !i.few_rows)  // rung 02, which is for a short k
        return std::max(3e-6 + 20e-9 * k, (3e-12 + 0.6e-12 * k) * static_cast<double>(shape.m) *
                                              static_cast<double>(shape.n) *
                                              static_cast<double>(shape.batch));
    if (i.few_rows) return seconds_of_few_rows(i, shape, blocks);
    const double bytes = (static_cast<double>(shape.m) + static_cast<double>(shape.n)) * k *
                         static_cast<double>(shape.batch) * size;
    // The larger operand of a narrow product comes from memory once. For others this says little.
    constexpr double bytes_per_second = 4.0e12;
    const double memory =
        i.slab_seconds > 0 || std::min(shape.m, shape.n) <= 64 ? bytes / bytes_per_second : 0;
    // The slabs of a tile follow each other. On an H200, 128 bytes of k take so long, however few tiles there
    // are; longer if they do not come from the second-level cache.
    double slab = i.boxes     ? 0.35e-6
                  : size == 8 ? 0.36e-6
                  : size == 4 ? 0.6e-6
                              : (bytes > 40e6 ? 0.47e-6 : 0.4e-6);
    double rounds = 1;
    if (i.slab_seconds > 0) {
        slab = slab_seconds(i, shape);
        rounds = std::ceil(blocks / (device.multiprocessors * i.resident));
    }
    const double work = std::max(cost(i, shape, device) * k / multiplications_per_second(i.in),
                                 rounds * k * size / slab_bytes * slab);
    // Doubles that come from memory keep the tensor cores waiting now and then, and the other way round.
    return size == 8 && i.slab_seconds > 0 ? std::hypot(work, memory) : std::max(work, memory);
}

// The host's time for a product, in calls from Python on a machine with an H200. With a split, the host
// allocates memory for the parts and launches two or three kernels, which takes longer than a short product.
inline double host_seconds(const Split& split) {
    return split.parts() == 1 ? 4e-6 : split.rest == 0 ? 9e-6 : 14e-6;
}

// A copy of an operand that can be read 16 bytes at a time: the host's time for two launches, and the
// device's.
inline constexpr double host_seconds_of_copy = 11e-6, copy_seconds = 3e-6, copied_bytes_per_second = 1e12;

// The device's seconds for a split product by a kernel with boxes, with the additions. The constants are
// fitted to 1100 times of 162 products of bfloat16 in graphs on one H200 (m and n from 64 to 1500, k from
// 1500 to 93000). A and B came from memory. The fastest of a product's splits by this estimate takes 1.02
// times as long as the fastest that was measured (geometric mean; 1.18 at most).
inline double seconds_in_boxes(const Instance& i, const Shape& shape, const Split& split,
                               const Device& device) {
    constexpr double start = 2.7e-6;  // of the product and of the additions
    constexpr double start_of_cluster = 0.44e-6;
    constexpr double ends_of_tile = 1.34e-6;  // of 128 columns: until the first slab is there, and the store
    constexpr double slab = 0.259e-6;         // of 128 columns: its multiplications
    constexpr double cache = 9.3e12, memory = 3.16e12, sums = 5.8e12;  // bytes in a second
    // The second-level cache delivers rows of boxes. A row that begins between sectors, and a row past the
    // end of A or B, which is filled with zeros, take so many times as long as one that begins at a sector.
    constexpr double between_sectors = 1.7, past_end = 2.4;
    constexpr int sector_bytes = 32;

    const int size = element(i.in)->size;
    const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
    const double across = std::ceil(n / i.tile_n), rows = i.tile_m * i.cluster, down = std::ceil(m / rows);
    const double tiles = across * down * split.count, width = i.tile_n / 128.0;
    const double slabs = std::ceil(static_cast<double>(split.depth) * size / slab_bytes);
    const auto row_of = [&](long long length) {
        return length * size % sector_bytes > 0 ? between_sectors : 1;
    };
    // The rows of boxes of a slab: each tile reads its rows of A, each cluster its columns of B.
    const double of_a = across * (m * row_of(shape.k) + (down * rows - m) * past_end),
                 of_b = down * (n * row_of(shape.n) + (across * i.tile_n - n) * past_end);
    const double rounds = std::ceil(tiles * i.cluster / device.multiprocessors);
    const double multiplications = rounds * width * slab,
                 copies = split.count * (of_a + of_b) * slab_bytes / cache;
    const double operands = (m + n) * static_cast<double>(shape.k) * size;
    const double parts = 2.0 * element(i.out)->size * split.count * m * n;  // written, and read
    // Copies go on during multiplications, but now and then one of them waits for the other: the measured
    // times are between the larger of both and their sum.
    const double product = std::max(slabs * std::hypot(multiplications, copies), operands / memory);
    return start + (i.cluster > 1 ? start_of_cluster : 0) + rounds * width * ends_of_tile + product +
           parts / sums;
}

// The device's seconds for a product whose k may be split, with the additions of its parts.
inline double seconds(const Instance& i, const Shape& shape, const Split& split, const Device& device) {
    if (split.parts() == 1) return seconds(i, shape, device);
    if (i.boxes) return seconds_in_boxes(i, shape, split, device);
    // The kernel that adds the parts waits for the product. If the product lets the next kernel begin, the
    // additions are launched before the product has ended.
    const double launch = i.follows ? 3.5e-6 : 5e-6;
    constexpr double bytes_per_second = 3.8e12;  // of the parts, which the second-level cache holds
    const double bytes = 2.0 * element(i.out)->size * split.parts() * static_cast<double>(shape.m) *
                         static_cast<double>(shape.n);
    double time =
        seconds(i, {shape.m, shape.n, split.depth, split.count}, device) + launch + bytes / bytes_per_second;
    if (split.rest > 0) time += launch + seconds(i, {shape.m, shape.n, split.rest, 1}, device);
    return time;
}

// Is the product large enough to divide its operands into bytes first? Passes over a short k, and tiles with
// few rows, would leave the tensor cores idle.
inline bool planes_pay(const Instance& i, const Shape& shape) {
    const double products =
        static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
    const long long narrowest = std::min(shape.m, shape.n);
    if (!i.boxes) return narrowest >= 96 && shape.k >= 128 && products >= 0x1p29;
    // Other kernels for 64 bits are slower, so a smaller product pays for the passes.
    return narrowest >= 64 && shape.k >= 64 && products >= (element(i.in)->size == 8 ? 0x1p26 : 0x1.4p28);
}

// The same for parts of floats. For every k that was measured, from 16 on, their greatest error is below that
// of SGEMM. Only if C has few elements, SGEMM may split k and be more precise.
inline bool parts_pay(const Shape& shape) {
    const double elements = static_cast<double>(shape.m) * static_cast<double>(shape.n);
    return std::min(shape.m, shape.n) >= 128 && shape.k >= 64 && elements >= 0x1p19 &&
           elements * static_cast<double>(shape.k) >= 0x1.2p28;
}

struct Choice {
    const Instance* instance = nullptr;  // nullptr: no rung takes the types
    std::string reason;                  // one sentence
    Split split{};                       // with more than one part, the instance writes sum_type()
};

// Does the instance need copies of operands before?
inline bool needs_copy_of_a(const Instance& i, const Packs& packs) { return i.aligned_a && !packs.a; }
inline bool needs_copy_of_b(const Instance& i, const Packs& packs) {
    return i.aligned_b && !packs.b && !(packs.b_columns && i.along_k_anywhere);
}
inline bool needs_copies(const Instance& i, const Packs& packs) {
    return needs_copy_of_a(i, packs) || needs_copy_of_b(i, packs);
}

// Can the instance compute these matrices without copies of operands?
inline bool takes(const Instance& i, const Packs& packs) {
    return !needs_copies(i, packs) && (i.any_c || !packs.c_columns);
}

// The best split of k among blocks, or a rung for few rows without a split; without an instance if none is
// clearly faster than `whole`.
inline Choice choose_split(const Shape& shape, std::string_view type, const Device& device,
                           const Packs& packs, const Instance& whole, double host_before) {
    Choice best;
    if (multiplications_per_second(type) == 0) return best;
    const int size = element(type)->size;
    const long long unit = 128 / size, most = shape.k / (8 * unit);  // a part has eight slabs or more
    // Times of slabs were measured for each tile, so they are trusted more than the others.
    const double trust = whole.slab_seconds > 0 ? 0.92 : 0.82;
    // Where the host is the limit, the shorter time of the device is still the better choice.
    const auto time_of = [&](const Instance& i, const Split& split) {
        const double time = seconds(i, shape, split, device);
        return std::pair{std::max(time, host_before + host_seconds(split)), time};
    };
    auto time = time_of(whole, {});
    time.first *= trust, time.second *= trust;
    const auto consider = [&](const Instance& i, const Split& split) {
        const auto other = time_of(i, split);
        if (other >= time) return;
        time = other;
        best = {&i, {}, split};
    };
    for (const Instance& i : instances()) {
        if (i.few_rows ? shape.m > i.tile_m
                       : i.efficiency == 0 || i.tf32 || i.fast_sums || i.parts || i.block_y > 1)
            continue;                        // the simplest rungs are for products that need no split
        if (i.rung == "10_wgmma") continue;  // rung 11 has its tiles, and one launch for all parts
        if (i.in != type || i.out != sum_type(type) || !runs_on(i, device)) continue;
        if (i.most_rows > 0 && shape.m > i.most_rows) continue;
        // Tiles would be half empty: for 8 to 64 rows of bfloat16, boxes took 1.1 to 1.6 times as long as
        // rung 09 on an H200.
        if (i.boxes && std::min(shape.m, shape.n) <= 64) continue;
        if (!takes(i, packs)) continue;
        if (i.few_rows && i.in == i.out) consider(i, {});
        if (shape.batch != 1) continue;
        const long long blocks = i.blocks(shape.m, shape.n);
        // From half as many blocks as there are multiprocessors, because the parts have to be written and
        // read, to as many as they hold. Kernels with boxes keep the memory busy with fewer blocks, so a
        // quarter may be best.
        const int steps = i.boxes ? 4 : 2;
        for (int step = 1; step <= steps * i.resident; ++step) {
            const long long parts =
                std::min(static_cast<long long>(device.multiprocessors) * step / (steps * blocks), most);
            if (parts < 2) continue;
            const Split split = (i.boxes ? split_in_boxes : split_of)(shape.k, parts, unit);
            if (split.parts() > 1) consider(i, split);
        }
    }
    return best;
}

// How long an instance takes in comparison with others of the type: the work of the busiest multiprocessor,
// or the time of slabs that follow each other.
inline double score(const Instance& i, const Shape& shape, const Device& device) {
    const double work = cost(i, shape, device), rate = multiplications_per_second(i.in);
    if (rate == 0 || i.slab_seconds == 0) return work;
    const double blocks = static_cast<double>(i.blocks(shape.m, shape.n)) * static_cast<double>(shape.batch);
    // Two blocks of rung 08 for integers take turns on a multiprocessor: they take twice as long as one.
    const int at_once = i.fast_alone && i.rung == "08_warp_tiles" ? 1 : i.resident;
    const double rounds = std::ceil(blocks / (device.multiprocessors * at_once));
    return std::max(work, rounds * element(i.in)->size / slab_bytes * slab_seconds(i, shape) * rate);
}

// The best instance, or split of k, among the instances that need no copies of operands. `host_before`: the
// host's seconds before the product.
inline Choice choose_without_copies(const Shape& shape, std::string_view in, std::string_view out,
                                    const Device& device, const Packs& packs, double host_before = 0) {
    const ElementName* type = element(in);
    const ElementName* result = element(out);
    if (!type || !result) return {};
    const auto same = [](std::string_view kernels, const ElementName* asked) {
        return element(kernels)->cpp == asked->cpp;
    };
    const auto find = [&](std::string_view rung) -> const Instance* {
        for (const Instance& i : instances())
            if (i.rung == rung && same(i.in, type) && same(i.out, result)) return &i;
        return nullptr;
    };

    const double products =
        static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
    const Instance* simple = find("03_shared_tiles");
    // Rung 09 is as fast for one tile, and its launch may overlap the kernel before it.
    const bool in_packs = packs.a && packs.b;
    const bool has_tensor_cores = in_packs && device.capability >= 80 &&
                                  (in == "float16" || in == "bfloat16" || in == "float64" || in == "int8");
    if (simple && products <= 16 * 16 * 16 && !has_tensor_cores && !packs.c_columns)
        return {simple, "One 16 x 16 tile holds nearly all of it; larger tiles would be empty."};

    const Instance* best = nullptr;
    for (const Instance& i : instances()) {
        // If the result is wider than the factors, its bits are right only for signed factors.
        if (i.in != i.out && i.in != type->numpy) continue;
        if (i.efficiency == 0 || i.tf32 || i.fast_sums || !same(i.in, type) || !same(i.out, result) ||
            !runs_on(i, device))
            continue;
        if (!takes(i, packs)) continue;
        if (in_packs && &i == simple && i.in.starts_with("float") && (shape.n > 16 || shape.k > 1000))
            continue;
        if (i.most_rows > 0 && shape.m > i.most_rows) continue;
        // Tiles of few rows that take turns on a multiprocessor are fast only where the memory is the limit.
        // If one row of tiles of 64 rows is enough, rung 09 has smaller tiles that are faster then, because a
        // multiprocessor holds four of them.
        const long long blocks = i.blocks(shape.m, shape.n) * shape.batch;
        const bool one_row = shape.m > 32 && shape.m <= 64;
        if (i.follows && i.slab_seconds > 0 && element(i.in)->size == 2 &&
            ((shape.m > 4 * i.tile_m && blocks > device.multiprocessors) ||
             (one_row && blocks > static_cast<long long>(device.multiprocessors) * i.resident)))
            continue;
        // Half of the rows of a tile would be empty, and over a long k its few loads under way are the limit.
        if (i.only_capability == 90 && i.in.ends_with("float16") && one_row && shape.k > 512) continue;
        // The second block of a cluster would have no rows, and there is a kernel without clusters.
        if (i.cluster > 1 && shape.m <= i.tile_m && i.in == i.out && !i.planes && !i.parts) continue;
        if ((i.planes && !planes_pay(i, shape)) || (i.parts && !parts_pay(shape))) continue;
        if (!best || score(i, shape, device) < score(*best, shape, device)) best = &i;
    }
    if (!best && packs.c_columns) return {};
    const Instance* coalesced = packs.c_columns ? nullptr : find("02_coalesced");
    const bool small_integers = type->size <= 2 && type->numpy.find("int") != std::string_view::npos;
    if (coalesced && small_integers && (!best || best == simple) &&
        (type->size == 1 ? shape.n <= 2
                         : (shape.n == 1 && shape.m <= 2048) || (shape.m <= 2 && shape.n >= 4096)))
        return {coalesced, "C is so narrow that 16 x 16 tiles in shared memory would be nearly empty."};
    const bool short_k = best && best != simple
                             ? in.starts_with("float") && shape.k <= 2 && !packs.b
                             : shape.k <= 8 || (small_integers && shape.k > 16 && shape.k <= 20);
    if (coalesced && short_k)
        return {coalesced, "k is so short that most of a tile in shared memory would be empty."};
    if (!best)
        return {simple, simple ? "No faster rung takes this element type and alignment on this device." : ""};
    if (same(type->numpy, result)) {
        // Unsigned integers use the kernels for signed ones.
        Choice split = choose_split(shape, element(type->cpp)->numpy, device, packs, *best, host_before);
        if (split.instance != nullptr && split.split.parts() == 1) {
            split.reason =
                "C has few rows, so memory and not arithmetic is the limit, and warps read B 16 bytes a "
                "lane.";
            return split;
        }
        if (split.instance != nullptr) {
            split.reason = "C has few tiles, of " + std::to_string(split.instance->tile_m) + " x " +
                           std::to_string(split.instance->tile_n) + ", so " +
                           std::to_string(split.split.parts()) +
                           " blocks share the k of each; a second kernel adds their sums in a fixed order.";
            return split;
        }
    }
    const std::string tile = std::to_string(best->tile_m) + " x " + std::to_string(best->tile_n);
    const std::string how = best->planes ? "Tensor cores take the bytes of these numbers, and tiles of "
                            : best->parts
                                ? "Tensor cores take three bfloat16 parts of these numbers, and tiles of "
                            : best->rung == "09_tensor_cores" || best->rung == "10_wgmma" || best->boxes
                                ? "Tensor cores take these elements, and tiles of "
                                : "Tiles of ";
    if (std::min(shape.m, shape.n) <= 16)
        return {best, how + tile +
                          " have most loads under way; the matrix is narrow, so memory and not arithmetic is "
                          "the limit."};
    const int busy = static_cast<int>(std::lround(100 * wave_efficiency(*best, shape, device)));
    return {best, how + tile + " keep " + std::to_string(device.multiprocessors) + " multiprocessors busy " +
                      std::to_string(busy) + " % of the time."};
}

// The rung for `auto`. `out` is the element type of C. It equals that of A, except for half, bfloat16 and
// bytes. A kernel may need copies of operands that cannot be read 16 bytes at a time.
inline Choice choose(const Shape& shape, std::string_view in, std::string_view out, const Device& device,
                     const Packs& packs = {}) {
    const double host_copies = (!packs.a + !packs.b) * host_seconds_of_copy;
    Packs all = packs;
    all.a = all.b = true;
    Choice with = choose_without_copies(shape, in, out, device, all, host_copies);
    if (with.instance == nullptr || (packs.a && packs.b)) return with;
    Choice without = choose_without_copies(shape, in, out, device, packs);
    const Instance& i = *with.instance;
    const bool copies_a = needs_copy_of_a(i, packs), copies_b = needs_copy_of_b(i, packs);
    if (without.instance == nullptr) return with;
    // Without large tiles that load 16 bytes at a time, copies gain nothing.
    const double rate = multiplications_per_second(i.in);
    if ((!copies_a && !copies_b) || rate == 0) return without;
    const double bytes = static_cast<double>(element(i.in)->size) * static_cast<double>(shape.k) *
                         static_cast<double>(shape.batch) *
                         (copies_a * static_cast<double>(shape.m) + copies_b * static_cast<double>(shape.n));
    const int copies = copies_a + copies_b;
    const ElementName* result = element(out);
    double device_seconds =
        seconds(i, shape, with.split, device) + copies * copy_seconds + bytes / copied_bytes_per_second;
    // If the rows of C are not aligned either, its elements are written one at a time.
    if (shape.n * result->size % 16 != 0)
        device_seconds += 3e-12 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                          static_cast<double>(shape.batch);
    const double host = host_seconds(with.split) + copies * host_seconds_of_copy;
    const double other =
        std::max(host_seconds(without.split), seconds(*without.instance, shape, without.split, device));
    return std::max(host, device_seconds) < 0.85 * other ? with : without;
}

}  // namespace cuscope::matmul
