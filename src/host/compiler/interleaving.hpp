// How many iterations of a loop nvcc interleaves, so that their loads are under way at the same time.
#pragma once

#include <string_view>
#include <vector>

#include "host/counting/loop_places.hpp"

namespace cuscope::simt {

// The loops of a source, with what nvcc does with each; the innermost loop of a line is the last one. A loop
// that nvcc unrolls completely is left out: its loads belong to the iteration of the loop around it.
//
// The rules are those that the machine code of nvcc 13 for an H200 shows:
// - If the number of iterations can be computed before the loop and the step is constant, 16 iterations. The
// rest are
//   done one by one, or four at a time if the loop counts from a constant in steps of one.
// - If the step is a variable, or if an unsigned variable has a step other than one, or if addresses need
// unsigned
//   numbers of 32 bits, which may overflow, 4 iterations.
// - If the number cannot be computed, each iteration for itself: an `int` to which an unsigned step is added,
// an
//   unsigned variable with a variable step, a second condition, `break`, a step that multiplies.
// - The same if the loop stores through a pointer that may point to the data that the next iteration loads.
// Pointers
//   may, unless one of the function's parameters has `__restrict__`.
std::vector<LoopLines> interleaved_loops(std::string_view preprocessed);

}  // namespace cuscope::simt
