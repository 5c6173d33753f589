// Plain types of the contract for graphs and stream capture. Numbers are CUDA's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <variant>

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

// Each type of node has its own struct of parameters below, which says in `node_type` for which type it is.

// cudaKernelNodeParams, with arguments as in launch_kernel. Attributes are set one by one, by
// graph_kernel_node_set_attribute. Only a simulation reads the last three members, as in LaunchConfig.
struct KernelNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::kernel;
    KernelHandle kernel = nullptr;
    Dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    void** arguments = nullptr;
    std::int64_t duration_ns = -1, array_bytes = -1;
    KernelHandle checked = nullptr;
};

struct MemcpyNodeParameters : Memcpy3DParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::memcpy;
};

// cudaMemsetParams: the width in elements of 1, 2 or 4 bytes.
struct MemsetNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::memset;
    void* pointer = nullptr;
    std::size_t pitch = 0;
    unsigned value = 0;
    unsigned element_bytes = 1;
    std::size_t width = 0, height = 1;
};

// cudaHostNodeParams
struct HostNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::host;
    HostFunction function = nullptr;
    void* data = nullptr;
};

// cudaChildGraphNodeParams: the node gets a clone of the graph.
struct ChildGraphNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::graph;
    GraphHandle graph = nullptr;
};

struct EmptyNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::empty;
};

// cudaEventWaitNodeParams
struct EventWaitNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::wait_event;
    EventHandle event = nullptr;
};

// cudaEventRecordNodeParams
struct EventRecordNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::event_record;
    EventHandle event = nullptr;
};

struct SemaphoreSignalNodeParameters : ExternalSemaphoreNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::external_semaphore_signal;
};

struct SemaphoreWaitNodeParameters : ExternalSemaphoreNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::external_semaphore_wait;
};

// cudaMemAllocNodeParams
struct AllocNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::mem_alloc;
    MemPoolProperties pool;
    const MemAccessDescription* access = nullptr;
    std::size_t access_count = 0;
    std::size_t bytes = 0;
    void* pointer = nullptr;  // out
};

// cudaMemFreeNodeParams
struct FreeNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::mem_free;
    void* pointer = nullptr;
};

// CUDA_BATCH_MEM_OP_NODE_PARAMS, in the current context
struct BatchMemOpNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::batch_mem_op;
    const MemoryOperation* operations = nullptr;
    unsigned count = 0;
    unsigned flags = 0;
};

// cudaGraphConditionalNodeType
enum class ConditionalType : int { if_ = 0, while_ = 1, switch_ = 2 };

// cudaConditionalNodeParams
struct ConditionalNodeParameters {
    static constexpr GraphNodeType node_type = GraphNodeType::conditional;
    ConditionalHandle handle = 0;
    ConditionalType type = ConditionalType::if_;
    unsigned size = 1;
    GraphHandle* bodies = nullptr;  // out: `size` graphs, which belong to the node
};

// A type that this contract does not know: a newer driver may answer one.
struct UnknownNodeParameters {
    GraphNodeType node_type = static_cast<GraphNodeType>(-1);
};

// cudaGraphNodeParams. The alternatives stand in the order of the types' numbers. Code that has to treat
// every type visits this with `overloads`: a type that the code forgets does not compile.
using GraphNodeParameters =
    std::variant<KernelNodeParameters, MemcpyNodeParameters, MemsetNodeParameters, HostNodeParameters,
                 ChildGraphNodeParameters, EmptyNodeParameters, EventWaitNodeParameters,
                 EventRecordNodeParameters, SemaphoreSignalNodeParameters, SemaphoreWaitNodeParameters,
                 AllocNodeParameters, FreeNodeParameters, BatchMemOpNodeParameters, ConditionalNodeParameters,
                 UnknownNodeParameters>;

// The names of the types: ours, and the names in the drawings that CUDA writes.
struct GraphNodeNames {
    const char *name, *drawn;
};

inline constexpr GraphNodeNames graph_node_names[] = {
    {"kernel", "KERNEL"},
    {"copy", "MEMCPY"},
    {"memset", "MEMSET"},
    {"host", "HOST"},
    {"child", "GRAPH"},
    {"empty", "EMPTY"},
    {"event_wait", "EVENT_WAIT"},
    {"event_record", "EVENT_RECORD"},
    {"external_semaphore_signal", "EXT_SEMAS_SIGNAL"},
    {"external_semaphore_wait", "EXT_SEMAS_WAIT"},
    {"alloc", "MEM_ALLOC"},
    {"free", "MEM_FREE"},
    {"batch_mem_op", "BATCH_MEM_OP"},
    {"conditional", "CONDITIONAL"},
    {"unknown", "UNKNOWN"},
};
static_assert(std::size(graph_node_names) == std::variant_size_v<GraphNodeParameters>);

constexpr const GraphNodeNames& names_of(GraphNodeType type) {
    constexpr std::size_t unknown = std::size(graph_node_names) - 1;
    const auto number = static_cast<std::size_t>(type);
    return graph_node_names[number < unknown ? number : unknown];
}

constexpr const char* name_of(GraphNodeType type) { return names_of(type).name; }

inline GraphNodeType type_of(const GraphNodeParameters& parameters) {
    return std::visit([](const auto& given) { return given.node_type; }, parameters);
}

// Parameters of the type of this number, all of them as they are by default.
inline GraphNodeParameters parameters_of_type(GraphNodeType type) {
    GraphNodeParameters made = UnknownNodeParameters{type};
    const auto try_type = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        using Parameters = std::variant_alternative_t<i, GraphNodeParameters>;
        static_assert(static_cast<std::size_t>(Parameters::node_type) == i, "in the order of the numbers");
        if (type == Parameters::node_type) made.emplace<i>();
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (try_type(std::integral_constant<std::size_t, i>{}), ...);
    }
    (std::make_index_sequence<std::variant_size_v<GraphNodeParameters> - 1>{});
    return made;
}

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
    StreamHandle upload_stream = nullptr;                             // for graph_upload
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
