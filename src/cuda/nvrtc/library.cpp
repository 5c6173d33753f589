#include "cuda/nvrtc/library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "cuda/find_library.hpp"
#include "cuda/nvrtc/signal_handlers.hpp"

namespace cuscope::cuda::nvrtc {
namespace {

const LibraryNames names{"CUSCOPE_NVRTC", "libnvrtc.so", {"cu13/lib", "cuda_nvrtc/lib"}, {"lib64", "lib"}};

std::vector<std::string> include_paths(const std::string& library_path) {
    // A toolkit has lib64/ and include/ side by side, and so has a wheel of CUDA 13. A wheel of CUDA 12 keeps
    // each part in its own folder.
    std::vector<std::string> roots = {parent_folder(library_path) + "/../include",
                                      parent_folder(library_path) + "/../../cuda_runtime/include"};
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
    const bool whole =
        find_function(handle, "nvrtcGetErrorString", &library->get_error_string) &&
        find_function(handle, "nvrtcVersion", &library->version) &&
        find_function(handle, "nvrtcGetNumSupportedArchs", &library->get_num_supported_archs) &&
        find_function(handle, "nvrtcGetSupportedArchs", &library->get_supported_archs) &&
        find_function(handle, "nvrtcCreateProgram", &library->create_program) &&
        find_function(handle, "nvrtcDestroyProgram", &library->destroy_program) &&
        find_function(handle, "nvrtcAddNameExpression", &library->add_name_expression) &&
        find_function(handle, "nvrtcCompileProgram", &library->compile_program) &&
        find_function(handle, "nvrtcGetProgramLogSize", &library->get_program_log_size) &&
        find_function(handle, "nvrtcGetProgramLog", &library->get_program_log) &&
        find_function(handle, "nvrtcGetCUBINSize", &library->get_cubin_size) &&
        find_function(handle, "nvrtcGetCUBIN", &library->get_cubin) &&
        find_function(handle, "nvrtcGetPTXSize", &library->get_ptx_size) &&
        find_function(handle, "nvrtcGetPTX", &library->get_ptx) &&
        find_function(handle, "nvrtcGetLoweredName", &library->get_lowered_name);
    if (!whole || library->version(&library->major, &library->minor) != Result::success) {
        *log += "  " + name + ": is no NVRTC of CUDA 12 or 13\n";
        return nullptr;
    }
    find_function(handle, "nvrtcSetFlowCallback", &library->set_flow_callback);
    redirect_signal_calls(handle);
    library->path = file_of(reinterpret_cast<void*>(library->version), name);
    library->include_paths = include_paths(library->path);
    return library;
}

std::unique_ptr<Library> load(std::string* log) {
    for (const std::string& name : library_candidates(names)) {
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
