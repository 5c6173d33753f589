// Other kinds of memory: plain, pitched, managed and registered; views of one memory on the host or the
// device; attributes of addresses; batches of copies.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>

#include "bindings/interop/import.hpp"
#include "core/memory/copy_batch.hpp"
#include "ops/kernel_library.hpp"
#include "runtime/checking.hpp"

namespace cuscope::bindings {
namespace {

py::dtype dtype_or_float32(const DTypeLike& dtype) {
    return parse_dtype(dtype.is_none() ? numpy().attr("float32") : py::object(dtype));
}

DeviceArray empty_plain(const ShapeLike& shape, const DTypeLike& dtype, const DeviceLike& device) {
    std::vector<py::ssize_t> extents = parse_shape(shape);
    const py::dtype type = dtype_or_float32(dtype);
    const std::size_t bytes = byte_count(extents, type);
    const core::DevicePtr on = device_or_current(device);
    return array_over(without_gil([&] {
                          ops::KernelLibrary::load_ahead(*on);
                          return core::DeviceMemory::allocate_plain(on, bytes);
                      }),
                      std::move(extents), type);
}

DeviceArray empty_pitched(const ShapeLike& shape, const DTypeLike& dtype, const DeviceLike& device) {
    std::vector<py::ssize_t> extents = parse_shape(shape);
    const py::dtype type = dtype_or_float32(dtype);
    if (extents.size() != 2 && extents.size() != 3) {
        throw std::invalid_argument("shape: " + describe(extents) + " has " + std::to_string(extents.size()) +
                                    " axes; pitched memory has 2 or 3");
    }
    const std::size_t bytes = byte_count(extents, type);
    const core::DevicePtr on = device_or_current(device);
    if (bytes == 0) {
        return array_over(without_gil([&] { return core::DeviceMemory::allocate_plain(on, 0); }),
                          std::move(extents), type);
    }
    const auto count = [&](std::size_t from_end) {
        return static_cast<std::size_t>(extents[extents.size() - from_end]);
    };
    const Extent extent{count(1) * static_cast<std::size_t>(type.itemsize()), count(2),
                        extents.size() == 3 ? count(3) : 1};
    std::size_t pitch = 0;
    auto memory = without_gil([&] {
        ops::KernelLibrary::load_ahead(*on);
        return core::DeviceMemory::allocate_pitched(on, extent, &pitch);
    });
    std::vector<py::ssize_t> strides{static_cast<py::ssize_t>(pitch), type.itemsize()};
    if (extents.size() == 3) strides.insert(strides.begin(), static_cast<py::ssize_t>(pitch) * extents[1]);
    const DeviceArray whole = array_over(std::move(memory), extents, type);
    return view(whole, 0, std::move(extents), std::move(strides));
}

DeviceArray empty_managed(const ShapeLike& shape, const DTypeLike& dtype, const DeviceLike& device) {
    std::vector<py::ssize_t> extents = parse_shape(shape);
    const py::dtype type = dtype_or_float32(dtype);
    const std::size_t bytes = byte_count(extents, type);
    const core::DevicePtr on = device_or_current(device);
    return array_over(without_gil([&] {
                          ops::KernelLibrary::load_ahead(*on);
                          return core::DeviceMemory::allocate_managed(on, bytes, flags::mem_attach_global);
                      }),
                      std::move(extents), type);
}

// ---- views of one memory on the other side

DeviceArray view_from_device(const py::array& array, const core::DevicePtr& device) {
    const py::dtype type = parse_dtype(array.dtype());
    const auto [low, bytes] = range_of(array);
    const auto pinned = core::PinnedMemory::find(*device, low, std::max<std::size_t>(bytes, 1));
    if (!pinned) {
        throw core::WrongKind(
            "array: is in pageable memory, which kernels cannot reach: make it with "
            "cuscope.pinned_empty(), or page-lock it with cuscope.register()");
    }
    void* const address = pinned->device_address(low);
    if (address == nullptr) {
        throw std::invalid_argument("array: its memory is not mapped: make it with mapped=True");
    }
    auto memory = core::DeviceMemory::borrow(device, address, low, bytes, pinned, pinned.get());
    std::vector<py::ssize_t> shape = shape_of(array);
    const DeviceArray whole = array_over(std::move(memory), shape, type);
    const py::ssize_t first = static_cast<const std::byte*>(array.data()) - low;
    return view(whole, first, std::move(shape), strides_of(array));
}

py::array require_array(const py::object& array) {
    if (!py::isinstance<py::array>(array)) {
        throw core::WrongKind(std::string("array: takes a NumPy array, not ") +
                              Py_TYPE(array.ptr())->tp_name);
    }
    return py::array(array);
}

// ---- managed memory

MemLocation location_of(const py::object& to, const core::DevicePtr& device) {
    if (to.is_none()) return {MemLocationType::device, device->ordinal()};
    if (py::isinstance<core::Device>(to)) {
        const auto& place = to.cast<const core::Device&>();
        if (!place.shares_runtime(*device)) {
            throw std::invalid_argument("to: " + place.name() + " shares no memory with " + device->name());
        }
        return {MemLocationType::device, place.ordinal()};
    }
    if (PyUnicode_Check(to.ptr()) != 0 && to.cast<std::string>() == "host") return {MemLocationType::host, 0};
    throw core::WrongKind("to: takes a Device, or 'host' for the host, not " +
                          py::repr(to).cast<std::string>());
}

py::object place_name(int place, const core::DevicePtr& device) {
    if (place == invalid_device_id) return py::none();
    if (place == cpu_device_id) return py::str("host");
    return py::str(device->kind() + ":" + std::to_string(place));
}

constexpr std::array<std::pair<const char*, MemoryAdvice>, 6> advices{{
    {"read_mostly", MemoryAdvice::set_read_mostly},
    {"unset_read_mostly", MemoryAdvice::unset_read_mostly},
    {"preferred_location", MemoryAdvice::set_preferred_location},
    {"unset_preferred_location", MemoryAdvice::unset_preferred_location},
    {"accessed_by", MemoryAdvice::set_accessed_by},
    {"unset_accessed_by", MemoryAdvice::unset_accessed_by},
}};

// The bytes of a view, as an offset and a length.
std::pair<std::size_t, std::size_t> bytes_of(const DeviceArray& self) {
    const auto [low, high] = self.reach();
    return {static_cast<std::size_t>(static_cast<py::ssize_t>(self.offset) + low),
            static_cast<std::size_t>(high - low)};
}

void advise(const DeviceArray& self, const std::string& advice, const py::object& device) {
    const auto memory = self.open();
    const auto found = std::find_if(advices.begin(), advices.end(),
                                    [&](const auto& known) { return advice == known.first; });
    if (found == advices.end()) {
        std::string names;
        for (const auto& known : advices)
            names += (names.empty() ? "'" : ", '") + std::string(known.first) + "'";
        throw std::invalid_argument("advice: '" + advice + "' is not allowed; there are " + names);
    }
    const MemLocation location = location_of(device, self.device);
    const auto [offset, bytes] = bytes_of(self);
    without_gil([&, at = offset, length = bytes, kind = found->second] {
        memory->advise(at, length, kind, location);
    });
}

AnswerDict range_attributes(const DeviceArray& self) {
    const auto memory = self.open();
    const auto [offset, bytes] = bytes_of(self);
    const auto ask = [&, at = offset, length = bytes](MemRangeAttribute attribute) {
        return without_gil([&] { return memory->range_attribute(at, length, attribute); });
    };
    py::list accessed_by;
    for (const int place : ask(MemRangeAttribute::accessed_by)) {
        if (place != invalid_device_id) accessed_by.append(place_name(place, self.device));
    }
    py::dict result;
    result["read_mostly"] = py::bool_(ask(MemRangeAttribute::read_mostly).front() == 1);
    result["preferred_location"] =
        place_name(ask(MemRangeAttribute::preferred_location).front(), self.device);
    result["accessed_by"] = accessed_by;
    result["last_prefetch_location"] =
        place_name(ask(MemRangeAttribute::last_prefetch_location).front(), self.device);
    return AnswerDict(result);
}

// ---- registered memory

struct Registration {
    Held<core::PinnedMemory> open() const {
        Held<core::PinnedMemory> held = memory.get();
        if (held->closed()) throw std::invalid_argument("Registration is closed");
        return held;
    }
    SharedOwner<core::PinnedMemory> memory;
    NDArray array;
    core::DevicePtr device;
};

Registration register_array(const py::object& object, bool portable, bool mapped, bool read_only,
                            const DeviceLike& device) {
    const py::array array = require_array(object);
    parse_dtype(array.dtype());
    if (!array.writeable() && !read_only) {
        throw std::invalid_argument("array: is read-only: pass read_only=True");
    }
    const auto [low, bytes] = range_of(array);
    if (bytes == 0) throw std::invalid_argument("array: has no elements, so there is no memory to page-lock");
    const unsigned flags = (portable ? flags::host_register_portable : 0u) |
                           (mapped ? flags::host_register_mapped : 0u) |
                           (read_only ? flags::host_register_read_only : 0u);
    const core::DevicePtr on = device_or_current(device);
    std::shared_ptr<void> owner = kept(array);
    return {SharedOwner<core::PinnedMemory>(without_gil([&, first = low, length = bytes] {
                return core::PinnedMemory::register_memory(on, first, length, flags, std::move(owner));
            })),
            NDArray(array), on};
}

void close(const Registration& self) {
    const auto memory = self.memory.get();
    without_gil([&] { memory->unregister(); });
}

// ---- addresses

struct AddressAttributes {
    std::string type;
    std::optional<std::string> device;
    std::uintptr_t device_pointer, host_pointer;
};

AddressAttributes pointer_attributes(const py::object& of, const DeviceLike& device) {
    core::DevicePtr on = device_or_current(device);
    const void* address = nullptr;
    if (py::isinstance<DeviceArray>(of)) {
        const auto& array = of.cast<const DeviceArray&>();
        address = array.pointer();
        on = array.device;
    } else if (py::isinstance<py::array>(of)) {
        address = py::array(of).data();
    } else if (const auto foreign = foreign_array(of, core::current_stream(on))) {
        address = foreign->pointer();
        on = foreign->device;
    } else {
        address = reinterpret_cast<const void*>(parse_size(of, "address"));
    }
    const PointerAttributes found = without_gil([&] { return on->pointer_attributes(address); });
    constexpr std::array names{"unregistered", "host", "device", "managed"};
    const bool known = found.type != MemoryType::unregistered;
    return {names.at(static_cast<std::size_t>(found.type)),
            known ? std::optional(on->kind() + ":" + std::to_string(found.device)) : std::nullopt,
            reinterpret_cast<std::uintptr_t>(found.device_pointer),
            reinterpret_cast<std::uintptr_t>(found.host_pointer)};
}

// ---- batches

// `dtype` gets the dtype of the object's elements.
core::BatchSide side_of(const py::object& object, bool written, const core::StreamPtr& stream,
                        std::size_t* bytes, py::dtype* dtype) {
    const bool ours = py::isinstance<DeviceArray>(object);
    const auto foreign = ours ? std::nullopt : foreign_array(object, stream);
    if (ours || foreign) {
        const auto& array = ours ? object.cast<const DeviceArray&>() : *foreign;
        if (written) check_writeable(array, "copies");
        if (!array.contiguous()) {
            throw std::invalid_argument("copies: a batch takes contiguous arrays: pass .copy() of the view");
        }
        *bytes = array.bytes;
        *dtype = array.dtype;
        const std::shared_ptr<core::DeviceMemory> memory = array.open();
        return {array.pointer_in(*memory), memory};
    }
    if (!py::isinstance<py::array>(object)) {
        throw core::WrongKind(std::string("copies: takes pairs of NumPy arrays and DeviceArrays, not ") +
                              Py_TYPE(object.ptr())->tp_name);
    }
    const py::array array(object);
    if ((array.flags() & py::array::c_style) == 0 || (written && !array.writeable())) {
        throw std::invalid_argument(
            "copies: a batch takes C-contiguous arrays, and writeable ones as destinations");
    }
    *bytes = static_cast<std::size_t>(array.nbytes());
    *dtype = array.dtype();
    return {static_cast<std::byte*>(const_cast<void*>(array.data())), nullptr};
}

void copy_batch(const Pairs& copies, const StreamLike& stream) {
    const core::StreamPtr on = stream_or_current(stream);
    std::vector<core::BatchCopy> batch;
    if (PyUnicode_Check(copies.ptr()) || Py_TYPE(copies.ptr())->tp_iter == nullptr) {
        throw core::WrongKind("copies: takes pairs (destination, source), such as a list of them, not " +
                              kind_of(copies));
    }
    const py::tuple alive(copies);  // not the program's list, which another thread may change
    for (const py::handle entry : alive) {
        if (PySequence_Check(entry.ptr()) == 0 || py::len(entry) != 2) {
            throw core::WrongKind("copies: takes pairs (destination, source)");
        }
        const auto pair = py::reinterpret_borrow<py::sequence>(entry);
        core::BatchCopy copy;
        std::size_t to = 0, from = 0;
        py::dtype dtype_to, dtype_from;
        copy.to = side_of(pair[0], true, on, &to, &dtype_to);
        copy.from = side_of(pair[1], false, on, &from, &dtype_from);
        if (to != from) {
            throw std::invalid_argument("copies: copy " + std::to_string(batch.size()) + " is of " +
                                        std::to_string(from) + " bytes to " + std::to_string(to));
        }
        if (!dtype_to.is(dtype_from) && !dtype_to.equal(dtype_from)) {
            throw core::WrongKind("copies: copy " + std::to_string(batch.size()) + " is of dtype " +
                                  describe(dtype_from) + " to " + describe(dtype_to) +
                                  ", and a copy does not convert: both need the same dtype; convert on the "
                                  "host with " +
                                  astype(dtype_to));
        }
        copy.bytes = to;
        batch.push_back(std::move(copy));
    }
    without_gil([&] {
        core::copy_batch(batch, on);
        batch.clear();
    });
}

}  // namespace

NDArray host_view(const DeviceArray& self) {
    using Owner = SharedOwner<core::DeviceMemory>;
    const auto& memory = self.open();
    if (self.bytes == 0) return NDArray(py::array(self.dtype, self.shape));
    auto* const host = static_cast<std::byte*>(memory->host_pointer());
    if (host == nullptr) {
        throw core::WrongKind(
            "the elements are in a device's memory, which the host cannot read: use .to_host() for a copy, "
            "or "
            "cuscope.empty_managed() for memory that both can read");
    }
    auto owner = std::make_unique<Owner>(memory);
    const py::capsule base(owner.get(), [](void* held) { delete static_cast<Owner*>(held); });
    owner.release();
    NDArray view(py::array(self.dtype, self.shape, strides_of(self), host + self.offset, base));
    if (self.read_only) view.attr("flags").attr("writeable") = false;
    if (checking()) [[unlikely]]
        return NDArray(py::module_::import("cuscope._watched").attr("watch")(view));
    return view;
}

void bind_memory_kinds(py::module_& m, Classes& classes) {
    const py::object float32 = numpy().attr("float32");
    m.def("empty_plain", empty_plain, py::arg("shape"), py::arg_v("dtype", float32, "numpy.float32"),
          py::kw_only(), py::arg("device") = py::none(),
          R"(A new array in memory of its own, from cudaMalloc: not from a pool, and not in stream order.

The allocation takes tens of microseconds, and the memory is freed once the device is idle. Takes the parameters of
empty() and raises the same errors. See cudaMalloc, cudaFree: CUDA C++ Programming Guide, "Device Memory".

>>> import cuscope as cs
>>> cs.empty_plain(3).pointer % 256
0
)");
    m.def("empty_pitched", empty_pitched, py::arg("shape"), py::arg_v("dtype", float32, "numpy.float32"),
          py::kw_only(), py::arg("device") = py::none(),
          R"(A new array of 2 or 3 axes with rows that are aligned as the device prefers.

Rows are `pitch` bytes apart, which is at least the size of a row. Copies to and from other arrays take the pitch into
account; pass it to kernels as a parameter. Raises the errors of empty(). See cudaMallocPitch, cudaMalloc3D: CUDA C++
Programming Guide, "Device Memory".

>>> import cuscope as cs
>>> x = cs.empty_pitched((4, 100))
>>> x.strides == (x.pitch, 4), x.pitch >= 400
(True, True)
)");
    m.def("empty_managed", empty_managed, py::arg("shape"), py::arg_v("dtype", float32, "numpy.float32"),
          py::kw_only(), py::arg("device") = py::none(),
          R"(A new array in managed memory, which the host and the device use at the same address.

host_view() is a NumPy array over the same memory; synchronize before you read the results of a kernel. Use prefetch()
and advise() to control where the pages are. Raises the errors of empty(). See cudaMallocManaged: CUDA C++ Programming
Guide, "Unified Memory Programming".

>>> import cuscope as cs
>>> x = cs.empty_managed(2)
>>> x.fill(3)
>>> cs.synchronize()
>>> x.host_view()
array([3., 3.], dtype=float32)
)");
    m.def(
        "device_view",
        [](const NDArray& array, const DeviceLike& device) {
            const core::DevicePtr on = device_or_current(device);
            return view_from_device(require_array(array), on);
        },
        py::arg("array"), py::kw_only(), py::arg("device") = py::none(),
        R"(A page-locked NumPy array as a device array over the same memory, which kernels access over the bus.

The memory lives as long as the view. Raises TypeError for pageable memory, ValueError for memory that is not
mapped. See cudaHostGetDevicePointer: CUDA C++ Programming Guide, "Mapped Memory".

>>> import numpy as np, cuscope as cs
>>> h = cs.pinned_empty(2, np.int32, mapped=True)
>>> cs.device_view(h).fill(7)
>>> cs.synchronize()
>>> h
array([7, 7], dtype=int32)
)");
    m.def(
        "copy_batch", copy_batch, py::arg("copies"), py::kw_only(), py::arg("stream") = py::none(),
        R"(Enqueue many copies in one call: pairs (destination, source) of contiguous arrays of one dtype and of equal size in bytes.

The copies are not ordered among each other; later commands of the stream wait for all of them. You may change pageable
sources as soon as this returns; it waits if a destination is pageable. Raises TypeError for
different dtypes, ValueError for different sizes. See cudaMemcpyBatchAsync.

>>> import numpy as np, cuscope as cs
>>> a, b = cs.empty(2), cs.empty(3)
>>> with cs.Stream():
...     cs.copy_batch([(a, np.ones(2, np.float32)), (b, np.zeros(3, np.float32))])
>>> cs.synchronize()
>>> a.to_host()
array([1., 1.], dtype=float32)
)");

    py::class_<AddressAttributes>(m, "PointerAttributes",
                                  R"(The attributes of an address; made by pointer_attributes().

See cudaPointerGetAttributes.

>>> import cuscope as cs
>>> x = cs.empty(3)
>>> cs.pointer_attributes(x).device_pointer == x.pointer
True
)")
        .def_readonly("type", &AddressAttributes::type, "'unregistered', 'host', 'device' or 'managed'.")
        .def_readonly("device", &AddressAttributes::device,
                      "The name of the memory's device; None if it has none.")
        .def_readonly("device_pointer", &AddressAttributes::device_pointer,
                      "The address for kernels of the device that was asked; 0 if they cannot access it, "
                      "such as memory "
                      "of a peer without Device.enable_peer_access().")
        .def_readonly("host_pointer", &AddressAttributes::host_pointer,
                      "The address for the host; 0 if the host cannot access it.")
        .def("__repr__", [](const AddressAttributes& self) {
            return "PointerAttributes(type='" + self.type +
                   "', device=" + (self.device ? "'" + *self.device + "'" : "None") + ")";
        });
    m.def("pointer_attributes", pointer_attributes, py::arg("of"), py::kw_only(),
          py::arg("device") = py::none(),
          R"(The kind of memory that an array or an address belongs to, and its addresses.

`device` is the device to ask. Default: the array's own; for an address, the current one. See cudaPointerGetAttributes.

>>> import numpy as np, cuscope as cs
>>> cs.pointer_attributes(cs.empty(3)).type, cs.pointer_attributes(np.zeros(3)).type
('device', 'unregistered')
)");

    py::class_<Registration>(m, "Registration",
                             R"(Page-locked memory of a NumPy array; made by register().

The memory is unlocked when you close this object, at the end of a `with` block, or when you drop it and its
copies have ended.

>>> import numpy as np, cuscope as cs
>>> registration = cs.register(np.zeros(4))
>>> registration.close()
>>> registration.closed
True
)")
        .def_readonly("array", &Registration::array, "The array that is page-locked.")
        .def(
            "device_view",
            [](const Registration& self) {
                self.open();
                return view_from_device(self.array, self.device);
            },
            R"(The memory as a device array, which kernels access over the bus.

Raises ValueError if you did not register it with ``mapped``. See cudaHostGetDevicePointer: CUDA C++ Programming
Guide, "Mapped Memory".

>>> import numpy as np, cuscope as cs
>>> a = np.zeros(3, np.float32)
>>> with cs.register(a, mapped=True) as registration:
...     registration.device_view().fill(2)
>>> a
array([2., 2., 2.], dtype=float32)

)")
        .def("close", close,
             R"(Wait for the device, and unlock the memory. Closing twice is no error.

Ctrl-C ends the wait; the memory stays locked. See cudaHostUnregister: CUDA C++ Programming Guide, "Page-Locked Host
Memory".

>>> import numpy as np, cuscope as cs
>>> registration = cs.register(np.zeros(4))
>>> registration.close()
>>> registration.closed
True

)")
        .def_property_readonly(
            "closed", [](const Registration& self) { return self.memory.get()->closed(); },
            "Was the registration closed?")
        .def("__enter__", [](const py::object& self) { return self; })
        .def("__exit__", [](const Registration& self, const AnyArgs&) { close(self); })
        .def("__repr__", [](const Registration& self) {
            return "<Registration of " + std::to_string(self.memory.get()->bytes()) + " bytes on " +
                   self.device->name() + (self.memory.get()->closed() ? ", closed>" : ">");
        });
    m.def("register", register_array, py::arg("array"), py::kw_only(), py::arg("portable") = false,
          py::arg("mapped") = false, py::arg("read_only") = false, py::arg("device") = py::none(),
          R"(Page-lock the memory of a NumPy array, so that copies of it are asynchronous.

Parameters
----------
array : numpy.ndarray
    An array of any strides. It stays alive as long as it is page-locked.
portable : bool
    Page-lock it for all devices of the runtime, not only for this one.
mapped : bool
    Let kernels use it: see device_view().
read_only : bool
    Kernels only read it.
device : Device, optional
    Default: the current device.

Raises
------
CudaError
    cudaErrorHostMemoryAlreadyRegistered: a part of the memory is page-locked already.

See cudaHostRegister: CUDA C++ Programming Guide, "Page-Locked Host Memory".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> a = np.arange(1000)
>>> with cs.register(a):
...     x = cs.to_device(a)
>>> int(x.to_host().sum())
499500
)");

    classes.array
        .def(
            "host_view", host_view,
            R"(A NumPy array over the same memory, if the host can reach it: managed memory, and device_view().

Before you read it, wait for the streams that write it. Raises TypeError for other memory.

>>> import cuscope as cs
>>> x = cs.empty_managed(2)
>>> x.host_view()[:] = 1
>>> x.to_host()
array([1., 1.], dtype=float32)
)")
        .def(
            "prefetch",
            [](const DeviceArray& self, const py::object& to, const StreamLike& stream) {
                const auto memory = self.open();
                const MemLocation location = location_of(to, self.device);
                const core::StreamPtr on = stream_or_current(stream, self.device);
                const auto [offset, bytes] = bytes_of(self);
                without_gil([&, at = offset, length = bytes] { memory->prefetch(at, length, location, on); });
            },
            py::arg("to") = py::none(), py::kw_only(), py::arg("stream") = py::none(),
            R"(Migrate the pages of managed memory to a Device, or to the 'host', in stream order. Default: its own device.

See cudaMemPrefetchAsync.

>>> import cuscope as cs
>>> x = cs.empty_managed(1000)
>>> x.prefetch()
>>> x.range_attributes["last_prefetch_location"] == x.device.name
True
)")
        .def("advise", advise, py::arg("advice"), py::arg("device") = py::none(),
             R"(Give the driver a hint how managed memory will be used.

`advice` is 'read_mostly', 'preferred_location', 'accessed_by', or one of these after 'unset_'; `device` is a Device or
'host'. Default: the array's own device. See cudaMemAdvise.

>>> import cuscope as cs
>>> x = cs.empty_managed(1000)
>>> x.advise("read_mostly")
>>> x.range_attributes["read_mostly"]
True
)")
        .def_property_readonly("range_attributes", range_attributes,
                               R"(The advice and prefetches for managed memory, as a dict.

Its keys are 'read_mostly', 'preferred_location', 'accessed_by' and 'last_prefetch_location'; places are names of
devices, 'host' or None. See cudaMemRangeGetAttribute.)");
}

}  // namespace cuscope::bindings
