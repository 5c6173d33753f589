#include "cuda/cupti/library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "cuda/find_library.hpp"

namespace cuscope::cuda::cupti {
namespace {

const LibraryNames names{
    "CUSCOPE_CUPTI", "libcupti.so", {"cu13/lib", "cuda_cupti/lib"}, {"extras/CUPTI/lib64", "lib64", "lib"}};

// Null if the library lacks one of the functions.
std::unique_ptr<Library> bind(void* handle, const std::string& name) {
    auto bound = std::make_unique<Library>();
    Library& cupti = *bound;
    const auto find = [&](const char* function, auto* address) {
        return find_function(handle, function, address);
    };
    const bool whole =
        find("cuptiGetVersion", &cupti.get_version) &&
        find("cuptiGetResultString", &cupti.get_result_string) && find("cuptiSubscribe", &cupti.subscribe) &&
        find("cuptiUnsubscribe", &cupti.unsubscribe) && find("cuptiEnableCallback", &cupti.enable_callback) &&
        find("cuptiActivityEnable", &cupti.activity_enable) &&
        find("cuptiActivityDisable", &cupti.activity_disable) &&
        find("cuptiActivityRegisterCallbacks", &cupti.activity_register_callbacks) &&
        find("cuptiActivityRegisterTimestampCallback", &cupti.activity_register_timestamp_callback) &&
        find("cuptiActivityFlushAll", &cupti.activity_flush_all) &&
        find("cuptiActivityGetNextRecord", &cupti.activity_get_next_record) &&
        find("cuptiActivityGetNumDroppedRecords", &cupti.activity_get_num_dropped_records);
    if (!whole || cupti.get_version(&cupti.version) != success) return nullptr;
    find("cuptiSubscribe_v2", &cupti.subscribe_v2);
    cupti.path = file_of(reinterpret_cast<void*>(cupti.get_version), name);
    return bound;
}

// In *problem: the fault of the library that the user chose.
std::unique_ptr<Library> load(std::string* problem) {
    const char* const chosen = std::getenv(names.variable);
    for (const std::string& name : library_candidates(names)) {
        void* const handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
        const char* const reason = handle == nullptr ? ::dlerror() : "it is no CUPTI of CUDA 12 or 13";
        if (handle != nullptr) {
            if (auto bound = bind(handle, name)) return bound;
            ::dlclose(handle);
        }
        if (chosen != nullptr && name == chosen && reason != nullptr)
            *problem = std::string(" CUSCOPE_CUPTI names a file that does not do: ") + reason + ".";
    }
    return nullptr;
}

}  // namespace

const Library* library(std::string* problem) {
    static std::mutex mutex;
    static const Library* loaded = nullptr;  // never unloaded
    const std::lock_guard lock(mutex);
    if (loaded != nullptr) return loaded;
    std::string wrong;
    loaded = load(&wrong).release();
    if (loaded == nullptr) {
        const std::string major = std::to_string(CUDART_VERSION / 1000);
        *problem = "CUPTI, NVIDIA's library for traces, was not found. Get it with: pip install " +
                   (major == "12" ? "nvidia-cuda-cupti-cu12" : "\"nvidia-cuda-cupti==" + major + ".*\"") +
                   ", or set CUSCOPE_CUPTI to the path of libcupti.so." + major + "." + wrong;
    }
    return loaded;
}

std::string result_text(const Library& library, Result result) {
    const char* text = nullptr;
    const bool known = library.get_result_string(result, &text) == success && text != nullptr;
    return std::string(known ? text : "an unknown result") + " (" + std::to_string(result) + ")";
}

}  // namespace cuscope::cuda::cupti
