#include "core/graph/graph.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "core/stream/same_device.hpp"
#include "runtime/checking.hpp"
#include "runtime/compile/signature.hpp"

namespace cuscope::core {

// ---- nodes

void GraphNode::check_usable() const {
    graph_->check_usable();
    if (destroyed()) throw std::invalid_argument("the node was destroyed");
}

GraphNodeType GraphNode::type() const {
    check_usable();
    return type_;
}

GraphNodeParameters GraphNode::parameters() const {
    check_usable();
    GraphNodeParameters parameters = EmptyNodeParameters{};
    graph_->device().check(graph_->device().runtime().graph_node_get_params(handle_, &parameters),
                           "cudaGraphNodeGetParams");
    if (auto* const conditional = std::get_if<ConditionalNodeParameters>(&parameters)) {
        Graph& root = graph_->root();
        const std::lock_guard lock(root.mutex_);
        if (const auto found = root.conditionals_.find(handle_); found != root.conditionals_.end())
            *conditional = found->second;
    }
    return parameters;
}

LaunchAttribute GraphNode::attribute(LaunchAttributeId id) const {
    check_usable();
    LaunchAttribute value;
    graph_->device().check(graph_->device().runtime().graph_kernel_node_get_attribute(handle_, id, &value),
                           "cudaGraphKernelNodeGetAttribute");
    return value;
}

void GraphNode::set_attribute(LaunchAttributeId id, const LaunchAttribute& value) {
    check_usable();
    const DeviceScope scope(graph_->device());
    graph_->device().check(graph_->device().runtime().graph_kernel_node_set_attribute(handle_, id, &value),
                           "cudaGraphKernelNodeSetAttribute");
}

namespace {

template <class Ask>
std::vector<GraphNodeHandle> handles(Device& device, const char* call, Ask ask) {
    std::size_t count = 0;
    device.check(ask(nullptr, nullptr, &count), call);
    std::vector<GraphNodeHandle> found(count);
    std::vector<GraphEdgeData> data(count);
    if (count > 0) device.check(ask(found.data(), data.data(), &count), call);
    found.resize(count);
    return found;
}

GraphNodes nodes_of(Graph& graph, const std::vector<GraphNodeHandle>& handles) {
    GraphNodes nodes;
    for (GraphNodeHandle handle : handles) nodes.push_back(graph.node(handle));
    return nodes;
}

}  // namespace

GraphNodes GraphNode::dependencies() const {
    check_usable();
    Runtime& runtime = graph_->device().runtime();
    return nodes_of(*graph_, handles(graph_->device(), "cudaGraphNodeGetDependencies",
                                     [&](GraphNodeHandle* nodes, GraphEdgeData* data, std::size_t* count) {
                                         return runtime.graph_node_get_dependencies(handle_, nodes, data,
                                                                                    count);
                                     }));
}

GraphNodes GraphNode::dependents() const {
    check_usable();
    Runtime& runtime = graph_->device().runtime();
    return nodes_of(*graph_, handles(graph_->device(), "cudaGraphNodeGetDependentNodes",
                                     [&](GraphNodeHandle* nodes, GraphEdgeData* data, std::size_t* count) {
                                         return runtime.graph_node_get_dependent_nodes(handle_, nodes, data,
                                                                                       count);
                                     }));
}

std::vector<std::shared_ptr<Graph>> GraphNode::bodies() const {
    const GraphNodeParameters found = parameters();
    std::vector<std::shared_ptr<Graph>> bodies;
    if (const auto* const child = std::get_if<ChildGraphNodeParameters>(&found)) {
        bodies.push_back(std::make_shared<Graph>(graph_, child->graph));
    } else if (const auto* const conditional = std::get_if<ConditionalNodeParameters>(&found);
               conditional != nullptr && conditional->bodies != nullptr) {
        for (unsigned i = 0; i < conditional->size; ++i)
            bodies.push_back(std::make_shared<Graph>(graph_, conditional->bodies[i]));
    }
    return bodies;
}

void GraphNode::destroy() {
    check_usable();
    graph_->device().check(graph_->device().runtime().graph_destroy_node(handle_), "cudaGraphDestroyNode");
    destroyed_ = true;
    {
        const std::lock_guard lock(graph_->mutex_);
        graph_->nodes_.erase(handle_);
    }
    Graph& root = graph_->root();
    const std::lock_guard lock(root.mutex_);
    root.conditionals_.erase(handle_);
}

// ---- graphs

std::shared_ptr<Graph> Graph::create(const DevicePtr& device) {
    const DeviceScope scope(*device);
    device->sweep();
    GraphHandle handle = nullptr;
    device->check(device->runtime().graph_create(&handle, 0), "cudaGraphCreate");
    return std::make_shared<Graph>(device, handle);
}

Graph::Graph(const DevicePtr& device, GraphHandle handle)
    : device_(device), owned_(device, handle), handle_(handle), generation_(device->generation()) {}

Graph::Graph(std::shared_ptr<Graph> parent, GraphHandle handle)
    : device_(parent->device_),
      parent_(std::move(parent)),
      handle_(handle),
      generation_(parent_->generation_) {}

std::shared_ptr<Graph> Graph::unfinished(const DevicePtr& device, GraphHandle handle) {
    auto made = std::make_shared<Graph>(device, nullptr);  // owns no graph of the runtime
    made->handle_ = handle;
    return made;
}

void Graph::finish() { owned_ = unique_handle<GraphTraits>(device_, handle_); }

void Graph::check_usable() const {
    device_->check_generation(generation_, "Graph");
    if (failed_) throw std::invalid_argument("there is no graph: its capture failed");
}

Keepers Graph::keepers() const {
    if (parent_) return parent_->keepers();
    Keepers all;
    const std::lock_guard lock(mutex_);
    all.keep(keepers_);
    return all;
}

GraphNodePtr Graph::node(GraphNodeHandle handle) {
    if (handle == nullptr) return nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = nodes_.find(handle); known != nodes_.end()) {
            if (GraphNodePtr node = known->second.lock()) return node;
        }
    }
    GraphNodeType type = GraphNodeType::empty;
    device_->check(device_->runtime().graph_node_get_type(handle, &type), "cudaGraphNodeGetType");
    return node(handle, type);
}

