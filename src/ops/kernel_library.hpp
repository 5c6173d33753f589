// The kernels that the package contains. They are compiled when the package is built (cuda_kernels/) and
// loaded when first used.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/module/module.hpp"

namespace cuscope::ops {

// The kernels of one device.
class KernelLibrary {
  public:
    static KernelLibrary& of(core::Device& device);

    // Loads the kernels of the array operations, if that is quick: if the package has machine code for the
    // device. Called wherever memory or a stream is created, because at that time no work can be held up:
    // when CUDA loads kernels, it may wait for everything that runs on the device. Only the first call for a
    // device does something.
    static void load_ahead(core::Device& device) noexcept;

    // `file` is the path of the source without its suffix, "matmul/01_naive"; `name` names the kernel,
    // "naive<float>". `dynamic_shared_bytes` is needed only above the default limit of a launch. The kernel
    // stays loaded until the process ends or the device is reset.
    std::shared_ptr<core::Kernel> kernel(const std::string& file, const std::string& name,
                                         std::size_t dynamic_shared_bytes = 0);

  private:
    explicit KernelLibrary(core::Device& device) : device_(device) {}

    void forget_after_reset();  // with the mutex held
    // Kept until the device is reset.
    std::shared_ptr<core::Module> module(const std::string& file);

    core::Device& device_;
    // guards the members below; not held while kernels are loaded, which calls the runtime
    std::mutex mutex_;
    unsigned generation_ = 0;
    bool loaded_ahead_ = false;  // in this generation
    std::map<std::string, std::shared_ptr<core::Module>> modules_;
    std::map<std::pair<std::string, std::string>, std::shared_ptr<core::Kernel>> kernels_;
};

}  // namespace cuscope::ops
