// A product with at most 16 rows of C. Each number of B is used at most 16 times, so B comes from memory at
// its full rate or the kernel is slower than it must be. A tile of the other rungs would multiply mostly rows
// that are not there.
//
// A and C are small, and may have any strides: with its operands transposed and exchanged, a product with few
// columns of C is a product with few rows. C has the type of the sums. blockIdx.z counts parts of k (or
// matrices of a batch), as with the other rungs.
#include "arithmetic.cuh"
#include "async_copy.cuh"
#include "packs.cuh"
#include "problem.cuh"

constexpr int warps = 8;

// Blocks that a multiprocessor holds.
constexpr int few_rows_blocks(int rows, int bytes) { return rows == 1 && bytes > 2 ? 3 : 2; }

// Each warp reads rows of B, 16 bytes a lane and several rows under way. The warps of a block take different
// rows of B and add their sums at the end, in a fixed order. Needs: B at a multiple of 16 bytes, its rows
// multiples of 16 bytes apart, and the last row readable up to such a multiple.
template <class T, int Rows>
__global__ void __launch_bounds__(warps * 32, few_rows_blocks(Rows, sizeof(T)))
    few_rows(const T* a, const T* b, Accumulator<T>* c, Problem p) {
    using Sum = Accumulator<T>;
    constexpr int pack = Pack<T>::size, columns = 32 * pack, group = 32, under_way = 8;
    // The numbers of A that belong to a row of B lie together, so that a lane loads several at once. The
    // padding lets all lanes write them without bank conflicts.
    constexpr int together = Rows % Pack<Sum>::size == 0 ? Pack<Sum>::size : 1;
    constexpr int pitch = Rows + (together > 1 ? together : 0);
    constexpr int of_groups = warps * group * pitch, of_sums = warps / 2 * Rows * columns;
    __shared__ __align__(16) Sum shared[of_groups > of_sums ? of_groups : of_sums];
    select_batch(a, b, p);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int column = static_cast<int>(blockIdx.x) * columns + lane * pack;
    b += min(column, (p.n - 1) / pack * pack);
    Sum* const of_a = shared + warp * group * pitch;

    Sum sums[Rows][pack] = {};
    // A warp takes 32 neighbouring rows of B at a time.
    for (int first = warp * group; first < p.k; first += warps * group) {
        const T* const from = a + (first + lane) * p.a_column;
#pragma unroll
        for (int r = 0; r < Rows; ++r)
            of_a[lane * pitch + r] =
                r < p.m && first + lane < p.k ? static_cast<Sum>(from[r * p.a_row]) : Sum(0);
        __syncwarp();
        const int left = min(group, p.k - first);  // the same in all lanes
        for (int i = 0; i < left; i += under_way) {
            Pack<T> of_b[under_way];
#pragma unroll
            for (int j = 0; j < under_way; ++j)
                of_b[j] = i + j < left ? load_pack(b + (first + i + j) * p.b_row) : Pack<T>{};
#pragma unroll
            for (int j = 0; j < under_way; ++j)
#pragma unroll
                for (int r = 0; r < Rows; r += together) {
                    struct alignas(sizeof(Sum) * together) Factors {
                        Sum x[together];
                    };
                    const Factors factors = reinterpret_cast<const Factors&>(of_a[(i + j) * pitch + r]);
#pragma unroll
                    for (int y = 0; y < together; ++y)
#pragma unroll
                        for (int x = 0; x < pack; ++x)
                            sums[r + y][x] += factors.x[y] * static_cast<Sum>(of_b[j].x[x]);
                }
        }
        __syncwarp();
    }

    const auto place = [&](int of_warp, int r, int x) -> Sum& {
        return shared[(of_warp * Rows + r) * columns + x * 32 + lane];
    };
    for (int half = warps / 2; half > 0; half /= 2) {
        __syncthreads();
        if (warp >= half && warp < 2 * half)
#pragma unroll
            for (int r = 0; r < Rows; ++r)
#pragma unroll
                for (int x = 0; x < pack; ++x) place(warp - half, r, x) = sums[r][x];
        __syncthreads();
        if (warp < half)
#pragma unroll
            for (int r = 0; r < Rows; ++r)
#pragma unroll
                for (int x = 0; x < pack; ++x) sums[r][x] += place(warp, r, x);
    }
    if (warp > 0) return;
    c += blockIdx.z * p.c_batch;
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int x = 0; x < pack; ++x)
            if (r < p.m && column + x < p.n) c[r * p.c_row + (column + x) * p.c_column] = sums[r][x];
}

