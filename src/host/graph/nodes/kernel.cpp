#include "host/graph/nodes/kernel.hpp"

#include "host/graph/nodes/captured.hpp"

namespace cuscope::host {

GraphNode::Made GraphNode::make(const KernelNodeParameters&) { return std::make_unique<KernelNode>(); }

Status capture_kernel(Machine& machine, Stream& stream, const LaunchConfig& config, KernelHandle kernel,
                      const LaunchRequest& request, Command* command) {
    if (request.overlaps && stream.tips.nodes.size() == 1 && stream.tips.nodes.front()->is_kernel())
        stream.tips.edges.front() = {ports::kernel_programmatic, 0, DependencyType::programmatic};
    auto made = std::make_unique<KernelNode>();
    made->assign(machine,
                 {kernel, config.grid, config.block, config.dynamic_shared_bytes, nullptr, config.duration_ns,
                  config.array_bytes},
                 command);
    made->keep_attributes(attributes_of(config));
    machine.captures.add(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
