// Every type of graph node as CUDA's functions take it. A type has four functions here: add, get, set, and
// set in an executable. The visits at the end call them, so a type that lacks one of them does not compile.
#include "cuda/calls/graph_nodes.hpp"

#include <vector>

#include "cuda/calls/memory_operations.hpp"
#include "cuda/calls/semaphores.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/handles.hpp"
#include "cuda/parameters.hpp"

namespace cuscope::cuda {
namespace {

using Node = cudaGraphNode_t;
using Exec = cudaGraphExec_t;

// CUDA has no function that sets the parameters of such a node.
constexpr cudaError_t not_settable = cudaErrorInvalidValue;

// Are the contract's number of a type and CUDA's the same?
template <class Parameters, auto cuda_type>
constexpr bool is_type = static_cast<int>(node_type_of<Parameters>) == static_cast<int>(cuda_type);

// ---- kernels

// The library knows the kernels that it registered itself; only the driver knows those of loaded libraries.
DriverFunction<CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*)> kernel_node_get_params(
    "cuGraphKernelNodeGetParams", 12000);
DriverFunction<CUresult (*)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2*)> kernel_node_set_params(
    "cuGraphKernelNodeSetParams", 12000);

KernelHandle kernel_of(const CUDA_KERNEL_NODE_PARAMS_v2& known) {
    return known.func != nullptr ? reinterpret_cast<KernelHandle>(known.func)
                                 : reinterpret_cast<KernelHandle>(known.kern);
}

cudaKernelNodeParams real_of(const KernelNodeParameters& given) {
    cudaKernelNodeParams real{};
    real.func = given.kernel;
    real.gridDim = dimensions(given.grid);
    real.blockDim = dimensions(given.block);
    real.sharedMemBytes = static_cast<unsigned>(given.dynamic_shared_bytes);
    real.kernelParams = given.arguments;
    return real;
}

static_assert(is_type<KernelNodeParameters, cudaGraphNodeTypeKernel>);
cudaError_t add(const NewNode& at, const KernelNodeParameters& given) {
    const cudaKernelNodeParams real = real_of(given);
    return cudaGraphAddKernelNode(at.node, at.graph, at.dependencies, at.count, &real);
}
cudaError_t get(Node node, KernelNodeParameters& kernel) {
    CUDA_KERNEL_NODE_PARAMS_v2 known{};
    if (driver_call(kernel_node_get_params, node, &known) == Status::success) {
        kernel.kernel = kernel_of(known);
        kernel.grid = {known.gridDimX, known.gridDimY, known.gridDimZ};
        kernel.block = {known.blockDimX, known.blockDimY, known.blockDimZ};
        kernel.dynamic_shared_bytes = known.sharedMemBytes;
        kernel.arguments = known.kernelParams;
        return cudaSuccess;
    }
    cudaKernelNodeParams real{};
    const cudaError_t status = cudaGraphKernelNodeGetParams(node, &real);
    kernel.kernel = static_cast<KernelHandle>(real.func);
    kernel.grid = {real.gridDim.x, real.gridDim.y, real.gridDim.z};
    kernel.block = {real.blockDim.x, real.blockDim.y, real.blockDim.z};
    kernel.dynamic_shared_bytes = real.sharedMemBytes;
    kernel.arguments = real.kernelParams;
    return status;
}
cudaError_t set(Node node, const KernelNodeParameters& given) {
    CUDA_KERNEL_NODE_PARAMS_v2 known{};
    const auto set_params = kernel_node_set_params.get();
    // get() may have returned the driver's CUfunction, which the library does not know.
    if (set_params != nullptr && driver_call(kernel_node_get_params, node, &known) == Status::success &&
        known.func != nullptr && kernel_of(known) == given.kernel) {
        known.gridDimX = given.grid.x, known.gridDimY = given.grid.y, known.gridDimZ = given.grid.z;
        known.blockDimX = given.block.x, known.blockDimY = given.block.y, known.blockDimZ = given.block.z;
        known.sharedMemBytes = static_cast<unsigned>(given.dynamic_shared_bytes);
        known.kernelParams = given.arguments;
        known.extra = nullptr;
        return static_cast<cudaError_t>(set_params(node, &known));  // they have the same numbers
    }
    const cudaKernelNodeParams real = real_of(given);
    return cudaGraphKernelNodeSetParams(node, &real);
}
cudaError_t set(Exec exec, Node node, const KernelNodeParameters& given) {
    const cudaKernelNodeParams real = real_of(given);
    return cudaGraphExecKernelNodeSetParams(exec, node, &real);
}

