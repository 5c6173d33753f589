#include "bindings/kernels/launch_attributes.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <sstream>
#include <variant>

#include "bindings/kernels/launch.hpp"

namespace cuscope::bindings {
namespace {

LaunchAttribute number_attribute(LaunchAttributeId id, int value) {
    LaunchAttribute attribute;
    attribute.id = id;
    attribute.value = value;
    return attribute;
}

std::shared_ptr<core::Event> parse_event(py::handle value, const char* what, const core::DevicePtr& device) {
    if (!py::isinstance<EventObject>(value)) {
        throw core::WrongKind(std::string(what) + ": takes an Event or None, not " +
                              Py_TYPE(value.ptr())->tp_name);
    }
    const auto& object = value.cast<const EventObject&>();
    const std::shared_ptr<core::Event> event = object.open();
    event->check_usable();
    if ((object.flags & flags::event_disable_timing) == 0) {
        throw std::invalid_argument(std::string(what) +
                                    ": an event that a launch records has no time of its own: make it with "
                                    "cuscope.Event(timing=False)");
    }
    if (object.device != device) {
        throw std::invalid_argument(std::string(what) + ": the event is of " + object.device->name() +
                                    ", the kernel on " + device->name());
    }
    return event;
}

std::string window_text(const WindowObject& self) {
    std::ostringstream text;
    text << "AccessPolicyWindow(0x" << std::hex << reinterpret_cast<std::uintptr_t>(self.window.base)
         << std::dec << ", nbytes=" << self.window.bytes << ", hit_ratio=" << self.window.hit_ratio
         << ", hit='" << access_properties[static_cast<std::size_t>(self.window.hit)] << "', miss='"
         << access_properties[static_cast<std::size_t>(self.window.miss)] << "')";
    return text.str();
}

std::shared_ptr<WindowObject> make_window(const Scalar& array, const OptionalInt& nbytes, double hit_ratio,
                                          const Text& hit, const Text& miss) {
    AccessPolicyWindow window;
    core::DevicePtr device;
    std::shared_ptr<core::DeviceMemory> memory;
    if (py::isinstance<DeviceArray>(array)) {
        const auto& given = array.cast<const DeviceArray&>();
        const core::DeviceSpan span = given.span();
        window.base = const_cast<void*>(static_cast<const void*>(span.pointer()));
        window.bytes = span.bytes;
        memory = span.memory;
        device = given.device;
    } else if (is_integer(array)) {
        window.base = reinterpret_cast<void*>(parse_size(array, "array"));
        if (nbytes.is_none()) throw std::invalid_argument("nbytes: an address needs a size in bytes");
    } else {
        throw core::WrongKind(std::string("array: takes a DeviceArray or an address, not ") +
                              Py_TYPE(array.ptr())->tp_name);
    }
    if (!nbytes.is_none()) {
        const std::size_t bytes = parse_size(nbytes, "nbytes");
        if (device && bytes > window.bytes) {
            throw std::invalid_argument("nbytes: " + std::to_string(bytes) + " is more than the array has, " +
                                        std::to_string(window.bytes));
        }
        window.bytes = bytes;
    }
    if (!(hit_ratio >= 0 && hit_ratio <= 1)) {
        throw std::invalid_argument("hit_ratio: " + std::to_string(hit_ratio) +
                                    " is no ratio; allowed is 0 to 1");
    }
    window.hit_ratio = static_cast<float>(hit_ratio);
    window.hit = static_cast<AccessProperty>(parse_word(hit, "hit", access_properties));
    window.miss = static_cast<AccessProperty>(parse_word(miss, "miss", access_properties));
    if (window.miss == AccessProperty::persisting) {
        throw std::invalid_argument("miss: 'persisting' is for hits; allowed are 'normal' and 'streaming'");
    }
    return std::make_shared<WindowObject>(
        WindowObject{window, SharedOwner<core::DeviceMemory>(std::move(memory)), device});
}

}  // namespace

int parse_word(py::handle value, const char* what, std::span<const char* const> words, int first) {
    const std::size_t count = words.size();
    std::string allowed;
    for (std::size_t i = 0; i < count; ++i) {
        allowed += i == 0 ? "'" : i + 1 == count ? "' or '" : "', '";
        allowed += words[i];
    }
    allowed += "'";
    if (PyUnicode_Check(value.ptr()) == 0) {
        throw core::WrongKind(std::string(what) + ": takes " + allowed + ", not " +
                              Py_TYPE(value.ptr())->tp_name);
    }
    const auto text = value.cast<std::string>();
    for (std::size_t i = 0; i < count; ++i) {
        if (text == words[i]) return static_cast<int>(i) + first;
    }
    throw std::invalid_argument(std::string(what) + ": '" + text + "' is not allowed; allowed is " + allowed);
}

int parse_int(py::handle value, const char* what) {
    const py::object number = as_integer(value, what);
    int overflow = 0;
    const long long parsed = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0 || parsed < std::numeric_limits<int>::min() ||
        parsed > std::numeric_limits<int>::max()) {
        throw std::invalid_argument(std::string(what) + ": " + py::str(number).cast<std::string>() +
                                    " does not fit an int of 32 bits");
    }
    return static_cast<int>(parsed);
}

