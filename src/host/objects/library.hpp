// Libraries of the host runtime, which hold kernels and variables. Private to src/host.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/executor/image.hpp"
#include "host/objects/kernel.hpp"
#include "host/runtime/objects.hpp"
#include "host/sim/command.hpp"
#include "runtime/status.hpp"

namespace cuscope::host {

struct Machine;

struct Library {
    std::string image;
    std::map<int, std::shared_ptr<simt::Image>> instances;  // one for each device that uses it
    std::vector<std::unique_ptr<Kernel>> kernels;
};

class Libraries {
  public:
    explicit Libraries(Machine& machine) : machine_(machine) {}

    Found<Library> find(LibraryHandle handle) const { return libraries_.find(handle); }
    Found<Kernel> find_kernel(KernelHandle handle) const { return kernels_.find(handle); }
    // The kernel on the current device.
    Status load_kernel(KernelHandle handle, LoadedKernel* loaded);
    Status load_kernel(Kernel& kernel, LoadedKernel* loaded);

    // An instance of an image holds its __device__ and __constant__ variables, so each device has its own
    // instance. `lock` is released while the image's initialisers run. Without `lock` they run directly in
    // this call; use this only if they have already run to their end on another device.
    Status instance(Library& library, int device, std::shared_ptr<simt::Image>* image, Lock* lock = nullptr);
    Status load(const void* image, std::size_t bytes, Lock& lock, LibraryHandle* made);
    // Running kernels of the library go on. Its code and variables are released when they have ended.
    void unload(LibraryHandle handle);
    // Releases unloaded libraries that no command uses any more.
    void release_unloaded();
    // Drops the instances on the device, for a reset.
    void forget_device(int device);

  private:
    struct Unloaded {
        std::unique_ptr<Library> library;
        std::vector<CommandRef> last;  // commands that may still use the library
    };

    Machine& machine_;
    Objects<Library, LibraryHandle> libraries_;
    Handles<Kernel, KernelHandle> kernels_;
    std::vector<Unloaded> unloaded_;
};

}  // namespace cuscope::host
