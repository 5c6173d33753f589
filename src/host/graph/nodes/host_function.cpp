// Nodes that call a function of the host.
#include "host/effects/host_function.hpp"

#include "host/graph/nodes/captured.hpp"
#include "host/graph/nodes/node_of.hpp"

namespace cuscope::host {

class HostFunctionNode final : public NodeOf<HostNodeParameters> {
  protected:
    Status set_given(Machine& machine, HostNodeParameters& given) override {
        Command* made = nullptr;
        const Status status = make_host_command(machine, given, *machine.devices.current().legacy, &made);
        if (status == Status::success) assign(machine, given, made);
        return status;
    }
};

GraphNode::Made GraphNode::make(const HostNodeParameters&) { return std::make_unique<HostFunctionNode>(); }

Status capture_host(Machine& machine, Stream& stream, HostFunction function, void* data, Command* command) {
    auto made = std::make_unique<HostFunctionNode>();
    made->assign(machine, {function, data}, command);
    machine.captures.add(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
