// Graphs and stream capture.
#include <algorithm>
#include <vector>

#include "cuda/calls/memory_operations.hpp"
#include "cuda/calls/printing.hpp"
#include "cuda/calls/semaphores.hpp"
#include "cuda/cuda_runtime.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/handles.hpp"
#include "cuda/parameters.hpp"

namespace cuscope::cuda {
namespace {

std::vector<cudaGraphEdgeData> real_of(const GraphEdgeData* data, std::size_t count) {
    std::vector<cudaGraphEdgeData> real(data == nullptr ? 0 : count);
    for (std::size_t i = 0; i < real.size(); ++i) {
        real[i].from_port = data[i].from_port;
        real[i].to_port = data[i].to_port;
        real[i].type = static_cast<unsigned char>(data[i].type);
    }
    return real;
}

GraphEdgeData ours(const cudaGraphEdgeData& real) {
    return {real.from_port, real.to_port, static_cast<DependencyType>(real.type)};
}

const cudaGraphEdgeData* data_of(const std::vector<cudaGraphEdgeData>& real) {
    return real.empty() ? nullptr : real.data();
}

// Calls `query` with room for edge data where somebody wants it, and gives them that.
template <class Query>
cudaError_t with_edge_data(GraphEdgeData* edge_data, const std::size_t* count, Query query) {
    if (edge_data == nullptr || count == nullptr) return query(nullptr);
    std::vector<cudaGraphEdgeData> real(std::max<std::size_t>(*count, 1));
    const std::size_t room = *count;
    const cudaError_t status = query(real.data());
    if (status != cudaSuccess) return status;
    for (std::size_t i = 0; i < std::min(room, *count); ++i) edge_data[i] = ours(real[i]);
    return status;
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

cudaHostNodeParams real_of(const HostNodeParameters& given) {
    cudaHostNodeParams real{};
    real.fn = given.function;
    real.userData = given.data;
    return real;
}

// For the types of nodes that have no function of their own.
cudaError_t add_conditional(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                            std::size_t count, ConditionalNodeParameters& given) {
    cudaGraphNodeParams real{};
    real.type = cudaGraphNodeTypeConditional;
    real.conditional.handle = given.handle;
    real.conditional.type = static_cast<cudaGraphConditionalNodeType>(given.type);
    real.conditional.size = given.size;
    const cudaError_t status = cudaGraphAddNode(node, graph, dependencies, nullptr, count, &real);
    // An array of the library's own, as long as the node lives.
    given.bodies = reinterpret_cast<GraphHandle*>(real.conditional.phGraph_out);
    return status;
}

cudaError_t add_alloc(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                      std::size_t count, AllocNodeParameters& given) {
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
    const cudaError_t status = cudaGraphAddMemAllocNode(node, graph, dependencies, count, &real);
    given.pointer = real.dptr;
    return status;
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                     std::size_t count, GraphNodeParameters& given) {
    switch (given.type) {
        case GraphNodeType::kernel: {
            const cudaKernelNodeParams real = real_of(given.kernel);
            return cudaGraphAddKernelNode(node, graph, dependencies, count, &real);
        }
        case GraphNodeType::memcpy: {
            const cudaMemcpy3DParms real = library_parameters(given.memcpy);
            return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &real);
        }
        case GraphNodeType::memset: {
            const cudaMemsetParams real = real_of(given.memset);
            return cudaGraphAddMemsetNode(node, graph, dependencies, count, &real);
        }
        case GraphNodeType::host: {
            const cudaHostNodeParams real = real_of(given.host);
            return cudaGraphAddHostNode(node, graph, dependencies, count, &real);
        }
        case GraphNodeType::graph:
            return cudaGraphAddChildGraphNode(node, graph, dependencies, count, native(given.graph));
        case GraphNodeType::empty:
            return cudaGraphAddEmptyNode(node, graph, dependencies, count);
        case GraphNodeType::wait_event:
            return cudaGraphAddEventWaitNode(node, graph, dependencies, count, native(given.event));
        case GraphNodeType::event_record:
            return cudaGraphAddEventRecordNode(node, graph, dependencies, count, native(given.event));
        case GraphNodeType::mem_alloc:
            return add_alloc(node, graph, dependencies, count, given.alloc);
        case GraphNodeType::mem_free:
            return cudaGraphAddMemFreeNode(node, graph, dependencies, count, given.free);
        case GraphNodeType::batch_mem_op:
            return add_batch(node, graph, dependencies, count, given.batch);
        case GraphNodeType::external_semaphore_signal:
        case GraphNodeType::external_semaphore_wait:
            return add_semaphores(node, graph, dependencies, count, given);
        case GraphNodeType::conditional:
            return add_conditional(node, graph, dependencies, count, given.conditional);
        default:
            return cudaErrorNotSupported;
    }
}

// The library knows the kernels that it registered itself; those of libraries the driver knows.
DriverFunction<CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*)> kernel_node_get_params(
    "cuGraphKernelNodeGetParams", 12000);

DriverFunction<CUresult (*)(CUgraphExec, CUstream)> launch_graph("cuGraphLaunch", 10000);

}  // namespace

