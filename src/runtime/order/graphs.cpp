#include "runtime/order/graphs.hpp"

#include <algorithm>
#include <map>

#include "runtime/order/checker.hpp"
#include "runtime/order/operations.hpp"
#include "runtime/overloads.hpp"

namespace cuscope::order {
namespace {

// Larger graphs are left out: their nodes would be compared pair by pair.
constexpr std::size_t most_nodes = 4000;

void note_uses(GraphPart& part) {
    const auto note = [&](const Access& access) {
        std::uintptr_t begin = 0;
        const std::uint64_t serial = Checker::get().serial_holding(access.begin, &begin);
        if (serial != 0) part.uses.emplace_back(begin, serial);
    };
    for (const Access& access : part.accesses) note(access);
    for (const KernelPart& kernel : part.kernels)
        for (const Access& access : kernel.by_signature) note(access);
}

void add_written(std::vector<Access>& accesses, const MemoryRows& rows) {
    add_rows(accesses, rows.pointer, rows.pitch, rows.width, rows.count, Role::write);
}

void flag_accesses(std::vector<Access>& accesses, const MemoryOperation* operations, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        if (!operations[i].writes() && !operations[i].waits()) continue;
        add_rows(accesses, operations[i].address, operations[i].bytes(), operations[i].bytes(), 1,
                 Role::atomic);
    }
}

}  // namespace

GraphPart Graphs::part_of(const GraphNodeParameters& parameters) {
    GraphPart part;
    part.line = program_line_number();
    part.type = type_of(parameters);
    part.what = std::string("a node of type ") + name_of(part.type);
    std::visit(overloads{[&](const KernelNodeParameters& kernel) {
                             part.what = kernel_name(runtime_, kernel.kernel);
                             KernelPart made;
                             made.by_signature = kernel_accesses();
                             if (!made_launches().empty()) made.key = made_launches().back().key;
                             part.kernels.push_back(std::move(made));
                         },
                         [&](const MemcpyNodeParameters& copy) {
                             CopyWork work = copy_work(runtime_, copy);
                             part.what = std::move(work.what);
                             part.accesses = std::move(work.accesses);
                         },
                         [&](const HostNodeParameters& host) {
                             part.what = "the host function";
                             part.host_data = host_function_key(host.function, host.data);
                         },
                         [&](const ChildGraphNodeParameters& child) { part.child = shape_of(child.graph); },
                         [&](const AllocNodeParameters& made) {
                             part.what = "the allocation";
                             add_written(part.accesses, made.written());
                         },
                         [&](const BatchMemOpNodeParameters& batch) {
                             flag_accesses(part.accesses, batch.operations, batch.count);
                         },
                         [&](const ConditionalNodeParameters& conditional) {
                             for (unsigned i = 0; conditional.bodies != nullptr && i < conditional.size; ++i)
                                 part.bodies.push_back(conditional.bodies[i]);
                         },
                         [&](const EventRecordNodeParameters& record) { part.records = record.event; },
                         [&](const EventWaitNodeParameters& wait) { part.waits_for = wait.event; },
                         [](const EmptyNodeParameters&) {}, [](const SemaphoreSignalNodeParameters&) {},
                         [](const SemaphoreWaitNodeParameters&) {}, [](const FreeNodeParameters&) {},
                         [](const UnknownNodeParameters&) {},
                         [&](const auto& other) {
                             part.what = std::string("the ") + name_of(part.type);
                             add_written(part.accesses, other.written());
                         }},
               parameters);
    if (part.type != GraphNodeType::mem_alloc) note_uses(part);
    return part;
}

void Graphs::add(GraphNodeHandle node, GraphPart part) {
    const std::scoped_lock lock(mutex_);
    part.handle = node;
    parts_[node] = std::move(part);
}

void Graphs::forget(GraphNodeHandle node) {
    const std::scoped_lock lock(mutex_);
    parts_.erase(node);
}

void Graphs::change(GraphNodeHandle node, GraphPart part) {
    const std::scoped_lock lock(mutex_);
    const auto found = parts_.find(node);
    if (found == parts_.end()) return;
    part.handle = node;
    part.bodies = found->second.bodies;
    found->second = std::move(part);
}

std::vector<GraphNodeHandle> Graphs::nodes_of(GraphHandle graph) {
    const Quiet quiet;
    std::size_t count = 0;
    if (runtime_.graph_get_nodes(graph, nullptr, &count) != Status::success) {
        runtime_.get_last_error();
        return {};
    }
    std::vector<GraphNodeHandle> nodes(count);
    if (count > 0) runtime_.graph_get_nodes(graph, nodes.data(), &count);
    nodes.resize(count);
    return nodes;
}

void Graphs::clone(GraphHandle clone, GraphHandle original) {
    for (const GraphNodeHandle node : nodes_of(original)) {
        GraphPart part;
        {
            const std::scoped_lock lock(mutex_);
            const auto found = parts_.find(node);
            if (found == parts_.end()) continue;
            part = found->second;
        }
        const Quiet quiet;
        GraphNodeHandle same = nullptr;
        if (runtime_.graph_node_find_in_clone(&same, node, clone) != Status::success) {
            runtime_.get_last_error();
            continue;
        }
        part.bodies.clear();  // those of the original are other graphs
        add(same, std::move(part));
    }
}

