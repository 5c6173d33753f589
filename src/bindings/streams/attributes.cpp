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

void bind_property(Classes& classes, const NumberAttribute& row) {
    if (row.words.empty()) {
        classes.stream.def_property(
            row.stream_property, [row](const StreamObject& self) { return attribute_of(self, row.id).value; },
            [row](const StreamObject& self, const IntLike& number) {
                set_number(self, row.id, parse_int(number, row.stream_property));
            },
            row.doc);
        return;
    }
    classes.stream.def_property(
        row.stream_property,
        [row](const StreamObject& self) {
            const int place = attribute_of(self, row.id).value - row.first;
            return row.words[static_cast<std::size_t>(
                std::clamp(place, 0, static_cast<int>(row.words.size()) - 1))];
        },
        [row](const StreamObject& self, const Text& word) {
            set_number(self, row.id, parse_word(word, row.stream_property, row.words, row.first));
        },
        row.doc);
}

}  // namespace

void bind_stream_attributes(Classes& classes) {
    classes.stream.def_property(
        "priority", &StreamObject::priority,
        [](const StreamObject& self, const IntLike& priority) {
            set_number(self, LaunchAttributeId::priority, parse_int(priority, "priority"));
        },
        "The priority: smaller numbers go first. A new value applies to launches from now on, and is "
        "clamped to "
        "device.stream_priority_range. See cudaStreamSetAttribute.");
    for (const NumberAttribute& row : number_attributes)
        if (row.stream_property != nullptr) bind_property(classes, row);
    classes.stream
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
