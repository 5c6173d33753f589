// Checks an image without loading it. The runtime library trusts the sizes that an image states, so a damaged
// image must not reach it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuscope::cuda {

// Is this a complete cubin, fatbin or PTX text? Does not check the device that it is built for.
bool is_whole_image(std::string_view image);

// The kernels of a cubin or PTX text, by lowered name, in the image's order.
std::vector<std::string> kernel_names(std::string_view image);

}  // namespace cuscope::cuda
