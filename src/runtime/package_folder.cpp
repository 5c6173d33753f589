#include "runtime/package_folder.hpp"

#include <dlfcn.h>

namespace cuscope {

std::filesystem::path package_folder() {
    Dl_info object;
    if (dladdr(reinterpret_cast<const void*>(&package_folder), &object) == 0 || object.dli_fname == nullptr)
        return {};
    return std::filesystem::path(object.dli_fname).parent_path();
}

}  // namespace cuscope
