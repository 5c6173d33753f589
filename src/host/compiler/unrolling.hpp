// Translates nvcc's `#pragma unroll` for the compilers of a CPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/counting/loop_places.hpp"

namespace cuscope::simt {

// GCC ignores the pragma. This writes GCC's own pragma in its place, so that an image for times has the
// copies of a loop's body that nvcc's code has. Lines keep their numbers.
std::string with_gcc_unrolling(std::string_view preprocessed);

// The loops with `#pragma unroll N`, where N is a number, and the loops without the pragma inside them. The
// innermost loop of a line is the last one.
std::vector<LoopLines> numbered_loops(std::string_view preprocessed);

// Clang knows the pragma, but refuses a source in which no loop follows it, or in which its number is 0. nvcc
// only warns. This takes such pragmas out.
std::string with_clang_unrolling(std::string_view preprocessed);

}  // namespace cuscope::simt