// ---- copies

static_assert(is_type<MemcpyNodeParameters, cudaGraphNodeTypeMemcpy>);
cudaError_t add(const NewNode& at, const MemcpyNodeParameters& given) {
    const cudaMemcpy3DParms real = library_parameters(given);
    return cudaGraphAddMemcpyNode(at.node, at.graph, at.dependencies, at.count, &real);
}
cudaError_t get(Node node, MemcpyNodeParameters& found) {
    cudaMemcpy3DParms real{};
    const cudaError_t status = cudaGraphMemcpyNodeGetParams(node, &real);
    found = {ours(real)};
    return status;
}
cudaError_t set(Node node, const MemcpyNodeParameters& given) {
    const cudaMemcpy3DParms real = library_parameters(given);
    return cudaGraphMemcpyNodeSetParams(node, &real);
}
cudaError_t set(Exec exec, Node node, const MemcpyNodeParameters& given) {
    const cudaMemcpy3DParms real = library_parameters(given);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &real);
}

// ---- memsets

cudaMemsetParams real_of(const MemsetNodeParameters& given) {
    cudaMemsetParams real{};
    real.dst = given.pointer;
    real.pitch = given.pitch;
    real.value = given.value;
    real.elementSize = given.element_bytes;
    real.width = given.width;
    real.height = given.height;
    return real;
}

static_assert(is_type<MemsetNodeParameters, cudaGraphNodeTypeMemset>);
cudaError_t add(const NewNode& at, const MemsetNodeParameters& given) {
    const cudaMemsetParams real = real_of(given);
    return cudaGraphAddMemsetNode(at.node, at.graph, at.dependencies, at.count, &real);
}
cudaError_t get(Node node, MemsetNodeParameters& found) {
    cudaMemsetParams real{};
    const cudaError_t status = cudaGraphMemsetNodeGetParams(node, &real);
    found = {real.dst, real.pitch, real.value, real.elementSize, real.width, real.height};
    return status;
}
cudaError_t set(Node node, const MemsetNodeParameters& given) {
    const cudaMemsetParams real = real_of(given);
    return cudaGraphMemsetNodeSetParams(node, &real);
}
cudaError_t set(Exec exec, Node node, const MemsetNodeParameters& given) {
    const cudaMemsetParams real = real_of(given);
    return cudaGraphExecMemsetNodeSetParams(exec, node, &real);
}

// ---- host functions

cudaHostNodeParams real_of(const HostNodeParameters& given) {
    cudaHostNodeParams real{};
    real.fn = given.function;
    real.userData = given.data;
    return real;
}

static_assert(is_type<HostNodeParameters, cudaGraphNodeTypeHost>);
cudaError_t add(const NewNode& at, const HostNodeParameters& given) {
    const cudaHostNodeParams real = real_of(given);
    return cudaGraphAddHostNode(at.node, at.graph, at.dependencies, at.count, &real);
}
cudaError_t get(Node node, HostNodeParameters& found) {
    cudaHostNodeParams real{};
    const cudaError_t status = cudaGraphHostNodeGetParams(node, &real);
    found = {real.fn, real.userData};
    return status;
}
cudaError_t set(Node node, const HostNodeParameters& given) {
    const cudaHostNodeParams real = real_of(given);
    return cudaGraphHostNodeSetParams(node, &real);
}
cudaError_t set(Exec exec, Node node, const HostNodeParameters& given) {
    const cudaHostNodeParams real = real_of(given);
    return cudaGraphExecHostNodeSetParams(exec, node, &real);
}

// ---- child graphs

static_assert(is_type<ChildGraphNodeParameters, cudaGraphNodeTypeGraph>);
cudaError_t add(const NewNode& at, const ChildGraphNodeParameters& given) {
    return cudaGraphAddChildGraphNode(at.node, at.graph, at.dependencies, at.count, native(given.graph));
}
cudaError_t get(Node node, ChildGraphNodeParameters& found) {
    return cudaGraphChildGraphNodeGetGraph(node, native(&found.graph));
}
cudaError_t set(Node, const ChildGraphNodeParameters&) { return not_settable; }
cudaError_t set(Exec exec, Node node, const ChildGraphNodeParameters& given) {
    return cudaGraphExecChildGraphNodeSetParams(exec, node, native(given.graph));
}

