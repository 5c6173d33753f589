// cuda::std::move and forward: the toolkit's own if the toolkit is installed.
#pragma once

#if __has_include(<cuda/std/detail/__config>)
#include <cuda/std/utility>
#else
namespace cuda {
namespace std {
namespace cuscope {
template <class T>
struct Bare {
    using Type = T;
};
template <class T>
struct Bare<T&> : Bare<T> {};
template <class T>
struct Bare<T&&> : Bare<T> {};
}  // namespace cuscope
template <class T>
constexpr typename cuscope::Bare<T>::Type&& move(T&& value) {
    return static_cast<typename cuscope::Bare<T>::Type&&>(value);
}
template <class T>
constexpr T&& forward(typename cuscope::Bare<T>::Type& value) {
    return static_cast<T&&>(value);
}
template <class T>
constexpr T&& forward(typename cuscope::Bare<T>::Type&& value) {
    return static_cast<T&&>(value);
}
}  // namespace std
}  // namespace cuda
#endif
