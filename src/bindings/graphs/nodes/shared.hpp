// Parts that the bindings of several types of graph nodes share.
#pragma once

#include "bindings/graphs/graphs.hpp"
#include "bindings/support/fast_calls.hpp"

namespace cuscope::bindings {

// Functions that release the GIL take it by value: meanwhile another thread may close the object that holds
// it.
using GraphExecPtr = std::shared_ptr<core::GraphExec>;

// The objects that node parameters made from Python's values refer to.
struct NodeUses {
    std::vector<std::shared_ptr<core::Memory>> memory;
    std::vector<std::shared_ptr<void>> things;

    // `user`: a graph or an executable.
    void keep_in(auto& user) const {
        for (const auto& each : memory) user.keep(each);
        for (const auto& each : things) user.keep(each);
    }
};

// Adds a node with the parameters that `parse(device, &uses)` returns.
template <class Parse>
core::GraphNodePtr add_node(const GraphObject& self, const AfterLike& after, const char* call, Parse parse) {
    const std::shared_ptr<core::Graph> graph = self.open();
    const core::GraphNodes before = parse_after(after);
    NodeUses uses;
    const GraphNodeParameters parameters = parse(graph->device(), &uses);
    auto made = without_gil([&] { return graph->add(parameters, before, call); });
    uses.keep_in(*graph);
    return made;
}

inline core::GraphNodePtr add_node(const GraphObject& self, const GraphNodeParameters& parameters,
                                   const AfterLike& after, const char* call) {
    return add_node(self, after, call, [&](core::Device&, NodeUses*) { return parameters; });
}

// The same for a change of a node in an executable.
template <class Parse>
void set_node(GraphExecPtr exec, const core::GraphNode& node, const char* call, Parse parse) {
    NodeUses uses;
    const GraphNodeParameters parameters = parse(exec->device(), &uses);
    without_gil([&] { exec->set_parameters(node, parameters, call); });
    uses.keep_in(*exec);
}

// The executable and the node of an update that is called without pybind11's dispatch.
struct NodeToUpdate {
    GraphExecPtr exec;  // null: the call is not so simple
    const core::GraphNode* node = nullptr;
};

inline NodeToUpdate node_to_update(PyObject* self, PyObject* of_node) {
    const auto* const object = exactly<GraphExecObject>(self);
    const auto* const node = exactly<core::GraphNode>(of_node);
    return object == nullptr || node == nullptr ? NodeToUpdate{} : NodeToUpdate{object->exec.get(), node};
}

}  // namespace cuscope::bindings
