// A histogram too large for one block: its bins are spread over the shared memory of a cluster's blocks.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int CLUSTER = 2;

__global__ void __cluster_dims__(CLUSTER, 1, 1)
    cluster_histogram(int* bins, const int bins_count, const int bins_per_block, const int* __restrict__ input,
                      size_t size) {
    extern __shared__ int smem[];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) smem[i] = 0;
    cluster.sync();

    const int thread = cg::this_grid().thread_rank();
    for (size_t i = thread; i < size; i += blockDim.x * gridDim.x) {
        int bin = input[i];
        if (bin < 0)
            bin = 0;
        else if (bin >= bins_count)
            bin = bins_count - 1;
        const int owner = bin / bins_per_block, offset = bin % bins_per_block;
        int* there = cluster.map_shared_rank(smem, owner);
        atomicAdd(there + offset, 1);
    }
    cluster.sync();

    int* mine = bins + rank * bins_per_block;
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) atomicAdd(&mine[i], smem[i]);
}
