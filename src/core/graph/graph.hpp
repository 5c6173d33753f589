// Graphs: nodes and edges, captured or made one by one, and their executables. A graph keeps everything that
// its nodes use. An executable keeps it too, until every launch has ended.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/capture.hpp"
#include "core/memory/copy.hpp"
#include "core/module/module.hpp"
#include "core/stream/event.hpp"
#include "core/stream/host_task.hpp"
#include "core/unique_handle.hpp"

namespace cuscope::core {

struct GraphTraits {
    using Handle = GraphHandle;
    static constexpr const char* call = "cudaGraphDestroy";
    static Status destroy(Runtime& runtime, Handle handle) { return runtime.graph_destroy(handle); }
};

class Graph;
class GraphExec;

// The runtime's executable. It outlives its GraphExec until its launches have ended. If the graph has to have
// another executable before, it is destroyed at once: the runtime lets launches in flight come to their end.
struct ExecutableHandle {
    GraphExecHandle handle = nullptr;
    std::atomic<bool> dropped{false}, destroyed{false};
    Status destroy(Runtime& runtime);  // once
};

// A node, usable until it or its graph is destroyed. There is one object for each node.
class GraphNode {
  public:
    GraphNode(std::shared_ptr<Graph> graph, GraphNodeHandle handle, GraphNodeType type)
        : graph_(std::move(graph)), handle_(handle), type_(type) {}

    const std::shared_ptr<Graph>& graph() const { return graph_; }
    GraphNodeHandle handle() const { return handle_; }
    bool destroyed() const { return destroyed_.load(); }
    void check_usable() const;

    GraphNodeType type() const;
    GraphNodeType known_type() const { return type_; }  // also of a destroyed node
    // Pointers in them belong to the runtime and are good until the node changes.
    GraphNodeParameters parameters() const;
    LaunchAttribute attribute(LaunchAttributeId id) const;
    void set_attribute(LaunchAttributeId id, const LaunchAttribute& value);
    std::vector<std::shared_ptr<GraphNode>> dependencies() const;
    std::vector<std::shared_ptr<GraphNode>> dependents() const;
    // The graph of a child; the bodies of a conditional.
    std::vector<std::shared_ptr<Graph>> bodies() const;
    void destroy();

  private:
    friend class Graph;
    std::shared_ptr<Graph> graph_;
    GraphNodeHandle handle_;
    GraphNodeType type_;
    std::atomic<bool> destroyed_{false};
};

class Graph : public std::enable_shared_from_this<Graph> {
  public:
    static std::shared_ptr<Graph> create(const DevicePtr& device);
    Graph(const DevicePtr& device, GraphHandle handle);
    // A graph that belongs to a node of another graph.
    Graph(std::shared_ptr<Graph> parent, GraphHandle handle);
    // A graph that a capture is making. The runtime owns it until the capture calls finish() or fail().
    static std::shared_ptr<Graph> unfinished(const DevicePtr& device, GraphHandle handle);
    void finish();
    // The capture that was to fill the graph failed, and the runtime has destroyed the graph, even if the
    // graph is older than the capture.
    void fail() {
        failed_ = true;
        owned_.forget();
    }

    Device& device() const { return *device_; }
    GraphHandle handle() const { return handle_; }
    void check_usable() const;

    // Keeps a thing that nodes use and that the runtime does not keep. If this is a part of another graph,
    // the whole graph keeps it, because the whole graph is launched.
    template <class Thing>
    void keep(const Thing& thing) {
        if (parent_) return parent_->keep(thing);
        const std::lock_guard lock(mutex_);
        keepers_.keep(thing);
    }
    Keepers keepers() const;
    // To be held while the nodes are copied, until the copy keeps `keepers`. The copy is another graph, a new
    // executable, or the executable `updated`, all of whose nodes take over the parameters. If another copy
    // uses the workspaces of this graph's reductions, this graph gets new ones first, so that the copies may
    // run at once. If the driver refuses to change kernel nodes, the copies share them.
    struct Copying {
        std::unique_lock<std::mutex> alone;
        Keepers keepers;
    };
    Copying begin_copy(GraphExec* updated = nullptr);

    // Adds a node behind the nodes of `after`, all of them of this graph. The caller calls keep() for the
    // things that the node uses.
    GraphNodePtr add(GraphNodeParameters parameters, const GraphNodes& after, const char* call);
    GraphNodePtr add_kernel(const Kernel& kernel, const LaunchConfig& config, void** arguments,
                            std::span<Memory* const> memories, std::int64_t array_bytes,
                            const GraphNodes& after);
    GraphNodePtr add_host(std::unique_ptr<HostTask> task, const GraphNodes& after);
    GraphNodePtr add_child(Graph& child, const GraphNodes& after);
    GraphNodePtr add_event(const Event& event, bool record, const GraphNodes& after);
    // The runtime's handle of a condition, good in this graph and the bodies of its nodes.
    ConditionalHandle add_condition(unsigned default_value, bool assign);

