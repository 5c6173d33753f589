// The C++ compiler that kernels are compiled with: which one, and what it calls its options.
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/limit.hpp"
#include "runtime/status.hpp"

namespace cuscope::simt {

struct HostCompiler {
    std::string path;
    std::string version;  // its own words: "g++ (Debian 12.2.0-14) 12.2.0"
    bool is_clang = false;
    int major = 0;  // 0: not known
    bool found() const { return !path.empty(); }
    std::string problem;  // if none was found: what was tried, and what to do
};

// $CUSCOPE_CXX if it is set, else the first that runs of $CXX, c++, g++, clang++. Asked once for each value
// of the variables. Status::not_ready if cuscope::interrupted(), Status::jit_compiler_not_found if there is
// none; with compiler->problem.
Status find_host_compiler(const CompileLimit& limit, HostCompiler* compiler);

// Language and code generation, for every compilation of a kernel.
std::vector<std::string> compiler_flags(const HostCompiler& compiler);
// Beside these, of an image that counts what its threads do: hooks where it accesses memory and where a basic
// block begins, and nothing that would do several accesses at once, or one in pieces.
std::vector<std::string> counting_flags(const HostCompiler& compiler);
// "" if the compiler can compile an image that counts, else why not.
std::string counting_problem(const HostCompiler& compiler);
// Of an image: which line each instruction comes from (see SourceLines). They change nothing else.
std::vector<std::string> line_flags(const HostCompiler& compiler);
// What makes an image of one source.
std::vector<std::string> link_flags(const HostCompiler& compiler);

}  // namespace cuscope::simt