GraphNodePtr Graph::node(GraphNodeHandle handle, GraphNodeType type) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<GraphNode>& known = nodes_[handle];
    if (GraphNodePtr node = known.lock()) return node;
    auto made = std::make_shared<GraphNode>(shared_from_this(), handle, type);
    known = made;
    return made;
}

void Graph::check_of_here(const GraphNode& node, const char* what) const {
    node.check_usable();
    if (node.graph()->handle_ == handle_ && &node.graph()->device() == device_.get()) return;
    throw std::invalid_argument(std::string(what) + ": the node is of another graph");
}

std::vector<GraphNodeHandle> Graph::handles_of(const GraphNodes& nodes, const char* what) const {
    std::vector<GraphNodeHandle> handles;
    for (const GraphNodePtr& node : nodes) {
        check_of_here(*node, what);
        handles.push_back(node->handle());
    }
    return handles;
}

GraphNodePtr Graph::add(GraphNodeParameters parameters, const GraphNodes& after, const char* call) {
    check_usable();
    const std::vector<GraphNodeHandle> dependencies = handles_of(after, "after");
    const DeviceScope scope(*device_);
    GraphNodeHandle handle = nullptr;
    device_->check(device_->runtime().graph_add_node(&handle, handle_, dependencies.data(), nullptr,
                                                     dependencies.size(), &parameters),
                   call);
    if (const auto* const conditional = std::get_if<ConditionalNodeParameters>(&parameters))
        set_conditional(handle, *conditional);
    return node(handle, type_of(parameters));
}

void Graph::set_conditional(GraphNodeHandle node, const ConditionalNodeParameters& parameters) {
    const std::lock_guard lock(root().mutex_);
    root().conditionals_[node] = parameters;
}

