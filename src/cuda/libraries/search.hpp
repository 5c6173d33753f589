// Where NVIDIA's libraries may be that are loaded at run time: in wheels beside this package, in folders that
// the loader knows, and in a toolkit.
#pragma once

#include <string>
#include <vector>

namespace cuscope::cuda {

struct LibraryPlaces {
    const char* stem;                      // "libnvrtc": the file is libnvrtc.so.13
    const char* variable;                  // of the environment: the user's path of the file or its folder
    std::vector<std::string> wheels;       // folders below site-packages/nvidia
    std::vector<std::string> in_toolkits;  // folders below a toolkit
};

// Paths and names for dlopen, in the order in which they are to be tried, each once. Newest versions first,
// but before all others the major version of this build's runtime library.
std::vector<std::string> library_candidates(const LibraryPlaces& places);

// The folders of toolkits: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda.
std::vector<std::string> toolkits();

bool is_directory(const std::string& path);
bool is_file(const std::string& path);
std::string folder_of(const std::string& path);

// A function of a loaded library; null or false if the library lacks it.
void* find_function(void* library, const char* name);
template <class Function>
bool find(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(find_function(library, name));
    return *function != nullptr;
}

}  // namespace cuscope::cuda
