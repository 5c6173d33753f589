// Graphs of the host runtime: nodes, captures that make them, and executables, which are plans of commands.
// Private to src/host; everything happens under the runtime's lock.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

inline constexpr char launched_detail[] =
    "executables are neither launched nor uploaded in a stream that is being captured";

// The memory of an allocation node. The node takes the addresses when it is made. They go back with the last
// graph and executable that has the node.
struct HostRuntime::GraphMemory : std::enable_shared_from_this<HostRuntime::GraphMemory> {
    HostRuntime* runtime = nullptr;
    std::byte* base = nullptr;
    std::size_t bytes = 0;
    int device = 0;
    bool allocated = false;     // by a launch, and not freed since
    bool instantiated = false;  // an executable was made of the graph that allocates it
    GraphMemory() = default;
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;
    ~GraphMemory() {
        if (base != nullptr) runtime->retire_graph_memory(*this);
    }
};

// A node of a graph. Each kind of work has a class of its own in nodes/. Its command is the one that a stream
// would run for the same call: a capture keeps it here, and every launch of the graph enqueues commands like
// it.
struct HostRuntime::GraphNode {
    struct Edge {
        GraphNode* node;
        GraphEdgeData data;
    };
    // How the drawings of CUDA show a node.
    struct Look {
        const char *style, *shape;
        std::string text;
    };
    // Where a launch enqueues the node.
    struct Launch {
        const GraphRun& run;
        const GraphStep& step;
        std::vector<Command*>& after;  // the commands that the node waits for; may be added to, or taken over
        bool now;  // the simulation has come to this node: it is enqueued at the present time
    };

    // The classes, and a function for each type of parameters. A type without a function does not compile.
    template <class Parameters>
    class Of;  // nodes/node_of.hpp
    class KernelNode;
    class CopyNode;
    class MemsetNode;
    class HostFunctionNode;
    class ChildGraphNode;
    class EmptyNode;
    class EventWaitNode;
    class EventRecordNode;
    template <class Parameters>
    class SemaphoresNode;
    template <class Parameters>
    class MemoryNode;
    class AllocNode;
    class FreeNode;
    class BatchNode;
    class ConditionalNode;
    using Made = std::unique_ptr<GraphNode>;
    static Made make(const KernelNodeParameters&);
    static Made make(const MemcpyNodeParameters&);
    static Made make(const MemsetNodeParameters&);
    static Made make(const HostNodeParameters&);
    static Made make(const ChildGraphNodeParameters&);
    static Made make(const EmptyNodeParameters&);
    static Made make(const EventWaitNodeParameters&);
    static Made make(const EventRecordNodeParameters&);
    static Made make(const SemaphoreSignalNodeParameters&);
    static Made make(const SemaphoreWaitNodeParameters&);
    static Made make(const AllocNodeParameters&);
    static Made make(const FreeNodeParameters&);
    static Made make(const BatchMemOpNodeParameters&);
    static Made make(const ConditionalNodeParameters&);
    // Null for a type that the contract does not know. The parameters say the type, and are not taken over.
    static Made make_for(const GraphNodeParameters& parameters);

    GraphNode() = default;
    GraphNode(const GraphNode&) = delete;
    GraphNode& operator=(const GraphNode&) = delete;
    virtual ~GraphNode() = default;

    virtual GraphNodeType type() const = 0;
    bool is_kernel() const { return type() == GraphNodeType::kernel; }
    // Pointers in them are good until the node changes.
    virtual GraphNodeParameters parameters() const = 0;

    // Refuses parameters that a GPU refuses before it looks at the graph that they are for. These three
    // functions are given parameters of the node's own type.
    virtual Status check(HostRuntime& runtime, const GraphNodeParameters& given) const = 0;
    // Takes the parameters over, and writes the members that are answers. Refused, the node stays as it was.
    virtual Status set(HostRuntime& runtime, GraphNodeParameters& given) = 0;
    // The same in an executable, which takes fewer changes.
    virtual Status change(HostRuntime& runtime, GraphNodeParameters& given) = 0;
    // Do the parameters stay as they were when the node was made?
    virtual bool is_fixed() const { return false; }
    // Becomes like a node of the same type: a clone like its original, a node of an executable like the node
    // of the graph that updates it. Bodies stay.
    virtual void imitate(HostRuntime& runtime, const GraphNode& from) = 0;
    // Success if an update of an executable can make this node like `want`, a node of the same type. Bodies
    // are compared elsewhere.
    virtual GraphExecUpdateResult difference(const GraphNode& want) const = 0;

