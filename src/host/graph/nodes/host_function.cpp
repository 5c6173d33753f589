// Nodes that call a function of the host.
#include "host/graph/nodes/node_of.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

class HostRuntime::GraphNode::HostFunctionNode final : public Of<HostNodeParameters> {
  protected:
    Status set_given(HostRuntime& runtime, HostNodeParameters& given) override {
        Command* made = nullptr;
        const Status status = runtime.make_host_command(given, *runtime.device().legacy, &made);
        if (status == Status::success) assign(runtime, given, made);
        return status;
    }
};

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const HostNodeParameters&) {
    return std::make_unique<HostFunctionNode>();
}

Status HostRuntime::capture_host(Stream& stream, HostFunction function, void* data, Command* command) {
    auto made = std::make_unique<GraphNode::HostFunctionNode>();
    made->assign(*this, {function, data}, command);
    add_captured(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
