// A sparse matrix in rows (CSR) times a vector: a group of lanes for each row.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdint.h>

namespace cg = cooperative_groups;

template <typename Index, typename Value>
struct CsrView {
    const Index* __restrict__ row_start;
    const Index* __restrict__ columns;
    const Value* __restrict__ values;
    Index rows;
};

template <typename Index, typename Value, int LANES>
__global__ void spmv(CsrView<Index, Value> a, const Value* __restrict__ x, Value* __restrict__ y) {
    static_assert(LANES > 0 && LANES <= 32 && (LANES & (LANES - 1)) == 0, "a power of two");
    const auto tile = cg::tiled_partition<LANES>(cg::this_thread_block());
    const Index tiles = gridDim.x * tile.meta_group_size();
    for (Index row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank(); row < a.rows; row += tiles) {
        Value sum{};
        for (Index i = a.row_start[row] + tile.thread_rank(); i < a.row_start[row + 1]; i += tile.num_threads())
            sum += __ldg(&a.values[i]) * __ldg(&x[__ldg(&a.columns[i])]);
        sum = cg::reduce(tile, sum, cg::plus<Value>{});
        if (tile.thread_rank() == 0) y[row] = sum;
    }
}
