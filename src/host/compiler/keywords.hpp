// The words of CUDA C++ that the rewriter looks for.
#pragma once

#include <string_view>
#include <unordered_map>

namespace cuscope::simt {

// What a token means for the rewriter.
enum class Word {
    dropped,
    kernel,
    force_inline,
    no_inline,
    launch_bounds,
    shared,
    unsupported,
    built_in,  // threadIdx
    barrier,   // operations that have to know where they stand
    warp,
    inline_asm,
    fence,
    clock,
    print,
    uncached,  // loads that see what other threads write
    groups,    // our headers' mark: their functions wait
    trigger,   // lets dependent kernels start
    graph,     // launches one
    heap,      // malloc, free
};

const std::unordered_map<std::string_view, Word>& words();

// The function of cuscope_simt that a built-in variable becomes.
std::string_view built_in_function(std::string_view variable);

// Is it an identifier after which another one is a use, not the name of a declaration?
bool is_statement_word(std::string_view word);

}  // namespace cuscope::simt