// Loads a pack that no other thread needs, so that it takes no room in the first-level cache.
template <class T>
__device__ __forceinline__ Pack<T> load_once(const T* aligned) {
    const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(aligned));
    return reinterpret_cast<const Pack<T>&>(bits);
}

// How a warp shares columns of B that are stored as rows: `deep` lanes read neighbouring packs of a column,
// and `across` groups of lanes have other columns. A block has as many columns as above.
template <class T>
struct AlongK {
    static constexpr int pack = Pack<T>::size;
    static constexpr int group = 4;  // columns of a lane
    static constexpr int across = 32 * pack / (warps * group), deep = 32 / across;
    static constexpr int step = deep * pack;                    // of k
    static constexpr int slab = 2 * step, pitch = slab + pack;  // of A in shared memory, with padding
    static constexpr int stages = 4;
};

// Copies slabs of A, one after another, into shared memory. Rows and steps of k past the end become zeros.
template <class T, int Rows>
struct SlabOfAlongK {
    using Lanes = AlongK<T>;

    const T* from;
    int row, k, to, rows_apart, steps_apart, left;  // left: steps of k from the slab's start
    long long apart, next;

    __device__ SlabOfAlongK(const T* a, const Problem& p) : left(p.k) {
        // Neighbouring threads copy neighbours in memory.
        const int t = threadIdx.x;
        const bool down = p.a_column != 1;
        row = down ? t % Rows : t / Lanes::slab;
        k = down ? t / Rows : t % Lanes::slab;
        rows_apart = down ? 0 : max(1, warps * 32 / Lanes::slab);
        steps_apart = down ? warps * 32 / Rows : 0;
        to = row * Lanes::pitch + k;
        from = a + row * p.a_row + k * p.a_column;
        apart = rows_apart * p.a_row + steps_apart * p.a_column;
        next = Lanes::slab * p.a_column;
    }

    __device__ void copy(T* slab, int rows) {
        constexpr int times = (Rows * Lanes::slab + warps * 32 - 1) / (warps * 32);
#pragma unroll
        for (int i = 0; i < times; ++i) {
            const int at_row = row + i * rows_apart, at_k = k + i * steps_apart;
            if (at_row >= Rows || at_k >= Lanes::slab) continue;
            T* const place = slab + to + i * (rows_apart * Lanes::pitch + steps_apart);
            const T* const source = from + i * apart;
            const bool there = at_row < rows && at_k < left;
            if constexpr (sizeof(T) >= 4)
                copy_async<sizeof(T)>(place, source, there);
            else
                *place = there ? *source : T(0);
        }
        from += next;
        left -= Lanes::slab;
        commit_copies();
    }
};

