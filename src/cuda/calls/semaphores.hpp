// Converts external semaphore nodes to the library's types and back: see semaphores.cpp.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/graph_types.hpp"

namespace cuscope::cuda {

cudaError_t add_semaphores(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                           std::size_t count, const SemaphoreSignalNodeParameters& given);
cudaError_t add_semaphores(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                           std::size_t count, const SemaphoreWaitNodeParameters& given);
// The arrays in `found` are valid until the thread's next call.
cudaError_t get_semaphores(cudaGraphNode_t node, SemaphoreSignalNodeParameters& found);
cudaError_t get_semaphores(cudaGraphNode_t node, SemaphoreWaitNodeParameters& found);
cudaError_t set_semaphores(cudaGraphNode_t node, const SemaphoreSignalNodeParameters& given);
cudaError_t set_semaphores(cudaGraphNode_t node, const SemaphoreWaitNodeParameters& given);
cudaError_t set_semaphores(cudaGraphExec_t exec, cudaGraphNode_t node,
                           const SemaphoreSignalNodeParameters& given);
cudaError_t set_semaphores(cudaGraphExec_t exec, cudaGraphNode_t node,
                           const SemaphoreWaitNodeParameters& given);

}  // namespace cuscope::cuda
