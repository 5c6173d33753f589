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
using GraphExecType = py::class_<GraphExecObject, py::smart_holder>;
GraphExecType bind_graph_execs(py::module_& m, GraphType& graph);
py::list semaphores_of(const ExternalSemaphoreNodeParameters& semaphores);
py::list operations_of(const BatchMemOpNodeParameters& batch);
core::GraphNodes parse_after(const AfterLike& after);

// Sets an executable as the argument of a kernel; false if the object is not an executable.
bool set_graph_exec(core::Argument& argument, py::handle object);

}  // namespace cuscope::bindings