// ---- empty nodes

static_assert(is_type<EmptyNodeParameters, cudaGraphNodeTypeEmpty>);
cudaError_t add(const NewNode& at, const EmptyNodeParameters&) {
    return cudaGraphAddEmptyNode(at.node, at.graph, at.dependencies, at.count);
}
cudaError_t get(Node, EmptyNodeParameters&) { return cudaSuccess; }
cudaError_t set(Node, const EmptyNodeParameters&) { return not_settable; }
cudaError_t set(Exec, Node, const EmptyNodeParameters&) { return not_settable; }

// ---- events

static_assert(is_type<EventWaitNodeParameters, cudaGraphNodeTypeWaitEvent>);
cudaError_t add(const NewNode& at, const EventWaitNodeParameters& given) {
    return cudaGraphAddEventWaitNode(at.node, at.graph, at.dependencies, at.count, native(given.event));
}
cudaError_t get(Node node, EventWaitNodeParameters& found) {
    return cudaGraphEventWaitNodeGetEvent(node, native(&found.event));
}
cudaError_t set(Node node, const EventWaitNodeParameters& given) {
    return cudaGraphEventWaitNodeSetEvent(node, native(given.event));
}
cudaError_t set(Exec exec, Node node, const EventWaitNodeParameters& given) {
    return cudaGraphExecEventWaitNodeSetEvent(exec, node, native(given.event));
}

static_assert(is_type<EventRecordNodeParameters, cudaGraphNodeTypeEventRecord>);
cudaError_t add(const NewNode& at, const EventRecordNodeParameters& given) {
    return cudaGraphAddEventRecordNode(at.node, at.graph, at.dependencies, at.count, native(given.event));
}
cudaError_t get(Node node, EventRecordNodeParameters& found) {
    return cudaGraphEventRecordNodeGetEvent(node, native(&found.event));
}
cudaError_t set(Node node, const EventRecordNodeParameters& given) {
    return cudaGraphEventRecordNodeSetEvent(node, native(given.event));
}
cudaError_t set(Exec exec, Node node, const EventRecordNodeParameters& given) {
    return cudaGraphExecEventRecordNodeSetEvent(exec, node, native(given.event));
}

// ---- external semaphores

static_assert(is_type<SemaphoreSignalNodeParameters, cudaGraphNodeTypeExtSemaphoreSignal>);
static_assert(is_type<SemaphoreWaitNodeParameters, cudaGraphNodeTypeExtSemaphoreWait>);

template <class Parameters>
concept OfSemaphores = std::is_base_of_v<ExternalSemaphoreNodeParameters, Parameters>;

cudaError_t add(const NewNode& at, const OfSemaphores auto& given) {
    return add_semaphores(at.node, at.graph, at.dependencies, at.count, given);
}
cudaError_t get(Node node, OfSemaphores auto& found) { return get_semaphores(node, found); }
cudaError_t set(Node node, const OfSemaphores auto& given) { return set_semaphores(node, given); }
cudaError_t set(Exec exec, Node node, const OfSemaphores auto& given) {
    return set_semaphores(exec, node, given);
}

// ---- memory

static_assert(is_type<AllocNodeParameters, cudaGraphNodeTypeMemAlloc>);
cudaError_t add(const NewNode& at, AllocNodeParameters& given) {
    cudaMemAllocNodeParams real{};
    real.poolProps.allocType = cudaMemAllocationTypePinned;
    real.poolProps.handleTypes = cudaMemHandleTypeNone;
    real.poolProps.location = native(given.pool.location);
    real.poolProps.maxSize = given.pool.max_size;
    real.bytesize = given.bytes;
    std::vector<cudaMemAccessDesc> access(given.access == nullptr ? 0 : given.access_count);
    for (std::size_t i = 0; i < access.size(); ++i) {
        access[i].location = native(given.access[i].location);
        access[i].flags = static_cast<cudaMemAccessFlags>(given.access[i].flags);
    }
    real.accessDescs = access.empty() ? nullptr : access.data();
    real.accessDescCount = access.size();
    const cudaError_t status = cudaGraphAddMemAllocNode(at.node, at.graph, at.dependencies, at.count, &real);
    given.pointer = real.dptr;
    return status;
}
cudaError_t get(Node node, AllocNodeParameters& found) {
    cudaMemAllocNodeParams real{};
    const cudaError_t status = cudaGraphMemAllocNodeGetParams(node, &real);
    found.pool.location = {static_cast<MemLocationType>(real.poolProps.location.type),
                           real.poolProps.location.id};
    found.bytes = real.bytesize;
    found.pointer = real.dptr;
    return status;
}
cudaError_t set(Node, const AllocNodeParameters&) { return not_settable; }
cudaError_t set(Exec, Node, const AllocNodeParameters&) { return not_settable; }

