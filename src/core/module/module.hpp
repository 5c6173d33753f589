// A module: a compiled image loaded on a device, and the kernels in it. A kernel keeps what it was loaded
// from, so it outlives the Module that it was asked of.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/module/arguments.hpp"
#include "core/unique_handle.hpp"

namespace cuscope::core {

struct LibraryTraits {
    using Handle = LibraryHandle;
    static constexpr const char* call = "cudaLibraryUnload";
    static Status destroy(Runtime& runtime, Handle handle) { return runtime.library_unload(handle); }
};
using Library = unique_handle<LibraryTraits>;

// What the kernels of a module count with: an image compiled of the same source when first it is needed.
class CountingImage {
  public:
    CountingImage(DevicePtr device, CompileRequest request);
    // Valid while this lives, until the device is reset.
    KernelHandle kernel(const std::string& lowered);

  private:
    DevicePtr device_;
    CompileRequest request_;
    std::mutex mutex_;
    std::shared_ptr<Library> library_;
};

class Kernel {
  public:
    Kernel(DevicePtr device, std::shared_ptr<Library> library, const KernelDescription& description);
    // Of an image without descriptions: the signature is read off the kernel's mangled name.
    Kernel(DevicePtr device, std::shared_ptr<Library> library, KernelHandle handle);

    const std::string& name() const { return name_; }
    // Before anybody else has it, too.
    void count_with(std::shared_ptr<CountingImage> image) { counting_ = std::move(image); }
    void name_by_parameters();  // before anybody else has it: "f(int*)" where it is one of several
    const std::string& lowered() const { return lowered_; }
    const std::vector<ParameterCheck>& parameters() const { return parameters_; }
    const DevicePtr& device() const { return device_; }

    FunctionAttributes attributes() const;
    void set_max_dynamic_shared(int bytes) const;
    void set_attribute(FunctionAttribute attribute, int value) const;
    void set_required_cluster(const Dim3& cluster) const;  // all or nothing
    void set_cache_config(FunctionCache config) const;
    int occupancy(int block_size, std::size_t dynamic_shared_bytes,
                  bool disable_caching_override = false) const;
    std::pair<int, int> best_block_size(std::size_t dynamic_shared_bytes, int limit) const;  // grid, block
    // With shared memory that depends on the block; `blocks_of` is how occupancy() is to be asked.
    std::pair<int, int> best_block_size(const std::function<std::size_t(int)>& shared_bytes, int limit,
                                        const std::function<int(int, std::size_t)>& blocks_of) const;
    std::size_t available_shared(int blocks, int block_size) const;
    int max_active_clusters(const LaunchConfig& config) const;
    int max_cluster_size(LaunchConfig config) const;

    // config.stream and config.array_bytes are set here.
    void launch(LaunchConfig config, const StreamPtr& stream, std::span<Argument> arguments) const;
    // The same with arguments that were checked and packed before.
    void launch(LaunchConfig config, const StreamPtr& stream, void** pointers,
                std::span<Memory* const> memories, std::int64_t array_bytes) const;
    // launch(), and waits for it. On a simulated device, of a kernel whose source is known.
    LaunchCounts count(LaunchConfig config, const StreamPtr& stream, std::span<Argument> arguments) const;

    KernelHandle handle() const { return handle_; }
    // What keeps the handle.
    std::shared_ptr<void> keeper() const { return library_; }

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
    std::shared_ptr<CountingImage> counting_;  // null: the source is not known
    const char* label_ = nullptr;              // the name, for notes
};

class Module {
  public:
    static std::shared_ptr<Module> compile(const DevicePtr& device, const CompileRequest& request);
    // `origin` is what messages call the image.
    static std::shared_ptr<Module> load(const DevicePtr& device, std::string image,
                                        const std::string& origin);

    // By the name that its user writes, spaces aside, or the lowered one; of one that shares its name, with
    // its parameters: "f(int*)". Throws std::out_of_range with the names there are.
    std::shared_ptr<Kernel> kernel(const std::string& name) const;
    // A __device__ or __constant__ variable; the memory keeps the image loaded. Throws std::out_of_range.
    std::shared_ptr<DeviceMemory> symbol(const std::string& name) const;
    const std::vector<std::shared_ptr<Kernel>>& kernels() const { return kernels_; }
    const std::string& image() const { return image_; }
    const std::string& log() const { return log_; }
    bool cached() const { return cached_; }
    const DevicePtr& device() const { return device_; }

    explicit Module(DevicePtr device) : device_(std::move(device)) {}

  private:
    DevicePtr device_;
    std::shared_ptr<Library> library_;
    std::vector<std::shared_ptr<Kernel>> kernels_;
    std::vector<std::string> templates_;  // of the source, for the message about a kernel that is not there
    std::string image_, log_;
    bool cached_ = false;
};

// The bytes of a file; an Error if it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace cuscope::core
