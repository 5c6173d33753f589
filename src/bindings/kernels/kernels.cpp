// Kernels, configured launches, and the launch itself.
#include <pybind11/stl.h>

#include <cmath>
#include <limits>

#include "bindings/kernels/launch.hpp"

namespace cuscope::bindings {
namespace {

std::int64_t parse_duration(const std::optional<double>& seconds) {
    if (!seconds) return -1;
    if (!(*seconds >= 0 && *seconds <= 1e6)) {
        throw std::invalid_argument("duration: " + std::to_string(*seconds) +
                                    " s is not allowed; allowed is 0 to 1e6");
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
        .def_readonly("name", &Parameter::name, "The name in the source; '' if unknown.")
        .def_readonly("type", &Parameter::type, "The type in the source; '' if unknown.")
        .def_property_readonly(
            "kind",
            [](const Parameter& self) {
                return self.kind == ParameterKind::pointer  ? "pointer"
                       : self.kind == ParameterKind::scalar ? "scalar"
                                                            : "opaque";
            },
            "'pointer', 'scalar' or 'opaque': a structure, or a parameter of which only the size is known.")
        .def_readonly("is_const", &Parameter::is_const, "Does it point to memory that the kernel only reads?")
        .def_readonly("element", &Parameter::element,
                      "NumPy's name of the scalar's type, or of a pointer's target; '' if NumPy has none.")
        .def_readonly("size", &Parameter::size, "The size of the parameter itself, in bytes.")
        .def("__repr__", [](const Parameter& self) {
            return "Parameter(name='" + self.name + "', type='" + self.type +
                   "', size=" + std::to_string(self.size) + ")";
        });
}

KernelLaunch configure_by_name(const KernelPtr& kernel, const GridLike& grid, const GridLike& block,
                               const StreamLike& stream, const IntLike& shared,
                               const std::optional<double>& duration, const LaunchKeywords& keywords) {
    KernelLaunch launch{
        SharedOwner<core::Kernel>(kernel), {}, parse_stream(stream, kernel->device()), nullptr};
    launch.config.grid = parse_dim(grid, "grid");
    launch.config.block = parse_dim(block, "block");
    launch.config.dynamic_shared_bytes = parse_shared(shared);
    launch.config.duration_ns = parse_duration(duration);
    launch.extras = parse_extras(keywords, kernel->device(), &launch.config);
    return launch;
}

}  // namespace

void bind_kernels(py::module_& m) {
    bind_descriptions(m);
    bind_checks(m);
    bind_counts(m);
    bind_kernel_times(m);
    bind_profiles(m);
    bind_function_attributes(m);
    py::class_<KernelLaunch, py::smart_holder> launch(
        m, "KernelLaunch",
        R"(A kernel with its grid and block, made by kernel[grid, block]. Call it with the arguments.

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
                if (profiled_in_place(self, arguments)) return;
                run(*self.kernel.get(), self.config, self.stream, arguments);
            },
            R"(Launch the kernel with arguments in the order of its parameters; returns before it has run.

Raises TypeError for a wrong number of arguments or a wrong type, OverflowError for a number that does not fit,
ValueError for a closed array or one on another device, CudaError for a grid or block that the device does not support.
Nothing is launched then. Errors inside the kernel are raised when you wait for it. See cudaLaunchKernel: CUDA C++
Programming Guide, "Kernels".)")
        .def("__repr__", [](const KernelLaunch& self) {
            const Dim3 &grid = self.config.grid, &block = self.config.block;
            const auto text = [](const Dim3& dim) {
                return "(" + std::to_string(dim.x) + ", " + std::to_string(dim.y) + ", " +
                       std::to_string(dim.z) + ")";
            };
            return "<KernelLaunch " + self.kernel.get()->name() + " grid=" + text(grid) +
                   " block=" + text(block) + (self.config.cooperative ? " cooperative" : "") +
                   (self.config.cluster.x != 0 ? " cluster=" + text(self.config.cluster) : "") + ">";
        });

