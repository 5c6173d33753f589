// Replaces the calls of hooks in the assembly of an image that counts.
#pragma once

#include <string>
#include <string_view>

namespace cuscope::simt {

// `assembly`: with block costs. `fiber_in_register`: register r15 holds the address of the Fiber, as in GCC's
// code. Then code that counts takes the place of most calls; else functions that know the site are called.
// The section "cuscope_accesses" behind the assembly has an AccessSite for each instruction that accesses
// memory. Only for x86-64; the assembly for other processors is returned unchanged.
std::string with_inline_hooks(std::string_view assembly, bool fiber_in_register);

}  // namespace cuscope::simt
