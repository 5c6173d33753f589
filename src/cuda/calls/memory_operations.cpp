// Stream memory operations, in streams and as nodes of graphs.
#include "cuda/calls/memory_operations.hpp"

#include <vector>

#include "cuda/cuda_runtime.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/function.hpp"
#include "cuda/handles.hpp"

namespace cuscope::cuda {
namespace {

// The driver version from which these functions have the signatures in cuda.h.
constexpr unsigned second_version = 11070;
DriverFunction<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)> write_value_32(
    "cuStreamWriteValue32", second_version);
DriverFunction<CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned)> write_value_64(
    "cuStreamWriteValue64", second_version);
DriverFunction<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)> wait_value_32("cuStreamWaitValue32",
                                                                                        second_version);
DriverFunction<CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned)> wait_value_64("cuStreamWaitValue64",
                                                                                        second_version);
DriverFunction<CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned)> batch_mem_op(
    "cuStreamBatchMemOp", second_version);
using NodeParameters = CUDA_BATCH_MEM_OP_NODE_PARAMS;
DriverFunction<CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const NodeParameters*)>
    add_batch_node("cuGraphAddBatchMemOpNode", second_version);
DriverFunction<CUresult (*)(CUgraphNode, NodeParameters*)> node_get_params("cuGraphBatchMemOpNodeGetParams",
                                                                           second_version);
DriverFunction<CUresult (*)(CUgraphNode, const NodeParameters*)> node_set_params(
    "cuGraphBatchMemOpNodeSetParams", second_version);
DriverFunction<CUresult (*)(CUgraphExec, CUgraphNode, const NodeParameters*)> exec_node_set_params(
    "cuGraphExecBatchMemOpNodeSetParams", second_version);
DriverFunction<CUresult (*)(CUgraphNode, CUgraphNodeType*)> node_get_type("cuGraphNodeGetType", 10000);

// CUresult and cudaError_t have the same numbers for all results of these functions.
template <class Function, class... Arguments>
cudaError_t ask(DriverFunction<Function>& function, Arguments... arguments) {
    const auto call = function.get();
    if (call == nullptr) return cudaErrorCallRequiresNewerDriver;
    CUcontext context = nullptr;
    if (const cudaError_t status = current_context(&context); status != cudaSuccess) return status;
    return static_cast<cudaError_t>(call(arguments...));
}

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

std::vector<CUstreamBatchMemOpParams> real_of(const MemoryOperation* operations, unsigned count) {
    std::vector<CUstreamBatchMemOpParams> made(operations == nullptr ? 0 : count);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const MemoryOperation& given = operations[i];
        CUstreamBatchMemOpParams& real = made[i];
        real = {};
        if (given.writes() || given.waits()) {
            // The parameters of waits have the same layout as the parameters of writes.
            real.writeValue.address = address(given.address);
            real.writeValue.value64 = given.value;
            real.writeValue.flags = given.flags;
        } else {
            real.memoryBarrier.flags = given.flags;
        }
        real.operation = static_cast<CUstreamBatchMemOpType>(given.type);
    }
    return made;
}

cudaError_t with_parameters(const BatchMemOpNodeParameters& given, auto call) {
    auto operations = real_of(given.operations, given.count);
    if (given.operations == nullptr && given.count > 0) return cudaErrorInvalidValue;
    NodeParameters real{};
    if (const cudaError_t status = current_context(&real.ctx); status != cudaSuccess) return status;
    real.count = given.count;
    real.paramArray = operations.data();
    real.flags = given.flags;
    return call(&real);
}

}  // namespace

cudaError_t add_batch(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                      std::size_t count, const BatchMemOpNodeParameters& given) {
    return with_parameters(given, [&](const NodeParameters* real) {
        return ask(add_batch_node, node, graph, dependencies, count, real);
    });
}

cudaError_t get_batch(cudaGraphNode_t node, BatchMemOpNodeParameters* found) {
    static thread_local std::vector<MemoryOperation> kept;
    kept.clear();
    NodeParameters real{};
    const cudaError_t status = ask(node_get_params, node, &real);
    for (unsigned i = 0; status == cudaSuccess && i < real.count; ++i) {
        const CUstreamBatchMemOpParams& known = real.paramArray[i];
        MemoryOperation& made = kept.emplace_back();
        made.type = static_cast<MemoryOperationType>(known.operation);
        made.flags = known.memoryBarrier.flags;
        if (!made.writes() && !made.waits()) continue;
        made.address = reinterpret_cast<void*>(known.writeValue.address);
        made.value = made.bytes() == 8 ? known.writeValue.value64 : known.writeValue.value;
        made.flags = known.writeValue.flags;
    }
    *found = {kept.data(), static_cast<unsigned>(kept.size()), real.flags};
    return status;
}

cudaError_t set_batch(cudaGraphNode_t node, const BatchMemOpNodeParameters& given) {
    return with_parameters(given,
                           [&](const NodeParameters* real) { return ask(node_set_params, node, real); });
}

cudaError_t set_batch(cudaGraphExec_t exec, cudaGraphNode_t node, const BatchMemOpNodeParameters& given) {
    return with_parameters(
        given, [&](const NodeParameters* real) { return ask(exec_node_set_params, exec, node, real); });
}

cudaError_t get_node_type(cudaGraphNode_t node, GraphNodeType* type) {
    CUgraphNodeType real = CU_GRAPH_NODE_TYPE_EMPTY;
    const cudaError_t status = ask(node_get_type, node, &real);
    *type = static_cast<GraphNodeType>(real);
    return status;
}

Status CudaRuntime::stream_write_value_32(StreamHandle stream, void* pointer, std::uint32_t value,
                                          unsigned flags) {
    return make_in(stream,
                   [&] { return ask(write_value_32, native(stream), address(pointer), value, flags); });
}

Status CudaRuntime::stream_write_value_64(StreamHandle stream, void* pointer, std::uint64_t value,
                                          unsigned flags) {
    return make_in(stream, [&] {
        return ask(write_value_64, native(stream), address(pointer), static_cast<cuuint64_t>(value), flags);
    });
}

Status CudaRuntime::stream_wait_value_32(StreamHandle stream, void* pointer, std::uint32_t value,
                                         unsigned flags) {
    return make_in(stream,
                   [&] { return ask(wait_value_32, native(stream), address(pointer), value, flags); });
}

Status CudaRuntime::stream_wait_value_64(StreamHandle stream, void* pointer, std::uint64_t value,
                                         unsigned flags) {
    return make_in(stream, [&] {
        return ask(wait_value_64, native(stream), address(pointer), static_cast<cuuint64_t>(value), flags);
    });
}

// The driver would read from a null `operations`.
Status CudaRuntime::stream_batch_mem_op(StreamHandle stream, unsigned count,
                                        const MemoryOperation* operations, unsigned flags) {
    if (operations == nullptr && count > 0) return failed(Status::invalid_value);
    return make_in(stream, [&] {
        auto real = real_of(operations, count);
        return ask(batch_mem_op, native(stream), count, real.data(), flags);
    });
}

}  // namespace cuscope::cuda
