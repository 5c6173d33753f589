// Stream memory operations as the driver wants them, and back: see memory_operations.cpp.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "runtime/graph_types.hpp"

namespace cuscope::cuda {

// The runtime library knows nothing of such nodes: these are the driver's functions.
cudaError_t add_batch(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                      std::size_t count, const BatchMemOpNodeParameters& given);
// The operations are good until the thread's next call.
cudaError_t get_batch(cudaGraphNode_t node, BatchMemOpNodeParameters* found);
cudaError_t set_batch(cudaGraphNode_t node, const BatchMemOpNodeParameters& given);
cudaError_t set_batch(cudaGraphExec_t exec, cudaGraphNode_t node, const BatchMemOpNodeParameters& given);
// Also where the library has no number for the type.
cudaError_t get_node_type(cudaGraphNode_t node, GraphNodeType* type);

}  // namespace cuscope::cuda
