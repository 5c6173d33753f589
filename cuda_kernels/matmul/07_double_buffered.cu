// Between two barriers, the vectorised rung either waits for memory or multiplies. Here there are two slabs:
// while a block multiplies one, it loads the next. The loaded numbers stay in registers until the
// multiplications are done, and a slab needs one barrier instead of two. (cp.async would need no registers,
// but it copies 16 bytes unchanged and cannot transpose them. The next rung uses it in another way.)
//
// Needs: A and B at multiples of 16 bytes, with rows (and matrices of a batch) multiples of 16 bytes apart.
#include "pack_tiles.cuh"

template <class T>
__global__ void __launch_bounds__(PackTiles<T>::threads, 2)
    double_buffered(const T* a, const T* b, T* c, Problem p) {
    using Tiles = PackTiles<T>;
    __shared__ typename Tiles::Slab slabs[2];
    select_batch(a, b, p);
    const Corner corner = corner_of_block<Tiles::tile, Tiles::tile>(p);

    Tiles tiles;
    Tiles::store(slabs[0], Tiles::load(a, b, p, corner, 0));
    __syncthreads();
    int current = 0;
    for (int first = Tiles::depth; first < p.k; first += Tiles::depth) {
        const auto next = Tiles::load(a, b, p, corner, first);
        tiles.multiply(slabs[current]);
        current ^= 1;
        // No thread reads this slab any more: all of them have passed the barrier after its multiplications.
        Tiles::store(slabs[current], next);
        __syncthreads();
    }
    tiles.multiply(slabs[current]);
    tiles.store_sums(c, p, corner);
}

#define INSTANCE(T) template __global__ void double_buffered<T>(const T*, const T*, T*, Problem);
INSTANCE(float)
