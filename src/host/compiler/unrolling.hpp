// Translates nvcc's `#pragma unroll` for the compilers of a CPU.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope::simt {

inline bool begins_loop(const Token& token) { return token.is("for") || token.is("while") || token.is("do"); }

// GCC ignores the pragma. This writes GCC's own pragma in its place, so that an image for times has the
// copies of a loop's body that nvcc's code has. Lines keep their numbers.
std::string with_gcc_unrolling(std::string_view preprocessed);

// A `#pragma unroll` that a loop follows.
struct UnrollPragma {
    std::size_t end = 0;  // its offset in the source
    unsigned number = 0;  // of copies; 0: not given as a number
};

std::vector<UnrollPragma> unroll_pragmas(std::string_view preprocessed);

// Clang knows the pragma, but refuses a source in which no loop follows it, or in which its number is 0. nvcc
// only warns. This takes such pragmas out.
std::string with_clang_unrolling(std::string_view preprocessed);

}  // namespace cuscope::simt
