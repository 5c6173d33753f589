// What a launch is configured with, and the launch itself.
#pragma once

#include "bindings/kernels/launch_attributes.hpp"
#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

using KernelPtr = std::shared_ptr<core::Kernel>;

// kernel[grid, block, stream, shared]: everything that is checked before the arguments are known.
struct KernelLaunch {
    SharedOwner<core::Kernel> kernel;
    LaunchConfig config;
    StreamObjectPtr stream;    // null: the current one when it is called
    LaunchExtrasPtr extras{};  // what config.attributes points to; null: no attributes
};

Dim3 parse_dim(py::handle value, const char* what);
std::size_t parse_shared(py::handle value);
KernelLaunch configure(const KernelPtr& kernel, const LaunchKey& key);
void run(const core::Kernel& kernel, const LaunchConfig& config, const StreamObjectPtr& stream,
         const py::tuple& values);

// What a counted launch did.
struct Counts {
    LaunchCounts counts;
    std::string kernel;
    std::vector<std::string> names;  // of its parameters
};
Counts count(const core::Kernel& kernel, const LaunchConfig& config, const StreamObjectPtr& stream,
             const py::tuple& values);

void bind_counts(py::module_& m);
void bind_function_attributes(py::module_& m);
void bind_kernel_attributes(py::class_<core::Kernel, py::smart_holder>& kernel);

// The object that stands for it, whose calls go around pybind11's dispatch.
py::object fast_object(KernelLaunch&& launch);

// Lets calls of a KernelLaunch, and kernel[grid, block], go around pybind11's dispatch. Called once, when
// both types are complete.
void make_launches_fast(py::handle kernel_type, py::handle launch_type);

}  // namespace cuscope::bindings