    // Refuses a node of which no executable is made.
    virtual Status check_instantiation(HostRuntime&) const { return Status::success; }
    // Can the device start the node by itself? It does so for the bodies of conditional nodes, and for a
    // whole graph (`whole_graph`) that a kernel launches.
    virtual GraphInstantiateResult check_device_start(HostRuntime&, bool /*whole_graph*/) const {
        return GraphInstantiateResult::node_operation_not_supported;
    }
    // An executable was made of the node's graph.
    virtual void note_instantiation(HostRuntime&) const {}
    // Refuses a launch, before anything of it is enqueued. `frees`: memory of the launch before goes first.
    virtual Status check_launch(HostRuntime&, bool /*frees*/) const { return Status::success; }
    // Makes `made`, a command of the role graph_node, do the node's work.
    virtual void enqueue(HostRuntime& runtime, const Launch& launch, Command* made) const;

    // Does a kernel launch graphs, as far as its own source says, and as far as its whole image says?
    virtual bool launches_graphs() const { return false; }
    virtual bool may_launch_graphs() const { return false; }
    // Can an executable leave the node out?
    virtual bool can_be_disabled() const { return false; }
    // Do the nodes of its body stand in a plan in place of the node?
    virtual bool is_laid_out() const { return false; }
    // Does it choose at a launch which of its bodies runs?
    virtual bool chooses_bodies() const { return false; }
    // Does it allocate memory, or free it?
    virtual bool manages_memory() const { return false; }
    virtual const GraphMemory* memory() const { return nullptr; }
    virtual Look look() const { return {"solid", "rectangle", names_of(type()).drawn}; }

    Graph* graph = nullptr;
    unsigned number = 0;            // within its graph
    unsigned long long serial = 0;  // of no other node ever
    unsigned long long origin = 0;  // the serial of the node that this one was cloned from; 0: of none
    int device = 0;
    CommandRef command;  // the model of the commands of launches, never enqueued itself; empty for some kinds
    std::vector<std::unique_ptr<Graph>> bodies;  // the graph of a child, the graphs of a conditional
    std::vector<GraphHandle> body_handles;
    bool enabled = true;  // in an executable
    std::vector<Edge> dependencies, dependents;

  protected:
    // The effect of the command, or null where there is no command. Only the class of a node knows which
    // class the effect of its command has.
    template <class Work>
    const Work* work() const {
        return command ? static_cast<const Work*>(command->effect.get()) : nullptr;
    }
};

struct HostRuntime::Graph {
    // Does the graph have one executable at a time, and no clones?
    bool unique() const {
        for (const auto& node : nodes) {
            if (node->chooses_bodies()) return true;
        }
        return allocates();
    }
    // Does it allocate memory? Then its nodes and edges stay for good.
    bool allocates() const {
        if (asked_for_memory) return true;
        for (const auto& node : nodes) {
            if (node->memory() != nullptr) return true;
        }
        return false;
    }

    std::vector<std::unique_ptr<GraphNode>> nodes;  // in the order in which they were made
    unsigned number = 0;                            // for drawings
    int device = 0;                                 // current when it was made
    unsigned next_node = 0;
    GraphNode* parent = nullptr;    // the node whose body this graph is
    bool asked_for_memory = false;  // a node that allocates or frees was to be added, even if it was refused
    bool hidden = false;            // of an executable: there are no handles of its nodes
    std::vector<std::shared_ptr<GraphCondition>> conditions;
};

// The number that a conditional node reads and kernels set. Its handle is its address.
struct HostRuntime::GraphCondition {
    unsigned value = 0;  // the first member, as cudaGraphSetConditional of the kernels' headers knows it
    unsigned default_value = 0;
    bool assign = false;  // the default, at every launch
    bool used = false;    // by a node
};

