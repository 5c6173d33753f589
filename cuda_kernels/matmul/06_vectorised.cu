// With 8 x 8 elements a thread, 16 loads of 4 bytes take issue slots away from 64 multiplications. Here every
// load and store moves 16 bytes, from global memory and from shared memory: 4 loads for 64 multiplications.
// For this, A is transposed on its way into shared memory, so that a thread finds 4 rows of A side by side.
//
// Needs: A and B at multiples of 16 bytes, with rows (and matrices of a batch) multiples of 16 bytes apart.
#include "pack_tiles.cuh"

template <class T>
__global__ void __launch_bounds__(PackTiles<T>::threads, 2)
    vectorised(const T* a, const T* b, T* c, Problem p) {
    using Tiles = PackTiles<T>;
    __shared__ typename Tiles::Slab slab;
    select_batch(a, b, p);
    const Corner corner = corner_of_block<Tiles::tile, Tiles::tile>(p);

    Tiles tiles;
    for (int first = 0; first < p.k; first += Tiles::depth) {
        Tiles::store(slab, Tiles::load(a, b, p, corner, first));
        __syncthreads();
        tiles.multiply(slab);
        __syncthreads();
    }
    tiles.store_sums(c, p, corner);
}

#define INSTANCE(T) template __global__ void vectorised<T>(const T*, const T*, T*, Problem);
INSTANCE(float)
