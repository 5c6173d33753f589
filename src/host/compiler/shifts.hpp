// The shift operators of a source. A processor takes the amount modulo the number of bits where a GPU shifts
// everything out, so they are rewritten: see cuscope_simt/shifts.h.
#pragma once

#include <cstddef>
#include <vector>

#include "host/compiler/tokens.hpp"

namespace cuscope::simt {

struct ShiftOperator {
    std::size_t token = 0;  // the first of its symbols
    bool left = false;
    bool assigns = false;  // <<= or >>=
    // Of an assignment to what is named, which may be a bit-field and has no address then: where the left
    // operand begins, "s" of "s->flags". Otherwise the same as `token`.
    std::size_t operand = 0;
};

// Leaves out what cannot go wrong, as a shift by the number 3, and what may be no shift: `>>` may close two
// lists of template arguments.
std::vector<ShiftOperator> find_shifts(const std::vector<Token>& tokens);

}  // namespace cuscope::simt
