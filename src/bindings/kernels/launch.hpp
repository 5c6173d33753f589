// Configured launches, and the launch itself.
#pragma once

#include <atomic>

#include "bindings/kernels/launch_attributes.hpp"
#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

using KernelPtr = std::shared_ptr<core::Kernel>;

// kernel[grid, block, stream, shared]: the part of a launch that is checked before the arguments are known.
struct KernelLaunch {
    SharedOwner<core::Kernel> kernel;
    LaunchConfig config;
    StreamObjectPtr stream;    // null: the current one at the time of the call
    LaunchExtrasPtr extras{};  // owns the attributes that `config` points to; null: no attributes
};

Dim3 parse_dim(py::handle value, const char* what);
std::size_t parse_shared(py::handle value);
// kernel[key].
KernelLaunchObject configure(const KernelPtr& kernel, const LaunchKey& key);
void run(const core::Kernel& kernel, const LaunchConfig& config, const StreamObjectPtr& stream,
         const py::tuple& values);

// The counts of a counted launch.
struct Counts {
    LaunchCounts counts;
    std::string kernel;
    std::vector<std::string> names;  // of its parameters
};
Counts count(const core::Kernel& kernel, const LaunchConfig& config, const StreamObjectPtr& stream,
             const py::tuple& values);

// Kernel.profile(): a cuscope.Profile. `blocks`: how many blocks to count; None: all.
py::object profile(const KernelLaunch& launch, const py::tuple& values, const py::object& blocks);

// While %%profile runs a cell, Python's launches are profiled. Profiles this one if so; else returns false.
bool profiled_in_place(const KernelLaunch& launch, const py::tuple& values);
namespace detail {
inline std::atomic<bool> launches_are_profiled{false};
}
void bind_profiles(py::module_& m);

// The answer of Kernel.explain_time().
struct TimeOfKernel {
    KernelTime time;
    std::string kernel;
};
TimeOfKernel explain_time(const core::Kernel& kernel, const LaunchConfig& config,
                          const StreamObjectPtr& stream, const py::tuple& values);

void bind_checks(py::module_& m);
void bind_counts(py::module_& m);
void bind_kernel_times(py::module_& m);
void bind_function_attributes(py::module_& m);
void bind_kernel_attributes(py::class_<core::Kernel, py::smart_holder>& kernel);

// The Python object of a launch, which can be called without pybind11's dispatch.
py::object fast_object(KernelLaunch&& launch);

// Makes calls of a KernelLaunch avoid pybind11's dispatch. To be called once, when the type is complete.
void make_launches_fast(py::handle launch_type);

}  // namespace cuscope::bindings
