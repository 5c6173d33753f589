// The keyword arguments that configure(), launch() and count() share, and the attributes of launches and
// streams whose value is a number. An attribute whose value is a number needs no other line in the bindings.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

// A list of words for an enumeration: a word stands for its position plus `first`.
template <std::size_t N>
using Words = std::array<const char*, N>;
int parse_word(py::handle value, const char* what, std::span<const char* const> words, int first = 0);

inline constexpr Words<3> scheduling_policies{"default", "spread", "load_balancing"};
inline constexpr Words<4> synchronization_policies{"auto", "spin", "yield", "blocking_sync"};
inline constexpr Words<2> sync_domains{"default", "remote"};
inline constexpr Words<3> access_properties{"normal", "streaming", "persisting"};

// An attribute whose value is a number.
struct NumberAttribute {
    LaunchAttributeId id;
    std::span<const char* const> words;  // the names of its numbers in Python; empty: Python has the number
    int first;                           // the number of the first word
    const char* stream_property;         // of Stream; null if streams do not have the attribute
    const char* doc;                     // of the property
};

inline constexpr NumberAttribute number_attributes[] = {
    {LaunchAttributeId::cluster_scheduling_policy_preference, scheduling_policies, 0, nullptr, nullptr},
    {LaunchAttributeId::synchronization_policy, synchronization_policies, 1, "synchronization_policy",
     "How the host waits for the stream: 'auto', 'spin', 'yield' or 'blocking_sync'. See "
     "cudaStreamSetAttribute."},
    {LaunchAttributeId::mem_sync_domain, sync_domains, 0, "mem_sync_domain",
     "The memory synchronization domain of its kernels' fences: 'default' or 'remote'. See "
     "cudaStreamSetAttribute: CUDA C++ Programming Guide, \"Memory Synchronization Domains\"."},
};

// X(type, name, default, attribute): the keywords behind grid, block, stream, shared and duration. A bool
// sets the attribute to 1, an OptionalInt to its number, an OptionalText to the number of its word. `ignore`:
// the keyword is treated by itself in parse_extras().
#define LAUNCH_KEYWORDS(X)                                                                         \
    X(bool, cooperative, false, ignore)                                                            \
    X(OptionalGrid, cluster, py::none(), ignore)                                                   \
    X(OptionalGrid, preferred_cluster, py::none(), ignore)                                         \
    X(OptionalText, cluster_scheduling_policy, py::none(), cluster_scheduling_policy_preference)   \
    X(OptionalInt, priority, py::none(), priority)                                                 \
    X(bool, programmatic, false, programmatic_stream_serialization)                                \
    X(bool, programmatic_stream_serialization, false, programmatic_stream_serialization)           \
    X(EventLike, programmatic_event, py::none(), ignore)                                           \
    X(bool, trigger_at_block_start, false, ignore)                                                 \
    X(EventLike, launch_completion_event, py::none(), ignore)                                      \
    X(OptionalText, mem_sync_domain, py::none(), mem_sync_domain)                                  \
    X(OptionalMap, mem_sync_domain_map, py::none(), ignore)                                        \
    X(WindowLike, access_policy_window, py::none(), ignore)                                        \
    X(OptionalInt, preferred_shared_memory_carveout, py::none(), preferred_shared_memory_carveout) \
    X(bool, nvlink_util_centric_scheduling, false, nvlink_util_centric_scheduling)

struct LaunchKeywords {
#define CUSCOPE_KEYWORD(type, name, ...) const type& name;
    LAUNCH_KEYWORDS(CUSCOPE_KEYWORD)
#undef CUSCOPE_KEYWORD
};

// The parameters of a bound function, their names for configure_by_name(), and py::arg for each.
#define LAUNCH_KEYWORD_PARAMETER(type, name, ...) , const type& name
#define LAUNCH_KEYWORD_NAME(type, name, ...) name,
#define LAUNCH_KEYWORD_ARGUMENT(type, name, otherwise, ...) , py::arg(#name) = otherwise
#define LAUNCH_PARAMETERS                                                                         \
    const GridLike &grid, const GridLike &block, const StreamLike &stream, const IntLike &shared, \
        const std::optional<double>&duration LAUNCH_KEYWORDS(LAUNCH_KEYWORD_PARAMETER)
#define LAUNCH_NAMES \
    grid, block, stream, shared, duration, { LAUNCH_KEYWORDS(LAUNCH_KEYWORD_NAME) }
#define LAUNCH_ARGUMENTS                                       \
    py::kw_only(), py::arg("grid"), py::arg("block"),          \
        py::arg("stream") = py::none(), py::arg("shared") = 0, \
        py::arg("duration") = py::none() LAUNCH_KEYWORDS(LAUNCH_KEYWORD_ARGUMENT)

inline constexpr const char* configure_doc =
    R"(The kernel with all options of a launch. Call the result with the arguments, as often as you want.

Parameters
----------
grid, block : int or tuple of int
    The blocks of the grid and the threads of a block: an int, or (x, y, z).
stream : Stream, optional
    Default: the current stream of the kernel's device at the time of the call.
shared : int
    The dynamic shared memory of a block, in bytes. Beyond 48 KiB, set Kernel.max_dynamic_shared first.
duration : float, optional
    The seconds that the kernel takes on a simulated device; ignored on a GPU.
cooperative : bool
    All blocks run at once and may wait for each other, with cooperative_groups' grid.sync().
cluster : int or tuple of int, optional
    The blocks of a cluster, which run at once and can access each other's shared memory. The grid must be a multiple of
    it. At most 8 blocks, or 16 with Kernel.non_portable_cluster_size_allowed.
preferred_cluster : int or tuple of int, optional
    A multiple of ``cluster`` that is used where there is room.
cluster_scheduling_policy : str, optional
    'default', 'spread' or 'load_balancing'.
priority : int, optional
    The priority of this launch, instead of the stream's. Smaller numbers go first; clamped to
    device.stream_priority_range.
programmatic, programmatic_stream_serialization : bool
    Two names of one option: the kernel may start as soon as the kernel before it in the stream calls
    cudaTriggerProgrammaticLaunchCompletion; it waits for that kernel with cudaGridDependencySynchronize.
programmatic_event : Event, optional
    An event without timing, recorded when all blocks have triggered; with ``trigger_at_block_start``, when the last
    block starts.
launch_completion_event : Event, optional
    An event without timing, recorded when all blocks have started.
mem_sync_domain : str, optional
    'default' or 'remote': the memory synchronization domain of its fences.
mem_sync_domain_map : (int, int), optional
    The domains that 'default' and 'remote' stand for.
access_policy_window : AccessPolicyWindow, optional
    How the second-level cache treats a range of memory.
preferred_shared_memory_carveout : int, optional
    The preferred share of the first-level cache for shared memory, in per cent; -1: no preference.
nvlink_util_centric_scheduling : bool
    Place blocks so that NVLink is used well.

Raises TypeError or ValueError, which names the argument. If the device refuses an option, the launch raises CudaError (see
KernelLaunch.__call__). See cudaLaunchKernelExC and cudaLaunchAttributeID: CUDA C++ Programming Guide, "Thread Block
Clusters", "Grid Synchronization", "Programmatic Dependent Launch".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> mod = cs.Module("__global__ void add(int* x, int v) { atomicAdd(x, v); }")
>>> x = cs.zeros(1, np.int32)
>>> add = mod.add.configure(grid=2, block=32, cooperative=True)
>>> add(x, 1)
>>> add(x, 2)
>>> int(x.to_host()[0])
192
)";

}  // namespace cuscope::bindings
