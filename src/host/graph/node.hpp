// Nodes of graphs. Private to src/host; everything happens under the runtime's lock.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/sim/command.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct Graph;
struct GraphMemory;
struct GraphRun;
struct GraphStep;
struct Machine;

// A node of a graph. Each kind of work has a class of its own in nodes/. Its command is the one that a stream
// would run for the same call: a capture keeps it here, and every launch of the graph enqueues commands like
// it.
struct GraphNode {
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

    // A function for each type of parameters. They and the classes of nodes stand in nodes/.
    using Made = std::unique_ptr<GraphNode>;
#define CUSCOPE_ROW(name, number, parameters, ...) static Made make(const parameters&);
    CUSCOPE_GRAPH_NODE_TYPES(CUSCOPE_ROW)
#undef CUSCOPE_ROW
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
    virtual Status check(Machine& machine, const GraphNodeParameters& given) const = 0;
    // Takes the parameters over, and writes the members that are answers. Refused, the node stays as it was.
    virtual Status set(Machine& machine, GraphNodeParameters& given) = 0;
    // The same in an executable, which takes fewer changes.
    virtual Status change(Machine& machine, GraphNodeParameters& given) = 0;
    // Do the parameters stay as they were when the node was made?
    virtual bool is_fixed() const { return false; }
    // Becomes like a node of the same type: a clone like its original, a node of an executable like the node
    // of the graph that updates it. Bodies stay.
    virtual void imitate(Machine& machine, const GraphNode& from) = 0;
    // Success if an update of an executable can make this node like `want`, a node of the same type. Bodies
    // are compared elsewhere.
    virtual GraphExecUpdateResult difference(const GraphNode& want) const = 0;

    // Refuses a node of which no executable is made.
    virtual Status check_instantiation(Machine&) const { return Status::success; }
    // Can the device start the node by itself? It does so for the bodies of conditional nodes, and for a
    // whole graph (`whole_graph`) that a kernel launches.
    virtual GraphInstantiateResult check_device_start(Machine&, bool /*whole_graph*/) const {
        return GraphInstantiateResult::node_operation_not_supported;
    }
    // An executable was made of the node's graph.
    virtual void note_instantiation(Machine&) const {}
    // Refuses a launch, before anything of it is enqueued. `frees`: memory of the launch before goes first.
    virtual Status check_launch(Machine&, bool /*frees*/) const { return Status::success; }
    // Makes `made`, a command of the role graph_node, do the node's work.
    virtual void enqueue(Machine& machine, const Launch& launch, Command* made) const;

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

    // Refuses parameters that the node does not take from any call.
    Status check_settable(const GraphNodeParameters& given) const;
    // Refuses an edge to `to` with such data.
    Status check_edge_to(const GraphNode& to, const GraphEdgeData& data) const;
    void connect_to(GraphNode& to, const GraphEdgeData& data);
    GraphNodeHandle handle() const { return reinterpret_cast<GraphNodeHandle>(const_cast<GraphNode*>(this)); }

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
    // Nodes of graphs share commands, because these are never run. An executable has commands and effects of
    // its own.
    void take_command(Machine& machine, const CommandRef& from);
    // The effect of the command, or null where there is no command. Only the class of a node knows which
    // class the effect of its command has.
    template <class Work>
    const Work* work() const {
        return command ? static_cast<const Work*>(command->effect.get()) : nullptr;
    }
};

}  // namespace cuscope::host
