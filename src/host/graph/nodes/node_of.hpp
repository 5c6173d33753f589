// The base of the classes of nodes: a node with parameters of one type. Private to src/host/graph.
#pragma once

#include "host/graph/graph.hpp"

namespace cuscope::host {

template <class Parameters>
class HostRuntime::GraphNode::Of : public GraphNode {
  public:
    GraphNodeType type() const final { return Parameters::node_type; }
    GraphNodeParameters parameters() const override { return given_; }

    Status check(HostRuntime& runtime, const GraphNodeParameters& given) const final {
        return check_given(runtime, std::get<Parameters>(given));
    }
    Status set(HostRuntime& runtime, GraphNodeParameters& given) final {
        return set_given(runtime, std::get<Parameters>(given));
    }
    Status change(HostRuntime& runtime, GraphNodeParameters& given) final {
        return change_given(runtime, std::get<Parameters>(given));
    }
    void imitate(HostRuntime& runtime, const GraphNode& from) override {
        given_ = static_cast<const Of&>(from).given_;
        runtime.take_command(*this, from.command);
    }
    GraphExecUpdateResult difference(const GraphNode& want) const final {
        return difference_to(static_cast<const Of&>(want));
    }

    const Parameters& given() const { return given_; }
    // Takes over parameters, and the command that was made for them, if there is one.
    virtual void assign(HostRuntime& runtime, const Parameters& given, Command* made = nullptr) {
        command = made == nullptr ? CommandRef() : runtime.adopt(made);
        given_ = given;
    }

  protected:
    virtual Status check_given(HostRuntime&, const Parameters&) const { return Status::success; }
    virtual Status set_given(HostRuntime& runtime, Parameters& given) = 0;
    virtual Status change_given(HostRuntime& runtime, Parameters& given) { return set_given(runtime, given); }
    virtual GraphExecUpdateResult difference_to(const Of& /*want*/) const {
        return GraphExecUpdateResult::success;
    }

    Parameters given_;
};

}  // namespace cuscope::host
