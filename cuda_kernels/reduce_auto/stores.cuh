// Stores results. The kernels' argument `kind` tells the type of the output's elements.
//
// with_real, with_integer and with_complex choose the type once for all results of a thread, and call a
// function with a pointer of that type. If each result chose for itself, storing eight results of a sum of
// two halves would take longer than loading them.
#pragma once

#include "accumulate.cuh"

template <class T>
constexpr bool is_real_output = is_small_float<T>;
template <>
constexpr bool is_real_output<float> = true;
template <>
constexpr bool is_real_output<double> = true;

__device__ inline void round_to(float& to, double value) { to = static_cast<float>(value); }
__device__ inline void round_to(double& to, double value) { to = value; }

// Divides by the number of elements, for a mean, or by 1. A thread divides once, and multiplies for each
// result.
class Divisor {
    double divisor, reciprocal;

  public:
    // For a plain sum, the last thread need not wait for a division.
    __device__ explicit Divisor(double divisor)
        : divisor(divisor), reciprocal(divisor == 1 ? 1 : 1 / divisor) {}

    // sum / divisor, with the same bits: the remainder of the division corrects the last bit of the quotient.
    // The divisor is an integer below 2^50, so the remainder is exact. Only a subnormal quotient may be
    // wrong, and sums of floats and of integers are never that small.
    __device__ double divide(double sum) const {
        const double quotient = sum * reciprocal, left = fma(-quotient, divisor, sum);
        return left - left == 0 ? fma(left, reciprocal, quotient) : quotient;  // else it is infinite, or NaN
    }
    __device__ double divide(Twofold<float> sum) const { return divide(total(sum)); }
    __device__ double divide(Twofold<double> sum) const {
        const double all = total(sum);
        return fabs(all) > 0x1p-900 || all == 0 ? divide(all) : all / divisor;
    }
};

template <class Use>
__device__ void with_real(void* out, int kind, Use use) {
    using cuscope::kernels::Type;
    switch (static_cast<Type>(kind)) {
#define CUSCOPE_OUTPUT(id, name, bytes, kind, cuda, exponent, fraction, dlpack) \
    case Type::id:                                                              \
        return use(static_cast<cuda*>(out));
        CUSCOPE_SMALL_FLOATS(CUSCOPE_OUTPUT)
#undef CUSCOPE_OUTPUT
        case Type::float32:
            return use(static_cast<float*>(out));
        default:
            return use(static_cast<double*>(out));
    }
}

// An integer or a real type.
template <class Use>
__device__ void with_integer(void* out, int kind, Use use) {
    using cuscope::kernels::Type;
    switch (static_cast<Type>(kind)) {
        case Type::int8:
        case Type::uint8:
            return use(static_cast<signed char*>(out));
        case Type::int16:
        case Type::uint16:
            return use(static_cast<short*>(out));
        case Type::int32:
        case Type::uint32:
            return use(static_cast<int*>(out));
        case Type::int64:
        case Type::uint64:
            return use(static_cast<long long*>(out));
        case Type::boolean:
            return use(static_cast<bool*>(out));
        default:
            return with_real(out, kind, use);
    }
}

template <class Use>
__device__ void with_complex(void* out, int kind, Use use) {
    if (static_cast<cuscope::kernels::Type>(kind) == cuscope::kernels::Type::complex64)
        return use(static_cast<Complex<float>*>(out));
    return use(static_cast<Complex<double>*>(out));
}

// `value` modulo an integer type, or the quotient in a real type.
template <class T>
__device__ void set_integer(T& to, long long value, const Divisor& divisor) {
    if constexpr (is_real_output<T>)
        round_to(to, divisor.divide(static_cast<double>(value)));
    else
        to = static_cast<T>(value);
}
__device__ inline void set_integer(bool& to, long long value, const Divisor&) { to = value != 0; }

template <class R>
__device__ void set_complex(Complex<R>& to, double re, double im) {
    to = {static_cast<R>(re), static_cast<R>(im)};
}

// Neighbouring elements of the output.
template <class T, int count>
struct Row {
    T elements[count];

    __device__ T& operator[](int i) { return elements[i]; }

    // Stores 16 bytes at a time, or all elements at once if they have 8 or 4 bytes. If the address is no
    // multiple of that, it stores one element after the other.
    __device__ void store(T* to) const {
        constexpr int bytes = sizeof elements;
        constexpr int at_once = bytes % 16 == 0 ? 16 : bytes == 8 || bytes == 4 ? bytes : 0;
        if constexpr (sizeof(T) < at_once) {
            if (reinterpret_cast<unsigned long long>(to) % at_once == 0) {
                if constexpr (at_once == 16)
                    store_as<uint4>(to);
                else if constexpr (at_once == 8)
                    store_as<uint2>(to);
                else
                    store_as<unsigned>(to);
                return;
            }
        }
#pragma unroll
        for (int i = 0; i < count; ++i) to[i] = elements[i];
    }

  private:
    template <class Vector>
    __device__ void store_as(T* to) const {
        constexpr int vectors = sizeof elements / sizeof(Vector);
        Vector words[vectors];
        memcpy(words, elements, sizeof elements);
#pragma unroll
        for (int i = 0; i < vectors; ++i) reinterpret_cast<Vector*>(to)[i] = words[i];
    }
};

template <int count, class T>
__device__ Row<T, count> row_of(const T*) {
    return {};
}
