// The folder of the installed package: headers and kernels lie next to the extension.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cuscope {

// The folder of the shared object that this code is in; empty if it is not known.
std::filesystem::path package_folder();

// The folders of NVIDIA's wheels, named nvidia: the one beside the package, then those that the bindings know
// from Python's path.
std::vector<std::string> wheel_folders();
void set_wheel_folders(std::vector<std::string> folders);

}  // namespace cuscope
