// Graphs: nodes and edges, captured or made one by one, and executables of them. A graph keeps what its nodes
// use; an executable keeps it too, until every launch has ended.
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

// The runtime's executable, which stays behind its GraphExec until the launches of it have ended, unless its
// graph wants to have another one: the runtime lets what is in flight come to its end.
struct ExecutableHandle {
    GraphExecHandle handle = nullptr;
    std::atomic<bool> dropped{false}, destroyed{false};
    Status destroy(Runtime& runtime);  // once
};

// A node, while its graph is there and it was not destroyed. There is one of these for a node.
class GraphNode {
  public:
    GraphNode(std::shared_ptr<Graph> graph, GraphNodeHandle handle, GraphNodeType type)
        : graph_(std::move(graph)), handle_(handle), type_(type) {}

    const std::shared_ptr<Graph>& graph() const { return graph_; }
    GraphNodeHandle handle() const { return handle_; }
    bool destroyed() const { return destroyed_.load(); }
    void check_usable() const;

    GraphNodeType type() const;
    GraphNodeType known_type() const { return type_; }  // asks nobody
    // Pointers in it are the runtime's, as long as the node does not change.
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

using GraphNodePtr = std::shared_ptr<GraphNode>;
using GraphNodes = std::vector<GraphNodePtr>;

class Graph : public std::enable_shared_from_this<Graph> {
  public:
    static std::shared_ptr<Graph> create(const DevicePtr& device);
    Graph(const DevicePtr& device, GraphHandle handle);
    // One that belongs to a node of another.
    Graph(std::shared_ptr<Graph> parent, GraphHandle handle);
    // One that a capture is making: the runtime's until finish() says that it is there, or fail() that it is
    // not.
    static std::shared_ptr<Graph> unfinished(const DevicePtr& device, GraphHandle handle);
    void finish();
    // The capture that was to fill it failed: the runtime has destroyed it, also a graph that was there
    // before.
    void fail() {
        failed_ = true;
        owned_.forget();
    }

    Device& device() const { return *device_; }
    GraphHandle handle() const { return handle_; }
    void check_usable() const;

    // What nodes use and the runtime does not keep. Of a part, the whole graph keeps it: that is what runs.
    template <class Thing>
    void keep(const Thing& thing) {
        if (parent_) return parent_->keep(thing);
        const std::lock_guard lock(mutex_);
        keepers_.keep(thing);
    }
    Keepers keepers() const;

    // Nodes are added behind those of `after`, all of this graph. `keep` is told what the node uses.
    GraphNodePtr add(GraphNodeParameters parameters, const GraphNodes& after, const char* call);
    GraphNodePtr add_kernel(const Kernel& kernel, const LaunchConfig& config, void** arguments,
                            std::span<Memory* const> memories, std::int64_t array_bytes,
                            const GraphNodes& after);
    GraphNodePtr add_host(std::unique_ptr<HostTask> task, const GraphNodes& after);
    GraphNodePtr add_child(const Graph& child, const GraphNodes& after);
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
    // The driver ends the process where it makes an executable, or changes one, of nodes whose page-locked
    // memory is registered no longer. No registration is closed while the lock is held.
    std::shared_lock<std::shared_mutex> check_registrations() const;
    // In the language of Graphviz.
    std::string to_dot();
    // What a drawing says of a node, in lines: "add", "[4, 256]".
    std::string label(const GraphNode& node) const;

    GraphNodePtr node(GraphNodeHandle handle);  // null for a null handle
    void check_of_here(const GraphNode& node, const char* what) const;

  private:
    friend class GraphNode;
    GraphNodePtr node(GraphNodeHandle handle, GraphNodeType type);
    void set_conditional(GraphNodeHandle node, const ConditionalNodeParameters& parameters);
    std::vector<GraphNodeHandle> handles_of(const GraphNodes& nodes, const char* what) const;
    bool leads_to(const GraphNode& from, const GraphNode& to);
    std::string why_not(const GraphInstantiateParameters& parameters);
    bool destroy_dropped();  // executables; true if there were any

    DevicePtr device_;
    unique_handle<GraphTraits> owned_;  // empty: a part of the parent
    std::shared_ptr<Graph> parent_;
    GraphHandle handle_;
    unsigned generation_;
    std::atomic<bool> failed_{false};
    mutable std::mutex mutex_;  // of everything below
    Keepers keepers_;
    std::map<GraphNodeHandle, std::weak_ptr<GraphNode>> nodes_;
    std::map<GraphNodeHandle, ConditionalNodeParameters> conditionals_;
    std::vector<std::weak_ptr<ExecutableHandle>> executables_;
};

// As kernels launch it, it is something that they use, as memory is.
class GraphExec final : public Memory {
  public:
    GraphExec(const DevicePtr& device, std::shared_ptr<ExecutableHandle> executable, Keepers keepers);
    ~GraphExec() override;

    Device& device() const override { return *device_; }
    std::size_t bytes() const override { return 0; }
    // All that it uses is used there, too.
    void used_in(const StreamPtr& stream) override;
    bool is_told(const Stream& stream) const;
    std::vector<StreamPtr> users() override { return uses_.list(); }
    GraphExecHandle handle() const { return handle_; }
    void check_usable() const { device_->check_generation(generation_, "GraphExec"); }

    void launch(Stream& stream);
    void upload(const StreamPtr& stream);
    unsigned long long flags() const;
    // What differs, if the update is refused; the executable is as it was then. The nodes are `graph`'s.
    struct Update {
        GraphExecUpdateResult result = GraphExecUpdateResult::success;
        GraphNodePtr node, from;
    };
    Update update(Graph& graph);
    void set_parameters(const GraphNode& node, GraphNodeParameters parameters, const char* call);
    void set_enabled(const GraphNode& node, bool enabled);
    bool enabled(const GraphNode& node) const;
    // From now on also what changed nodes use; not itself, which its kernels may launch.
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
    std::atomic<unsigned long long> told_{0};  // the serial of the last stream that all of the memory knows
    std::mutex mutex_;                         // of what is below
    std::shared_ptr<Keepers> keepers_;
    unsigned kept_ = 0;     // how often something was added
    bool telling_ = false;  // the memory, of a stream; under a lock of all executables
};

// A kernel's node, as launches have it.
GraphNodeParameters kernel_parameters(const Kernel& kernel, const LaunchConfig& config, void** arguments,
                                      std::int64_t array_bytes);
// Copies of so many bytes on end.
GraphNodeParameters copy_parameters(void* destination, const void* source, std::size_t bytes,
                                    MemcpyKind kind);

}  // namespace cuscope::core
