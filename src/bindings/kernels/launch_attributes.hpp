// Attributes of launches and streams beyond grid and block, from Python's arguments.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

// The attributes and the objects that they refer to. Kept as long as a launch may use them.
struct LaunchExtras {
    std::vector<LaunchAttribute> attributes;
    std::vector<SharedOwner<core::Event>> events;
    std::vector<SharedOwner<core::DeviceMemory>> memory;
};
using LaunchExtrasPtr = std::shared_ptr<const LaunchExtras>;

struct WindowObject {
    AccessPolicyWindow window;
    SharedOwner<core::DeviceMemory> memory;  // empty for a plain address
    core::DevicePtr device;                  // null for a plain address
};

// The keyword arguments of a launch.
struct LaunchKeywords {
    bool cooperative;
    const OptionalGrid& cluster;
    const OptionalGrid& preferred_cluster;
    const OptionalText& cluster_scheduling_policy;
    const OptionalInt& priority;
    bool programmatic_stream_serialization;
    const EventLike& programmatic_event;
    bool trigger_at_block_start;
    const EventLike& launch_completion_event;
    const OptionalText& mem_sync_domain;
    const OptionalMap& mem_sync_domain_map;
    const WindowLike& access_policy_window;
    const OptionalInt& preferred_shared_memory_carveout;
    bool nvlink_util_centric_scheduling;
};

// Null if no attribute is given. Sets the cluster and the cooperative flag in `config`.
LaunchExtrasPtr parse_extras(const LaunchKeywords& keywords, const core::DevicePtr& device,
                             LaunchConfig* config);

// A list of words for an enumeration: a word stands for its position plus `first`.
template <std::size_t N>
using Words = std::array<const char*, N>;
int parse_word(py::handle value, const char* what, const char* const* words, std::size_t count, int first);
template <std::size_t N>
int parse_word(py::handle value, const char* what, const Words<N>& words, int first = 0) {
    return parse_word(value, what, words.data(), N, first);
}

inline constexpr Words<3> scheduling_policies{"default", "spread", "load_balancing"};
inline constexpr Words<4> synchronization_policies{"auto", "spin", "yield", "blocking_sync"};  // from 1
inline constexpr Words<2> sync_domains{"default", "remote"};
inline constexpr Words<3> access_properties{"normal", "streaming", "persisting"};

int parse_int(py::handle value, const char* what);
LaunchAttribute window_attribute(const WindowObject& window);
LaunchAttribute domain_map_attribute(py::handle map);

void bind_launch_attributes(py::module_& m);

}  // namespace cuscope::bindings