// ---- capture

Status CudaRuntime::stream_begin_capture(StreamHandle stream, CaptureMode mode) {
    if (forked_after_use()) return failed(Status::initialization_error);
    const auto begins = locked<std::unique_lock<std::mutex>>(streams_.mutex());
    CaptureChange change;
    const Status status = make(
        [&] { return cudaStreamBeginCapture(native(stream), static_cast<cudaStreamCaptureMode>(mode)); });
    if (status == Status::success) change.begun(native(stream));
    return status;
}

Status CudaRuntime::stream_begin_capture_to_graph(StreamHandle stream, GraphHandle graph,
                                                  const GraphNodeHandle* dependencies,
                                                  const GraphEdgeData* edge_data, std::size_t count,
                                                  CaptureMode mode) {
    if (forked_after_use()) return failed(Status::initialization_error);
    const auto begins = locked<std::unique_lock<std::mutex>>(streams_.mutex());
    CaptureChange change;
    const Status status = make([&] {
        const auto data = real_of(edge_data, count);
        return cudaStreamBeginCaptureToGraph(native(stream), native(graph), native(dependencies),
                                             data_of(data), count, static_cast<cudaStreamCaptureMode>(mode));
    });
    if (status == Status::success) change.begun(native(stream));
    return status;
}

Status CudaRuntime::stream_end_capture(StreamHandle stream, GraphHandle* graph) {
    clear(graph);
    CaptureChange change;
    const Status status = make([&] { return cudaStreamEndCapture(native(stream), native(graph)); });
    change.may_have_ended(native(stream));
    return status;
}

Status CudaRuntime::stream_is_capturing(StreamHandle stream, CaptureStatus* status) {
    clear(status);
    if (status == nullptr) return failed(Status::invalid_value);
    cudaStreamCaptureStatus real = cudaStreamCaptureStatusNone;
    const Status answer = make_in(stream, [&] { return cudaStreamIsCapturing(native(stream), &real); });
    *status = static_cast<CaptureStatus>(real);
    return answer;
}

Status CudaRuntime::stream_get_capture_info(StreamHandle stream, CaptureStatus* status,
                                            unsigned long long* id, GraphHandle* graph,
                                            const GraphNodeHandle** dependencies,
                                            const GraphEdgeData** edge_data, std::size_t* count) {
    clear(status);
    if (status == nullptr) return failed(Status::invalid_value);
    if (count != nullptr) *count = 0;
    cudaStreamCaptureStatus real = cudaStreamCaptureStatusNone;
    const cudaGraphEdgeData* data = nullptr;
    std::size_t found = 0;
    const Status answer = make_in(stream, [&] {
        return cudaStreamGetCaptureInfo(native(stream), &real, id, graph == nullptr ? nullptr : native(graph),
                                        reinterpret_cast<const cudaGraphNode_t**>(dependencies),
                                        edge_data == nullptr ? nullptr : &data, &found);
    });
    *status = static_cast<CaptureStatus>(real);
    if (answer != Status::success) return answer;
    if (count != nullptr) *count = found;
    if (edge_data == nullptr) return answer;
    // Valid, like the library's own answer, until the thread's next call.
    static thread_local std::vector<GraphEdgeData> kept;
    kept.clear();
    for (std::size_t i = 0; data != nullptr && i < found; ++i) kept.push_back(ours(data[i]));
    kept.resize(found);
    *edge_data = kept.data();
    return answer;
}

