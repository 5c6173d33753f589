// Headers of the host's C and C++ libraries, which sources include for their host code. NVRTC has none of
// them, and kernels use nothing from them.
#pragma once

#include "runtime/compile/host_headers.hpp"

namespace cuscope::cuda::nvrtc {

// Names and texts. They declare only types that classes have as members, with the size that these types have
// on the host, so that a class of the source has the same size in a kernel and on the host.
const HeaderTexts& standard_host_headers();

// Types of the C library that nvcc, but not NVRTC, knows without a header: "FILE", "glob_t".
constexpr const char* host_types_header = "cuscope_host_types.h";

}  // namespace cuscope::cuda::nvrtc