GraphNodeParameters kernel_parameters(const Kernel& kernel, const LaunchConfig& config, void** arguments,
                                      std::int64_t array_bytes) {
    KernelHandle const checked = checking() ? kernel.checked() : nullptr;
    if (checked == nullptr) kernel.prepare_time(config);
    return KernelNodeParameters{
        kernel.handle(), config.grid,        config.block, config.dynamic_shared_bytes,
        arguments,       config.duration_ns, array_bytes,  checked};
}

GraphNodeParameters copy_parameters(void* destination, const void* source, std::size_t bytes,
                                    MemcpyKind kind) {
    MemcpyNodeParameters parameters;
    parameters.destination = {destination, bytes, bytes, 1};
    parameters.source = {const_cast<void*>(source), bytes, bytes, 1};
    parameters.extent = {bytes, 1, 1};
    parameters.kind = kind;
    return parameters;
}

GraphNodePtr Graph::add_kernel(const Kernel& kernel, const LaunchConfig& config, void** arguments,
                               std::span<Memory* const> memories, std::int64_t array_bytes,
                               const GraphNodes& after) {
    if (kernel.device().get() != device_.get()) {
        throw std::invalid_argument("the kernel " + kernel.name() + " is on " + kernel.device()->name() +
                                    ", the graph on " + device_->name());
    }
    const auto note = kernel.note_for_checks(arguments, memories);
    const GraphNodePtr made =
        add(kernel_parameters(kernel, config, arguments, array_bytes), after, "cudaGraphAddKernelNode");
    keep(kernel.keeper());
    for (Memory* memory : memories) keep(memory->shared_from_this());
    try {
        for (const LaunchAttribute& attribute : attributes_of(config))
            made->set_attribute(attribute.id, attribute);
    } catch (...) {
        made->destroy();
        throw;
    }
    return made;
}

GraphNodePtr Graph::add_host(std::unique_ptr<HostTask> task, const GraphNodes& after) {
    const auto kept = std::make_shared<GraphTask>(*device_, std::move(task));
    const GraphNodePtr made =
        add(HostNodeParameters{run_graph_task, kept->ticket()}, after, "cudaGraphAddHostNode");
    keep(kept);
    return made;
}

GraphNodePtr Graph::add_child(Graph& child, const GraphNodes& after) {
    child.check_usable();
    if (child.device_ != device_) {
        throw std::invalid_argument("the child graph is on " + child.device_->name() + ", the graph on " +
                                    device_->name());
    }
    const Copying copying = child.begin_copy();
    const GraphNodePtr made =
        add(ChildGraphNodeParameters{child.handle_}, after, "cudaGraphAddChildGraphNode");
    keep(copying.keepers);
    return made;
}

GraphNodePtr Graph::add_event(const Event& event, bool record, const GraphNodes& after) {
    event.check_usable();
    const GraphNodePtr made =
        record ? add(EventRecordNodeParameters{event.handle()}, after, "cudaGraphAddEventRecordNode")
               : add(EventWaitNodeParameters{event.handle()}, after, "cudaGraphAddEventWaitNode");
    keep(event.keeper());
    return made;
}

ConditionalHandle Graph::add_condition(unsigned default_value, bool assign) {
    check_usable();
    const DeviceScope scope(*device_);
    ConditionalHandle handle = 0;
    device_->check(device_->runtime().graph_conditional_handle_create(
                       &handle, handle_, default_value, assign ? flags::condition_assign_default : 0),
                   "cudaGraphConditionalHandleCreate");
    return handle;
}

GraphNodes Graph::nodes() {
    check_usable();
    return nodes_of(*this, handles(*device_, "cudaGraphGetNodes",
                                   [&](GraphNodeHandle* nodes, GraphEdgeData*, std::size_t* count) {
                                       return device_->runtime().graph_get_nodes(handle_, nodes, count);
                                   }));
}

GraphNodes Graph::roots() {
    check_usable();
    return nodes_of(*this, handles(*device_, "cudaGraphGetRootNodes",
                                   [&](GraphNodeHandle* nodes, GraphEdgeData*, std::size_t* count) {
                                       return device_->runtime().graph_get_root_nodes(handle_, nodes, count);
                                   }));
}

