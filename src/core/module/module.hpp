// A module: a compiled image loaded on a device, and its kernels. A kernel keeps the loaded image, so it
// outlives the Module that it came from.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/module/arguments.hpp"
#include "core/unique_handle.hpp"
#include "runtime/order/notes.hpp"

namespace cuscope::core {

struct LibraryTraits {
    using Handle = LibraryHandle;
    static constexpr const char* call = "cudaLibraryUnload";
    static Status destroy(Runtime& runtime, Handle handle) { return runtime.library_unload(handle); }
};
using Library = unique_handle<LibraryTraits>;

// The image that counts the operations of kernels, or checks them: compiled from the same source when it is
// first needed.
class InstrumentedImage {
  public:
    // The request that the kernels were compiled from. `only`: the name of the only kernel that the image is
    // for, or empty.
    InstrumentedImage(DevicePtr device, std::shared_ptr<const CompileRequest> request, ImageKind kind,
                      std::string only);
    // Valid as long as this object lives, until the device is reset.
    KernelHandle kernel(const std::string& lowered);

  private:
    DevicePtr device_;
    const std::shared_ptr<const CompileRequest> request_;
    const ImageKind kind_;
    const std::string only_;
    std::mutex mutex_;
    std::shared_ptr<Library> library_;
};

// Makes the simulated times of a kernel come from counts.
class KernelTiming {
  public:
    // The request that the kernel's library was compiled from. `only`: as in InstrumentedImage.
    KernelTiming(DevicePtr device, std::shared_ptr<const CompileRequest> request, std::string only)
        : device_(std::move(device)), request_(std::move(request)), only_(std::move(only)) {}
    // Does nothing if CUSCOPE_KERNEL_TIME=bytes. Done once: before the first launch whose duration is not
    // given.
    void prepare(KernelHandle kernel) {
        if (!done_.load(std::memory_order_acquire)) prepare_once(kernel);
    }

  private:
    void prepare_once(KernelHandle kernel);

    std::atomic<bool> done_{false};
    const DevicePtr device_;
    const std::shared_ptr<const CompileRequest> request_;
    const std::string only_;
};

class Kernel {
  public:
    Kernel(DevicePtr device, std::shared_ptr<Library> library, const KernelDescription& description);
    // For an image without descriptions: the parameters are read from the kernel's mangled name.
    Kernel(DevicePtr device, std::shared_ptr<Library> library, KernelHandle handle);

    const std::string& name() const { return name_; }
    // Only to be called before other threads have the kernel.
    void count_with(std::shared_ptr<InstrumentedImage> image) { counting_ = std::move(image); }
    void check_with(std::shared_ptr<InstrumentedImage> image) { checking_ = std::move(image); }
    void time_with(std::unique_ptr<KernelTiming> timing) { timing_ = std::move(timing); }
    void compiled_from(std::shared_ptr<const CompileRequest> request) { request_ = std::move(request); }
    // Null if the source is not known.
    const CompileRequest* request() const { return request_.get(); }
    void leave_unchecked(std::string reason) {
        checking_ = nullptr;
        unchecked_ = std::move(reason);
    }
    void name_by_parameters();  // the same; names an overloaded kernel "f(int*)"
    const std::string& lowered() const { return lowered_; }
    const std::vector<ParameterCheck>& parameters() const { return parameters_; }
    const DevicePtr& device() const { return device_; }

    FunctionAttributes attributes() const;
    void set_max_dynamic_shared(int bytes) const;
    void set_attribute(FunctionAttribute attribute, int value) const;
    void set_required_cluster(const Dim3& cluster) const;  // sets all three sizes or none
    void set_cache_config(FunctionCache config) const;
    int occupancy(int block_size, std::size_t dynamic_shared_bytes,
                  bool disable_caching_override = false) const;
    std::pair<int, int> best_block_size(std::size_t dynamic_shared_bytes, int limit) const;  // grid, block
    // With shared memory that depends on the block size. `blocks_of` asks occupancy().
    std::pair<int, int> best_block_size(const std::function<std::size_t(int)>& shared_bytes, int limit,
                                        const std::function<int(int, std::size_t)>& blocks_of) const;
    std::size_t available_shared(int blocks, int block_size) const;
    int max_active_clusters(const LaunchConfig& config) const;
    int max_cluster_size(LaunchConfig config) const;

