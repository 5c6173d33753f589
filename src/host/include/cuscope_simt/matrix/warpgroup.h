// wgmma.mma_async of a warpgroup. Each thread computes its own sums from shared memory when it comes to the
// instruction: the program has passed a barrier after the stores of both factors.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/numbers/format8.h"
#include "cuscope_simt/ptx.h"

namespace cuscope_simt {
namespace ptx {

// The elements of 8 bits in one register: see Half in ptx.h.
template <class Format>
struct Float8 {
    static constexpr int count = 4;
    static CUSCOPE_INLINE double get(unsigned word, int i) {
        return static_cast<double>(Format::widen(static_cast<unsigned char>(word >> 8 * i)));
    }
};

// A matrix in shared memory, as a descriptor of PTX says. Only the layout of rows of 128 bytes is known here,
// whose chunks of 16 bytes are permuted.
class DescribedMatrix {
  public:
    DescribedMatrix(unsigned long long descriptor, bool transposed)
        : start_(static_cast<unsigned>(descriptor & 0x3fffu) * 16),
          leading_(static_cast<unsigned>(descriptor >> 16 & 0x3fffu) * 16),
          stride_(static_cast<unsigned>(descriptor >> 32 & 0x3fffu) * 16),
          transposed_(transposed) {
        if (descriptor >> 62 != 1)
            fault(Fault::unsupported, "wgmma: the executor knows matrices with 128-byte swizzling only",
                  nullptr);
        // A descriptor has 18 bits of an address. They tell an offset, but not which shared memory it is in.
        const ::cuscope_simt::Fiber& fiber = *cuscope_fiber;
        base_ = start_ < fiber.dynamic_shared_bytes ? dynamic_start : 0;
    }

    // The element in row `outer` of A (column of B) and column `inner` of A (row of B). Only elements of two
    // bytes may be transposed: then the outer elements are the neighbours in memory.
    template <class Element>
    CUSCOPE_INLINE auto element(unsigned outer, unsigned inner) const {
        constexpr unsigned bytes = 4 / Element::count;
        const unsigned offset =
            transposed_ ? outer / 64 * leading_ + inner / 8 * stride_ + inner % 8 * 128 + outer % 64 * 2
                        : outer / 8 * stride_ + outer % 8 * 128 + inner * bytes;
        const unsigned at = start_ + offset;
        unsigned bits = 0;
        __builtin_memcpy(&bits, shared_at(base_ + (at ^ (at >> 7 & 7u) << 4), 0), bytes);
        return Element::get(bits, 0);
    }

  private:
    unsigned start_, leading_, stride_;
    bool transposed_;
    unsigned long long base_ = 0;
};

// A in the registers of the lanes, four in each. Each warp has 16 rows.
class RegisterMatrix {
  public:
    RegisterMatrix(const unsigned (&registers)[4], const Site& site)
        : table_(reinterpret_cast<const unsigned long long*>(
              rendezvous(WarpKind::gather, 0xffffffffu, reinterpret_cast<unsigned long long>(&registers), 0,
                         nullptr, &site))) {}
    // All lanes have read; the registers may change.
    static void release(const Site& site) { rendezvous(WarpKind::sync, 0xffffffffu, 0, 0, nullptr, &site); }

    template <class Element>
    CUSCOPE_INLINE auto element(unsigned outer, unsigned inner) const {
        constexpr unsigned count = Element::count;
        const auto* const registers =
            reinterpret_cast<const unsigned*>(table_[outer % 8 * 4 + inner / count % 4]);
        return Element::get(registers[outer / 8 % 2 + 2 * (inner / (4 * count))],
                            static_cast<int>(inner % count));
    }

  private:
    const unsigned long long* table_;
};

// d = a * b + d (or a * b, if not `adds`) for 64 x k times k x n. Each sum of floats is rounded once.
template <int n, int k, class ElementA, class ElementB, class Sum, class MatrixA>
inline void wgmma(Sum (&d)[n / 2], const MatrixA& a, const DescribedMatrix& b, bool adds, int sign) {
    using Number = decltype(ElementA::get(0, 0));
    const unsigned warp = cuscope_fiber->linear_thread / 32 % 4, group = static_cast<unsigned>(lane()) >> 2,
                   pair = (static_cast<unsigned>(lane()) & 3u) * 2;
    Number rows[2][k];
    for (unsigned half = 0; half < 2; ++half)
        for (unsigned j = 0; j < k; ++j)
            rows[half][j] = sign * a.template element<ElementA>(warp * 16 + group + 8 * half, j);
    for (unsigned column = 0; column < n / 4; ++column) {
        Number factors[k];
        const unsigned at = column / 2 * 8 + pair + column % 2;
        for (unsigned j = 0; j < k; ++j) factors[j] = b.element<ElementB>(at, j);
        for (unsigned half = 0; half < 2; ++half) {
            Sum& to = d[column / 2 * 4 + half * 2 + column % 2];
            Number sum = adds ? static_cast<Number>(to) : Number{};
            for (unsigned j = 0; j < k; ++j) sum += rows[half][j] * factors[j];
            to = static_cast<Sum>(sum);
        }
    }
}

}  // namespace ptx
}  // namespace cuscope_simt
