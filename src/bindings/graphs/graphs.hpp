// The contents of Python's graph objects.
#pragma once

#include <atomic>

#include "bindings/support/objects.hpp"
#include "core/graph/graph.hpp"

namespace cuscope::bindings {

struct GraphObject {
    explicit GraphObject(std::shared_ptr<core::Graph> made)
        : device(made->device().shared_from_this()), graph(std::move(made)) {}
    // The graph that a capture will produce.
    explicit GraphObject(core::DevicePtr on)
        : device(std::move(on)), graph(nullptr), state(State::captured) {}

    Held<core::Graph> open() const {
        Held<core::Graph> held = graph.get();
        if (!held) refuse();
        return held;
    }
    [[noreturn]] void refuse() const {
        throw std::invalid_argument(
            state == State::captured ? "the graph is being captured: it is there when the capture has ended"
            : state == State::failed ? "there is no graph: its capture failed"
                                     : "Graph is closed");
    }

    enum class State { made, captured, failed };
    core::DevicePtr device;
    Closable<core::Graph> graph;
    std::atomic<State> state = State::made;
};
using GraphObjectPtr = std::shared_ptr<GraphObject>;

struct GraphExecObject {
    explicit GraphExecObject(std::shared_ptr<core::GraphExec> made)
        : device(made->device().shared_from_this()), exec(std::move(made)) {}
    Held<core::GraphExec> open() const {
        Held<core::GraphExec> held = exec.get();
        if (!held) throw std::invalid_argument("GraphExec is closed");
        return held;
    }
    core::DevicePtr device;
    Closable<core::GraphExec> exec;
};

GraphObjectPtr wrap(std::shared_ptr<core::Graph> graph);
using GraphType = py::class_<GraphObject, py::smart_holder>;
void bind_additions(GraphType& type);
void bind_graph_memory(GraphType& type);
void bind_graph_batches(GraphType& type);
using GraphExecType = py::class_<GraphExecObject, py::smart_holder>;
void bind_exec_batches(GraphExecType& type);
void bind_fast_updates(GraphExecType& type);
void bind_graph_semaphores(GraphType& type);
void bind_exec_semaphores(GraphExecType& type);
py::list semaphores_of(const ExternalSemaphoreNodeParameters& semaphores);
py::list operations_of(const BatchMemOpNodeParameters& batch);
core::GraphNodes parse_after(const AfterLike& after);

// Sets an executable as the argument of a kernel; false if the object is not an executable.
bool set_graph_exec(core::Argument& argument, py::handle object);

// The objects that node parameters made from Python's values refer to.
struct NodeUses {
    std::vector<std::shared_ptr<core::Memory>> memory;
    std::vector<std::shared_ptr<void>> things;
};
GraphNodeParameters parse_copy(py::handle destination, py::handle source, core::Device& device,
                               NodeUses* uses);
GraphNodeParameters parse_memset(const DeviceArray& array, py::handle value, core::Device& device,
                                 NodeUses* uses);
// Changes of a node of an executable.
using GraphExecPtr = std::shared_ptr<core::GraphExec>;
void set_kernel(core::GraphExec& exec, const core::GraphNode& node, const core::Kernel& kernel,
                const LaunchConfig& config, void** arguments, std::span<core::Memory* const> memories,
                std::int64_t array_bytes);
void set_copy(const GraphExecPtr& exec, const core::GraphNode& node, py::handle destination,
              py::handle source);
void set_memset(const GraphExecPtr& exec, const core::GraphNode& node, const DeviceArray& array,
                py::handle value);
void set_host(core::GraphExec& exec, const core::GraphNode& node, std::unique_ptr<core::HostTask> task);
void set_event(const GraphExecPtr& exec, const core::GraphNode& node,
               const std::shared_ptr<core::Event>& event);
void set_enabled(const GraphExecPtr& exec, const core::GraphNode& node, bool enabled);

// Calls `use` with a kernel, its configuration, its packed arguments and their memory.
using KernelUse = std::function<void(const core::Kernel&, const LaunchConfig&, core::PackedArguments&)>;
void with_kernel(py::handle kernel, py::handle grid, py::handle block, py::handle shared, py::handle args,
                 const KernelUse& use);

}  // namespace cuscope::bindings
