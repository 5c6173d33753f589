#include "cuda/nvrtc/library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>

#include "cuda/nvrtc/signal_handlers.hpp"

namespace cuscope::cuda::nvrtc {
namespace {

// Newest first, but before all others the major version of this build's runtime library.
std::vector<std::string> sonames() {
    std::vector<int> majors = {CUDART_VERSION / 1000};
    for (const int major : {13, 12}) {
        if (major != majors.front()) majors.push_back(major);
    }
    std::vector<std::string> names;
    for (const int major : majors) names.push_back("libnvrtc.so." + std::to_string(major));
    return names;
}

bool is_directory(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_file(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
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

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

// The folder of the shared object that holds this code: site-packages/cuscope of an installed package.
std::string own_folder() {
    static const char marker = 0;
    Dl_info where{};
    const bool known = ::dladdr(&marker, &where) != 0 && where.dli_fname != nullptr;
    return folder_of(known ? where.dli_fname : "");
}

std::vector<std::string> candidates() {
    std::vector<std::string> found;
    const auto add_folder = [&](const std::string& folder) {
        for (const std::string& name : sonames()) found.push_back(folder + "/" + name);
    };
    if (const char* chosen = std::getenv("CUSCOPE_NVRTC"); chosen != nullptr && *chosen != '\0') {
        if (is_directory(chosen)) {
            add_folder(chosen);
        } else {
            found.emplace_back(chosen);
        }
    }
    for (const std::string& name : sonames()) {
        // A loaded library is found by its name. RTLD_NOLOAD and dlclose leave its reference count unchanged.
        if (void* const handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
            found.push_back(name);
            ::dlclose(handle);
        }
    }
    const std::string wheels = own_folder() + "/../nvidia";
    if (is_directory(wheels)) {
        add_folder(wheels + "/cu13/lib");
        add_folder(wheels + "/cuda_nvrtc/lib");
    }
    for (const std::string& name : sonames()) found.push_back(name);
    for (const std::string& toolkit : toolkits()) {
        add_folder(toolkit + "/lib64");
        add_folder(toolkit + "/lib");
    }
    return found;
}

template <class Function>
bool find(void* handle, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(::dlsym(handle, name));
    return *function != nullptr;
}

std::vector<std::string> include_paths(const std::string& library_path) {
    // A toolkit has lib64/ and include/ side by side, and so has a wheel of CUDA 13. A wheel of CUDA 12 keeps
    // each part in its own folder.
    std::vector<std::string> roots = {folder_of(library_path) + "/../include",
                                      folder_of(library_path) + "/../../cuda_runtime/include"};
    for (const std::string& toolkit : toolkits()) roots.push_back(toolkit + "/include");
    const auto first = std::find_if(roots.begin(), roots.end(), [](const std::string& root) {
        return is_file(root + "/cuda_runtime.h");
    });
    if (first == roots.end()) return {};
    // A wheel may lack files that its headers include (crt/, the C++ core libraries), so other roots follow.
    std::vector<std::string> found = {*first};
    for (const std::string& root : roots)
        if (root != *first && is_file(root + "/cuda_runtime.h")) found.push_back(root);
    for (const std::string& root : roots)
        if (is_directory(root + "/cccl")) found.push_back(root + "/cccl");
    return found;
}

// Null, with a line in *log, if the file is not NVRTC.
std::unique_ptr<Library> bind(void* handle, const std::string& name, std::string* log) {
    auto library = std::make_unique<Library>();
    const bool whole = find(handle, "nvrtcGetErrorString", &library->get_error_string) &&
                       find(handle, "nvrtcVersion", &library->version) &&
                       find(handle, "nvrtcGetNumSupportedArchs", &library->get_num_supported_archs) &&
                       find(handle, "nvrtcGetSupportedArchs", &library->get_supported_archs) &&
                       find(handle, "nvrtcCreateProgram", &library->create_program) &&
                       find(handle, "nvrtcDestroyProgram", &library->destroy_program) &&
                       find(handle, "nvrtcAddNameExpression", &library->add_name_expression) &&
                       find(handle, "nvrtcCompileProgram", &library->compile_program) &&
                       find(handle, "nvrtcGetProgramLogSize", &library->get_program_log_size) &&
                       find(handle, "nvrtcGetProgramLog", &library->get_program_log) &&
                       find(handle, "nvrtcGetCUBINSize", &library->get_cubin_size) &&
                       find(handle, "nvrtcGetCUBIN", &library->get_cubin) &&
                       find(handle, "nvrtcGetPTXSize", &library->get_ptx_size) &&
                       find(handle, "nvrtcGetPTX", &library->get_ptx) &&
                       find(handle, "nvrtcGetLoweredName", &library->get_lowered_name);
    if (!whole || library->version(&library->major, &library->minor) != Result::success) {
        *log += "  " + name + ": is no NVRTC of CUDA 12 or 13\n";
        return nullptr;
    }
    find(handle, "nvrtcSetFlowCallback", &library->set_flow_callback);
    redirect_signal_calls(handle);
    Dl_info where{};
    const bool known = ::dladdr(reinterpret_cast<void*>(library->version), &where) != 0;
    library->path = known && where.dli_fname != nullptr ? where.dli_fname : name;
    library->include_paths = include_paths(library->path);
    return library;
}

std::unique_ptr<Library> load(std::string* log) {
    std::set<std::string> tried;
    for (const std::string& name : candidates()) {
        if (!tried.insert(name).second) continue;
        void* const handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (handle == nullptr) {
            const char* const reason = ::dlerror();
            *log += std::string("  ") + (reason != nullptr ? reason : name.c_str()) + "\n";
            continue;
        }
        if (auto library = bind(handle, name, log)) return library;
        ::dlclose(handle);
    }
    return nullptr;
}

}  // namespace

const Library* library(std::string* log) {
    static std::mutex mutex;
    static const Library* loaded = nullptr;  // never unloaded
    const std::lock_guard lock(mutex);
    if (loaded != nullptr) return loaded;
    std::string tried;
    loaded = load(&tried).release();
    if (loaded == nullptr) {
        const std::string major = std::to_string(CUDART_VERSION / 1000);
        *log = "NVRTC, the compiler of CUDA C++, was not found. Tried:\n" + tried +
               "Get it with: pip install " +
               (major == "12" ? "nvidia-cuda-nvrtc-cu12" : "\"nvidia-cuda-nvrtc==" + major + ".*\"") +
               ", or set CUSCOPE_NVRTC to the path of libnvrtc.so." + major + ".\n";
    }
    return loaded;
}

}  // namespace cuscope::cuda::nvrtc
