// Several numbers in a word, extremes of three, products of bytes with halves of words, and the space of an address.
// launch halves 1 64
// launch bytes 1 64
// launch extremes 1 64
// launch dots 1 32
// launch spaces 2 32 64
// launch in_cluster 4 32 64 cluster=2
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__device__ unsigned word(int i) {
    const unsigned interesting[] = {0, 0x80008000, 0x7fff7fff, 0xffffffff, 0x80808080, 0x7f7f7f7f, 0x01ff80fe, 0x12345678};
    return i < 8 ? interesting[i] : i * 2654435761u ^ i << 7;
}

template <class T>
__device__ T clamp_to(int x) {
    constexpr int most = T(-1) < 0 ? (sizeof(T) == 1 ? 127 : 32767) : (sizeof(T) == 1 ? 255 : 65535);
    constexpr int least = T(-1) < 0 ? -most - 1 : 0;
    return x > most ? most : x < least ? least : x;
}

// Applies the operation to each part, as a T.
template <class T, class F>
__device__ unsigned by_parts(unsigned a, unsigned b, F f) {
    union Parts {
        unsigned word;
        T part[4 / sizeof(T)];
    } x, y, r;
    x.word = a, y.word = b;
    for (unsigned i = 0; i < 4 / sizeof(T); ++i) r.part[i] = static_cast<T>(f(x.part[i], y.part[i]));
    return r.word;
}

#define SAME(name, T, expression) CHECK(name(a, b) == by_parts<T>(a, b, [](int x, int y) -> int { return expression; }))
#define SAME1(name, T, expression) CHECK(name(a) == by_parts<T>(a, a, [](int x, int) -> int { return expression; }))

