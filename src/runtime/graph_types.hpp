// Plain types of the contract for graphs and stream capture. Numbers are CUDA's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/launch_types.hpp"
#include "runtime/memory_operation_types.hpp"
#include "runtime/memory_types.hpp"
#include "runtime/semaphore_types.hpp"

namespace cuscope {

using GraphHandle = struct GraphT*;
using GraphNodeHandle = struct GraphNodeT*;
using GraphExecHandle = struct GraphExecT*;
using KernelHandle = struct KernelT*;
using ConditionalHandle = unsigned long long;  // cudaGraphConditionalHandle
using HostFunction = void (*)(void* data);
using StreamCallback = void (*)(StreamHandle stream, int status, void* data);  // cudaStreamCallback_t

// cudaStreamCaptureMode
enum class CaptureMode : int { global = 0, thread_local_ = 1, relaxed = 2 };
// cudaStreamCaptureStatus
enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };

// cudaGraphNodeType
enum class GraphNodeType : int {
    kernel = 0,
    memcpy = 1,
    memset = 2,
    host = 3,
    graph = 4,
    empty = 5,
    wait_event = 6,
    event_record = 7,
    external_semaphore_signal = 8,
    external_semaphore_wait = 9,
    mem_alloc = 10,
    mem_free = 11,
    batch_mem_op = 12,  // the driver's: the library has no number for it
    conditional = 13,
};

// cudaGraphDependencyType, and the ports of kernel nodes
enum class DependencyType : unsigned char { full = 0, programmatic = 1 };
namespace ports {
inline constexpr unsigned char kernel_default = 0, kernel_programmatic = 1, kernel_launch_order = 2;
}

// cudaGraphEdgeData
struct GraphEdgeData {
    unsigned char from_port = 0, to_port = 0;
    DependencyType type = DependencyType::full;
    bool operator==(const GraphEdgeData&) const = default;
};

// cudaKernelNodeParams; arguments as in launch_kernel. Attributes are set one by one. The last two are what a
// simulation wants to know, as in LaunchConfig.
struct KernelNodeParameters {
    KernelHandle kernel = nullptr;
    Dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    void** arguments = nullptr;
    std::int64_t duration_ns = -1, array_bytes = -1;
};

// cudaMemsetParams: the width in elements of 1, 2 or 4 bytes.
struct MemsetNodeParameters {
    void* pointer = nullptr;
    std::size_t pitch = 0;
    unsigned value = 0;
    unsigned element_bytes = 1;
    std::size_t width = 0, height = 1;
};

// cudaHostNodeParams
struct HostNodeParameters {
    HostFunction function = nullptr;
    void* data = nullptr;
};

// cudaMemAllocNodeParams
struct AllocNodeParameters {
    MemPoolProperties pool;
    const MemAccessDescription* access = nullptr;
    std::size_t access_count = 0;
    std::size_t bytes = 0;
    void* pointer = nullptr;  // out
};

// cudaGraphConditionalNodeType
enum class ConditionalType : int { if_ = 0, while_ = 1, switch_ = 2 };

// cudaConditionalNodeParams
struct ConditionalNodeParameters {
    ConditionalHandle handle = 0;
    ConditionalType type = ConditionalType::if_;
    unsigned size = 1;
    GraphHandle* bodies = nullptr;  // out: `size` of them, which the node keeps
};

// cudaGraphNodeParams: the type says which of the fields counts.
struct GraphNodeParameters {
    GraphNodeType type = GraphNodeType::empty;
    KernelNodeParameters kernel;
    Memcpy3DParameters memcpy;
    MemsetNodeParameters memset;
    HostNodeParameters host;
    GraphHandle graph = nullptr;  // of a child; it is cloned
    EventHandle event = nullptr;  // wait_event, event_record
    AllocNodeParameters alloc;
    void* free = nullptr;
    BatchMemOpNodeParameters batch;
    ExternalSemaphoreNodeParameters semaphores;  // external_semaphore_signal, external_semaphore_wait
    ConditionalNodeParameters conditional;
};

// cudaGraphInstantiateResult
enum class GraphInstantiateResult : int {
    success = 0,
    error = 1,
    invalid_structure = 2,
    node_operation_not_supported = 3,
    multiple_devices_not_supported = 4,
    conditional_handle_unused = 5,
};

// cudaGraphInstantiateParams
struct GraphInstantiateParameters {
    unsigned long long flags = 0;
    StreamHandle upload_stream = nullptr;                             // that graph_upload uploads in
    GraphNodeHandle error_node = nullptr;                             // out
    GraphInstantiateResult result = GraphInstantiateResult::success;  // out
};

// cudaGraphExecUpdateResult
enum class GraphExecUpdateResult : int {
    success = 0,
    error = 1,
    topology_changed = 2,
    node_type_changed = 3,
    function_changed = 4,
    parameters_changed = 5,
    not_supported = 6,
    unsupported_function_change = 7,
    attributes_changed = 8,
};

// cudaGraphExecUpdateResultInfo
struct GraphExecUpdateInfo {
    GraphExecUpdateResult result = GraphExecUpdateResult::success;
    GraphNodeHandle error_node = nullptr, error_from_node = nullptr;
};

namespace flags {
inline constexpr unsigned long long graph_auto_free_on_launch = 0x1, graph_upload = 0x2,
                                    graph_device_launch = 0x4, graph_use_node_priority = 0x8;
inline constexpr unsigned capture_add_dependencies = 0x0, capture_set_dependencies = 0x1;
inline constexpr unsigned condition_assign_default = 0x1;
}  // namespace flags

}  // namespace cuscope