LaunchAttribute window_attribute(const WindowObject& window) {
    LaunchAttribute attribute;
    attribute.id = LaunchAttributeId::access_policy_window;
    attribute.window = window.window;
    return attribute;
}

LaunchAttribute domain_map_attribute(py::handle map) {
    constexpr const char* what = "mem_sync_domain_map";
    if (PySequence_Check(map.ptr()) == 0 || PySequence_Size(map.ptr()) != 2) {
        PyErr_Clear();
        throw core::WrongKind(std::string(what) + ": takes a pair of ints, (default, remote), not " +
                              py::repr(map).cast<std::string>());
    }
    const auto pair = py::reinterpret_borrow<py::sequence>(map);
    LaunchAttribute attribute;
    attribute.id = LaunchAttributeId::mem_sync_domain_map;
    unsigned char* const domains[] = {&attribute.default_domain, &attribute.remote_domain};
    for (std::size_t i = 0; i < 2; ++i) {
        const int domain = parse_int(pair[i], what);
        if (domain < 0 || domain > 255) {
            throw std::invalid_argument(std::string(what) + ": " + std::to_string(domain) +
                                        " is no domain; allowed is 0 to one less than the number that "
                                        "the device has (device.attribute(126))");
        }
        *domains[i] = static_cast<unsigned char>(domain);
    }
    return attribute;
}

namespace {

int parse_number(bool value, const char*, LaunchAttributeId) { return value ? 1 : 0; }

int parse_number(const OptionalInt& value, const char* what, LaunchAttributeId) {
    return parse_int(value, what);
}

int parse_number(const OptionalText& value, const char* what, LaunchAttributeId id) {
    const auto* const known = std::find_if(std::begin(number_attributes), std::end(number_attributes),
                                           [id](const NumberAttribute& row) { return row.id == id; });
    return parse_word(value, what, known->words, known->first);
}

bool is_given(bool value) { return value; }
bool is_given(const py::object& value) { return !value.is_none(); }

// Adds the attribute of a keyword whose value is a number.
template <LaunchAttributeId id, class Value>
void add_number(std::vector<LaunchAttribute>& list, const Value& value, const char* what) {
    if constexpr (id != LaunchAttributeId::ignore) {
        if (!is_given(value)) return;
        // Two keywords may be names of one attribute.
        std::erase_if(list, [](const LaunchAttribute& other) { return other.id == id; });
        list.push_back(number_attribute(id, parse_number(value, what, id)));
    }
}

}  // namespace

