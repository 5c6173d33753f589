// Launches of the package's own kernels. Their arguments are not checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "cuda_kernels/host/native_call.hpp"
#include "ops/kernel_library.hpp"
#include "runtime/activity.hpp"

namespace cuscope::ops {

struct Launch {
    Dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    std::int64_t duration_ns = -1;  // on a simulated device; -1: the default for a kernel of unknown duration
    // the kernel itself waits for the kernel before it, where the device lets them overlap
    bool overlapping = false;
    bool brief = false;  // on a simulated device: it takes microseconds
};

// The launch attributes of overlapping launches; none on devices without programmatic dependent launch.
std::span<const LaunchAttribute> overlapping(const core::Device& device);

// Arguments are passed by value and must have exactly the types of the kernel's parameters.
template <class... Arguments>
void run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
         std::span<core::Memory* const> memories, Arguments... arguments) {
    LaunchConfig config;
    config.grid = launch.grid;
    config.block = launch.block;
    config.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    config.duration_ns = launch.duration_ns;
    config.brief = launch.brief;
    if (launch.overlapping) config.attributes = overlapping(stream->device());
    void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
    std::int64_t bytes = 0;
    for (const core::Memory* memory : memories) bytes += static_cast<std::int64_t>(memory->bytes());
    kernel.launch(config, stream, pointers, memories, bytes);
}

// Enough blocks for one thread per element, but no more than keep the device busy.
unsigned blocks_for(const core::Device& device, std::int64_t elements, unsigned threads);

// Work of so few operations takes microseconds on one core of the CPU.
constexpr std::int64_t most_brief_operations = 1 << 15;

// The kernel that run_natively() launches on a simulated device.
std::shared_ptr<core::Kernel> native_kernel(core::Device& device);

// While it lives, work that this thread issues has this name in traces: an index into activity_names().
class WorkName {
  public:
    explicit WorkName(std::uint32_t name) { call_context().work_name = name; }
    WorkName(const WorkName&) = delete;
    WorkName& operator=(const WorkName&) = delete;
    ~WorkName() { call_context().work_name = 0; }
};

// On a simulated device: runs `function` as a kernel of launch.grid.x blocks, on the cores of the CPU. Traces
// show it by the operation's name, not by the name of the kernel, which is the same for all operations.
template <class Operands>
void run_natively(const core::Kernel& native_kernel, std::uint32_t name,
                  void (*function)(const Operands&, unsigned block, unsigned blocks),
                  const Operands& operands, const Launch& launch, const core::StreamPtr& stream,
                  std::span<core::Memory* const> memories) {
    // The function and its operands, copied byte by byte into the kernel's argument.
    struct Packed {
        void (*function)(const Operands&, unsigned, unsigned);
        Operands operands;
    };
    static_assert(std::is_trivially_copyable_v<Operands>);
    static_assert(sizeof(Packed) <= sizeof(kernels::NativeCall::operands) && alignof(Packed) <= 16);
    kernels::NativeCall call;
    call.function = [](const void* packed, unsigned block, unsigned of) {
        const auto* const known = static_cast<const Packed*>(packed);
        known->function(known->operands, block, of);
    };
    const Packed packed{function, operands};
    std::memcpy(call.operands, &packed, sizeof packed);
    const WorkName named(name);
    run(native_kernel, launch, stream, memories, call);
}

}  // namespace cuscope::ops
