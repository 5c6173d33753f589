#include "cuda/nvrtc/headers.hpp"

#include <initializer_list>

#include "cuda/nvrtc/host_headers.hpp"

namespace cuscope::cuda::nvrtc {
namespace {

// Types that libcu++ defines come from libcu++, so that a program may include both. The fallbacks, for an
// NVRTC without the toolkit's headers, define the same types. `extern "C++"`: sources include C headers
// within the braces of an `extern "C"`, where a template may not be declared.
constexpr const char* integers = R"(#pragma once
extern "C++" {
#if __has_include(<cuda/std/cstdint>)
#include <cuda/std/cstdint>
#else
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
#define INT8_MIN SCHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LLONG_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT32_MAX INT_MAX
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#include <limits.h>
#endif
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
}
)";

constexpr const char* limits = R"(#pragma once
extern "C++" {
#if __has_include(<cuda/std/climits>)
#include <cuda/std/climits>
#else
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
#endif
}
)";

constexpr const char* floats = R"(#pragma once
#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.19209289550781250e-7f
#define FLT_MIN 1.17549435082228751e-38f
#define FLT_MAX 3.40282346638528860e+38f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#endif
)";

constexpr const char* mathematics = R"(#pragma once
#ifndef INFINITY
#define INFINITY (__int_as_float(0x7f800000))
#define NAN (__int_as_float(0x7fffffff))
#define HUGE_VALF INFINITY
#define HUGE_VAL (__longlong_as_double(0x7ff0000000000000ll))
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
extern "C++" {
namespace std {
using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::pow; using ::exp; using ::exp2; using ::expm1;
using ::log; using ::log2; using ::log10; using ::log1p; using ::sin; using ::cos; using ::tan; using ::asin;
using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::floor; using ::ceil;
using ::round; using ::trunc; using ::fmod; using ::fmin; using ::fmax; using ::fma; using ::hypot; using ::erf;
using ::isnan; using ::isinf; using ::isfinite;
}
}
)";

// Built in with nvcc.
constexpr const char* dependent_launches = R"(#pragma once
static __device__ __forceinline__ void cudaGridDependencySynchronize() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
)";

constexpr const char* conditional_nodes = R"(#pragma once
extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
)";

// With nvcc this comes from the device runtime's header. The driver resolves the function when the image is
// loaded.
constexpr const char* device_graphs = R"(#pragma once
#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)
extern "C" __device__ cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
static __device__ __forceinline__ cudaGraphExec_t cudaGetCurrentGraphExec() {
    unsigned long long exec;
    asm("mov.u64 %0, %%current_graph_exec;" : "=l"(exec));
    return (cudaGraphExec_t)exec;
}
)";

// With nvcc these functions and names come from the headers of the runtime and of the host's C library.
constexpr const char* shapes = R"(#pragma once
static __device__ __forceinline__ cudaPitchedPtr make_cudaPitchedPtr(void* ptr, size_t pitch, size_t xsize,
                                                                     size_t ysize) {
    return {ptr, pitch, xsize, ysize};
}
static __device__ __forceinline__ cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    return {width, height, depth};
}
static __device__ __forceinline__ cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
)";

constexpr const char* short_names = R"(#pragma once
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
)";

// The toolkit's own header declares host functions, which NVRTC refuses.
constexpr const char* driver = R"(#pragma once
#define CUDA_VERSION CUDART_VERSION
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef int CUdevice;
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
typedef struct CUtensorMap_st {
    alignas(128) cuuint64_t opaque[16];
} CUtensorMap;
)";

// The text of headers that may be empty: NVRTC knows printf, assert, malloc, memcpy, size_t and the like
// without them.
constexpr const char* known = "#pragma once\n";

// C++ standard headers that kernels use parts of. The toolkit's library provides these parts.
constexpr const char* device_headers[] = {
    "type_traits",      "utility", "limits", "algorithm", "functional", "array",    "tuple",  "complex",
    "initializer_list", "numeric", "bit",    "concepts",  "span",       "optional", "variant"};

std::string of_toolkit(const std::string& name) {
    std::string text = "#pragma once\n";
    const auto include = [&text](const std::string& path) {
        text += "#if __has_include(<cuda/std/" + path + ">)\n#include <cuda/std/" + path + ">\n#endif\n";
    };
    include(name);
    if (name == "algorithm") {  // few toolkits have a complete <algorithm>
        include("__algorithm/min.h");
        include("__algorithm/max.h");
    }
    return text + "namespace cuda { namespace std {} }\nnamespace std { using namespace cuda::std; }\n";
}

