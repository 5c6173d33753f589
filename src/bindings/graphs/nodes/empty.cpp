// Nodes that do nothing.
#include "bindings/graphs/nodes/shared.hpp"

namespace cuscope::bindings {

void bind_empty_nodes(GraphType& graphs, GraphExecType&) {
    graphs.def(
        "add_empty",
        [](const GraphObject& self, const AfterLike& after) {
            return add_node(self, EmptyNodeParameters{}, after, "cudaGraphAddEmptyNode");
        },
        py::kw_only(), py::arg("after") = py::none(),
        R"(Add a node that does nothing: others may wait for it instead of for all that it waits for.

Raises ValueError for nodes of another graph. See cudaGraphAddEmptyNode.

>>> import cuscope as cs
>>> cs.Graph().add_empty().type
'empty'
)");
}

}  // namespace cuscope::bindings
