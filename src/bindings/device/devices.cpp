// Devices, and the current device of a thread.
#include <pybind11/stl.h>

#include <limits>
#include <tuple>
#include <variant>

#include "bindings/support/objects.hpp"
#include "core/error.hpp"
#include "runtime/device_models.hpp"

namespace cuscope::bindings {
namespace {

using core::Device;
using core::DevicePtr;

Limit limit_of(const std::string& name) {
    constexpr const char* names[] = {"stack_size",
                                     "printf_fifo_size",
                                     "malloc_heap_size",
                                     "dev_runtime_sync_depth",
                                     "dev_runtime_pending_launch_count",
                                     "max_l2_fetch_granularity",
                                     "persisting_l2_cache_size"};
    std::string all;
    for (std::size_t i = 0; i < std::size(names); ++i) {
        if (name == names[i]) return static_cast<Limit>(i);
        all += std::string(i == 0 ? "'" : i + 1 == std::size(names) ? "' and '" : "', '") + names[i];
    }
    throw std::invalid_argument("name: '" + name + "' is no limit; there are " + all + "'");
}

struct NamedAttribute {
    const char* name;
    DeviceAttribute attribute;
};
constexpr NamedAttribute named_attributes[] = {
#define CUSCOPE_ATTRIBUTE(attribute) {#attribute, DeviceAttribute::attribute},
    CUSCOPE_ATTRIBUTE(max_threads_per_block) CUSCOPE_ATTRIBUTE(max_block_dim_x) CUSCOPE_ATTRIBUTE(
        max_block_dim_y) CUSCOPE_ATTRIBUTE(max_block_dim_z) CUSCOPE_ATTRIBUTE(max_grid_dim_x)
        CUSCOPE_ATTRIBUTE(max_grid_dim_y) CUSCOPE_ATTRIBUTE(max_grid_dim_z) CUSCOPE_ATTRIBUTE(
            max_shared_memory_per_block) CUSCOPE_ATTRIBUTE(total_constant_memory) CUSCOPE_ATTRIBUTE(warp_size)
            CUSCOPE_ATTRIBUTE(max_pitch) CUSCOPE_ATTRIBUTE(max_registers_per_block) CUSCOPE_ATTRIBUTE(
                clock_rate) CUSCOPE_ATTRIBUTE(texture_alignment) CUSCOPE_ATTRIBUTE(multiprocessor_count)
                CUSCOPE_ATTRIBUTE(kernel_exec_timeout) CUSCOPE_ATTRIBUTE(integrated) CUSCOPE_ATTRIBUTE(
                    can_map_host_memory) CUSCOPE_ATTRIBUTE(compute_mode) CUSCOPE_ATTRIBUTE(concurrent_kernels)
                    CUSCOPE_ATTRIBUTE(ecc_enabled) CUSCOPE_ATTRIBUTE(pci_bus_id) CUSCOPE_ATTRIBUTE(
                        pci_device_id) CUSCOPE_ATTRIBUTE(memory_clock_rate)
                        CUSCOPE_ATTRIBUTE(global_memory_bus_width) CUSCOPE_ATTRIBUTE(
                            l2_cache_size) CUSCOPE_ATTRIBUTE(max_threads_per_multiprocessor)
                            CUSCOPE_ATTRIBUTE(async_engine_count) CUSCOPE_ATTRIBUTE(
                                unified_addressing) CUSCOPE_ATTRIBUTE(texture_pitch_alignment)
                                CUSCOPE_ATTRIBUTE(compute_capability_major) CUSCOPE_ATTRIBUTE(
                                    compute_capability_minor) CUSCOPE_ATTRIBUTE(stream_priorities_supported)
                                    CUSCOPE_ATTRIBUTE(max_shared_memory_per_multiprocessor) CUSCOPE_ATTRIBUTE(
                                        max_registers_per_multiprocessor) CUSCOPE_ATTRIBUTE(managed_memory)
                                        CUSCOPE_ATTRIBUTE(pageable_memory_access) CUSCOPE_ATTRIBUTE(
                                            concurrent_managed_access) CUSCOPE_ATTRIBUTE(cooperative_launch)
                                            CUSCOPE_ATTRIBUTE(max_shared_memory_per_block_optin)
                                                CUSCOPE_ATTRIBUTE(host_register_supported) CUSCOPE_ATTRIBUTE(
                                                    max_blocks_per_multiprocessor)
                                                    CUSCOPE_ATTRIBUTE(reserved_shared_memory_per_block)
                                                        CUSCOPE_ATTRIBUTE(host_register_read_only_supported)
                                                            CUSCOPE_ATTRIBUTE(memory_pools_supported)
#undef CUSCOPE_ATTRIBUTE
};

int attribute_number(const std::variant<int, std::string>& key) {
    if (const int* number = std::get_if<int>(&key)) return *number;
    const std::string& name = std::get<std::string>(key);
    std::string names;
    for (const NamedAttribute& known : named_attributes) {
        if (name == known.name) return static_cast<int>(known.attribute);
        names += names.empty() ? "" : ", ";
        names += known.name;
    }
    throw std::invalid_argument("'" + name + "' is no device attribute; there are " + names +
                                " (and any number of cudaDeviceAttr)");
}

struct MemoryInfo {
    std::size_t free, total;
};

std::string device_text(const Device& device) {
    return "Device('" + device.name() + "', " + device.model() + ")";
}

// As py::init() does it, but another thread may be returning the same device to Python: see type_caster.
void make_device(py::detail::value_and_holder& place, const std::variant<py::str, DevicePtr>& device) {
    DevicePtr found;
    if (const DevicePtr* const same = std::get_if<DevicePtr>(&device)) {
        found = *same;
    } else {
        const std::string name(std::get<py::str>(device));
        found = without_gil([&] { return core::find_device(name); });
    }
    const std::lock_guard lock(detail::making_objects);
    py::detail::initimpl::construct<py::class_<Device, py::smart_holder>>(place, std::move(found), false);
}

void bind_device(py::module_& m, py::class_<Device, py::smart_holder>& bound) {
    py::class_<MemoryInfo>(m, "MemoryInfo", R"(The memory of a device, in bytes; unpacks as (free, total).

You get it from Device.memory_info(). See cudaMemGetInfo.

>>> import cuscope as cs
>>> free, total = cs.Device("host:0").memory_info()
>>> free <= total
True
)")
        .def_readonly("free", &MemoryInfo::free, "The memory that can still be allocated, in bytes.")
        .def_readonly("total", &MemoryInfo::total, "The memory of the device, in bytes.")
        .def("__iter__",
             [](const MemoryInfo& self) -> py::typing::Iterator<py::int_> {
                 return py::iter(py::make_tuple(self.free, self.total));
             })
        .def("__repr__", [](const MemoryInfo& self) {
            return "MemoryInfo(free=" + std::to_string(self.free) + ", total=" + std::to_string(self.total) +
                   ")";
        });

    bound.attr("__doc__") = R"(A device: a GPU ("cuda:0") or a simulated one ("host:0").

``with device:`` makes it the current device of this thread. Two Device objects are equal if they name the same device.

Parameters
----------
device : str or Device
    The name of a device that cuscope.devices() lists.

Raises
------
ValueError
    There is no such device. The message lists the names.

See cudaSetDevice: CUDA C++ Programming Guide, "Multi-Device System".

Examples
--------
>>> import cuscope as cs
>>> cs.Device("host:0").simulated
True
>>> with cs.Device("host:0") as device:
...     device == cs.current_device()
True
)";
    bound.def("__init__", make_device, py::detail::is_new_style_constructor(), py::arg("device").none(false))
        .def_property_readonly("name", &Device::name, R"(Its name: "cuda:0", "host:0".)")
        .def_property_readonly("kind", &Device::kind, R"("cuda" for a GPU, "host" for a simulated device.)")
        .def_property_readonly("ordinal", &Device::ordinal,
                               "The number of the device among the devices of its kind.")
        .def_property_readonly("model", &Device::model,
                               "The name of the model that it is, or that is simulated.")
        .def_property_readonly("simulated", &Device::simulated,
                               "Is it a simulated device, with times from a model?")
        .def_property_readonly(
            "compute_capability",
            [](const Device& self) -> std::pair<int, int> {
                return {self.properties().compute_capability_major,
                        self.properties().compute_capability_minor};
            },
            "The compute capability as (major, minor): it tells the features of the device.")
        .def_property_readonly("properties", &Device::properties,
                               "The properties of the device. See cudaGetDeviceProperties.")
        .def(
            "attribute",
            [](Device& self, const std::variant<int, std::string>& key) {
                const int number = attribute_number(key);
                return without_gil([&] { return self.attribute(number); });
            },
            py::arg("name"), R"(One attribute, by its name or by its number in cudaDeviceAttr.

Raises ValueError for an unknown name (the message lists the names), CudaError (cudaErrorInvalidValue) for an unknown
number. See cudaDeviceGetAttribute.

>>> import cuscope as cs
>>> cs.current_device().attribute("warp_size")
32
)")
        .def(
            "memory_info",
            [](Device& self) {
                const auto [free, total] = without_gil([&] { return self.memory_info(); });
                return MemoryInfo{free, total};
            },
            R"(The free and the total memory, in bytes.

When you drop an array, its memory counts as free once it was given back in stream order. See cudaMemGetInfo.

>>> import cuscope as cs
>>> info = cs.current_device().memory_info()
>>> 0 < info.free <= info.total
True
)")
        .def(
            "limit",
            [](Device& self, const std::string& name) {
                const Limit limit = limit_of(name);
                return without_gil([&] { return self.limit(limit); });
            },
            py::arg("name"),
            R"(A limit, by its name. It is in bytes, or a count.

In bytes: 'stack_size' of a thread, 'printf_fifo_size' and 'malloc_heap_size' for the output and the allocations of
kernels, 'max_l2_fetch_granularity', 'persisting_l2_cache_size'. Counts: 'dev_runtime_sync_depth' and
'dev_runtime_pending_launch_count'. Raises ValueError for another name, CudaError (cudaErrorUnsupportedLimit) for a
limit that the device does not have. See cudaDeviceGetLimit: CUDA C++ Programming Guide, "Call Stack".

>>> import cuscope as cs
>>> cs.current_device().limit("stack_size") > 0
True
)")
        .def(
            "set_limit",
            [](Device& self, const std::string& name, const IntLike& value) {
                const Limit limit = limit_of(name);
                const std::size_t bytes = parse_size(value, name.c_str());
                without_gil([&] { self.set_limit(limit, bytes); });
            },
            py::arg("name"), py::arg("value"),
            R"(Set a limit; the device may round it up. It applies to kernels that you launch from now on.

Set 'printf_fifo_size' and 'malloc_heap_size' before you launch the first kernel that prints or allocates. Raises
ValueError for another name or a negative value, CudaError for a value that the device cannot have, or that comes too
late (cudaErrorInvalidValue). See cudaDeviceSetLimit: CUDA C++ Programming Guide, "Call Stack".

>>> import cuscope as cs
>>> device = cs.current_device()
>>> device.set_limit("stack_size", device.limit("stack_size"))
)")
        .def(
            "reset_persisting_l2_cache",
            [](Device& self) { without_gil([&] { self.reset_persisting_l2_cache(); }); },
            R"(Reset all persisting lines of the second-level cache to normal: see AccessPolicyWindow.

See cudaCtxResetPersistingL2Cache: CUDA C++ Programming Guide, "L2 Access Control".

>>> import cuscope as cs
>>> cs.current_device().reset_persisting_l2_cache()
)")
        .def_property_readonly(
            "stream_priority_range",
            [](Device& self) -> std::pair<int, int> {
                try {
                    return without_gil([&] { return self.stream_priority_range(); });
                } catch (const core::Error&) {
                    return {0, 0};  // a lost device has no priorities, but reading a property must not fail
                }
            },
            "The priorities as (least, greatest); the greatest is the smaller number. See "
            "cudaDeviceGetStreamPriorityRange.")
        .def(
            "can_access_peer",
            [](Device& self, const Device& other) {
                return without_gil([&] { return self.can_access_peer(other); });
            },
            py::arg("other"),
            R"(Can kernels on this device use the memory of the other one? A device is not a peer of itself.

See cudaDeviceCanAccessPeer: CUDA C++ Programming Guide, "Peer-to-Peer Memory Access".

>>> import cuscope as cs
>>> device = cs.current_device()
>>> device.can_access_peer(device)
False
)")
        .def(
            "enable_peer_access",
            [](Device& self, Device& other) { without_gil([&] { self.enable_peer_access(other); }); },
            py::arg("other"),
            R"(Let kernels on this device use the memory of the other one: arrays of any kind, from all pools.

Raises CudaError if the devices are no peers (cudaErrorPeerAccessUnsupported), or if access is already enabled
(cudaErrorPeerAccessAlreadyEnabled). See cudaDeviceEnablePeerAccess: CUDA C++ Programming Guide, "Peer-to-Peer Memory
Access".

>>> import cuscope as cs
>>> here, there = cs.Device("host:0"), cs.add_host_device("h200")
>>> if here.can_access_peer(there):
...     here.enable_peer_access(there)
...     here.disable_peer_access(there)
)")
        .def(
            "disable_peer_access",
            [](Device& self, Device& other) { without_gil([&] { self.disable_peer_access(other); }); },
            py::arg("other"),
            R"(Undo enable_peer_access().

Raises CudaError (cudaErrorPeerAccessNotEnabled) if it was not enabled. See cudaDeviceDisablePeerAccess: CUDA C++
Programming Guide, "Peer-to-Peer Memory Access".

>>> import cuscope as cs
>>> first, second = cs.add_host_device("h200"), cs.add_host_device("h200")
>>> first.enable_peer_access(second)
>>> first.disable_peer_access(second)

)")
        .def(
            "synchronize", [](Device& self) { without_gil([&] { self.synchronize(); }); },
            R"(Wait until all work on the device is done.

Raises the exceptions of host functions of all its streams, and errors of the work itself. Ctrl-C ends the wait. See
cudaDeviceSynchronize: CUDA C++ Programming Guide, "Explicit Synchronization".

>>> import cuscope as cs
>>> cs.current_device().synchronize()
)")
        .def(
            "reset", [](Device& self) { without_gil([&] { self.reset(); }); },
            R"(Destroy everything on the device.

You can only drop the objects that you made on it before (arrays, streams, events, modules): using them raises
ValueError. A reset does not revive a device that an error has lost. See cudaDeviceReset: CUDA C++ Programming Guide,
"Initialization".

>>> import cuscope as cs
>>> device = cs.add_host_device("h200")
>>> with device:
...     array = cs.zeros(4)
>>> device.reset()
>>> array.to_host()
Traceback (most recent call last):
...
ValueError: DeviceArray was made before ...
)")
        .def_property_readonly(
            "default_stream", [](Device& self) { return wrap(self.legacy_stream()); },
            R"(The legacy default stream (cudaStreamLegacy): its work and that of every blocking stream wait for
each other. See CUDA C++ Programming Guide, "Default Stream".)")
        .def_property_readonly(
            "per_thread_stream", [](Device& self) { return wrap(self.per_thread_stream()); },
            R"(The default stream that each thread has for itself (cudaStreamPerThread). See CUDA C++ Programming
Guide, "Default Stream".)")
        .def("__enter__",
             [](const py::object& self) -> DeviceSelf {
                 const auto device = self.cast<DevicePtr>();
                 without_gil([&] { core::push_device(device); });
                 return self;
             })
        .def("__exit__", [](const DevicePtr& self, const Scalar&, const Scalar&,
                            const Scalar&) { without_gil([&] { core::pop_device(self); }); })
        .def("__eq__",
             [](const Device& self, const py::object& other) {
                 return py::isinstance<Device>(other) && &other.cast<const Device&>() == &self;
             })
        .def("__hash__",
             [](const Device& self) {
                 return static_cast<py::ssize_t>(std::hash<std::string>()(self.name()) >> 1);
             })
        .def(
            "__reduce__",
            [](const py::object& self) -> Answer {
                return py::make_tuple(py::type::of<Device>(), py::make_tuple(self.attr("name")));
            },
            "Pickles the name. Loading it returns the device of this name.")
        .def("__repr__", device_text);
}

std::string describe_device_model(const std::string& model) {
    if (device_models.table == nullptr) throw std::invalid_argument("this build has no simulated devices");
    if (model.empty()) return device_models.table();
    std::string text;
    if (!device_models.describe(model, &text)) throw std::invalid_argument("model: " + text);
    return text;
}

}  // namespace

