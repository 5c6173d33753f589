// Nodes that choose between graphs.
#include "bindings/graphs/nodes/shared.hpp"

namespace cuscope::bindings {
namespace {

core::GraphNodePtr add_conditional(const GraphObject& self, std::uint64_t handle, ConditionalType type,
                                   unsigned size, const AfterLike& after) {
    const ConditionalNodeParameters parameters{handle, type, size, nullptr};
    return add_node(self, parameters, after, "cudaGraphAddNode");
}

}  // namespace

void bind_conditional_nodes(GraphType& graphs, GraphExecType&) {
    graphs
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
}

}  // namespace cuscope::bindings