std::vector<Graph::Edge> Graph::edges() {
    check_usable();
    Runtime& runtime = device_->runtime();
    std::size_t count = 0;
    device_->check(runtime.graph_get_edges(handle_, nullptr, nullptr, nullptr, &count), "cudaGraphGetEdges");
    std::vector<GraphNodeHandle> from(count), to(count);
    std::vector<GraphEdgeData> data(count);
    if (count > 0) {
        device_->check(runtime.graph_get_edges(handle_, from.data(), to.data(), data.data(), &count),
                       "cudaGraphGetEdges");
    }
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < count; ++i) edges.push_back({node(from[i]), node(to[i]), data[i]});
    return edges;
}

// CUDA takes an edge that closes a cycle, and refuses the whole graph at the instantiation; we refuse the
// edge.
bool Graph::leads_to(const GraphNode& from, const GraphNode& to) {
    if (&from == &to) return true;
    const auto none = [&](auto ask, GraphNodeHandle node) {
        std::size_t count = 0;
        device_->check((device_->runtime().*ask)(node, nullptr, nullptr, &count),
                       "cudaGraphNodeGetDependencies");
        return count == 0;
    };
    // The usual case: a graph grows at its ends.
    if (none(&Runtime::graph_node_get_dependent_nodes, from.handle()) ||
        none(&Runtime::graph_node_get_dependencies, to.handle())) {
        return false;
    }
    std::multimap<const GraphNode*, const GraphNode*> followers;
    const std::vector<Edge> all = edges();
    for (const Edge& edge : all) followers.emplace(edge.from.get(), edge.to.get());
    std::vector<const GraphNode*> stack{&from};
    std::set<const GraphNode*> seen{&from};
    while (!stack.empty()) {
        const auto [begin, end] = followers.equal_range(stack.back());
        stack.pop_back();
        for (auto follower = begin; follower != end; ++follower) {
            if (follower->second == &to) return true;
            if (seen.insert(follower->second).second) stack.push_back(follower->second);
        }
    }
    return false;
}

void Graph::connect(const GraphNode& from, const GraphNode& to, const GraphEdgeData& data) {
    check_of_here(from, "from");
    check_of_here(to, "to");
    if (leads_to(to, from)) {
        throw std::invalid_argument(std::string("an edge from a node of type ") + name_of(from.known_type()) +
                                    " to one of type " + name_of(to.known_type()) +
                                    " would close a cycle: the first waits for the second already");
    }
    const GraphNodeHandle first = from.handle(), second = to.handle();
    device_->check(device_->runtime().graph_add_dependencies(handle_, &first, &second,
                                                             data == GraphEdgeData{} ? nullptr : &data, 1),
                   "cudaGraphAddDependencies");
}

void Graph::disconnect(const GraphNode& from, const GraphNode& to, const GraphEdgeData& data) {
    check_of_here(from, "from");
    check_of_here(to, "to");
    const GraphNodeHandle first = from.handle(), second = to.handle();
    device_->check(device_->runtime().graph_remove_dependencies(handle_, &first, &second,
                                                                data == GraphEdgeData{} ? nullptr : &data, 1),
                   "cudaGraphRemoveDependencies");
}

std::shared_ptr<Graph> Graph::clone() {
    check_usable();
    const DeviceScope scope(*device_);
    const Copying copying = begin_copy();
    GraphHandle handle = nullptr;
    device_->check(device_->runtime().graph_clone(&handle, handle_), "cudaGraphClone");
    auto made = std::make_shared<Graph>(device_, handle);
    made->keep(copying.keepers);
    return made;
}

GraphNodePtr Graph::find_clone(const GraphNode& original) {
    check_usable();
    original.check_usable();
    GraphNodeHandle found = nullptr;
    device_->check(device_->runtime().graph_node_find_in_clone(&found, original.handle(), handle_),
                   "cudaGraphNodeFindInClone");
    return node(found);
}

