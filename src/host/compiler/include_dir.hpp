// Where the headers that kernels are compiled with lie: $CUSCOPE_SIMT_INCLUDE, else the folder `include`
// beside the shared object that this code is in.
#pragma once

#include <string>

namespace cuscope::simt {

// Holds cuscope_simt/abi.h; empty if neither does.
std::string include_dir();

// What kernels may take from a CUDA toolkit: that of $CUDA_HOME or $CUDA_PATH, wheels beside the package, or
// where a toolkit is usually installed.
struct Toolkit {
    std::string standard_library;  // the folder that holds cuda/std/; empty if there is none
    std::string curand_kernel;     // a file; likewise
};
Toolkit find_toolkit();

}  // namespace cuscope::simt