LaunchExtrasPtr parse_extras(const LaunchKeywords& given, const core::DevicePtr& device,
                             LaunchConfig* config) {
    config->cooperative = given.cooperative;
    if (!given.cluster.is_none()) {
        config->cluster = parse_dim(given.cluster, "cluster");
        if (config->cluster.x == 0 || config->cluster.y == 0 || config->cluster.z == 0) {
            throw std::invalid_argument("cluster: a cluster has 1 block or more along each axis");
        }
    }
    auto extras = std::make_shared<LaunchExtras>();
    auto& list = extras->attributes;
#define CUSCOPE_KEYWORD(type, name, otherwise, id) add_number<LaunchAttributeId::id>(list, given.name, #name);
    LAUNCH_KEYWORDS(CUSCOPE_KEYWORD)
#undef CUSCOPE_KEYWORD
    if (!given.preferred_cluster.is_none()) {
        LaunchAttribute attribute;
        attribute.id = LaunchAttributeId::preferred_cluster_dimension;
        attribute.cluster = parse_dim(given.preferred_cluster, "preferred_cluster");
        list.push_back(attribute);
    }
    const auto add_event = [&](py::handle value, const char* what, LaunchAttributeId id, bool at_start) {
        if (value.is_none()) return;
        LaunchAttribute attribute;
        attribute.id = id;
        std::shared_ptr<core::Event> event = parse_event(value, what, device);
        attribute.event = event->handle();
        attribute.trigger_at_block_start = at_start;
        extras->events.emplace_back(std::move(event));
        list.push_back(attribute);
    };
    add_event(given.programmatic_event, "programmatic_event", LaunchAttributeId::programmatic_event,
              given.trigger_at_block_start);
    add_event(given.launch_completion_event, "launch_completion_event",
              LaunchAttributeId::launch_completion_event, false);
    if (!given.mem_sync_domain_map.is_none()) list.push_back(domain_map_attribute(given.mem_sync_domain_map));
    if (!given.access_policy_window.is_none()) {
        if (!py::isinstance<WindowObject>(given.access_policy_window)) {
            throw core::WrongKind(std::string("access_policy_window: takes an AccessPolicyWindow, not ") +
                                  Py_TYPE(given.access_policy_window.ptr())->tp_name);
        }
        const auto& window = given.access_policy_window.cast<const WindowObject&>();
        if (window.device && window.device != device) {
            throw std::invalid_argument("access_policy_window: its array is on " + window.device->name() +
                                        ", the kernel on " + device->name());
        }
        list.push_back(window_attribute(window));
        extras->memory.push_back(window.memory);
    }
    if (list.empty()) return nullptr;
    config->attributes = list;
    return extras;
}

void bind_launch_attributes(py::module_& m) {
    py::class_<WindowObject, py::smart_holder>(
        m, "AccessPolicyWindow",
        R"(A range of device memory for which the second-level cache follows a policy of its own.

Use it for kernels launched with ``access_policy_window=``, or for a stream. A simulated device checks the values and
otherwise ignores them.

Parameters
----------
array : DeviceArray or int
    The memory: an array, or an address, which needs ``nbytes``.
nbytes : int, optional
    The size in bytes. Default: the whole array. At most device.attribute(109).
hit_ratio : float
    The share of the window's accesses that are hits, 0 to 1.
hit : str
    The policy for hits: 'normal', 'streaming' or 'persisting'.
miss : str
    The policy for the other accesses: 'normal' or 'streaming'.

Raises TypeError and ValueError for other values. See cudaAccessPolicyWindow: CUDA C++ Programming Guide, "L2 Access
Control".

Examples
--------
>>> import cuscope as cs
>>> x = cs.zeros(1024)
>>> window = cs.AccessPolicyWindow(x, hit_ratio=0.5)
>>> window.nbytes, window.hit, window.miss
(4096, 'persisting', 'streaming')
)")
        .def(py::init(&make_window), py::arg("array"), py::arg("nbytes") = py::none(), py::kw_only(),
             py::arg("hit_ratio") = 1.0, py::arg("hit") = "persisting", py::arg("miss") = "streaming")
        .def_property_readonly(
            "base",
            [](const WindowObject& self) { return reinterpret_cast<std::uintptr_t>(self.window.base); },
            "The first address of the window.")
        .def_property_readonly(
            "nbytes", [](const WindowObject& self) { return self.window.bytes; }, "The size in bytes.")
        .def_property_readonly(
            "hit_ratio", [](const WindowObject& self) { return self.window.hit_ratio; },
            "The share of its accesses that are hits.")
        .def_property_readonly(
            "hit",
            [](const WindowObject& self) {
                return access_properties[static_cast<std::size_t>(self.window.hit)];
            },
            "The policy for hits.")
        .def_property_readonly(
            "miss",
            [](const WindowObject& self) {
                return access_properties[static_cast<std::size_t>(self.window.miss)];
            },
            "The policy for the other accesses.")
        .def("__repr__", window_text);
}

}  // namespace cuscope::bindings
