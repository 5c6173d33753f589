// What compilers say, as the user should read it. Runs nothing.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/rewrite.hpp"

namespace cuscope::simt {

// In the form of a compiler's messages, with the line of `source` where it is `file_name`'s.
std::string format_problems(const std::vector<Problem>& problems, const std::string& source,
                            const std::string& file_name);

// Without our own directories and internals. A CUDA header that cannot be found is said to be unsupported.
std::string clean_log(const std::string& log, const std::string& include_directory);

// Is there an error in the log, and are all of its errors in registration code? Then the kernels that they
// are about.
struct RegistrationErrors {
    bool only = false;
    std::vector<std::string> kernels;
};
RegistrationErrors registration_errors(const std::string& log);

}  // namespace cuscope::simt
