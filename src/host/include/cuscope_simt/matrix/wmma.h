// nvcuda::wmma: matrices spread over the lanes of a warp. CUDA does not specify which lane holds which
// elements. Here lane i has the i-th run of elements, row by row.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/groups/places.h"
#include "cuscope_simt/numbers/bf16.h"
#include "cuscope_simt/numbers/fp16.h"

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;

namespace precision {
struct tf32;
}

namespace cuscope {

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;

// The storage type of a fragment's elements.
template <class T>
struct Stored {
    using Type = T;
};
template <>
struct Stored<precision::tf32> {
    using Type = float;
};

// The documented combinations of shape and type of the operands.
template <class T, int m, int n, int k>
inline constexpr bool is_shape = is_same<T, precision::tf32> ? m == 16 && n == 16 && k == 8
                                 : is_same<T, double>
                                     ? m == 8 && n == 8 && k == 4
                                     : k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) ||
                                                   (m == 8 && n == 32));
template <class T>
inline constexpr bool is_operand =
    is_same<T, __half> || is_same<T, __nv_bfloat16> || is_same<T, signed char> || is_same<T, unsigned char> ||
    is_same<T, double> || is_same<T, precision::tf32>;
template <class T, int m, int n, int k>
inline constexpr bool is_result = is_same<T, float>
                                      ? is_shape<__half, m, n, k> || is_shape<precision::tf32, m, n, k>
                                  : is_same<T, double>
                                      ? is_shape<double, m, n, k>
                                      : (is_same<T, __half> || is_same<T, int>)&&is_shape<__half, m, n, k>;

template <class Use, class T, class Layout, int m, int n, int k>
struct Shape {
    static constexpr int rows = is_same<Use, matrix_b> ? k : m, columns = is_same<Use, matrix_a> ? k : n;
    static constexpr bool is_accumulator = is_same<Use, accumulator>;
    static constexpr bool is_column_major = is_same<Layout, col_major>;
    static_assert(is_accumulator || is_column_major || is_same<Layout, row_major>,
                  "a fragment of matrix_a or matrix_b is row_major or col_major");
    static_assert(!is_accumulator || is_same<Layout, void>, "an accumulator has no layout of its own");
    static_assert(is_accumulator || is_operand<T>,
                  "matrix_a and matrix_b are of __half, __nv_bfloat16, signed char, unsigned char, double or "
                  "precision::tf32");
    static_assert(
        is_accumulator ? is_result<T, m, n, k> : is_shape<T, m, n, k>,
        "no such shape for this type: 16x16x16, 32x8x16 and 8x32x16, for tf32 16x16x8, for double 8x8x4");
    static constexpr int count = rows * columns / 32;
};

// The value of an element for multiplication. Products and sums in the returned type are exact.
CUSCOPE_INLINE double number(__half x) { return ::cuscope_simt::wide(x); }
CUSCOPE_INLINE double number(__nv_bfloat16 x) { return ::cuscope_simt::wide(x); }
CUSCOPE_INLINE double number(double x) { return x; }
CUSCOPE_INLINE double number(float x) {  // tf32: ten bits behind the point
    return ::cuscope_simt::bit_copy<float>(::cuscope_simt::bit_copy<unsigned>(x) & 0xffffe000u);
}
CUSCOPE_INLINE long long number(signed char x) { return x; }
CUSCOPE_INLINE long long number(unsigned char x) { return x; }

CUSCOPE_INLINE double start(__half x) { return ::cuscope_simt::wide(x); }
CUSCOPE_INLINE double start(float x) { return x; }
CUSCOPE_INLINE double start(double x) { return x; }
CUSCOPE_INLINE long long start(int x) { return x; }

CUSCOPE_INLINE void finish(double sum, bool, __half& out) { out = ::cuscope_simt::narrow_half(sum); }
CUSCOPE_INLINE void finish(double sum, bool, float& out) { out = static_cast<float>(sum); }
CUSCOPE_INLINE void finish(double sum, bool, double& out) { out = sum; }
CUSCOPE_INLINE void finish(long long sum, bool saturate, int& out) {
    if (saturate) sum = sum > 0x7fffffff ? 0x7fffffff : sum < -0x7fffffffll - 1 ? -0x7fffffffll - 1 : sum;
    out = static_cast<int>(sum);
}

CUSCOPE_INLINE void meet(const char* file, int line, const char* operation) {
    const ::cuscope_simt::Site site{file, line, operation};
    ::cuscope_simt::rendezvous(::cuscope_simt::WarpKind::sync, 0xffffffffu, 0, 0, nullptr, &site);
}

}  // namespace cuscope

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  public:
    using cuscope_shape = cuscope::Shape<Use, T, Layout, m, n, k>;
    using element_type = T;
    using storage_element_type = typename cuscope::Stored<T>::Type;
    enum { num_elements = cuscope_shape::count, num_storage_elements = cuscope_shape::count };
    storage_element_type x[num_elements];
};

namespace cuscope {
// Calls act(element, offset in memory) for each element of this lane.
template <class Shape, class Element, class Do>
CUSCOPE_INLINE void each(Element* x, unsigned pitch, bool column_major, Do act) {
    const unsigned first = static_cast<unsigned>(::cuscope_simt::lane()) * Shape::count;
    // The fragment lies in memory, where other lanes read it, so an unrolled loop would only take longer to
    // compile. Times come from images that unroll as they always did.
#ifndef CUSCOPE_COUNTED
#pragma GCC unroll 1
#endif
    for (unsigned i = 0; i < Shape::count; ++i) {
        const unsigned row = (first + i) / Shape::columns, column = (first + i) % Shape::columns;
        act(x[i], column_major ? static_cast<decltype(sizeof(0))>(column) * pitch + row
                               : static_cast<decltype(sizeof(0))>(row) * pitch + column);
    }
}
}  // namespace cuscope