static_assert(is_type<FreeNodeParameters, cudaGraphNodeTypeMemFree>);
cudaError_t add(const NewNode& at, const FreeNodeParameters& given) {
    return cudaGraphAddMemFreeNode(at.node, at.graph, at.dependencies, at.count, given.pointer);
}
cudaError_t get(Node node, FreeNodeParameters& found) {
    return cudaGraphMemFreeNodeGetParams(node, &found.pointer);
}
cudaError_t set(Node, const FreeNodeParameters&) { return not_settable; }
cudaError_t set(Exec, Node, const FreeNodeParameters&) { return not_settable; }

// ---- batches of memory operations

static_assert(is_type<BatchMemOpNodeParameters, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP>);
cudaError_t add(const NewNode& at, const BatchMemOpNodeParameters& given) {
    return add_batch(at.node, at.graph, at.dependencies, at.count, given);
}
cudaError_t get(Node node, BatchMemOpNodeParameters& found) { return get_batch(node, &found); }
cudaError_t set(Node node, const BatchMemOpNodeParameters& given) { return set_batch(node, given); }
cudaError_t set(Exec exec, Node node, const BatchMemOpNodeParameters& given) {
    return set_batch(exec, node, given);
}

// ---- conditionals

static_assert(is_type<ConditionalNodeParameters, cudaGraphNodeTypeConditional>);
cudaError_t add(const NewNode& at, ConditionalNodeParameters& given) {
    cudaGraphNodeParams real{};
    real.type = cudaGraphNodeTypeConditional;
    real.conditional.handle = given.handle;
    real.conditional.type = static_cast<cudaGraphConditionalNodeType>(given.type);
    real.conditional.size = given.size;
    const cudaError_t status = cudaGraphAddNode(at.node, at.graph, at.dependencies, nullptr, at.count, &real);
    // The library's own array, which lives as long as the node.
    given.bodies = reinterpret_cast<GraphHandle*>(real.conditional.phGraph_out);
    return status;
}
// CUDA has no function for these: core remembers them.
cudaError_t get(Node, ConditionalNodeParameters&) { return cudaSuccess; }
cudaError_t set(Node, const ConditionalNodeParameters&) { return not_settable; }
cudaError_t set(Exec, Node, const ConditionalNodeParameters&) { return not_settable; }

// ---- types that a newer driver has

cudaError_t add(const NewNode&, const UnknownNodeParameters&) { return cudaErrorNotSupported; }
cudaError_t get(Node, UnknownNodeParameters&) { return cudaSuccess; }
cudaError_t set(Node, const UnknownNodeParameters&) { return not_settable; }
cudaError_t set(Exec, Node, const UnknownNodeParameters&) { return not_settable; }

}  // namespace

cudaError_t add_graph_node(const NewNode& place, GraphNodeParameters& given) {
    return std::visit([&](auto& of_type) { return add(place, of_type); }, given);
}

cudaError_t get_node_parameters(cudaGraphNode_t node, GraphNodeParameters& found) {
    return std::visit([&](auto& of_type) { return get(node, of_type); }, found);
}

cudaError_t set_node_parameters(cudaGraphNode_t node, const GraphNodeParameters& given) {
    return std::visit([&](const auto& of_type) { return set(node, of_type); }, given);
}

cudaError_t set_node_parameters(cudaGraphExec_t exec, cudaGraphNode_t node,
                                const GraphNodeParameters& given) {
    return std::visit([&](const auto& of_type) { return set(exec, node, of_type); }, given);
}

}  // namespace cuscope::cuda
