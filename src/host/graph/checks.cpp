// What the host runtime's graphs have to be before they become executables.
#include <unordered_map>

#include "host/effects/copies.hpp"
#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

bool HostRuntime::GraphNode::launches_graphs() const {
    return type_of(parameters) == GraphNodeType::kernel && command &&
           static_cast<const KernelEffect&>(*command->effect).launch.kernel->launches_graphs;
}
namespace {

// A node that a cycle keeps from ever having its turn; null if all have theirs.
template <class Graph>
auto* stuck(const Graph& graph) {
    using Node = std::remove_reference_t<decltype(*graph.nodes.front())>;
    std::unordered_map<const Node*, std::size_t> waits;
    std::vector<const Node*> ready;
    for (const auto& node : graph.nodes) {
        waits[node.get()] = node->dependencies.size();
        if (node->dependencies.empty()) ready.push_back(node.get());
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
        for (const auto& edge : ready[next]->dependents) {
            if (--waits[edge.node] == 0) ready.push_back(edge.node);
        }
    }
    for (const auto& node : graph.nodes) {
        if (waits[node.get()] > 0) return node.get();
    }
    return static_cast<Node*>(nullptr);
}

}  // namespace

// A copy between what the device reaches by itself.
bool HostRuntime::device_copies(const GraphNode& node) {
    if (!node.command) return true;
    const auto& copy = static_cast<const CopyEffect&>(*node.command->effect);
    return memory_.find(copy.destination().base) != nullptr && memory_.find(copy.source().base) != nullptr;
}

// `by_device`: the device itself starts it, as the body of a conditional or in a launch from a kernel.
Status HostRuntime::check_executable(const Graph& graph, bool by_device, bool device_launch,
                                     GraphInstantiateParameters* out) {
    const auto refuse = [&](const GraphNode* node, GraphInstantiateResult result, const std::string& detail) {
        out->result = result;
        out->error_node = reinterpret_cast<GraphNodeHandle>(const_cast<GraphNode*>(node));
        return fail(Status::invalid_value, detail);
    };
    if (const GraphNode* node = stuck(graph)) {
        return refuse(node, GraphInstantiateResult::invalid_structure, "the graph's edges close a cycle");
    }
    for (const auto& node : graph.nodes) {
        const GraphNodeType type = type_of(node->parameters);
        if (type == GraphNodeType::memset && node->command) {  // which a capture takes as it is
            const auto& set = static_cast<const SetEffect&>(*node->command->effect);
            const Allocation* found = nullptr;
            if (Status status = check_box(set.destination(), set.extent(), "memory of a set", &found);
                status != Status::success) {
                return status;
            }
        }
        bool allowed = true;
        if (by_device) {
            switch (type) {
                case GraphNodeType::kernel:
                    if (!device_launch && node->launches_graphs()) {
                        return refuse(
                            node.get(), GraphInstantiateResult::node_operation_not_supported,
                            "a kernel in the body of a conditional node launches graphs, which only "
                            "kernels outside of bodies do");
                    }
                    break;
                case GraphNodeType::memset:
                case GraphNodeType::graph:
                    break;
                case GraphNodeType::memcpy:
                    allowed = device_copies(*node);
                    break;
                case GraphNodeType::empty:
                case GraphNodeType::conditional:
                    allowed = !device_launch;
                    break;
                default:
                    allowed = false;
            }
        }
        if (!allowed) {
            // Memory that is pageable is of another device, to a body.
            const bool elsewhere = type == GraphNodeType::memcpy && !device_launch;
            return refuse(node.get(),
                          elsewhere ? GraphInstantiateResult::multiple_devices_not_supported
                                    : GraphInstantiateResult::node_operation_not_supported,
                          std::string("the device starts the graph by itself, as ") +
                              (device_launch ? "kernels launch it" : "the body of a conditional node") +
                              ": it has kernels, memsets, copies of memory that is not pageable, and child "
                              "graphs of such");
        }
        for (const auto& body : node->bodies) {
            const bool decided = by_device || type == GraphNodeType::conditional;
            if (Status status = check_executable(*body, decided, device_launch, out);
                status != Status::success) {
                return status;
            }
        }
    }
    return Status::success;
}

}  // namespace cuscope::host
