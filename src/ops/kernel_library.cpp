#include "ops/kernel_library.hpp"

#include <sstream>
#include <utility>

#include "cuda_kernels/gather/layout.hpp"
#include "ops/launch.hpp"
#include "runtime/package_folder.hpp"

namespace cuscope::ops {
namespace {

constexpr std::size_t shared_of_every_launch = 48 * 1024;

// The kernels that cs.sum and its relatives, cs.matmul and copies of strided arrays launch.
constexpr const char* used_by_operations[] = {"gather/gather",
                                              "gather/gather_tiles",
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
                                              "matmul/09_tensor_cores",
                                              "matmul/12_byte_planes",
                                              "matmul/to_planes",
                                              "matmul/few_rows",
                                              "matmul/add_parts"};

constexpr const char* warm_up_file = "gather/gather";

// True if the package has machine code for the GPU: code of the same major and no greater minor compute
// capability.
bool has_machine_code(const core::Device& device) {
    const auto& properties = device.properties();
    std::istringstream architectures(CUSCOPE_KERNEL_ARCHITECTURES);  // "80 90", set by the build
    for (int architecture = 0; architectures >> architecture;) {
        if (architecture / 10 == properties.compute_capability_major &&
            architecture % 10 <= properties.compute_capability_minor) {
            return true;
        }
    }
    return false;
}

// The file uses instructions of compute capability 9.0 that later devices lack.
bool is_for_hopper_alone(const std::string& file) {
    return file == "matmul/10_wgmma" || file == "matmul/11_tma" || file == "matmul/13_wgmma_planes" ||
           file == "matmul/14_split_floats" || file == "matmul/15_float8";
}

// These files have so many instances of their templates that compiling one instance at its first use is
// quicker than compiling the whole file: below a second, in place of up to eight.
bool is_compiled_by_instance(const std::string& file) {
    return file.starts_with("reduce_auto/") || file == "matmul/08_warp_tiles" ||
           file == "matmul/09_tensor_cores" || file == "matmul/12_byte_planes" || file == "matmul/few_rows" ||
           is_for_hopper_alone(file);
}

// The file that was compiled when the package was built; empty if there is none for the device.
std::filesystem::path compiled_ahead(const core::Device& device, const std::string& file) {
    if (!device.simulated() && !has_machine_code(device)) return {};
    const char* const ending = device.simulated() ? ".image" : ".fatbin";
    std::filesystem::path path = package_folder() / "kernels" / (file + ending);
    std::error_code none;
    return std::filesystem::is_regular_file(path, none) ? path : std::filesystem::path();
}

// `instance` is empty for all instances that the file offers.
std::shared_ptr<core::Module> load(core::Device& device, const std::string& file,
                                   const std::string& instance) {
    const core::DevicePtr shared = device.shared_from_this();
    const std::filesystem::path path = compiled_ahead(device, file);
    if (!path.empty() && !device.simulated())
        return core::Module::load(shared, core::read_file(path), path.string());
    const std::filesystem::path source = package_folder() / "kernels" / (file + ".cu");
    CompileRequest request;
    request.source = core::read_file(source);
    request.file_name = source.string();
    request.include_paths = {source.parent_path().string()};
    // Without -default-device, NVRTC takes a lambda with an `auto` parameter for host code; nvcc does not.
    if (!device.simulated()) request.options = {"-std=c++20", "-default-device"};
    if (!device.simulated() && is_for_hopper_alone(file))
        request.options.emplace_back("--gpu-architecture=sm_90a");
    if (!instance.empty()) {
        request.options.emplace_back("-DCUSCOPE_ONE_INSTANCE");
        request.name_expressions = {instance};
    }
    std::shared_ptr<core::Module> module;
    if (path.empty()) {
        module = core::Module::compile(shared, request);
    } else {
        module = core::Module::load(shared, core::read_file(path), path.string());
        module->instrument_with(request);
    }
    if (file == "host/native")
        module->leave_unchecked("an operation of cuscope that the processor computes without a kernel");
    return module;
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
        for (const char* file : used_by_operations) {
            if (!compiled_ahead(device, file).empty()) library.module(file, "");
        }
        if (compiled_ahead(device, warm_up_file).empty()) return;
        // Launches a kernel that copies nothing, in case the first launch on a device waits as well as the
        // loading. The effect of this launch alone was not measured.
        const core::StreamPtr stream =
            core::Stream::create(device.shared_from_this(), flags::stream_non_blocking, 0);
        const auto* const in = static_cast<const std::byte*>(nullptr);
        run(*library.kernel(warm_up_file, "gather<unsigned char>"), {{1, 1, 1}, {32, 1, 1}}, stream, {}, in,
            static_cast<std::byte*>(nullptr), kernels::Layout{}, 0LL);
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

std::shared_ptr<core::Module> KernelLibrary::module(const std::string& file, const std::string& name) {
    const bool by_instance = is_compiled_by_instance(file) && compiled_ahead(device_, file).empty();
    const std::pair key(file, by_instance ? name : std::string());
    const unsigned generation = device_.generation();
    {
        const std::lock_guard lock(mutex_);
        forget_after_reset();
        if (const auto found = modules_.find(key); found != modules_.end()) return found->second;
    }
    std::shared_ptr<core::Module> made = load(device_, file, key.second);
    const std::lock_guard lock(mutex_);
    if (generation_ != generation) return made;
    return modules_.emplace(key, std::move(made)).first->second;
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
    std::shared_ptr<core::Kernel> kernel = module(file, name)->kernel(name);
    if (dynamic_shared_bytes > shared_of_every_launch)
        kernel->set_max_dynamic_shared(static_cast<int>(dynamic_shared_bytes));
    const std::lock_guard lock(mutex_);
    if (generation_ != generation) return kernel;
    return kernels_.emplace(key, std::move(kernel)).first->second;
}

}  // namespace cuscope::ops
