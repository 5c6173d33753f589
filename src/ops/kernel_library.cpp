#include "ops/kernel_library.hpp"

#include <utility>

#include "cuda_kernels/gather/layout.hpp"
#include "ops/launch.hpp"
#include "runtime/package_folder.hpp"

namespace cuscope::ops {
namespace {

constexpr std::size_t shared_of_every_launch = 48 * 1024;

// The kernels of cs.sum and the other reductions, of cs.matmul, and of copies of strided arrays.
constexpr const char* used_by_operations[] = {"gather/gather",
                                              "gather/convert",
                                              "reduce_auto/sum",
                                              "reduce_auto/product",
                                              "reduce_auto/extremes",
                                              "reduce_auto/first_extremes",
                                              "reduce_auto/dot",
                                              "reduce_auto/truth",
                                              "matmul/01_naive",
                                              "matmul/02_coalesced",
                                              "matmul/03_shared_tiles",
                                              "matmul/04_thread_tile_1d",
                                              "matmul/05_thread_tile_2d",
                                              "matmul/06_vectorised",
                                              "matmul/07_double_buffered",
                                              "matmul/08_warp_tiles",
                                              "matmul/09_tensor_cores"};

// For other GPUs the driver translates PTX, which takes long.
bool has_machine_code(const core::Device& device) {
    const auto& properties = device.properties();
    return properties.compute_capability_major == 9 && properties.compute_capability_minor == 0;
}

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
    // Never destroyed: devices live as long as the process.
    static std::mutex mutex;
    static auto* const libraries = new std::map<core::Device*, std::unique_ptr<KernelLibrary>>;
    const std::lock_guard lock(mutex);
    std::unique_ptr<KernelLibrary>& library = (*libraries)[&device];
    if (!library) library.reset(new KernelLibrary(device));
    return *library;
}

void KernelLibrary::load_ahead(core::Device& device) noexcept {
    thread_local core::Device* last = nullptr;
    thread_local unsigned last_generation = 0;
    const unsigned generation = device.generation();
    if (last == &device && last_generation == generation) return;
    last = &device;
    last_generation = generation;
    if (device.simulated() || !has_machine_code(device)) return;
    try {
        KernelLibrary& library = of(device);
        {
            const std::lock_guard lock(library.mutex_);
            library.forget_after_reset();
            if (std::exchange(library.loaded_ahead_, true)) return;
        }
        for (const char* file : used_by_operations) library.module(file);
        // Launches a kernel that copies nothing, in case the first launch on a device waits as well as the
        // loading. The effect of this launch alone was not measured.
        const core::StreamPtr stream =
            core::Stream::create(device.shared_from_this(), flags::stream_non_blocking, 0);
        const auto* const in = static_cast<const std::byte*>(nullptr);
        run(*library.kernel("gather/gather", "gather<unsigned char>"), {{1, 1, 1}, {32, 1, 1}}, stream, {},
            in, static_cast<std::byte*>(nullptr), kernels::Layout{}, 0LL);
        stream->synchronize();
    } catch (...) {  // the operation that needs a kernel reports the error
    }
}

void KernelLibrary::forget_after_reset() {
    if (generation_ == device_.generation()) return;
    kernels_.clear();
    modules_.clear();
    loaded_ahead_ = false;
    generation_ = device_.generation();
}

std::shared_ptr<core::Module> KernelLibrary::module(const std::string& file) {
    const unsigned generation = device_.generation();
    {
        const std::lock_guard lock(mutex_);
        forget_after_reset();
        if (const auto found = modules_.find(file); found != modules_.end()) return found->second;
    }
    std::shared_ptr<core::Module> made = load(device_, file);
    const std::lock_guard lock(mutex_);
    if (generation_ != generation) return made;
    return modules_.emplace(file, std::move(made)).first->second;
}

std::shared_ptr<core::Kernel> KernelLibrary::kernel(const std::string& file, const std::string& name,
                                                    std::size_t dynamic_shared_bytes) {
    const std::pair key(file, name);
    const unsigned generation = device_.generation();
    {
        const std::lock_guard lock(mutex_);
        forget_after_reset();
        if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
    }
    std::shared_ptr<core::Kernel> kernel = module(file)->kernel(name);
    if (dynamic_shared_bytes > shared_of_every_launch)
        kernel->set_max_dynamic_shared(static_cast<int>(dynamic_shared_bytes));
    const std::lock_guard lock(mutex_);
    if (generation_ != generation) return kernel;
    return kernels_.emplace(key, std::move(kernel)).first->second;
}

}  // namespace cuscope::ops