core::DevicePtr current_device() {
    if (const core::DevicePtr* const known = core::known_current_device()) return *known;
    return without_gil([] { return core::current_device(); });
}

core::DevicePtr device_or_current(py::handle device) {
    if (device.is_none()) return current_device();
    if (py::isinstance<Device>(device)) return device.cast<DevicePtr>();
    std::string text = std::string("device: takes a Device or None, not ") + Py_TYPE(device.ptr())->tp_name;
    if (PyUnicode_Check(device.ptr()))
        text += ": cuscope.Device(" + py::repr(device).cast<std::string>() + ")";
    throw core::WrongKind(text);
}

void bind_devices(py::module_& m, Classes& classes) {
    bind_properties(m);
    bind_device(m, classes.device);

    m.def(
        "devices", [] { return without_gil([] { return core::devices(); }); },
        R"(All devices: GPUs first, then the simulated ones. Never raises: without a driver there are no GPUs.

See cudaGetDeviceCount: CUDA C++ Programming Guide, "Device Enumeration".

>>> import cuscope as cs
>>> cs.Device("host:0") in cs.devices()
True
)");
    m.def("current_device", current_device,
          R"(The current device of this thread.

It is the device of the innermost ``with``, else the one that you passed to set_device(), else the one that the
environment variable CUSCOPE_DEVICE names, else the first of devices(). Raises ValueError if CUSCOPE_DEVICE names no
device. See cudaGetDevice: CUDA C++ Programming Guide, "Device Selection".

>>> import cuscope as cs
>>> cs.current_device() in cs.devices()
True
)");
    m.def(
        "set_device", [](const DevicePtr& device) { without_gil([&] { core::set_current_device(device); }); },
        py::arg("device").none(false),
        R"(Make a device the current one of this thread; inside a ``with``, until you leave the block.

See cudaSetDevice: CUDA C++ Programming Guide, "Device Selection".

>>> import cuscope as cs
>>> cs.set_device(cs.current_device())
)");
    m.def(
        "add_host_device",
        [](const std::string& model) { return without_gil([&] { return core::add_host_device(model); }); },
        py::arg("model") = "h200",
        R"(Add a simulated device of a named model, such as 'h200' or 'fermi'; returns it.

From now on devices() lists it, until the process ends. Raises ValueError for an unknown model; the message lists the
models. CUDA has no such function: docs/simulation.md explains models.

>>> import cuscope as cs
>>> cs.add_host_device("h200").model
'h200 model'
)");
    m.def("describe_device_model", describe_device_model, py::arg("model") = "",
          "The values of a device model of this name or text as text, after a check; without one the table "
          "of the "
          "fields, and the names of the models.");
    m.def(
        "runtime_answers",
        [] {
            std::vector<AnswerDict> answers;
            for (const core::RuntimeAnswer& answer : without_gil([] { return core::runtime_answers(); })) {
                py::dict entry;
                entry["kind"] = answer.kind;
                entry["status"] = name(answer.status);
                entry["device_count"] = answer.device_count;
                entry["driver_version"] = answer.driver_version;
                entry["runtime_version"] = answer.runtime_version;
                entry["detail"] = answer.detail;
                answers.emplace_back(AnswerDict(entry));
            }
            return answers;
        },
        "The answer of each runtime of this build to the question for its devices.");
    m.def(
        "clock",
        [] {
            const auto device = current_device();
            return static_cast<double>(without_gil([&] { return device->clock_ns(); })) * 1e-9;
        },
        R"(The host's time in seconds, as the runtime of the current device measures it.

It is simulated on a simulated device, and the monotonic clock on a GPU, so one program can time itself on both. Only
differences have a meaning. To time work on the device, use events: see Event.

>>> import cuscope as cs
>>> begin = cs.clock()
>>> cs.host_work(0.001)
>>> cs.clock() - begin >= 0.001
True
)");
    m.def(
        "host_work",
        [](double seconds) {
            if (!(seconds >= 0 && seconds <= 1e9)) {
                throw std::invalid_argument("seconds: " + std::to_string(seconds) +
                                            " is not allowed; allowed is 0 to 1e9");
            }
            const auto device = current_device();
            const auto nanoseconds = static_cast<std::int64_t>(seconds * 1e9 + 0.5);
            without_gil([&] {
                if (device->clock_ns() > std::numeric_limits<std::int64_t>::max() / 2 - nanoseconds) {
                    throw std::invalid_argument("seconds: " + std::to_string(seconds) +
                                                " is more than the clock of the device can still count");
                }
                device->host_work(nanoseconds);
            });
        },
        py::arg("seconds"),
        R"(Spend host time, as clock() measures it: the simulated host is busy for that many seconds.

On a GPU the calling thread sleeps that long. Raises ValueError for less than 0 or more than 1e9.

>>> import cuscope as cs
>>> cs.host_work(1e-6)
)");
}

}  // namespace cuscope::bindings
