// Copies elements with any strides and any type to a contiguous array of another type, converted like NumPy's
// astype() does.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../common/types.hpp"
#include "place.cuh"

using cuscope::kernels::Layout;
using cuscope::kernels::Type;

template <class Real>
struct Complex {
    Real real, imaginary;
};

// bool is a byte that is 0 or 1.
struct Bool {
    unsigned char value;
};

template <class To>
struct Convert {
    template <class From>
    static __device__ To from(From value) {
        return static_cast<To>(value);
    }
    template <class Real>
    static __device__ To from(Complex<Real> value) {
        return static_cast<To>(value.real);
    }
};
template <>
struct Convert<Bool> {
    template <class From>
    static __device__ Bool from(From value) {
        return {static_cast<unsigned char>(value != From(0))};
    }
    template <class Real>
    static __device__ Bool from(Complex<Real> value) {
        return {static_cast<unsigned char>(value.real != 0 || value.imaginary != 0)};
    }
};
// Through double, which holds every float exactly. So there is only one rounding.
template <>
struct Convert<__half> {
    template <class From>
    static __device__ __half from(From value) {
        return __double2half(static_cast<double>(value));
    }
    template <class Real>
    static __device__ __half from(Complex<Real> value) {
        return __double2half(static_cast<double>(value.real));
    }
};
template <>
struct Convert<__nv_bfloat16> {
    template <class From>
    static __device__ __nv_bfloat16 from(From value) {
        return __double2bfloat16(static_cast<double>(value));
    }
    template <class Real>
    static __device__ __nv_bfloat16 from(Complex<Real> value) {
        return __double2bfloat16(static_cast<double>(value.real));
    }
};
template <class Part>
struct Convert<Complex<Part>> {
    template <class From>
    static __device__ Complex<Part> from(From value) {
        return {static_cast<Part>(value), Part(0)};
    }
    template <class Real>
    static __device__ Complex<Part> from(Complex<Real> value) {
        return {static_cast<Part>(value.real), static_cast<Part>(value.imaginary)};
    }
};

template <class T>
__device__ T read(const char* address) {
    return *reinterpret_cast<const T*>(address);
}

template <class To>
__device__ To converted(const char* address, Type from) {
    switch (from) {
        case Type::boolean:
        case Type::uint8:
            return Convert<To>::from(read<unsigned char>(address));
        case Type::int8:
            return Convert<To>::from(read<signed char>(address));
        case Type::int16:
            return Convert<To>::from(read<short>(address));
        case Type::uint16:
            return Convert<To>::from(read<unsigned short>(address));
        case Type::int32:
            return Convert<To>::from(read<int>(address));
        case Type::uint32:
            return Convert<To>::from(read<unsigned>(address));
        case Type::int64:
            return Convert<To>::from(read<long long>(address));
        case Type::uint64:
            return Convert<To>::from(read<unsigned long long>(address));
        case Type::float16:
            return Convert<To>::from(__half2float(read<__half>(address)));
        case Type::bfloat16:
            return Convert<To>::from(__bfloat162float(read<__nv_bfloat16>(address)));
        case Type::float32:
            return Convert<To>::from(read<float>(address));
        case Type::float64:
            return Convert<To>::from(read<double>(address));
        case Type::complex64:
            return Convert<To>::from(read<Complex<float>>(address));
        case Type::complex128:
            break;
    }
    return Convert<To>::from(read<Complex<double>>(address));
}

template <class To>
__global__ void convert(const char* in, Type from, To* out, Layout layout, long long count) {
    using namespace cuscope::kernels;
    for (long long i = first_index(); i < count; i += index_step())
        out[i] = converted<To>(in + offset_of(layout, i), from);
}

template __global__ void convert<Bool>(const char*, Type, Bool*, Layout, long long);
template __global__ void convert<signed char>(const char*, Type, signed char*, Layout, long long);
template __global__ void convert<short>(const char*, Type, short*, Layout, long long);
template __global__ void convert<int>(const char*, Type, int*, Layout, long long);
template __global__ void convert<long long>(const char*, Type, long long*, Layout, long long);
template __global__ void convert<unsigned char>(const char*, Type, unsigned char*, Layout, long long);
template __global__ void convert<unsigned short>(const char*, Type, unsigned short*, Layout, long long);
template __global__ void convert<unsigned>(const char*, Type, unsigned*, Layout, long long);
template __global__ void convert<unsigned long long>(const char*, Type, unsigned long long*, Layout,
                                                     long long);
template __global__ void convert<__half>(const char*, Type, __half*, Layout, long long);
template __global__ void convert<__nv_bfloat16>(const char*, Type, __nv_bfloat16*, Layout, long long);
template __global__ void convert<float>(const char*, Type, float*, Layout, long long);
template __global__ void convert<double>(const char*, Type, double*, Layout, long long);
template __global__ void convert<Complex<float>>(const char*, Type, Complex<float>*, Layout, long long);
template __global__ void convert<Complex<double>>(const char*, Type, Complex<double>*, Layout, long long);
