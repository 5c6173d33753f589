// Nodes without work: other nodes wait for one of them in place of everything that it waits for.
#include "host/graph/nodes/node_of.hpp"

namespace cuscope::host {

class EmptyNode final : public NodeOf<EmptyNodeParameters> {
  public:
    GraphInstantiateResult check_device_start(Machine&, bool whole_graph) const override {
        return whole_graph ? GraphInstantiateResult::node_operation_not_supported
                           : GraphInstantiateResult::success;
    }

  protected:
    Status set_given(Machine&, EmptyNodeParameters&) override { return Status::success; }
};

GraphNode::Made GraphNode::make(const EmptyNodeParameters&) { return std::make_unique<EmptyNode>(); }

}  // namespace cuscope::host
