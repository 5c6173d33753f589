#include "host/graph/graphs.hpp"

#include <algorithm>
#include <unordered_map>

#include "host/runtime/machine.hpp"

namespace cuscope::host {

Graphs::Graphs(Machine& machine) : machine_(machine) {}

// At the end of the process memory is not given back piece by piece.
Graphs::~Graphs() {
    for (const auto& [address, memory] : memory_) memory->base = nullptr;
}

// ---- graphs

std::unique_ptr<Graph> Graphs::make() {
    auto made = std::make_unique<Graph>();
    made->number = ++last_graph_;
    made->device = thread().device;
    return made;
}

std::unique_ptr<Graph> Graphs::copy(const Graph& graph, bool hidden) {
    auto made = hidden ? std::make_unique<Graph>() : make();
    made->hidden = hidden;
    made->next_node = graph.next_node;
    made->conditions = graph.conditions;
    made->asked_for_memory = graph.asked_for_memory;
    std::unordered_map<const GraphNode*, GraphNode*> copies;
    for (const auto& node : graph.nodes) {
        auto copy = GraphNode::make_for(node->parameters());
        copy->graph = made.get();
        copy->number = node->number;
        copy->serial = ++last_serial_;
        copy->origin = node->serial;
        copy->device = node->device;
        copy->imitate(machine_, *node);
        for (const auto& body : node->bodies) {
            auto inner = this->copy(*body, hidden);
            inner->parent = copy.get();
            if (!hidden) show(*inner);
            copy->body_handles.push_back(inner->handle());
            copy->bodies.push_back(std::move(inner));
        }
        copies.emplace(node.get(), copy.get());
        if (!hidden) nodes_.add(*copy);
        made->nodes.push_back(std::move(copy));
    }
    for (const auto& node : graph.nodes) {
        GraphNode& copy = *copies[node.get()];
        for (const GraphNode::Edge& edge : node->dependencies)
            copy.dependencies.push_back({copies[edge.node], edge.data});
        for (const GraphNode::Edge& edge : node->dependents)
            copy.dependents.push_back({copies[edge.node], edge.data});
    }
    return made;
}

void Graphs::hide_node(const GraphNode& node) {
    nodes_.remove(node);
    for (const auto& body : node.bodies) hide(*body);
}

void Graphs::hide(const Graph& graph) {
    alive_.remove(graph);
    for (const auto& node : graph.nodes) hide_node(*node);
}

GraphHandle Graphs::add(std::unique_ptr<Graph> graph) {
    alive_.add(*graph);
    return graphs_.add(std::move(graph));
}

Status Graphs::destroy(GraphHandle handle) {
    if (graphs_.find(handle) == nullptr) {
        return find(handle) == nullptr
                   ? invalid_handle("graph", Status::invalid_value)
                   : fail(Status::invalid_value, "the graph belongs to a node or to a capture");
    }
    if (destroy_unless_captured(handle)) return Status::success;
    return fail(Status::illegal_state, "a stream is being captured to the graph");
}

bool Graphs::destroy_unless_captured(GraphHandle handle) {
    const Found<Graph> owned = graphs_.find(handle);
    if (owned == nullptr) return true;
    if (machine_.captures.fills(*owned)) return false;
    hide(*owned);
    graphs_.remove(handle);
    sweep_memory();
    return true;
}

// ---- nodes

GraphNode& Graphs::add_node(Graph& graph, std::unique_ptr<GraphNode> node) {
    GraphNode& added = graph.append(std::move(node));
    added.serial = ++last_serial_;
    nodes_.add(added);
    return added;
}

void Graphs::destroy_node(GraphNode& node) {
    const auto leads_here = [&](const GraphNode::Edge& edge) { return edge.node == &node; };
    for (const GraphNode::Edge& edge : node.dependencies) std::erase_if(edge.node->dependents, leads_here);
    for (const GraphNode::Edge& edge : node.dependents) std::erase_if(edge.node->dependencies, leads_here);
    machine_.captures.forget_node(node);
    hide_node(node);
    std::erase_if(node.graph->nodes, [&](const auto& other) { return other.get() == &node; });
}

// ---- executables

Status Graphs::check_unique(const Graph& graph, const GraphExec* exec) const {
    if (!graph.unique()) return Status::success;
    bool other_there = false;
    execs_.for_each([&](const GraphExec& other) {
        other_there |= &other != exec && other.unique && other.source == graph.number;
    });
    if (!other_there) return Status::success;
    return fail(Status::not_supported,
                "a graph with conditional nodes, or that allocates memory, has one executable at a time: "
                "destroy the other first");
}

void Graphs::destroy_exec(GraphExecHandle handle) {
    execs_.remove(handle);
    sweep_memory();
}

// ---- the memory of allocation nodes

GraphMemory* Graphs::memory_at(const void* address) const {
    const auto found = memory_.find(address);
    return found == memory_.end() ? nullptr : found->second;
}

Status Graphs::make_memory(AllocNodeParameters& parameters, std::shared_ptr<GraphMemory>* made) {
    if (parameters.pool.location.type != MemLocationType::device ||
        !machine_.devices.exist(parameters.pool.location.id) || parameters.bytes == 0) {
        return fail(Status::invalid_value, "a node allocates one byte or more of a device's memory");
    }
    sweep_memory();
    const int index = parameters.pool.location.id;
    std::byte* const base = machine_.devices[index].allocate(parameters.bytes);
    if (base == nullptr) return machine_.devices.current().out_of_memory(parameters.bytes);
    auto memory = std::make_shared<GraphMemory>();
    memory->graphs = this;
    memory->base = base;
    memory->bytes = parameters.bytes;
    memory->device = index;
    Allocation allocation{base, parameters.bytes, MemoryType::device, index};
    allocation.fixed = true;
    machine_.memory.add(allocation);
    memory_.emplace(base, memory.get());
    parameters.pointer = base;
    *made = std::move(memory);
    return Status::success;
}

void Graphs::retire(const GraphMemory& memory) {
    memory_.erase(memory.base);
    retired_.push_back({memory.base, memory.bytes, memory.device, machine_.last_of_device(memory.device)});
}

void Graphs::sweep_memory() {
    std::erase_if(retired_, [&](const Retired& retired) {
        for (const CommandRef& last : retired.last) {
            if (!machine_.effects.functional(last.get())) return false;
        }
        machine_.memory.remove(retired.base);
        machine_.devices[retired.device].release(retired.base, retired.bytes);
        return true;
    });
}

void Graphs::forget_device(int device) {
    std::erase_if(memory_, [&](const auto& entry) {
        if (entry.second->device != device) return false;
        entry.second->base = nullptr;
        return true;
    });
    std::erase_if(retired_, [&](const Retired& one) { return one.device == device; });
    execs_.remove_if([&](const GraphExec& exec) { return exec.device == device; });
    graphs_.remove_if([&](const Graph& graph) {
        if (graph.device != device) return false;
        hide(graph);
        return true;
    });
}

}  // namespace cuscope::host
