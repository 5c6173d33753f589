// Plain types of the contract: handles, sizes, flags and descriptions. The numbers equal CUDA's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph_types.hpp"
#include "runtime/launch_types.hpp"
#include "runtime/memory_types.hpp"
#include "runtime/tensor_map_types.hpp"

namespace cuscope {

// Opaque typed handles. Only the runtime knows what they point to. No other code dereferences them or uses
// their value as a key, because runtimes reuse values.
using StreamHandle = struct StreamT*;
using EventHandle = struct EventT*;
using LibraryHandle = struct LibraryT*;
using KernelHandle = struct KernelT*;

// cudaStreamLegacy and cudaStreamPerThread. A null StreamHandle means the legacy default stream, as in CUDA.
inline const StreamHandle stream_legacy = reinterpret_cast<StreamHandle>(std::uintptr_t{1});
inline const StreamHandle stream_per_thread = reinterpret_cast<StreamHandle>(std::uintptr_t{2});

namespace flags {
inline constexpr unsigned stream_default = 0x0, stream_non_blocking = 0x1;
inline constexpr unsigned event_default = 0x0, event_blocking_sync = 0x1, event_disable_timing = 0x2,
                          event_interprocess = 0x4;
inline constexpr unsigned event_record_external = 0x1, event_wait_external = 0x1;
inline constexpr unsigned device_schedule_spin = 0x1, device_schedule_yield = 0x2,
                          device_schedule_blocking_sync = 0x4, device_map_host = 0x8;
}  // namespace flags

// cudaLimit
enum class Limit : int {
    stack_size = 0,
    printf_fifo_size = 1,
    malloc_heap_size = 2,
    dev_runtime_sync_depth = 3,
    dev_runtime_pending_launch_count = 4,
    max_l2_fetch_granularity = 5,
    persisting_l2_cache_size = 6,
};

// cudaDeviceAttr: the attributes that cuscope itself reads. Any other number may be queried as well.
enum class DeviceAttribute : int {
    max_threads_per_block = 1,
    max_block_dim_x = 2,
    max_block_dim_y = 3,
    max_block_dim_z = 4,
    max_grid_dim_x = 5,
    max_grid_dim_y = 6,
    max_grid_dim_z = 7,
    max_shared_memory_per_block = 8,
    total_constant_memory = 9,
    warp_size = 10,
    max_pitch = 11,
    max_registers_per_block = 12,
    clock_rate = 13,
    texture_alignment = 14,
    multiprocessor_count = 16,
    kernel_exec_timeout = 17,
    integrated = 18,
    can_map_host_memory = 19,
    compute_mode = 20,
    concurrent_kernels = 31,
    ecc_enabled = 32,
    pci_bus_id = 33,
    pci_device_id = 34,
    memory_clock_rate = 36,
    global_memory_bus_width = 37,
    l2_cache_size = 38,
    max_threads_per_multiprocessor = 39,
    async_engine_count = 40,
    unified_addressing = 41,
    texture_pitch_alignment = 51,
    compute_capability_major = 75,
    compute_capability_minor = 76,
    stream_priorities_supported = 78,
    max_shared_memory_per_multiprocessor = 81,
    max_registers_per_multiprocessor = 82,
    managed_memory = 83,
    pageable_memory_access = 88,
    concurrent_managed_access = 89,
    cooperative_launch = 95,
    max_shared_memory_per_block_optin = 97,
    host_register_supported = 99,
    max_blocks_per_multiprocessor = 106,
    reserved_shared_memory_per_block = 111,
    host_register_read_only_supported = 113,
    memory_pools_supported = 115,
};

// cudaDeviceProp: the fields that users query.
struct DeviceProperties {
    std::string name;
    std::size_t total_global_memory = 0;
    int compute_capability_major = 0, compute_capability_minor = 0;
    int multiprocessor_count = 0;
    int warp_size = 0;
    int max_threads_per_block = 0;
    int max_threads_per_multiprocessor = 0;
    int max_blocks_per_multiprocessor = 0;
    Dim3 max_block_dim, max_grid_dim;
    int registers_per_block = 0;
    int registers_per_multiprocessor = 0;
    std::size_t shared_memory_per_block = 0;
    std::size_t shared_memory_per_block_optin = 0;
    std::size_t shared_memory_per_multiprocessor = 0;
    std::size_t total_constant_memory = 0;
    std::size_t memory_pitch = 0, texture_alignment = 0, texture_pitch_alignment = 0;
    int l2_cache_size = 0;
    int memory_bus_width = 0;   // bits
    int clock_rate = 0;         // kHz
    int memory_clock_rate = 0;  // kHz
    int async_engine_count = 0;
    bool concurrent_kernels = false;
    bool integrated = false;
    bool can_map_host_memory = false;
    bool unified_addressing = false;
    bool managed_memory = false;
    bool concurrent_managed_access = false;
    bool pageable_memory_access = false;
    bool stream_priorities_supported = false;
    bool host_register_supported = false;
    bool host_register_read_only_supported = false;
    bool memory_pools_supported = false;
    bool cooperative_launch = false;
};

// cudaMemoryType
enum class MemoryType : int { unregistered = 0, host = 1, device = 2, managed = 3 };

// cudaPointerAttributes
struct PointerAttributes {
    MemoryType type = MemoryType::unregistered;
    int device = -2;
    void* device_pointer = nullptr;
    void* host_pointer = nullptr;
};

// The kind of a kernel's parameter, as far as an argument can be checked against it.
enum class ParameterKind : int { pointer, scalar, opaque };

struct Parameter {
    std::string name;  // as in the source; empty if unnamed
    std::string type;  // in the compiler's spelling: "float const*"
    ParameterKind kind = ParameterKind::opaque;
    bool is_const = false;  // pointer: to const
    std::string element;    // NumPy's name of the element or scalar type, "float32"; empty: none
    std::size_t size = 0;   // bytes of the parameter itself
};

struct KernelDescription {
    std::string name;     // in the user's spelling: "vec_add", "scale<float>"
    std::string lowered;  // its name in the image: "_Z7vec_addPKfS0_Pfi"
    std::vector<Parameter> parameters;
};

// The kinds of images that a source is compiled to. GPUs have plain ones only. The others call hooks:
// counting: for Runtime::launch_counted.
// timing: for Runtime::kernel_time_by_counts; counts, and has short loops unrolled as on a GPU.
// checking: for LaunchConfig::checked.
enum class ImageKind : int { plain, counting, timing, checking };

struct CompileRequest {
    std::string source;
    std::string file_name = "kernel.cu";  // the name of the source in messages
    std::vector<std::string> options;     // the compiler's options: "-DN=4", "-O3", "--use_fast_math"
    std::vector<std::string> include_paths;
    std::vector<std::pair<std::string, std::string>> headers;  // name, text
    std::vector<std::string> name_expressions;                 // instances of templates: "scale<float>"
    bool use_cache = true;
    ImageKind kind = ImageKind::plain;
    // The only kernel that the image needs, by its name in the plain image; empty: all kernels of the source.
    std::string only;
};

struct CompileResult {
    std::string image;  // the input of library_load_data
    std::vector<KernelDescription> kernels;
    std::string log;      // the compiler's messages, with the user's line numbers
    bool cached = false;  // taken from the cache of compiled kernels
};

}  // namespace cuscope
