// Nodes that are graphs.
#include "bindings/graphs/nodes/shared.hpp"

namespace cuscope::bindings {

void bind_child_graph_nodes(GraphType& graphs, GraphExecType& execs) {
    graphs.def(
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
)");
    execs.def(
        "set_child",
        [](const GraphExecObject& self, const core::GraphNode& node, const GraphObject& graph) {
            const std::shared_ptr<core::GraphExec> exec = self.open();
            const std::shared_ptr<core::Graph> child = graph.open();
            without_gil([&] { exec->set_child(node, *child); });
        },
        py::arg("node"), py::arg("graph"),
        R"(Take over the parameters of a graph in a child node. It must have the child's nodes and edges.

See cudaGraphExecChildGraphNodeSetParams.

>>> import cuscope as cs
>>> x, inner, other, g = cs.zeros(1), cs.Graph(), cs.Graph(), cs.Graph()
>>> one, two = inner.add_memset(x, 1), other.add_memset(x, 2)
>>> node = g.add_child(inner)
>>> exe = g.instantiate()
>>> exe.set_child(node, other)
>>> exe.launch()
>>> x.to_host()
array([2.], dtype=float32)
)");
}

}  // namespace cuscope::bindings
