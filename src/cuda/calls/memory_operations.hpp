// Converts stream memory operations to the driver's types and back: see memory_operations.cpp.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "runtime/graph_types.hpp"

namespace cuscope::cuda {

// The runtime library does not know these nodes, so these functions call the driver.
cudaError_t add_batch(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                      std::size_t count, const BatchMemOpNodeParameters& given);
// The operations are valid until the thread's next call.
cudaError_t get_batch(cudaGraphNode_t node, BatchMemOpNodeParameters* found);
cudaError_t set_batch(cudaGraphNode_t node, const BatchMemOpNodeParameters& given);
cudaError_t set_batch(cudaGraphExec_t exec, cudaGraphNode_t node, const BatchMemOpNodeParameters& given);
// Also for types that the library has no number for.
cudaError_t get_node_type(cudaGraphNode_t node, GraphNodeType* type);

}  // namespace cuscope::cuda
