// Operations on the numbers of the 32 lanes of a warp, two at a time: compilers at -O2 leave these loops as
// they are, because the arrays may overlap.
#pragma once

#include <cstdint>

namespace cuscope::simt {

using TwoLanes = unsigned long __attribute__((vector_size(16), aligned(8), may_alias));

// `lanes`: the first of two lanes. Anything of 8 bytes counts as a number.
template <class T>
TwoLanes& two(T* lanes) {
    static_assert(sizeof(T) == sizeof(std::uintptr_t));
    return *reinterpret_cast<TwoLanes*>(lanes);
}
template <class T>
const TwoLanes& two(const T* lanes) {
    static_assert(sizeof(T) == sizeof(std::uintptr_t));
    return *reinterpret_cast<const TwoLanes*>(lanes);
}

// Have all lanes the same number?
template <class T>
bool are_equal(const T* lanes) {
    const TwoLanes first{two(lanes)[0], two(lanes)[0]};
    TwoLanes different{};
    for (unsigned lane = 0; lane < 32; lane += 2) different |= two(lanes + lane) ^ first;
    return (different[0] | different[1]) == 0;
}

template <class T>
void fill(T* lanes, std::uintptr_t value) {
    for (unsigned lane = 0; lane < 32; lane += 2) two(lanes + lane) = TwoLanes{value, value};
}

inline void add(std::uintptr_t* lanes, std::uintptr_t value) {
    for (unsigned lane = 0; lane < 32; lane += 2) two(lanes + lane) += TwoLanes{value, value};
}

// Is each of 16 lanes the same distance from the one before?
inline bool are_in_steps(const std::uintptr_t* lanes) {
    const std::uintptr_t step = lanes[1] - lanes[0];
    TwoLanes expected{lanes[0], lanes[1]}, different{};
    for (unsigned lane = 0; lane < 16; lane += 2) {
        different |= two(lanes + lane) ^ expected;
        expected += TwoLanes{2 * step, 2 * step};
    }
    return (different[0] | different[1]) == 0;
}

}  // namespace cuscope::simt