std::vector<std::size_t> Graphs::lay_out(GraphHandle graph, std::size_t begin, GraphShape& shape) {
    const std::vector<GraphNodeHandle> nodes = nodes_of(graph);
    std::size_t count = 0;
    std::vector<GraphNodeHandle> from, to;
    {
        const Quiet quiet;
        if (runtime_.graph_get_edges(graph, nullptr, nullptr, nullptr, &count) != Status::success) {
            runtime_.get_last_error();
            count = 0;
        }
        from.resize(count);
        to.resize(count);
        std::vector<GraphEdgeData> data(count);
        if (count > 0) runtime_.graph_get_edges(graph, from.data(), to.data(), data.data(), &count);
    }
    std::unordered_map<GraphNodeHandle, std::vector<GraphNodeHandle>> before;
    std::unordered_map<GraphNodeHandle, std::size_t> followers;
    for (std::size_t i = 0; i < count; ++i) {
        before[to[i]].push_back(from[i]);
        ++followers[from[i]];
    }
    std::unordered_map<GraphNodeHandle, std::vector<std::size_t>> last;  // the places at which a node ends
    std::vector<std::size_t> ends;
    std::vector<GraphNodeHandle> open = nodes;
    while (!open.empty() && shape.nodes.size() < most_nodes) {
        const std::size_t were = open.size();
        std::erase_if(open, [&](GraphNodeHandle node) {
            for (const GraphNodeHandle earlier : before[node])
                if (!last.contains(earlier)) return false;
            GraphShape::Node made;
            {
                const std::scoped_lock lock(mutex_);
                if (const auto found = parts_.find(node); found != parts_.end()) made.part = found->second;
            }
            for (const GraphNodeHandle earlier : before[node])
                made.after.insert(made.after.end(), last[earlier].begin(), last[earlier].end());
            if (made.after.empty() && begin < shape.nodes.size()) made.after.push_back(begin);
            const std::size_t place = shape.nodes.size();
            const auto child = made.part.child;
            const std::vector<GraphHandle> bodies = made.part.bodies;
            shape.nodes.push_back(std::move(made));
            std::vector<std::size_t> mine;
            if (child) {
                for (const GraphShape::Node& inner : child->nodes) {
                    GraphShape::Node copied{inner.part, inner.after, {}};
                    for (std::size_t& at : copied.after) at += place + 1;
                    if (copied.after.empty()) copied.after.push_back(place);
                    mine.push_back(shape.nodes.size());
                    shape.nodes.push_back(std::move(copied));
                }
            }
            for (const GraphHandle body : bodies) {
                for (const std::size_t end : lay_out(body, place, shape)) mine.push_back(end);
            }
            if (mine.empty()) mine.push_back(place);
            if (followers[node] == 0) ends.insert(ends.end(), mine.begin(), mine.end());
            last[node] = std::move(mine);
            return true;
        });
        if (open.size() == were) break;
    }
    return ends;
}

std::shared_ptr<GraphShape> Graphs::shape_of(GraphHandle graph) {
    auto shape = std::make_shared<GraphShape>();
    lay_out(graph, static_cast<std::size_t>(-1), *shape);
    if (shape->nodes.size() >= most_nodes) shape->nodes.clear();
    shape->close();
    return shape;
}

void Graphs::instantiated(GraphExecHandle exec, GraphHandle graph) {
    std::shared_ptr<GraphShape> shape = shape_of(graph);
    const std::scoped_lock lock(mutex_);
    execs_[exec] = std::move(shape);
}

void Graphs::destroyed(GraphExecHandle exec) {
    const std::scoped_lock lock(mutex_);
    execs_.erase(exec);
}

void Graphs::change(GraphExecHandle exec, GraphNodeHandle node, GraphPart part) {
    const std::scoped_lock lock(mutex_);
    const auto found = execs_.find(exec);
    if (found == execs_.end()) return;
    auto shape = std::make_shared<GraphShape>(*found->second);  // launches in flight have the old one
    shape->compared = 0;
    if (part.child) shape->nodes.clear();  // what the new child does is left out
    for (GraphShape::Node& of : shape->nodes) {
        if (of.part.handle != node) continue;
        part.handle = node;
        part.enabled = of.part.enabled;
        of.part = std::move(part);
        break;
    }
    found->second = std::move(shape);
}

void Graphs::enable(GraphExecHandle exec, GraphNodeHandle node, bool enabled) {
    const std::scoped_lock lock(mutex_);
    const auto found = execs_.find(exec);
    if (found == execs_.end()) return;
    auto shape = std::make_shared<GraphShape>(*found->second);
    for (GraphShape::Node& of : shape->nodes)
        if (of.part.handle == node) of.part.enabled = enabled;
    found->second = std::move(shape);
}

std::shared_ptr<GraphShape> Graphs::shape_of(GraphExecHandle exec) {
    const std::scoped_lock lock(mutex_);
    const auto found = execs_.find(exec);
    return found == execs_.end() ? nullptr : found->second;
}

void Graphs::clear() {
    const std::scoped_lock lock(mutex_);
    parts_.clear();
    execs_.clear();
}

}  // namespace cuscope::order
