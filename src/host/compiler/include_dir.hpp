// The folder of the headers for kernels: $CUSCOPE_SIMT_INCLUDE, else the folder `include` beside the shared
// object that contains this code.
#pragma once

#include <string>

namespace cuscope::simt {

// The first of these folders that holds cuscope_simt/abi.h; empty if neither does.
std::string include_dir();
// Of the names and texts of all headers in the folder.
std::string headers_digest(const std::string& directory);

// The parts of a CUDA toolkit that kernels may include. The toolkit is that of $CUDA_HOME or $CUDA_PATH, of
// wheels beside the package, or in a usual place of installation.
struct Toolkit {
    std::string standard_library;  // the folder with cuda/std/; empty if there is none
    std::string curand_kernel;     // a file; empty if there is none
};
Toolkit find_toolkit();

}  // namespace cuscope::simt
