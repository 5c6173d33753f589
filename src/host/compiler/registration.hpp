// The code that is appended to a source to register its kernels and variables in the image's table.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/rewrite.hpp"

namespace cuscope::simt {

struct Registration {
    std::string name;
    std::string parameter_names;
    std::string launch_bounds;  // the array that holds them; or empty
    // Of a kernel that was found in the source, not asked for: its namespaces and parameters, which say which
    // function it is where the name alone does not.
    bool found = false;
    std::string scope, parameters;
    bool by_type = false, launches_graphs = false;
    // Of an instance that host code launches: left out where it does not compile by itself.
    bool optional = false;
};

// A kernel that does not compile gives its errors in the "file" registration_file(name).
std::string registration_code(const std::vector<Registration>& kernels,
                              const std::vector<GlobalSource>& globals, unsigned flags, bool waits);
std::string registration_file(const std::string& kernel);

// A string literal.
std::string quoted(const std::string& text);

}  // namespace cuscope::simt
