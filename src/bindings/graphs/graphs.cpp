// Graphs and their nodes.
#include "bindings/graphs/graphs.hpp"

#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/support/fast_calls.hpp"
#include "runtime/compile/signature.hpp"
#include "runtime/overloads.hpp"

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
    py::dict values;
    const auto semaphores = [&](const ExternalSemaphoreNodeParameters& p) {
        values["semaphores"] = semaphores_of(p);
    };
    std::visit(overloads{
                   [&](const KernelNodeParameters& p) {
                       values["kernel"] = kernel_name(self, p.kernel);
                       values["grid"] = dim_tuple(p.grid);
                       values["block"] = dim_tuple(p.block);
                       values["shared"] = p.dynamic_shared_bytes;
                   },
                   [&](const MemcpyNodeParameters& p) {
                       static constexpr const char* kinds[] = {"host to host", "host to device",
                                                               "device to host", "device to device",
                                                               "by address"};
                       const auto end = [](ArrayHandle array, const PitchedPointer& pitched) {
                           return array != nullptr ? address(array) : address(pitched.pointer);
                       };
                       values["destination"] = end(p.destination_array, p.destination);
                       values["source"] = end(p.source_array, p.source);
                       values["extent"] = py::make_tuple(p.extent.width, p.extent.height, p.extent.depth);
                       values["kind"] = kinds[std::clamp(static_cast<int>(p.kind), 0, 4)];
                   },
                   [&](const HostNodeParameters&) {},
                   [&](const ChildGraphNodeParameters&) {},
                   [&](const EmptyNodeParameters&) {},
                   [&](const SemaphoreSignalNodeParameters& p) { semaphores(p); },
                   [&](const SemaphoreWaitNodeParameters& p) { semaphores(p); },
                   [&](const BatchMemOpNodeParameters& p) { values["operations"] = operations_of(p); },
                   [&](const ConditionalNodeParameters& p) {
                       static constexpr const char* kinds[] = {"if", "while", "switch"};
                       values["kind"] = kinds[std::clamp(static_cast<int>(p.type), 0, 2)];
                       values["handle"] = p.handle;
                   },
                   [&](const UnknownNodeParameters&) {},
                   [&](auto p) {
                       p.each_member([&]<class Value>(const char* name, const Value& value) {
                           if constexpr (std::is_pointer_v<Value>) {
                               values[name] = address(value);
                           } else {
                               values[name] = value;
                           }
                       });
                   },
               },
               self.parameters());
    return AnswerDict(values);
}

NodeList list_of(const core::GraphNodes& nodes) {
    py::list list;
    for (const auto& node : nodes) list.append(py::cast(node));
    return NodeList(list);
}

GraphEdgeData parse_edge(bool programmatic) {
    if (!programmatic) return {};
    return {ports::kernel_programmatic, 0, DependencyType::programmatic};
}

