#include <cstring>
#include <sstream>
#include <utility>

#include "core/graph/capture.hpp"
#include "core/module/module.hpp"
#include "core/stream/same_device.hpp"
#include "runtime/checking.hpp"
#include "runtime/order/notes.hpp"
#include "runtime/process.hpp"

namespace cuscope::core {
namespace {

// Names the limits of the device that a launch exceeds. The runtime's status only says that a value is
// invalid.
std::string excess(const LaunchConfig& config, const DeviceProperties& limits,
                   const FunctionAttributes& kernel) {
    std::ostringstream text;
    const auto over = [&](unsigned value, unsigned limit, const char* what) {
        if (value > limit || value == 0) {
            text << what << " is " << value << "; this device allows 1 to " << limit << ". ";
        }
    };
    over(config.block.x, limits.max_block_dim.x, "block.x");
    over(config.block.y, limits.max_block_dim.y, "block.y");
    over(config.block.z, limits.max_block_dim.z, "block.z");
    over(config.grid.x, limits.max_grid_dim.x, "grid.x");
    over(config.grid.y, limits.max_grid_dim.y, "grid.y");
    over(config.grid.z, limits.max_grid_dim.z, "grid.z");
    const std::size_t threads = std::size_t{config.block.x} * config.block.y * config.block.z;
    const int allowed =
        kernel.max_threads_per_block > 0 ? kernel.max_threads_per_block : limits.max_threads_per_block;
    if (threads > static_cast<std::size_t>(allowed)) {
        text << "The block has " << threads << " threads; this kernel allows " << allowed
             << " on this device: use a smaller block and a larger grid. ";
    }
    const auto dynamic = static_cast<std::size_t>(std::max(kernel.max_dynamic_shared_size, 0));
    if (config.dynamic_shared_bytes > dynamic) {
        text << "The launch asks for " << config.dynamic_shared_bytes
             << " bytes of dynamic shared memory; the kernel is allowed " << dynamic;
        if (config.dynamic_shared_bytes + kernel.shared_size <= limits.shared_memory_per_block_optin) {
            text << ": set kernel.max_dynamic_shared = " << config.dynamic_shared_bytes << " first. ";
        } else {
            text << ", and the device has " << limits.shared_memory_per_block_optin << " for a block. ";
        }
    }
    const Dim3& cluster = config.cluster;
    const std::size_t blocks = std::size_t{cluster.x} * cluster.y * cluster.z;
    if (blocks > 0 && (config.grid.x % cluster.x != 0 || config.grid.y % cluster.y != 0 ||
                       config.grid.z % cluster.z != 0)) {
        text << "The grid (" << config.grid.x << ", " << config.grid.y << ", " << config.grid.z
             << ") is no multiple of the cluster (" << cluster.x << ", " << cluster.y << ", " << cluster.z
             << "): round it up. ";
    }
    if (blocks > 8 && kernel.non_portable_cluster_size_allowed == 0) {
        text << "A cluster of " << blocks << " blocks is more than the 8 of every device: set "
             << "kernel.non_portable_cluster_size_allowed = True first, if the device has them. ";
    }
    const Dim3 required{static_cast<unsigned>(kernel.required_cluster_width),
                        static_cast<unsigned>(kernel.required_cluster_height),
                        static_cast<unsigned>(kernel.required_cluster_depth)};
    if (required.x != 0 && blocks > 0 && cluster != required) {
        text << "The kernel requires clusters of (" << required.x << ", " << required.y << ", " << required.z
             << ") blocks. ";
    }
    std::string result = text.str();
    if (!result.empty()) result.pop_back();
    return result;
}

}  // namespace

void Kernel::launch(LaunchConfig config, const StreamPtr& stream, std::span<Argument> arguments) const {
    PackedArguments packed(name_, parameters_, arguments, *device_);
    launch(config, stream, packed.pointers(), packed.memories(), packed.array_bytes());
}

void Kernel::launch(LaunchConfig config, const StreamPtr& stream, void** pointers,
                    std::span<Memory* const> memories, std::int64_t array_bytes) const {
    check_launch(*stream);
    config.stream = stream->handle();
    config.array_bytes = array_bytes;
    std::unique_ptr<order::KernelScope> note;
    if (checking()) [[unlikely]] {
        if (!config.unchecked) config.checked = checked();
        note = note_for_checks(pointers, memories);
    }
    const DeviceScope scope(*device_);
    if (config.checked == nullptr) prepare_time(config);
    const Enqueue enqueue(*stream);
    const bool captures = captures_underway() > 0;
    if (captures) refuse_legacy_in_capture(*stream, "cudaLaunchKernel");
    const auto capture = captures ? stream->capture() : nullptr;
    if (capture) {
        capture->keep(memories, keeper());
    } else {
        for (Memory* memory : memories) memory->use(stream, enqueue);
    }
    const Status status = device_->runtime().launch_kernel(config, handle_, pointers);
    if (status != Status::success) fail_launch(status, config);
    stream->note(Enqueued::kernel, reinterpret_cast<std::uintptr_t>(label_), packed(config.grid),
                 packed(config.block));
}

// What the parameters tell of the memory that a launch uses.
std::unique_ptr<order::KernelScope> Kernel::note_for_checks(void** pointers,
                                                            std::span<Memory* const> memories) const {
    if (!checking()) [[likely]]
        return nullptr;
    struct Piece {
        std::uintptr_t begin, end;
    };
    std::vector<Piece> pieces;
    for (const Memory* memory : memories) {
        const void* begin = nullptr;
        if (const auto* const array = dynamic_cast<const DeviceMemory*>(memory)) {
            begin = array->pointer();
            if (array->kind() == DeviceMemory::Kind::foreign) know_memory(begin, array->bytes());
        }
        if (const auto* const pinned = dynamic_cast<const PinnedMemory*>(memory)) begin = pinned->pointer();
        const auto first = reinterpret_cast<std::uintptr_t>(begin);
        if (begin != nullptr) pieces.push_back({first, first + memory->bytes()});
    }
    const order::Spans spans = std::exchange(order::packed_spans(), {});
    // 0: not known here.
    const auto end_of = [&](std::uintptr_t address) -> std::uintptr_t {
        for (const auto& [begin, bytes] : spans)
            if (begin == address) return begin + bytes;
        for (const Piece& piece : pieces)
            if (address >= piece.begin && address < piece.end) return piece.end;
        return 0;
    };
    std::vector<order::Argument> arguments;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const Parameter& parameter = parameters_[i].parameter;
        const bool pointer = parameter.kind == ParameterKind::pointer;
        // A structure may hold addresses, too.
        for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= parameter.size;
             at += sizeof(std::uintptr_t)) {
            if (!pointer && parameter.kind != ParameterKind::opaque) break;
            order::Argument argument;
            std::memcpy(&argument.begin, static_cast<const std::byte*>(pointers[i]) + at,
                        sizeof argument.begin);
            if (argument.begin == 0) continue;
            argument.end = end_of(argument.begin);
            if (!pointer && argument.end == 0) continue;
            argument.written = pointer ? !parameter.is_const : order::OutputScope::holds(argument.begin);
            argument.polled = parameter.type.find("volatile") != std::string::npos;
            argument.name = parameter.name.empty() ? std::to_string(i) : parameter.name;
            arguments.push_back(std::move(argument));
        }
    }
    return std::make_unique<order::KernelScope>(name_, std::move(arguments));
}

