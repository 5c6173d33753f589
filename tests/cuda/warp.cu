// Shuffles, votes, matches and reductions of a warp, whole and in parts.
// launch shuffles 1 64
// launch widths 1 32
// launch types 1 32
// launch votes 1 96
// launch matches 1 32
// launch reductions 1 32
// launch parts 1 32
// launch loops 2 128
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)
#define FULL 0xffffffffu

__global__ void shuffles(unsigned* failures) {
    int lane = threadIdx.x % 32, base = threadIdx.x - lane, v = threadIdx.x;
    CHECK(__shfl_sync(FULL, v, 3) == base + 3);
    CHECK(__shfl_sync(FULL, v, 35) == base + 3);
    CHECK(__shfl_up_sync(FULL, v, 1) == (lane >= 1 ? v - 1 : v));
    CHECK(__shfl_down_sync(FULL, v, 4) == (lane < 28 ? v + 4 : v));
    CHECK(__shfl_xor_sync(FULL, v, 16) == base + (lane ^ 16));
    int sum = v;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(FULL, sum, offset);
    if (lane == 0) CHECK(sum == 32 * base + 496);
    int all = v;
    for (int mask = 16; mask > 0; mask >>= 1) all += __shfl_xor_sync(FULL, all, mask);
    CHECK(all == 32 * base + 496);
}

__global__ void widths(unsigned* failures) {
    int lane = threadIdx.x, in_eight = lane % 8, first = lane - in_eight;
    CHECK(__shfl_sync(FULL, lane, 2, 8) == first + 2);
    CHECK(__shfl_sync(FULL, lane, 10, 8) == first + 2);
    CHECK(__shfl_up_sync(FULL, lane, 3, 8) == (in_eight >= 3 ? lane - 3 : lane));
    CHECK(__shfl_down_sync(FULL, lane, 3, 8) == (in_eight < 5 ? lane + 3 : lane));
    CHECK(__shfl_xor_sync(FULL, lane, 1, 8) == (lane ^ 1));
    CHECK(__shfl_xor_sync(FULL, lane, 8, 8) == (lane & 8 ? lane ^ 8 : lane));
}

__global__ void types(unsigned* failures) {
    int lane = threadIdx.x, from = (lane + 1) % 32;
    CHECK(__shfl_sync(FULL, 0.5f * lane, from) == 0.5f * from);
    CHECK(__shfl_sync(FULL, 0.1 * lane, from) == 0.1 * from);
    CHECK(__shfl_sync(FULL, (unsigned)lane, from) == (unsigned)from);
    CHECK(__shfl_sync(FULL, (long long)lane << 40, from) == (long long)from << 40);
    CHECK(__shfl_sync(FULL, (unsigned long long)lane << 50, from) == (unsigned long long)from << 50);
    CHECK(__shfl_sync(FULL, (long)lane, from) == (long)from);
    CHECK(__shfl_sync(FULL, -lane, from) == -from);
}

__global__ void votes(unsigned* failures) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    CHECK(__ballot_sync(FULL, lane < 5) == 31u);
    CHECK(__ballot_sync(FULL, lane & 1) == 0xaaaaaaaau);
    CHECK(__any_sync(FULL, lane == 7) && !__any_sync(FULL, lane == 40));
    CHECK(__all_sync(FULL, lane < 32) && !__all_sync(FULL, lane != 3));
    CHECK(__all_sync(FULL, warp == (int)threadIdx.x / 32));
    CHECK(__uni_sync(FULL, warp) && !__uni_sync(FULL, lane));
    CHECK(__activemask() == FULL);
    __syncwarp();
}

__global__ void matches(unsigned* failures) {
    int lane = threadIdx.x, all;
    unsigned group = 0;
    for (int i = 0; i < 32; ++i) group |= (i % 3 == lane % 3) ? 1u << i : 0u;
    CHECK(__match_any_sync(FULL, lane % 3) == group);
    CHECK(__match_any_sync(FULL, 1.5f * (lane % 3)) == group);
    CHECK(__match_any_sync(FULL, (unsigned long long)(lane % 3) << 45) == group);
    CHECK(__match_all_sync(FULL, 42, &all) == FULL && all != 0);
    CHECK(__match_all_sync(FULL, lane, &all) == 0 && all == 0);
}

__global__ void reductions(unsigned* failures) {
    int lane = threadIdx.x;
    CHECK(__reduce_add_sync(FULL, lane) == 496 && __reduce_add_sync(FULL, 1u) == 32u);
    CHECK(__reduce_min_sync(FULL, lane - 10) == -10 && __reduce_max_sync(FULL, lane - 10) == 21);
    CHECK(__reduce_min_sync(FULL, (unsigned)lane + 5) == 5u && __reduce_max_sync(FULL, (unsigned)lane) == 31u);
    CHECK(__reduce_and_sync(FULL, 0xf0u | lane) == 0xf0u && __reduce_or_sync(FULL, 1u << lane) == FULL);
    CHECK(__reduce_xor_sync(FULL, 1u << lane) == FULL);
}

__global__ void parts(unsigned* failures) {
    int lane = threadIdx.x;
    if (lane < 8) {
        CHECK(__shfl_sync(0xffu, lane, 5) == 5);
        CHECK(__ballot_sync(0xffu, 1) == 0xffu);
        CHECK(__reduce_add_sync(0xffu, lane) == 28);
    } else if (lane < 16) {
        CHECK(__shfl_xor_sync(0xff00u, lane, 1) == (lane ^ 1));
        CHECK(__all_sync(0xff00u, lane >= 8));
    }
    unsigned odd = __ballot_sync(FULL, lane & 1);
    if (lane & 1) {
        CHECK(__reduce_add_sync(odd, 1) == 16);
        CHECK(__shfl_down_sync(odd, lane, 2) == (lane < 30 ? lane + 2 : lane));
        __syncwarp(odd);
    }
}

__global__ void loops(unsigned* failures) {
    int lane = threadIdx.x % 32, rounds = threadIdx.x / 32 + 1, sum = 0;
    for (int i = 0; i < rounds; ++i) sum += __shfl_sync(FULL, lane + i, i);
    int expected = 0;
    for (int i = 0; i < rounds; ++i) expected += 2 * i;
    CHECK(sum == expected);
}
