// Modules, kernels, launches and compilation.
#include <algorithm>
#include <string>

#include "cuda/cuda_runtime.hpp"
#include "cuda/driver_call.hpp"
#include "cuda/handles.hpp"
#include "cuda/image.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/printing.hpp"

namespace cuscope::cuda {
namespace {

DriverFunction<CUresult (*)(const char**, CUfunction)> function_get_name("cuFuncGetName", 12030);

}  // namespace

Status CudaRuntime::library_load_data(LibraryHandle* library, const void* image, std::size_t bytes) {
    clear(library);
    if (image == nullptr) return failed(Status::invalid_value);
    if (!is_whole_image({static_cast<const char*>(image), bytes})) {
        return failed(Status::invalid_kernel_image);
    }
    const std::string copy(static_cast<const char*>(image), bytes);  // PTX has to end with a zero
    note_image(copy);
    return make([&] {
        return cudaLibraryLoadData(native(library), copy.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    });
}

Status CudaRuntime::library_unload(LibraryHandle library) {
    if (would_wait()) return Status::not_ready;
    return make([&] { return cudaLibraryUnload(native(library)); });
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
    // A node of a graph may say its kernel as the driver's function.
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
    return make([&] { return cudaFuncGetParamInfo(function(kernel), index, offset, size); });
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
