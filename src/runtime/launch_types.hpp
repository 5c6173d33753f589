// Plain types of the contract for launches: attributes of launches, streams and functions. The numbers equal
// CUDA's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/launch_attributes.hpp"

namespace cuscope {

using StreamHandle = struct StreamT*;
using EventHandle = struct EventT*;
using KernelHandle = struct KernelT*;

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
    bool operator==(const Dim3&) const = default;
};

// cudaAccessProperty
enum class AccessProperty : int { normal = 0, streaming = 1, persisting = 2 };

// cudaAccessPolicyWindow
struct AccessPolicyWindow {
    void* base = nullptr;
    std::size_t bytes = 0;
    float hit_ratio = 0;
    AccessProperty hit = AccessProperty::normal, miss = AccessProperty::normal;
};

// cudaLaunchAttribute. The table of launch_attributes.hpp tells which field an id uses.
struct LaunchAttribute {
    LaunchAttributeId id = LaunchAttributeId::ignore;
    int value = 0;          // for attributes that are a single number
    Dim3 cluster{0, 0, 0};  // cluster_dimension, preferred_cluster_dimension
    AccessPolicyWindow window{};
    EventHandle event = nullptr;  // programmatic_event, launch_completion_event
    int event_flags = 0;
    bool trigger_at_block_start = false;                  // programmatic_event
    unsigned char default_domain = 0, remote_domain = 1;  // mem_sync_domain_map
};

// cudaFuncAttribute
enum class FunctionAttribute : int {
    max_dynamic_shared_size = 8,
    preferred_shared_memory_carveout = 9,
    cluster_dim_must_be_set = 10,
    required_cluster_width = 11,
    required_cluster_height = 12,
    required_cluster_depth = 13,
    non_portable_cluster_size_allowed = 14,
    cluster_scheduling_policy_preference = 15,
};

// cudaFuncCache
enum class FunctionCache : int { prefer_none = 0, prefer_shared = 1, prefer_l1 = 2, prefer_equal = 3 };

// cudaFuncAttributes
struct FunctionAttributes {
    std::size_t shared_size = 0, const_size = 0, local_size = 0;  // bytes
    int max_threads_per_block = 0;
    int registers = 0;
    int ptx_version = 0, binary_version = 0;
    int cache_mode_ca = 0;
    int max_dynamic_shared_size = 0;  // bytes
    int preferred_shared_memory_carveout = 0;
    int cluster_dim_must_be_set = 0;
    int required_cluster_width = 0, required_cluster_height = 0, required_cluster_depth = 0;
    int cluster_scheduling_policy_preference = 0;
    int non_portable_cluster_size_allowed = 0;
};

namespace flags {
inline constexpr unsigned occupancy_default = 0x0, occupancy_disable_caching_override = 0x1;
}  // namespace flags

// cudaLaunchConfig_t, and seven fields that only the simulation uses (from duration_ns on).
struct LaunchConfig {
    Dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    StreamHandle stream = nullptr;
    bool cooperative = false;           // all blocks run at once, for grid.sync()
    Dim3 cluster{0, 0, 0};              // in blocks; all zero: the kernel's own size, or no clusters
    std::int64_t duration_ns = -1;      // the kernel's duration; -1: not given
    std::int64_t array_bytes = -1;      // the bytes of its array arguments; -1: unknown
    bool brief = false;                 // it takes microseconds and waits for nothing; see Effect::brief()
    KernelHandle checked = nullptr;     // the kernel in an image that checks; null: checks do not run
    bool unchecked = false;             // checks leave this launch out
    bool profiled = false;              // a counted launch fills in LaunchCounts::profile
    std::uint64_t profiled_blocks = 0;  // the blocks that it counts; 0: all of them
    std::span<const LaunchAttribute> attributes;  // further attributes; the last of each id counts
};

// All attributes of a launch, for a kernel node: a node has no fields for any of them.
inline std::vector<LaunchAttribute> attributes_of(const LaunchConfig& config) {
    std::vector<LaunchAttribute> attributes(config.attributes.begin(), config.attributes.end());
    if (config.cooperative) attributes.push_back({.id = LaunchAttributeId::cooperative, .value = 1});
    if (config.cluster.x != 0)
        attributes.push_back({.id = LaunchAttributeId::cluster_dimension, .cluster = config.cluster});
    return attributes;
}

}  // namespace cuscope