    py::class_<core::Kernel, py::smart_holder> kernel(
        m, "Kernel",
        R"(A __global__ function of a Module, by its name: mod.vec_add.

``kernel[grid, block](*args)`` launches it in the current stream of its device; ``kernel[grid, block, stream,
shared_bytes]`` also sets the stream and the size of dynamic shared memory. The arguments are checked against the
kernel's signature. For a pointer, pass a DeviceArray of its element type (or a page-locked array, or None); for a
scalar, a number in its range; for a structure, one element of a structured dtype (or bytes of its size); for a vector
such as float4, a tuple or a NumPy array of its elements.

``grid`` is in blocks and ``block`` in threads: an int, or (x, y, z). The launch returns before the kernel has run.

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
             "The kernel with a grid and a block, ready to be called: kernel[grid, block, stream, "
             "shared_bytes]. You may leave out the last two.")
        .def(
            "__call__",
            [](const core::Kernel& self, const AnyArgs&, const AnyKeywords&) -> py::typing::NoReturn {
                throw core::WrongKind(self.name() + ": a launch needs a grid and a block: " + self.name() +
                                      "[grid, block](...)");
            },
            "Raises TypeError. Write kernel[grid, block](...).")
        .def(
            "configure",
            [](const KernelPtr& self, LAUNCH_PARAMETERS) {
                return KernelLaunchObject(fast_object(configure_by_name(self, LAUNCH_NAMES)));
            },
            LAUNCH_ARGUMENTS, configure_doc)
        .def(
            "launch",
            [](const KernelPtr& self, const AnyArgs& arguments, LAUNCH_PARAMETERS) {
                const KernelLaunch configured = configure_by_name(self, LAUNCH_NAMES);
                if (profiled_in_place(configured, arguments)) return;
                run(*self, configured.config, configured.stream, arguments);
            },
            LAUNCH_ARGUMENTS,
            R"(Launch the kernel, like kernel[grid, block, stream, shared](*args).

The keywords are the options of configure(): grid and block, stream and shared, duration (in seconds, on a simulated
device), and further ones such as cooperative, cluster and priority.

Raises the errors of configure() and KernelLaunch.__call__. See cudaLaunchKernelExC: CUDA C++ Programming Guide, "Kernels".

Examples
--------
>>> import cuscope as cs
>>> mod = cs.Module("__global__ void nothing() {}")
>>> with cs.Device("host:0"):
...     start = cs.Event().record()
...     mod.nothing.launch(grid=1, block=32, duration=0.002, priority=-1)
...     stop = cs.Event().record()
...     stop.synchronize()
...     stop - start >= 2
True
)")
        .def(
            "count",
            [](const KernelPtr& self, const AnyArgs& arguments, LAUNCH_PARAMETERS) {
                const KernelLaunch configured = configure_by_name(self, LAUNCH_NAMES);
                return count(*self, configured.config, configured.stream, arguments);
            },
            LAUNCH_ARGUMENTS,
            R"(Launch the kernel as launch() does, wait for it, and return the operations of its threads, as Counts.

This works on simulated devices, for kernels that were compiled from source: cs.Module(source) or
cs.Module.from_file('kernel.cu'). When you first count a kernel of a module, the source is compiled a second time, with
hooks where it accesses memory; the result is cached on disk as other compiled kernels are. The launch does its work. Its
simulated time is that of an earlier launch with these sizes, or comes from the bytes of the arguments.

Raises the errors of launch(), CudaError for errors inside the kernel, CudaError (cudaErrorNotSupported) on a real GPU,
ValueError for a kernel without source. See docs/counting.md for the exact meaning of the counts; CUDA C++ Programming
Guide, "Maximize Memory Throughput".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> with cs.Device("host:0"):
...     mod = cs.Module("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }")
...     x = cs.to_device(np.ones(64, np.float32))
...     counts = mod.twice.count(x, grid=1, block=64)
>>> counts.global_loads, counts.global_load_requests, counts.global_load_sectors
(64, 2, 8)
)")
        .def(
            "profile",
            [](const KernelPtr& self, const AnyArgs& arguments, LAUNCH_PARAMETERS,
               const OptionalInt& blocks) {
                const KernelLaunch configured = configure_by_name(self, LAUNCH_NAMES);
                return ProfileObject(profile(configured, arguments, blocks));
            },
            LAUNCH_ARGUMENTS, py::arg("blocks") = py::none(),
            R"(Launch the kernel as launch() does, wait for it, and return its counters by source line, as Profile.

The counters are those of count(), divided by the lines of the source, with estimated instructions, branches, and the time
of the launch. Profile explains them in words, and draws the accesses of a warp. On a simulated device the launch does its
work. On a GPU it does so, too, but the numbers come from a simulated device that gets copies of the arguments.

Parameters
----------
grid, block, stream, shared, and the other options of configure()
blocks : int, optional
    Count only so many blocks, spread over the grid. All blocks run. Default: count all of them.

Raises the errors of launch() and count(), and CudaError (cudaErrorInvalidValue) for `blocks` with a kernel that uses
__device__ variables or clusters. See docs/profiling.md; Nsight Compute shows such numbers for a GPU.

Examples
--------
>>> import numpy as np, cuscope as cs
>>> with cs.Device("host:0"):
...     mod = cs.Module("""__global__ void every_other(const float* x, float* y) {
...         y[threadIdx.x] = x[2 * threadIdx.x];
...     }""")
...     profile = mod.every_other.profile(cs.zeros(64, np.float32), cs.zeros(32, np.float32), grid=1, block=32)
>>> [(line.number, line.load_sectors, line.store_sectors) for line in profile.lines if line.requests]
[(2, 8, 4)]
)")
        .def(
            "explain_time",
            [](const KernelPtr& self, const AnyArgs& arguments, LAUNCH_PARAMETERS) {
                const KernelLaunch configured = configure_by_name(self, LAUNCH_NAMES);
                return explain_time(*self, configured.config, configured.stream, arguments);
            },
            LAUNCH_ARGUMENTS,
            R"(Launch the kernel as launch() does, wait for it, and return the parts of its simulated time, as KernelTime.

This works on simulated devices, for kernels that were compiled from source. The result says whether memory, the L2
cache, shared memory, the issue of instructions, latency, atomic operations or the launch itself bounds the time, with
numbers. The launch does its work and takes its time as any other.

Raises the errors of launch(), CudaError (cudaErrorNotSupported) on a real GPU, ValueError for a kernel whose time does
not come from counts: without source, with clusters, __device__ variables or clocks, or with CUSCOPE_KERNEL_TIME=bytes.
See docs/kernel-time.md; CUDA C++ Best Practices Guide, "Performance Metrics".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> with cs.Device("host:0"):
...     mod = cs.Module("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }")
...     time = mod.twice.explain_time(cs.zeros(64, np.float32), grid=1, block=64)
>>> time.bound
'launch'
)")
        .def_property_readonly("name", &core::Kernel::name, "The name in the source.")
        .def_property_readonly(
            "parameters",
            [](const core::Kernel& self) -> py::typing::Tuple<Parameter, py::ellipsis> {
                py::tuple parameters(self.parameters().size());
                for (std::size_t i = 0; i < parameters.size(); ++i) {
                    parameters[i] = py::cast(self.parameters()[i].parameter);
                }
                return parameters;
            },
            "Its parameters, as Parameter objects.")
        .def_property_readonly("device", &core::Kernel::device, "The device that it was loaded on.")
        .def("__repr__", [](const core::Kernel& self) {
            return "<Kernel " + core::signature(self.name(), self.parameters()) + " on " +
                   self.device()->name() + ">";
        });
    bind_kernel_attributes(kernel);
    make_launches_fast(launch);
}

}  // namespace cuscope::bindings
