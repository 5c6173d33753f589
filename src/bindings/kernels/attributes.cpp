// The attributes of kernels, and how many of their blocks a device holds at once.
#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "bindings/kernels/launch.hpp"

namespace cuscope::bindings {
namespace {

// A number of threads, at least `least`. Whether it is too large for the device is left to the runtime.
int parse_threads(py::handle value, const char* what, int least) {
    const std::size_t threads = parse_size(value, what);
    if (threads < static_cast<std::size_t>(least) || threads > std::numeric_limits<int>::max()) {
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(threads) +
                                    " is no number of threads; allowed is " + std::to_string(least) +
                                    " to the limit of the device (device.properties.max_threads_per_block)");
    }
    return static_cast<int>(threads);
}

FunctionAttributes attributes_or_none(const core::Kernel& kernel) {
    try {
        return without_gil([&] { return kernel.attributes(); });
    } catch (const std::exception&) {
        return {};  // on a lost device; reading a property must not fail
    }
}

int attribute_or(const core::Kernel& kernel, int FunctionAttributes::*attribute, int otherwise) {
    const FunctionAttributes attributes = attributes_or_none(kernel);
    return attributes.max_threads_per_block == 0 ? otherwise : attributes.*attribute;
}

LaunchConfig cluster_config(py::handle block, py::handle shared) {
    LaunchConfig config;
    config.block = parse_dim(block, "block");
    config.dynamic_shared_bytes = parse_shared(shared);
    return config;
}

}  // namespace

void bind_function_attributes(py::module_& m) {
    py::class_<FunctionAttributes>(m, "FunctionAttributes",
                                   R"(The resources that a kernel needs: the fields of cudaFuncAttributes.

You get it from Kernel.attributes. A simulated device has no registers and no local memory: their numbers are 0 there.

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
                      "The static shared memory of a block, in bytes.")
        .def_readonly("const_size", &FunctionAttributes::const_size, "__constant__ memory, in bytes.")
        .def_readonly("local_size", &FunctionAttributes::local_size,
                      "The local memory of a thread, in bytes.")
        .def_readonly("max_threads_per_block", &FunctionAttributes::max_threads_per_block,
                      "The most threads that a block of this kernel may have.")
        .def_readonly("registers", &FunctionAttributes::registers, "The registers of a thread.")
        .def_readonly("ptx_version", &FunctionAttributes::ptx_version,
                      "The virtual architecture that it was compiled for: 90 is 9.0.")
        .def_readonly("binary_version", &FunctionAttributes::binary_version,
                      "The real architecture that it was compiled for: 90 is 9.0.")
        .def_readonly("max_dynamic_shared_size", &FunctionAttributes::max_dynamic_shared_size,
                      "The dynamic shared memory that a launch may request, in bytes.")
        .def_readonly("cache_mode_ca", &FunctionAttributes::cache_mode_ca,
                      "Was it compiled to keep global loads in the first-level cache? 1 or 0.")
        .def_readonly("cluster_dim_must_be_set", &FunctionAttributes::cluster_dim_must_be_set,
                      "Does a launch need a cluster size? 1 or 0.")
        .def_readonly("required_cluster_width", &FunctionAttributes::required_cluster_width,
                      "The number of blocks along x of the clusters that it requires; 0: it requires none.")
        .def_readonly("required_cluster_height", &FunctionAttributes::required_cluster_height,
                      "The number of blocks along y of the clusters that it requires; 0: it requires none.")
        .def_readonly("required_cluster_depth", &FunctionAttributes::required_cluster_depth,
                      "The number of blocks along z of the clusters that it requires; 0: it requires none.")
        .def_readonly("cluster_scheduling_policy_preference",
                      &FunctionAttributes::cluster_scheduling_policy_preference,
                      "How clusters are placed: 0 default, 1 spread, 2 load balancing.")
        .def_readonly("non_portable_cluster_size_allowed",
                      &FunctionAttributes::non_portable_cluster_size_allowed,
                      "May a cluster have more than 8 blocks? 1 or 0.")
        .def_readonly(
            "preferred_shared_memory_carveout", &FunctionAttributes::preferred_shared_memory_carveout,
            "The preferred share of the first-level cache for shared memory, in per cent; -1: no preference.")
        .def("__repr__", [](const FunctionAttributes& self) {
            return "FunctionAttributes(shared_size=" + std::to_string(self.shared_size) +
                   ", const_size=" + std::to_string(self.const_size) +
                   ", local_size=" + std::to_string(self.local_size) +
                   ", max_threads_per_block=" + std::to_string(self.max_threads_per_block) +
                   ", registers=" + std::to_string(self.registers) +
                   ", max_dynamic_shared_size=" + std::to_string(self.max_dynamic_shared_size) + ")";
        });
}