Status CudaRuntime::stream_update_capture_dependencies(StreamHandle stream,
                                                       const GraphNodeHandle* dependencies,
                                                       const GraphEdgeData* edge_data, std::size_t count,
                                                       unsigned flags) {
    const GraphUse use;
    return make_in(stream, [&] {
        const auto data = real_of(edge_data, count);
        auto* const nodes = const_cast<cudaGraphNode_t*>(native(dependencies));
        return cudaStreamUpdateCaptureDependencies(native(stream), nodes, data_of(data), count, flags);
    });
}

Status CudaRuntime::thread_exchange_stream_capture_mode(CaptureMode* mode) {
    if (mode == nullptr) return failed(Status::invalid_value);
    auto real = static_cast<cudaStreamCaptureMode>(*mode);
    const Status status = make([&] { return cudaThreadExchangeStreamCaptureMode(&real); });
    if (status == Status::success) *mode = static_cast<CaptureMode>(real);
    return status;
}

// ---- graphs

Status CudaRuntime::graph_create(GraphHandle* graph, unsigned flags) {
    const GraphUse use;
    clear(graph);
    return make([&] { return cudaGraphCreate(native(graph), flags); });
}

Status CudaRuntime::graph_destroy(GraphHandle graph) {
    const GraphUse use;
    const PoolChange change;
    return make([&] { return cudaGraphDestroy(native(graph)); });
}

Status CudaRuntime::graph_clone(GraphHandle* clone, GraphHandle original) {
    const GraphUse use;
    clear(clone);
    return make([&] { return cudaGraphClone(native(clone), native(original)); });
}

// Edges with data are added behind the node, which goes again where that is refused.
Status CudaRuntime::graph_add_node(GraphNodeHandle* node, GraphHandle graph,
                                   const GraphNodeHandle* dependencies, const GraphEdgeData* edge_data,
                                   std::size_t count, GraphNodeParameters* parameters) {
    const GraphUse use;
    clear(node);
    if (node == nullptr || parameters == nullptr) return failed(Status::invalid_value);
    return make([&] {
        if (edge_data == nullptr || count == 0)
            return add_node(native(node), native(graph), native(dependencies), count, *parameters);
        if (dependencies == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = add_node(native(node), native(graph), nullptr, 0, *parameters);
        if (status != cudaSuccess) return status;
        const auto data = real_of(edge_data, count);
        const std::vector<cudaGraphNode_t> to(count, native(*node));
        const cudaError_t connected =
            cudaGraphAddDependencies(native(graph), native(dependencies), to.data(), data_of(data), count);
        if (connected != cudaSuccess) {
            cudaGraphDestroyNode(native(*node));
            *node = nullptr;
        }
        return connected;
    });
}

Status CudaRuntime::graph_destroy_node(GraphNodeHandle node) {
    const GraphUse use;
    return make([&] { return cudaGraphDestroyNode(native(node)); });
}

Status CudaRuntime::graph_add_dependencies(GraphHandle graph, const GraphNodeHandle* from,
                                           const GraphNodeHandle* to, const GraphEdgeData* edge_data,
                                           std::size_t count) {
    const GraphUse use;
    return make([&] {
        const auto data = real_of(edge_data, count);
        return cudaGraphAddDependencies(native(graph), native(from), native(to), data_of(data), count);
    });
}

Status CudaRuntime::graph_remove_dependencies(GraphHandle graph, const GraphNodeHandle* from,
                                              const GraphNodeHandle* to, const GraphEdgeData* edge_data,
                                              std::size_t count) {
    const GraphUse use;
    return make([&] {
        const auto data = real_of(edge_data, count);
        return cudaGraphRemoveDependencies(native(graph), native(from), native(to), data_of(data), count);
    });
}

Status CudaRuntime::graph_get_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) {
    const GraphUse use;
    return make([&] { return cudaGraphGetNodes(native(graph), native(nodes), count); });
}

Status CudaRuntime::graph_get_root_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) {
    const GraphUse use;
    return make([&] { return cudaGraphGetRootNodes(native(graph), native(nodes), count); });
}

Status CudaRuntime::graph_get_edges(GraphHandle graph, GraphNodeHandle* from, GraphNodeHandle* to,
                                    GraphEdgeData* edge_data, std::size_t* count) {
    const GraphUse use;
    return make([&] {
        return with_edge_data(edge_data, count, [&](cudaGraphEdgeData* data) {
            return cudaGraphGetEdges(native(graph), native(from), native(to), data, count);
        });
    });
}

Status CudaRuntime::graph_node_get_type(GraphNodeHandle node, GraphNodeType* type) {
    const GraphUse use;
    if (type == nullptr) return failed(Status::invalid_value);
    *type = GraphNodeType::empty;
    return make([&] { return get_node_type(native(node), type); });
}

