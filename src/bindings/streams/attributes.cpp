// Attributes of streams: the defaults of the launches in them.
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/kernels/launch_attributes.hpp"

namespace cuscope::bindings {
namespace {

// A closed stream or a lost device has no attributes. Reading a property must not fail, so they get defaults.
LaunchAttribute attribute_of(const StreamObject& self, LaunchAttributeId id) {
    LaunchAttribute otherwise;
    if (!self.stream) return otherwise;
    const core::StreamPtr stream = self.open();
    try {
        return without_gil([&] { return stream->attribute(id); });
    } catch (const std::exception&) {
        return otherwise;
    }
}

void set_attribute(const StreamObject& self, LaunchAttributeId id, LaunchAttribute value) {
    const core::StreamPtr stream = self.open();
    value.id = id;
    without_gil([&] { stream->set_attribute(id, value); });
}

void set_number(const StreamObject& self, LaunchAttributeId id, int number) {
    LaunchAttribute value;
    value.value = number;
    set_attribute(self, id, value);
}

template <std::size_t N>
const char* word_of(const StreamObject& self, LaunchAttributeId id, const Words<N>& words, int first) {
    const int place = attribute_of(self, id).value - first;
    return words[static_cast<std::size_t>(std::clamp(place, 0, static_cast<int>(N) - 1))];
}

}  // namespace

void bind_stream_attributes(Classes& classes) {
    classes.stream
        .def_property(
            "priority", &StreamObject::priority,
            [](const StreamObject& self, const IntLike& priority) {
                set_number(self, LaunchAttributeId::priority, parse_int(priority, "priority"));
            },
            "The priority: smaller numbers go first. A new value applies to launches from now on, and is "
            "clamped to "
            "device.stream_priority_range. See cudaStreamSetAttribute.")
        .def_property(
            "synchronization_policy",
            [](const StreamObject& self) {
                return word_of(self, LaunchAttributeId::synchronization_policy, synchronization_policies, 1);
            },
            [](const StreamObject& self, const Text& policy) {
                set_number(self, LaunchAttributeId::synchronization_policy,
                           parse_word(policy, "synchronization_policy", synchronization_policies, 1));
            },
            "How the host waits for the stream: 'auto', 'spin', 'yield' or 'blocking_sync'. See "
            "cudaStreamSetAttribute.")
        .def_property(
            "mem_sync_domain",
            [](const StreamObject& self) {
                return word_of(self, LaunchAttributeId::mem_sync_domain, sync_domains, 0);
            },
            [](const StreamObject& self, const Text& domain) {
                set_number(self, LaunchAttributeId::mem_sync_domain,
                           parse_word(domain, "mem_sync_domain", sync_domains));
            },
            "The memory synchronization domain of its kernels' fences: 'default' or 'remote'. See "
            "cudaStreamSetAttribute: CUDA C++ Programming Guide, \"Memory Synchronization Domains\".")
        .def_property(
            "mem_sync_domain_map",
            [](const StreamObject& self) -> std::pair<int, int> {
                const LaunchAttribute map = attribute_of(self, LaunchAttributeId::mem_sync_domain_map);
                return {map.default_domain, map.remote_domain};
            },
            [](const StreamObject& self, const OptionalMap& map) {
                set_attribute(self, LaunchAttributeId::mem_sync_domain_map, domain_map_attribute(map));
            },
            "The domains that 'default' and 'remote' stand for, as (default, remote). See "
            "cudaStreamSetAttribute: CUDA C++ Programming Guide, \"Memory Synchronization Domains\".")
        .def_property(
            "access_policy_window",
            [](const StreamObject& self) -> std::shared_ptr<WindowObject> {
                const LaunchAttribute set = attribute_of(self, LaunchAttributeId::access_policy_window);
                if (set.window.bytes == 0) return nullptr;
                auto window = std::make_shared<WindowObject>();
                window->window = set.window;
                return window;
            },
            [](const StreamObject& self, const WindowLike& window) {
                if (window.is_none()) {
                    set_attribute(self, LaunchAttributeId::access_policy_window, {});
                    return;
                }
                if (!py::isinstance<WindowObject>(window)) {
                    throw core::WrongKind(
                        std::string("access_policy_window: takes an AccessPolicyWindow or None, not ") +
                        Py_TYPE(window.ptr())->tp_name);
                }
                set_attribute(self, LaunchAttributeId::access_policy_window,
                              window_attribute(window.cast<const WindowObject&>()));
            },
            "How the second-level cache treats a range of memory in its kernels: an AccessPolicyWindow, or "
            "None. See "
            "cudaStreamSetAttribute: CUDA C++ Programming Guide, \"L2 Access Control\".")
        .def(
            "copy_attributes",
            [](const StreamObject& self, const StreamObject& source) {
                const core::StreamPtr to = self.open(), from = source.open();
                without_gil([&] { to->copy_attributes(*from); });
            },
            py::arg("source"),
            R"(Take over the attributes of another stream of the same device.

Raises ValueError for a stream of another device. See cudaStreamCopyAttributes.

>>> import cuscope as cs
>>> one, other = cs.Stream(), cs.Stream()
>>> one.synchronization_policy = "spin"
>>> other.copy_attributes(one)
>>> other.synchronization_policy
'spin'
)");
}

}  // namespace cuscope::bindings
