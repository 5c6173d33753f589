// The folder of the installed package: headers and kernels lie next to the extension.
#pragma once

#include <filesystem>

namespace cuscope {

// The folder of the shared object that this code is in; empty if it is not known.
std::filesystem::path package_folder();

}  // namespace cuscope