namespace {

const char* meaning(GraphInstantiateResult result) {
    switch (result) {
        case GraphInstantiateResult::invalid_structure:
            return "its edges close a cycle";
        case GraphInstantiateResult::node_operation_not_supported:
            return "the device cannot start such a node by itself, which the body of a conditional node and "
                   "a "
                   "launch from a kernel need: allowed are kernels, memsets, copies without pageable "
                   "memory, and child graphs of these nodes";
        case GraphInstantiateResult::multiple_devices_not_supported:
            return "nodes that the device starts by itself must be on this one device, and use no pageable "
                   "memory";
        case GraphInstantiateResult::conditional_handle_unused:
            return "one of its conditions belongs to no conditional node";
        default:
            return "";
    }
}

}  // namespace

// The reason why an instantiation failed; empty where the runtime does not tell.
std::string Graph::why_not(const GraphInstantiateParameters& parameters) {
    std::string detail = meaning(parameters.result);
    auto type = GraphNodeType::empty;
    if (parameters.error_node != nullptr && !detail.empty() &&
        device_->runtime().graph_node_get_type(parameters.error_node, &type) == Status::success) {
        detail = std::string("a node of type ") + name_of(type) + ": " + detail;
    }
    return detail;
}

bool Graph::destroy_dropped() {
    std::vector<std::shared_ptr<ExecutableHandle>> dropped;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& one : executables_) {
            if (auto executable = one.lock(); executable && executable->dropped && !executable->destroyed)
                dropped.push_back(std::move(executable));
        }
    }
    for (const auto& executable : dropped) executable->destroy(device_->runtime());
    return !dropped.empty();
}

std::shared_lock<std::shared_mutex> Graph::check_registrations() const {
    auto lock = PinnedMemory::stay_registered();
    const Keepers kept = keepers();
    for (const auto& memory : kept.memories()) {
        const auto* const pinned = dynamic_cast<const PinnedMemory*>(memory.get());
        if (pinned != nullptr && pinned->closed()) {
            throw std::invalid_argument(
                "a node of the graph copies page-locked memory whose registration was closed: close it after "
                "the graph and its executables");
        }
    }
    return lock;
}

std::shared_ptr<GraphExec> Graph::instantiate(unsigned long long flags, const StreamPtr& upload) {
    check_usable();
    if (upload) check_same_device({.what = "graph", .stream = "stream to upload in"}, *device_, *upload);
    const DeviceScope scope(*device_);
    device_->sweep();
    std::optional<Enqueue> enqueue;
    if (upload) {
        upload->check_usable();
        enqueue.emplace(*upload);
        refuse_legacy_in_capture(*upload, "cudaGraphInstantiate");
        if (upload->capturing()) {
            refuse_in_capture(Status::stream_capture_unsupported, "cudaGraphInstantiate",
                              "the stream to upload in is being captured: upload in another one");
        }
    }
    const RelaxedCapture relaxed(*device_);
    std::optional<Copying> copying(begin_copy());
    GraphExecHandle handle = nullptr;
    GraphInstantiateParameters parameters;
    parameters.flags = flags | (upload ? flags::graph_upload : 0);
    parameters.upload_stream = upload ? upload->handle() : nullptr;
    const auto registered = check_registrations();
    const auto instantiate = [&] {
        return device_->runtime().graph_instantiate(&handle, handle_, &parameters);
    };
    Status status = device_->allocate(instantiate);
    // Some graphs have one executable at a time. Executables that were closed give way.
    if (status == Status::not_supported && destroy_dropped()) {
        device_->runtime().get_last_error();
        status = device_->allocate(instantiate);
    }
    if (status != Status::success) device_->fail(status, "cudaGraphInstantiate", why_not(parameters), {});
    auto executable = std::make_shared<ExecutableHandle>();
    executable->handle = handle;
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(executables_, [](const auto& one) { return one.expired(); });
        executables_.push_back(executable);
    }
    auto made = std::make_shared<GraphExec>(device_, std::move(executable), std::move(copying->keepers));
    copying.reset();
    if (upload) made->used_in(upload);
    return made;
}

}  // namespace cuscope::core
