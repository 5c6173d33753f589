// What a tensor map of a simulated device holds in the 128 bytes of a CUtensorMap. The runtime writes it, and
// kernels read it.
#pragma once

namespace cuscope_simt {

struct TensorMapLayout {
    static constexpr unsigned long long right_mark = 0x70616d20726f736eull;

    unsigned long long mark;  // right_mark; anything else is no tensor map
    unsigned long long address;
    unsigned long long strides[5];               // bytes; axis 0 is the innermost one
    unsigned extents_less_1[5];                  // elements
    unsigned short box[5];                       // elements
    unsigned char element_strides[5];            // 1 for axis 0, where the hardware knows no other
    unsigned char rank, element_bytes, swizzle;  // swizzle: CUtensorMapSwizzle
    unsigned char fills_with_nan;
};
static_assert(sizeof(TensorMapLayout) <= 128);

}  // namespace cuscope_simt
