// The mathematical functions at points where their values are known, to a few units in the last place.
// launch single 1 1
// launch twofold 1 1
// launch rounding 1 1
// launch overloads 1 1
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)
#define NEAR(value, expected, relative) CHECK(fabs((double)(value) - (expected)) <= (relative) * fabs((double)(expected)))

__global__ void single(unsigned* failures) {
    volatile float one = 1.0f, half = 0.5f, two = 2.0f;
    const float e = 1e-6f;
    NEAR(sinf(one), 0.8414709848, e); NEAR(cosf(one), 0.5403023059, e); NEAR(tanf(one), 1.5574077247, e);
    NEAR(asinf(half), 0.5235987756, e); NEAR(acosf(half), 1.0471975512, e); NEAR(atanf(one), 0.7853981634, e);
    NEAR(atan2f(one, two), 0.4636476090, e); NEAR(sinhf(one), 1.1752011936, e); NEAR(coshf(one), 1.5430806348, e);
    NEAR(tanhf(one), 0.7615941560, e); NEAR(asinhf(one), 0.8813735870, e); NEAR(acoshf(two), 1.3169578969, e);
    NEAR(atanhf(half), 0.5493061443, e); NEAR(expf(one), 2.7182818285, e); NEAR(exp2f(half), 1.4142135624, e);
    NEAR(exp10f(half), 3.1622776602, e); NEAR(expm1f(half), 0.6487212707, e); NEAR(logf(two), 0.6931471806, e);
    NEAR(log2f(10.0f * one), 3.3219280949, e); NEAR(log10f(two), 0.3010299957, e); NEAR(log1pf(one), 0.6931471806, e);
    NEAR(powf(two, half), 1.4142135624, e); NEAR(sqrtf(two), 1.4142135624, e); NEAR(rsqrtf(two), 0.7071067812, e);
    NEAR(cbrtf(two), 1.2599210499, e); NEAR(rcbrtf(two), 0.7937005260, e); NEAR(hypotf(3 * one, 4 * one), 5.0, e);
    NEAR(rhypotf(3 * one, 4 * one), 0.2, e); NEAR(norm3df(one, two, two), 3.0, e); NEAR(norm4df(two, two, two, two), 4.0, e);
    NEAR(erff(half), 0.5204998778, e); NEAR(erfcf(half), 0.4795001222, e); NEAR(erfinvf(half), 0.4769362762, e);
    NEAR(erfcinvf(half), 0.4769362762, e); NEAR(erfcxf(two), 0.2553956763, e); NEAR(normcdff(one), 0.8413447461, e);
    NEAR(normcdfinvf(0.975f * one), 1.9599639845, 1e-5f); NEAR(tgammaf(5 * one), 24.0, e); NEAR(lgammaf(5 * one), 3.1780538303, e);
    NEAR(j0f(one), 0.7651976866, 1e-5f); NEAR(j1f(one), 0.4400505857, 1e-5f); NEAR(y0f(one), 0.0882569642, 1e-4f);
    NEAR(cyl_bessel_i0f(one), 1.2660658778, e); NEAR(cyl_bessel_i1f(one), 0.5651591040, e);
    CHECK(sinpif(one) == 0.0f && cospif(half) == 0.0f && cospif(one) == -1.0f && sinpif(1.5f * one) == -1.0f);
    float s, c;
    sincosf(one, &s, &c);
    NEAR(s, 0.8414709848, e); NEAR(c, 0.5403023059, e);
    sincospif(half, &s, &c);
    CHECK(s == 1.0f && c == 0.0f);
    CHECK(fmaf(two, 3.0f, one) == 7.0f && fminf(one, two) == 1.0f && fmaxf(one, NAN) == 1.0f && fdimf(two, one) == 1.0f);
    CHECK(floorf(-half) == -1.0f && ceilf(half) == 1.0f && truncf(-1.5f * one) == -1.0f && roundf(half) == 1.0f);
    CHECK(rintf(half) == 0.0f && nearbyintf(1.5f * one) == 2.0f && fmodf(5.5f * one, two) == 1.5f);
    CHECK(remainderf(5.5f * one, two) == -0.5f && copysignf(two, -one) == -2.0f && fabsf(-two) == 2.0f);
    CHECK(lrintf(2.5f * one) == 2 && lroundf(2.5f * one) == 3 && llrintf(one) == 1 && llroundf(half) == 1);
    CHECK(ldexpf(one, 3) == 8.0f && scalbnf(one, 4) == 16.0f && logbf(8 * one) == 3.0f && ilogbf(8 * one) == 3);
    int exponent;
    CHECK(frexpf(8 * one, &exponent) == 0.5f && exponent == 4);
    float whole;
    CHECK(modff(2.25f * one, &whole) == 0.25f && whole == 2.0f);
    CHECK(isnan(NAN) && isinf(INFINITY) && isfinite(one) && signbit(-one) && !signbit(one));
    CHECK(nextafterf(one, two) > 1.0f && fdividef(one, two) == 0.5f && __fdividef(one, two) == 0.5f);
    CHECK(__saturatef(two) == 1.0f && __saturatef(-one) == 0.0f && __saturatef(half) == 0.5f && __saturatef(NAN) == 0.0f);
    const float fast = 1e-4f;
    NEAR(__sinf(one), 0.8414709848, fast); NEAR(__cosf(one), 0.5403023059, fast); NEAR(__expf(one), 2.7182818285, fast);
    NEAR(__logf(two), 0.6931471806, fast); NEAR(__powf(two, half), 1.4142135624, fast); NEAR(__tanf(one), 1.5574077247, fast);
    NEAR(__exp10f(half), 3.1622776602, fast); NEAR(__log2f(10 * one), 3.3219280949, fast); NEAR(__log10f(two), 0.3010299957, fast);
    NEAR(__frsqrt_rn(two), 0.7071067812, e);
}

