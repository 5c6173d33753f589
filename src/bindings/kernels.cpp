// Kernels, what a launch is configured with, and the launch itself.
#include <pybind11/stl.h>

#include <cmath>
#include <limits>

#include "bindings/launch.hpp"

namespace cuscope::bindings {
namespace {

// A number of threads, at least `least`; what is too many for the device, the runtime says.
int parse_threads(py::handle value, const char* what, int least) {
    const std::size_t threads = parse_size(value, what);
    if (threads < static_cast<std::size_t>(least) || threads > std::numeric_limits<int>::max()) {
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(threads) +
                                    " is no number of threads; allowed is " + std::to_string(least) +
                                    " to what the device has (device.properties.max_threads_per_block)");
    }
    return static_cast<int>(threads);
}

std::int64_t parse_duration(const std::optional<double>& seconds) {
    if (!seconds) return -1;
    if (!(*seconds >= 0 && *seconds <= 1e6)) {
        throw std::invalid_argument("duration: " + std::to_string(*seconds) +
                                    " s is no duration; allowed is 0 to 1e6");
    }
    return std::llround(*seconds * 1e9);
}

void bind_descriptions(py::module_& m) {
    py::class_<Parameter>(m, "Parameter", R"(One parameter of a kernel, from Kernel.parameters.

See CUDA C++ Programming Guide, "Kernels".

Examples
--------
>>> import cuscope as cs
>>> mod = cs.Module("__global__ void scale(float* x, double by) { x[threadIdx.x] *= by; }")
>>> [(p.name, p.kind, p.element, p.size) for p in mod.scale.parameters]
[('x', 'pointer', 'float32', 8), ('by', 'scalar', 'float64', 8)]
)")
        .def_readonly("name", &Parameter::name, "Its name in the source; '' where that is not known.")
        .def_readonly("type", &Parameter::type, "Its type in the source; '' where that is not known.")
        .def_property_readonly(
            "kind",
            [](const Parameter& self) {
                return self.kind == ParameterKind::pointer  ? "pointer"
                       : self.kind == ParameterKind::scalar ? "scalar"
                                                            : "opaque";
            },
            "'pointer', 'scalar' or 'opaque': a structure, or one of which only the size is "
            "known.")
        .def_readonly("is_const", &Parameter::is_const, "Does it point to what the kernel only reads?")
        .def_readonly("element", &Parameter::element,
                      "NumPy's name of the scalar, or of what a pointer points to; '' where it has none.")
        .def_readonly("size", &Parameter::size, "The bytes of the parameter itself.")
        .def("__repr__", [](const Parameter& self) {
            return "Parameter(name='" + self.name + "', type='" + self.type +
                   "', size=" + std::to_string(self.size) + ")";
        });

    py::class_<FunctionAttributes>(m, "FunctionAttributes",
                                   R"(What a kernel needs of a device: the fields of cudaFuncAttributes.

Made by Kernel.attributes. A simulated device has no registers and no local memory to count: those are 0.

See cudaFuncGetAttributes: CUDA Runtime API, "Execution Control".

Examples
--------
>>> import cuscope as cs
>>> mod = cs.Module("__global__ void k(int* x) { __shared__ int s[64]; int i = threadIdx.x;"
...                 " s[i] = x[i]; __syncthreads(); x[i] = s[63 - i]; }")
>>> mod.k.attributes.shared_size
256
)")
        .def_readonly("shared_size", &FunctionAttributes::shared_size,
                      "Static shared memory of a block, in bytes.")
        .def_readonly("const_size", &FunctionAttributes::const_size, "__constant__ memory, in bytes.")
        .def_readonly("local_size", &FunctionAttributes::local_size, "Local memory of a thread, in bytes.")
        .def_readonly("max_threads_per_block", &FunctionAttributes::max_threads_per_block,
                      "The most threads that a block of this kernel may have.")
        .def_readonly("registers", &FunctionAttributes::registers, "Registers of a thread.")
        .def_readonly("ptx_version", &FunctionAttributes::ptx_version,
                      "The virtual architecture that it was compiled for: 90 is 9.0.")
        .def_readonly("binary_version", &FunctionAttributes::binary_version,
                      "The real architecture that it was compiled for: 90 is 9.0.")
        .def_readonly("max_dynamic_shared_size", &FunctionAttributes::max_dynamic_shared_size,
                      "The dynamic shared memory that a launch may ask for, in bytes.")
        .def_readonly("cache_mode_ca", &FunctionAttributes::cache_mode_ca,
                      "Was it compiled to keep global loads in the first-level cache? 1 or 0.")
        .def_readonly("cluster_dim_must_be_set", &FunctionAttributes::cluster_dim_must_be_set,
                      "Does a launch need a cluster size? 1 or 0.")
        .def_readonly("required_cluster_width", &FunctionAttributes::required_cluster_width,
                      "The blocks of a cluster along x that it requires; 0: none are.")
        .def_readonly("required_cluster_height", &FunctionAttributes::required_cluster_height,
                      "The blocks of a cluster along y that it requires; 0: none are.")
        .def_readonly("required_cluster_depth", &FunctionAttributes::required_cluster_depth,
                      "The blocks of a cluster along z that it requires; 0: none are.")
        .def_readonly("cluster_scheduling_policy_preference",
                      &FunctionAttributes::cluster_scheduling_policy_preference,
                      "How clusters are placed: 0 default, 1 spread, 2 load balancing.")
        .def_readonly("non_portable_cluster_size_allowed",
                      &FunctionAttributes::non_portable_cluster_size_allowed,
                      "May a cluster have more than 8 blocks? 1 or 0.")
        .def_readonly("preferred_shared_memory_carveout",
                      &FunctionAttributes::preferred_shared_memory_carveout,
                      "The share of the first-level cache wanted as shared memory, in per cent; -1: no wish.")
        .def("__repr__", [](const FunctionAttributes& self) {
            return "FunctionAttributes(shared_size=" + std::to_string(self.shared_size) +
                   ", const_size=" + std::to_string(self.const_size) +
                   ", local_size=" + std::to_string(self.local_size) +
                   ", max_threads_per_block=" + std::to_string(self.max_threads_per_block) +
                   ", registers=" + std::to_string(self.registers) +
                   ", max_dynamic_shared_size=" + std::to_string(self.max_dynamic_shared_size) + ")";
        });
}

}  // namespace