    GraphNodes nodes();
    GraphNodes roots();
    struct Edge {
        GraphNodePtr from, to;
        GraphEdgeData data;
    };
    std::vector<Edge> edges();
    void connect(const GraphNode& from, const GraphNode& to, const GraphEdgeData& data);
    void disconnect(const GraphNode& from, const GraphNode& to, const GraphEdgeData& data);
    std::shared_ptr<Graph> clone();
    GraphNodePtr find_clone(const GraphNode& original);
    // `upload`, if it is not null: the stream in which the executable is brought to the device.
    std::shared_ptr<GraphExec> instantiate(unsigned long long flags, const StreamPtr& upload);
    // The driver ends the process when it makes or updates an executable whose nodes use page-locked memory
    // that is no longer registered. While the lock is held, no registration is closed.
    std::shared_lock<std::shared_mutex> check_registrations() const;
    // The graph in the language of Graphviz.
    std::string to_dot();
    // The lines that a drawing shows for a node: "add", "[4, 256]".
    std::string label(const GraphNode& node) const;

    GraphNodePtr node(GraphNodeHandle handle);  // null for a null handle
    void check_of_here(const GraphNode& node, const char* what) const;
    // Throws for a node of another graph.
    std::vector<GraphNodeHandle> handles_of(const GraphNodes& nodes, const char* what) const;

  private:
    friend class GraphNode;
    Graph& root() { return parent_ ? parent_->root() : *this; }
    GraphNodePtr node(GraphNodeHandle handle, GraphNodeType type);
    void set_conditional(GraphNodeHandle node, const ConditionalNodeParameters& parameters);
    bool leads_to(const GraphNode& from, const GraphNode& to);
    std::string why_not(const GraphInstantiateParameters& parameters);
    bool destroy_dropped();  // executables; true if there were any

    DevicePtr device_;
    unique_handle<GraphTraits> owned_;  // empty: a part of the parent
    std::shared_ptr<Graph> parent_;
    GraphHandle handle_;
    unsigned generation_;
    std::atomic<bool> failed_{false};
    std::mutex copying_;        // held by Copying
    mutable std::mutex mutex_;  // of everything below
    Keepers keepers_;
    std::map<GraphNodeHandle, std::weak_ptr<GraphNode>> nodes_;
    // Of this graph and of all graphs within it, because a Graph of a body is made whenever one is asked for.
    std::map<GraphNodeHandle, ConditionalNodeParameters> conditionals_;
    std::vector<std::weak_ptr<ExecutableHandle>> executables_;
};

// It is a Memory because kernels use it as they use memory: they launch it.
class GraphExec final : public Memory {
  public:
    GraphExec(const DevicePtr& device, std::shared_ptr<ExecutableHandle> executable, Keepers keepers);
    ~GraphExec() override;

    Device& device() const override { return *device_; }
    std::size_t bytes() const override { return 0; }
    // Everything that the executable uses is used there, too.
    void used_in(const StreamPtr& stream) override;
    bool is_told(const Stream& stream) const;
    std::vector<StreamPtr> users() override { return uses_.list(); }
    GraphExecHandle handle() const { return handle_; }
    void check_usable() const { device_->check_generation(generation_, "GraphExec"); }

    void launch(Stream& stream);
    void upload(const StreamPtr& stream);
    unsigned long long flags() const;
    // If the update is refused, the result says how the graphs differ, and the executable stays as it was.
    // The nodes are nodes of `graph`.
    struct Update {
        GraphExecUpdateResult result = GraphExecUpdateResult::success;
        GraphNodePtr node, from;
    };
    Update update(Graph& graph);
    void set_parameters(const GraphNode& node, GraphNodeParameters parameters, const char* call);
    void set_child(const GraphNode& node, Graph& child);
    bool keeps(const std::shared_ptr<DeviceMemory>& workspace);
    void set_enabled(const GraphNode& node, bool enabled);
    bool enabled(const GraphNode& node) const;
    // Keeps a thing that a changed node uses. The executable does not keep itself, although its kernels may
    // launch it.
    template <class Thing>
    void keep(const Thing& thing) {
        const std::lock_guard lock(mutex_);
        keepers_->keep(thing);
        ++kept_;
        told_.store(0, std::memory_order_release);
    }

  private:
    void check_stream(const Stream& stream) const;

    DevicePtr device_;
    std::shared_ptr<ExecutableHandle> executable_;
    GraphExecHandle handle_;
    unsigned generation_;
    Uses uses_;
    std::atomic<unsigned long long> told_{0};  // the serial of the last stream for which used_in() was done
    std::mutex mutex_;                         // of the members below
    std::shared_ptr<Keepers> keepers_;
    unsigned kept_ = 0;     // how often keep() was called
    bool telling_ = false;  // used_in() is under way; under a lock of all executables
};

// The node of a launch.
GraphNodeParameters kernel_parameters(const Kernel& kernel, const LaunchConfig& config, void** arguments,
                                      std::int64_t array_bytes);
// The node of a copy of contiguous bytes.
GraphNodeParameters copy_parameters(void* destination, const void* source, std::size_t bytes,
                                    MemcpyKind kind);

}  // namespace cuscope::core
