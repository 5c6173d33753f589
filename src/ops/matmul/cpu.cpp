#include "ops/matmul/cpu.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <thread>
#include <type_traits>
#include <vector>

#include "ops/elements.hpp"
#include "ops/launch.hpp"
#include "ops/matmul/blas.hpp"

namespace cuscope::ops {
namespace {

using Operands = NativeProduct::Operands;

template <class T>
struct Matrices {
    const T *a, *b;
    T* c;
};

template <class T>
Matrices<T> matrices(const Operands& operands, int index) {
    const Problem& p = operands.problem;
    return {static_cast<const T*>(operands.a) + index * p.a_batch,
            static_cast<const T*>(operands.b) + index * p.b_batch,
            static_cast<T*>(operands.c) + index * p.c_batch};
}

// Computes rows [first, last) of C with one row of B after the other, so that memory is read contiguously.
template <class T, class Sum>
void multiply_rows(const Problem& p, const Matrices<T>& m, int first, int last) {
    std::vector<Sum> sums(static_cast<std::size_t>(p.n));
    for (int row = first; row < last; ++row) {
        std::fill(sums.begin(), sums.end(), Sum(0));
        for (int i = 0; i < p.k; ++i) {
            const auto factor = static_cast<Sum>(m.a[row * p.a_row + i]);
            const T* const line = m.b + i * p.b_row;
            for (int column = 0; column < p.n; ++column) {
                if constexpr (std::is_same_v<T, bool>) {
                    sums[static_cast<std::size_t>(column)] |= static_cast<Sum>(factor & line[column]);
                } else {
                    sums[static_cast<std::size_t>(column)] += factor * static_cast<Sum>(line[column]);
                }
            }
        }
        for (int column = 0; column < p.n; ++column) {
            if constexpr (is_small_float<T>) {
                m.c[row * p.c_row + column] = T::from(sums[static_cast<std::size_t>(column)]);
            } else {
                m.c[row * p.c_row + column] = static_cast<T>(sums[static_cast<std::size_t>(column)]);
            }
        }
    }
}

// Computes one block's share of the rows of all matrices.
template <class T, class Sum>
void multiply_share(const Operands& operands, unsigned block, unsigned blocks) {
    const std::int64_t rows = std::int64_t{operands.problem.m} * operands.batch;
    std::int64_t row = rows * block / blocks;
    const std::int64_t end = rows * (block + 1) / blocks;
    while (row < end) {
        const std::int64_t index = row / operands.problem.m, first = row % operands.problem.m;
        const std::int64_t last = std::min<std::int64_t>(operands.problem.m, first + end - row);
        multiply_rows<T, Sum>(operands.problem, matrices<T>(operands, static_cast<int>(index)),
                              static_cast<int>(first), static_cast<int>(last));
        row += last - first;
    }
}

template <class T>
void multiply_by_blas(const Operands& operands, unsigned, unsigned) {
    const Problem& p = operands.problem;
    for (int i = 0; i < operands.batch; ++i) {
        const Matrices<T> m = matrices<T>(operands, i);
        Blas::of_process().multiply({p.m, p.n, p.k, p.a_row, p.b_row, p.c_row}, m.a, m.b, m.c);
    }
}

// For small floats: computes in float, which represents every element exactly and rounds the sums less.
template <class T>
void multiply_widened(const Operands& operands, unsigned, unsigned) {
    const Problem& p = operands.problem;
    const auto size = [](int rows, int columns) {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    };
    const auto widen = [](const T* from, std::int64_t distance, int rows, int columns,
                          std::vector<float>& to) {
        for (int row = 0; row < rows; ++row)
            std::transform(from + row * distance, from + row * distance + columns,
                           to.begin() + std::int64_t{row} * columns,
                           [](T value) { return static_cast<float>(value); });
    };
    std::vector<float> a(size(p.m, p.k)), b(size(p.k, p.n)), c(size(p.m, p.n));
    for (int i = 0; i < operands.batch; ++i) {
        const Matrices<T> m = matrices<T>(operands, i);
        widen(m.a, p.a_row, p.m, p.k, a);
        widen(m.b, p.b_row, p.k, p.n, b);
        Blas::of_process().multiply({p.m, p.n, p.k, p.k, p.n, p.n}, a.data(), b.data(), c.data());
        for (int row = 0; row < p.m; ++row)
            std::transform(c.begin() + std::int64_t{row} * p.n, c.begin() + std::int64_t{row + 1} * p.n,
                           m.c + row * p.c_row, [](float value) { return T::from(value); });
    }
}

template <class T>
NativeProduct way_of() {
    const bool blas = Blas::of_process().found();
    if constexpr (std::is_same_v<T, bool>) {
        return {multiply_share<bool, unsigned char>, true};
    } else if constexpr (std::is_integral_v<T>) {  // the bits of a product are the same with and without
                                                   // signs
        using Unsigned = std::make_unsigned_t<T>;
        return {multiply_share<Unsigned, std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>,
                true};
    } else if constexpr (is_small_float<T>) {
        if (blas) return {multiply_widened<T>, false};
        return {multiply_share<T, float>, true};
    } else {
        if (blas) return {multiply_by_blas<T>, false};
        return {multiply_share<T, T>, true};
    }
}

}  // namespace

NativeProduct NativeProduct::of(Type type) {
    return with_element(type, [](auto element) { return way_of<typename decltype(element)::type>(); });
}

unsigned NativeProduct::blocks(const Problem& problem, int batch) const {
    if (!shared) return 1;
    const std::int64_t rows = std::int64_t{problem.m} * batch;
    return static_cast<unsigned>(
        std::clamp<std::int64_t>(rows, 1, 4 * std::max(1U, std::thread::hardware_concurrency())));
}

}  // namespace cuscope::ops