__global__ void twofold(unsigned* failures) {
    volatile double one = 1.0, half = 0.5, two = 2.0;
    const double e = 1e-13;
    NEAR(sin(one), 0.84147098480789650665, e); NEAR(exp(one), 2.71828182845904523536, e);
    NEAR(log(two), 0.69314718055994530942, e); NEAR(pow(two, half), 1.41421356237309504880, e);
    NEAR(rsqrt(two), 0.70710678118654752440, e); NEAR(rcbrt(two), 0.79370052598409973738, e);
    NEAR(exp10(half), 3.16227766016837933200, e); NEAR(erfinv(half), 0.47693627620446987338, e);
    NEAR(erfcinv(1e-10 * one), 4.57282496738941, 1e-12); NEAR(erfinv(-0.9 * one), -1.16308715367667425692, e);
    NEAR(normcdf(one), 0.84134474606854294859, e); NEAR(normcdfinv(0.975 * one), 1.95996398454005423552, e);
    NEAR(erfcx(20 * one), 0.02817434874105132, 1e-12); NEAR(cyl_bessel_i0(one), 1.26606587775200833560, e);
    NEAR(norm3d(one, two, two), 3.0, e); NEAR(rhypot(3 * one, 4 * one), 0.2, e); NEAR(tgamma(5 * one), 24.0, e);
    CHECK(sinpi(one) == 0.0 && cospi(half) == 0.0 && fma(two, 3.0, one) == 7.0 && fmax(one, two) == 2.0);
    double s, c;
    sincos(one, &s, &c);
    NEAR(s, 0.84147098480789650665, e); NEAR(c, 0.54030230586813971740, e);
    CHECK(floor(-half) == -1.0 && rint(half) == 0.0 && trunc(1.5 * one) == 1.0 && lround(2.5 * one) == 3);
}

__global__ void rounding(unsigned* failures) {
    volatile float one = 1.0f, tiny = 1e-10f, three = 3.0f;
    CHECK(__fadd_rn(one, tiny) == 1.0f && __fadd_rd(one, tiny) == 1.0f && __fadd_rz(one, tiny) == 1.0f);
    CHECK(__fadd_ru(one, tiny) > 1.0f && __fadd_rd(-one, -tiny) < -1.0f && __fsub_ru(one, -tiny) > 1.0f);
    CHECK(__fdiv_ru(one, three) > __fdiv_rd(one, three) && __fdiv_rz(one, three) == __fdiv_rd(one, three));
    CHECK(__frcp_ru(three) == __fdiv_ru(one, three) && __fmul_ru(one, three) == 3.0f);
    CHECK(__fsqrt_ru(three) > __fsqrt_rd(three) && __fsqrt_rn(4 * one) == 2.0f);
    CHECK(__fmaf_ru(one, one, tiny) > 1.0f && __fmaf_rn(one, one, tiny) == 1.0f);
    volatile double d = 1.0, small = 1e-30;
    CHECK(__dadd_ru(d, small) > 1.0 && __dadd_rn(d, small) == 1.0 && __fma_ru(d, d, small) > 1.0);
    CHECK(__ddiv_ru(d, 3.0) > __ddiv_rd(d, 3.0) && __dsqrt_rn(4.0 * d) == 2.0 && __dmul_rz(d, 3.0) == 3.0);
    CHECK(one + tiny == 1.0f);
}

__global__ void overloads(unsigned* failures) {
    CHECK(sizeof(sin(1.0f)) == 4 && sizeof(sin(1.0)) == 8 && sizeof(exp(1.0f)) == 4 && sizeof(pow(2.0f, 2.0f)) == 4);
    CHECK(sizeof(max(1.0f, 2.0f)) == 4 && sizeof(min(1, 2)) == 4 && sizeof(max(1.0f, 2.0)) == 8);
    CHECK(min(-1, 2) == -1 && max(1u, 2u) == 2u && min(1LL, 2LL) == 1LL && max(1ull, 2ull) == 2ull);
    CHECK(max(-1, 1u) == 0xffffffffu && min(2.0f, NAN) == 2.0f && max(NAN, 2.0) == 2.0);
    CHECK(abs(-3) == 3 && abs(-3.5f) == 3.5f && abs(-3.5) == 3.5 && llabs(-3LL) == 3 && fabs(-2.0f) == 2.0f);
    CHECK(rsqrt(4.0f) == 0.5f && sqrt(4.0f) == 2.0f && floor(2.5f) == 2.0f && fma(1.0f, 2.0f, 3.0f) == 5.0f);
    CHECK(umin(1u, 2u) == 1u && llmax(1, 2) == 2);
}
