// The graphs and executables of a runtime that were made during a check.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "runtime/order/graph_shape.hpp"
#include "runtime/runtime.hpp"

namespace cuscope::order {

class Graphs {
  public:
    explicit Graphs(Runtime& runtime) : runtime_(runtime) {}

    void add(GraphNodeHandle node, GraphPart part);
    void forget(GraphNodeHandle node);
    void clone(GraphHandle clone, GraphHandle original);
    // The nodes of a graph with those of its children and bodies, in order.
    std::shared_ptr<GraphShape> shape_of(GraphHandle graph);
    // New parameters of a node of a graph, or of an executable.
    void change(GraphNodeHandle node, GraphPart part);

    void instantiated(GraphExecHandle exec, GraphHandle graph);
    void destroyed(GraphExecHandle exec);
    void change(GraphExecHandle exec, GraphNodeHandle node, GraphPart part);
    void enable(GraphExecHandle exec, GraphNodeHandle node, bool enabled);
    std::shared_ptr<GraphShape> shape_of(GraphExecHandle exec);  // null: not known
    void clear();

    // What a node of these parameters does.
    GraphPart part_of(const GraphNodeParameters& parameters);

  private:
    std::vector<GraphNodeHandle> nodes_of(GraphHandle graph);
    // Adds the nodes of a graph behind the node at this place; returns the places that nothing follows.
    std::vector<std::size_t> lay_out(GraphHandle graph, std::size_t begin, GraphShape& shape);

    Runtime& runtime_;
    std::mutex mutex_;  // of the members below; not held during calls of the runtime
    std::unordered_map<GraphNodeHandle, GraphPart> parts_;
    std::unordered_map<GraphExecHandle, std::shared_ptr<GraphShape>> execs_;
};

}  // namespace cuscope::order
