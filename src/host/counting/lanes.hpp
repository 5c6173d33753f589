// Operations on the numbers of the 32 lanes of a warp, two at a time: compilers at -O2 leave these loops as
// they are, because the arrays may overlap.
#pragma once

#include <cstdint>
#include <cstring>

namespace cuscope::simt {

using TwoLanes = unsigned long __attribute__((vector_size(16)));

// `lanes`: the first of two lanes, at any multiple of 8. Anything of 8 bytes counts as a number.
template <class T>
TwoLanes load_two(const T* lanes) {
    static_assert(sizeof(T) == sizeof(std::uintptr_t));
    TwoLanes both;
    std::memcpy(&both, lanes, sizeof both);
    return both;
}
template <class T>
void store_two(T* lanes, TwoLanes both) {
    static_assert(sizeof(T) == sizeof(std::uintptr_t));
    std::memcpy(lanes, &both, sizeof both);
}

// Have all lanes the same number?
template <class T>
bool are_equal(const T* lanes) {
    const TwoLanes begin = load_two(lanes), first{begin[0], begin[0]};
    TwoLanes different{};
    for (unsigned lane = 0; lane < 32; lane += 2) different |= load_two(lanes + lane) ^ first;
    return (different[0] | different[1]) == 0;
}

template <class T>
void fill(T* lanes, std::uintptr_t value) {
    for (unsigned lane = 0; lane < 32; lane += 2) store_two(lanes + lane, TwoLanes{value, value});
}

inline void add(std::uintptr_t* lanes, std::uintptr_t value) {
    for (unsigned lane = 0; lane < 32; lane += 2)
        store_two(lanes + lane, load_two(lanes + lane) + TwoLanes{value, value});
}

// Is each of 16 lanes the same distance from the one before?
inline bool are_in_steps(const std::uintptr_t* lanes) {
    const std::uintptr_t step = lanes[1] - lanes[0];
    TwoLanes expected{lanes[0], lanes[1]}, different{};
    for (unsigned lane = 0; lane < 16; lane += 2) {
        different |= load_two(lanes + lane) ^ expected;
        expected += TwoLanes{2 * step, 2 * step};
    }
    return (different[0] | different[1]) == 0;
}

}  // namespace cuscope::simt
