// How many iterations of a loop nvcc interleaves, so that their loads are under way at the same time.
#pragma once

#include <string_view>
#include <vector>

#include "host/counting/loop_places.hpp"

namespace cuscope::simt {

// The loops of a source, with what nvcc does with each; the innermost loop of a line is the last one. A loop
// that nvcc unrolls completely is left out: its loads belong to the iteration of the loop around it.
//
// The machine code that nvcc 13 makes for an H200 shows these rules.
//
// 16 iterations: the number of iterations can be computed before the loop, and the step is constant. The
// iterations that are left over are done one by one, or four at a time if the loop counts from a constant in
// steps of one.
//
// 4 iterations: the step is a variable, or the loop's variable is a pointer, or it is unsigned and the step
// is not one, or addresses need unsigned numbers of 32 bits, which may overflow.
//
// Each iteration for itself: the number cannot be computed. An unsigned step is added to an `int`, an
// unsigned variable has a variable step, or there is a second condition, a `break` or a step that multiplies.
// Or the loop stores through a pointer that may point to the data that the next iteration loads: pointers
// may, unless one of the function's parameters has `__restrict__`.
std::vector<LoopLines> interleaved_loops(std::string_view preprocessed);

}  // namespace cuscope::simt
