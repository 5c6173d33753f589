// Where the headers that kernels are compiled with lie: $CUSCOPE_SIMT_INCLUDE, else the folder `include`
// beside the shared object that this code is in.
#pragma once

#include <string>

namespace cuscope::simt {

// Holds cuscope_simt/abi.h; empty if neither does.
std::string include_dir();

// The folder of the CUDA toolkit that holds cuda/std/, the C++ library for kernels; empty if there is none:
// of $CUDA_HOME or $CUDA_PATH, a wheel beside the package, or where a toolkit is usually installed.
std::string toolkit_include_dir();

}  // namespace cuscope::simt
