// Nodes that are whole graphs.
#include "host/graph/nodes/node_of.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

class HostRuntime::GraphNode::ChildGraphNode final : public Of<ChildGraphNodeParameters> {
  public:
    GraphNodeParameters parameters() const override {
        return ChildGraphNodeParameters{body_handles.empty() ? nullptr : body_handles.front()};
    }
    GraphInstantiateResult check_device_start(HostRuntime&, bool) const override {
        return GraphInstantiateResult::success;
    }
    bool is_laid_out() const override { return true; }

  protected:
    Status check_given(HostRuntime& runtime, const ChildGraphNodeParameters& given) const override {
        const Found<const Graph> child = runtime.find_graph(given.graph);
        if (child == nullptr || !child->unique()) return Status::success;
        return runtime.fail(Status::not_supported,
                            "a child graph has no conditional nodes and allocates no memory");
    }
    Status set_given(HostRuntime& runtime, ChildGraphNodeParameters& given) override {
        const Found<const Graph> child = runtime.find_graph(given.graph);
        if (child == nullptr)
            return runtime.fail(Status::invalid_value, "the child graph does not exist, or was destroyed");
        if (child == graph) return runtime.fail(Status::invalid_value, "a graph within itself");
        TRY(check_given(runtime, given));
        auto body = runtime.copy_graph(*child, false);
        body->parent = this;
        for (const auto& old : bodies) {
            runtime.graphs_->alive.erase(old.get());
            runtime.forget_nodes(*old);
        }
        runtime.graphs_->alive.insert(body.get());
        body_handles = {reinterpret_cast<GraphHandle>(body.get())};
        bodies.clear();
        bodies.push_back(std::move(body));
        return Status::success;
    }
    // The body of an executable keeps its nodes, and takes the parameters of theirs.
    Status change_given(HostRuntime& runtime, ChildGraphNodeParameters& given) override {
        const Found<const Graph> child = runtime.find_graph(given.graph);
        if (child == nullptr ||
            runtime.difference(*bodies.front(), *child).result != GraphExecUpdateResult::success) {
            return runtime.fail(Status::invalid_value,
                                "the child graph is built in another way than the node's");
        }
        runtime.take_parameters(*bodies.front(), *child);
        return Status::success;
    }
};

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const ChildGraphNodeParameters&) {
    return std::make_unique<ChildGraphNode>();
}

}  // namespace cuscope::host
