// CUDA C++ to an image for a GPU, through NVRTC, which is loaded when the first source is compiled and never
// linked. Needs no GPU and no driver.
//
// Where it is looked for, in this order: $CUSCOPE_NVRTC (a file or a folder), which Python may set to what
// cuda-pathfinder found; what the process has loaded already; NVIDIA's wheels beside this extension
// (nvidia/cu13/lib, nvidia/cuda_nvrtc/lib); the names libnvrtc.so.13 and libnvrtc.so.12, as the dynamic
// linker finds them; lib64 and lib of $CUDA_HOME, $CUDA_PATH and /usr/local/cuda.
#pragma once

#include <string>
#include <vector>

#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::cuda::nvrtc {

// A compute capability: 9.0.
struct Architecture {
    int major = 0, minor = 0;
};

// Do the options say what to compile for ("-arch=sm_90", "--gpu-architecture=compute_80")?
bool names_architecture(const std::vector<std::string>& options);

// The contract's Runtime::compile. What the options say about the architecture comes before `architecture`.
// The image is a cubin; where NVRTC is older than the device it is PTX, which the driver translates.
Status compile(const CompileRequest& request, const Architecture& architecture, CompileResult* result);

}  // namespace cuscope::cuda::nvrtc
