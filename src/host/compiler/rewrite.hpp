// From preprocessed CUDA C++ to plain C++: what the language header cannot say is rewritten on the user's own
// tokens, and kernels and device variables are found. Calls no compiler; line numbers stay as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

struct KernelSource {
    std::string scope;            // its namespaces: "ns::", or empty
    std::string name;             // with them: "ns::vec_add"; of an instance with its arguments
    std::string parameters;       // as declared, without default arguments: "const float* a, int n"
    std::string parameter_names;  // joined by ','
    bool is_template = false, launches_graphs = false;
    std::string launch_bounds;  // the array that holds them; of a template without its arguments; or empty
};

struct GlobalSource {
    std::string name;
    bool constant = false;
};

// Something that cannot run here.
struct Problem {
    std::string file;
    int line = 0;
    std::string message;
};

struct Rewritten {
    std::string text;
    std::vector<KernelSource> kernels;  // with a body, in source order
    std::vector<GlobalSource> globals;
    std::vector<Problem> problems;
    unsigned flags = 0;  // ImageFlags
    bool waits = false;  // a thread may have to wait for another one
};

Rewritten rewrite(std::string_view preprocessed);

}  // namespace cuscope::simt
