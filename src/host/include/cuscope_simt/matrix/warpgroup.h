// wgmma.mma_async of a warpgroup. Each thread computes its own sums from shared memory when it comes to the
// instruction: the program has passed a barrier after the stores of both factors.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/ptx.h"

namespace cuscope_simt {
namespace ptx {

// A matrix in shared memory, as a descriptor of PTX says. Only the layout of rows of 128 bytes is known here,
// whose chunks of 16 bytes are permuted.
class DescribedMatrix {
  public:
    explicit DescribedMatrix(unsigned long long descriptor)
        : start_(static_cast<unsigned>(descriptor & 0x3fffu) * 16),
          leading_(static_cast<unsigned>(descriptor >> 16 & 0x3fffu) * 16),
          stride_(static_cast<unsigned>(descriptor >> 32 & 0x3fffu) * 16) {
        if (descriptor >> 62 != 1)
            fault(Fault::unsupported, "wgmma: the executor knows matrices with 128-byte swizzling only",
                  nullptr);
        // A descriptor has 18 bits of an address. They tell an offset, but not which shared memory it is in.
        const ::cuscope_simt::Fiber& fiber = *cuscope_fiber;
        base_ = start_ < fiber.dynamic_shared_bytes ? dynamic_start : 0;
    }

    // The element in row `outer` of A (column of B) and column `inner` of A (row of B), of two bytes.
    // transposed: the outer elements are the neighbours in memory.
    template <bool transposed>
    unsigned short element(unsigned outer, unsigned inner) const {
        const unsigned offset =
            transposed ? outer / 64 * leading_ + inner / 8 * stride_ + inner % 8 * 128 + outer % 64 * 2
                       : outer / 8 * stride_ + outer % 8 * 128 + inner * 2;
        const unsigned at = start_ + offset;
        unsigned short bits;
        __builtin_memcpy(&bits, shared_at(base_ + (at ^ (at >> 7 & 7u) << 4), 0), 2);
        return bits;
    }

  private:
    unsigned start_, leading_, stride_;
    unsigned long long base_ = 0;
};

// d = a * b + d (or a * b, if `adds` is 0) for 64 x 16 times 16 x n. Each sum is rounded once.
template <int n, class Element, bool transposed_a, bool transposed_b>
inline void wgmma(float (&d)[n / 2], unsigned long long of_a, unsigned long long of_b, int adds, int sign_a,
                  int sign_b) {
    const DescribedMatrix a(of_a), b(of_b);
    const unsigned warp = cuscope_fiber->linear_thread / 32 % 4, group = static_cast<unsigned>(lane()) >> 2,
                   pair = (static_cast<unsigned>(lane()) & 3u) * 2;
    double rows[2][16];
    for (unsigned half = 0; half < 2; ++half)
        for (unsigned k = 0; k < 16; ++k)
            rows[half][k] =
                sign_a * sign_b * Element::get(a.element<transposed_a>(warp * 16 + group + 8 * half, k), 0);
    for (unsigned column = 0; column < n / 4; ++column) {
        double factors[16];
        const unsigned at = column / 2 * 8 + pair + column % 2;
        for (unsigned k = 0; k < 16; ++k) factors[k] = Element::get(b.element<transposed_b>(at, k), 0);
        for (unsigned half = 0; half < 2; ++half) {
            float& to = d[column / 2 * 4 + half * 2 + column % 2];
            double sum = adds != 0 ? static_cast<double>(to) : 0.0;
            for (unsigned k = 0; k < 16; ++k) sum += rows[half][k] * factors[k];
            to = static_cast<float>(sum);
        }
    }
}

}  // namespace ptx
}  // namespace cuscope_simt
