// The C++ library for kernels, which comes with the toolkit.
// launch containers 1 32
// launch numbers 1 32
// launch views 1 32
// launch functions 2 32
#include <cuda/atomic>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/cstdint>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/std/variant>

#ifndef __CUDA_ARCH__
#error "kernels are compiled for a device, whatever is included"
#endif

#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

namespace std_ = cuda::std;

__device__ std_::optional<int> half_of(int x) {
    if (x % 2 != 0) return std_::nullopt;
    return x / 2;
}

__global__ void containers(unsigned* failures) {
    const int t = threadIdx.x;
    std_::array<int, 4> a{1, 2, 3, t};
    int sum = 0;
    for (int x : a) sum += x;
    CHECK(sum == 6 + t && a.size() == 4 && a.back() == t);
    std_::swap(a[0], a[3]);
    CHECK(a[0] == t && a[3] == 1);

    auto [x, y, z] = std_::make_tuple(t, 2.5f, 'c');
    CHECK(x == t && y == 2.5f && z == 'c');
    std_::pair<int, float> p{t, 0.5f};
    CHECK(p.first == t && std_::get<1>(p) == 0.5f);

    CHECK(half_of(t).has_value() == (t % 2 == 0) && half_of(8).value_or(0) == 4 && half_of(7).value_or(-1) == -1);
    std_::variant<int, float> v = t < 16 ? std_::variant<int, float>(t) : std_::variant<int, float>(1.5f);
    CHECK(t < 16 ? std_::get<int>(v) == t : std_::get<float>(v) == 1.5f);
    CHECK(v.index() == (t < 16 ? 0u : 1u));
}

template <class T>
__device__ bool is_number() {
    return std_::is_floating_point_v<T> || std_::is_integral_v<T>;
}

__global__ void numbers(unsigned* failures) {
    CHECK(std_::numeric_limits<float>::max() == 3.402823466e38f && std_::numeric_limits<int>::lowest() == -2147483647 - 1);
    CHECK(std_::numeric_limits<std_::uint16_t>::max() == 65535 && sizeof(std_::int64_t) == 8);
    CHECK(std_::popcount(0xf0f0u) == 8 && std_::countl_zero(1u) == 31 && std_::countr_zero(8u) == 3);
    CHECK(std_::bit_ceil(37u) == 64u && std_::has_single_bit(64u) && std_::bit_cast<unsigned>(1.0f) == 0x3f800000u);
    CHECK(std_::abs(-2.5f) == 2.5f && std_::sqrt(16.0f) == 4.0f && std_::isnan(std_::numeric_limits<float>::quiet_NaN()));
    CHECK(std_::max(3, 5) == 5 && std_::min(3, 5) == 3 && cuda::ceil_div(10, 4) == 3 && std_::gcd(12, 18) == 6);
    CHECK(is_number<float>() && !is_number<float*>());
    static_assert(std_::is_same_v<std_::common_type_t<int, float>, float>);
    static_assert(std_::is_same_v<std_::conditional_t<(sizeof(int) > 2), int, long>, int>);

    const std_::complex<float> a(3.0f, 4.0f), b(0.0f, 1.0f);
    const auto c = a * b + std_::complex<float>(1.0f);
    CHECK(c.real() == -3.0f && c.imag() == 3.0f && std_::abs(std_::abs(a) - 5.0f) < 1e-5f && std_::norm(a) == 25.0f);
    CHECK(std_::conj(a).imag() == -4.0f);
}

__global__ void views(unsigned* failures) {
    __shared__ float data[6 * 8];
    const int t = threadIdx.x;
    std_::span<float> all(data, 48);
    for (int i = t; i < (int)all.size(); i += 32) all[i] = (float)i;
    __syncthreads();
    std_::mdspan<float, std_::extents<int, 6, 8>> fixed(data);
    std_::mdspan<float, std_::dextents<int, 2>> shaped(data, 8, 6);
    CHECK(fixed(2, 3) == 19.0f && fixed.extent(1) == 8 && shaped(2, 3) == 15.0f && shaped.extent(0) == 8);
    float sum = 0;
    for (float x : all.subspan(t, 4)) sum += x;
    CHECK(sum == 4 * t + 6);
    std_::mdspan<float, std_::dextents<int, 2>, std_::layout_left> columns(data, 6, 8);
    CHECK(columns(2, 3) == 20.0f);
}

template <class F, class... Args>
__device__ auto apply(F&& f, Args&&... args) -> std_::invoke_result_t<F, Args...> {
    return std_::forward<F>(f)(std_::forward<Args>(args)...);
}

__device__ cuda::std::atomic<int> everybody{0};

__global__ void functions(unsigned* failures) {
    const int t = threadIdx.x;
    CHECK(apply([t](int x) { return x * t; }, 3) == 3 * t);
    CHECK(std_::plus<int>()(2, t) == t + 2 && std_::less<>()(1, 2.5f) && std_::multiplies<>()(2.0f, 4) == 8.0f);
    CHECK(std_::invoke(std_::minus<>(), 5, 3) == 2);
    int moved = 5;
    int taken = std_::exchange(moved, 7);
    CHECK(taken == 5 && moved == 7 && std_::move(moved) == 7);
    everybody.fetch_add(1);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> third(failures[2]);
    third.fetch_add(0, cuda::std::memory_order_relaxed);
}
