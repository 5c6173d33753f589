// Plain types of the contract for graphs and stream capture. Numbers are CUDA's own.
#pragma once

#include <cstddef>
#include <cstdint>
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

// The types of nodes. X(name, number, structure of the parameters, name in Python, name in the drawings that
// CUDA writes). From this table come the enumeration, the variant of the parameters, the names, and the
// functions that make nodes of simulated devices.
#define CUSCOPE_GRAPH_NODE_TYPES(X)                                                                         \
    X(kernel, 0, KernelNodeParameters, "kernel", "KERNEL")                                                  \
    X(memcpy, 1, MemcpyNodeParameters, "copy", "MEMCPY")                                                    \
    X(memset, 2, MemsetNodeParameters, "memset", "MEMSET")                                                  \
    X(host, 3, HostNodeParameters, "host", "HOST")                                                          \
    X(graph, 4, ChildGraphNodeParameters, "child", "GRAPH")                                                 \
    X(empty, 5, EmptyNodeParameters, "empty", "EMPTY")                                                      \
    X(wait_event, 6, EventWaitNodeParameters, "event_wait", "EVENT_WAIT")                                   \
    X(event_record, 7, EventRecordNodeParameters, "event_record", "EVENT_RECORD")                           \
    X(external_semaphore_signal, 8, SemaphoreSignalNodeParameters, "external_semaphore_signal",             \
      "EXT_SEMAS_SIGNAL")                                                                                   \
    X(external_semaphore_wait, 9, SemaphoreWaitNodeParameters, "external_semaphore_wait", "EXT_SEMAS_WAIT") \
    X(mem_alloc, 10, AllocNodeParameters, "alloc", "MEM_ALLOC")                                             \
    X(mem_free, 11, FreeNodeParameters, "free", "MEM_FREE")                                                 \
    /* the driver's: the library has no number for it */                                                    \
    X(batch_mem_op, 12, BatchMemOpNodeParameters, "batch_mem_op", "BATCH_MEM_OP")                           \
    X(conditional, 13, ConditionalNodeParameters, "conditional", "CONDITIONAL")

// cudaGraphNodeType
enum class GraphNodeType : int {
#define CUSCOPE_ROW(name, number, ...) name = (number),
    CUSCOPE_GRAPH_NODE_TYPES(CUSCOPE_ROW)
#undef CUSCOPE_ROW
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

// Memory that a node writes: rows of bytes, `pitch` bytes apart.
struct MemoryRows {
    void* pointer;
    std::size_t pitch, width, count;
};

// Each type of node has its own struct of parameters below. If its members are plain values, each_member()
// tells Python's names for them; if the node writes memory, written() tells which.

// cudaKernelNodeParams, with arguments as in launch_kernel. Attributes are set one by one, by
// graph_kernel_node_set_attribute. Only a simulation reads the last three members, as in LaunchConfig.
struct KernelNodeParameters {
    KernelHandle kernel = nullptr;
    Dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    void** arguments = nullptr;
    std::int64_t duration_ns = -1, array_bytes = -1;
    KernelHandle checked = nullptr;
};

struct MemcpyNodeParameters : Memcpy3DParameters {};

// cudaMemsetParams: the width in elements of 1, 2 or 4 bytes.
struct MemsetNodeParameters {
    void* pointer = nullptr;
    std::size_t pitch = 0;
    unsigned value = 0;
    unsigned element_bytes = 1;
    std::size_t width = 0, height = 1;

