// How many blocks ("splits") share the rows of the same results, and combine their values in groups. Plain
// C++, included by the kernels and by the code that launches them.
#pragma once

#ifdef __CUDACC__
#define CUSCOPE_ON_BOTH __host__ __device__
#else
#define CUSCOPE_ON_BOTH
#endif

namespace cuscope::reduce {

// The threads of a block that share the splits of a result.
CUSCOPE_ON_BOTH constexpr int readers(int results, int threads) {
    return results < threads ? threads / results : 1;
}

// The splits of a group. One block combines all of them if none of its threads reads more than 16 values of
// a result. With more, each group combines its own first: about as many groups as each has splits.
CUSCOPE_ON_BOTH constexpr int splits_of_group(int splits, int results, int threads) {
    if (splits <= 16 * readers(results, threads)) return splits;
    int size = 1;
    while (size * size < splits) ++size;
    return size;
}

CUSCOPE_ON_BOTH constexpr int groups(int splits, int size) { return (splits + size - 1) / size; }

// The tickets of the blocks that share results: one for all groups, and one for each of several groups.
CUSCOPE_ON_BOTH constexpr int tickets(int splits, int results, int threads) {
    const int count = groups(splits, splits_of_group(splits, results, threads));
    return count > 1 ? 1 + count : 1;
}

}  // namespace cuscope::reduce

#undef CUSCOPE_ON_BOTH
