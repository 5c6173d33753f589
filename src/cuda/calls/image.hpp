// What can be said of an image without loading it. The runtime library trusts the sizes that an image states
// of itself, so a damaged one must not reach it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuscope::cuda {

// Is this a whole cubin, fatbin or PTX text? Says nothing of which device it is for.
bool is_whole_image(std::string_view image);

// The kernels of a cubin or PTX text, by their lowered names, in the image's order.
std::vector<std::string> kernel_names(std::string_view image);

}  // namespace cuscope::cuda
