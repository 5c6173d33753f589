// Grids and clusters whose blocks wait for each other.
// launch whole_grid 12 64 cooperative
// launch two_steps 6 32 cooperative
// launch not_cooperative 2 32
// launch of_launch 8 64 64 cluster=4
// launch of_kernel 2,4 32
// launch exchange 8 64 256 cluster=2
// launch ends_early 4 32 cluster=4
// launch both 4 32 cooperative cluster=2
#include <cooperative_groups.h>
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)
namespace cg = cooperative_groups;

__device__ int parts[64], total;

__global__ void whole_grid(unsigned* failures) {
    cg::grid_group grid = cg::this_grid();
    CHECK(grid.is_valid() && grid.size() == 12 * 64);
    for (int round = 0; round < 5; ++round) {
        if (threadIdx.x == 0) parts[blockIdx.x] = blockIdx.x + round;
        grid.sync();
        if (grid.thread_rank() == 0) {
            total = 0;
            for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];
        }
        grid.sync();
        CHECK(total == 66 + 12 * round);
        cg::sync(grid);
    }
}

__global__ void two_steps(unsigned* failures) {
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) parts[blockIdx.x] = 100 + blockIdx.x;
    __threadfence();
    auto token = grid.barrier_arrive();
    int own = threadIdx.x * 2;
    grid.barrier_wait(static_cast<decltype(token)&&>(token));
    CHECK(parts[(blockIdx.x + 1) % gridDim.x] == 100 + (int)((blockIdx.x + 1) % gridDim.x) && own >= 0);
}

__global__ void not_cooperative(unsigned* failures) {
    CHECK(cg::this_cluster().num_blocks() == 1 && cg::this_cluster().block_rank() == 0);
}

// Every block writes into the shared memory of the next one.
__global__ void of_launch(unsigned* failures) {
    extern __shared__ int dynamic[];
    __shared__ int fixed[64];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
    CHECK(cluster.num_blocks() == 4 && rank == blockIdx.x % 4 && cluster.num_threads() == 256);
    CHECK(cluster.dim_blocks().x == 4 && cluster.block_index().x == rank);
    CHECK(cluster.thread_rank() == rank * 64 + threadIdx.x);
    cluster.sync();
    int* theirs = cluster.map_shared_rank(fixed, next);
    theirs[threadIdx.x] = rank * 1000 + threadIdx.x;
    if (threadIdx.x < 16) cluster.map_shared_rank(dynamic, next)[threadIdx.x] = rank;
    CHECK(cluster.query_shared_rank(theirs) == next && cluster.query_shared_rank(fixed) == rank);
    cluster.sync();
    const int before = (rank + 3) % 4;
    CHECK(fixed[threadIdx.x] == before * 1000 + (int)threadIdx.x);
    if (threadIdx.x < 16) CHECK(dynamic[threadIdx.x] == before);
    cluster.sync();
}

__global__ void __cluster_dims__(2, 2, 1) of_kernel(unsigned* failures) {
    __shared__ unsigned own;
    cg::cluster_group cluster = cg::this_cluster();
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) own = blockIdx.y * 10 + blockIdx.x;
    cluster.sync();
    CHECK(cluster.num_blocks() == 4 && cluster.block_index().y == blockIdx.y % 2);
    CHECK(cluster.block_rank() == blockIdx.y % 2 * 2 + blockIdx.x % 2);
    CHECK(grid.num_clusters() == 2 && grid.cluster_rank() == blockIdx.y / 2);
    for (unsigned rank = 0; rank < 4; ++rank)
        CHECK(*cluster.map_shared_rank(&own, rank) == (blockIdx.y / 2 * 2 + rank / 2) * 10 + rank % 2);
    cluster.sync();
}

// A histogram over two blocks' memory.
__global__ void exchange(unsigned* failures) {
    extern __shared__ int bins[];
    cg::cluster_group cluster = cg::this_cluster();
    bins[threadIdx.x] = 0;
    cluster.sync();
    for (int i = threadIdx.x; i < 640; i += blockDim.x) {
        const int bin = (i * 7 + cluster.block_rank()) % 128;
        atomicAdd(cluster.map_shared_rank(bins, bin / 64) + bin % 64, 1);
    }
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(static_cast<decltype(token)&&>(token));
    CHECK(bins[threadIdx.x] == 10);
}

__global__ void ends_early(unsigned* failures) {
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 2) return;
    if (threadIdx.x > 20) return;
    cluster.sync();
    cluster.sync();
    CHECK(cluster.num_blocks() == 4);
}

__global__ void both(unsigned* failures) {
    __shared__ int mine;
    if (threadIdx.x == 0) mine = blockIdx.x;
    cg::this_grid().sync();
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned other = cluster.block_rank() ^ 1;
    CHECK(*cluster.map_shared_rank(&mine, other) == (int)(blockIdx.x ^ 1));
    cluster.sync();
    cg::this_grid().sync();
}