HeaderTexts make_builtin_headers() {
    HeaderTexts headers = {
        {"stdint.h", integers},
        {"cstdint", integers},
        {"limits.h", limits},
        {"climits", limits},
        {"float.h", floats},
        {"cfloat", floats},
        {"math.h", mathematics},
        {"cmath", mathematics},
        {"stdio.h", known},
        {"cstdio", known},
        {"stdlib.h", known},
        {"cstdlib", known},
        {"string.h", known},
        {"cstring", known},
        {"stddef.h", known},
        {"cstddef", known},
        {"assert.h", known},
        {"cassert", known},
        {"time.h", known},
        {"ctime", known},
        {"sys/types.h", short_names},
        {"cuda.h", driver},
        {"cuscope_shapes.h", shapes},
        {"cuscope_dependent_launches.h", dependent_launches},
        {"cuscope_conditional_nodes.h", conditional_nodes},
        {"cuscope_device_graphs.h", device_graphs},
        {"inttypes.h", integers},
        {"cinttypes", integers},
    };
    const HeaderTexts& of_the_host = standard_host_headers();
    headers.insert(headers.end(), of_the_host.begin(), of_the_host.end());
    std::string all = "#pragma once\n";  // GCC's header that includes all others
    for (const char* name : device_headers) {
        headers.emplace_back(name, of_toolkit(name));
        all += "#include <" + std::string(name) + ">\n";
    }
    for (const auto& [name, text] : of_the_host) {
        // C++ headers have no suffix.
        if (name.find('.') == std::string::npos) all += "#include <" + name + ">\n";
    }
    headers.emplace_back("bits/stdc++.h", all);
    return headers;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& builtin_headers() {
    static const auto* const headers = new HeaderTexts(make_builtin_headers());
    return *headers;
}

const std::vector<std::pair<std::string, std::string>>& implied_headers() {
    static const auto* const words = [] {
        auto* const made = new std::vector<std::pair<std::string, std::string>>;
        const auto add = [&](const char* header, std::initializer_list<const char*> names) {
            for (const char* name : names) made->emplace_back(name, header);
        };
        add("math.h",
            {"INFINITY", "NAN", "HUGE_VALF", "HUGE_VAL", "M_E", "M_LOG2E", "M_LOG10E", "M_LN2", "M_LN10",
             "M_PI", "M_PI_2", "M_PI_4", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_SQRT2", "M_SQRT1_2"});
        add("limits.h", {"CHAR_BIT", "SCHAR_MIN", "SCHAR_MAX", "UCHAR_MAX", "CHAR_MIN", "CHAR_MAX",
                         "SHRT_MIN", "SHRT_MAX", "USHRT_MAX", "INT_MIN", "INT_MAX", "UINT_MAX", "LONG_MIN",
                         "LONG_MAX", "ULONG_MAX", "LLONG_MIN", "LLONG_MAX", "ULLONG_MAX"});
        add("cuscope_dependent_launches.h",
            {"cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion"});
        add("cuscope_conditional_nodes.h", {"cudaGraphSetConditional"});
        add("cuscope_device_graphs.h",
            {"cudaGraphLaunch", "cudaGetCurrentGraphExec", "cudaStreamGraphTailLaunch",
             "cudaStreamGraphFireAndForget", "cudaStreamGraphFireAndForgetAsSibling"});
        add("cuscope_shapes.h", {"make_cudaPitchedPtr", "make_cudaExtent", "make_cudaPos"});
        add("sys/types.h", {"ushort", "uint", "ulong"});
        add("float.h", {"FLT_EPSILON", "FLT_MIN", "FLT_MAX", "DBL_EPSILON", "DBL_MIN", "DBL_MAX"});
        add("stdint.h", {"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
                         "uint64_t", "intptr_t", "uintptr_t"});
        add(host_types_header,
            {"FILE", "DIR", "glob_t", "pthread_t", "pthread_mutex_t", "ssize_t", "off_t", "pid_t"});
        return made;
    }();
    return *words;
}

}  // namespace cuscope::cuda::nvrtc
