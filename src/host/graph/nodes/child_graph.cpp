// Nodes that are whole graphs.
#include "host/graph/nodes/node_of.hpp"

namespace cuscope::host {

class ChildGraphNode final : public NodeOf<ChildGraphNodeParameters> {
  public:
    GraphNodeParameters parameters() const override {
        return ChildGraphNodeParameters{body_handles.empty() ? nullptr : body_handles.front()};
    }
    GraphInstantiateResult check_device_start(Machine&, bool) const override {
        return GraphInstantiateResult::success;
    }
    bool is_laid_out() const override { return true; }

  protected:
    Status check_given(Machine& machine, const ChildGraphNodeParameters& given) const override {
        const Found<const Graph> child = machine.graphs.find(given.graph);
        if (child == nullptr || !child->unique()) return Status::success;
        return fail(Status::not_supported, "a child graph has no conditional nodes and allocates no memory");
    }
    Status set_given(Machine& machine, ChildGraphNodeParameters& given) override {
        const Found<const Graph> child = machine.graphs.find(given.graph);
        if (child == nullptr) return invalid_handle("child graph", Status::invalid_value);
        if (child == graph) return fail(Status::invalid_value, "a graph within itself");
        TRY(check_given(machine, given));
        auto body = machine.graphs.copy(*child, false);
        body->parent = this;
        for (const auto& old : bodies) machine.graphs.hide(*old);
        body_handles = {machine.graphs.show(*body)};
        bodies.clear();
        bodies.push_back(std::move(body));
        return Status::success;
    }
    // The body of an executable keeps its nodes, and takes the parameters of theirs.
    Status change_given(Machine& machine, ChildGraphNodeParameters& given) override {
        const Found<const Graph> child = machine.graphs.find(given.graph);
        if (child == nullptr || bodies.front()->difference(*child).result != GraphExecUpdateResult::success) {
            return fail(Status::invalid_value, "the child graph is built in another way than the node's");
        }
        bodies.front()->take_parameters(machine, *child);
        return Status::success;
    }
};

GraphNode::Made GraphNode::make(const ChildGraphNodeParameters&) {
    return std::make_unique<ChildGraphNode>();
}

}  // namespace cuscope::host
