#include "cuda/driver/driver.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

namespace cuscope::cuda {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string driver_problem() {
    constexpr const char* library = "libcuda.so.1";
    // Not closed, since the runtime library keeps the driver loaded as well.
    void* const driver = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (driver == nullptr) {
        const char* const reason = ::dlerror();
        const std::string why = reason != nullptr ? reason : "";
        if (why.empty() || why.find("No such file") != std::string::npos) {
            return std::string("no driver: ") + library + " was not found";
        }
        return std::string("no driver: ") + library + " does not load: " + why;
    }
    using GetVersion = int (*)(int*);
    using Init = int (*)(unsigned);
    const auto get_version = reinterpret_cast<GetVersion>(::dlsym(driver, "cuDriverGetVersion"));
    const auto init = reinterpret_cast<Init>(::dlsym(driver, "cuInit"));
    int version = 0;
    if (get_version == nullptr || init == nullptr || get_version(&version) != 0) {
        return std::string("the driver's ") + library + " is a stub";
    }
    // A driver runs programs of its own major version, whatever their minor version.
    if (version / 1000 < CUDART_VERSION / 1000) {
        return "driver too old: it supports CUDA " + version_text(version) + ", this build needs " +
               version_text(CUDART_VERSION);
    }
    if (const int status = init(0); status != 0 && status != 100) {
        return std::string("the driver (CUDA ") + version_text(version) +
               ") does not start: cuInit answered " + std::to_string(status) +
               (::access("/dev/nvidiactl", F_OK) != 0 ? "; /dev/nvidiactl is not there" : "");
    }
    return "";
}

}  // namespace cuscope::cuda