KernelHandle Kernel::checked() const {
    if (!device_->simulated()) return nullptr;
    if (!checking_) {
        count_unchecked_launch(name_, unchecked_);
        return nullptr;
    }
    try {
        return checking_->kernel(lowered_);
    } catch (const CompileFailure& failure) {
        count_unchecked_launch(name_,
                               std::string("the build that checks does not compile: ") + failure.what());
        return nullptr;
    }
}

LaunchCounts Kernel::count(LaunchConfig config, const StreamPtr& stream,
                           std::span<Argument> arguments) const {
    if (!device_->runtime().simulated()) {
        throw Error(
            Status::not_supported, "counting what " + name_ + " does",
            device_->name() + " is a real GPU, which does not count",
            "Count on a simulated device, cs.Device('host:0'), or run the program under Nsight Compute "
            "(ncu).");
    }
    if (!counting_) {
        throw std::invalid_argument(
            "counting what " + name_ +
            " does takes its source, and this kernel was loaded from a compiled image: compile it, "
            "cs.Module(source) or cs.Module.from_file('kernel.cu')");
    }
    PackedArguments packed(name_, parameters_, arguments, *device_);
    check_waited_launch(*stream, "counting what " + name_ + " does");
    config.stream = stream->handle();
    config.array_bytes = packed.array_bytes();
    const DeviceScope scope(*device_);
    prepare_time(config);
    if (checking()) count_unchecked_launch(name_, "count() counts what it does instead");
    const Enqueue enqueue(*stream);
    KernelHandle const counting = counting_->kernel(lowered_);
    for (Memory* memory : packed.memories()) memory->use(stream, enqueue);
    LaunchCounts counts;
    const Status status =
        device_->runtime().launch_counted(config, handle_, packed.pointers(), counting, &counts);
    if (status == Status::not_ready) throw Interrupted();
    if (status != Status::success) fail_launch(status, config);
    return counts;
}

