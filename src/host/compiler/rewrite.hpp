// Rewrites preprocessed CUDA C++ to plain C++, on the user's own tokens, where a header cannot do it, and
// finds kernels and device variables. Runs no compiler. Line numbers stay the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

struct KernelSource {
    std::string scope;            // the kernel's namespaces: "ns::", or empty
    std::string name;             // with namespaces: "ns::vec_add"; an instance also has its arguments
    std::string parameters;       // as declared, without default arguments: "const float* a, int n"
    std::string parameter_names;  // joined by ','
    bool is_template = false, launches_graphs = false;
    std::string launch_bounds;  // name of the array with the bounds, without template arguments; or empty
};

struct GlobalSource {
    std::string name;
    bool constant = false;
};

// A construct that cannot run here.
struct Problem {
    std::string file;
    int line = 0;
    std::string message;
};

struct Rewritten {
    std::string text;
    std::vector<KernelSource> kernels;  // kernels with a body, in source order
    std::vector<GlobalSource> globals;
    std::vector<Problem> problems;
    unsigned flags = 0;  // ImageFlags
    bool waits = false;  // a thread may have to wait for another thread
};

// `only`: the name of an instance of a template, or empty. Explicit instantiations of other instances then
// become declarations, so the compiler makes no code for them.
Rewritten rewrite(std::string_view preprocessed, std::string_view only);

}  // namespace cuscope::simt
