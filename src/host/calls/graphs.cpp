// The host runtime's graphs: making, cloning and destroying them.
#include <algorithm>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

Status give_nodes(const std::vector<GraphNode*>& found, GraphNodeHandle* nodes, std::size_t* count) {
    if (count == nullptr) return fail(Status::invalid_value);
    if (nodes == nullptr) {
        *count = found.size();
        return Status::success;
    }
    const std::size_t room = *count;
    for (std::size_t i = 0; i < room; ++i)
        nodes[i] = i < found.size() ? reinterpret_cast<GraphNodeHandle>(found[i]) : nullptr;
    *count = std::min(room, found.size());
    return Status::success;
}

}  // namespace

Status HostRuntime::graph_create(GraphHandle* graph, unsigned flags) {
    ENTER(other);
    if (graph == nullptr || flags != 0) return fail(Status::invalid_value, "flags of a graph are 0");
    *graph = machine_.graphs.add(machine_.graphs.make());
    return Status::success;
}

Status HostRuntime::graph_destroy(GraphHandle graph) {
    ENTER(other);
    return machine_.graphs.destroy(graph);
}

Status HostRuntime::graph_clone(GraphHandle* clone, GraphHandle original) {
    ENTER(other);
    const Found<const Graph> graph = machine_.graphs.find(original);
    if (graph == nullptr || clone == nullptr) return invalid_handle("graph", Status::invalid_value);
    if (graph->unique()) {
        return fail(Status::not_supported,
                    "a graph with conditional nodes, or that allocates memory, is not cloned");
    }
    *clone = machine_.graphs.add(machine_.graphs.copy(*graph, false));
    return Status::success;
}

Status HostRuntime::graph_get_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) {
    ENTER(other);
    const Found<const Graph> of = machine_.graphs.find(graph);
    if (of == nullptr) return invalid_handle("graph", Status::invalid_value);
    std::vector<GraphNode*> found;
    for (const auto& node : of->nodes) found.push_back(node.get());
    return give_nodes(found, nodes, count);
}

Status HostRuntime::graph_get_root_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) {
    ENTER(other);
    const Found<const Graph> of = machine_.graphs.find(graph);
    if (of == nullptr) return invalid_handle("graph", Status::invalid_value);
    std::vector<GraphNode*> found;
    for (const auto& node : of->nodes) {
        if (node->dependencies.empty()) found.push_back(node.get());
    }
    return give_nodes(found, nodes, count);
}

Status HostRuntime::graph_conditional_handle_create(ConditionalHandle* handle, GraphHandle graph,
                                                    unsigned default_value, unsigned flags) {
    ENTER(other);
    Graph* of = machine_.graphs.find(graph).get();
    if (handle == nullptr || of == nullptr || (flags & ~flags::condition_assign_default) != 0)
        return fail(Status::invalid_value);
    auto made = std::make_shared<GraphCondition>();
    made->assign = flags != 0;
    made->default_value = made->value = made->assign ? default_value : 0;
    *handle = reinterpret_cast<ConditionalHandle>(made.get());
    // All conditions belong to the outermost graph, because that graph is launched.
    while (of->parent != nullptr) of = of->parent->graph;
    of->conditions.push_back(std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
