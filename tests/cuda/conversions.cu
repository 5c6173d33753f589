// Conversions: roundings, saturation, and the bits of floating-point numbers.
// launch convert 1 1
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__global__ void convert(unsigned* failures) {
    volatile float f = 2.5f, n = -2.5f, big = 1e20f;
    CHECK(__float2int_rn(f) == 2 && __float2int_rz(f) == 2 && __float2int_ru(f) == 3 && __float2int_rd(f) == 2);
    CHECK(__float2int_rn(n) == -2 && __float2int_rz(n) == -2 && __float2int_ru(n) == -2 && __float2int_rd(n) == -3);
    CHECK(__float2int_rn(big) == 0x7fffffff && __float2int_rn(-big) == (int)0x80000000u && __float2int_rn(NAN) == 0);
    CHECK(__float2uint_rn(n) == 0u && __float2uint_rn(big) == 0xffffffffu && __float2uint_rz(f) == 2u);
    CHECK(__float2ll_rn(big) == 0x7fffffffffffffffLL && __float2ull_rz(big) == 0xffffffffffffffffull);
    CHECK(__double2int_rn(2.5) == 2 && __double2int_rz(-2.7) == -2 && __double2uint_ru(2.1) == 3u);
    CHECK(__double2ll_rd(-2.1) == -3 && __double2ull_rn(3.6) == 4);
    volatile int odd = 16777217;
    CHECK(__int2float_rn(odd) == 16777216.0f && __int2float_ru(odd) == 16777218.0f && __int2float_rz(odd) == 16777216.0f);
    CHECK(__uint2float_rn(3u) == 3.0f && __int2double_rn(odd) == 16777217.0 && __uint2double_rn(7u) == 7.0);
    CHECK(__ll2float_rn(1LL << 40) == 1099511627776.0f && __ull2double_rn(5ull) == 5.0);
    volatile double third = 1.0 / 3.0;
    CHECK(__double2float_ru(third) > __double2float_rd(third) && __double2float_rn(third) == 1.0f / 3.0f);
    CHECK(__float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f);
    CHECK(__float_as_uint(-0.0f) == 0x80000000u && __uint_as_float(0x7f800000u) == INFINITY);
    CHECK(__double_as_longlong(1.0) == 0x3ff0000000000000LL && __longlong_as_double(0x4000000000000000LL) == 2.0);
    CHECK(__double2hiint(1.0) == 0x3ff00000 && __double2loint(1.0) == 0 && __hiloint2double(0x40000000, 0) == 2.0);
    float pun = 1.0f;
    CHECK(*(int*)&pun == 0x3f800000);
}
