// The host runtime's modules: libraries, their kernels by name and their variables.
#include <algorithm>

#include "host/compiler/compiler.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

Status HostRuntime::compile(const CompileRequest& request, CompileResult* result) {
    simt::Target target;
    {
        ENTER(other, Call::On::host);
        if (result == nullptr) return fail(Status::invalid_value);
        target.compute_capability_major =
            machine_.devices.current().model->properties.compute_capability_major;
        target.compute_capability_minor =
            machine_.devices.current().model->properties.compute_capability_minor;
        machine_.waits.begin_compiling();
    }
    const Status status = simt::compile(request, target, result);
    {
        const Lock lock(machine_.mutex);
        machine_.waits.end_compiling();
    }
    return status == Status::success ? status : fail(status);
}

Status HostRuntime::library_load_data(LibraryHandle* library, const void* image, std::size_t bytes) {
    ENTER(other);
    if (library == nullptr || image == nullptr) return fail(Status::invalid_value);
    return machine_.libraries.load(image, bytes, call.lock(), library);
}

Status HostRuntime::library_unload(LibraryHandle library) {
    ENTER(other);
    if (machine_.libraries.find(library) == nullptr) return invalid_handle("library");
    machine_.libraries.unload(library);
    return Status::success;
}

Status HostRuntime::library_get_kernel(KernelHandle* kernel, LibraryHandle library,
                                       const char* lowered_name) {
    ENTER(other);
    const Found<Library> found = machine_.libraries.find(library);
    if (found == nullptr) return invalid_handle("library");
    if (kernel == nullptr || lowered_name == nullptr) return fail(Status::invalid_value);
    const auto named = std::find_if(found->kernels.begin(), found->kernels.end(),
                                    [&](const auto& other) { return other->lowered == lowered_name; });
    if (named == found->kernels.end()) {
        return fail(Status::symbol_not_found,
                    std::string("the library has no kernel '") + lowered_name + "'");
    }
    *kernel = reinterpret_cast<KernelHandle>(named->get());
    return Status::success;
}

Status HostRuntime::library_get_kernel_count(unsigned* count, LibraryHandle library) {
    ENTER(other);
    const Found<const Library> found = machine_.libraries.find(library);
    if (found == nullptr) return invalid_handle("library");
    if (count == nullptr) return fail(Status::invalid_value);
    *count = static_cast<unsigned>(found->kernels.size());
    return Status::success;
}

Status HostRuntime::library_enumerate_kernels(KernelHandle* kernels, unsigned count, LibraryHandle library) {
    ENTER(other);
    const Found<const Library> found = machine_.libraries.find(library);
    if (found == nullptr) return invalid_handle("library");
    if (kernels == nullptr) return fail(Status::invalid_value);
    for (unsigned i = 0; i < std::min<std::size_t>(count, found->kernels.size()); ++i) {
        kernels[i] = reinterpret_cast<KernelHandle>(found->kernels[i].get());
    }
    return Status::success;
}

Status HostRuntime::library_get_global(void** pointer, std::size_t* bytes, LibraryHandle library,
                                       const char* name) {
    ENTER(other);
    const Found<Library> found = machine_.libraries.find(library);
    if (found == nullptr) return invalid_handle("library");
    if (name == nullptr) return fail(Status::invalid_value);
    std::shared_ptr<simt::Image> image;
    TRY(machine_.libraries.instance(*found, thread().device, &image));
    const auto* global = image->global(name);
    if (global == nullptr) {
        return fail(Status::symbol_not_found, std::string("the library has no variable '") + name + "'");
    }
    if (pointer != nullptr) *pointer = global->address;
    if (bytes != nullptr) *bytes = global->bytes;
    return Status::success;
}

}  // namespace cuscope::host
