// The C headers that programs of nvcc include without thinking and NVRTC, which has no host compiler, does
// not bring: what of them device code can use.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cuscope::cuda::nvrtc {

// Names and texts. A header of the request or of an include path by the same name comes before.
const std::vector<std::pair<std::string, std::string>>& builtin_headers();

// Words that nvcc knows without a header, and the header of those above that has them.
const std::vector<std::pair<std::string, std::string>>& implied_headers();

}  // namespace cuscope::cuda::nvrtc
