// Executables of graphs.
#include <algorithm>

#include "core/graph/graph.hpp"
#include "core/stream/same_device.hpp"

namespace cuscope::core {

Status ExecutableHandle::destroy(Runtime& runtime) {
    if (destroyed.exchange(true)) return Status::success;
    const Status status = runtime.graph_exec_destroy(handle);
    if (is_put_off(status)) destroyed = false;
    return status;
}

GraphExec::GraphExec(const DevicePtr& device, std::shared_ptr<ExecutableHandle> executable, Keepers keepers)
    : device_(device),
      executable_(std::move(executable)),
      handle_(executable_->handle),
      generation_(device->generation()),
      keepers_(std::make_shared<Keepers>(std::move(keepers))) {
    keepers_->ignore(this);
}

// Objects that a launch in flight uses stay alive until the launch has ended.
GraphExec::~GraphExec() {
    executable_->dropped = true;
    release_after_uses(device_, generation_, "cudaGraphExecDestroy", uses_.take(),
                       [executable = executable_, keepers = std::move(keepers_)](Runtime& runtime) {
                           return executable->destroy(runtime);
                       });
}

bool GraphExec::is_told(const Stream& stream) const {
    return told_.load(std::memory_order_acquire) == stream.serial();
}

void GraphExec::used_in(const StreamPtr& stream) {
    check_usable();
    if (is_told(*stream)) return;
    // Executables may use each other, even in a circle. So there is one lock for all of them, and each is
    // told once.
    static std::recursive_mutex& telling = *new std::recursive_mutex;  // outlives static destructors
    const std::lock_guard all(telling);
    if (telling_) return;
    struct Telling {
        explicit Telling(bool& is) : flag(is) { flag = true; }
        ~Telling() { flag = false; }
        bool& flag;
    } const scope(telling_);
    std::vector<std::shared_ptr<Memory>> memories;
    std::vector<std::shared_ptr<DeviceMemory>> workspaces;
    unsigned kept = 0;
    {
        const std::lock_guard lock(mutex_);
        memories = keepers_->memories();
        workspaces = keepers_->workspaces();
        for (const auto& task : keepers_->tasks()) task->launched_in(stream->serial());
        kept = kept_;
    }
    for (const auto& memory : memories) memory->used_in(stream);
    for (const auto& memory : workspaces) memory->used_in(stream);
    uses_.add(stream);
    const std::lock_guard lock(mutex_);
    if (kept == kept_) told_.store(stream->serial(), std::memory_order_release);
}

void GraphExec::check_stream(const Stream& stream) const {
    check_usable();
    stream.check_usable();
    check_same_device({"executable"}, *device_, stream);
}

namespace {

void refuse_captured(const Stream& stream, const char* call) {
    if (!stream.capturing()) return;
    refuse_in_capture(
        Status::stream_capture_unsupported, call,
        "the stream is being captured, and an executable does not become a part of a graph: add its "
        "graph with add_child(), or capture the work itself");
}

}  // namespace

void GraphExec::launch(Stream& stream) {
    check_stream(stream);
    const HandleScope scope(*device_, stream.is_default());
    const Enqueue enqueue(stream);
    if (captures_underway() > 0) {
        refuse_legacy_in_capture(stream, "cudaGraphLaunch");
        refuse_captured(stream, "cudaGraphLaunch");
    }
    if (!is_told(stream)) used_in(shared_from(stream));
    device_->check(device_->runtime().graph_launch(handle_, stream.handle()), "cudaGraphLaunch");
    stream.note(Enqueued::graph);
}

void GraphExec::upload(const StreamPtr& stream) {
    check_stream(*stream);
    const DeviceScope scope(*device_);
    const Enqueue enqueue(*stream);
    refuse_legacy_in_capture(*stream, "cudaGraphUpload");
    refuse_captured(*stream, "cudaGraphUpload");
    used_in(stream);
    device_->check(device_->runtime().graph_upload(handle_, stream->handle()), "cudaGraphUpload");
}

unsigned long long GraphExec::flags() const {
    check_usable();
    unsigned long long flags = 0;
    device_->check(device_->runtime().graph_exec_get_flags(handle_, &flags), "cudaGraphExecGetFlags");
    return flags;
}

GraphExec::Update GraphExec::update(Graph& graph) {
    check_usable();
    graph.check_usable();
    if (&graph.device() != device_.get()) {
        throw std::invalid_argument("the graph is on " + graph.device().name() + ", the executable on " +
                                    device_->name());
    }
    const DeviceScope scope(*device_);
    const Graph::Copying copying = graph.begin_copy(this);
    const auto registered = graph.check_registrations();
    GraphExecUpdateInfo info;
    const Status status = device_->runtime().graph_exec_update(handle_, graph.handle(), &info);
    if (status == Status::graph_exec_update_failure) {
        device_->runtime().get_last_error();
        return {info.result, graph.node(info.error_node), graph.node(info.error_from_node)};
    }
    device_->check(status, "cudaGraphExecUpdate");
    // Objects of the old graph are kept too: earlier launches may still be running, and launches by kernels
    // take over the parameters with the next upload only.
    keep(copying.keepers);
    return {};
}

bool GraphExec::keeps(const std::shared_ptr<DeviceMemory>& workspace) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(keepers_->workspaces(), workspace) != keepers_->workspaces().end();
}

void GraphExec::set_child(const GraphNode& node, Graph& child) {
    check_usable();
    child.check_usable();
    // Each call for one graph takes a new workspace, because another node may have the last one.
    const Graph::Copying copying = child.begin_copy();
    set_parameters(node, ChildGraphNodeParameters{child.handle()}, "cudaGraphExecChildGraphNodeSetParams");
    keep(copying.keepers);
}

void GraphExec::set_parameters(const GraphNode& node, GraphNodeParameters parameters, const char* call) {
    check_usable();
    node.check_usable();
    const DeviceScope scope(*device_);
    device_->check(device_->runtime().graph_exec_node_set_params(handle_, node.handle(), &parameters), call);
}

void GraphExec::set_enabled(const GraphNode& node, bool enabled) {
    check_usable();
    node.check_usable();
    const DeviceScope scope(*device_);
    device_->check(device_->runtime().graph_node_set_enabled(handle_, node.handle(), enabled ? 1 : 0),
                   "cudaGraphNodeSetEnabled");
}

bool GraphExec::enabled(const GraphNode& node) const {
    check_usable();
    node.check_usable();
    unsigned enabled = 0;
    device_->check(device_->runtime().graph_node_get_enabled(handle_, node.handle(), &enabled),
                   "cudaGraphNodeGetEnabled");
    return enabled != 0;
}

}  // namespace cuscope::core
