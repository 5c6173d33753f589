// Attributes of launches and streams beyond grid and block, from Python's arguments.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "bindings/kernels/launch_keywords.hpp"
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

// Null if no attribute is given. Sets the cluster and the cooperative flag in `config`.
LaunchExtrasPtr parse_extras(const LaunchKeywords& keywords, const core::DevicePtr& device,
                             LaunchConfig* config);

int parse_int(py::handle value, const char* what);
LaunchAttribute window_attribute(const WindowObject& window);
LaunchAttribute domain_map_attribute(py::handle map);

void bind_launch_attributes(py::module_& m);

}  // namespace cuscope::bindings
