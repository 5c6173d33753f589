// Stream memory operations: a stream, or a node of a graph, writes a value to memory or waits until the
// memory holds a value.
#pragma once

#include <memory>
#include <vector>

#include "core/graph/graph.hpp"

namespace cuscope::core {

// An operation and the memory that it reads or writes; null for a barrier.
struct MemoryOperationOn {
    MemoryOperation operation;
    std::shared_ptr<Memory> memory;
};
using MemoryOperations = std::vector<MemoryOperationOn>;

// Throws for memory on which the device does not support these operations.
void check_takes_operations(const Memory& memory);
// Uses the single call for one operation, a batch for several in order.
void enqueue(const StreamPtr& stream, const MemoryOperations& operations);
GraphNodePtr add_batch(Graph& graph, const MemoryOperations& operations, const GraphNodes& after);
void set_batch(GraphExec& exec, const GraphNode& node, const MemoryOperations& operations);

}  // namespace cuscope::core
