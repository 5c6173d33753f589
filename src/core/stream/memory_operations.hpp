// Stream memory operations: a stream, or a node of a graph, writes one value to memory or waits until memory
// holds one.
#pragma once

#include <memory>
#include <vector>

#include "core/graph/graph.hpp"

namespace cuscope::core {

// An operation and the memory that it works on; null for a barrier.
struct MemoryOperationOn {
    MemoryOperation operation;
    std::shared_ptr<Memory> memory;
};
using MemoryOperations = std::vector<MemoryOperationOn>;

// Throws for memory on which the device does no such operations.
void check_takes_operations(const Memory& memory);
// One alone by its own call, several in order as a batch.
void enqueue(const StreamPtr& stream, const MemoryOperations& operations);
GraphNodePtr add_batch(Graph& graph, const MemoryOperations& operations, const GraphNodes& after);
void set_batch(GraphExec& exec, const GraphNode& node, const MemoryOperations& operations);

}  // namespace cuscope::core
