#include "cuda/cupti/library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <memory>
#include <mutex>

#include "cuda/libraries/search.hpp"

namespace cuscope::cuda::cupti {
namespace {

bool bind(void* handle, Library* library) {
    return find(handle, "cuptiActivityRegisterTimestampCallback",
                &library->activity_register_timestamp_callback) &&
           find(handle, "cuptiActivityRegisterCallbacks", &library->activity_register_callbacks) &&
           find(handle, "cuptiActivityEnable", &library->activity_enable) &&
           find(handle, "cuptiActivityDisable", &library->activity_disable) &&
           find(handle, "cuptiActivityFlushAll", &library->activity_flush_all) &&
           find(handle, "cuptiActivityGetNextRecord", &library->activity_get_next_record) &&
           find(handle, "cuptiActivityGetNumDroppedRecords", &library->activity_get_dropped) &&
           find(handle, "cuptiSubscribe", &library->subscribe) &&
           find(handle, "cuptiUnsubscribe", &library->unsubscribe) &&
           find(handle, "cuptiEnableCallback", &library->enable_callback) &&
           find(handle, "cuptiGetCallbackName", &library->get_callback_name) &&
           find(handle, "cuptiGetResultString", &library->get_result_string);
}

std::unique_ptr<Library> load() {
    auto loaded = std::make_unique<Library>();
    for (const std::string& name : library_candidates({"libcupti",
                                                       "CUSCOPE_CUPTI",
                                                       {"cu13/lib", "cuda_cupti/lib"},
                                                       {"lib64", "lib", "extras/CUPTI/lib64"}})) {
        void* const handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (handle == nullptr) continue;
        if (bind(handle, loaded.get())) return loaded;
        ::dlclose(handle);
    }
    return nullptr;
}

}  // namespace

const Library* library(std::string* problem) {
    static std::mutex mutex;
    static const Library* loaded = nullptr;  // never unloaded
    const std::lock_guard lock(mutex);
    if (loaded == nullptr) loaded = load().release();
    if (loaded == nullptr) {
        const std::string major = std::to_string(CUDART_VERSION / 1000);
        *problem =
            std::string("CUPTI, which records what a GPU does, was not found. Get it with: pip install ") +
            (major == "12" ? "nvidia-cuda-cupti-cu12" : "\"nvidia-cuda-cupti==" + major + ".*\"") +
            ", or set CUSCOPE_CUPTI to the path of libcupti.so." + major;
    }
    return loaded;
}

}  // namespace cuscope::cuda::cupti
