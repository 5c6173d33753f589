// Modules, kernels, launches and compilation.
#include <algorithm>
#include <string>
#include <vector>

#include "cuda/calls/image.hpp"
#include "cuda/calls/printing.hpp"
#include "cuda/cuda_runtime.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/handles.hpp"
#include "cuda/nvrtc/nvrtc.hpp"

namespace cuscope::cuda {
namespace {

DriverFunction<CUresult (*)(const char**, CUfunction)> function_get_name("cuFuncGetName", 12030);
DriverFunction<CUresult (*)(CUfunction, std::size_t, std::size_t*, std::size_t*)> function_get_param_info(
    "cuFuncGetParamInfo", 12040);
DriverFunction<CUresult (*)(CUmodule*, CUlibrary)> library_get_module("cuLibraryGetModule", 12000);
DriverFunction<CUresult (*)(CUfunction*, CUkernel)> kernel_get_function("cuKernelGetFunction", 12000);
DriverFunction<CUresult (*)(CUfunction)> function_load("cuFuncLoad", 12040);

bool load_kernel(cudaKernel_t kernel) {
    CUfunction function = nullptr;
    return driver_call(kernel_get_function, &function, reinterpret_cast<CUkernel>(kernel)) ==
               Status::success &&
           driver_call(function_load, function) == Status::success;
}

// CUDA loads a variable or a kernel on the device at its first use, and may then wait for all running work.
// If that work waits for a later call of the program, the launch would never return. So everything is loaded
// here. (CUDA_MODULE_LOADING=EAGER does the same, but for every library of the process.) An item that does
// not load, for example because it is for another architecture, fails at its first use, as it would without
// this function.
void load_on_device(cudaLibrary_t library) {
    CUcontext context = nullptr;
    if (forked_after_use() || current_context(&context) != cudaSuccess) return;
    const bool had_error = cudaPeekAtLastError() != cudaSuccess;
    CUmodule module = nullptr;  // loads the variables
    static_cast<void>(driver_call(library_get_module, &module, reinterpret_cast<CUlibrary>(library)));
    unsigned count = 0;
    std::vector<cudaKernel_t> kernels;
    if (cudaLibraryGetKernelCount(&count, library) == cudaSuccess) {
        kernels.resize(count);
        if (cudaLibraryEnumerateKernels(kernels.data(), count, library) != cudaSuccess) kernels.clear();
    }
    for (const cudaKernel_t kernel : kernels) {
        if (load_kernel(kernel)) continue;
        // A driver before CUDA 12.4 loads a kernel when its attributes are queried.
        cudaFuncAttributes attributes;
        static_cast<void>(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
    }
    if (!had_error) cudaGetLastError();
}

}  // namespace

Status CudaRuntime::library_load_data(LibraryHandle* library, const void* image, std::size_t bytes) {
    clear(library);
    if (image == nullptr) return failed(Status::invalid_value);
    if (!is_whole_image({static_cast<const char*>(image), bytes})) {
        return failed(Status::invalid_kernel_image);
    }
    const std::string copy(static_cast<const char*>(image), bytes);  // PTX has to end with a zero
    note_image(copy);
    const Status status = make([&] {
        return cudaLibraryLoadData(native(library), copy.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    });
    if (status == Status::success) load_on_device(native(*library));
    return status;
}

Status CudaRuntime::library_unload(LibraryHandle library) {
    return make_release(WaitsFor::this_device, [&] { return cudaLibraryUnload(native(library)); });
}

Status CudaRuntime::library_get_kernel(KernelHandle* kernel, LibraryHandle library,
                                       const char* lowered_name) {
    clear(kernel);
    return make([&] { return cudaLibraryGetKernel(native(kernel), native(library), lowered_name); });
}

Status CudaRuntime::library_get_kernel_count(unsigned* count, LibraryHandle library) {
    clear(count);
    return make([&] { return cudaLibraryGetKernelCount(count, native(library)); });
}

Status CudaRuntime::library_enumerate_kernels(KernelHandle* kernels, unsigned count, LibraryHandle library) {
    if (kernels != nullptr) std::fill_n(kernels, count, nullptr);
    return make([&] { return cudaLibraryEnumerateKernels(native(kernels), count, native(library)); });
}

Status CudaRuntime::library_get_global(void** pointer, std::size_t* bytes, LibraryHandle library,
                                       const char* name) {
    clear(pointer);
    clear(bytes);
    return make([&] { return cudaLibraryGetGlobal(pointer, bytes, native(library), name); });
}

Status CudaRuntime::func_get_name(const char** name, KernelHandle kernel) {
    clear(name);
    const Status status = make([&] { return cudaFuncGetName(name, function(kernel)); });
    // A graph node may give its kernel as the driver's CUfunction.
    if (status == Status::success || name == nullptr || kernel == nullptr) return status;
    if (driver_call(function_get_name, name, reinterpret_cast<CUfunction>(native(kernel))) != Status::success)
        return status;
    cudaGetLastError();
    return Status::success;
}

Status CudaRuntime::func_get_param_info(KernelHandle kernel, std::size_t index, std::size_t* offset,
                                        std::size_t* size) {
    clear(offset);
    clear(size);
    const Status status = make([&] { return cudaFuncGetParamInfo(function(kernel), index, offset, size); });
    // A graph node may give its kernel as the driver's CUfunction.
    const bool unknown =
        status == Status::invalid_device_function || status == Status::invalid_resource_handle;
    if (!unknown || offset == nullptr || kernel == nullptr || forked_after_use()) return status;
    const auto ask = function_get_param_info.get();
    if (ask == nullptr) return status;
    const CUresult result = ask(reinterpret_cast<CUfunction>(native(kernel)), index, offset, size);
    if (result == CUDA_ERROR_INVALID_VALUE) return failed(Status::invalid_value);
    if (result != CUDA_SUCCESS) return status;
    cudaGetLastError();
    return Status::success;
}

Status CudaRuntime::compile(const CompileRequest& request, CompileResult* result) {
    if (result == nullptr) return failed(Status::invalid_value);
    *result = {};
    nvrtc::Architecture architecture;
    if (!nvrtc::names_architecture(request.options)) {
        int device = 0;
        Status status = get_device(&device);
        if (status == Status::success) {
            status =
                device_get_attribute(&architecture.major, DeviceAttribute::compute_capability_major, device);
        }
        if (status == Status::success) {
            status =
                device_get_attribute(&architecture.minor, DeviceAttribute::compute_capability_minor, device);
        }
        if (status != Status::success) return status;
    } else if (forked_after_use()) {
        return failed(Status::initialization_error);
    }
    return nvrtc::compile(request, architecture, result);
}

}  // namespace cuscope::cuda