Status CudaRuntime::graph_node_get_dependencies(GraphNodeHandle node, GraphNodeHandle* dependencies,
                                                GraphEdgeData* edge_data, std::size_t* count) {
    const GraphUse use;
    return make([&] {
        return with_edge_data(edge_data, count, [&](cudaGraphEdgeData* data) {
            return cudaGraphNodeGetDependencies(native(node), native(dependencies), data, count);
        });
    });
}

Status CudaRuntime::graph_node_get_dependent_nodes(GraphNodeHandle node, GraphNodeHandle* dependents,
                                                   GraphEdgeData* edge_data, std::size_t* count) {
    const GraphUse use;
    return make([&] {
        return with_edge_data(edge_data, count, [&](cudaGraphEdgeData* data) {
            return cudaGraphNodeGetDependentNodes(native(node), native(dependents), data, count);
        });
    });
}

Status CudaRuntime::graph_node_get_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    const GraphUse use;
    if (parameters == nullptr) return failed(Status::invalid_value);
    *parameters = {};
    if (Status status = graph_node_get_type(node, &parameters->type); status != Status::success)
        return status;
    return make([&]() -> cudaError_t {
        switch (parameters->type) {
            case GraphNodeType::kernel: {
                KernelNodeParameters& kernel = parameters->kernel;
                CUDA_KERNEL_NODE_PARAMS_v2 known{};
                if (driver_call(kernel_node_get_params, native(node), &known) == Status::success) {
                    kernel.kernel = known.func != nullptr ? reinterpret_cast<KernelHandle>(known.func)
                                                          : reinterpret_cast<KernelHandle>(known.kern);
                    kernel.grid = {known.gridDimX, known.gridDimY, known.gridDimZ};
                    kernel.block = {known.blockDimX, known.blockDimY, known.blockDimZ};
                    kernel.dynamic_shared_bytes = known.sharedMemBytes;
                    kernel.arguments = known.kernelParams;
                    return cudaSuccess;
                }
                cudaKernelNodeParams real{};
                const cudaError_t status = cudaGraphKernelNodeGetParams(native(node), &real);
                kernel.kernel = static_cast<KernelHandle>(real.func);
                kernel.grid = {real.gridDim.x, real.gridDim.y, real.gridDim.z};
                kernel.block = {real.blockDim.x, real.blockDim.y, real.blockDim.z};
                kernel.dynamic_shared_bytes = real.sharedMemBytes;
                kernel.arguments = real.kernelParams;
                return status;
            }
            case GraphNodeType::memcpy: {
                cudaMemcpy3DParms real{};
                const cudaError_t status = cudaGraphMemcpyNodeGetParams(native(node), &real);
                parameters->memcpy = ours(real);
                return status;
            }
            case GraphNodeType::memset: {
                cudaMemsetParams real{};
                const cudaError_t status = cudaGraphMemsetNodeGetParams(native(node), &real);
                parameters->memset = {real.dst,         real.pitch, real.value,
                                      real.elementSize, real.width, real.height};
                return status;
            }
            case GraphNodeType::host: {
                cudaHostNodeParams real{};
                const cudaError_t status = cudaGraphHostNodeGetParams(native(node), &real);
                parameters->host = {real.fn, real.userData};
                return status;
            }
            case GraphNodeType::graph:
                return cudaGraphChildGraphNodeGetGraph(native(node), native(&parameters->graph));
            case GraphNodeType::wait_event:
                return cudaGraphEventWaitNodeGetEvent(native(node), native(&parameters->event));
            case GraphNodeType::event_record:
                return cudaGraphEventRecordNodeGetEvent(native(node), native(&parameters->event));
            case GraphNodeType::mem_alloc: {
                cudaMemAllocNodeParams real{};
                const cudaError_t status = cudaGraphMemAllocNodeGetParams(native(node), &real);
                parameters->alloc.pool.location = {static_cast<MemLocationType>(real.poolProps.location.type),
                                                   real.poolProps.location.id};
                parameters->alloc.bytes = real.bytesize;
                parameters->alloc.pointer = real.dptr;
                return status;
            }
            case GraphNodeType::mem_free:
                return cudaGraphMemFreeNodeGetParams(native(node), &parameters->free);
            case GraphNodeType::batch_mem_op:
                return get_batch(native(node), &parameters->batch);
            case GraphNodeType::external_semaphore_signal:
            case GraphNodeType::external_semaphore_wait:
                return get_semaphores(native(node), parameters);
            default:
                return cudaSuccess;
        }
    });
}

