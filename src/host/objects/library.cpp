#include "host/objects/library.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "host/executor/executor.hpp"
#include "host/runtime/machine.hpp"
#include "runtime/process.hpp"

namespace cuscope::host {
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

Status Libraries::load_kernel(Kernel& kernel, LoadedKernel* loaded) {
    loaded->kernel = &kernel;
    loaded->device = &machine_.devices.current();
    TRY(instance(*kernel.library, loaded->device->ordinal, &loaded->image));
    const auto set = kernel.settings.find(loaded->device->ordinal);
    if (set != kernel.settings.end()) loaded->settings = set->second;
    loaded->entry = loaded->image->kernel(kernel.lowered);
    return Status::success;
}

Status Libraries::load_kernel(KernelHandle handle, LoadedKernel* loaded) {
    const Found<Kernel> found = find_kernel(handle);
    return found == nullptr ? invalid_handle("kernel") : load_kernel(*found, loaded);
}

Status Libraries::instance(Library& library, int index, std::shared_ptr<simt::Image>* image, Lock* lock) {
    auto& loaded = library.instances[index];
    if (!loaded) {
        std::string detail;
        Status status = simt::Image::load(library.image, &loaded, &detail);
        if (status == Status::success && loaded->initializers_begin() != loaded->initializers_end()) {
            const std::shared_ptr<simt::Heap> heap = machine_.devices[index].heap;
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
            machine_.memory.add(variable);
        }
    }
    *image = loaded;
    return Status::success;
}

Status Libraries::load(const void* image, std::size_t bytes, Lock& lock, LibraryHandle* made) {
    release_unloaded();
    auto library = std::make_unique<Library>();
    library->image.assign(static_cast<const char*>(image), bytes);
    std::shared_ptr<simt::Image> first;
    // No other thread knows this library yet, so it stays valid while instance() releases the lock.
    TRY(instance(*library, thread().device, &first, &lock));
    for (const auto& entry : first->kernels()) {
        library->kernels.push_back(std::make_unique<Kernel>(Kernel{library.get(), entry.lowered, {}, 0, {}}));
        kernels_.add(*library->kernels.back());
    }
    *made = libraries_.add(std::move(library));
    return Status::success;
}

void Libraries::unload(LibraryHandle handle) {
    Unloaded unloaded;
    unloaded.library = libraries_.remove(handle);
    for (const auto& [device, image] : unloaded.library->instances) {
        for (CommandRef& last : machine_.last_of_device(device)) unloaded.last.push_back(std::move(last));
    }
    for (const auto& kernel : unloaded.library->kernels) kernels_.remove(*kernel);
    unloaded_.push_back(std::move(unloaded));
    release_unloaded();
}

void Libraries::release_unloaded() {
    std::erase_if(unloaded_, [&](const Unloaded& unloaded) {
        for (const CommandRef& last : unloaded.last) {
            if (!machine_.effects.functional(last.get())) return false;
        }
        for (const auto& [device, image] : unloaded.library->instances) {
            for (const auto& global : image->globals()) machine_.memory.remove(global.address);
        }
        return true;
    });
}

void Libraries::forget_device(int device) {
    libraries_.for_each([&](Library& library) {
        const auto loaded = library.instances.find(device);
        if (loaded == library.instances.end()) return;
        for (const auto& global : loaded->second->globals()) machine_.memory.remove(global.address);
        library.instances.erase(loaded);
        for (const auto& kernel : library.kernels) {
            kernel->counting.erase(device);
            kernel->shapes.erase(device);
        }
    });
    release_unloaded();
}

}  // namespace cuscope::host
