// Looks for shared libraries of CUDA that are loaded at run time: in a place that the user chose, among the
// libraries that are loaded already, in the wheels beside the package, where the system looks, in toolkits.
#pragma once

#include <string>
#include <vector>

namespace cuscope::cuda {

struct LibraryNames {
    const char* variable;             // an environment variable with the path of the library or its folder
    const char* base;                 // "libnvrtc.so": ".13" follows
    std::vector<const char*> wheels;  // folders within the folder nvidia of a site-packages
    std::vector<const char*> inside;  // folders within a toolkit
};

// CUDA_HOME, CUDA_PATH and the usual folder.
std::vector<std::string> toolkits();
std::string parent_folder(const std::string& path);
bool is_directory(const std::string& path);
bool is_file(const std::string& path);

// Paths and names for dlopen, in the order in which they are to be tried, without repetitions.
std::vector<std::string> library_candidates(const LibraryNames& names);

// Puts the address of a library's function into *function. False if the library has no such function.
bool find_symbol(void* library, const char* name, void** function);
template <class Function>
bool find_function(void* library, const char* name, Function* function) {
    return find_symbol(library, name, reinterpret_cast<void**>(function));
}

// The file that this function of a library was loaded from; `otherwise` if that is not known.
std::string file_of(void* function, const std::string& otherwise);

}  // namespace cuscope::cuda