Status CudaRuntime::graph_node_set_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    const GraphUse use;
    if (parameters == nullptr) return failed(Status::invalid_value);
    return make([&]() -> cudaError_t {
        switch (parameters->type) {
            case GraphNodeType::kernel: {
                const cudaKernelNodeParams real = real_of(parameters->kernel);
                return cudaGraphKernelNodeSetParams(native(node), &real);
            }
            case GraphNodeType::memcpy: {
                const cudaMemcpy3DParms real = library_parameters(parameters->memcpy);
                return cudaGraphMemcpyNodeSetParams(native(node), &real);
            }
            case GraphNodeType::memset: {
                const cudaMemsetParams real = real_of(parameters->memset);
                return cudaGraphMemsetNodeSetParams(native(node), &real);
            }
            case GraphNodeType::host: {
                const cudaHostNodeParams real = real_of(parameters->host);
                return cudaGraphHostNodeSetParams(native(node), &real);
            }
            case GraphNodeType::wait_event:
                return cudaGraphEventWaitNodeSetEvent(native(node), native(parameters->event));
            case GraphNodeType::event_record:
                return cudaGraphEventRecordNodeSetEvent(native(node), native(parameters->event));
            case GraphNodeType::batch_mem_op:
                return set_batch(native(node), parameters->batch);
            case GraphNodeType::external_semaphore_signal:
            case GraphNodeType::external_semaphore_wait:
                return set_semaphores(native(node), *parameters);
            default:
                return cudaErrorInvalidValue;
        }
    });
}

Status CudaRuntime::graph_node_find_in_clone(GraphNodeHandle* node, GraphNodeHandle original,
                                             GraphHandle clone) {
    const GraphUse use;
    clear(node);
    return make([&] { return cudaGraphNodeFindInClone(native(node), native(original), native(clone)); });
}

Status CudaRuntime::graph_kernel_node_set_attribute(GraphNodeHandle node, LaunchAttributeId id,
                                                    const LaunchAttribute* value) {
    const GraphUse use;
    if (value == nullptr) return failed(Status::invalid_value);
    return make([&] {
        const cudaLaunchAttributeValue real = value_of(*value, id);
        return cudaGraphKernelNodeSetAttribute(native(node), static_cast<cudaLaunchAttributeID>(id), &real);
    });
}

Status CudaRuntime::graph_kernel_node_get_attribute(GraphNodeHandle node, LaunchAttributeId id,
                                                    LaunchAttribute* value) {
    const GraphUse use;
    clear(value);
    if (value == nullptr) return failed(Status::invalid_value);
    cudaLaunchAttributeValue real{};
    const Status status = make([&] {
        return cudaGraphKernelNodeGetAttribute(native(node), static_cast<cudaLaunchAttributeID>(id), &real);
    });
    if (status == Status::success) *value = ours(real, id);
    return status;
}

Status CudaRuntime::graph_kernel_node_copy_attributes(GraphNodeHandle destination, GraphNodeHandle source) {
    const GraphUse use;
    return make([&] { return cudaGraphKernelNodeCopyAttributes(native(destination), native(source)); });
}

Status CudaRuntime::graph_conditional_handle_create(ConditionalHandle* handle, GraphHandle graph,
                                                    unsigned default_value, unsigned flags) {
    const GraphUse use;
    clear(handle);
    return make(
        [&] { return cudaGraphConditionalHandleCreate(handle, native(graph), default_value, flags); });
}

Status CudaRuntime::graph_debug_dot_print(GraphHandle graph, const char* path, unsigned flags) {
    const GraphUse use;
    return make([&] { return cudaGraphDebugDotPrint(native(graph), path, flags); });
}

// ---- executables

Status CudaRuntime::graph_instantiate(GraphExecHandle* exec, GraphHandle graph,
                                      GraphInstantiateParameters* parameters) {
    const GraphUse use;
    if (parameters == nullptr) return failed(Status::invalid_value);
    clear(exec);
    cudaGraphInstantiateParams real{};
    real.flags = parameters->flags;
    real.uploadStream = native(parameters->upload_stream);
    const PoolChange change;
    const Status status =
        make([&] { return cudaGraphInstantiateWithParams(native(exec), native(graph), &real); });
    parameters->error_node = reinterpret_cast<GraphNodeHandle>(real.errNode_out);
    parameters->result = static_cast<GraphInstantiateResult>(real.result_out);
    return status;
}

