// The kernels that the package brings, compiled when it was built (cuda_kernels/), loaded when first used.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/module/module.hpp"

namespace cuscope::ops {

// Those of one device.
class KernelLibrary {
  public:
    static KernelLibrary& of(core::Device& device);

    // Loads what operations on arrays use, if that is quick: where the package has machine code for the
    // device. For whoever makes memory or a stream, which is before anything can be held up: CUDA may wait
    // for all that runs on the device when it loads kernels. Only the first call of a device does something.
    static void load_ahead(core::Device& device) noexcept;

    // `file` is the source's path without its ending, "matmul/01_naive"; `name` the kernel's, "naive<float>".
    // With dynamic shared memory of more than every launch may have, say how much. The kernel stays until
    // the process ends or the device is reset.
    std::shared_ptr<core::Kernel> kernel(const std::string& file, const std::string& name,
                                         std::size_t dynamic_shared_bytes = 0);

  private:
    explicit KernelLibrary(core::Device& device) : device_(device) {}

    void forget_after_reset();  // with the mutex
    // Kept until the device is reset.
    std::shared_ptr<core::Module> module(const std::string& file);

    core::Device& device_;
    std::mutex mutex_;  // of what follows; loading is a call of the runtime, made without it
    unsigned generation_ = 0;
    bool loaded_ahead_ = false;  // in this generation
    std::map<std::string, std::shared_ptr<core::Module>> modules_;
    std::map<std::pair<std::string, std::string>, std::shared_ptr<core::Kernel>> kernels_;
};

}  // namespace cuscope::ops
