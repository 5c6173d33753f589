#include "cuda/libraries/search.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

namespace cuscope::cuda {
namespace {

std::vector<std::string> file_names(const std::string& stem) {
    std::vector<int> majors = {CUDART_VERSION / 1000};
    for (const int major : {13, 12}) {
        if (major != majors.front()) majors.push_back(major);
    }
    std::vector<std::string> names;
    for (const int major : majors) names.push_back(stem + ".so." + std::to_string(major));
    return names;
}

// The folder of the shared object that holds this code: site-packages/cuscope of an installed package.
std::string own_folder() {
    static const char marker = 0;
    Dl_info where{};
    const bool known = ::dladdr(&marker, &where) != 0 && where.dli_fname != nullptr;
    return folder_of(known ? where.dli_fname : "");
}

}  // namespace

bool is_directory(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_file(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::string folder_of(const std::string& path) {
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

std::vector<std::string> library_candidates(const LibraryPlaces& places) {
    const std::vector<std::string> names = file_names(places.stem);
    std::vector<std::string> found;
    const auto add = [&](const std::string& candidate) {
        if (std::find(found.begin(), found.end(), candidate) == found.end()) found.push_back(candidate);
    };
    const auto add_folder = [&](const std::string& folder) {
        for (const std::string& name : names) add(folder + "/" + name);
    };
    if (const char* chosen = std::getenv(places.variable); chosen != nullptr && *chosen != '\0') {
        if (is_directory(chosen)) {
            add_folder(chosen);
        } else {
            add(chosen);
        }
    }
    for (const std::string& name : names) {
        // A loaded library is found by its name. RTLD_NOLOAD and dlclose leave its reference count unchanged.
        if (void* const handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
            add(name);
            ::dlclose(handle);
        }
    }
    const std::string wheels = own_folder() + "/../nvidia";
    if (is_directory(wheels)) {
        for (const std::string& folder : places.wheels) add_folder(wheels + "/" + folder);
    }
    for (const std::string& name : names) add(name);
    for (const std::string& toolkit : toolkits()) {
        for (const std::string& folder : places.in_toolkits) add_folder(toolkit + "/" + folder);
    }
    return found;
}

void* find_function(void* library, const char* name) { return ::dlsym(library, name); }

}  // namespace cuscope::cuda
