// Why there is no usable driver, in words: the library's status does not tell a missing one from one that is
// too old.
#pragma once

#include <string>

namespace cuscope::cuda {

// "no driver: libcuda.so.1 was not found"; "driver too old: it supports CUDA 12.4, this build needs 13.0";
// empty if nothing is wrong that can be told.
std::string driver_problem();

// "13.0" of 13000.
std::string version_text(int version);

}  // namespace cuscope::cuda
