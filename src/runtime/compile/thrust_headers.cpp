#include "runtime/compile/thrust_headers.hpp"

namespace cuscope {
namespace {

// Thrust's classes that own memory have another size. That is harmless, because kernels take none of them as
// a parameter.
constexpr const char* types = R"(#pragma once
#include "cuda_runtime.h"
#if __has_include(<cuda/std/complex>)
#include "cuda/std/complex"
#include "cuda/std/tuple"
#include "cuda/std/utility"
namespace thrust {
using ::cuda::std::complex;
using ::cuda::std::get;
using ::cuda::std::make_pair;
using ::cuda::std::make_tuple;
using ::cuda::std::pair;
using ::cuda::std::tie;
using ::cuda::std::tuple;
}
#endif
namespace thrust {
template <class T>
class device_ptr {
    T* cuscope_state;
};
template <class T, class...>
class device_vector {
    T* cuscope_state[3];
};
template <class T, class...>
class host_vector {
    T* cuscope_state[3];
};
template <class T, class...>
class universal_vector {
    T* cuscope_state[3];
};
template <class...>
class zip_iterator {};
template <class...>
class counting_iterator {};
template <class...>
class constant_iterator {};
template <class...>
class transform_iterator {};
template <class...>
class permutation_iterator {};
template <class...>
class reverse_iterator {};
template <class...>
class discard_iterator {};
class system_error {};
class default_random_engine {};
class minstd_rand {};
template <class>
class uniform_int_distribution {};
template <class>
class uniform_real_distribution {};
template <class>
class normal_distribution {};

template <class Argument, class Result>
struct unary_function {
    typedef Argument argument_type;
    typedef Result result_type;
};
template <class First, class Second, class Result>
struct binary_function {
    typedef First first_argument_type;
    typedef Second second_argument_type;
    typedef Result result_type;
};
#define CUSCOPE_FUNCTOR(name, Result, value)                                                       \
    template <class T = void>                                                                      \
    struct name {                                                                                  \
        __host__ __device__ constexpr Result operator()(const T& a, const T& b) const { return value; } \
    };
CUSCOPE_FUNCTOR(plus, T, a + b)
CUSCOPE_FUNCTOR(minus, T, a - b)
CUSCOPE_FUNCTOR(multiplies, T, a* b)
CUSCOPE_FUNCTOR(divides, T, a / b)
CUSCOPE_FUNCTOR(minimum, T, b < a ? b : a)
CUSCOPE_FUNCTOR(maximum, T, a < b ? b : a)
CUSCOPE_FUNCTOR(less, bool, a < b)
CUSCOPE_FUNCTOR(greater, bool, a > b)
CUSCOPE_FUNCTOR(equal_to, bool, a == b)
#undef CUSCOPE_FUNCTOR

#define CUSCOPE_ALGORITHM(name)                                                                  \
    template <class A, class... B>                                                               \
    __device__ void name(const A&, const B&...) {                                                \
        static_assert(sizeof(A) == 0, "cuscope does not support thrust::" #name "() in kernels"); \
    }
CUSCOPE_ALGORITHM(sort)
CUSCOPE_ALGORITHM(sort_by_key)
CUSCOPE_ALGORITHM(stable_sort)
CUSCOPE_ALGORITHM(reduce)
CUSCOPE_ALGORITHM(reduce_by_key)
CUSCOPE_ALGORITHM(transform)
CUSCOPE_ALGORITHM(transform_reduce)
CUSCOPE_ALGORITHM(for_each)
CUSCOPE_ALGORITHM(for_each_n)
CUSCOPE_ALGORITHM(fill)
CUSCOPE_ALGORITHM(copy)
CUSCOPE_ALGORITHM(copy_if)
CUSCOPE_ALGORITHM(count)
CUSCOPE_ALGORITHM(count_if)
CUSCOPE_ALGORITHM(find)
CUSCOPE_ALGORITHM(inclusive_scan)
CUSCOPE_ALGORITHM(exclusive_scan)
CUSCOPE_ALGORITHM(sequence)
CUSCOPE_ALGORITHM(unique)
CUSCOPE_ALGORITHM(min_element)
CUSCOPE_ALGORITHM(max_element)
CUSCOPE_ALGORITHM(inner_product)
CUSCOPE_ALGORITHM(lower_bound)
CUSCOPE_ALGORITHM(upper_bound)
CUSCOPE_ALGORITHM(binary_search)
CUSCOPE_ALGORITHM(gather)
CUSCOPE_ALGORITHM(scatter)
#undef CUSCOPE_ALGORITHM
}
)";

constexpr const char* names[] = {"adjacent_difference",
                                 "advance",
                                 "binary_search",
                                 "complex",
                                 "copy",
                                 "count",
                                 "device_free",
                                 "device_malloc",
                                 "device_new",
                                 "device_ptr",
                                 "device_reference",
                                 "device_vector",
                                 "distance",
                                 "equal",
                                 "execution_policy",
                                 "extrema",
                                 "fill",
                                 "find",
                                 "for_each",
                                 "functional",
                                 "gather",
                                 "generate",
                                 "host_vector",
                                 "inner_product",
                                 "iterator/constant_iterator",
                                 "iterator/counting_iterator",
                                 "iterator/discard_iterator",
                                 "iterator/iterator_traits",
                                 "iterator/permutation_iterator",
                                 "iterator/reverse_iterator",
                                 "iterator/transform_iterator",
                                 "iterator/transform_output_iterator",
                                 "iterator/zip_iterator",
                                 "logical",
                                 "memory",
                                 "merge",
                                 "mismatch",
                                 "pair",
                                 "partition",
                                 "random",
                                 "reduce",
                                 "remove",
                                 "replace",
                                 "reverse",
                                 "scan",
                                 "scatter",
                                 "sequence",
                                 "set_operations",
                                 "shuffle",
                                 "sort",
                                 "swap",
                                 "system/cuda/execution_policy",
                                 "system/cuda/vector",
                                 "system_error",
                                 "tabulate",
                                 "transform",
                                 "transform_reduce",
                                 "transform_scan",
                                 "tuple",
                                 "uninitialized_copy",
                                 "uninitialized_fill",
                                 "unique",
                                 "universal_vector",
                                 "version",
                                 "zip_function"};

}  // namespace

const HeaderTexts& thrust_headers() {
    static const auto* const headers = [] {
        const std::string own = "cuscope_thrust.h";
        auto* const made = new HeaderTexts{{own, types}};
        for (const char* name : names)
            made->emplace_back("thrust/" + std::string(name) + ".h",
                               "#pragma once\n#include <" + own + ">\n");
        return made;
    }();
    return *headers;
}

}  // namespace cuscope
