// The checks of a graph before it becomes an executable.
#include <unordered_map>

#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {
namespace {

// A node that a cycle keeps from ever being ready; null if there is no cycle.
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

// `by_device`: the device itself starts the graph, as the body of a conditional or in a launch from a kernel.
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
        TRY(node->check_instantiation(*this));
        if (by_device) {
            const GraphInstantiateResult result = node->check_device_start(*this, device_launch);
            if (result != GraphInstantiateResult::success && node->launches_graphs()) {
                return refuse(
                    node.get(), result,
                    "a kernel in the body of a conditional node launches graphs, which only kernels "
                    "outside of bodies do");
            }
            if (result != GraphInstantiateResult::success) {
                return refuse(node.get(), result,
                              std::string("the device starts the graph by itself, as ") +
                                  (device_launch ? "kernels launch it" : "the body of a conditional node") +
                                  ": it has kernels, memsets, copies of memory that is not pageable, and "
                                  "child graphs of such");
            }
        }
        for (const auto& body : node->bodies) {
            const bool decided = by_device || node->chooses_bodies();
            TRY(check_executable(*body, decided, device_launch, out));
        }
    }
    return Status::success;
}

}  // namespace cuscope::host
