// Recognises objects of other libraries, and makes device arrays over their memory.
#include "bindings/interop/import.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace cuscope::bindings {
namespace {

const char* type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

// Is it a common Python object that cannot be an array of another library?
bool is_plain(py::handle object) {
    PyObject* const raw = object.ptr();
    return raw == Py_None || PyLong_CheckExact(raw) || PyFloat_CheckExact(raw) || PyBool_Check(raw) ||
           PyList_CheckExact(raw) || PyTuple_CheckExact(raw) || PyUnicode_Check(raw) || PyBytes_Check(raw) ||
           PyType_Check(raw) || py::isinstance<py::array>(object);
}

struct Place {
    core::DevicePtr device;
    PointerAttributes attributes;
};

bool known(const Place& place) { return place.attributes.type != MemoryType::unregistered; }

Place ask(const core::DevicePtr& device, const void* address) {
    try {
        return {device, device->pointer_attributes(address)};
    } catch (const core::Error& error) {
        // the answer of older drivers for such an address
        if (error.status() != Status::invalid_value) throw;
        return {device, {}};
    }
}

// Finds the runtime that knows the address, and the attributes of the memory.
Place find_place(const void* address, const core::DevicePtr& near) {
    Place place = ask(near, address);
    if (!known(place)) {
        std::vector<const Runtime*> asked{&near->own_runtime()};
        for (const core::DevicePtr& other : core::devices()) {
            if (std::find(asked.begin(), asked.end(), &other->own_runtime()) != asked.end()) continue;
            asked.push_back(&other->own_runtime());
            place = ask(other, address);
            if (known(place)) break;
        }
    }
    // Memory that the host can address too belongs to no single device.
    if (place.attributes.type == MemoryType::device && place.attributes.device != place.device->ordinal()) {
        // Ask again on the memory's own device: another device may have no address for it.
        place = ask(core::find_device(place.device->kind() + ":" + std::to_string(place.attributes.device)),
                    address);
    }
    return place;
}

std::string hexadecimal(std::uintptr_t address) {
    std::array<char, 20> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(address));
    return text.data();
}

[[noreturn]] void too_far() {
    throw std::invalid_argument("the array's strides lead to more than there are addresses");
}

// The range of bytes [low, high) that the elements use, relative to the first element.
std::pair<py::ssize_t, py::ssize_t> reach_of(const ForeignLayout& layout) {
    py::ssize_t low = 0, high = layout.dtype.itemsize();
    for (std::size_t i = 0; i < layout.shape.size(); ++i) {
        py::ssize_t far = 0;
        if (__builtin_mul_overflow(layout.strides[i], layout.shape[i] - 1, &far)) too_far();
        py::ssize_t& side = far < 0 ? low : high;
        if (__builtin_add_overflow(side, far, &side)) too_far();
    }
    const auto first = static_cast<py::ssize_t>(layout.address);
    py::ssize_t end = 0;
    if (first < 0 || first < -low || __builtin_add_overflow(first, high, &end)) too_far();
    return {low, high};
}

DeviceArray empty_array(const ForeignLayout& layout, const core::DevicePtr& near,
                        std::shared_ptr<void> owner) {
    DeviceArray array =
        array_over(core::DeviceMemory::adopt(near, nullptr, nullptr, 0, std::move(owner), nullptr, false),
                   layout.shape, layout.dtype);
    array.read_only = layout.read_only;
    return array;
}

}  // namespace

DeviceArray adopt(const ForeignLayout& given, const core::DevicePtr& near, std::shared_ptr<void> owner,
                  const ForeignOrder& order) {
    ForeignLayout layout = given;
    parse_dtype(layout.dtype);
    const std::size_t total =
        byte_count(layout.shape, layout.dtype);  // throws if there are more bytes than addresses
    if (layout.strides.empty()) layout.strides = contiguous_strides(layout.shape, layout.dtype.itemsize());
    if (total == 0) return empty_array(layout, near, std::move(owner));
    const auto [low, high] = reach_of(layout);
    const std::uintptr_t first = layout.address + static_cast<std::uintptr_t>(low);
    const auto bytes = static_cast<std::size_t>(high - low);
    auto memory = without_gil([&, length = bytes] {
        const Place place = find_place(reinterpret_cast<const void*>(first), near);
        const Place end =
            known(place) ? ask(place.device, reinterpret_cast<const void*>(first + length - 1)) : place;
        if (end.attributes.type != place.attributes.type ||
            (end.attributes.type == MemoryType::device && end.attributes.device != place.attributes.device)) {
            throw std::invalid_argument("the array's " + std::to_string(length) + " bytes from " +
                                        hexadecimal(first) + " on are more than its memory has");
        }
        if (!known(place)) {
            throw std::invalid_argument(hexadecimal(first) +
                                        " is in no device's memory, as cuscope.devices() know it: copy host "
                                        "memory with cuscope.to_device()");
        }
        if (place.attributes.device_pointer == nullptr) {
            throw std::invalid_argument(
                "the array is in page-locked memory that is not mapped, so kernels "
                "cannot reach it: copy it with cuscope.to_device()");
        }
        void* const host =
            place.attributes.type == MemoryType::device ? nullptr : place.attributes.host_pointer;
        return core::DeviceMemory::adopt(
            place.device, place.attributes.device_pointer, host, length, std::move(owner),
            order.theirs == nullptr ? order.ready : core::Stream::adopt(place.device, order.theirs, nullptr),
            order.in_order);
    });
    const DeviceArray whole = array_over(std::move(memory), layout.shape, layout.dtype);
    DeviceArray array = view(whole, -low, std::move(layout.shape), std::move(layout.strides));
    array.read_only = layout.read_only;
    return array;
}

