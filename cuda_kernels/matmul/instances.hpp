// The rungs of matmul as data. Plain C++20, for host code that launches the rungs.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../common/types.hpp"

namespace cuscope::matmul {

// A kernel. Launch it with a grid of (blocks(...), 1, batch), a block of (block_x, block_y, 1), the arguments
// a, b, c and a Problem (problem.cuh), and shared_bytes of dynamic shared memory. Above 48 KiB, set the
// kernel's attribute that allows so much.
struct Instance {
    std::string rung;            // the rung's file without .cu: "02_coalesced"
    std::string kernel;          // "coalesced<float>"
    std::string_view in, out;    // element types of A and B, and of C, with NumPy's names
    int tile_m = 0, tile_n = 0;  // the part of C that a block computes
    int block_x = 0, block_y = 1;
    int shared_bytes = 0;
    int least_capability = 75;                  // ten times the compute capability
    int only_capability = 0;                    // 0: every one from the least on
    bool aligned_a = false, aligned_b = false;  // 16-byte aligned: pointer, row distance and batch distance
    bool padded_b = false;    // the last row of B must also be readable up to a multiple of 16 bytes
    bool tf32 = false;        // rounds its factors, so it is used only on request
    bool fast_sums = false;   // keeps fewer bits of its sums, so it is used only on request
    int resident = 1;         // blocks that a multiprocessor holds
    bool fast_alone = false;  // is a multiprocessor with one block as fast as with `resident`?
    double efficiency = 0;    // rate of a full multiprocessor, relative to others of the type
    double slab_seconds = 0;  // for 128 bytes of k, if a block does not wait for memory; 0: not measured
    bool few_rows = false;    // for C of at most tile_m rows: memory is its limit
    int most_rows = 0;        // of C, for which it is chosen; 0: any number
    bool any_a = false, any_c = false;  // may A, or C, have any strides?
    // There is a kernel for a B that is stored transposed, kernel_along_k(), with more shared memory.
    bool has_along_k = false;
    int along_k_bytes = 0;
    bool along_k_anywhere = false;  // its columns may begin at any address
    // The kernel itself waits for the kernel before it, so its launch may overlap the end of that kernel.
    bool follows = false;
    // Reads and writes boxes, by tensor maps. It is launched with no more blocks than the device holds, and
    // each computes tiles until none is left; its arguments are in 11_tma.cu. A and B may be stored
    // transposed: kernel_for() has the name. With along_k, A must not be, and B must.
    bool boxes = false;
    bool along_k = false;  // takes boxes only if neighbours in memory are along k
    int cluster = 1;       // blocks that compute tiles with the same columns
    // Multiplies the bytes of integers. to_planes divides the operands into them before, so alignment does
    // not matter; a launch computes one matrix of a batch. With boxes, B has to be transposed.
    bool planes = false;
    // Multiplies parts of floats. to_parts divides the operands before, so alignment does not matter; a
    // launch computes one matrix of a batch.
    bool parts = false;

    // Does it read boxes of the operands, and not of their planes of bytes?
    bool reads_boxes() const { return boxes && !planes; }

