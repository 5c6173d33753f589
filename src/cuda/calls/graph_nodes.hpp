// The parameters of graph nodes as the library wants them, and back: see graph_nodes.cpp.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/graph_types.hpp"

namespace cuscope::cuda {

// Where a node is added: behind `count` dependencies of the graph.
struct NewNode {
    cudaGraphNode_t* node;
    cudaGraph_t graph;
    const cudaGraphNode_t* dependencies;
    std::size_t count;
};

// Members of `given` that are marked as answers are written.
cudaError_t add_graph_node(const NewNode& place, GraphNodeParameters& given);
// `found` has the type of the node. Its pointers are good until the thread's next call.
cudaError_t get_node_parameters(cudaGraphNode_t node, GraphNodeParameters& found);
cudaError_t set_node_parameters(cudaGraphNode_t node, const GraphNodeParameters& given);
cudaError_t set_node_parameters(cudaGraphExec_t exec, cudaGraphNode_t node, const GraphNodeParameters& given);

}  // namespace cuscope::cuda