void bind_kernel_attributes(py::class_<core::Kernel, py::smart_holder>& kernel) {
    kernel
        .def_property_readonly(
            "attributes",
            [](const core::Kernel& self) {
                try {
                    return without_gil([&] { return self.attributes(); });
                } catch (const std::exception&) {
                    return FunctionAttributes{};  // on a lost device; reading a property must not fail
                }
            },
            "The resources that it needs. See cudaFuncGetAttributes. All zeros if the device is lost.")
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
                    throw std::invalid_argument(
                        "max_dynamic_shared: " + std::to_string(size) +
                        " is more than any device has; see device.properties.shared_memory_per_block_optin");
                }
                without_gil([&] { self.set_max_dynamic_shared(static_cast<int>(size)); });
            },
            "The dynamic shared memory that a launch may request, in bytes. Set it for more than 48 KiB, up "
            "to "
            "device.properties.shared_memory_per_block_optin. See cudaFuncSetAttribute: CUDA C++ Programming "
            "Guide, \"Shared Memory\".")
        .def(
            "occupancy",
            [](const core::Kernel& self, const IntLike& threads, const IntLike& shared_bytes,
               bool disable_caching_override) {
                const int block = parse_threads(threads, "block", 1);
                const std::size_t shared = parse_size(shared_bytes, "shared");
                return without_gil([&] { return self.occupancy(block, shared, disable_caching_override); });
            },
            py::arg("block"), py::arg("shared") = 0, py::kw_only(),
            py::arg("disable_caching_override") = false,
            R"(How many blocks of the kernel a multiprocessor holds, by block size and bytes of dynamic shared memory.

``disable_caching_override`` keeps global loads cached, even if that lowers the result. Raises ValueError for less than
one thread. See cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags.

>>> import cuscope as cs
>>> mod = cs.Module("__global__ void nothing() {}")
>>> mod.nothing.occupancy(256) >= 1
True
)")
        .def(
            "best_block_size",
            [](const core::Kernel& self, const SharedLike& shared, const IntLike& most) {
                const int limit = parse_threads(most, "limit", 0);
                if (PyIndex_Check(shared.ptr()) != 0 || PyCallable_Check(shared.ptr()) == 0) {
                    const std::size_t bytes = parse_size(shared, "shared");
                    return without_gil([&] { return self.best_block_size(bytes, limit); });
                }
                return self.best_block_size(
                    [&](int block) { return parse_size(shared(block), "shared"); }, limit,
                    [&](int block, std::size_t bytes) {
                        return without_gil([&] { return self.occupancy(block, bytes); });
                    });
            },
            py::arg("shared") = 0, py::arg("limit") = 0,
            R"((grid, block): the block size that fills the device best, and the smallest grid that fills it.

``shared`` is the dynamic shared memory of a block in bytes, or a function that returns it for a number of threads;
exceptions of the function are raised. ``limit`` is the largest block size (0: no limit). See
cudaOccupancyMaxPotentialBlockSize and cudaOccupancyMaxPotentialBlockSizeVariableSMem.

>>> import cuscope as cs
>>> mod = cs.Module("__global__ void nothing() {}")
>>> grid, block = mod.nothing.best_block_size(limit=128)
>>> block <= 128
True
>>> mod.nothing.best_block_size(lambda threads: 200 * threads)[1] < 1024
True
)")
        .def(
            "available_shared",
            [](const core::Kernel& self, const IntLike& threads, const IntLike& held) {
                const int block = parse_threads(threads, "block", 1);
                const int blocks = parse_threads(held, "blocks", 1);
                return without_gil([&] { return self.available_shared(blocks, block); });
            },
            py::arg("block"), py::arg("blocks") = 1,
            R"(How many bytes of dynamic shared memory a block can have if a multiprocessor is to hold ``blocks`` blocks.

To use more than Kernel.max_dynamic_shared, set that first. Raises CudaError (cudaErrorInvalidValue) if a multiprocessor
cannot hold that many blocks. See cudaOccupancyAvailableDynamicSMemPerBlock.

>>> import cuscope as cs
>>> mod = cs.Module("__global__ void nothing() {}")
>>> mod.nothing.available_shared(256, blocks=8) < mod.nothing.available_shared(256)
True
)")
        .def(
            "max_active_clusters",
            [](const core::Kernel& self, const GridLike& cluster, const GridLike& block,
               const IntLike& shared, const OptionalGrid& grid) {
                LaunchConfig config = cluster_config(block, shared);
                config.cluster = parse_dim(cluster, "cluster");
                config.grid = grid.is_none() ? config.cluster : parse_dim(grid, "grid");
                return without_gil([&] { return self.max_active_clusters(config); });
            },
            py::arg("cluster"), py::arg("block"), py::arg("shared") = 0, py::arg("grid") = py::none(),
            R"(How many clusters the device holds at once, by blocks per cluster and threads per block.

Raises CudaError for cluster sizes that the kernel does not support. See cudaOccupancyMaxActiveClusters.

>>> import cuscope as cs
>>> with cs.Device("host:0"):
...     cs.Module("__global__ void nothing() {}").nothing.max_active_clusters(2, 1024)
132
)")
        .def(
            "max_cluster_size",
            [](const core::Kernel& self, const GridLike& block, const IntLike& shared) {
                const LaunchConfig config = cluster_config(block, shared);
                return without_gil([&] { return self.max_cluster_size(config); });
            },
            py::arg("block"), py::arg("shared") = 0,
            R"(The most blocks that a cluster of the kernel can have, by threads per block.

It is larger with non_portable_cluster_size_allowed. See cudaOccupancyMaxPotentialClusterSize.

>>> import cuscope as cs
>>> with cs.Device("host:0"):
...     cs.Module("__global__ void nothing() {}").nothing.max_cluster_size(256)
8
)")
        .def_property(
            "preferred_shared_memory_carveout",
            [](const core::Kernel& self) {
                return attribute_or(self, &FunctionAttributes::preferred_shared_memory_carveout, -1);
            },
            [](const core::Kernel& self, const IntLike& value) {
                const int carveout = parse_int(value, "preferred_shared_memory_carveout");
                without_gil([&] {
                    self.set_attribute(FunctionAttribute::preferred_shared_memory_carveout, carveout);
                });
            },
            "The preferred share of the first-level cache for shared memory, in per cent; -1: no preference. "
            "A hint. Setting raises "
            "CudaError for another number. See cudaFuncSetAttribute: CUDA C++ Programming Guide, \"Shared "
            "Memory\".")
        .def_property(
            "required_cluster",
            [](const core::Kernel& self) -> std::optional<std::tuple<int, int, int>> {
                const FunctionAttributes a = attributes_or_none(self);
                if (a.required_cluster_width == 0) return std::nullopt;
                return std::tuple{a.required_cluster_width, a.required_cluster_height,
                                  a.required_cluster_depth};
            },
            [](const core::Kernel& self, const OptionalGrid& value) {
                Dim3 cluster{0, 0, 0};
                if (!value.is_none()) {
                    cluster = parse_dim(value, "required_cluster");
                    if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0) {
                        throw std::invalid_argument(
                            "required_cluster: a cluster has 1 block or more along each axis; None requires "
                            "none");
                    }
                }
                without_gil([&] { self.set_required_cluster(cluster); });
            },
            "The cluster size in blocks (x, y, z) of every launch of the kernel; None: each launch sets its "
            "own. Fixed where the "
            "source has __cluster_dims__: setting it raises CudaError (cudaErrorNotPermitted). See "
            "cudaFuncSetAttribute: CUDA C++ Programming Guide, \"Thread Block Clusters\".")
        .def_property(
            "cluster_scheduling_policy",
            [](const core::Kernel& self) {
                const int policy =
                    attribute_or(self, &FunctionAttributes::cluster_scheduling_policy_preference, 0);
                return scheduling_policies[static_cast<std::size_t>(std::clamp(policy, 0, 2))];
            },
            [](const core::Kernel& self, const Text& value) {
                const int policy = parse_word(value, "cluster_scheduling_policy", scheduling_policies);
                without_gil([&] {
                    self.set_attribute(FunctionAttribute::cluster_scheduling_policy_preference, policy);
                });
            },
            "How the blocks of a cluster are placed: 'default', 'spread' or 'load_balancing'. See "
            "cudaFuncSetAttribute.")
        .def_property(
            "non_portable_cluster_size_allowed",
            [](const core::Kernel& self) {
                return attribute_or(self, &FunctionAttributes::non_portable_cluster_size_allowed, 0) != 0;
            },
            [](const core::Kernel& self, bool allowed) {
                without_gil([&] {
                    self.set_attribute(FunctionAttribute::non_portable_cluster_size_allowed, allowed ? 1 : 0);
                });
            },
            "May clusters have more than 8 blocks? Not every device with clusters supports more. See "
            "cudaFuncSetAttribute: CUDA C++ Programming Guide, \"Thread Block Clusters\".")
        .def(
            "set_cache_config",
            [](const core::Kernel& self, const Text& preference) {
                constexpr Words<4> words{"prefer_none", "prefer_shared", "prefer_l1", "prefer_equal"};
                const auto config = static_cast<FunctionCache>(parse_word(preference, "preference", words));
                without_gil([&] { self.set_cache_config(config); });
            },
            py::arg("preference"),
            R"(Prefer shared memory or first-level cache: 'prefer_none', 'prefer_shared', 'prefer_l1' or 'prefer_equal'.

This is a hint; preferred_shared_memory_carveout has finer steps. Raises ValueError for another word. See
cudaFuncSetCacheConfig: CUDA Runtime API, "Execution Control".

>>> import cuscope as cs
>>> cs.Module("__global__ void nothing() {}").nothing.set_cache_config("prefer_shared")
)");
}

}  // namespace cuscope::bindings
