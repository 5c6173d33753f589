// Graphs and their nodes.
#include "bindings/graphs.hpp"

#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/host_function.hpp"
#include "runtime/signature.hpp"

namespace cuscope::bindings {
namespace {

using Node = core::GraphNode;

py::tuple dim_tuple(const Dim3& dim) { return py::make_tuple(dim.x, dim.y, dim.z); }

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::string kernel_name(const Node& node, KernelHandle kernel) {
    const char* name = nullptr;
    core::Device& device = node.graph()->device();
    if (device.runtime().func_get_name(&name, kernel) != Status::success) {
        device.runtime().get_last_error();
        return "";
    }
    return function_name(demangle(name));
}

AnswerDict params(const Node& self) {
    const GraphNodeParameters p = self.parameters();
    py::dict values;
    switch (p.type) {
        case GraphNodeType::kernel:
            values["kernel"] = kernel_name(self, p.kernel.kernel);
            values["grid"] = dim_tuple(p.kernel.grid);
            values["block"] = dim_tuple(p.kernel.block);
            values["shared"] = p.kernel.dynamic_shared_bytes;
            break;
        case GraphNodeType::memcpy: {
            static constexpr const char* kinds[] = {"host to host", "host to device", "device to host",
                                                    "device to device", "by address"};
            values["destination"] = address(p.memcpy.destination_array != nullptr
                                                ? static_cast<const void*>(p.memcpy.destination_array)
                                                : p.memcpy.destination.pointer);
            values["source"] =
                address(p.memcpy.source_array != nullptr ? static_cast<const void*>(p.memcpy.source_array)
                                                         : p.memcpy.source.pointer);
            values["extent"] =
                py::make_tuple(p.memcpy.extent.width, p.memcpy.extent.height, p.memcpy.extent.depth);
            values["kind"] = kinds[std::clamp(static_cast<int>(p.memcpy.kind), 0, 4)];
            break;
        }
        case GraphNodeType::memset:
            values["pointer"] = address(p.memset.pointer);
            values["value"] = p.memset.value;
            values["element_bytes"] = p.memset.element_bytes;
            values["width"] = p.memset.width;
            values["height"] = p.memset.height;
            values["pitch"] = p.memset.pitch;
            break;
        case GraphNodeType::wait_event:
        case GraphNodeType::event_record:
            values["event"] = address(p.event);
            break;
        case GraphNodeType::mem_alloc:
            values["pointer"] = address(p.alloc.pointer);
            values["nbytes"] = p.alloc.bytes;
            break;
        case GraphNodeType::mem_free:
            values["pointer"] = address(p.free);
            break;
        case GraphNodeType::conditional: {
            static constexpr const char* kinds[] = {"if", "while", "switch"};
            values["kind"] = kinds[std::clamp(static_cast<int>(p.conditional.type), 0, 2)];
            values["handle"] = p.conditional.handle;
            break;
        }
        default:
            break;
    }
    return AnswerDict(values);
}

NodeList list_of(const core::GraphNodes& nodes) {
    py::list list;
    for (const auto& node : nodes) list.append(py::cast(node));
    return NodeList(list);
}

void keep(const std::shared_ptr<core::Graph>& graph, const NodeUses& uses) {
    for (const auto& memory : uses.memory) graph->keep(memory);
    for (const auto& thing : uses.things) graph->keep(thing);
}

GraphEdgeData parse_edge(bool programmatic) {
    if (!programmatic) return {};
    return {ports::kernel_programmatic, 0, DependencyType::programmatic};
}

std::shared_ptr<Node> add_plain(const GraphObject& self, GraphNodeParameters parameters,
                                const AfterLike& after, const char* call) {
    const std::shared_ptr<core::Graph> graph = self.open();
    const core::GraphNodes before = parse_after(after);
    return without_gil([&] { return graph->add(parameters, before, call); });
}

std::shared_ptr<Node> add_conditional(const GraphObject& self, std::uint64_t handle, ConditionalType type,
                                      unsigned size, const AfterLike& after) {
    GraphNodeParameters parameters;
    parameters.type = GraphNodeType::conditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = size;
    return add_plain(self, parameters, after, "cudaGraphAddNode");
}

void bind_nodes(py::class_<Node, py::smart_holder>& node) {
    node.def_property_readonly(
            "type", [](const Node& self) { return core::name_of(self.type()); },
            "What it does: 'kernel', 'copy', 'memset', 'host', 'child', 'empty', 'event_wait', "
            "'event_record', "
            "'alloc', 'free' or 'conditional'.")
        .def_property_readonly("params", params, "What it does it with, a dictionary by its type.")
        .def_property_readonly(
            "graph", [](const Node& self) { return wrap(self.graph()); }, "The graph that it is of.")
        .def_property_readonly(
            "dependencies", [](const Node& self) { return list_of(self.dependencies()); },
            "The nodes that it waits for.")
        .def_property_readonly(
            "dependents", [](const Node& self) { return list_of(self.dependents()); },
            "The nodes that wait for it.")
        .def_property_readonly(
            "bodies",
            [](const Node& self) {
                std::vector<GraphObjectPtr> bodies;
                for (const auto& body : self.bodies()) bodies.push_back(wrap(body));
                return bodies;
            },
            "The graphs within it: a child's one, those that a conditional chooses from.")
        .def(
            "destroy", [](Node& self) { without_gil([&] { self.destroy(); }); },
            R"(Take the node and its edges out of the graph. Executables keep theirs. See cudaGraphDestroyNode.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> g.add_empty().destroy()
>>> g.nodes
[]
)")
        .def("__eq__",
             [](const Node& self, const py::object& other) {
                 if (!py::isinstance<Node>(other)) return false;
                 const auto& second = other.cast<const Node&>();
                 return &self == &second ||
                        (self.handle() == second.handle() && !self.destroyed() && !second.destroyed() &&
                         &self.graph()->device().runtime() == &second.graph()->device().runtime());
             })
        .def("__hash__",
             [](const Node& self) { return static_cast<py::ssize_t>(address(self.handle()) >> 4); })
        .def("__repr__", [](const Node& self) {
            return std::string("<GraphNode ") +
                   (self.destroyed() ? "destroyed" : core::name_of(self.known_type())) + " of " +
                   self.graph()->device().name() + ">";
        });
}

}  // namespace

GraphObjectPtr wrap(std::shared_ptr<core::Graph> graph) {
    return ending_without_gil(std::make_shared<GraphObject>(std::move(graph)));
}

core::GraphNodes parse_after(const AfterLike& after) {
    core::GraphNodes nodes;
    if (after.is_none()) return nodes;
    const auto take = [&](py::handle node) {
        if (!py::isinstance<Node>(node)) {
            throw core::WrongKind(std::string("after: takes GraphNodes, not ") +
                                  Py_TYPE(node.ptr())->tp_name);
        }
        nodes.push_back(node.cast<std::shared_ptr<Node>>());
    };
    if (py::isinstance<Node>(after)) {
        take(after);
        return nodes;
    }
    if (!py::isinstance<py::iterable>(after)) take(after);
    for (const py::handle node : py::reinterpret_borrow<py::iterable>(after)) take(node);
    return nodes;
}

void bind_graphs(py::module_& m, Classes&) {
    py::class_<Node, py::smart_holder> node(m, "GraphNode",
                                            R"(A node of a graph, from Graph.add_... or Graph.nodes.

See CUDA C++ Programming Guide, "CUDA Graphs".

Examples
--------
>>> import cuscope as cs
>>> g = cs.Graph()
>>> first = g.add_empty()
>>> second = g.add_empty(after=first)
>>> second.type, second.dependencies == [first]
('empty', True)
)");
    py::class_<GraphObject, py::smart_holder> type(m, "Graph",
                                                   R"(Work and its order, to be launched as often as wanted.

Nodes are added one by one, each behind others (``after=``), or captured: Stream.capture(). What they use, arrays, kernels,
events and Python callables, is kept by the graph, by its executables, and until every launch has ended.

Parameters
----------
device : Device, optional
    The current device unless given.

See cudaGraphCreate: CUDA C++ Programming Guide, "CUDA Graphs".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> mod = cs.Module("__global__ void add(int* x, int v) { x[threadIdx.x] += v; }")
>>> x, host = cs.empty(4, np.int32), np.arange(4, dtype=np.int32)
>>> g = cs.Graph()
>>> copied = g.add_copy(x, host)
>>> added = g.add_kernel(mod.add, grid=1, block=4, args=(x, 10), after=copied)
>>> exe = g.instantiate()
>>> exe.launch()
>>> x.to_host()
array([10, 11, 12, 13], dtype=int32)
)");
    bind_nodes(node);
    type.def(py::init([](const DeviceLike& device) {
                 const core::DevicePtr on = device_or_current(device);
                 return wrap(without_gil([&] { return core::Graph::create(on); }));
             }),
             py::kw_only(), py::arg("device") = py::none())
        .def(
            "add_empty",
            [](const GraphObject& self, const AfterLike& after) {
                return add_plain(self, {}, after, "cudaGraphAddEmptyNode");
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
)")
        .def_property_readonly(
            "nodes", [](const GraphObject& self) { return list_of(self.open()->nodes()); },
            "All nodes, in the order in which they were made.")
        .def_property_readonly(
            "roots", [](const GraphObject& self) { return list_of(self.open()->roots()); },
            "The nodes that wait for no other.")
        .def_property_readonly(
            "edges",
            [](const GraphObject& self) {
                std::vector<std::pair<core::GraphNodePtr, core::GraphNodePtr>> edges;
                for (const auto& edge : self.open()->edges()) edges.emplace_back(edge.from, edge.to);
                return edges;
            },
            "Pairs of nodes: the second waits for the first.")
        .def(
            "add_dependency",
            [](const GraphObject& self, const Node& from, const Node& to, bool programmatic) {
                const std::shared_ptr<core::Graph> graph = self.open();
                without_gil([&] { graph->connect(from, to, parse_edge(programmatic)); });
            },
            py::arg("before"), py::arg("later"), py::kw_only(), py::arg("programmatic") = false,
            R"(Let a node wait for another.

With ``programmatic``, between kernels, it waits only until the first has called cudaTriggerProgrammaticLaunchCompletion.
Raises CudaError for an edge that is there already or would close a cycle. See cudaGraphAddDependencies.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> a, b = g.add_empty(), g.add_empty()
>>> g.add_dependency(a, b)
>>> g.edges == [(a, b)]
True
)")
        .def(
            "remove_dependency",
            [](const GraphObject& self, const Node& from, const Node& to, bool programmatic) {
                const std::shared_ptr<core::Graph> graph = self.open();
                without_gil([&] { graph->disconnect(from, to, parse_edge(programmatic)); });
            },
            py::arg("before"), py::arg("later"), py::kw_only(), py::arg("programmatic") = false,
            R"(Take an edge away. Raises CudaError if there is none. See cudaGraphRemoveDependencies.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> a = g.add_empty()
>>> b = g.add_empty(after=a)
>>> g.remove_dependency(a, b)
>>> g.edges
[]
)")
        .def(
            "clone",
            [](const GraphObject& self) {
                const std::shared_ptr<core::Graph> graph = self.open();
                return wrap(without_gil([&] { return graph->clone(); }));
            },
            R"(A copy of the graph, with nodes of its own. See cudaGraphClone.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> node = g.add_empty()
>>> copy = g.clone()
>>> copy.find_clone(node) == copy.nodes[0]
True
)")
        .def(
            "find_clone",
            [](const GraphObject& self, const Node& original) {
                const std::shared_ptr<core::Graph> graph = self.open();
                return without_gil([&] { return graph->find_clone(original); });
            },
            py::arg("original"),
            R"(Of a clone: the node that stands for one of the graph that it was cloned from.

Raises CudaError if there is none. See cudaGraphNodeFindInClone.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> node = g.add_empty()
>>> g.clone().find_clone(node) == node
False
)")
        .def(
            "to_dot",
            [](const GraphObject& self) {
                const std::shared_ptr<core::Graph> graph = self.open();
                return without_gil([&] { return graph->to_dot(); });
            },
            R"(The graph in the language of Graphviz: kernels by name, copies with direction and size, bodies as boxes.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> a = g.add_empty()
>>> b = g.add_empty(after=a)
>>> print(g.to_dot())
digraph graph_ {
  n0 [shape=circle, label="empty"];
  n1 [shape=circle, label="empty"];
  n0 -> n1;
}
<BLANKLINE>
)")
        .def_readonly("device", &GraphObject::device, "The device that it is for.")
        .def_property_readonly(
            "closed",
            [](const GraphObject& self) { return !self.graph && self.state == GraphObject::State::made; },
            "Was it closed?")
        .def(
            "close", [](GraphObject& self) { self.graph.close(); },
            R"(Let the graph go; executables of it stay. Closing twice is no error. See cudaGraphDestroy.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> g.close()
>>> g.closed
True
)")
        .def("__repr__", [](const GraphObject& self) {
            std::string text = "<Graph of " + self.device->name();
            if (!self.graph) {
                text += self.state == GraphObject::State::captured ? ", being captured"
                        : self.state == GraphObject::State::failed ? ", its capture failed"
                                                                   : ", closed";
            }
            return text + ">";
        });
}

}  // namespace cuscope::bindings