struct HostRuntime::Capture {
    // Is the captured graph, or a graph of which it is a part, this one?
    bool is_within(const Graph& other) const {
        for (const Graph* part = graph; part != nullptr;
             part = part->parent == nullptr ? nullptr : part->parent->graph) {
            if (part == &other) return true;
        }
        return false;
    }

    unsigned long long id = 0;
    CaptureMode mode = CaptureMode::global;
    CaptureStatus status = CaptureStatus::active;
    Stream* origin = nullptr;
    unsigned long long thread = 0;
    Graph* graph = nullptr;
    std::unique_ptr<Graph> own;  // the same graph, if the capture makes it
    std::vector<Stream*> streams;
    std::vector<GraphNode*> left;  // the last nodes of streams that took part and were destroyed
    std::string why;               // the reason, once it is spoilt
};

// Steps in an order in which each comes after the steps that it waits for.
struct HostRuntime::GraphSteps {
    std::vector<GraphStep> steps;
    std::vector<int> ends;  // the steps that no other step waits for
};

// A part of an executable's plan: the work of one node, and the steps that it waits for.
struct HostRuntime::GraphStep {
    GraphNode* node = nullptr;
    std::vector<int> after;
    int overlapped = -1;             // a kernel's step that it may overlap; not among `after`
    std::vector<GraphSteps> bodies;  // of a conditional
};

// The work of an executable. A launch keeps the plan until all of it is enqueued. If the executable is
// changed before, it gets another plan.
struct HostRuntime::GraphPlan {
    std::unique_ptr<Graph> graph;  // a copy of its own
    GraphSteps whole;
    std::size_t nodes = 0;
    bool may_launch_graphs = false;                                // a kernel of it
    std::unordered_map<unsigned long long, GraphNode*> by_origin;  // by the serial of the original node
};

// A launch of a plan, or of a part of it.
struct HostRuntime::GraphRun {
    std::shared_ptr<GraphPlan> plan;
    Stream* stream;
    bool node_priority;
    std::shared_ptr<LaunchEnvironment> environment;  // null: its kernels launch no graphs
};

struct HostRuntime::GraphExec {
    std::shared_ptr<GraphPlan> plan;
    unsigned long long flags = 0;
    unsigned long long source = 0;  // the number of the graph from which it was made
    bool unique = false;            // that graph has one executable at a time
    int device = 0;
    CommandRef last;  // of the last launch
    std::shared_ptr<DeviceGraph> on_device;
};

struct HostRuntime::Graphs {
    std::map<const void*, std::unique_ptr<Graph>> graphs;  // the graphs that no node owns
    std::unordered_set<const void*> alive;                 // all graphs that have handles
    std::unordered_map<const void*, GraphNode*> nodes;
    std::map<const void*, std::unique_ptr<GraphExec>> execs;
    std::map<unsigned long long, std::unique_ptr<Capture>> captures;
    unsigned long long last_capture = 0, last_serial = 0;
    unsigned last_graph = 0;
    std::map<const void*, GraphMemory*> memory;  // by address
    struct Retired {
        std::byte* base;
        std::size_t bytes;
        int device;
        std::vector<CommandRef> last;
    };
    std::vector<Retired> retired;

    GraphMemory* memory_at(const void* address) const {
        const auto found = memory.find(address);
        return found == memory.end() ? nullptr : found->second;
    }
    Capture* active(unsigned long long id) const {
        const auto found = captures.find(id);
        if (found == captures.end() || found->second->status != CaptureStatus::active) return nullptr;
        return found->second.get();
    }
    // A call that waits for a whole device spoils every capture on that device.
    Status spoil_device(HostRuntime& runtime, int device);
    // For a reset of the device. The caller gives the memory of the device back.
    void forget_device(HostRuntime& runtime, int device);
};

// Visits the nodes of a graph and of the bodies in it.
template <class Graph, class Visit>
void visit_nodes(Graph& graph, const Visit& visit) {
    for (const auto& node : graph.nodes) {
        visit(*node);
        for (const auto& body : node->bodies) visit_nodes(*body, visit);
    }
}

}  // namespace cuscope::host
