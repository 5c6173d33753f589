// gather reads a transposed matrix against the grain: the lanes of a warp read elements of 32 rows, and use
// one element of each sector that they load. Here a block copies a tile: it reads along the axis whose
// elements lie side by side, and writes along the last axis. In between, the tile lies in shared memory. Its
// rows are one element longer than the tile, so that the elements of a column lie in different banks.
//
// Blocks of 32 x 8 threads, any number of them; no dynamic shared memory.
#include "place.cuh"

using cuscope::kernels::TurnedLayout;

template <class Element>
__global__ void __launch_bounds__(256)
    gather_tiles(const char* in, Element* out, TurnedLayout layout, long long tiles) {
    using namespace cuscope::kernels;
    constexpr int tile =
        sizeof(Element) <= TurnedLayout::small_bytes ? TurnedLayout::tile_of_small : TurnedLayout::tile;
    __shared__ Element elements[tile][tile + 1];
    const long long near_tiles = (layout.near_extent + tile - 1) / tile;
    const long long last_tiles = (layout.last_extent + tile - 1) / tile;
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    for (long long i = blockIdx.x; i < tiles; i += gridDim.x) {
        const long long near = i % near_tiles * tile, last = i / near_tiles % last_tiles * tile;
        const long long others = i / near_tiles / last_tiles;
        const char* const from = in + offset_of(layout.in, others);
        Element* const to = out + offset_of(layout.out, others) / static_cast<long long>(sizeof(Element));
        const char* const mine =
            from + (last + warp) * layout.last_stride + (near + lane) * layout.near_stride;
        // All loads are under way before the first of them is stored: the compiler may not exchange them.
        Element loaded[tile / 8][tile / 32] = {};
#pragma unroll
        for (int y = 0; y < tile; y += 8)
#pragma unroll
            for (int x = 0; x < tile; x += 32)
                if (last + warp + y < layout.last_extent && near + lane + x < layout.near_extent)
                    loaded[y / 8][x / 32] = *reinterpret_cast<const Element*>(mine + y * layout.last_stride +
                                                                              x * layout.near_stride);
#pragma unroll
        for (int y = 0; y < tile; y += 8)
#pragma unroll
            for (int x = 0; x < tile; x += 32) elements[warp + y][lane + x] = loaded[y / 8][x / 32];
        __syncthreads();
#pragma unroll
        for (int y = 0; y < tile; y += 8) {
#pragma unroll
            for (int x = 0; x < tile; x += 32) {
                const long long at_near = near + warp + y, at_last = last + lane + x;
                if (at_near < layout.near_extent && at_last < layout.last_extent)
                    to[at_near * layout.near_step + at_last] = elements[lane + x][warp + y];
            }
        }
        __syncthreads();
    }
}

template __global__ void gather_tiles<unsigned char>(const char*, unsigned char*, TurnedLayout, long long);
template __global__ void gather_tiles<unsigned short>(const char*, unsigned short*, TurnedLayout, long long);
template __global__ void gather_tiles<unsigned int>(const char*, unsigned int*, TurnedLayout, long long);
template __global__ void gather_tiles<unsigned long long>(const char*, unsigned long long*, TurnedLayout,
                                                          long long);
template __global__ void gather_tiles<Pair>(const char*, Pair*, TurnedLayout, long long);
