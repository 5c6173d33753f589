// Plans of executables: the nodes of a graph in the order in which a launch enqueues them. Private to
// src/host.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "host/graph/graph.hpp"

namespace cuscope::host {

struct LaunchEnvironment;
struct Stream;

struct GraphStep;

// Steps in an order in which each comes after the steps that it waits for.
struct GraphSteps {
    std::vector<GraphStep> steps;
    std::vector<int> ends;  // the steps that no other step waits for
};

// A part of an executable's plan: the work of one node, and the steps that it waits for.
struct GraphStep {
    GraphNode* node = nullptr;
    std::vector<int> after;
    int overlapped = -1;             // a kernel's step that it may overlap; not among `after`
    std::vector<GraphSteps> bodies;  // of a conditional
};

// The work of an executable. A launch keeps the plan until all of it is enqueued. If the executable is
// changed before, it gets another plan.
struct GraphPlan {
    // Of a copy of the graph.
    static std::shared_ptr<GraphPlan> of(Machine& machine, const Graph& graph);
    // Refuses a launch whose allocation nodes still hold memory, and loses the device if memory of a node was
    // freed.
    Status check_launch(Machine& machine, int device, bool frees) const;
    // Notes whether a kernel launches graphs.
    void note_launching();

    std::unique_ptr<Graph> graph;  // a copy of its own
    GraphSteps whole;
    std::size_t nodes = 0;
    bool may_launch_graphs = false;                                // a kernel of it
    std::unordered_map<unsigned long long, GraphNode*> by_origin;  // by the serial of the original node
};

// A launch of a plan, or of a part of it.
struct GraphRun {
    // Enqueues the steps, the first ones behind `begin`. `now`: while the simulation handles the end of
    // another command. Adds the commands of the last steps to `ends`.
    void enqueue(Machine& machine, const GraphSteps& steps, Command* begin, bool now,
                 std::vector<Command*>* ends) const;

    std::shared_ptr<GraphPlan> plan;
    Stream* stream;
    bool node_priority;
    std::shared_ptr<LaunchEnvironment> environment;  // null: its kernels launch no graphs
    std::uint64_t launch = 0;                        // the number of the command that begins the launch
};

}  // namespace cuscope::host
