// Finds the shift operators of a source. A CPU takes the amount modulo the number of bits, where a GPU shifts
// all bits out. So shifts are rewritten: see cuscope_simt/shifts.h.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope::simt {

struct ShiftOperator {
    std::size_t token = 0;  // the first of the operator's symbols
    bool left = false;
    bool assigns = false;  // <<= or >>=
    // For an assignment to a name: the first token of the left operand, "s" in "s->flags", which may be a
    // bit-field and then has no address. Otherwise the same as `token`.
    std::size_t operand = 0;
};

// Leaves out shifts that cannot go wrong (by the number 3), and symbols that may not be a shift: `>>` may
// close two lists of template arguments.
std::vector<ShiftOperator> find_shifts(const std::vector<Token>& tokens);

}  // namespace cuscope::simt