KernelTime Kernel::explain_time(LaunchConfig config, const StreamPtr& stream,
                                std::span<Argument> arguments) const {
    if (!device_->runtime().simulated()) {
        throw Error(
            Status::not_supported, "explaining the time of " + name_,
            device_->name() + " is a real GPU, which measures times",
            "Ask a simulated device, cs.Device('host:0'), or run the program under Nsight Compute (ncu).");
    }
    if (!timing_) {
        throw std::invalid_argument(
            "explaining the time of " + name_ +
            " takes its source, and this kernel was loaded from a compiled image: compile it, "
            "cs.Module(source) or cs.Module.from_file('kernel.cu')");
    }
    PackedArguments packed(name_, parameters_, arguments, *device_);
    check_waited_launch(*stream, "explaining the time of " + name_);
    // A launch is either checked or sampled.
    config.unchecked = true;
    if (checking()) count_unchecked_launch(name_, "explain_time() counts what its blocks do instead");
    launch(config, stream, packed.pointers(), packed.memories(), packed.array_bytes());
    stream->synchronize();
    config.stream = stream->handle();
    const DeviceScope scope(*device_);
    const Look looking;
    KernelTime time;
    const Status status = device_->runtime().kernel_time(config, handle_, packed.pointers(), &time);
    if (status != Status::success) {
        device_->runtime().get_last_error();
        throw std::invalid_argument(
            "the time of " + name_ +
            " does not come from counts: cuscope takes the bytes of the arguments if CUSCOPE_KERNEL_TIME is "
            "'bytes', if the compiler is older than GCC 12 or Clang 14, and for kernels that read clocks, "
            "use "
            "clusters, or are of a module with __device__ variables, which they may change");
    }
    return time;
}

void Kernel::check_launch(const Stream& stream) const {
    check_usable();
    stream.check_usable();
    check_same_device({.what = "kernel", .name = name_}, *device_, stream);
}

void Kernel::check_waited_launch(const Stream& stream, const std::string& call) const {
    check_launch(stream);
    refuse_own_wait_in_capture(
        stream, call,
        "the call waits for its launch, but captured work does not run: call it outside "
        "the capture, or in a stream that is not being captured");
    refuse_legacy_in_capture(stream, "cudaLaunchKernel");
}

void Kernel::fail_launch(Status status, const LaunchConfig& config) const {
    std::string hint;
    FunctionAttributes attributes;
    if (status == Status::cooperative_launch_too_large) {
        hint =
            "A cooperative grid runs all at once: kernel.occupancy(block, shared) blocks on each of the "
            "device's " +
            std::to_string(device_->properties().multiprocessor_count) +
            " multiprocessors at most; let each block do more.";
    } else if (status == Status::not_supported) {
        hint =
            "A kernel that launches graphs is a node of one: capture the launch, or take Graph.add_kernel().";
    } else if (!is_sticky(status) &&
               device_->runtime().func_get_attributes(&attributes, handle_) == Status::success) {
        hint = excess(config, device_->properties(), attributes);
    }
    device_->fail(status, "cudaLaunchKernel", "launching " + name_, hint);
}

}  // namespace cuscope::core
