#include "ops/matmul/cpu.hpp"

#include <algorithm>
#include <complex>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

#include "ops/elements.hpp"
#include "ops/launch.hpp"
#include "ops/matmul/blas.hpp"

namespace cuscope::ops {
namespace {

using Operands = NativeProduct::Operands;

template <class Factor, class T>
struct Matrices {
    const Factor *a, *b;
    T* c;
};

template <class Factor, class T>
Matrices<Factor, T> matrices(const Operands& operands, int index) {
    const Problem& p = operands.problem;
    return {static_cast<const Factor*>(operands.a) + index * p.a_batch,
            static_cast<const Factor*>(operands.b) + index * p.b_batch,
            static_cast<T*>(operands.c) + index * p.c_batch};
}

// A sum as an element of C.
template <class T, class Sum>
T rounded(Sum sum) {
    if constexpr (is_small_float<T>) {
        return T::from(sum);
    } else {
        return static_cast<T>(sum);
    }
}

// Computes rows [first, last) of C. Memory is read contiguously if B lies in rows or in columns.
template <class Factor, class T, class Sum>
void multiply_rows(const Operands& operands, const Matrices<Factor, T>& m, int first, int last) {
    const Problem& p = operands.problem;
    const auto add = [](Sum& sum, Sum factor, Factor other) {
        if constexpr (std::is_same_v<T, bool>) {
            sum |= static_cast<Sum>(factor & other);
        } else {
            sum += factor * static_cast<Sum>(other);
        }
    };
    std::vector<Sum> factors(static_cast<std::size_t>(p.k)), sums(static_cast<std::size_t>(p.n));
    for (int row = first; row < last; ++row) {
        const Factor* of_a = m.a + row * p.a_row;
        for (Sum& factor : factors) factor = static_cast<Sum>(*of_a), of_a += p.a_column;
        std::fill(sums.begin(), sums.end(), Sum(0));
        if (operands.b_column == 1) {
            const Factor* line = m.b;
            for (const Sum factor : factors) {
                for (int column = 0; column < p.n; ++column)
                    add(sums[static_cast<std::size_t>(column)], factor, line[column]);
                line += p.b_row;
            }
        } else {
            for (int column = 0; column < p.n; ++column) {
                const Factor* of_b = m.b + column * operands.b_column;
                for (const Sum factor : factors)
                    add(sums[static_cast<std::size_t>(column)], factor, *of_b), of_b += p.b_row;
            }
        }
        std::transform(sums.begin(), sums.end(), m.c + row * p.c_row, rounded<T, Sum>);
    }
}

// Computes one block's share of the rows of all matrices.
template <class Factor, class T, class Sum>
void multiply_share(const Operands& operands, unsigned block, unsigned blocks) {
    const std::int64_t rows = std::int64_t{operands.problem.m} * operands.batch;
    std::int64_t row = rows * block / blocks;
    const std::int64_t end = rows * (block + 1) / blocks;
    while (row < end) {
        const std::int64_t index = row / operands.problem.m, first = row % operands.problem.m;
        const std::int64_t last = std::min<std::int64_t>(operands.problem.m, first + end - row);
        multiply_rows<Factor, T, Sum>(operands, matrices<Factor, T>(operands, static_cast<int>(index)),
                                      static_cast<int>(first), static_cast<int>(last));
        row += last - first;
    }
}

// A matrix as a BLAS takes it, in rows of type T: where it lies, or a copy. A BLAS also takes transposed
// matrices, but may then sum in another order.
template <class T>
class Rows {
  public:
    template <class Factor>
    Rows(const Factor* matrix, int rows, int columns, std::int64_t row, std::int64_t column) {
        if constexpr (std::is_same_v<Factor, T>) {
            first_ = matrix;
            distance_ = row;
            // A BLAS takes no rows that overlap, are repeated or lie in reverse.
            if (column == 1 && (rows == 1 || row >= columns)) return;
        }
        copy_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(rows) *
                                                    static_cast<std::size_t>(columns));
        first_ = copy_.get();
        distance_ = columns;
        if (column == 1) {
            for (int i = 0; i < rows; ++i)
                std::transform(matrix + i * row, matrix + i * row + columns, copy_.get() + i * distance_,
                               [](Factor factor) { return static_cast<T>(factor); });
            return;
        }
        const auto part = [](std::int64_t left) {
            return static_cast<int>(std::min<std::int64_t>(tile, left));
        };
        for (std::int64_t top = 0; top < rows; top += tile)
            for (std::int64_t left = 0; left < columns; left += tile)
                copy(matrix + top * row + left * column, part(rows - top), part(columns - left), row, column,
                     copy_.get() + top * distance_ + left);
    }

