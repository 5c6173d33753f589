// The base of the classes of nodes: a node with parameters of one type. Private to src/host/graph.
#pragma once

#include "host/graph/graph.hpp"
#include "host/runtime/machine.hpp"

namespace cuscope::host {

template <class Parameters>
class NodeOf : public GraphNode {
  public:
    GraphNodeType type() const final { return node_type_of<Parameters>; }
    GraphNodeParameters parameters() const override { return given_; }

    Status check(Machine& machine, const GraphNodeParameters& given) const final {
        return check_given(machine, std::get<Parameters>(given));
    }
    Status set(Machine& machine, GraphNodeParameters& given) final {
        return set_given(machine, std::get<Parameters>(given));
    }
    Status change(Machine& machine, GraphNodeParameters& given) final {
        return change_given(machine, std::get<Parameters>(given));
    }
    void imitate(Machine& machine, const GraphNode& from) override {
        given_ = static_cast<const NodeOf&>(from).given_;
        take_command(machine, from.command);
    }
    GraphExecUpdateResult difference(const GraphNode& want) const final {
        return difference_to(static_cast<const NodeOf&>(want));
    }

    const Parameters& given() const { return given_; }
    // Takes over parameters, and the command that was made for them, if there is one.
    virtual void assign(Machine& machine, const Parameters& given, Command* made = nullptr) {
        command = made == nullptr ? CommandRef() : machine.adopt(made);
        given_ = given;
    }

  protected:
    virtual Status check_given(Machine&, const Parameters&) const { return Status::success; }
    virtual Status set_given(Machine& machine, Parameters& given) = 0;
    virtual Status change_given(Machine& machine, Parameters& given) { return set_given(machine, given); }
    virtual GraphExecUpdateResult difference_to(const NodeOf& /*want*/) const {
        return GraphExecUpdateResult::success;
    }

    Parameters given_;
};

}  // namespace cuscope::host
