// What the nodes of the host runtime's graphs do: their parameters and attributes.
#include <algorithm>

#include "host/effects/copies.hpp"
#include "host/effects/stream_memory_operations.hpp"
#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

// Arguments and operations as get_params gives them: where the command has them.
void HostRuntime::keep_arguments(GraphNode& node) {
    node.arguments.clear();
    if (type_of(node.parameters) == GraphNodeType::external_semaphore_signal ||
        type_of(node.parameters) == GraphNodeType::external_semaphore_wait) {
        keep_semaphores(node);
    }
    if (type_of(node.parameters) == GraphNodeType::batch_mem_op) {
        std::get<BatchMemOpNodeParameters>(node.parameters).operations =
            node.command
                ? static_cast<const MemoryOperationsEffect&>(*node.command->effect).operations().data()
                : nullptr;
    }
    if (type_of(node.parameters) != GraphNodeType::kernel || !node.command) return;
    const auto& launch = static_cast<const KernelEffect&>(*node.command->effect).launch;
    for (unsigned i = 0; i < launch.kernel->parameter_count; ++i) {
        const std::byte* const value = launch.arguments.data() + launch.kernel->parameters[i].offset;
        node.arguments.push_back(const_cast<std::byte*>(value));
    }
    std::get<KernelNodeParameters>(node.parameters).arguments = node.arguments.data();
}

void HostRuntime::note_memory(GraphNode& node) {
    const Effect* const effect = node.command ? node.command->effect.get() : nullptr;
    if (effect == nullptr) return;
    if (type_of(node.parameters) == GraphNodeType::memcpy) {
        const auto& copy = static_cast<const CopyEffect&>(*effect);
        node.known_destination = memory_.find(copy.destination().base) != nullptr;
        node.known_source = memory_.find(copy.source().base) != nullptr;
    } else if (type_of(node.parameters) == GraphNodeType::memset) {
        node.known_destination = true;
    }
}

Status HostRuntime::make_node_command(const GraphNodeParameters& parameters,
                                      const std::vector<LaunchAttribute>& attributes, Command** made) {
    *made = nullptr;
    Stream& stream = *device().legacy;  // only what is of the device counts
    switch (type_of(parameters)) {
        case GraphNodeType::kernel: {
            const KernelNodeParameters& given = std::get<KernelNodeParameters>(parameters);
            if (given.kernel == nullptr)
                return fail(Status::invalid_device_function, "the node's kernel is null");
            LaunchConfig config;
            config.grid = given.grid;
            config.block = given.block;
            config.dynamic_shared_bytes = given.dynamic_shared_bytes;
            config.duration_ns = given.duration_ns;
            config.array_bytes = given.array_bytes;
            config.attributes = attributes;
            LaunchRequest request;
            request.node = true;
            return make_kernel(config, given.kernel, given.arguments, stream, &request, made);
        }
        case GraphNodeType::memcpy: {
            Box destination, source;
            Extent extent;
            bool wait = false;
            const Memcpy3DParameters& given = std::get<MemcpyNodeParameters>(parameters);
            if (Status status = boxes_of(&given, &destination, &source, &extent); status != Status::success)
                return status;
            return make_copy(destination, source, extent, given.kind, stream, {.node = true}, made, &wait);
        }
        case GraphNodeType::memset: {
            const MemsetNodeParameters& given = std::get<MemsetNodeParameters>(parameters);
            const std::size_t element = given.element_bytes;
            if (element != 1 && element != 2 && element != 4) {
                return fail(Status::invalid_value,
                            "elements of " + std::to_string(element) + " bytes; allowed are 1, 2 and 4");
            }
            if (element < 4 && given.value >> (8 * element) != 0) {
                return fail(Status::invalid_value, "the value has more than the " + std::to_string(element) +
                                                       " bytes of an element");
            }
            const std::size_t width = given.width * element;
            const std::size_t pitch = given.height > 1 ? given.pitch : width;
            if (Status status = check_set_2d(given.pointer, pitch, element, width, given.height);
                status != Status::success) {
                return status;
            }
            return make_set({static_cast<std::byte*>(given.pointer), pitch, 0}, given.value, element,
                            {width, given.height, 1}, stream, made);
        }
        case GraphNodeType::host:
            return make_host_command(std::get<HostNodeParameters>(parameters), stream, made);
        case GraphNodeType::batch_mem_op:
            return make_memory_operations(std::get<BatchMemOpNodeParameters>(parameters), stream, true, made);
        case GraphNodeType::external_semaphore_signal:
        case GraphNodeType::external_semaphore_wait:
            return make_semaphores(*semaphores_of(parameters),
                                   type_of(parameters) == GraphNodeType::external_semaphore_wait, stream,
                                   made);
        default:
            return Status::success;
    }
}

