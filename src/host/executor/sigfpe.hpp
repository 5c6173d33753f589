// Integer division as on a GPU, where a quotient that does not exist is no fault.
#pragma once

namespace cuscope::simt {

// Call in a handler of SIGFPE. Gives the interrupted division the result that a GPU gives, and goes on after
// it: all bits set after a division by zero; the dividend, without a remainder, for the smallest number
// divided by -1. False if the instruction is not a division.
bool finish_division(void* signal_context) noexcept;

}  // namespace cuscope::simt
