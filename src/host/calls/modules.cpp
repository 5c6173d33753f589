// The host runtime's modules: libraries, their kernels by name and their variables.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <thread>

#include "host/compiler/compiler.hpp"
#include "host/executor/executor.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

Found<HostRuntime::Kernel> HostRuntime::find_kernel(KernelHandle handle) {
    return live_.contains(handle) ? reinterpret_cast<Kernel*>(handle) : nullptr;
}

Found<HostRuntime::Library> HostRuntime::find_library(LibraryHandle handle) {
    return live_.contains(handle) ? reinterpret_cast<Library*>(handle) : nullptr;
}

Status HostRuntime::compile(const CompileRequest& request, CompileResult* result) {
    simt::Target target;
    {
        ENTER(other, Call::On::host);
        if (result == nullptr) return fail(Status::invalid_value);
        target.compute_capability_major = device().model->properties.compute_capability_major;
        target.compute_capability_minor = device().model->properties.compute_capability_minor;
    }
    const Status status = simt::compile(request, target, result);
    return status == Status::success ? status : fail(status);
}

namespace {

// The state of a thread that runs an image's initialisers. They may never end; then the thread and this state
// are leaked, so the thread shares ownership of them.
struct Initialization {
    std::shared_ptr<simt::Image> image;
    std::shared_ptr<simt::Heap> heap;
    simt::RunControl control;
    simt::Outcome outcome;
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
};

// Status::not_ready: the wait was interrupted. Call it without a lock held.
Status run_initializers(const std::shared_ptr<simt::Image>& image, const std::shared_ptr<simt::Heap>& heap,
                        std::string* detail) {
    using namespace std::chrono_literals;
    const auto work = std::make_shared<Initialization>();
    work->image = image;
    work->heap = heap;
    std::thread([work] {
        simt::Outcome outcome = simt::initialize(work->image, work->heap, work->control);
        const std::scoped_lock lock(work->mutex);
        work->outcome = std::move(outcome);
        work->ended = true;
        work->changed.notify_all();
    }).detach();
    std::unique_lock lock(work->mutex);
    const auto ended = [&] { return work->ended; };
    while (!work->changed.wait_for(lock, 30ms, ended)) {
        lock.unlock();
        const bool end = interrupted();
        lock.lock();
        if (!end) continue;
        work->control.abort.store(true);
        work->changed.wait_for(lock, 1s, ended);
        return Status::not_ready;
    }
    write_kernel_output(work->outcome.printed);
    if (work->outcome.status == Status::success) return Status::success;
    *detail =
        "an initialiser at file scope failed: " + work->outcome.detail +
        ". CUDA C++ has no dynamic initialisation of __device__ and __constant__ variables: give such a "
        "variable a constant, or fill it before the first launch";
    return Status::invalid_kernel_image;
}

}  // namespace

// An instance of an image holds its __device__ and __constant__ variables, so each device has its own
// instance. `lock` is released while the image's initialisers run. Without `lock` they run directly in this
// call; use this only if they have already run to their end on another device.
Status HostRuntime::instance(Library& library, int index, std::shared_ptr<simt::Image>* image, Lock* lock) {
    auto& loaded = library.instances[index];
    if (!loaded) {
        std::string detail;
        Status status = simt::Image::load(library.image, &loaded, &detail);
        if (status == Status::success && loaded->initializers_begin() != loaded->initializers_end()) {
            const std::shared_ptr<simt::Heap> heap = devices_.at(index)->heap;
            if (lock != nullptr) {
                note_unlock();
                lock->unlock();
                status = run_initializers(loaded, heap, &detail);
                lock->lock();
            } else {
                simt::RunControl control;
                simt::Outcome outcome = simt::initialize(loaded, heap, control);
                status = outcome.status;
                detail = std::move(outcome.detail);
            }
        }
        if (status != Status::success) {
            library.instances.erase(index);
            return fail(status, detail);
        }
        for (const auto& global : loaded->globals()) {
            Allocation variable{static_cast<std::byte*>(global.address), global.bytes, MemoryType::device,
                                index};
            variable.fixed = true;
            memory_.add(variable);
        }
    }
    *image = loaded;
    return Status::success;
}

Status HostRuntime::library_load_data(LibraryHandle* library, const void* image, std::size_t bytes) {
    ENTER(other);
    if (library == nullptr || image == nullptr) return fail(Status::invalid_value);
    release_unloaded();
    auto made = std::make_unique<Library>();
    made->image.assign(static_cast<const char*>(image), bytes);
    std::shared_ptr<simt::Image> first;
    // No other thread knows this library yet, so it stays valid while instance() releases the lock.
    TRY(instance(*made, thread().device, &first, &call.lock()));
    for (const auto& entry : first->kernels()) {
        auto kernel = std::make_unique<Kernel>(Kernel{made.get(), entry.lowered, {}});
        live_.insert(kernel.get());
        made->kernels.push_back(std::move(kernel));
    }
    live_.insert(made.get());
    *library = reinterpret_cast<LibraryHandle>(made.get());
    libraries_.emplace(made.get(), std::move(made));
    return Status::success;
}

// Running kernels of the library go on. Its code and variables are released when they have ended.
Status HostRuntime::library_unload(LibraryHandle library) {
    ENTER(other);
    const Found<Library> found = find_library(library);
    if (found == nullptr) return invalid_handle("library");
    Unloaded unloaded;
    for (const auto& [device, image] : found->instances) {
        for (CommandRef& last : last_of_device(device)) unloaded.last.push_back(std::move(last));
    }
    for (auto& kernel : found->kernels) live_.erase(kernel.get());
    live_.erase(library);
    unloaded.library = std::move(libraries_.extract(library).mapped());
    unloaded_.push_back(std::move(unloaded));
    release_unloaded();
    return Status::success;
}

void HostRuntime::release_unloaded() {
    std::erase_if(unloaded_, [&](const Unloaded& unloaded) {
        for (const CommandRef& last : unloaded.last) {
            if (!effects_.functional(last.get())) return false;
        }
        for (const auto& [device, image] : unloaded.library->instances) {
            for (const auto& global : image->globals()) memory_.remove(global.address);
        }
        return true;
    });
}

Status HostRuntime::library_get_kernel(KernelHandle* kernel, LibraryHandle library,
                                       const char* lowered_name) {
    ENTER(other);
    const Found<Library> found = find_library(library);
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
    const Found<const Library> found = find_library(library);
    if (found == nullptr) return invalid_handle("library");
    if (count == nullptr) return fail(Status::invalid_value);
    *count = static_cast<unsigned>(found->kernels.size());
    return Status::success;
}

Status HostRuntime::library_enumerate_kernels(KernelHandle* kernels, unsigned count, LibraryHandle library) {
    ENTER(other);
    const Found<const Library> found = find_library(library);
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
    const Found<Library> found = find_library(library);
    if (found == nullptr) return invalid_handle("library");
    if (name == nullptr) return fail(Status::invalid_value);
    std::shared_ptr<simt::Image> image;
    TRY(instance(*found, thread().device, &image));
    const auto* global = image->global(name);
    if (global == nullptr) {
        return fail(Status::symbol_not_found, std::string("the library has no variable '") + name + "'");
    }
    if (pointer != nullptr) *pointer = global->address;
    if (bytes != nullptr) *bytes = global->bytes;
    return Status::success;
}

}  // namespace cuscope::host
