// Drawings of graphs, written in the language of dot as CUDA writes them.
#include <fstream>
#include <sstream>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

Status HostRuntime::graph_debug_dot_print(GraphHandle handle, const char* path, unsigned) {
    ENTER(other);
    const Found<const Graph> graph = machine_.graphs.find(handle);
    if (graph == nullptr || path == nullptr) return fail(Status::invalid_value);
    std::ofstream file(path);
    if (!file) return fail(Status::operating_system, std::string(path) + " cannot be written");

    const auto draw = [&](const auto& self, const Graph& drawn) -> void {
        const std::string name = "graph_" + std::to_string(drawn.number);
        const auto id = [&](const GraphNode& node) {
            return "\"" + name + "_node_" + std::to_string(node.number) + "\"";
        };
        file << "subgraph cluster_" << drawn.number << " {\n";
        file << "label=\"" << name << "\" graph[style=\"dashed\"];\n";
        for (const auto& node : drawn.nodes) {
            const GraphNode::Look as = node->look();
            file << id(*node) << "[style=\"" << as.style << "\" shape=\"" << as.shape << "\" label=\""
                 << node->number << "\n"
                 << as.text << "\n\"];\n\n";
        }
        for (const auto& node : drawn.nodes) {
            for (const GraphNode::Edge& edge : node->dependents)
                file << id(*node) << " -> " << id(*edge.node) << ";\n";
        }
        for (const auto& node : drawn.nodes) {
            for (const auto& body : node->bodies) self(self, *body);
        }
        file << "}\n";
    };
    file << "digraph dot {\n";
    draw(draw, *graph);
    file << "}\n";
    return file ? Status::success : fail(Status::operating_system, std::string(path) + " cannot be written");
}

}  // namespace cuscope::host
