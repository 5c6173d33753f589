// Operations on the numbers of the 32 lanes of a warp, two at a time: compilers at -O2 leave these loops as
// they are, because the arrays may overlap.
#pragma once

#include <cstdint>

namespace cuscope::simt {

using TwoLanes = unsigned long __attribute__((vector_size(16), aligned(8), may_alias));

inline TwoLanes& two(std::uintptr_t* lanes) { return *reinterpret_cast<TwoLanes*>(lanes); }
inline const TwoLanes& two(const std::uintptr_t* lanes) { return *reinterpret_cast<const TwoLanes*>(lanes); }

// Have all lanes the same number?
inline bool are_equal(const std::uintptr_t* lanes) {
    const TwoLanes first{lanes[0], lanes[0]};
    TwoLanes different{};
    for (unsigned lane = 0; lane < 32; lane += 2) different |= two(lanes + lane) ^ first;
    return (different[0] | different[1]) == 0;
}

inline void fill(std::uintptr_t* lanes, std::uintptr_t value) {
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
