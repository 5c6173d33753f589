// The C++ compiler for kernels: how it is chosen, and its options.
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/limit.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::simt {

struct HostCompiler {
    std::string path;
    std::string version;  // as the compiler prints it: "g++ (Debian 12.2.0-14) 12.2.0"
    bool is_clang = false;
    int major = 0;  // 0: not known
    bool found() const { return !path.empty(); }
    std::string problem;  // if no compiler was found: the candidates that were tried, and a remedy
};

// $CUSCOPE_CXX if it is set, else the first of $CXX, c++, g++, clang++ that runs. Searched once for each
// value of these variables. Status::not_ready if cuscope::interrupted(); Status::jit_compiler_not_found, with
// compiler->problem, if there is no compiler.
Status find_host_compiler(const CompileLimit& limit, HostCompiler* compiler);

// Language and code generation, for every compilation of a kernel.
std::vector<std::string> compiler_flags(const HostCompiler& compiler);
// In addition, for one kind of image. Images that are not plain call a hook at each memory access. Images
// that count or time also call one at the start of each basic block, and do not merge or split accesses.
// Images that check also call one where an index is not below the size of its array. With `device_debug`,
// plain images are not optimised. The other kinds stay optimised, because a device runs optimised code.
std::vector<std::string> image_flags(const HostCompiler& compiler, ImageKind kind, bool device_debug);
// Empty if the compiler can compile images that are not plain, else the reason why it cannot.
std::string instrumentation_problem(const HostCompiler& compiler);
// Record the source line of each instruction in the image (see SourceLines). The flags change nothing else.
std::vector<std::string> line_flags(const HostCompiler& compiler);
// Link one source to an image. To read the C++ library takes the linker longer than all else, and few images
// call its functions.
std::vector<std::string> link_flags(bool with_standard_library);

}  // namespace cuscope::simt
