// Changes of the nodes of an executable graph, and the fast functions that make them without pybind11's
// dispatch.
#include "bindings/graphs/graphs.hpp"
#include "bindings/kernels/fast_arguments.hpp"
#include "bindings/kernels/launch.hpp"
#include "bindings/streams/host_function.hpp"

namespace cuscope::bindings {
namespace {

void keep(core::GraphExec& exec, const NodeUses& uses) {
    for (const auto& memory : uses.memory) exec.keep(memory);
    for (const auto& thing : uses.things) exec.keep(thing);
}

}  // namespace

void set_kernel(core::GraphExec& exec, const core::GraphNode& node, const core::Kernel& kernel,
                const LaunchConfig& config, void** arguments, std::span<core::Memory* const> memories,
                std::int64_t array_bytes) {
    without_gil([&] {
        const auto note = kernel.note_for_checks(arguments, memories);
        exec.set_parameters(node, core::kernel_parameters(kernel, config, arguments, array_bytes),
                            "cudaGraphExecKernelNodeSetParams");
        exec.keep(kernel.keeper());
        for (core::Memory* memory : memories) exec.keep(memory->shared_from_this());
    });
}

void set_copy(const GraphExecPtr& exec, const core::GraphNode& node, py::handle destination,
              py::handle source) {
    const GraphExecPtr open = exec;
    NodeUses uses;
    const GraphNodeParameters parameters = parse_copy(destination, source, open->device(), &uses);
    without_gil([&] { open->set_parameters(node, parameters, "cudaGraphExecMemcpyNodeSetParams"); });
    keep(*open, uses);
}

void set_memset(const GraphExecPtr& exec, const core::GraphNode& node, const DeviceArray& array,
                py::handle value) {
    const GraphExecPtr open = exec;
    NodeUses uses;
    const GraphNodeParameters parameters = parse_memset(array, value, open->device(), &uses);
    without_gil([&] { open->set_parameters(node, parameters, "cudaGraphExecMemsetNodeSetParams"); });
    keep(*open, uses);
}

void set_host(core::GraphExec& exec, const core::GraphNode& node, std::unique_ptr<core::HostTask> task) {
    without_gil([&] {
        const auto kept = std::make_shared<core::GraphTask>(exec.device(), std::move(task));
        exec.set_parameters(node, HostNodeParameters{core::run_graph_task, kept->ticket()},
                            "cudaGraphExecHostNodeSetParams");
        exec.keep(kept);
    });
}

void set_event(const GraphExecPtr& exec, const core::GraphNode& node,
               const std::shared_ptr<core::Event>& event) {
    const GraphExecPtr open = exec;
    const std::shared_ptr<core::Event> used = event;
    without_gil([&] {
        GraphNodeParameters parameters = parameters_of_type(node.type());
        if (auto* const wait = std::get_if<EventWaitNodeParameters>(&parameters))
            wait->event = used->handle();
        if (auto* const record = std::get_if<EventRecordNodeParameters>(&parameters))
            record->event = used->handle();
        open->set_parameters(node, parameters,
                             node.type() == GraphNodeType::wait_event
                                 ? "cudaGraphExecEventWaitNodeSetEvent"
                                 : "cudaGraphExecEventRecordNodeSetEvent");
        open->keep(used->keeper());
    });
}

void set_enabled(const GraphExecPtr& exec, const core::GraphNode& node, bool enabled) {
    const GraphExecPtr open = exec;
    without_gil([&] { open->set_enabled(node, enabled); });
}

namespace {

// The executable and the node of an update.
struct NodeToUpdate {
    GraphExecPtr exec;  // null: the call is not so simple
    const core::GraphNode* node = nullptr;
};

NodeToUpdate node_to_update(PyObject* self, PyObject* of_node) {
    const auto* const object = exactly<GraphExecObject>(self);
    const auto* const node = exactly<core::GraphNode>(of_node);
    return object == nullptr || node == nullptr ? NodeToUpdate{} : NodeToUpdate{object->exec.get(), node};
}

PyObject* fast_set_kernel(PyObject* self, const Arguments& arguments) {
    static constinit ParameterNames names("node", "kernel", "args");
    std::array<PyObject*, 3> values;
    if (!bind_arguments(names, 2, 3, arguments, &values)) return nullptr;
    const auto [node, kernel, args] = values;
    const auto at = node_to_update(self, node);
    const auto* const launch = exactly<KernelLaunch>(kernel);
    if (!at.exec || launch == nullptr || PyTuple_CheckExact(args) == 0) return nullptr;
    // It keeps the kernel: while the GIL is released, another thread may drop the launch.
    const SharedOwner<core::Kernel> of = launch->kernel;
    const LaunchConfig config = launch->config;
    FastArguments packed;
    const auto length = static_cast<std::size_t>(PyTuple_GET_SIZE(args));
    if (!packed.pack(*of.get(), reinterpret_cast<PyTupleObject*>(args)->ob_item, length)) return nullptr;
    set_kernel(*at.exec, *at.node, *of.get(), config, packed.pointers(), packed.memories(),
               packed.array_bytes());
    Py_RETURN_NONE;
}

PyObject* fast_set_copy(PyObject* self, const Arguments& arguments) {
    if (!arguments.are(3)) return nullptr;
    const auto at = node_to_update(self, arguments[0]);
    if (!at.exec) return nullptr;
    set_copy(at.exec, *at.node, arguments[1], arguments[2]);
    Py_RETURN_NONE;
}

PyObject* fast_set_memset(PyObject* self, const Arguments& arguments) {
    if (!arguments.are(3)) return nullptr;
    const auto at = node_to_update(self, arguments[0]);
    const auto* const array = at.exec ? exactly<DeviceArray>(arguments[1]) : nullptr;
    if (array == nullptr) return nullptr;
    set_memset(at.exec, *at.node, *array, arguments[2]);
    Py_RETURN_NONE;
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

PyObject* fast_set_enabled(PyObject* self, const Arguments& arguments) {
    if (!arguments.are(2)) return nullptr;
    const auto at = node_to_update(self, arguments[0]);
    if (!at.exec || PyBool_Check(arguments[1]) == 0) return nullptr;
    set_enabled(at.exec, *at.node, arguments[1] == Py_True);
    Py_RETURN_NONE;
}

}  // namespace

void bind_fast_updates(GraphExecType& type) {
    FastMethod<fast_set_kernel>::put_before(type, "set_kernel");
    FastMethod<fast_set_copy>::put_before(type, "set_copy");
    FastMethod<fast_set_memset>::put_before(type, "set_memset");
    FastMethod<fast_set_host>::put_before(type, "set_host");
    FastMethod<fast_set_event>::put_before(type, "set_event");
    FastMethod<fast_set_enabled>::put_before(type, "set_enabled");
}

}  // namespace cuscope::bindings