// The same for a B that is stored transposed: b_row is the distance of its columns. B may have any alignment,
// and nothing behind the last column is read. A block shares slabs of A in shared memory.
template <class T, int Rows>
__global__ void __launch_bounds__(warps * 32, few_rows_blocks(Rows, sizeof(T)))
    few_rows_along_k(const T* a, const T* b, Accumulator<T>* c, Problem p) {
    using Sum = Accumulator<T>;
    using Lanes = AlongK<T>;
    constexpr int pack = Lanes::pack, group = Lanes::group, stages = Lanes::stages;
    __shared__ __align__(16) T slabs[stages][Rows][Lanes::pitch];
    select_batch(a, b, p);
    c += blockIdx.z * p.c_batch;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int place = lane % Lanes::deep * pack;  // of the lane's pack in a step
    const int column =
        (static_cast<int>(blockIdx.x) * warps + warp) * Lanes::across * group + lane / Lanes::deep;
    const bool aligned = in_packs(b, p.b_row);

    const T* from[group];  // a column past the end is replaced by the last one
#pragma unroll
    for (int j = 0; j < group; ++j) from[j] = b + min(column + j * Lanes::across, p.n - 1) * p.b_row + place;
    const auto load = [&](Pack<T>(&to)[group], int k) {
        const int left = p.k - k - place;
        if (aligned && left >= pack) {
#pragma unroll
            for (int j = 0; j < group; ++j) to[j] = load_once(from[j] + k);
        } else {
#pragma unroll
            for (int j = 0; j < group; ++j)
#pragma unroll
                for (int i = 0; i < pack; ++i) to[j].x[i] = i < left ? from[j][k + i] : T(0);
        }
    };

    SlabOfAlongK<T, Rows> copier(a, p);
#pragma unroll
    for (int s = 0; s < stages - 1; ++s) copier.copy(&slabs[s][0][0], p.m);
    Pack<T> of_b[2][group];
    load(of_b[0], 0);
    load(of_b[1], Lanes::step);

    Sum sums[Rows * group] = {};
    int reading = 0;
#pragma unroll 1
    for (int k = 0; k < p.k; k += Lanes::slab) {
        wait_for_copies<stages - 2>();
        __syncthreads();  // the slab is complete, and no thread reads the one before it any more
        copier.copy(&slabs[(reading + stages - 1) % stages][0][0], p.m);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
            for (int r = 0; r < Rows; ++r) {
                const Pack<T> of_a = load_pack(&slabs[reading][r][half * Lanes::step + place]);
#pragma unroll
                for (int j = 0; j < group; ++j)
#pragma unroll
                    for (int x = 0; x < pack; ++x)
                        sums[r * group + j] +=
                            static_cast<Sum>(of_a.x[x]) * static_cast<Sum>(of_b[half][j].x[x]);
            }
            load(of_b[half], k + Lanes::slab + half * Lanes::step);
        }
        reading = (reading + 1) % stages;
    }
    wait_for_copies<0>();

    // The lanes along k add their sums. Each time, a lane gives half of its sums away and gets the others.
    constexpr int all = Rows * group;
    int first = 0, left = all;
#pragma unroll
    for (int bit = Lanes::deep / 2; bit > 0; bit /= 2) {
        const bool upper = (lane & bit) != 0;
        if (left > 1) {
            left /= 2;
#pragma unroll
            for (int i = 0; i < all / 2; ++i)
                if (i < left) {
                    const Sum kept = upper ? sums[i + left] : sums[i],
                              given = upper ? sums[i] : sums[i + left];
                    sums[i] = kept + __shfl_xor_sync(0xffffffffu, given, bit);
                }
            if (upper) first += left;
        } else {
            sums[0] += __shfl_xor_sync(0xffffffffu, sums[0], bit);
        }
    }
    constexpr int lanes_a_sum = all < Lanes::deep ? Lanes::deep / all : 1;  // that have the same one
    if (lane % lanes_a_sum != 0) return;
#pragma unroll
    for (int i = 0; i < (all + Lanes::deep - 1) / Lanes::deep; ++i) {
        const int r = (first + i) / group, at = column + (first + i) % group * Lanes::across;
        if (r < p.m && at < p.n) c[r * p.c_row + at * p.c_column] = sums[i];
    }
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define INSTANCE(T, ...)                                                                             \
    template __global__ void few_rows<T, __VA_ARGS__>(const T*, const T*, Accumulator<T>*, Problem); \
    template __global__ void few_rows_along_k<T, __VA_ARGS__>(const T*, const T*, Accumulator<T>*, Problem);
INSTANCE(float, 1)
INSTANCE(float, 8)
INSTANCE(float, 16)
INSTANCE(double, 1)
INSTANCE(__half, 1)
#endif
