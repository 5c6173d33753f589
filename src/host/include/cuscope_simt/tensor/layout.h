// Data of kernels that the runtime knows as well: tensor maps and barriers in shared memory.
#pragma once

namespace cuscope_simt {

// The 128 bytes of a CUtensorMap of a simulated device. The runtime writes them, and kernels read them.
struct TensorMapLayout {
    static constexpr unsigned long long right_mark = 0x70616d20726f736eull;

    unsigned long long mark;  // right_mark; anything else is no tensor map
    unsigned long long address;
    unsigned long long strides[5];               // bytes; axis 0 is the innermost one
    unsigned extents_less_1[5];                  // elements
    unsigned short box[5];                       // elements
    unsigned char element_strides[5];            // 1 for axis 0, where the hardware knows no other
    unsigned char rank, element_bytes, swizzle;  // swizzle: CUtensorMapSwizzle
    unsigned char fills_with_nan, rounds_to_tf32;
};
static_assert(sizeof(TensorMapLayout) <= 128);

namespace tensor {

// The fields of a barrier in shared memory (mbarrier), which is one word.
struct Mbarrier {
    unsigned phase;     // modulo 8
    unsigned expected;  // arrivals of a phase
    int bytes;          // announced and not yet copied; negative if a copy came before its announcement
    unsigned pending;   // arrivals that the phase still waits for

    static constexpr unsigned most_arrivals = (1u << 20) - 1;
    static constexpr int most_bytes = (1 << 20) - 1;

    static constexpr Mbarrier of(unsigned long long word) {
        return {static_cast<unsigned>(word & 7u), static_cast<unsigned>(word >> 3 & most_arrivals),
                static_cast<int>(static_cast<unsigned>(word >> 23) << 11) >> 11,
                static_cast<unsigned>(word >> 44)};
    }
    constexpr unsigned long long word() const {
        return (phase & 7u) | static_cast<unsigned long long>(expected) << 3 |
               (static_cast<unsigned long long>(bytes) & 0x1fffffu) << 23 |
               static_cast<unsigned long long>(pending) << 44;
    }
};

}  // namespace tensor
}  // namespace cuscope_simt
