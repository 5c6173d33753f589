// Translates the common options of nvcc and NVRTC for a host compiler.
#pragma once

#include <string>
#include <vector>

namespace cuscope::simt {

struct HostOptions {
    std::string standard = "-std=c++17";
    std::vector<std::string> preprocessor;  // -D, -U, -I, -include, in their order
    bool warnings = true;
    bool device_debug = false;  // -G: without optimisation
    std::string problem;        // names an unknown option; empty if all are known
};

HostOptions translate_options(const std::vector<std::string>& options);

}  // namespace cuscope::simt
