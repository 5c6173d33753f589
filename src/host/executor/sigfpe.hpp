// Integer division as a GPU does it: a quotient that does not exist is no fault there.
#pragma once

namespace cuscope::simt {

// In a handler of SIGFPE: gives the interrupted division the result that a GPU gives (all bits set after a
// division by zero; the dividend and no remainder where the smallest number is divided by -1) and goes on
// after it. False if it is none.
bool finish_division(void* signal_context) noexcept;

}  // namespace cuscope::simt
