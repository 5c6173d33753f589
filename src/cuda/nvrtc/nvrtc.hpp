// Compiles CUDA C++ to an image for a GPU with NVRTC. NVRTC is loaded at the first compilation and never
// linked. Needs neither a GPU nor a driver.
//
// NVRTC is searched in this order: $CUSCOPE_NVRTC (a file or a folder), which Python may set to the result of
// cuda-pathfinder; a library that the process has already loaded; NVIDIA's wheels beside this extension
// (nvidia/cu13/lib, nvidia/cuda_nvrtc/lib); the names libnvrtc.so.13 and libnvrtc.so.12, as the dynamic
// linker finds them; lib64 and lib of $CUDA_HOME, $CUDA_PATH and /usr/local/cuda.
#pragma once

#include <string>
#include <vector>

#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::cuda::nvrtc {

// A compute capability, for example 9.0.
struct Architecture {
    int major = 0, minor = 0;
};

// Do the options name the architecture ("-arch=sm_90", "--gpu-architecture=compute_80")?
bool names_architecture(const std::vector<std::string>& options);

// Implements Runtime::compile. An architecture in the options takes precedence over `architecture`. The image
// is a cubin. If NVRTC is older than the device, it is PTX, which the driver translates.
Status compile(const CompileRequest& request, const Architecture& architecture, CompileResult* result);

}  // namespace cuscope::cuda::nvrtc