// Parameters that are refused by themselves, whatever graph they are for.
Status HostRuntime::check_kinds(const GraphNodeParameters& parameters) {
    switch (type_of(parameters)) {
        case GraphNodeType::kernel:
        case GraphNodeType::memset:
        case GraphNodeType::host:
        case GraphNodeType::empty:
        case GraphNodeType::wait_event:
        case GraphNodeType::event_record:
        case GraphNodeType::external_semaphore_signal:
        case GraphNodeType::external_semaphore_wait:
        case GraphNodeType::mem_alloc:
        case GraphNodeType::mem_free:
        case GraphNodeType::batch_mem_op:
        case GraphNodeType::conditional:
            return Status::success;
        case GraphNodeType::memcpy: {
            const int kind = static_cast<int>(std::get<MemcpyNodeParameters>(parameters).kind);
            if (kind >= 0 && kind <= 4) return Status::success;
            return fail(Status::invalid_memcpy_direction);
        }
        case GraphNodeType::graph: {
            const Found<const Graph> child = find_graph(std::get<ChildGraphNodeParameters>(parameters).graph);
            if (child == nullptr || !child->unique()) return Status::success;
            return fail(Status::not_supported,
                        "a child graph has no conditional nodes and allocates no memory");
        }
    }
    // Refused before the library is asked, and no last error of it.
    thread().detail = "a node of type " + std::to_string(static_cast<int>(type_of(parameters)));
    return Status::not_supported;
}

// Takes the parameters over; refused, the node is as it was.
Status HostRuntime::fill_node(GraphNode& node, GraphNodeParameters& parameters) {
    switch (type_of(parameters)) {
        case GraphNodeType::kernel:
        case GraphNodeType::memcpy:
        case GraphNodeType::memset:
        case GraphNodeType::host:
        case GraphNodeType::empty:
        case GraphNodeType::batch_mem_op:
        case GraphNodeType::external_semaphore_signal:
        case GraphNodeType::external_semaphore_wait:
            break;
        case GraphNodeType::graph: {
            const Found<const Graph> child = find_graph(std::get<ChildGraphNodeParameters>(parameters).graph);
            if (child == nullptr)
                return fail(Status::invalid_value, "the child graph does not exist, or was destroyed");
            if (child == node.graph) return fail(Status::invalid_value, "a graph within itself");
            if (Status status = check_kinds(parameters); status != Status::success) return status;
            auto body = copy_graph(*child, false);
            body->parent = &node;
            for (const auto& old : node.bodies) {
                graphs_->alive.erase(old.get());
                forget_nodes(*old);
            }
            graphs_->alive.insert(body.get());
            node.body_handles = {reinterpret_cast<GraphHandle>(body.get())};
            node.bodies.clear();
            node.bodies.push_back(std::move(body));
            node.parameters = parameters;
            name_bodies(node);
            return Status::success;
        }
        case GraphNodeType::wait_event:
        case GraphNodeType::event_record: {
            const auto* const wait = std::get_if<EventWaitNodeParameters>(&parameters);
            EventHandle const event =
                wait != nullptr ? wait->event : std::get<EventRecordNodeParameters>(parameters).event;
            if (event == nullptr) return fail(Status::invalid_value, "the node's event is null");
            if (find_event(event) == nullptr) return invalid_handle("event");
            break;
        }
        case GraphNodeType::mem_alloc: {
            std::shared_ptr<GraphMemory> memory;
            if (Status status = make_graph_memory(std::get<AllocNodeParameters>(parameters), &memory);
                status != Status::success)
                return status;
            node.memory = std::move(memory);
            node.parameters = parameters;
            std::get<AllocNodeParameters>(node.parameters).access = nullptr;
            std::get<AllocNodeParameters>(node.parameters).access_count = 0;
            return Status::success;
        }
        case GraphNodeType::mem_free: {
            GraphMemory* const memory = graphs_->memory_at(std::get<FreeNodeParameters>(parameters).pointer);
            if (memory == nullptr) {
                return fail(Status::invalid_value, "the address is not one that a node of a graph allocates");
            }
            for (const auto& other : node.graph->nodes) {
                if (other->memory.get() == memory && type_of(other->parameters) == GraphNodeType::mem_alloc &&
                    memory->instantiated) {
                    return fail(Status::invalid_value,
                                "an executable was made of the graph, which leaves the memory allocated");
                }
                if (type_of(other->parameters) == GraphNodeType::mem_free && other->memory.get() == memory)
                    return fail(Status::invalid_value, "another node of the graph frees the memory");
            }
            node.memory = memory->shared_from_this();
            node.parameters = parameters;
            return Status::success;
        }
        default: {
            const LastErrorKept kept;  // the contract refuses it, not the library
            return fail(Status::not_supported,
                        "a node of type " + std::to_string(static_cast<int>(type_of(parameters))));
        }
    }
    Command* command = nullptr;
    if (Status status = make_node_command(parameters, node.attributes, &command); status != Status::success)
        return status;
    node.command = command == nullptr ? CommandRef() : adopt(command);
    node.parameters = parameters;
    if (type_of(parameters) == GraphNodeType::kernel)
        node.name = find_kernel(std::get<KernelNodeParameters>(parameters).kernel)->lowered;
    keep_arguments(node);
    note_memory(node);
    return Status::success;
}

