// Where the headers that kernels are compiled with lie: $CUSCOPE_SIMT_INCLUDE, else the folder `include`
// beside the shared object that this code is in.
#pragma once

#include <string>

namespace cuscope::simt {

// Holds cuscope_simt/abi.h; empty if neither does.
std::string include_dir();

}  // namespace cuscope::simt
