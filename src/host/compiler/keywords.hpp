// The words of CUDA C++ that the rewriter looks for.
#pragma once

#include <string_view>
#include <unordered_map>

namespace cuscope::simt {

// The meaning of a token for the rewriter.
enum class Word {
    dropped,
    kernel,
    force_inline,
    no_inline,
    launch_bounds,
    shared,
    unsupported,
    built_in,  // threadIdx
    barrier,   // operations that need their place in the source
    warp,
    inline_asm,
    fence,
    clock,
    print,
    uncached,  // loads that see the stores of other threads
    groups,    // marks cuscope's header of cooperative groups; its functions wait
    trigger,   // lets dependent kernels start
    graph,     // launches a graph
    heap,      // malloc, free
};

const std::unordered_map<std::string_view, Word>& words();

// The function of cuscope_simt that a built-in variable becomes.
std::string_view built_in_function(std::string_view variable);

// Is this identifier a word of a statement (`return`)? An identifier after it is used there, not declared.
bool is_statement_word(std::string_view word);

}  // namespace cuscope::simt
