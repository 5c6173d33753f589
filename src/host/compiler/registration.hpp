// Decides which kernels of a source the image's table registers, and generates the code that registers them
// and the variables. The code is appended to the source.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/rewrite.hpp"

namespace cuscope::simt {

struct Registration {
    std::string name;
    std::string parameter_names;
    std::string launch_bounds;  // the array that holds the bounds, or empty
    // The kernel was found in the source, not asked for. Its namespaces and parameters tell which function it
    // is where the name alone does not.
    bool found = false;
    std::string scope, parameters;
    bool by_type = false, launches_graphs = false;
    // An instance that host code launches. It is left out if it does not compile by itself.
    bool optional = false;
};

// The kernels that the source defines, the kernels that name expressions name, and instances that host code
// launches. Each is there once. `only`: the name of the only kernel to register, or empty.
std::vector<Registration> registrations(const Rewritten& rewritten,
                                        const std::vector<std::string>& expressions,
                                        const std::vector<std::string>& instances, const std::string& only);

// The compiler reports the errors of a kernel in the "file" registration_file(name).
std::string registration_code(const std::vector<Registration>& kernels,
                              const std::vector<GlobalSource>& globals, unsigned flags, bool waits);
std::string registration_file(const std::string& kernel);

// The text as a C++ string literal.
std::string quoted(const std::string& text);

}  // namespace cuscope::simt
