// The table of the attributes of launches, streams and kernel nodes (cudaLaunchAttributeID). Both runtimes,
// the bindings and the raw contract read it. A new attribute whose value is a number needs no other line of
// C++ for the contract.
#pragma once

namespace cuscope {

// The field of LaunchAttribute that holds an attribute's value.
enum class LaunchValue {
    none,
    number,              // value
    window,              // window
    cluster,             // cluster
    event,               // event, event_flags
    programmatic_event,  // event, event_flags, trigger_at_block_start
    domain_map,          // default_domain, remote_domain
};

// The objects that take an attribute.
enum class LaunchScope { nothing, launches, streams, streams_and_launches, nodes };

// X(name, number, name in CUDA, field of the value, objects that take it, value of a stream before it is set,
//   what a number out of range is called in an error, smallest and largest number)
// A launch and a node of a graph take the same attributes, but `nodes` is for nodes alone. Numbers without a
// name for the error are not checked by the table.
#define CUSCOPE_LAUNCH_ATTRIBUTES(X)                                                                        \
    X(ignore, 0, Ignore, none, nothing, 0, nullptr, 0, 0)                                                   \
    X(access_policy_window, 1, AccessPolicyWindow, window, streams_and_launches, 0, nullptr, 0, 0)          \
    X(cooperative, 2, Cooperative, number, launches, 0, nullptr, 0, 0)                                      \
    X(synchronization_policy, 3, SynchronizationPolicy, number, streams, -1, "a synchronization policy", 1, \
      4)                                                                                                    \
    X(cluster_dimension, 4, ClusterDimension, cluster, launches, 0, nullptr, 0, 0)                          \
    X(cluster_scheduling_policy_preference, 5, ClusterSchedulingPolicyPreference, number, launches, 0,      \
      "a cluster scheduling policy", 0, 2)                                                                  \
    X(programmatic_stream_serialization, 6, ProgrammaticStreamSerialization, number, launches, 0, nullptr,  \
      0, 0)                                                                                                 \
    X(programmatic_event, 7, ProgrammaticEvent, programmatic_event, launches, 0, nullptr, 0, 0)             \
    X(priority, 8, Priority, number, streams_and_launches, 0, nullptr, 0, 0)                                \
    X(mem_sync_domain_map, 9, MemSyncDomainMap, domain_map, streams_and_launches, 0, nullptr, 0, 0)         \
    X(mem_sync_domain, 10, MemSyncDomain, number, streams_and_launches, 0,                                  \
      "a memory synchronization domain", 0, 1)                                                              \
    X(preferred_cluster_dimension, 11, PreferredClusterDimension, cluster, launches, 0, nullptr, 0, 0)      \
    X(launch_completion_event, 12, LaunchCompletionEvent, event, launches, 0, nullptr, 0, 0)                \
    X(device_updatable_kernel_node, 13, DeviceUpdatableKernelNode, number, nodes, 0, nullptr, 0, 0)         \
    X(preferred_shared_memory_carveout, 14, PreferredSharedMemoryCarveout, number, launches, 0,             \
      "a shared memory carveout", 0, 100)                                                                   \
    X(nvlink_util_centric_scheduling, 16, NvlinkUtilCentricScheduling, number, launches, 0,                 \
      "NVLink-centric scheduling", 0, 1)

enum class LaunchAttributeId : int {
#define CUSCOPE_ROW(name, number, ...) name = (number),
    CUSCOPE_LAUNCH_ATTRIBUTES(CUSCOPE_ROW)
#undef CUSCOPE_ROW
};

struct LaunchAttributeRow {
    LaunchAttributeId id = LaunchAttributeId::ignore;
    LaunchValue value = LaunchValue::none;
    LaunchScope scope = LaunchScope::nothing;
    int unset = 0;               // the number that a stream has before it is set
    const char* what = nullptr;  // for errors; null: the table has no range
    int least = 0, most = 0;

    constexpr bool of_streams() const {
        return scope == LaunchScope::streams || scope == LaunchScope::streams_and_launches;
    }
};

inline constexpr LaunchAttributeRow launch_attributes[] = {
#define CUSCOPE_ROW(name, number, cuda, value, scope, unset, what, least, most) \
    {LaunchAttributeId::name, LaunchValue::value, LaunchScope::scope, (unset), (what), (least), (most)},
    CUSCOPE_LAUNCH_ATTRIBUTES(CUSCOPE_ROW)
#undef CUSCOPE_ROW
};

// The row of an attribute; for a number that is no attribute, a row that nothing takes. Its value counts as a
// number then, so that a runtime that knows the attribute gets it.
constexpr LaunchAttributeRow launch_attribute_row(LaunchAttributeId id) {
    for (const LaunchAttributeRow& row : launch_attributes)
        if (row.id == id) return row;
    return {id, LaunchValue::number};
}

}  // namespace cuscope
