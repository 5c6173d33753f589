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

// What an allocation node allocates. The addresses are taken when the node is made, and given back with the
// last graph and executable that has the node.
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

struct HostRuntime::GraphNode {
    struct Edge {
        GraphNode* node;
        GraphEdgeData data;
    };

    // Is it a kernel that does, as far as its source says? (may_launch_graphs() asks its whole image.)
    bool launches_graphs() const;

    Graph* graph = nullptr;
    unsigned number = 0;            // within its graph
    unsigned long long serial = 0;  // of no other node ever
    unsigned long long origin = 0;  // the serial of what it was cloned from; 0: of nothing
    int device = 0;
    GraphNodeParameters parameters;
    std::vector<LaunchAttribute> attributes;          // of a kernel
    std::string name;                                 // of a kernel, as its image knows it
    CommandRef command;                               // what it does: never enqueued itself. Empty: nothing
    std::vector<void*> arguments;                     // of a kernel: into what `command` holds
    std::vector<ExternalSemaphoreHandle> semaphores;  // of a signal or a wait
    std::vector<ExternalSemaphoreParameters> semaphore_parameters;
    std::shared_ptr<GraphMemory> memory;
    std::vector<std::unique_ptr<Graph>> bodies;  // a child's one graph, a conditional's
    std::vector<GraphHandle> body_handles;
    bool enabled = true;  // of an executable's own node
    // Of a copy or a set: it was memory that the runtime knew when the node was made, and has to be later.
    bool known_destination = false, known_source = false;
    std::vector<Edge> dependencies, dependents;
};

struct HostRuntime::Graph {
    // Of such a graph there is one executable at a time, and no clone.
    bool unique() const {
        for (const auto& node : nodes) {
            if (type_of(node->parameters) == GraphNodeType::conditional) return true;
        }
        return allocates();
    }
    // Of such a graph nothing is taken away.
    bool allocates() const {
        if (asked_for_memory) return true;
        for (const auto& node : nodes) {
            if (node->memory) return true;
        }
        return false;
    }

    std::vector<std::unique_ptr<GraphNode>> nodes;  // in the order in which they were made
    unsigned number = 0;                            // for drawings
    int device = 0;                                 // current when it was made
    unsigned next_node = 0;
    GraphNode* parent = nullptr;    // of which it is a body
    bool asked_for_memory = false;  // a node that allocates or frees was to be added, even if it was refused
    bool hidden = false;            // an executable's own: nobody has handles of its nodes
    std::vector<std::shared_ptr<GraphCondition>> conditions;
};

// What a conditional node looks at, and kernels set: the handle is its address.
struct HostRuntime::GraphCondition {
    unsigned value = 0;  // the first member, as cudaGraphSetConditional of the kernels' headers knows it
    unsigned default_value = 0;
    bool assign = false;  // the default, at every launch
    bool used = false;    // by a node
};

struct HostRuntime::Capture {
    // Is the graph, or one that it is a part of, this one?
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
    std::unique_ptr<Graph> own;  // of a capture that makes its graph
    std::vector<Stream*> streams;
    std::vector<GraphNode*> left;  // the last nodes of streams that took part and were destroyed
    std::string why;               // it was spoilt
};

// Steps in an order in which each comes after what it waits for.
struct HostRuntime::GraphSteps {
    std::vector<GraphStep> steps;
    std::vector<int> ends;  // that no other waits for
};

// A part of an executable's plan: what one node does, and which steps it waits for.
struct HostRuntime::GraphStep {
    GraphNode* node = nullptr;
    std::vector<int> after;
    int overlapped = -1;             // a kernel's step that it may overlap; not among `after`
    std::vector<GraphSteps> bodies;  // of a conditional
};

// What a launch runs. A launch that decides on its way what to run next keeps it; changes make another then.
struct HostRuntime::GraphPlan {
    std::unique_ptr<Graph> graph;  // a copy of its own
    GraphSteps whole;
    std::size_t nodes = 0;
    bool may_launch_graphs = false;                                // a kernel of it
    std::unordered_map<unsigned long long, GraphNode*> by_origin;  // by the serial of the node it was made of
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
    unsigned long long source = 0;  // the number of the graph that it was made of
    bool unique = false;            // the graph was one that has one executable at a time
    int device = 0;
    CommandRef last;  // of the last launch
    std::shared_ptr<DeviceGraph> on_device;
};

struct HostRuntime::Graphs {
    std::map<const void*, std::unique_ptr<Graph>> graphs;  // those that somebody else than a node owns
    std::unordered_set<const void*> alive;                 // all that have handles
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
    // Calls that wait for all of a device spoil every capture on it.
    Status spoil_device(HostRuntime& runtime, int device);
    // The device is reset, and all of its memory is given back by whoever does that.
    void forget_device(HostRuntime& runtime, int device);
};

// Also the nodes of children and bodies.
template <class Graph, class Visit>
void visit_nodes(Graph& graph, const Visit& visit) {
    for (const auto& node : graph.nodes) {
        visit(*node);
        for (const auto& body : node->bodies) visit_nodes(*body, visit);
    }
}

}  // namespace cuscope::host