    const T* first() const { return first_; }
    std::int64_t distance() const { return distance_; }

  private:
    static constexpr int tile = 32;

    // Reads and writes each line of memory as a whole, because the cache does not hold the lines of a long
    // column.
    template <class Factor>
    void copy(const Factor* from, int rows, int columns, std::int64_t row, std::int64_t column, T* to) {
        T part[tile][tile];
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) part[i][j] = static_cast<T>(from[i * row + j * column]);
        for (int i = 0; i < rows; ++i) std::copy_n(part[i], columns, to + i * distance_);
    }

    std::unique_ptr<T[]> copy_;
    const T* first_ = nullptr;
    std::int64_t distance_ = 0;
};

// Small floats are multiplied as floats, which represent every element exactly and round the sums less.
template <class Factor, class T>
void multiply_by_blas(const Operands& operands, unsigned, unsigned) {
    using Sum = std::conditional_t<is_small_float<Factor>, float, Factor>;
    const Problem& p = operands.problem;
    std::vector<Sum> sums;
    if constexpr (!std::is_same_v<T, Sum>)
        sums.resize(static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n));
    std::optional<Rows<Sum>> a, b;  // kept if the next product of the batch has the same matrix
    for (int i = 0; i < operands.batch; ++i) {
        const Matrices<Factor, T> m = matrices<Factor, T>(operands, i);
        if (!a || p.a_batch != 0) a.emplace(m.a, p.m, p.k, p.a_row, p.a_column);
        if (!b || p.b_batch != 0) b.emplace(m.b, p.k, p.n, p.b_row, operands.b_column);
        const auto multiply = [&](Sum* c, std::int64_t c_row) {
            Blas::of_process().multiply({p.m, p.n, p.k, a->distance(), b->distance(), c_row}, a->first(),
                                        b->first(), c);
        };
        if constexpr (std::is_same_v<T, Sum>) {
            multiply(m.c, p.c_row);
        } else {
            multiply(sums.data(), p.n);
            for (int row = 0; row < p.m; ++row)
                std::transform(sums.begin() + std::int64_t{row} * p.n,
                               sums.begin() + std::int64_t{row + 1} * p.n, m.c + row * p.c_row,
                               rounded<T, Sum>);
        }
    }
}

template <class Factor, class T>
NativeProduct way_of() {
    if constexpr (std::is_same_v<T, bool>) {
        return {multiply_share<bool, bool, unsigned char>, true};
    } else if constexpr (std::is_integral_v<T>) {  // the bits of a product are the same with and without
                                                   // signs
        using Unsigned = std::make_unsigned_t<T>;
        using Sum = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
        return {multiply_share<Unsigned, Unsigned, Sum>, true};
    } else {
        using Sum = std::conditional_t<is_small_float<Factor>, float, Factor>;
        if (Blas::of_process().found()) return {multiply_by_blas<Factor, T>, false};
        return {multiply_share<Factor, T, Sum>, true};
    }
}

}  // namespace

NativeProduct NativeProduct::of(Type factors, Type product, std::int64_t b_column) {
    NativeProduct made = with_element(product, [&](auto of_product) {
        using T = typename decltype(of_product)::type;
        return with_element(factors, [](auto of_factors) -> NativeProduct {
            using Factor = typename decltype(of_factors)::type;
            constexpr bool widens = is_small_float<Factor> && (is_small_float<T> || std::is_same_v<T, float>);
            if constexpr (std::is_same_v<Factor, T> || widens) return way_of<Factor, T>();
            throw std::logic_error("a product of a type for which there is no function");
        });
    });
    made.b_column = b_column;
    return made;
}

unsigned NativeProduct::blocks(const Problem& problem, int batch) const {
    if (!shared) return 1;
    const std::int64_t rows = std::int64_t{problem.m} * batch;
    return static_cast<unsigned>(
        std::clamp<std::int64_t>(rows, 1, 4 * std::max(1U, std::thread::hardware_concurrency())));
}

}  // namespace cuscope::ops
