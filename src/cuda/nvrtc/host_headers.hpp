// Headers of the host's C and C++ libraries, which sources include for their host code. NVRTC has none of
// these headers, and kernels use nothing of them.
#pragma once

#include "runtime/compile/host_headers.hpp"

namespace cuscope::cuda::nvrtc {

// Names and texts. Types that classes have as members are declared with the size that they have on the host,
// so that a class of the source is as large in a kernel as it is there; nothing else is.
const HeaderTexts& standard_host_headers();

// Types of the C library, which NVRTC knows without a header where nvcc does: "FILE", "glob_t".
constexpr const char* host_types_header = "cuscope_host_types.h";

}  // namespace cuscope::cuda::nvrtc