void bind_nodes(py::class_<Node, py::smart_holder>& node) {
    node.def_property_readonly(
            "type", [](const Node& self) { return name_of(self.type()); },
            "The type of the node: 'kernel', 'copy', 'memset', 'host', 'child', 'empty', 'event_wait', "
            "'event_record', "
            "'alloc', 'free', 'batch_mem_op', 'external_semaphore_signal', 'external_semaphore_wait' or "
            "'conditional'.")
        .def_property_readonly(
            "label", [](const Node& self) { return without_gil([&] { return self.graph()->label(self); }); },
            "The text of the node in a drawing: a kernel's name and size, a copy's direction and bytes.")
        .def_property_readonly("params", params,
                               R"(The parameters of the node: a dictionary with keys that depend on its type.

A kernel has 'kernel' (its name), 'grid' and 'block' (three sizes), 'shared' (bytes). A copy has 'destination' and
'source' (addresses), 'extent' (width in bytes, height, depth) and 'kind'. A memset has 'pointer', 'value',
'element_bytes', 'width' (in elements), 'height' and 'pitch' (in bytes). An event node has 'event', an allocation
'pointer' and 'nbytes', a free 'pointer', a node of memory operations 'operations', a node of semaphores 'semaphores',
a conditional node 'kind' and 'handle'. See cudaGraphKernelNodeGetParams and similar functions.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> g.add_memset(cs.empty(10), 1).params["width"]
10
)")
        .def_property_readonly(
            "graph", [](const Node& self) { return wrap(self.graph()); },
            "The graph that the node belongs to.")
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
            "The graphs inside: one of a child node, the bodies of a conditional node.")
        .def(
            "destroy", [](Node& self) { without_gil([&] { self.destroy(); }); },
            R"(Remove the node and its edges from the graph. Executables keep theirs. See cudaGraphDestroyNode.

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
                         self.graph()->device().shares_runtime(second.graph()->device()));
             })
        .def("__hash__",
             [](const Node& self) { return static_cast<py::ssize_t>(address(self.handle()) >> 4); })
        .def("__repr__", [](const Node& self) {
            return std::string("<GraphNode ") +
                   (self.destroyed() ? "destroyed" : name_of(self.known_type())) + " of " +
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

// The methods that add and change nodes, by type. These functions stand in nodes/, or beside the objects that
// the nodes use.
using BindNodes = void(GraphType& graphs, GraphExecType& execs);
BindNodes bind_empty_nodes, bind_kernel_nodes, bind_copy_nodes, bind_memset_nodes, bind_host_nodes,
    bind_event_nodes, bind_child_graph_nodes, bind_conditional_nodes, bind_memory_nodes, bind_batch_nodes,
    bind_semaphore_nodes;

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
    py::class_<GraphObject, py::smart_holder> type(
        m, "Graph",
        R"(Commands and their order, to be launched together as often as you want.

Add nodes one by one, each after others (``after=``), or capture them: Stream.capture(). The arrays, kernels, events and
Python callables that the nodes use are kept by the graph and its executables until every launch has ended.

Parameters
----------
device : Device, optional
    Default: the current device.

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
    remember_type<Node>(node);
    type.def(py::init([](const DeviceLike& device) {
                 const core::DevicePtr on = device_or_current(device);
                 return wrap(without_gil([&] { return core::Graph::create(on); }));
             }),
             py::kw_only(), py::arg("device") = py::none())
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
        .def_property_readonly(
            "programmatic_edges",
            [](const GraphObject& self) {
                std::vector<std::pair<core::GraphNodePtr, core::GraphNodePtr>> edges;
                for (const auto& edge : self.open()->edges()) {
                    if (edge.data.type == DependencyType::programmatic)
                        edges.emplace_back(edge.from, edge.to);
                }
                return edges;
            },
            "The edges on which the second kernel waits only until the first one allows its start.")
        .def(
            "add_dependency",
            [](const GraphObject& self, const Node& from, const Node& to, bool programmatic) {
                const std::shared_ptr<core::Graph> graph = self.open();
                without_gil([&] { graph->connect(from, to, parse_edge(programmatic)); });
            },
            py::arg("before"), py::arg("later"), py::kw_only(), py::arg("programmatic") = false,
            R"(Add an edge: the node ``later`` waits for the node ``before``.

With ``programmatic``, between kernels, it waits only until the first one has called
cudaTriggerProgrammaticLaunchCompletion. Raises ValueError for an edge that would close a cycle, CudaError for an edge
that exists already. See cudaGraphAddDependencies.

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
            R"(Remove an edge. Raises CudaError if there is none. See cudaGraphRemoveDependencies.

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
            R"(Call it on a clone: the node that corresponds to a node of the original graph.

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
            R"(The graph in DOT, the language of Graphviz: kernels by name, copies with direction and size, bodies in boxes.

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
        .def("_repr_svg_",
             [](const py::object& self) -> py::object {
                 return py::module_::import("cuscope._drawing").attr("svg")(self);
             })
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
    GraphExecType exec = bind_graph_execs(m, type);
    for (BindNodes* const bind :
         {bind_empty_nodes, bind_kernel_nodes, bind_copy_nodes, bind_memset_nodes, bind_host_nodes,
          bind_event_nodes, bind_child_graph_nodes, bind_conditional_nodes, bind_memory_nodes,
          bind_batch_nodes, bind_semaphore_nodes}) {
        bind(type, exec);
    }
}

}  // namespace cuscope::bindings
