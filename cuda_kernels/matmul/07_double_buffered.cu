// Between two barriers the vectorised rung either waits for memory or multiplies. Here there are two slabs:
// while a block multiplies one, the loads of the next are under way. They are held in registers until the
// multiplications are done, and one barrier a slab is left of two. (cp.async needs no registers for that, but
// moves 16 bytes as they are and cannot transpose them; the next rung uses it another way.)
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
        // Nobody reads this slab: all have passed the barrier after which it was no longer the current one.
        Tiles::store(slabs[current], next);
        __syncthreads();
    }
    tiles.multiply(slabs[current]);
    tiles.store_sums(c, p, corner);
}

#define INSTANCE(T) template __global__ void double_buffered<T>(const T*, const T*, T*, Problem);
INSTANCE(float)
