// Nodes that call Python on the host.
#include "bindings/graphs/nodes/shared.hpp"
#include "bindings/streams/host_function.hpp"

namespace cuscope::bindings {
namespace {

std::unique_ptr<PythonTask> task_of(const AnyCallable& callable, const AnyArgs& arguments,
                                    const AnyKeywords& keywords) {
    if (PyCallable_Check(callable.ptr()) == 0) {
        throw core::WrongKind(std::string("callable: takes something that can be called, not ") +
                              Py_TYPE(callable.ptr())->tp_name);
    }
    return std::make_unique<PythonTask>(callable, arguments, keywords);
}

void set_host(core::GraphExec& exec, const core::GraphNode& node, std::unique_ptr<core::HostTask> task) {
    without_gil([&] {
        const auto kept = std::make_shared<core::GraphTask>(exec.device(), std::move(task));
        exec.set_parameters(node, HostNodeParameters{core::run_graph_task, kept->ticket()},
                            "cudaGraphExecHostNodeSetParams");
        exec.keep(kept);
    });
}

PyObject* fast_set_host(PyObject* self, const Arguments& arguments) {
    const Py_ssize_t count = arguments.count;
    if (count < 2 || arguments.named() > 0) return nullptr;
    const auto at = node_to_update(self, arguments[0]);
    if (!at.exec || PyCallable_Check(arguments[1]) == 0) return nullptr;
    py::tuple passed(count - 2);
    for (Py_ssize_t i = 2; i < count; ++i) PyTuple_SET_ITEM(passed.ptr(), i - 2, Py_NewRef(arguments[i]));
    set_host(*at.exec, *at.node,
             std::make_unique<PythonTask>(py::reinterpret_borrow<py::object>(arguments[1]), std::move(passed),
                                          py::dict()));
    Py_RETURN_NONE;
}

}  // namespace

void bind_host_nodes(GraphType& graphs, GraphExecType& execs) {
    graphs.def(
        "add_host",
        [](const GraphObject& self, const AnyCallable& callable, const AnyArgs& arguments,
           const AfterLike& after, const AnyKeywords& keywords) {
            const std::shared_ptr<core::Graph> graph = self.open();
            const core::GraphNodes before = parse_after(after);
            auto task = task_of(callable, arguments, keywords);
            return without_gil([&] { return graph->add_host(std::move(task), before); });
        },
        py::arg("callable"), py::arg("after") = py::none(),
        R"(Add a call of something on the host, with the given arguments, whenever the graph runs.

The call runs on the runtime's own thread and may not call the runtime. The next synchronisation of the stream that the
graph was launched in raises its exception. See cudaGraphAddHostNode.

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
)");
    execs.def(
        "set_host",
        [](const GraphExecObject& self, const core::GraphNode& node, const AnyCallable& callable,
           const AnyArgs& arguments, const AnyKeywords& keywords) {
            const std::shared_ptr<core::GraphExec> exec = self.open();
            set_host(*exec, node, task_of(callable, arguments, keywords));
        },
        py::arg("node"), py::arg("callable"),
        R"(Change the callable of a host node of the executable. See cudaGraphExecHostNodeSetParams.

>>> import cuscope as cs
>>> seen = []
>>> g = cs.Graph()
>>> node = g.add_host(seen.append, 1)
>>> exe = g.instantiate()
>>> exe.set_host(node, seen.append, 2)
>>> exe.launch()
>>> cs.synchronize()
>>> seen
[2]
)");
    FastMethod<fast_set_host>::put_before(execs, "set_host");
}

}  // namespace cuscope::bindings
