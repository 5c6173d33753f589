#include "ops/kernel_library.hpp"

#include "runtime/package_folder.hpp"

namespace cuscope::ops {
namespace {

constexpr std::size_t shared_of_every_launch = 48 * 1024;

std::shared_ptr<core::Module> load(core::Device& device, const std::string& file) {
    const char* const ending = device.simulated() ? ".image" : ".fatbin";
    const std::filesystem::path path = package_folder() / "kernels" / (file + ending);
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) {
        throw core::Error(
            Status::file_not_found, "loading the kernels of " + file,
            path.string() + " is not there: " +
                (device.simulated() ? "install cuscope again"
                                    : "cuscope was built without nvcc; build it with the CUDA toolkit"));
    }
    return core::Module::load(device.shared_from_this(), core::read_file(path), path.string());
}

}  // namespace

KernelLibrary& KernelLibrary::of(core::Device& device) {
    // Never taken apart: a device lives as long as the process.
    static std::mutex mutex;
    static auto* const libraries = new std::map<core::Device*, std::unique_ptr<KernelLibrary>>;
    const std::lock_guard lock(mutex);
    std::unique_ptr<KernelLibrary>& library = (*libraries)[&device];
    if (!library) library.reset(new KernelLibrary(device));
    return *library;
}

std::shared_ptr<core::Kernel> KernelLibrary::kernel(const std::string& file, const std::string& name,
                                                    std::size_t dynamic_shared_bytes) {
    const std::pair key(file, name);
    std::shared_ptr<core::Module> module;
    {
        const std::lock_guard lock(mutex_);
        if (generation_ != device_.generation()) {
            kernels_.clear();
            modules_.clear();
            generation_ = device_.generation();
        }
        if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
        if (const auto found = modules_.find(file); found != modules_.end()) module = found->second;
    }
    const unsigned generation = device_.generation();
    if (!module) module = load(device_, file);
    std::shared_ptr<core::Kernel> kernel = module->kernel(name);
    if (dynamic_shared_bytes > shared_of_every_launch)
        kernel->set_max_dynamic_shared(static_cast<int>(dynamic_shared_bytes));
    const std::lock_guard lock(mutex_);
    if (generation_ != generation) return kernel;
    modules_.emplace(file, module);
    return kernels_.emplace(key, std::move(kernel)).first->second;
}

}  // namespace cuscope::ops