Status HostRuntime::set_node(GraphNode& node, GraphNodeParameters& parameters) {
    if (type_of(parameters) != type_of(node.parameters)) {
        return fail(Status::invalid_value, "the parameters are of another type than the node");
    }
    if (type_of(node.parameters) == GraphNodeType::mem_alloc ||
        type_of(node.parameters) == GraphNodeType::mem_free ||
        type_of(node.parameters) == GraphNodeType::conditional) {
        return fail(Status::not_supported, "the parameters of a node of this type are set for good");
    }
    return fill_node(node, parameters);
}

Status HostRuntime::graph_node_get_type(GraphNodeHandle node, GraphNodeType* type) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const LastErrorKept kept;  // the driver is asked: the library does not know all types
    const Found<const GraphNode> found = find_node(node);
    if (found == nullptr || type == nullptr) return fail(Status::invalid_value);
    *type = type_of(found->parameters);
    return Status::success;
}

Status HostRuntime::graph_node_get_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<GraphNode> found = find_node(node);
    if (found == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    if (type_of(found->parameters) == GraphNodeType::kernel && found->arguments.empty())
        keep_arguments(*found);
    *parameters = found->parameters;
    return Status::success;
}

Status HostRuntime::graph_node_set_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<GraphNode> found = find_node(node);
    if (found == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    return set_node(*found, *parameters);
}

Status HostRuntime::graph_kernel_node_set_attribute(GraphNodeHandle node, LaunchAttributeId id,
                                                    const LaunchAttribute* value) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<GraphNode> found = find_node(node);
    if (found == nullptr || value == nullptr || type_of(found->parameters) != GraphNodeType::kernel)
        return fail(Status::invalid_value);
    std::vector<LaunchAttribute> attributes = found->attributes;
    std::erase_if(attributes, [&](const LaunchAttribute& other) { return other.id == id; });
    attributes.push_back(*value);
    attributes.back().id = id;
    std::swap(found->attributes, attributes);
    GraphNodeParameters parameters = found->parameters;
    const Status status = fill_node(*found, parameters);
    if (status != Status::success) std::swap(found->attributes, attributes);
    return status;
}

Status HostRuntime::graph_kernel_node_get_attribute(GraphNodeHandle node, LaunchAttributeId id,
                                                    LaunchAttribute* value) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<const GraphNode> found = find_node(node);
    if (found == nullptr || value == nullptr || type_of(found->parameters) != GraphNodeType::kernel)
        return fail(Status::invalid_value);
    *value = {};
    value->id = id;
    for (const LaunchAttribute& attribute : found->attributes) {
        if (attribute.id == id) *value = attribute;
    }
    return Status::success;
}

Status HostRuntime::graph_kernel_node_copy_attributes(GraphNodeHandle destination, GraphNodeHandle source) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<GraphNode> to = find_node(destination);
    const Found<const GraphNode> from = find_node(source);
    if (to == nullptr || from == nullptr || type_of(to->parameters) != GraphNodeType::kernel ||
        type_of(from->parameters) != GraphNodeType::kernel) {
        return fail(Status::invalid_value);
    }
    std::vector<LaunchAttribute> attributes = from->attributes;
    std::swap(to->attributes, attributes);
    GraphNodeParameters parameters = to->parameters;
    const Status status = fill_node(*to, parameters);
    if (status != Status::success) std::swap(to->attributes, attributes);
    return status;
}

}  // namespace cuscope::host