    void each_member(auto take) {
        take("pointer", pointer);
        take("value", value);
        take("element_bytes", element_bytes);
        take("width", width);
        take("height", height);
        take("pitch", pitch);
    }
    MemoryRows written() const { return {pointer, pitch, width * element_bytes, height}; }
};

// cudaHostNodeParams
struct HostNodeParameters {
    HostFunction function = nullptr;
    void* data = nullptr;
};

// cudaChildGraphNodeParams: the node gets a clone of the graph.
struct ChildGraphNodeParameters {
    GraphHandle graph = nullptr;
};

struct EmptyNodeParameters {};

// cudaEventWaitNodeParams
struct EventWaitNodeParameters {
    EventHandle event = nullptr;
    void each_member(auto take) { take("event", event); }
};

// cudaEventRecordNodeParams
struct EventRecordNodeParameters {
    EventHandle event = nullptr;
    void each_member(auto take) { take("event", event); }
};

struct SemaphoreSignalNodeParameters : ExternalSemaphoreNodeParameters {};

struct SemaphoreWaitNodeParameters : ExternalSemaphoreNodeParameters {};

// cudaMemAllocNodeParams
struct AllocNodeParameters {
    MemPoolProperties pool;
    const MemAccessDescription* access = nullptr;
    std::size_t access_count = 0;
    std::size_t bytes = 0;
    void* pointer = nullptr;  // out

    void each_member(auto take) {
        take("pointer", pointer);
        take("nbytes", bytes);
    }
    MemoryRows written() const { return {pointer, bytes, bytes, 1}; }
};

// cudaMemFreeNodeParams
struct FreeNodeParameters {
    void* pointer = nullptr;
    void each_member(auto take) { take("pointer", pointer); }
};

// CUDA_BATCH_MEM_OP_NODE_PARAMS, in the current context
struct BatchMemOpNodeParameters {
    const MemoryOperation* operations = nullptr;
    unsigned count = 0;
    unsigned flags = 0;
};

// cudaGraphConditionalNodeType
enum class ConditionalType : int { if_ = 0, while_ = 1, switch_ = 2 };

// cudaConditionalNodeParams
struct ConditionalNodeParameters {
    ConditionalHandle handle = 0;
    ConditionalType type = ConditionalType::if_;
    unsigned size = 1;
    GraphHandle* bodies = nullptr;  // out: `size` graphs, which belong to the node
};

// A type that this contract does not know: a newer driver may answer one.
struct UnknownNodeParameters {
    GraphNodeType type = static_cast<GraphNodeType>(-1);
};

// cudaGraphNodeParams. Code that has to treat every type visits this with `overloads`: a type that the code
// forgets does not compile.
#define CUSCOPE_ROW(name, number, parameters, ...) parameters,
using GraphNodeParameters = std::variant<CUSCOPE_GRAPH_NODE_TYPES(CUSCOPE_ROW) UnknownNodeParameters>;
#undef CUSCOPE_ROW

// The type that a structure of parameters is for.
template <class Parameters>
inline constexpr auto node_type_of = static_cast<GraphNodeType>(-1);
#define CUSCOPE_ROW(name, number, parameters, ...) \
    template <>                                    \
    inline constexpr auto node_type_of<parameters> = GraphNodeType::name;
CUSCOPE_GRAPH_NODE_TYPES(CUSCOPE_ROW)
#undef CUSCOPE_ROW

// The names of a type: ours, and the name in the drawings that CUDA writes.
struct GraphNodeNames {
    const char *name, *drawn;
};

constexpr GraphNodeNames names_of(GraphNodeType type) {
    switch (type) {
#define CUSCOPE_ROW(name, number, parameters, ...) \
    case GraphNodeType::name:                      \
        return {__VA_ARGS__};
        CUSCOPE_GRAPH_NODE_TYPES(CUSCOPE_ROW)
#undef CUSCOPE_ROW
    }
    return {"unknown", "UNKNOWN"};
}

constexpr const char* name_of(GraphNodeType type) { return names_of(type).name; }

inline GraphNodeType type_of(const GraphNodeParameters& parameters) {
    const auto* const unknown = std::get_if<UnknownNodeParameters>(&parameters);
    if (unknown != nullptr) return unknown->type;
    return std::visit([]<class Given>(const Given&) { return node_type_of<Given>; }, parameters);
}

// Parameters of the type of this number, all of them as they are by default.
inline GraphNodeParameters parameters_of_type(GraphNodeType type) {
    switch (type) {
#define CUSCOPE_ROW(name, number, parameters, ...) \
    case GraphNodeType::name:                      \
        return parameters{};
        CUSCOPE_GRAPH_NODE_TYPES(CUSCOPE_ROW)
#undef CUSCOPE_ROW
    }
    return UnknownNodeParameters{type};
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
