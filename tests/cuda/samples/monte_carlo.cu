// Pi from random points, and the prices of options: a generator of random numbers as a class, sums by warps.
#include <math.h>
#include <stdint.h>

class Generator {
  public:
    __device__ explicit Generator(uint64_t seed, uint64_t sequence) : state_(0), increment_(sequence << 1 | 1) {
        next();
        state_ += seed;
        next();
    }
    __device__ uint32_t next() {
        const uint64_t old = state_;
        state_ = old * 6364136223846793005ULL + increment_;
        const uint32_t shifted = static_cast<uint32_t>(((old >> 18u) ^ old) >> 27u);
        const uint32_t rotation = static_cast<uint32_t>(old >> 59u);
        return __funnelshift_r(shifted, shifted, rotation);
    }
    __device__ float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); }

  private:
    uint64_t state_, increment_;
};

__global__ void pi(uint64_t seed, int tries, unsigned long long* inside) {
    Generator random(seed, blockIdx.x * blockDim.x + threadIdx.x);
    unsigned hits = 0;
    for (int i = 0; i < tries; ++i) {
        const float x = random.uniform(), y = random.uniform();
        hits += x * x + y * y < 1.0f;
    }
    hits = __reduce_add_sync(0xffffffffu, hits);
    if (threadIdx.x % warpSize == 0) atomicAdd(inside, static_cast<unsigned long long>(hits));
}

struct Option {
    float spot, strike, years;
};

__device__ __forceinline__ float normal_cdf(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }

__global__ void black_scholes(const Option* options, float2* prices, int count, float rate, float volatility) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= count) return;
    const Option o = options[i];
    const float root = sqrtf(o.years);
    const float d1 = (logf(o.spot / o.strike) + (rate + 0.5f * volatility * volatility) * o.years) / (volatility * root);
    const float d2 = d1 - volatility * root;
    const float discounted = o.strike * expf(-rate * o.years);
    const float call = o.spot * normal_cdf(d1) - discounted * normal_cdf(d2);
    prices[i] = make_float2(call, call + discounted - o.spot);
}
