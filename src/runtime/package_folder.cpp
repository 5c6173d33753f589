#include "runtime/package_folder.hpp"

#include <dlfcn.h>

#include <mutex>
#include <utility>

namespace cuscope {
namespace {

struct Wheels {
    std::mutex mutex;
    std::vector<std::string> folders;
};

Wheels& wheels() {
    static auto* const instance = new Wheels;  // outlives static destructors
    return *instance;
}

}  // namespace

std::filesystem::path package_folder() {
    Dl_info object;
    if (dladdr(reinterpret_cast<const void*>(&package_folder), &object) == 0 || object.dli_fname == nullptr)
        return {};
    return std::filesystem::path(object.dli_fname).parent_path();
}

std::vector<std::string> wheel_folders() {
    std::vector<std::string> folders = {(package_folder() / ".." / "nvidia").string()};
    const std::lock_guard lock(wheels().mutex);
    folders.insert(folders.end(), wheels().folders.begin(), wheels().folders.end());
    return folders;
}

void set_wheel_folders(std::vector<std::string> folders) {
    const std::lock_guard lock(wheels().mutex);
    wheels().folders = std::move(folders);
}

}  // namespace cuscope
