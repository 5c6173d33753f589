// Graphs and stream capture.
#include <algorithm>
#include <vector>

#include "cuda/calls/graph_nodes.hpp"
#include "cuda/calls/memory_operations.hpp"
#include "cuda/calls/printing.hpp"
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

// Calls `query` with room for edge data if the caller wants edge data, and converts the answer.
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
    Status status;
    {
        CaptureChange change;
        status = make([&] { return cudaStreamEndCapture(native(stream), native(graph)); });
        change.may_have_ended(native(stream));
    }
    settle_traces();
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
    if (status != Status::success) return status;
    is_relaxed = *mode == CaptureMode::relaxed;
    *mode = static_cast<CaptureMode>(real);
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

// Edges with data are added after the node. If they are refused, the node is destroyed again.
Status CudaRuntime::graph_add_node(GraphNodeHandle* node, GraphHandle graph,
                                   const GraphNodeHandle* dependencies, const GraphEdgeData* edge_data,
                                   std::size_t count, GraphNodeParameters* parameters) {
    const GraphUse use;
    clear(node);
    if (node == nullptr || parameters == nullptr) return failed(Status::invalid_value);
    return make([&] {
        if (edge_data == nullptr || count == 0)
            return add_graph_node({native(node), native(graph), native(dependencies), count}, *parameters);
        if (dependencies == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = add_graph_node({native(node), native(graph), nullptr, 0}, *parameters);
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
    *parameters = EmptyNodeParameters{};
    auto type = GraphNodeType::empty;
    if (Status status = graph_node_get_type(node, &type); status != Status::success) return status;
    *parameters = parameters_of_type(type);
    return make([&] { return get_node_parameters(native(node), *parameters); });
}

Status CudaRuntime::graph_node_set_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    const GraphUse use;
    if (parameters == nullptr) return failed(Status::invalid_value);
    return make([&] { return set_node_parameters(native(node), *parameters); });
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
    return make([&] { return set_node_parameters(native(exec), native(node), *parameters); });
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
    const PrintCapture capture;  // a launch shows the output of earlier kernels
    const GraphUse use;
    const StreamUse stream_use(native(stream));
    if (!is_default(stream)) {
        if (const auto status = driver_call(launch_graph, native(exec), native(stream)))
            return answered(*status);
    }
    return make([&] { return cudaGraphLaunch(native(exec), native(stream)); });
}

}  // namespace cuscope::cuda