#define CHECK_ALL(n, S, U)                                          \
    SAME(__vadd##n, U, x + y);                                      \
    SAME(__vaddss##n, S, clamp_to<S>(x + y));                       \
    SAME(__vaddus##n, U, clamp_to<U>(x + y));                       \
    SAME(__vsub##n, U, x - y);                                      \
    SAME(__vsubss##n, S, clamp_to<S>(x - y));                       \
    SAME(__vsubus##n, U, clamp_to<U>(x - y));                       \
    SAME(__vavgu##n, U, (x + y + 1) / 2);                           \
    SAME(__vavgs##n, S, x + y >= 0 ? (x + y + 1) / 2 : (x + y) >> 1); \
    SAME(__vhaddu##n, U, (x + y) / 2);                              \
    SAME(__vabsdiffu##n, U, x > y ? x - y : y - x);                 \
    SAME(__vabsdiffs##n, S, x > y ? x - y : y - x);                 \
    SAME(__vmaxs##n, S, x > y ? x : y);                             \
    SAME(__vmaxu##n, U, x > y ? x : y);                             \
    SAME(__vmins##n, S, x < y ? x : y);                             \
    SAME(__vminu##n, U, x < y ? x : y);                             \
    SAME(__vcmpeq##n, U, x == y ? -1 : 0);                          \
    SAME(__vcmpne##n, U, x != y ? -1 : 0);                          \
    SAME(__vcmpgts##n, S, x > y ? -1 : 0);                          \
    SAME(__vcmpgtu##n, U, x > y ? -1 : 0);                          \
    SAME(__vcmples##n, S, x <= y ? -1 : 0);                         \
    SAME(__vcmpltu##n, U, x < y ? -1 : 0);                          \
    SAME(__vsetges##n, S, x >= y);                                  \
    SAME(__vsetleu##n, U, x <= y);                                  \
    SAME(__vseteq##n, U, x == y);                                   \
    SAME1(__vabs##n, S, x < 0 ? -x : x);                            \
    SAME1(__vabsss##n, S, clamp_to<S>(x < 0 ? -x : x));             \
    SAME1(__vneg##n, S, -x);                                        \
    SAME1(__vnegss##n, S, clamp_to<S>(-x))

__global__ void halves(unsigned* failures) {
    const unsigned a = word(threadIdx.x);
    for (int i = 0; i < 40; ++i) {
        const unsigned b = word(i);
        CHECK_ALL(2, short, unsigned short);
        const int low = (short)a - (short)b, high = (short)(a >> 16) - (short)(b >> 16);
        CHECK(__vsads2(a, b) == (unsigned)(abs(low) + abs(high)));
    }
}

__global__ void bytes(unsigned* failures) {
    const unsigned a = word(threadIdx.x);
    for (int i = 0; i < 40; ++i) {
        const unsigned b = word(i);
        CHECK_ALL(4, signed char, unsigned char);
        unsigned sum = 0;
        for (int k = 0; k < 32; k += 8) sum += abs((int)(a >> k & 255) - (int)(b >> k & 255));
        CHECK(__vsadu4(a, b) == sum);
    }
}

__global__ void extremes(unsigned* failures) {
    const unsigned a = word(threadIdx.x), c = word(63 - threadIdx.x);
    for (int i = 0; i < 40; ++i) {
        const unsigned b = word(i);
        const int sa = a, sb = b, sc = c, sum = (int)(a + b);
        CHECK(__vimax3_s32(sa, sb, sc) == max(max(sa, sb), sc) && __vimin3_u32(a, b, c) == min(min(a, b), c));
        CHECK(__vimax3_s32_relu(sa, sb, sc) == max(max(max(sa, sb), sc), 0) && __vimin_s32_relu(sa, sb) == max(min(sa, sb), 0));
        CHECK(__viaddmax_s32(sa, sb, sc) == max(sum, sc) && __viaddmin_u32(a, b, c) == min(a + b, c));
        CHECK(__viaddmax_s32_relu(sa, sb, sc) == max(max(sum, sc), 0));
        CHECK(__vimax3_s16x2(a, b, c) == __vmaxs2(__vmaxs2(a, b), c) && __vimin3_u16x2(a, b, c) == __vminu2(__vminu2(a, b), c));
        CHECK(__viaddmax_s16x2(a, b, c) == __vmaxs2(__vadd2(a, b), c) && __viaddmin_u16x2(a, b, c) == __vminu2(__vadd2(a, b), c));
        CHECK(__viaddmin_s16x2_relu(a, b, c) == __vmaxs2(__vmins2(__vadd2(a, b), c), 0) && __vimax_s16x2_relu(a, b) == __vmaxs2(__vmaxs2(a, b), 0));
        bool first, high, low;
        CHECK(__vibmax_s32(sa, sb, &first) == max(sa, sb) && first == (sa >= sb));
        CHECK(__vibmin_u32(a, b, &first) == min(a, b) && first == (a <= b));
        CHECK(__vibmax_u16x2(a, b, &high, &low) == __vmaxu2(a, b) && high == (a >> 16 >= b >> 16) && low == ((a & 65535) >= (b & 65535)));
        CHECK(__vibmin_s16x2(a, b, &high, &low) == __vmins2(a, b) && high == ((short)(a >> 16) <= (short)(b >> 16)));
    }
}

__global__ void dots(unsigned* failures) {
    const unsigned a = word(threadIdx.x), b = word(threadIdx.x + 5);
    const int low = (short)a, high = (short)(a >> 16);
    CHECK(__dp2a_lo((int)a, (int)b, 7) == 7 + low * (signed char)b + high * (signed char)(b >> 8));
    CHECK(__dp2a_hi((int)a, (int)b, 7) == 7 + low * (signed char)(b >> 16) + high * (signed char)(b >> 24));
    CHECK(__dp2a_hi(a, b, 1u) == 1 + (a & 65535) * (b >> 16 & 255) + (a >> 16) * (b >> 24));
    CHECK(__dp2a_lo(make_short2(-3, 4), make_char4(5, -6, 0, 0), 100) == 100 - 15 - 24);
}

__device__ int global;

__global__ void spaces(unsigned* failures) {
    extern __shared__ int dynamic[];
    __shared__ int fixed;
    int local[2] = {(int)threadIdx.x, 1};
    CHECK(__isShared(&fixed) && __isShared(dynamic) && !__isShared(&global) && !__isShared(local));
    CHECK(__isGlobal(&global) && __isGlobal(failures) && !__isGlobal(&fixed) && !__isGlobal(&local[threadIdx.x & 1]));
    CHECK(__isLocal(local) && !__isLocal(&fixed) && !__isLocal(failures));
    void* back = __cvta_shared_to_generic(__cvta_generic_to_shared(&fixed));
    CHECK(back == &fixed && __cvta_global_to_generic(__cvta_generic_to_global(&global)) == &global);
}

__global__ void in_cluster(unsigned* failures) {
    CHECK(__clusterDim().x == 2 && __clusterSizeInBlocks() == 2 && __clusterGridDimInClusters().x == 2);
    CHECK(__clusterIdx().x == blockIdx.x / 2 && __clusterRelativeBlockIdx().x == blockIdx.x % 2);
    const unsigned rank = __clusterRelativeBlockRank();
    CHECK(rank == blockIdx.x % 2);
    __shared__ int mine[32];
    mine[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    const int* other = static_cast<const int*>(__cluster_map_shared_rank(mine, rank ^ 1));
    CHECK(other[31 - threadIdx.x] == (int)((blockIdx.x ^ 1) * 100 + 31 - threadIdx.x));
    CHECK(__cluster_query_shared_rank(other) == (rank ^ 1) && __isClusterShared(other) && !__isCtaShared(other));
    __cluster_barrier_arrive_relaxed();
    __cluster_barrier_wait();
}
