// Executable graphs.
#include <pybind11/stl.h>

#include "bindings/graphs/nodes/shared.hpp"

namespace cuscope::bindings {
namespace {

const char* name_of(GraphExecUpdateResult result) {
    switch (result) {
        case GraphExecUpdateResult::success:
            return "success";
        case GraphExecUpdateResult::error:
            return "error";
        case GraphExecUpdateResult::topology_changed:
            return "topology_changed";
        case GraphExecUpdateResult::node_type_changed:
            return "node_type_changed";
        case GraphExecUpdateResult::function_changed:
            return "function_changed";
        case GraphExecUpdateResult::parameters_changed:
            return "parameters_changed";
        case GraphExecUpdateResult::not_supported:
            return "not_supported";
        case GraphExecUpdateResult::unsupported_function_change:
            return "unsupported_function_change";
        case GraphExecUpdateResult::attributes_changed:
            return "attributes_changed";
    }
    return "error";
}

using Update = core::GraphExec::Update;

PyObject* fast_graph_launch(PyObject* self, const Arguments& arguments) {
    auto* const object = exactly<GraphExecObject>(self);
    if (object == nullptr || arguments.count > 1 || arguments.named() > 0) return nullptr;
    auto* const given = arguments.count == 0 ? nullptr : exactly<StreamObject>(arguments[0]);
    if (arguments.count == 1 && given == nullptr) return nullptr;
    const Closable<core::GraphExec>::Borrowed exec(object->exec);
    if (!exec) return nullptr;
    if (given != nullptr) {
        const Closable<core::Stream>::Borrowed stream(given->stream);
        if (!stream) return nullptr;
        without_gil([&] { exec->launch(*stream); });
    } else {
        core::StreamPtr stream = core::current_stream(object->device);
        const WithoutGil released;
        exec->launch(*stream);
        stream.reset();
    }
    Py_RETURN_NONE;
}

void set_enabled(GraphExecPtr exec, const core::GraphNode& node, bool enabled) {
    without_gil([&] { exec->set_enabled(node, enabled); });
}

PyObject* fast_set_enabled(PyObject* self, const Arguments& arguments) {
    if (!arguments.are(2)) return nullptr;
    const auto at = node_to_update(self, arguments[0]);
    if (!at.exec || PyBool_Check(arguments[1]) == 0) return nullptr;
    set_enabled(at.exec, *at.node, arguments[1] == Py_True);
    Py_RETURN_NONE;
}

}  // namespace

bool set_graph_exec(core::Argument& argument, py::handle object) {
    if (!py::isinstance<GraphExecObject>(object)) return false;
    const auto& exec = object.cast<const GraphExecObject&>().exec.get();
    argument.kind = core::Argument::Kind::graph_exec;
    argument.type_name = "GraphExec";
    if (!exec) return true;  // closed
    argument.integer = reinterpret_cast<std::uintptr_t>(exec->handle());
    argument.memory = exec;
    return true;
}

GraphExecType bind_graph_execs(py::module_& m, GraphType& graph) {
    py::class_<Update>(m, "GraphUpdate",
                       R"(The result of GraphExec.update(): true if the executable was updated.

See cudaGraphExecUpdate.

Examples
--------
>>> import cuscope as cs
>>> exe = cs.Graph().instantiate()
>>> exe.update(cs.Graph())
<GraphUpdate success>
)")
        .def_property_readonly(
            "result", [](const Update& self) { return name_of(self.result); },
            "'success', or the reason why not: 'topology_changed', 'node_type_changed', 'function_changed', "
            "'parameters_changed', 'unsupported_function_change', 'attributes_changed', 'not_supported', "
            "'error'.")
        .def_property_readonly(
            "node", [](const Update& self) { return self.node; },
            "The node of the new graph that differs; None if no single node does.")
        .def_property_readonly(
            "from_node", [](const Update& self) { return self.from; },
            "The first node of an edge that differs; None otherwise.")
        .def("__bool__", [](const Update& self) { return self.result == GraphExecUpdateResult::success; })
        .def("__repr__",
             [](const Update& self) { return std::string("<GraphUpdate ") + name_of(self.result) + ">"; });

    GraphExecType type(m, "GraphExec",
                       R"(An executable graph, from Graph.instantiate().

Launch it as often as you want, in any stream of its device; two launches of it never overlap. It outlives its graph.

See cudaGraphInstantiate: CUDA C++ Programming Guide, "CUDA Graphs".

Examples
--------
>>> import cuscope as cs
>>> x = cs.zeros(4)
>>> with cs.Stream() as stream, stream.capture() as graph:
...     x.fill(2)
>>> exe = graph.instantiate()
>>> exe.launch(stream)
>>> x.to_host(stream=stream)
array([2., 2., 2., 2.], dtype=float32)
)");
    type.def(
            "launch",
            [](const GraphExecObject& self, const StreamLike& stream) {
                const std::shared_ptr<core::GraphExec> exec = self.open();
                const core::StreamPtr on = stream_or_current(stream, self.device);
                without_gil([&] { exec->launch(*on); });
            },
            py::arg("stream") = py::none(),
            R"(Run the graph in a stream. Default: the current one.

Raises CaptureError if the stream is being captured (Graph.add_child makes a graph a part of another), CudaError if the
device refuses the launch. See cudaGraphLaunch.

>>> import cuscope as cs
>>> cs.Graph().instantiate().launch()
)")
        .def(
            "upload",
            [](const GraphExecObject& self, const StreamLike& stream) {
                const std::shared_ptr<core::GraphExec> exec = self.open();
                const core::StreamPtr on = stream_or_current(stream, self.device);
                without_gil([&] { exec->upload(on); });
            },
            py::arg("stream") = py::none(),
            R"(Transfer the executable to the device, so that the first launch is quick. See cudaGraphUpload.

>>> import cuscope as cs
>>> cs.Graph().instantiate().upload()
)")
        .def(
            "update",
            [](const GraphExecObject& self, const GraphObject& graph) {
                const std::shared_ptr<core::GraphExec> exec = self.open();
                const std::shared_ptr<core::Graph> from = graph.open();
                return without_gil([&] { return exec->update(*from); });
            },
            py::arg("graph"),
            R"(Take over the parameters of another graph that has the same nodes and edges.

Later launches use them. If the graphs differ in more than parameters, the result says where, and the executable is
unchanged. See cudaGraphExecUpdate.

>>> import cuscope as cs
>>> g, other = cs.Graph(), cs.Graph()
>>> node = other.add_empty()
>>> bool(g.instantiate().update(other))
False
)")
        .def(
            "set_enabled",
            [](const GraphExecObject& self, const core::GraphNode& node, bool enabled) {
                set_enabled(self.open(), node, enabled);
            },
            py::arg("node"), py::arg("enabled"),
            R"(Let later launches run a node or skip it: a kernel, copy or memset node.

Raises CudaError for nodes of other types. See cudaGraphNodeSetEnabled.

>>> import cuscope as cs
>>> x = cs.zeros(1)
>>> g = cs.Graph()
>>> node = g.add_memset(x, 1)
>>> exe = g.instantiate()
>>> exe.set_enabled(node, False)
>>> exe.launch()
>>> exe.is_enabled(node), x.to_host().tolist()
(False, [0.0])
)")
        .def(
            "is_enabled",
            [](const GraphExecObject& self, const core::GraphNode& node) {
                const std::shared_ptr<core::GraphExec> exec = self.open();
                return without_gil([&] { return exec->enabled(node); });
            },
            py::arg("node"),
            R"(Do launches run this node, rather than skip it? See cudaGraphNodeGetEnabled.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> node = g.add_memset(cs.zeros(1), 1)
>>> g.instantiate().is_enabled(node)
True
)")
        .def_property_readonly(
            "flags",
            [](const GraphExecObject& self) {
                const std::shared_ptr<core::GraphExec> exec = self.open();
                return without_gil([&] { return exec->flags(); });
            },
            "The bits of cudaGraphInstantiateFlags that it was instantiated with.")
        .def_property_readonly(
            "handle",
            [](const GraphExecObject& self) {
                return reinterpret_cast<std::uintptr_t>(self.open()->handle());
            },
            R"(The runtime's own handle, a cudaGraphExec_t, as an int.

If you pass the GraphExec itself to a kernel, it is kept until the kernel has run; if you pass this number, it is not.

>>> import cuscope as cs
>>> exe = cs.Graph().instantiate()
>>> exe.handle != 0
True
)")
        .def_readonly("device", &GraphExecObject::device, "The device that it runs on.")
        .def_property_readonly(
            "closed", [](const GraphExecObject& self) { return !self.exec; }, "Was the executable closed?")
        .def(
            "close", [](GraphExecObject& self) { self.exec.close(); },
            R"(Release the executable; launches in flight go on. Closing twice is no error. See cudaGraphExecDestroy.

>>> import cuscope as cs
>>> exe = cs.Graph().instantiate()
>>> exe.close()
>>> exe.closed
True
)")
        .def("__repr__", [](const GraphExecObject& self) {
            return "<GraphExec of " + self.device->name() + (self.exec ? ">" : ", closed>");
        });
    remember_type<GraphExecObject>(type);
    FastMethod<fast_graph_launch>::put_before(type, "launch");
    FastMethod<fast_set_enabled>::put_before(type, "set_enabled");

    graph.def(
        "instantiate",
        [](const GraphObject& self, bool auto_free_on_launch, bool device_launch, bool use_node_priority,
           const StreamLike& upload) {
            const std::shared_ptr<core::Graph> graph = self.open();
            const StreamObjectPtr parsed = parse_stream(upload, self.device);
            const core::StreamPtr stream = parsed ? parsed->open() : nullptr;
            const unsigned long long flags = (auto_free_on_launch ? flags::graph_auto_free_on_launch : 0) |
                                             (device_launch ? flags::graph_device_launch : 0) |
                                             (use_node_priority ? flags::graph_use_node_priority : 0);
            const auto made = without_gil([&] { return graph->instantiate(flags, stream); });
            return ending_without_gil(std::make_shared<GraphExecObject>(made));
        },
        py::kw_only(), py::arg("auto_free_on_launch") = false, py::arg("device_launch") = false,
        py::arg("use_node_priority") = false, py::arg("upload") = py::none(),
        R"(Make an executable of the graph. Later changes of the graph do not change the executable.

Parameters
----------
auto_free_on_launch : bool
    A launch first frees the memory that alloc nodes of an earlier launch allocated and that was not freed.
device_launch : bool
    Kernels may launch it, once you have uploaded it. The graph may then have only kernels, memsets, copies of memory
    that is not pageable, and child graphs of these.
use_node_priority : bool
    Kernels run with the priorities of their nodes, instead of the stream's.
upload : Stream or None
    Transfer the executable to the device in this stream, as GraphExec.upload() does.

Raises CudaError if the device refuses the graph. See cudaGraphInstantiate.

>>> import cuscope as cs
>>> cs.Graph().instantiate().launch()
)");
    return type;
}

}  // namespace cuscope::bindings