py::object optional_attribute(py::handle object, const char* name) {
    PyObject* const found = PyObject_GetAttrString(object.ptr(), name);
    if (found != nullptr) return py::reinterpret_steal<py::object>(found);
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    return {};
}

bool is_foreign_array(py::handle object) {
    if (is_plain(object)) return false;
    if (optional_attribute(object, "__dlpack__") && optional_attribute(object, "__dlpack_device__")) {
        return dlpack_device_of(py::reinterpret_borrow<py::object>(object)).first != kDLCPU;
    }
    return bool(optional_attribute(object, "__cuda_array_interface__"));
}

std::optional<DeviceArray> foreign_array(py::handle handle, const core::StreamPtr& stream) {
    if (is_plain(handle)) return std::nullopt;
    const auto object = py::reinterpret_borrow<py::object>(handle);
    const core::DevicePtr near = stream->device().shared_from_this();
    const bool speaks_dlpack =
        optional_attribute(object, "__dlpack__") && optional_attribute(object, "__dlpack_device__");
    if (auto array = from_dlpack_functions(object, stream)) return array;
    py::object interface;
    try {
        interface = optional_attribute(object, "__cuda_array_interface__");
    } catch (py::error_already_set&) {
        if (!speaks_dlpack) throw;  // try DLPack, which may support what the interface does not
    }
    // With DLPack the producer is told our stream. The interface, from version 3 on, tells the producer's
    // stream, which then also waits for our uses. So the interface is preferred.
    if (interface && (!speaks_dlpack || states_its_stream(interface))) {
        return from_cuda_array_interface(object, interface, near);
    }
    if (!speaks_dlpack || dlpack_device_of(object).first == kDLCPU) return std::nullopt;
    DeviceArray array = from_dlpack_object(object, stream);
    // DLPack before 1.0 cannot express it.
    array.read_only = array.read_only || (interface && says_read_only(interface));
    return array;
}

StreamObjectPtr foreign_stream(py::handle handle, const core::DevicePtr& near) {
    if (is_plain(handle)) return nullptr;
    const auto object = py::reinterpret_borrow<py::object>(handle);
    py::object number;
    if (const py::object method = optional_attribute(object, "__cuda_stream__")) {
        if (PyCallable_Check(method.ptr()) == 0) {
            throw core::WrongKind(std::string("stream: __cuda_stream__ of ") + type_name(object) +
                                  " is no method; the protocol has it return (0, handle)");
        }
        const py::object answer = method();
        if (!py::isinstance<py::tuple>(answer) || py::len(answer) != 2) {
            throw core::WrongKind(std::string("stream: __cuda_stream__() of ") + type_name(object) +
                                  " gives " + py::repr(answer).cast<std::string>() +
                                  "; the protocol has it return (0, handle)");
        }
        const auto pair = py::reinterpret_borrow<py::tuple>(answer);
        if (parse_size(pair[0], "stream: __cuda_stream__()[0]") != 0) {
            throw core::WrongKind(std::string("stream: __cuda_stream__() of ") + type_name(object) +
                                  " speaks version " + py::str(pair[0]).cast<std::string>() +
                                  " of the protocol; understood is 0");
        }
        number = pair[1];
    } else if (py::object own = optional_attribute(object, "cuda_stream"); own && PyLong_Check(own.ptr())) {
        number = std::move(own);  // PyTorch before 2.10
    } else {
        return nullptr;
    }
    const auto address = parse_size(number, "stream: the handle");
    const std::shared_ptr<void> owner = kept(object);
    const core::StreamPtr stream = without_gil(
        [&] { return core::Stream::adopt(near, reinterpret_cast<StreamHandle>(address), owner); });
    if (owner.use_count() > 1 || stream->is_default()) {
        StreamObjectPtr made = wrap(stream);
        made->foreign = true;
        return made;
    }
    StreamObjectPtr same = wrapper_of(*stream);
    if (same && same->foreign) return same;
    // The stream was created by cuscope. A new Python object for it keeps the foreign object alive; the
    // existing one must not, because the foreign object may refer to it.
    return ending_without_gil(std::make_shared<StreamObject>(stream, owner));
}

}  // namespace cuscope::bindings
