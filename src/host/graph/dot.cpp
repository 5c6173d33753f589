// The drawing of a graph that the runtime writes, in the language of dot.
#include <fstream>
#include <sstream>

#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {
namespace {

struct Look {
    const char *style, *shape;
    std::string text;
};

}  // namespace

Status HostRuntime::graph_debug_dot_print(GraphHandle handle, const char* path, unsigned) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<const Graph> graph = find_graph(handle);
    if (graph == nullptr || path == nullptr) return fail(Status::invalid_value);
    std::ofstream file(path);
    if (!file) return fail(Status::operating_system, std::string(path) + " cannot be written");

    const auto look = [](const GraphNode& node) -> Look {
        switch (type_of(node.parameters)) {
            case GraphNodeType::kernel:
                return {"bold", "octagon", node.name};
            case GraphNodeType::memcpy:
                return {"solid", "invtrapezium", "MEMCPY"};
            case GraphNodeType::memset:
                return {"solid", "invtrapezium", "MEMSET"};
            case GraphNodeType::host:
                return {"solid", "rectangle", "HOST"};
            case GraphNodeType::graph:
                return {"solid", "rectangle", "GRAPH"};
            case GraphNodeType::empty:
                return {"solid", "rectangle", "EMPTY"};
            case GraphNodeType::wait_event:
                return {"solid", "rectangle", "EVENT_WAIT"};
            case GraphNodeType::event_record:
                return {"solid", "rectangle", "EVENT_RECORD"};
            case GraphNodeType::mem_alloc:
                return {"solid", "rectangle", "MEM_ALLOC"};
            case GraphNodeType::mem_free:
                return {"solid", "rectangle", "MEM_FREE"};
            case GraphNodeType::external_semaphore_signal:
                return {"solid", "rectangle", "EXT_SEMAS_SIGNAL"};
            case GraphNodeType::external_semaphore_wait:
                return {"solid", "rectangle", "EXT_SEMAS_WAIT"};
            case GraphNodeType::batch_mem_op:
                return {"solid", "rectangle", "BATCH_MEM_OP"};
            default:
                return {"solid", "rectangle", "CONDITIONAL"};
        }
    };
    const auto draw = [&](const auto& self, const Graph& drawn) -> void {
        const std::string name = "graph_" + std::to_string(drawn.number);
        const auto id = [&](const GraphNode& node) {
            return "\"" + name + "_node_" + std::to_string(node.number) + "\"";
        };
        file << "subgraph cluster_" << drawn.number << " {\n";
        file << "label=\"" << name << "\" graph[style=\"dashed\"];\n";
        for (const auto& node : drawn.nodes) {
            const Look as = look(*node);
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
