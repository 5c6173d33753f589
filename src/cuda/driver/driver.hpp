// Explains why there is no usable driver. The library's status does not distinguish a missing driver from one
// that is too old.
#pragma once

#include <string>

namespace cuscope::cuda {

// For example "no driver: libcuda.so.1 was not found" or "driver too old: it supports CUDA 12.4, this build
// needs 13.0". Empty if no problem was found.
std::string driver_problem();

// For example "13.0" for 13000.
std::string version_text(int version);

}  // namespace cuscope::cuda
