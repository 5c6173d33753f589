// Nodes that record events and wait for them.
#include "bindings/graphs/nodes/shared.hpp"

namespace cuscope::bindings {
namespace {

core::GraphNodePtr add_event(const GraphObject& self, const EventObject& event, bool record,
                             const AfterLike& after) {
    const std::shared_ptr<core::Graph> graph = self.open();
    const core::GraphNodes before = parse_after(after);
    const std::shared_ptr<core::Event> open = event.open();
    return without_gil([&] { return graph->add_event(*open, record, before); });
}

void set_event(GraphExecPtr exec, const core::GraphNode& node, std::shared_ptr<core::Event> event) {
    without_gil([&] {
        GraphNodeParameters parameters = parameters_of_type(node.type());
        if (auto* const wait = std::get_if<EventWaitNodeParameters>(&parameters))
            wait->event = event->handle();
        if (auto* const record = std::get_if<EventRecordNodeParameters>(&parameters))
            record->event = event->handle();
        exec->set_parameters(node, parameters,
                             node.type() == GraphNodeType::wait_event
                                 ? "cudaGraphExecEventWaitNodeSetEvent"
                                 : "cudaGraphExecEventRecordNodeSetEvent");
        exec->keep(event->keeper());
    });
}

PyObject* fast_set_event(PyObject* self, const Arguments& arguments) {
    if (!arguments.are(2)) return nullptr;
    const auto at = node_to_update(self, arguments[0]);
    const auto* const event = at.exec ? exactly<EventObject>(arguments[1]) : nullptr;
    if (event == nullptr) return nullptr;
    const std::shared_ptr<core::Event> recorded = event->event.get();
    if (!recorded) return nullptr;
    set_event(at.exec, *at.node, recorded);
    Py_RETURN_NONE;
}

}  // namespace

void bind_event_nodes(GraphType& graphs, GraphExecType& execs) {
    graphs
        .def(
            "add_event_record",
            [](const GraphObject& self, const EventObject& event, const AfterLike& after) {
                return add_event(self, event, true, after);
            },
            py::arg("event"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that records an event. See cudaGraphAddEventRecordNode.

>>> import cuscope as cs
>>> cs.Graph().add_event_record(cs.Event()).type
'event_record'
)")
        .def(
            "add_event_wait",
            [](const GraphObject& self, const EventObject& event, const AfterLike& after) {
                return add_event(self, event, false, after);
            },
            py::arg("event"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that waits for an event: for what it was recorded behind when the graph runs.

See cudaGraphAddEventWaitNode.

>>> import cuscope as cs
>>> cs.Graph().add_event_wait(cs.Event()).type
'event_wait'
)");
    execs.def(
        "set_event",
        [](const GraphExecObject& self, const core::GraphNode& node, const EventObject& event) {
            set_event(self.open(), node, event.open());
        },
        py::arg("node"), py::arg("event"),
        R"(Change the event that a node of the executable records or waits for.

See cudaGraphExecEventRecordNodeSetEvent and cudaGraphExecEventWaitNodeSetEvent.

>>> import cuscope as cs
>>> g, event = cs.Graph(), cs.Event()
>>> node = g.add_event_record(cs.Event())
>>> exe = g.instantiate()
>>> exe.set_event(node, event)
)");
    FastMethod<fast_set_event>::put_before(execs, "set_event");
}

}  // namespace cuscope::bindings