template <class Use, int m, int n, int k, class T, class Layout>
inline void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                          const typename cuscope::Stored<T>::Type& value) {
    for (auto& element : f.x) element = value;
}

template <class Use, int m, int n, int k, class T, class Layout>
inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f,
                             const typename cuscope::Stored<T>::Type* from, unsigned pitch, CUSCOPE_HERE) {
    using Shape = cuscope::Shape<Use, T, Layout, m, n, k>;
    static_assert(!Shape::is_accumulator,
                  "load_matrix_sync of an accumulator takes mem_row_major or mem_col_major");
    cuscope::meet(file, line, "load_matrix_sync");
    cuscope::each<Shape>(f.x, pitch, Shape::is_column_major,
                         [from](auto& element, auto at) { element = from[at]; });
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from, unsigned pitch,
                             layout_t layout, CUSCOPE_HERE) {
    cuscope::meet(file, line, "load_matrix_sync");
    cuscope::each<cuscope::Shape<accumulator, T, void, m, n, k>>(
        f.x, pitch, layout == mem_col_major, [from](auto& element, auto at) { element = from[at]; });
}
template <int m, int n, int k, class T>
inline void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f, unsigned pitch,
                              layout_t layout, CUSCOPE_HERE) {
    cuscope::meet(file, line, "store_matrix_sync");
    cuscope::each<cuscope::Shape<accumulator, T, void, m, n, k>>(
        f.x, pitch, layout == mem_col_major, [to](const auto& element, auto at) { to[at] = element; });
}

// d = a * b + c; each sum is rounded once. `saturate`: sums of integers saturate instead of wrapping.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
inline void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                     const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                     const fragment<accumulator, m, n, k, C>& c, bool saturate = false, CUSCOPE_HERE) {
    constexpr bool of_half = cuscope::is_same<T, __half>,
                   of_bytes = cuscope::is_same<T, signed char> || cuscope::is_same<T, unsigned char>;
    static_assert(of_half ? (cuscope::is_same<D, float> || cuscope::is_same<D, __half>)&&(
                                cuscope::is_same<C, float> || cuscope::is_same<C, __half>)
                          : cuscope::is_same<D, C>,
                  "mma_sync: the accumulators are of one type, or float and __half for operands of __half");
    static_assert(of_half || (of_bytes                      ? cuscope::is_same<D, int>
                              : cuscope::is_same<T, double> ? cuscope::is_same<D, double>
                                                            : cuscope::is_same<D, float>),
                  "mma_sync: bytes are summed in int, double in double, and everything else in float");
    using Element = typename cuscope::Stored<T>::Type;
    using ShapeA = cuscope::Shape<matrix_a, T, LayoutA, m, n, k>;
    using ShapeB = cuscope::Shape<matrix_b, T, LayoutB, m, n, k>;
    using ShapeD = cuscope::Shape<accumulator, D, void, m, n, k>;
    using Number = decltype(cuscope::number(Element()));
    const ::cuscope_simt::Site site{file, line, "mma_sync"};
    struct Operands {
        const Element *a, *b;
    } const mine{a.x, b.x};
    // The operands of all lanes stay in place until the lanes meet again.
    const auto* const table = reinterpret_cast<const unsigned long long*>(
        ::cuscope_simt::rendezvous(::cuscope_simt::WarpKind::gather, 0xffffffffu,
                                   reinterpret_cast<unsigned long long>(&mine), 0, nullptr, &site));
    const auto of = [table](int lane) { return reinterpret_cast<const Operands*>(table[lane]); };
    D result[ShapeD::count];
    const int first = ::cuscope_simt::lane() * ShapeD::count;
    for (int i = 0; i < ShapeD::count; ++i) {
        const int row = (first + i) / n, column = (first + i) % n;
        auto sum = static_cast<Number>(cuscope::start(c.x[i]));
        for (int j = 0; j < k; ++j) {
            const int at_a = row * k + j, at_b = j * n + column;
            const Number x = cuscope::number(of(at_a / ShapeA::count)->a[at_a % ShapeA::count]);
            const Number y = cuscope::number(of(at_b / ShapeB::count)->b[at_b % ShapeB::count]);
            if constexpr (cuscope::is_same<T, double>) {
                sum = __builtin_fma(x, y, sum);
            } else {
                sum += x * y;
            }
        }
        cuscope::finish(sum, saturate, result[i]);
    }
    ::cuscope_simt::rendezvous(::cuscope_simt::WarpKind::sync, 0xffffffffu, 0, 0, nullptr, &site);
    for (int i = 0; i < ShapeD::count; ++i) d.x[i] = result[i];
}

// The nearest number with ten bits behind the point; of two equally near, the one that is further from zero.
CUSCOPE_INLINE float __float_to_tf32(float x) {
    const unsigned bits = ::cuscope_simt::bit_copy<unsigned>(x);
    if ((bits & 0x7f800000u) == 0x7f800000u) return x;
    return ::cuscope_simt::bit_copy<float>((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace wmma
}  // namespace nvcuda