void bind_kernels(py::module_& m) {
    bind_descriptions(m);
    py::class_<KernelLaunch, py::smart_holder> launch(
        m, "KernelLaunch",
        R"(A kernel with its grid and block: what kernel[grid, block] gives, to be called with the arguments.

See cudaLaunchKernel: CUDA C++ Programming Guide, "Thread Hierarchy".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> mod = cs.Module("__global__ void set(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x; }")
>>> x = cs.zeros(6, np.int32)
>>> launch = mod.set[2, 3]
>>> launch(x)
>>> x.to_host().tolist()
[0, 0, 0, 1, 1, 1]
)");
    launch
        .def(
            "__call__",
            [](const KernelLaunch& self, const AnyArgs& arguments) {
                run(*self.kernel.get(), self.config, self.stream, arguments);
            },
            R"(Launch the kernel with arguments in the order of its parameters; returns before it has run.

Raises TypeError for a wrong count, kind or element type, OverflowError for a number that does not fit, ValueError for an
array that is closed or elsewhere, CudaError for a grid or block that the device does not have. Nothing is launched then.
What goes wrong in the kernel itself shows when it is waited for. See cudaLaunchKernel: CUDA C++ Programming Guide,
"Kernels".)")
        .def("__repr__", [](const KernelLaunch& self) {
            const Dim3 &grid = self.config.grid, &block = self.config.block;
            const auto text = [](const Dim3& dim) {
                return "(" + std::to_string(dim.x) + ", " + std::to_string(dim.y) + ", " +
                       std::to_string(dim.z) + ")";
            };
            return "<KernelLaunch " + self.kernel.get()->name() + " grid=" + text(grid) +
                   " block=" + text(block) + ">";
        });

    py::class_<core::Kernel, py::smart_holder> kernel(
        m, "Kernel",
        R"(A __global__ function of a Module, by its name: mod.vec_add.

``kernel[grid, block](*args)`` launches it in the current stream of its device; ``kernel[grid, block, stream,
shared_bytes]`` says which stream, and how much dynamic shared memory. Arguments are checked against the kernel's
own signature: pointers take a DeviceArray of their element type (or a page-locked array, or None), scalars a number
that they can hold, structures bytes of their size (or a structured NumPy scalar).

``grid`` counts blocks and ``block`` threads: an int, or (x, y, z). The launch returns before the kernel has run.

See cudaLaunchKernel: CUDA C++ Programming Guide, "Kernels" and "Thread Hierarchy".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> mod = cs.Module("__global__ void twice(float* x, int n) {"
...                 " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }")
>>> x = cs.to_device(np.ones(4, np.float32))
>>> mod.twice[1, 32](x, 4)
>>> x.to_host()
array([2., 2., 2., 2.], dtype=float32)
)");
    kernel
        .def("__getitem__", configure, py::arg("key"),
             "The kernel with a grid and a block, to be called: kernel[grid, block, stream, shared_bytes], "
             "of which "
             "the last two may be left out.")
        .def(
            "__call__",
            [](const core::Kernel& self, const AnyArgs&, const AnyKeywords&) -> py::typing::NoReturn {
                throw core::WrongKind(self.name() + ": a launch needs a grid and a block: " + self.name() +
                                      "[grid, block](...)");
            },
            "Refused: a launch is kernel[grid, block](...).")
        .def(
            "launch",
            [](const KernelPtr& self, const AnyArgs& arguments, const GridLike& grid, const GridLike& block,
               const StreamLike& stream, const IntLike& shared, const std::optional<double>& duration) {
                LaunchConfig config;
                config.grid = parse_dim(grid, "grid");
                config.block = parse_dim(block, "block");
                config.dynamic_shared_bytes = parse_shared(shared);
                config.duration_ns = parse_duration(duration);
                run(*self, config, parse_stream(stream, self->device()), arguments);
            },
            py::kw_only(), py::arg("grid"), py::arg("block"), py::arg("stream") = py::none(),
            py::arg("shared") = 0, py::arg("duration") = py::none(),
            R"(Launch the kernel, as kernel[grid, block, stream, shared](*args) does.

Parameters
----------
grid, block : int or tuple of int
    Blocks of the grid and threads of a block: an int, or (x, y, z).
stream : Stream, optional
    The current stream of the kernel's device unless given.
shared : int
    Dynamic shared memory of a block, in bytes.
duration : float, optional
    How many seconds the kernel takes on a simulated device; a GPU takes no notice.

Errors are those of KernelLaunch.__call__. See cudaLaunchKernel: CUDA C++ Programming Guide, "Kernels".

Examples
--------
>>> import cuscope as cs
>>> mod = cs.Module("__global__ void nothing() {}")
>>> with cs.Device("host:0"):
...     start = cs.Event().record()
...     mod.nothing.launch(grid=1, block=32, duration=0.002)
...     stop = cs.Event().record()
...     stop.synchronize()
...     stop - start >= 2
True
)")
        .def_property_readonly("name", &core::Kernel::name, "As its source calls it.")
        .def_property_readonly(
            "parameters",
            [](const core::Kernel& self) -> py::typing::Tuple<Parameter, py::ellipsis> {
                py::tuple parameters(self.parameters().size());
                for (std::size_t i = 0; i < parameters.size(); ++i) {
                    parameters[i] = py::cast(self.parameters()[i].parameter);
                }
                return parameters;
            },
            "What it takes, a Parameter each.")
        .def_property_readonly("device", &core::Kernel::device, "The device that it was loaded on.")
        .def_property_readonly(
            "attributes",
            [](const core::Kernel& self) {
                try {
                    return without_gil([&] { return self.attributes(); });
                } catch (const std::exception&) {
                    return FunctionAttributes{};  // of a lost device; properties do not fail
                }
            },
            "What it needs of a device. See cudaFuncGetAttributes. All zeros if the device is lost.")
        .def_property(
            "max_dynamic_shared",
            [](const core::Kernel& self) {
                try {
                    return without_gil([&] { return self.attributes().max_dynamic_shared_size; });
                } catch (const std::exception&) {
                    return 0;
                }
            },
            [](const core::Kernel& self, const IntLike& bytes) {
                const std::size_t size = parse_size(bytes, "max_dynamic_shared");
                if (size > std::numeric_limits<int>::max()) {
                    throw std::invalid_argument("max_dynamic_shared: " + std::to_string(size) +
                                                " is more than any device has; see "
                                                "device.properties.shared_memory_per_block_optin");
                }
                without_gil([&] { self.set_max_dynamic_shared(static_cast<int>(size)); });
            },
            "How many bytes of dynamic shared memory a launch may ask for; more than 48 KiB has to be set, "
            "up to "
            "device.properties.shared_memory_per_block_optin. See cudaFuncSetAttribute: CUDA C++ Programming "
            "Guide, \"Shared Memory\".")
        .def(
            "occupancy",
            [](const core::Kernel& self, const IntLike& threads, const IntLike& shared_bytes) {
                const int block = parse_threads(threads, "block", 1);
                const std::size_t shared = parse_size(shared_bytes, "shared");
                return without_gil([&] { return self.occupancy(block, shared); });
            },
            py::arg("block"), py::arg("shared") = 0,
            R"(How many blocks of so many threads, with so many bytes of dynamic shared memory, a multiprocessor holds.

Raises ValueError for less than one thread. See cudaOccupancyMaxActiveBlocksPerMultiprocessor.

>>> import cuscope as cs
>>> mod = cs.Module("__global__ void nothing() {}")
>>> mod.nothing.occupancy(256) >= 1
True
)")
        .def(
            "best_block_size",
            [](const core::Kernel& self, const IntLike& shared_bytes, const IntLike& most) {
                const int limit = parse_threads(most, "limit", 0);
                const std::size_t shared = parse_size(shared_bytes, "shared");
                return without_gil([&] { return self.best_block_size(shared, limit); });
            },
            py::arg("shared") = 0, py::arg("limit") = 0,
            R"((grid, block): the smallest grid that fills the device, with the block size that fills it best.

``shared`` are bytes of dynamic shared memory, ``limit`` the most threads of a block (0: no limit). See
cudaOccupancyMaxPotentialBlockSize.

>>> import cuscope as cs
>>> mod = cs.Module("__global__ void nothing() {}")
>>> grid, block = mod.nothing.best_block_size(limit=128)
>>> block <= 128
True
)")
        .def("__repr__", [](const core::Kernel& self) {
            return "<Kernel " + core::signature(self.name(), self.parameters()) + " on " +
                   self.device()->name() + ">";
        });
    make_launches_fast(kernel, launch);
}

}  // namespace cuscope::bindings
