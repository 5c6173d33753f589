// C headers that programs for nvcc often include. NVRTC has no host compiler and does not bring them. These
// versions have the parts that device code can use.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cuscope::cuda::nvrtc {

// Names and texts. A header of the same name in the request or on an include path takes precedence.
const std::vector<std::pair<std::string, std::string>>& builtin_headers();

// Identifiers that nvcc knows without a header, and the header above that declares them.
const std::vector<std::pair<std::string, std::string>>& implied_headers();

}  // namespace cuscope::cuda::nvrtc
