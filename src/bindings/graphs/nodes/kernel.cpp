// Nodes of kernels.
#include "bindings/graphs/nodes/shared.hpp"
#include "bindings/kernels/fast_arguments.hpp"
#include "bindings/kernels/launch.hpp"

namespace cuscope::bindings {
namespace {

// Calls `use` with a kernel, its configuration, its packed arguments and their memory.
void with_kernel(py::handle kernel, py::handle grid, py::handle block, py::handle shared, py::handle args,
                 const auto& use) {
    KernelPtr of;
    LaunchConfig config;
    if (py::isinstance<KernelLaunch>(kernel)) {
        const auto& launch = kernel.cast<const KernelLaunch&>();
        of = launch.kernel.get();
        config = launch.config;
        if (!grid.is_none() || !block.is_none()) {
            throw std::invalid_argument("grid and block: kernel[grid, block] has them already");
        }
    } else if (py::isinstance<core::Kernel>(kernel)) {
        of = kernel.cast<KernelPtr>();
        if (grid.is_none() || block.is_none()) {
            throw core::WrongKind(of->name() + ": a node needs grid= and block=, or kernel[grid, block]");
        }
        config.grid = parse_dim(grid, "grid");
        config.block = parse_dim(block, "block");
    } else {
        throw core::WrongKind(std::string("kernel: takes a Kernel or kernel[grid, block], not ") +
                              Py_TYPE(kernel.ptr())->tp_name);
    }
    if (!shared.is_none()) config.dynamic_shared_bytes = parse_shared(shared);
    if (!py::isinstance<py::tuple>(args) && !py::isinstance<py::list>(args)) {
        throw core::WrongKind(std::string("args: takes a tuple of the kernel's arguments, not ") +
                              Py_TYPE(args.ptr())->tp_name);
    }
    const py::tuple values(py::reinterpret_borrow<py::object>(args));  // a list's own items may change
    std::vector<core::Argument> arguments;
    for (const py::handle value : values)
        arguments.push_back(to_argument(value, of->device()->legacy_stream()));
    core::PackedArguments packed(of->name(), of->parameters(), arguments, *of->device());
    use(*of, config, packed);
}

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

}  // namespace

void bind_kernel_nodes(GraphType& graphs, GraphExecType& execs) {
    graphs.def(
        "add_kernel",
        [](const GraphObject& self, const Scalar& kernel, const OptionalGrid& grid, const OptionalGrid& block,
           const Scalar& args, const OptionalInt& shared, const AfterLike& after) {
            const std::shared_ptr<core::Graph> graph = self.open();
            const core::GraphNodes before = parse_after(after);
            core::GraphNodePtr made;
            with_kernel(kernel, grid, block, shared, args,
                        [&](const auto& of, const auto& config, auto& packed) {
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

Raises the errors of a launch. See cudaGraphAddKernelNode.

>>> import cuscope as cs
>>> mod = cs.Module("__global__ void nothing() {}")
>>> cs.Graph().add_kernel(mod.nothing[1, 32]).params["block"]
(32, 1, 1)
)");
    execs.def(
        "set_kernel",
        [](const GraphExecObject& self, const core::GraphNode& node, const Scalar& kernel,
           const OptionalGrid& grid, const OptionalGrid& block, const Scalar& args,
           const OptionalInt& shared) {
            const std::shared_ptr<core::GraphExec> exec = self.open();
            with_kernel(kernel, grid, block, shared, args,
                        [&](const auto& of, const auto& config, auto& packed) {
                            set_kernel(*exec, node, of, config, packed.pointers(), packed.memories(),
                                       packed.array_bytes());
                        });
        },
        py::arg("node"), py::arg("kernel"), py::kw_only(), py::arg("grid") = py::none(),
        py::arg("block") = py::none(), py::arg("args") = py::tuple(), py::arg("shared") = py::none(),
        R"(Change a kernel node of the executable, not of the graph. Takes the arguments of Graph.add_kernel().

See cudaGraphExecKernelNodeSetParams.

>>> import numpy as np, cuscope as cs
>>> mod = cs.Module("__global__ void set(int* x, int v) { *x = v; }")
>>> x = cs.zeros(1, np.int32)
>>> g = cs.Graph()
>>> node = g.add_kernel(mod.set[1, 1], args=(x, 1))
>>> exe = g.instantiate()
>>> exe.set_kernel(node, mod.set[1, 1], args=(x, 2))
>>> exe.launch()
>>> x.to_host()
array([2], dtype=int32)
)");
    FastMethod<fast_set_kernel>::put_before(execs, "set_kernel");
}

}  // namespace cuscope::bindings