Status CudaRuntime::graph_exec_destroy(GraphExecHandle exec) {
    const GraphUse use;
    const PoolChange change;
    return make([&] { return cudaGraphExecDestroy(native(exec)); });
}

Status CudaRuntime::graph_exec_get_flags(GraphExecHandle exec, unsigned long long* flags) {
    const GraphUse use;
    clear(flags);
    return make([&] { return cudaGraphExecGetFlags(native(exec), flags); });
}

Status CudaRuntime::graph_exec_update(GraphExecHandle exec, GraphHandle graph, GraphExecUpdateInfo* info) {
    const GraphUse use;
    if (info == nullptr) return failed(Status::invalid_value);
    cudaGraphExecUpdateResultInfo real{};
    const Status status = make([&] { return cudaGraphExecUpdate(native(exec), native(graph), &real); });
    *info = {static_cast<GraphExecUpdateResult>(real.result),
             reinterpret_cast<GraphNodeHandle>(real.errorNode),
             reinterpret_cast<GraphNodeHandle>(real.errorFromNode)};
    return status;
}

Status CudaRuntime::graph_exec_node_set_params(GraphExecHandle exec, GraphNodeHandle node,
                                               GraphNodeParameters* parameters) {
    const GraphUse use;
    if (parameters == nullptr) return failed(Status::invalid_value);
    return make([&]() -> cudaError_t {
        switch (parameters->type) {
            case GraphNodeType::kernel: {
                const cudaKernelNodeParams real = real_of(parameters->kernel);
                return cudaGraphExecKernelNodeSetParams(native(exec), native(node), &real);
            }
            case GraphNodeType::memcpy: {
                const cudaMemcpy3DParms real = library_parameters(parameters->memcpy);
                return cudaGraphExecMemcpyNodeSetParams(native(exec), native(node), &real);
            }
            case GraphNodeType::memset: {
                const cudaMemsetParams real = real_of(parameters->memset);
                return cudaGraphExecMemsetNodeSetParams(native(exec), native(node), &real);
            }
            case GraphNodeType::host: {
                const cudaHostNodeParams real = real_of(parameters->host);
                return cudaGraphExecHostNodeSetParams(native(exec), native(node), &real);
            }
            case GraphNodeType::graph:
                return cudaGraphExecChildGraphNodeSetParams(native(exec), native(node),
                                                            native(parameters->graph));
            case GraphNodeType::wait_event:
                return cudaGraphExecEventWaitNodeSetEvent(native(exec), native(node),
                                                          native(parameters->event));
            case GraphNodeType::event_record:
                return cudaGraphExecEventRecordNodeSetEvent(native(exec), native(node),
                                                            native(parameters->event));
            case GraphNodeType::batch_mem_op:
                return set_batch(native(exec), native(node), parameters->batch);
            case GraphNodeType::external_semaphore_signal:
            case GraphNodeType::external_semaphore_wait:
                return set_semaphores(native(exec), native(node), *parameters);
            default:
                return cudaErrorInvalidValue;
        }
    });
}

Status CudaRuntime::graph_node_set_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned enabled) {
    const GraphUse use;
    return make([&] { return cudaGraphNodeSetEnabled(native(exec), native(node), enabled); });
}

Status CudaRuntime::graph_node_get_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned* enabled) {
    const GraphUse use;
    clear(enabled);
    return make([&] { return cudaGraphNodeGetEnabled(native(exec), native(node), enabled); });
}

Status CudaRuntime::graph_upload(GraphExecHandle exec, StreamHandle stream) {
    const GraphUse use;
    return make_in(stream, [&] { return cudaGraphUpload(native(exec), native(stream)); });
}

Status CudaRuntime::graph_launch(GraphExecHandle exec, StreamHandle stream) {
    const PrintCapture capture;  // a launch shows what was printed before
    const GraphUse use;
    const StreamUse stream_use(native(stream));
    if (!is_default(stream)) {
        if (const auto status = driver_call(launch_graph, native(exec), native(stream)))
            return answered(*status);
    }
    return make([&] { return cudaGraphLaunch(native(exec), native(stream)); });
}

}  // namespace cuscope::cuda
