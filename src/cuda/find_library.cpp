#include "cuda/find_library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/package_folder.hpp"

namespace cuscope::cuda {
namespace {

bool has_mode(const std::string& path, mode_t mode) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IFMT) == mode;
}

// Newest first, but before all others the major version of this build's runtime library.
std::vector<std::string> sonames(const char* base) {
    std::vector<int> majors = {CUDART_VERSION / 1000};
    for (const int major : {13, 12}) {
        if (major != majors.front()) majors.push_back(major);
    }
    std::vector<std::string> names;
    for (const int major : majors) names.push_back(base + ("." + std::to_string(major)));
    return names;
}

}  // namespace

bool is_directory(const std::string& path) { return has_mode(path, S_IFDIR); }
bool is_file(const std::string& path) { return has_mode(path, S_IFREG); }

std::string parent_folder(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::vector<std::string> toolkits() {
    std::vector<std::string> found;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') {
            found.emplace_back(value);
        }
    }
    found.emplace_back("/usr/local/cuda");
    return found;
}

std::vector<std::string> library_candidates(const LibraryNames& names) {
    std::vector<std::string> found;
    const auto add = [&](const std::string& name) {
        if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    };
    const std::vector<std::string> files = sonames(names.base);
    const auto add_folder = [&](const std::string& folder) {
        for (const std::string& file : files) add(folder + "/" + file);
    };
    if (const char* chosen = std::getenv(names.variable); chosen != nullptr && *chosen != '\0') {
        if (is_directory(chosen)) {
            add_folder(chosen);
        } else {
            add(chosen);
        }
    }
    for (const std::string& file : files) {
        // A loaded library is found by its name. RTLD_NOLOAD and dlclose leave its reference count unchanged.
        if (void* const handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
            add(file);
            ::dlclose(handle);
        }
    }
    for (const std::string& wheels : wheel_folders()) {
        if (!is_directory(wheels)) continue;
        for (const char* folder : names.wheels) add_folder(wheels + "/" + folder);
    }
    for (const std::string& file : files) add(file);
    for (const std::string& toolkit : toolkits()) {
        for (const char* folder : names.inside) add_folder(toolkit + "/" + folder);
    }
    return found;
}

bool find_symbol(void* library, const char* name, void** function) {
    *function = ::dlsym(library, name);
    return *function != nullptr;
}

std::string file_of(void* function, const std::string& otherwise) {
    Dl_info where{};
    const bool known = ::dladdr(function, &where) != 0 && where.dli_fname != nullptr;
    return known ? where.dli_fname : otherwise;
}

}  // namespace cuscope::cuda