    long long blocks(long long m, long long n) const {
        const long long rows = static_cast<long long>(tile_m) * cluster;
        return (m + rows - 1) / rows * cluster * ((n + tile_n - 1) / tile_n);
    }
};

inline constexpr long long largest_extent = (1LL << 31) - 1024;  // limit for m, n and k
inline constexpr int largest_batch = 65535;                      // of one launch, because it is the grid's z

// NumPy's element types, and the C++ type of the kernels for each. Unsigned integers use the kernels for
// signed ones, because the bits are the same.
struct ElementName {
    std::string_view numpy, cpp;
    int size;
};
#define CUSCOPE_NAME(id, name, bytes, kind, cuda, exponent, fraction, dlpack) ElementName{name, #cuda, bytes},
inline constexpr std::array element_names{
    CUSCOPE_FLOATS(CUSCOPE_NAME) CUSCOPE_SIGNED_INTEGERS(CUSCOPE_NAME) ElementName{"bool", "bool", 1},
    CUSCOPE_COMPLEX_NUMBERS(CUSCOPE_NAME) ElementName{"uint8", "signed char", 1},
    ElementName{"uint16", "short", 2}, ElementName{"uint32", "int", 4},
    ElementName{"uint64", "long long", 8}};
#undef CUSCOPE_NAME
inline constexpr std::size_t distinct_elements = element_names.size() - 4;  // the first, which differ in cpp

// Finds a type by either name; nullptr for a type that no rung supports.
inline const ElementName* element(std::string_view name) {
    const auto found = std::find_if(element_names.begin(), element_names.end(),
                                    [&](const ElementName& e) { return e.numpy == name || e.cpp == name; });
    return found == element_names.end() ? nullptr : &*found;
}

namespace detail {

// Of 16 x 16 tiles in shared memory. Where larger tiles are few or nearly empty, or would need copies of the
// operands, these are faster, by up to 6 times.
inline double shared_tiles_efficiency(std::string_view type) {
    if (type == "float32") return 0.2;
    if (type == "float64") return 0.131;
    if (type == "float16" || type == "bfloat16") return 0.024;
    if (type == "int8") return 0.014;
    return type == "int32" ? 0.135 : type == "int64" ? 0.075 : 0;
}

// The same types: the time of a slab.
inline double shared_slab_seconds(std::string_view type) {
    if (type == "float32") return 0.8e-6;
    if (type == "float64") return 0.45e-6;
    if (type == "float16" || type == "bfloat16") return 1.42e-6;
    if (type == "int8") return 2.84e-6;
    return type == "int32" ? 0.78e-6 : type == "int64" ? 0.63e-6 : 0;
}

// Of warp tiles that load one number at a time and have all of their columns, or that load `width` numbers.
inline double warp_slab_seconds(std::string_view type, int width) {
    if (type == "int32") return width > 1 ? 0.69e-6 : 0.77e-6;
    if (width > 1) return 0;
    if (type == "float32") return 0.8e-6;
    return type == "float64" ? 0.55e-6 : 0.9e-6;
}

inline void add_simple(std::vector<Instance>& to) {
    for (const auto& [rung, name] :
         {std::pair{"01_naive", "naive"}, {"02_coalesced", "coalesced"}, {"03_shared_tiles", "shared_tiles"}})
        for (std::size_t i = 0; i < distinct_elements; ++i) {
            const std::string_view type = element_names[i].numpy;
            const bool shared = std::string_view(rung) == "03_shared_tiles";
            to.push_back({.rung = rung,
                          .kernel = name + ("<" + std::string(element_names[i].cpp) + ">"),
                          .in = element_names[i].numpy,
                          .out = element_names[i].numpy,
                          .tile_m = 16,
                          .tile_n = 16,
                          .block_x = 16,
                          .block_y = 16,
                          .resident = 8,
                          .fast_alone = type == "float64" || type == "int32" || type == "int64",
                          .efficiency = shared ? shared_tiles_efficiency(type) : 0,
                          .slab_seconds = shared ? shared_slab_seconds(type) : 0});
        }
    for (const std::string_view type : {"float32", "float64"}) {
        const std::string of = "<" + std::string(element(type)->cpp) + ">";
        to.push_back({.rung = "04_thread_tile_1d",
                      .kernel = "thread_tile_1d" + of,
                      .in = type,
                      .out = type,
                      .tile_m = 64,
                      .tile_n = 64,
                      .block_x = 512,
                      .resident = 2});
        to.push_back({.rung = "05_thread_tile_2d",
                      .kernel = "thread_tile_2d" + of,
                      .in = type,
                      .out = type,
                      .tile_m = 128,
                      .tile_n = 128,
                      .block_x = 256,
                      .resident = type == "float32" ? 2 : 1});
    }
    for (const auto& [rung, name] :
         {std::pair{"06_vectorised", "vectorised<float>"}, {"07_double_buffered", "double_buffered<float>"}})
        to.push_back({.rung = rung,
                      .kernel = name,
                      .in = "float32",
                      .out = "float32",
                      .tile_m = 128,
                      .tile_n = 128,
                      .block_x = 256,
                      .aligned_a = true,
                      .aligned_b = true,
                      .resident = 2});
}

struct WarpTiles {
    std::string_view type;
    int block_m, block_n, block_k, thread_m, thread_n, stages, width, resident;
    double efficiency;
};

// Efficiencies: the rates for n = 8192 on an H200, relative to each other (README.md).
inline constexpr std::array<WarpTiles, 19> warp_tiles{{{"float32", 128, 256, 8, 16, 8, 4, 4, 1, 0.89},
                                                       {"float32", 128, 256, 16, 16, 8, 3, 4, 1, 0.92},
                                                       {"float32", 128, 128, 8, 16, 8, 4, 4, 2, 0.87},
                                                       {"float32", 128, 128, 8, 16, 8, 4, 1, 2, 0.82},
                                                       {"float32", 64, 128, 8, 8, 8, 4, 4, 3, 0.90},
                                                       {"float32", 64, 64, 8, 8, 4, 4, 4, 5, 0.76},
                                                       {"float32", 64, 64, 8, 8, 4, 4, 1, 5, 0.75},
                                                       {"float32", 32, 64, 16, 4, 4, 4, 4, 5, 0.59},
                                                       {"float32", 32, 64, 16, 4, 4, 4, 1, 5, 0.56},
                                                       {"float64", 64, 128, 8, 8, 8, 3, 2, 2, 0.80},
                                                       {"float64", 64, 128, 8, 8, 8, 3, 1, 2, 0.77},
                                                       {"float64", 32, 64, 8, 4, 4, 4, 2, 4, 0.54},
                                                       {"float64", 32, 64, 8, 4, 4, 4, 1, 4, 0.51},
                                                       {"int32", 64, 64, 8, 8, 4, 4, 4, 5, 0.50},
                                                       {"int32", 64, 64, 8, 8, 4, 4, 1, 5, 0.47},
                                                       {"int32", 32, 64, 16, 4, 4, 4, 4, 5, 0.48},
                                                       {"int32", 32, 64, 16, 4, 4, 4, 1, 5, 0.45},
                                                       {"int64", 32, 64, 8, 4, 4, 4, 2, 4, 0.115},
                                                       {"int64", 32, 64, 8, 4, 4, 4, 1, 4, 0.105}}};

inline void add_warp_tiles(std::vector<Instance>& to) {
    for (const WarpTiles& t : warp_tiles) {
        const ElementName& type = *element(t.type);
        std::string kernel = "warp_tiles<" + std::string(type.cpp);
        for (const int x : {t.block_m, t.block_n, t.block_k, t.thread_m, t.thread_n, t.stages, t.width})
            kernel += ", " + std::to_string(x);
        const int pad = 16 / type.size;
        to.push_back({.rung = "08_warp_tiles",
                      .kernel = kernel + ">",
                      .in = t.type,
                      .out = t.type,
                      .tile_m = t.block_m,
                      .tile_n = t.block_n,
                      .block_x = t.block_m / (4 * t.thread_m) * (t.block_n / (8 * t.thread_n)) * 32,
                      .shared_bytes = t.stages * t.block_k * (t.block_m + pad + t.block_n) * type.size,
                      .aligned_b = t.width > 1,
                      .padded_b = t.width > 1,
                      .resident = t.resident,
                      .fast_alone = t.type.starts_with("int") && t.block_m == 32,
                      .efficiency = t.efficiency,
                      .slab_seconds = (t.block_m > 32 ? 1.1 : 1) * warp_slab_seconds(t.type, t.width),
                      .any_c = true,
                      .has_along_k = true,
                      .along_k_bytes = 16 * t.stages * t.block_k,
                      .along_k_anywhere = true});
    }
}

struct TensorCores {
    int block_m, block_n, warp_m, warp_n, stages, resident;
    double efficiency;
    double slab_seconds = 0;
    int most_rows = 0;
};

// The efficiencies come from the same measurement.
inline constexpr TensorCores large{128, 256, 64, 64, 3, 1, 1.0}, medium{128, 128, 64, 32, 3, 1, 0.94},
    small{64, 64, 32, 32, 3, 4, 0.82}, small_bytes{64, 128, 32, 64, 2, 2, 0.73};

// For C with few rows, of half precision. A slab takes slab_seconds, and many slabs are under way: from about
// one block for each multiprocessor of an H200 on, the bandwidth of the memory is the limit. The efficiencies
// are estimates from the bytes that a block loads.
inline constexpr TensorCores rows_16{16, 64, 16, 16, 10, 2, 0.30, 0.18e-6},
    rows_32{32, 64, 16, 32, 8, 2, 0.60, 0.21e-6}, rows_64{64, 64, 32, 32, 8, 1, 0.80, 0.28e-6},
    wide_rows_64{64, 128, 32, 32, 6, 1, 1.18, 0.35e-6, 128};

// For doubles. One block keeps the tensor cores of a multiprocessor busy, so two that it holds take turns:
// `resident` is 1. Most shapes leave no room for a second block: with room for two, blocks of the next launch
// may find places unevenly. The times of slabs were measured with one block alone, on an H200.
inline constexpr TensorCores large_doubles{128, 128, 64, 32, 3, 1, 1.7, 1.11e-6},
    medium_doubles{64, 128, 64, 32, 3, 1, 1.5, 0.65e-6}, deep_doubles{64, 128, 32, 32, 6, 1, 1.6, 0.62e-6},
    small_doubles{64, 64, 32, 32, 3, 1, 1.2, 0.40e-6},
    deep_small_doubles{64, 64, 32, 32, 8, 1, 1.32, 0.40e-6},
    rows_16_doubles{16, 64, 16, 16, 10, 1, 0.9, 0.15e-6};

inline void add_tensor_cores(std::vector<Instance>& to) {
    struct Kind {
        std::string_view in, out;
        std::vector<TensorCores> shapes;
    };
    const std::vector<Kind> kinds{
        {"float16", "float16", {large, medium, small, rows_16, rows_32, rows_64, wide_rows_64}},
        {"float16", "float32", {large, small, rows_16, rows_32, rows_64}},
        {"bfloat16", "bfloat16", {large, medium, small, rows_16, rows_32, rows_64, wide_rows_64}},
        {"bfloat16", "float32", {large, small, rows_16, rows_32, rows_64}},
        {"float32", "float32", {medium, small}},
        {"float64",
         "float64",
         {large_doubles, medium_doubles, small_doubles, deep_doubles, deep_small_doubles, rows_16_doubles}},
        {"int8", "int32", {large, medium, small_bytes}},
        {"int8", "int8", {large, medium, small_bytes}}};
    for (const Kind& kind : kinds)
        for (const TensorCores& t : kind.shapes) {
            std::string kernel = "tensor_cores<" + std::string(element(kind.in)->cpp) + ", " +
                                 std::string(element(kind.out)->cpp);
            for (const int x : {t.block_m, t.block_n, t.warp_m, t.warp_n, t.stages})
                kernel += ", " + std::to_string(x);
            const int shared = t.stages * 128 * (t.block_m + t.block_n);
            const bool turing = (kind.in == "float16" || kind.in == "int8") && shared <= 64 << 10;
            to.push_back({.rung = "09_tensor_cores",
                          .kernel = kernel + ">",
                          .in = kind.in,
                          .out = kind.out,
                          .tile_m = t.block_m,
                          .tile_n = t.block_n,
                          .block_x = t.block_m / t.warp_m * (t.block_n / t.warp_n) * 32,
                          .shared_bytes = shared,
                          .least_capability = turing ? 75 : 80,
                          .aligned_a = true,
                          .aligned_b = true,
                          .tf32 = kind.in == "float32",
                          .resident = t.resident,
                          .fast_alone = kind.in == "float64",
                          .efficiency = t.efficiency,
                          .slab_seconds = t.slab_seconds,
                          .most_rows = t.most_rows,
                          .any_c = true,
                          .has_along_k = true,
                          .follows = true});
        }
}

struct Wgmma {
    int block_n, stages, resident;
    double efficiency;
};

inline constexpr Wgmma wgmma[] = {{256, 4, 1, 2.0}, {128, 3, 2, 1.45}};

inline void add_wgmma(std::vector<Instance>& to) {
    for (const std::string_view in : {"float16", "bfloat16"})
        for (const std::string_view out : {in, std::string_view("float32")})
            for (const Wgmma& t : wgmma)
                to.push_back({.rung = "10_wgmma",
                              .kernel = "wgmma<" + std::string(element(in)->cpp) + ", " +
                                        std::string(element(out)->cpp) + ", " + std::to_string(t.block_n) +
                                        ", " + std::to_string(t.stages) + ">",
                              .in = in,
                              .out = out,
                              .tile_m = 128,
                              .tile_n = t.block_n,
                              .block_x = 256,
                              .shared_bytes = t.stages * 128 * (128 + t.block_n),
                              .least_capability = 90,
                              .only_capability = 90,
                              .aligned_a = true,
                              .aligned_b = true,
                              .resident = t.resident,
                              .efficiency = t.efficiency});
}

struct Tma {
    int block_n, stages, cluster;
    double efficiency;
};

inline constexpr Tma tma[] = {
    {256, 4, 2, 2.37}, {256, 4, 1, 2.39}, {192, 4, 2, 2.37}, {192, 4, 1, 2.39}, {128, 6, 2, 2.2}};
// Of half precision with sums in float, for the parts of a product whose k is split. Without a cluster, for C
// with one row of tiles.
inline constexpr Tma tma_of_parts[] = {{256, 4, 2, 2.37}, {128, 6, 2, 2.2}, {128, 6, 1, 2.2}};

inline int tma_shared_bytes(const Tma& t, int out_bytes) {
    constexpr int limit = 227 << 10, warps = 8, box = 16 * 128;
    const int stages = t.stages * 128 * (128 + t.block_n), barriers = 16 * t.stages;
    const int all = t.block_n * out_bytes / 128, room = (limit - stages - barriers) / (warps * box);
    return stages + warps * box * (room >= all ? all : room / 2 * 2) + barriers;
}

inline std::string cpp(std::string_view type) { return std::string(element(type)->cpp); }
inline std::string text(const Tma& t) {
    return std::to_string(t.block_n) + ", " + std::to_string(t.stages) + ", " + std::to_string(t.cluster);
}

inline Instance with_boxes(std::string rung, std::string kernel, std::string_view in, std::string_view out,
                           const Tma& t) {
    return {.rung = std::move(rung),
            .kernel = std::move(kernel),
            .in = in,
            .out = out,
            .tile_m = 128,
            .tile_n = t.block_n,
            .block_x = 384,
            .shared_bytes = tma_shared_bytes(t, element(out)->size),
            .least_capability = 90,
            .only_capability = 90,
            .efficiency = t.efficiency,
            .follows = true,
            .boxes = true,
            .cluster = t.cluster};
}

inline void add_tma(std::vector<Instance>& to) {
    struct Kind {
        std::string_view in, out;
    };
    for (const auto& [in, out] : {Kind{"float16", "float16"},
                                  {"bfloat16", "bfloat16"},
                                  {"float16", "float32"},
                                  {"bfloat16", "float32"},
                                  {"float32", "float32"},
                                  {"float8_e4m3fn", "float32"},
                                  {"float8_e4m3fn", "bfloat16"},
                                  {"float8_e5m2", "float32"},
                                  {"float8_e5m2", "bfloat16"}}) {
        const bool tf32 = in == "float32", float8 = element(in)->size == 1;
        const bool parts = in != out && !float8;
        for (const Tma& t : parts ? std::span<const Tma>(tma_of_parts) : tma) {
            if (((tf32 || float8) && t.cluster == 1) || (float8 && t.block_n == 192)) continue;
            Instance made =
                with_boxes("11_tma", "tma<" + cpp(in) + ", " + cpp(out) + ", " + text(t) + ", false, false>",
                           in, out, t);
            made.aligned_a = made.aligned_b = true;
            made.tf32 = tf32;
            made.fast_sums = float8;
            made.along_k = tf32 || float8;
            to.push_back(std::move(made));
        }
    }
}

inline void add_byte_planes(std::vector<Instance>& to) {
    struct Kind {
        std::string_view type;
        TensorCores shape;
    };
    // With the divisions into bytes, on an H200.
    for (const auto& [type, t] : {Kind{"int32", {128, 128, 64, 32, 3, 1, 1.1}},
                                  {"int32", {64, 128, 32, 64, 3, 2, 0.85}},
                                  {"int64", {64, 128, 32, 32, 3, 1, 0.19}}}) {
        std::string kernel = "byte_planes<" + std::string(element(type)->cpp);
        for (const int x : {t.block_m, t.block_n, t.warp_m, t.warp_n, t.stages})
            kernel += ", " + std::to_string(x);
        to.push_back({.rung = "12_byte_planes",
                      .kernel = kernel + ">",
                      .in = type,
                      .out = type,
                      .tile_m = t.block_m,
                      .tile_n = t.block_n,
                      .block_x = t.block_m / t.warp_m * (t.block_n / t.warp_n) * 32,
                      .shared_bytes = t.stages * 128 * (t.block_m + t.block_n),
                      .least_capability = 80,
                      .resident = t.resident,
                      .efficiency = t.efficiency,
                      .planes = true});
    }
}

inline void add_wgmma_planes(std::vector<Instance>& to) {
    struct Kind {
        std::string_view type;
        Tma shape;
    };
    // With the divisions into bytes, on an H100.
    for (const auto& [type, t] :
         {Kind{"int32", {256, 4, 2, 3.1}}, {"int32", {128, 6, 2, 2.4}}, {"int64", {128, 6, 2, 0.7}}}) {
        Instance made =
            with_boxes("13_wgmma_planes", "wgmma_planes<" + cpp(type) + ", " + text(t) + ">", type, type, t);
        made.planes = true;
        to.push_back(std::move(made));
    }
}

inline void add_split_floats(std::vector<Instance>& to) {
    struct Kind {
        Tma shape;
        int slabs_of_sum;
    };
    // With the divisions into parts, on an H100.
    for (const auto& [t, slabs] : {Kind{{192, 4, 2, 1.95}, 4}, {{128, 6, 2, 1.77}, 2}}) {
        Instance made = with_boxes(
            "14_split_floats", "split_floats<" + text(t) + ", " + std::to_string(slabs) + ", false, false>",
            "float32", "float32", t);
        made.parts = true;
        to.push_back(std::move(made));
    }
}

inline void add_float8(std::vector<Instance>& to) {
    // Estimates: twice the efficiencies of rung 11 for bfloat16. On an H200, both tiles reach 1.8 times its
    // rate at n = 8192.
    for (const std::string_view in : {"float8_e4m3fn", "float8_e5m2"})
        for (const std::string_view out : {"float32", "float16", "bfloat16"})
            for (const Tma& t : {Tma{192, 4, 2, 4.74}, Tma{128, 6, 2, 4.4}}) {
                Instance made = with_boxes(
                    "15_float8", "float8<" + cpp(in) + ", " + cpp(out) + ", " + text(t) + ", false, false>",
                    in, out, t);
                made.aligned_a = made.aligned_b = true;
                made.along_k = true;
                to.push_back(std::move(made));
            }
}

struct FewRows {
    std::string_view type;
    int rows;
};
// For doubles, and from compute capability 8.0 on for halves, tensor cores are faster.
inline constexpr std::array<FewRows, 5> few_rows{
    {{"float32", 1}, {"float32", 8}, {"float32", 16}, {"float64", 1}, {"float16", 1}}};

inline void add_few_rows(std::vector<Instance>& to) {
    for (const FewRows& few : few_rows) {
        const ElementName& of = *element(few.type);
        to.push_back({.rung = "few_rows",
                      .kernel = "few_rows<" + std::string(of.cpp) + ", " + std::to_string(few.rows) + ">",
                      .in = few.type,
                      .out = few.type == "float64" ? "float64" : "float32",
                      .tile_m = few.rows,
                      .tile_n = 32 * 16 / of.size,
                      .block_x = 256,
                      .aligned_b = true,
                      .padded_b = true,
                      .resident = few.rows == 1 && of.size > 2 ? 3 : 2,
                      .few_rows = true,
                      .any_a = true,
                      .any_c = true,
                      .has_along_k = true,
                      .along_k_anywhere = true});
    }
}

}  // namespace detail

// All instances, in the order of their rungs.
inline const std::vector<Instance>& instances() {
    static const std::vector<Instance> all = [] {
        std::vector<Instance> made;
        detail::add_simple(made);
        detail::add_warp_tiles(made);
        detail::add_tensor_cores(made);
        detail::add_wgmma(made);
        detail::add_tma(made);
        detail::add_byte_planes(made);
        detail::add_wgmma_planes(made);
        detail::add_split_floats(made);
        detail::add_float8(made);
        detail::add_few_rows(made);
        return made;
    }();
    return all;
}

// The kernel of an instance with boxes for operands that are stored transposed.
inline std::string kernel_for(const Instance& i, bool transposed_a, bool transposed_b) {
    constexpr std::string_view neither = "false, false>";
    const auto text = [](bool value) { return value ? "true" : "false"; };
    return i.kernel.substr(0, i.kernel.size() - neither.size()) + text(transposed_a) + ", " +
           text(transposed_b) + ">";
}

// The kernel of an instance for a B that is stored transposed. If the columns may not begin at any address,
// the matrices begin at multiples of 16 bytes and the columns are multiples of 16 bytes apart.
inline std::string kernel_along_k(const Instance& i) {
    const std::size_t name = i.kernel.find('<');
    return i.kernel.substr(0, name) + "_along_k" + i.kernel.substr(name);
}

// The box of a tensor map, innermost extent first.
struct Box {
    int x, y;
};
inline Box box_of_a(bool transposed, int element_bytes = 2) {
    return transposed ? Box{64, 64} : Box{128 / element_bytes, 128};
}
// The blocks of a cluster share the panels of 64 columns of B, or the steps of k of each.
inline Box box_of_b(const Instance& i, bool transposed, int element_bytes = 2) {
    if (transposed) return {128 / element_bytes, i.tile_n / i.cluster};
    return {64, i.tile_n / 64 % i.cluster == 0 ? 64 : 64 / i.cluster};
}
inline Box box_of_c(const Instance& i) { return {128 / element(i.out)->size, 16}; }
inline constexpr int clusters_down = 8;  // clusters of tiles whose columns are taken together

}  // namespace cuscope::matmul
