// Integer intrinsics.
// launch bits 1 1
// launch arithmetic 1 1
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__global__ void bits(unsigned* failures) {
    volatile unsigned x = 0x12345678u;
    CHECK(__popc(x) == 13 && __popcll(0xffffffff00000001ull) == 33 && __popc(0) == 0);
    CHECK(__clz(1) == 31 && __clz(0) == 32 && __clz(-1) == 0 && __clzll(1) == 63 && __clzll(0) == 64);
    CHECK(__ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1LL << 40) == 41);
    CHECK(__brev(1u) == 0x80000000u && __brev(x) == 0x1e6a2c48u && __brevll(1ull) == 1ull << 63);
    CHECK(__byte_perm(x, 0xaabbccddu, 0x3210) == x && __byte_perm(x, 0xaabbccddu, 0x7654) == 0xaabbccddu);
    CHECK(__byte_perm(x, 0, 0x0123) == 0x78563412u && __byte_perm(0x80, 0, 0x8888) == 0x80808080u);
    CHECK(__funnelshift_l(0x80000000u, 1u, 1) == 3u && __funnelshift_r(0x80000000u, 1u, 1) == 0xc0000000u);
    CHECK(__funnelshift_l(5u, 6u, 32) == 6u && __funnelshift_lc(5u, 6u, 32) == 5u && __funnelshift_rc(5u, 6u, 40) == 6u);
    CHECK(__fns(0x16u, 0, 1) == 1u && __fns(0x16u, 0, 3) == 4u && __fns(0x16u, 0, 4) == 0xffffffffu);
    CHECK(__fns(0x16u, 4, -2) == 2u);
}

__global__ void arithmetic(unsigned* failures) {
    volatile int m = -7;
    CHECK(__mul24(m, 3) == -21 && __umul24(0x1000001u, 2u) == 2u);
    CHECK(__mulhi(1 << 30, 8) == 2 && __umulhi(0x80000000u, 4u) == 2u && __mulhi(m, 1) == -1);
    CHECK(__mul64hi(1LL << 62, 8) == 2 && __umul64hi(1ull << 63, 4) == 2);
    CHECK(__sad(3, m, 1u) == 11u && __usad(3u, 10u, 1u) == 8u);
    CHECK(__hadd(m, 4) == -2 && __rhadd(m, 4) == -1 && __uhadd(0xffffffffu, 1u) == 0x80000000u);
    CHECK(__dp4a(0x01020304, 0x01010101, 5) == 15 && __dp4a(-1, 0x01010101, 0) == -4);
    CHECK(__dp4a(0xffu, 0xffu, 1u) == 65026u);
    CHECK(__dp4a(make_char4(1, 2, 3, 4), make_char4(1, 1, 1, -1), 0) == 2);
}
