// The checks of a graph before it becomes an executable.
#include <unordered_map>

#include "host/graph/exec.hpp"
#include "host/runtime/machine.hpp"

namespace cuscope::host {
namespace {

// A node that a cycle keeps from ever being ready; null if there is no cycle.
const GraphNode* stuck(const Graph& graph) {
    std::unordered_map<const GraphNode*, std::size_t> waits;
    std::vector<const GraphNode*> ready;
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
    return nullptr;
}

}  // namespace

Status check_executable(Machine& machine, const Graph& graph, bool by_device, bool device_launch,
                        GraphInstantiateParameters* out) {
    const auto refuse = [&](const GraphNode* node, GraphInstantiateResult result, const std::string& detail) {
        out->result = result;
        out->error_node = node->handle();
        return fail(Status::invalid_value, detail);
    };
    if (const GraphNode* node = stuck(graph)) {
        return refuse(node, GraphInstantiateResult::invalid_structure, "the graph's edges close a cycle");
    }
    for (const auto& node : graph.nodes) {
        TRY(node->check_instantiation(machine));
        if (by_device) {
            const GraphInstantiateResult result = node->check_device_start(machine, device_launch);
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
            TRY(check_executable(machine, *body, decided, device_launch, out));
        }
    }
    return Status::success;
}

}  // namespace cuscope::host
