// Compiler output, rewritten for the user. Runs no program.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/rewrite.hpp"

namespace cuscope::simt {

// In the form of a compiler's messages. A problem in `file_name` comes with its line of `source`.
std::string format_problems(const std::vector<Problem>& problems, const std::string& source,
                            const std::string& file_name);

// Removes cuscope's directories and internals. If a CUDA header cannot be found, the text says that it is
// unsupported.
std::string clean_log(const std::string& log, const std::string& include_directory);

// `only`: the log has errors, and all of them are in registration code. `kernels`: the kernels with these
// errors.
struct RegistrationErrors {
    bool only = false;
    std::vector<std::string> kernels;
};
RegistrationErrors registration_errors(const std::string& log);

}  // namespace cuscope::simt
