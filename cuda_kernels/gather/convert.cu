// Copies elements with any strides and any type to a contiguous array of another type, converted like NumPy's
// astype() does.
#include "../common/small_floats.cuh"
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
        if constexpr (is_small_float<To>) {
            To to;
            round_to(to, static_cast<double>(value));  // double holds every float: there is only one rounding
            return to;
        } else {
            return static_cast<To>(value);
        }
    }
    template <class Real>
    static __device__ To from(Complex<Real> value) {
        return from(value.real);
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
#define CUSCOPE_READ(id, name, bytes, kind, cuda, exponent, fraction, dlpack) \
    case Type::id:                                                            \
        return Convert<To>::from(read<cuda>(address));
#define CUSCOPE_READ_SMALL(id, name, bytes, kind, cuda, exponent, fraction, dlpack) \
    case Type::id:                                                                  \
        return Convert<To>::from(widened(read<cuda>(address)));
        CUSCOPE_SMALL_FLOATS(CUSCOPE_READ_SMALL)
        CUSCOPE_WIDE_FLOATS(CUSCOPE_READ)
        CUSCOPE_SIGNED_INTEGERS(CUSCOPE_READ)
        case Type::boolean:
            CUSCOPE_UNSIGNED_INTEGERS(CUSCOPE_READ)
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

#define CUSCOPE_INSTANCE(id, name, bytes, kind, cuda, exponent, fraction, dlpack) \
    template __global__ void convert<cuda>(const char*, Type, cuda*, Layout, long long);
CUSCOPE_ELEMENT_TYPES(CUSCOPE_INSTANCE)
