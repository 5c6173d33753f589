// The methods of Graph that add nodes.
#include <pybind11/stl.h>

#include "bindings/graphs/graphs.hpp"
#include "bindings/streams/host_function.hpp"

namespace cuscope::bindings {
namespace {

using Node = core::GraphNode;

void keep(const std::shared_ptr<core::Graph>& graph, const NodeUses& uses) {
    for (const auto& memory : uses.memory) graph->keep(memory);
    for (const auto& thing : uses.things) graph->keep(thing);
}

std::shared_ptr<Node> add_plain(const GraphObject& self, GraphNodeParameters parameters,
                                const AfterLike& after, const char* call) {
    const std::shared_ptr<core::Graph> graph = self.open();
    const core::GraphNodes before = parse_after(after);
    return without_gil([&] { return graph->add(parameters, before, call); });
}

std::shared_ptr<Node> add_conditional(const GraphObject& self, std::uint64_t handle, ConditionalType type,
                                      unsigned size, const AfterLike& after) {
    const ConditionalNodeParameters parameters{handle, type, size, nullptr};
    return add_plain(self, parameters, after, "cudaGraphAddNode");
}

}  // namespace

void bind_additions(GraphType& type) {
    type.def(
            "add_empty",
            [](const GraphObject& self, const AfterLike& after) {
                return add_plain(self, EmptyNodeParameters{}, after, "cudaGraphAddEmptyNode");
            },
            py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that does nothing: others may wait for it instead of for all that it waits for.

Raises ValueError for nodes of another graph. See cudaGraphAddEmptyNode.

>>> import cuscope as cs
>>> cs.Graph().add_empty().type
'empty'
)")
        .def(
            "add_kernel",
            [](const GraphObject& self, const Scalar& kernel, const OptionalGrid& grid,
               const OptionalGrid& block, const Scalar& args, const OptionalInt& shared,
               const AfterLike& after) {
                const std::shared_ptr<core::Graph> graph = self.open();
                const core::GraphNodes before = parse_after(after);
                core::GraphNodePtr made;
                with_kernel(
                    kernel, grid, block, shared, args,
                    [&](const core::Kernel& of, const LaunchConfig& config, core::PackedArguments& packed) {
                        without_gil([&] {
                            made = graph->add_kernel(of, config, packed.pointers(), packed.memories(),
                                                     packed.array_bytes(), before);
                        });
                    });
                return made;
            },
            py::arg("kernel"), py::kw_only(), py::arg("grid") = py::none(), py::arg("block") = py::none(),
            py::arg("args") = py::tuple(), py::arg("shared") = py::none(), py::arg("after") = py::none(),
            R"(Add a kernel.

Parameters
----------
kernel : Kernel or KernelLaunch
    A kernel, with ``grid=`` and ``block=``; or kernel[grid, block], or kernel.configure(...) with its attributes.
args : tuple
    The kernel's arguments, as a launch takes them. Numbers are copied, arrays kept.
shared : int, optional
    Dynamic shared memory of a block, in bytes.
after : GraphNode or list of GraphNode, optional
    What it waits for.

Raises what a launch raises. See cudaGraphAddKernelNode.

>>> import cuscope as cs
>>> mod = cs.Module("__global__ void nothing() {}")
>>> cs.Graph().add_kernel(mod.nothing[1, 32]).params["block"]
(32, 1, 1)
)")
        .def(
            "add_copy",
            [](const GraphObject& self, const HostOrDeviceMemory& destination,
               const HostOrDeviceMemory& source, const AfterLike& after) {
                const std::shared_ptr<core::Graph> graph = self.open();
                const core::GraphNodes before = parse_after(after);
                NodeUses uses;
                const GraphNodeParameters parameters =
                    parse_copy(destination, source, graph->device(), &uses);
                const auto made =
                    without_gil([&] { return graph->add(parameters, before, "cudaGraphAddMemcpyNode"); });
                keep(graph, uses);
                return made;
            },
            py::arg("destination"), py::arg("source"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a copy between arrays of one shape and dtype, of devices or of the host.

A NumPy array is read, or written, whenever the graph runs. Strided arrays are copied where they are boxes of rows: one
copy of one, two or three dimensions. Module variables are arrays too (Module.symbol).

Raises ValueError for arrays that do not match, or need more than one copy. See cudaGraphAddMemcpyNode.

>>> import numpy as np, cuscope as cs
>>> x, host = cs.zeros(4), np.ones(4, np.float32)
>>> cs.Graph().add_copy(x, host).params["extent"]
(16, 1, 1)
)")
        .def(
            "add_memset",
            [](const GraphObject& self, const DeviceArray& array, const Scalar& value,
               const AfterLike& after) {
                const std::shared_ptr<core::Graph> graph = self.open();
                const core::GraphNodes before = parse_after(after);
                NodeUses uses;
                const GraphNodeParameters parameters = parse_memset(array, value, graph->device(), &uses);
                const auto made =
                    without_gil([&] { return graph->add(parameters, before, "cudaGraphAddMemsetNode"); });
                keep(graph, uses);
                return made;
            },
            py::arg("array"), py::arg("value"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that sets all elements of an array to a value.

Elements are of 1, 2 or 4 bytes, or the value repeats one byte, as 0 does. Raises ValueError for others, and for arrays
whose elements lie neither one after the other nor in rows. See cudaGraphAddMemsetNode.

>>> import cuscope as cs
>>> cs.Graph().add_memset(cs.empty(4), 1.5).params["width"]
4
)")
        .def(
            "add_host",
            [](const GraphObject& self, const AnyCallable& callable, const AnyArgs& arguments,
               const AfterLike& after, const AnyKeywords& keywords) {
                const std::shared_ptr<core::Graph> graph = self.open();
                const core::GraphNodes before = parse_after(after);
                if (PyCallable_Check(callable.ptr()) == 0) {
                    throw core::WrongKind(std::string("callable: takes something that can be called, not ") +
                                          Py_TYPE(callable.ptr())->tp_name);
                }
                auto task = std::make_unique<PythonTask>(callable, arguments, keywords);
                return without_gil([&] { return graph->add_host(std::move(task), before); });
            },
            py::arg("callable"), py::arg("after") = py::none(),
            R"(Add a call of something on the host, with the given arguments, whenever the graph runs.

It runs on the runtime's own thread and may not call the runtime. What it raises is raised by the next synchronisation of
the stream that the graph was launched in. See cudaGraphAddHostNode.

>>> import cuscope as cs
>>> seen = []
>>> g = cs.Graph()
>>> node = g.add_host(seen.append, 1)
>>> exe = g.instantiate()
>>> exe.launch()
>>> exe.launch()
>>> cs.synchronize()
>>> seen
[1, 1]
)")
        .def(
            "add_event_record",
            [](const GraphObject& self, const EventObject& event, const AfterLike& after) {
                const std::shared_ptr<core::Graph> graph = self.open();
                const core::GraphNodes before = parse_after(after);
                const std::shared_ptr<core::Event> open = event.open();
                return without_gil([&] { return graph->add_event(*open, true, before); });
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
                const std::shared_ptr<core::Graph> graph = self.open();
                const core::GraphNodes before = parse_after(after);
                const std::shared_ptr<core::Event> open = event.open();
                return without_gil([&] { return graph->add_event(*open, false, before); });
            },
            py::arg("event"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that waits for an event: for what it was recorded behind when the graph runs.

See cudaGraphAddEventWaitNode.

>>> import cuscope as cs
>>> cs.Graph().add_event_wait(cs.Event()).type
'event_wait'
)")
        .def(
            "add_child",
            [](const GraphObject& self, const GraphObject& child, const AfterLike& after) {
                const std::shared_ptr<core::Graph> graph = self.open(), inner = child.open();
                const core::GraphNodes before = parse_after(after);
                return without_gil([&] { return graph->add_child(*inner, before); });
            },
            py::arg("graph"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that is a whole graph: a copy of it, as it is now. See cudaGraphAddChildGraphNode.

>>> import cuscope as cs
>>> inner, g = cs.Graph(), cs.Graph()
>>> empty = inner.add_empty()
>>> len(g.add_child(inner).bodies[0].nodes)
1
)")
        .def(
            "conditional_handle",
            [](const GraphObject& self, const OptionalInt& value) {
                const std::shared_ptr<core::Graph> graph = self.open();
                const std::size_t number = value.is_none() ? 0 : parse_size(value, "default");
                if (number > ~0U) throw std::invalid_argument("default: does not fit 32 bits");
                return without_gil(
                    [&] { return graph->add_condition(static_cast<unsigned>(number), !value.is_none()); });
            },
            py::arg("default") = py::none(),
            R"(A number that a conditional node looks at, as the int that kernels take as a cudaGraphConditionalHandle.

Kernels set it with cudaGraphSetConditional(handle, value). With ``default`` every launch begins with that value. One
conditional node has it. See cudaGraphConditionalHandleCreate: CUDA C++ Programming Guide, "Conditional Graph Nodes".

>>> import cuscope as cs
>>> g = cs.Graph()
>>> node = g.add_if(g.conditional_handle(default=1))
>>> len(node.bodies)
1
)")
        .def(
            "add_if",
            [](const GraphObject& self, std::uint64_t handle, bool with_else, const AfterLike& after) {
                return add_conditional(self, handle, ConditionalType::if_, with_else ? 2 : 1, after);
            },
            py::arg("handle"), py::kw_only(), py::arg("with_else") = false, py::arg("after") = py::none(),
            R"(Add a node that runs bodies[0] if the handle's number is not 0; else bodies[1], if it was made with one.

The bodies are graphs to be filled. See cudaGraphCondTypeIf: CUDA C++ Programming Guide, "Conditional Graph Nodes".

>>> import cuscope as cs
>>> g = cs.Graph()
>>> len(g.add_if(g.conditional_handle(), with_else=True).bodies)
2
)")
        .def(
            "add_while",
            [](const GraphObject& self, std::uint64_t handle, const AfterLike& after) {
                return add_conditional(self, handle, ConditionalType::while_, 1, after);
            },
            py::arg("handle"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that runs bodies[0] again and again, as long as the handle's number is not 0.

See cudaGraphCondTypeWhile: CUDA C++ Programming Guide, "Conditional Graph Nodes".

>>> import numpy as np, cuscope as cs
>>> mod = cs.Module('''__global__ void down(cudaGraphConditionalHandle h, int* left) {
...     *left -= 1;
...     cudaGraphSetConditional(h, *left > 0);
... }''')
>>> left = cs.full(1, 5, np.int32)
>>> g = cs.Graph()
>>> handle = g.conditional_handle(default=1)
>>> loop = g.add_while(handle)
>>> step = loop.bodies[0].add_kernel(mod.down[1, 1], args=(handle, left))
>>> g.instantiate().launch()
>>> left.to_host()
array([0], dtype=int32)
)")
        .def(
            "add_switch",
            [](const GraphObject& self, std::uint64_t handle, const IntLike& count, const AfterLike& after) {
                const std::size_t size = parse_size(count, "count");
                if (size < 1 || size > 65536)
                    throw std::invalid_argument("count: " + std::to_string(size) + "; allowed is 1 to 65536");
                return add_conditional(self, handle, ConditionalType::switch_, static_cast<unsigned>(size),
                                       after);
            },
            py::arg("handle"), py::arg("count"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that runs the body of the handle's number, or none if there is no such.

See cudaGraphCondTypeSwitch: CUDA C++ Programming Guide, "Conditional Graph Nodes".

>>> import cuscope as cs
>>> g = cs.Graph()
>>> len(g.add_switch(g.conditional_handle(default=2), 3).bodies)
3
)");
    bind_graph_memory(type);
    bind_graph_batches(type);
    bind_graph_semaphores(type);
}

}  // namespace cuscope::bindings
