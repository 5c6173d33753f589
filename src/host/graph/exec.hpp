// Executables of graphs. Private to src/host.
#pragma once

#include <memory>

#include "host/graph/plan.hpp"
#include "host/runtime/lock.hpp"

namespace cuscope::host {

struct DeviceGraph;

struct GraphExec {
    // Of the graph, with the plan of a copy.
    GraphExec(Machine& machine, const Graph& graph, unsigned long long its_flags);

    // The plan, to be changed: another plan if a launch still decides by this one.
    GraphPlan& changeable(Machine& machine);
    // Kernels launch the plan that was uploaded last, whatever is changed afterwards.
    void upload(Machine& machine, Stream& stream) const;
    Status launch(Machine& machine, Lock& lock, Stream& stream);
    // The executable's own node for a node of the graph from which it was made; null if there is none.
    GraphNode* own(const GraphNode& original) const;

    std::shared_ptr<GraphPlan> plan;
    unsigned long long flags = 0;
    unsigned long long source = 0;  // the number of the graph from which it was made
    bool unique = false;            // that graph has one executable at a time
    int device = 0;
    CommandRef last;  // of the last launch
    std::shared_ptr<DeviceGraph> on_device;
};

// Refuses a graph of which no executable is made, and says why in `out`. `by_device`: the device itself
// starts the graph, as the body of a conditional or in a launch from a kernel.
Status check_executable(Machine& machine, const Graph& graph, bool by_device, bool device_launch,
                        GraphInstantiateParameters* out);

}  // namespace cuscope::host
