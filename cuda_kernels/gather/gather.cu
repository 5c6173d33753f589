// Copies elements with any strides to a contiguous array. Elements of the same size are copied in the same
// way, whatever their type.
#include "place.cuh"

using cuscope::kernels::Layout;

template <class Element>
__global__ void gather(const char* in, Element* out, Layout layout, long long count) {
    using namespace cuscope::kernels;
    for (long long i = first_index(); i < count; i += index_step())
        out[i] = *reinterpret_cast<const Element*>(in + offset_of(layout, i));
}

template __global__ void gather<unsigned char>(const char*, unsigned char*, Layout, long long);
template __global__ void gather<unsigned short>(const char*, unsigned short*, Layout, long long);
template __global__ void gather<unsigned int>(const char*, unsigned int*, Layout, long long);
template __global__ void gather<unsigned long long>(const char*, unsigned long long*, Layout, long long);
template __global__ void gather<Pair>(const char*, Pair*, Layout, long long);
