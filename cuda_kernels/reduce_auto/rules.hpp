// How columns are divided into strips, and how many blocks ("splits") share the rows of the same results, and
// combine their values in groups. Plain C++, included by the kernels and by the code that launches them.
#pragma once

#ifdef __CUDACC__
#define CUSCOPE_ON_BOTH __host__ __device__
#else
#define CUSCOPE_ON_BOTH
#endif

namespace cuscope::reduce {

// The columns of a strip, which one thread owns: as many as 16 bytes hold, but fewer if the Values of 256
// threads would not fit into 32 KiB of shared memory.
CUSCOPE_ON_BOTH constexpr int strip_columns(int element_bytes, int value_bytes) {
    int columns = 16 / element_bytes;
    while (columns * value_bytes * 256 > 32768) columns /= 2;
    return columns;
}

// The strips that a thread of `columns` loads at once, as registers allow. Strips that are not aligned take
// two loads each.
CUSCOPE_ON_BOTH constexpr int strips_of_columns(int columns, bool aligned) {
    const int strips = columns == 4 ? 8 : columns < 4 ? 6 : 4;
    return aligned ? strips : columns > 8 ? 1 : strips / 2;
}

// The strips that a thread of `narrow` loads at once, as registers allow.
CUSCOPE_ON_BOTH constexpr int strips_of_narrow(int columns, int value_bytes) {
    return columns * value_bytes > 64 ? 4 : 8;
}

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

}  // namespace cuscope::reduce

#undef CUSCOPE_ON_BOTH