    // Sets config.stream and config.array_bytes.
    void launch(LaunchConfig config, const StreamPtr& stream, std::span<Argument> arguments) const;
    // The same with arguments that were checked and packed before.
    void launch(LaunchConfig config, const StreamPtr& stream, void** pointers,
                std::span<Memory* const> memories, std::int64_t array_bytes) const;
    // Launches, waits, and returns the counts. Only on a simulated device, for a kernel with known source.
    LaunchCounts count(LaunchConfig config, const StreamPtr& stream, std::span<Argument> arguments) const;
    // Launches, waits, and returns the parts of the simulated time of the launch; for the same kernels.
    KernelTime explain_time(LaunchConfig config, const StreamPtr& stream,
                            std::span<Argument> arguments) const;
    // To be called before a launch or a kernel node with this configuration is made, unless it is checked.
    void prepare_time(const LaunchConfig& config) const {
        if (timing_ && config.duration_ns < 0) timing_->prepare(handle_);
    }

    KernelHandle handle() const { return handle_; }
    // While it lives, checks know the memory that this kernel gets from the calling thread. Null: no check
    // runs.
    std::unique_ptr<order::KernelScope> note_for_checks(void** pointers,
                                                        std::span<Memory* const> memories) const;
    // The kernel of the image that checks; null if there is none.
    KernelHandle checked() const;
    // The object that keeps the handle valid.
    std::shared_ptr<void> keeper() const { return library_; }
    // Throws if `call` cannot launch the kernel in the stream and wait for it: nothing is enqueued then.
    void check_waited_launch(const Stream& stream, const std::string& call) const;

  private:
    void check_launch(const Stream& stream) const;
    [[noreturn]] void fail_launch(Status status, const LaunchConfig& config) const;
    void load_parameters(std::vector<Parameter> known);
    void check_usable() const { device_->check_generation(library_->generation(), "Kernel"); }

    DevicePtr device_;
    std::shared_ptr<Library> library_;
    KernelHandle handle_ = nullptr;
    std::string name_, lowered_;
    std::vector<ParameterCheck> parameters_;
    std::shared_ptr<InstrumentedImage> counting_, checking_;  // null: the source is not known
    std::unique_ptr<KernelTiming> timing_;                    // null: the time never comes from counts
    std::shared_ptr<const CompileRequest> request_;           // null: the source is not known
    std::string unchecked_ = "it was loaded from a compiled image, without its source";
    const char* label_ = nullptr;  // the name, for notes
};

class Module {
  public:
    static std::shared_ptr<Module> compile(const DevicePtr& device, const CompileRequest& request);
    // `origin` names the image in messages.
    static std::shared_ptr<Module> load(const DevicePtr& device, std::string image,
                                        const std::string& origin);
    // Counts and checks kernels of a loaded image by compiling their source. Their simulated times stay those
    // of the bytes. Only to be called before other threads have the module.
    void instrument_with(const CompileRequest& request);
    // The same for kernels that checks cannot see into; the reason is for the user.
    void leave_unchecked(const std::string& reason);

    // By the name in the source (spaces do not matter) or by the lowered name. If several kernels share the
    // name, add the parameters: "f(int*)". Throws std::out_of_range with a list of the names.
    std::shared_ptr<Kernel> kernel(const std::string& name) const;
    // A __device__ or __constant__ variable. The memory keeps the image loaded. Throws std::out_of_range.
    std::shared_ptr<DeviceMemory> symbol(const std::string& name) const;
    const std::vector<std::shared_ptr<Kernel>>& kernels() const { return kernels_; }
    const std::string& image() const { return image_; }
    const std::string& log() const { return log_; }
    bool cached() const { return cached_; }
    const DevicePtr& device() const { return device_; }

    explicit Module(DevicePtr device) : device_(std::move(device)) {}

  private:
    void instrument_with(const std::shared_ptr<const CompileRequest>& request, bool instances_apart);

    DevicePtr device_;
    std::shared_ptr<Library> library_;
    std::vector<std::shared_ptr<Kernel>> kernels_;
    std::vector<std::string> templates_;  // in the source, for the message about an unknown kernel
    std::string image_, log_;
    bool cached_ = false;
};

// The bytes of a file; an Error if it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace cuscope::core
