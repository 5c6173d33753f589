// Imports arrays of other libraries by DLPack.
#include <pybind11/critical_section.h>

#include <limits>

#include "bindings/interop/import.hpp"
#include "core/graph/capture.hpp"

namespace cuscope::bindings {
namespace {

constexpr std::int32_t most_axes = 64;

// Makes the content of a consumed capsule an owner that calls the deleter, with the GIL, because the deleter
// may need it. After the interpreter has ended, the deleter is not called.
template <class Managed>
std::shared_ptr<void> owned(Managed* managed) {
    return {managed, [](void* held) {
                auto* const tensor = static_cast<Managed*>(held);
                if (tensor->deleter == nullptr) return;
                if (const PythonEntry entry; entry) tensor->deleter(tensor);
            }};
}

// The content of a capsule, taken out of it.
struct Content {
    const DLTensor* tensor = nullptr;
    std::shared_ptr<void> owner;
    bool read_only = false;
};

template <class Managed>
Managed* consume(const py::object& capsule) {
    auto* const managed =
        static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::Capsule<Managed>::name));
    if (managed == nullptr || PyCapsule_SetName(capsule.ptr(), dlpack::Capsule<Managed>::used) != 0) {
        throw py::error_already_set();
    }
    return managed;
}

Content opened(DLManagedTensorVersioned* managed) {
    Content content{nullptr, owned(managed), false};
    // The layout of another major version is unknown, except for the deleter.
    if (managed->version.major != DLPACK_MAJOR_VERSION) {
        throw py::buffer_error("the capsule is of DLPack " + std::to_string(managed->version.major) + "." +
                               std::to_string(managed->version.minor) +
                               "; understood is 1: ask for it with max_version=(1, 0)");
    }
    content.tensor = &managed->dl_tensor;
    content.read_only = (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
    return content;
}

Content open_capsule(const py::object& capsule) {
    if (PyCapsule_CheckExact(capsule.ptr()) == 0) {
        throw core::WrongKind(std::string("__dlpack__() gave no capsule but ") +
                              Py_TYPE(capsule.ptr())->tp_name);
    }
    const py::scoped_critical_section alone(capsule);  // of two threads, one consumes it
    if (PyCapsule_IsValid(capsule.ptr(), dlpack::Capsule<DLManagedTensorVersioned>::name) != 0) {
        return opened(consume<DLManagedTensorVersioned>(capsule));
    }
    if (PyCapsule_IsValid(capsule.ptr(), dlpack::Capsule<DLManagedTensor>::name) != 0) {
        auto* const managed = consume<DLManagedTensor>(capsule);
        return {&managed->dl_tensor, owned(managed), false};
    }
    const char* const name = PyCapsule_GetName(capsule.ptr());
    if (name == nullptr) PyErr_Clear();
    const std::string text = name == nullptr ? "" : name;
    if (text == dlpack::Capsule<DLManagedTensor>::used ||
        text == dlpack::Capsule<DLManagedTensorVersioned>::used) {
        throw std::invalid_argument("the capsule was consumed already: ask its array for another one");
    }
    throw core::WrongKind("the capsule '" + text + "' is none of DLPack's");
}

ForeignLayout layout_of(const DLTensor& tensor) {
    ForeignLayout layout;
    layout.dtype = dlpack::to_numpy(tensor.dtype);
    if (tensor.ndim < 0 || tensor.ndim > most_axes || (tensor.ndim > 0 && tensor.shape == nullptr)) {
        throw py::buffer_error("the capsule's tensor has " + std::to_string(tensor.ndim) +
                               " axes; allowed are 0 to " + std::to_string(most_axes) + ", with a shape");
    }
    for (std::int32_t i = 0; i < tensor.ndim; ++i) {
        if (tensor.shape[i] < 0) {
            throw py::buffer_error("the capsule's tensor has an extent of " +
                                   std::to_string(tensor.shape[i]) + "; allowed is 0 or more");
        }
        layout.shape.push_back(tensor.shape[i]);
        if (tensor.strides == nullptr) continue;
        py::ssize_t bytes = 0;
        if (__builtin_mul_overflow(static_cast<py::ssize_t>(tensor.strides[i]), layout.dtype.itemsize(),
                                   &bytes)) {
            throw py::buffer_error("the capsule's tensor has a stride of " +
                                   std::to_string(tensor.strides[i]) +
                                   " elements, which are more bytes than there are addresses");
        }
        layout.strides.push_back(bytes);
    }
    if (__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(tensor.data), tensor.byte_offset,
                               &layout.address)) {
        throw py::buffer_error("the capsule's tensor begins behind the last address");
    }
    return layout;
}

std::string device_text(std::pair<int, int> device) {
    return "(" + std::to_string(device.first) + ", " + std::to_string(device.second) + ")";
}

DeviceArray adopt_content(const Content& content, const core::DevicePtr& near, const ForeignOrder& order) {
    const DLDevice& on = content.tensor->device;
    if (on.device_type == kDLCPU) {
        throw py::buffer_error(
            "the capsule's tensor is in the host's memory: pass the array itself, or cuscope.to_device() of "
            "it");
    }
    const core::DevicePtr device = device_of_dlpack({on.device_type, on.device_id}, near);
    ForeignLayout layout = layout_of(*content.tensor);
    layout.read_only = content.read_only;
    return adopt(layout, device, content.owner, order);
}

py::object interned(const char* text) {
    return py::reinterpret_steal<py::object>(PyUnicode_InternFromString(text));
}

// An item of a dictionary, which another thread may change meanwhile; null if there is none, or for an error.
py::object item_of_dict(PyObject* dict, PyObject* key) {
#ifdef Py_GIL_DISABLED
    PyObject* found = nullptr;
    PyDict_GetItemRef(dict, key, &found);
    return py::reinterpret_steal<py::object>(found);
#else
    return py::reinterpret_borrow<py::object>(PyDict_GetItemWithError(dict, key));
#endif
}

// The C functions that the type of an array publishes; null if there are none of a version that is
// understood. A derived type may change what __dlpack__ does, which the functions of its base do not know. So
// inherited functions do not count.
const DLPackExchangeAPI* functions_of(PyTypeObject* type) {
    static constinit MadeOnce name;
    if (type->tp_dict == nullptr) return nullptr;
    const py::object held =
        item_of_dict(type->tp_dict, name.get([] { return interned(dlpack::functions_attribute); }));
    PyObject* const capsule = held.ptr();
    if (capsule == nullptr || PyCapsule_IsValid(capsule, dlpack::functions_capsule) == 0) {
        PyErr_Clear();
        return nullptr;
    }
    const auto* header =
        static_cast<const DLPackExchangeAPIHeader*>(PyCapsule_GetPointer(capsule, dlpack::functions_capsule));
    while (header != nullptr && header->version.major != DLPACK_MAJOR_VERSION) header = header->prev_api;
    const auto* const functions = reinterpret_cast<const DLPackExchangeAPI*>(header);
    const bool complete = functions != nullptr &&
                          functions->managed_tensor_from_py_object_no_sync != nullptr &&
                          functions->current_work_stream != nullptr;
    return complete ? functions : nullptr;
}

// Is an attribute of the object true, or its answer if it is a method? False if its type has no such
// attribute.
bool says(const py::object& object, PyObject* name) {
    if (_PyType_Lookup(Py_TYPE(object.ptr()), name) == nullptr) return false;
    py::object value = object.attr(py::handle(name));
    if (PyCallable_Check(value.ptr()) != 0) value = value();
    const int truth = PyObject_IsTrue(value.ptr());
    if (truth < 0) throw py::error_already_set();
    return truth == 1;
}

}  // namespace

core::DevicePtr device_of_dlpack(std::pair<int, int> device, const core::DevicePtr& near) {
    const auto [type, id] = device;
    const bool simulated = type == dlpack::simulated;
    const bool any = type == kDLCUDAHost || type == kDLCUDAManaged;
    if (simulated || any || type == kDLCUDA) {
        if (near->simulated() == simulated && (any || near->ordinal() == id)) return near;
        for (const core::DevicePtr& known : core::devices()) {
            if (known->simulated() == simulated && (any || known->ordinal() == id)) return known;
        }
    }
    throw py::buffer_error("the array is on DLPack's device " + device_text(device) +
                           ", which is none of cuscope.devices(): copy it to the host first");
}

std::pair<int, int> dlpack_device_of(const py::object& object) {
    const py::object answer = object.attr("__dlpack_device__")();
    if (!py::isinstance<py::tuple>(answer) || py::len(answer) != 2) {
        throw core::WrongKind("__dlpack_device__() gives " + py::repr(answer).cast<std::string>() +
                              "; the protocol has it return (type, id)");
    }
    const auto pair = py::reinterpret_borrow<py::tuple>(answer);
    std::pair<int, int> device;
    for (const int i : {0, 1}) {
        const std::size_t number = parse_size(pair[static_cast<std::size_t>(i)], "__dlpack_device__()");
        if (number > std::numeric_limits<int>::max()) {
            throw std::invalid_argument("__dlpack_device__(): " + std::to_string(number) + " is no device");
        }
        (i == 0 ? device.first : device.second) = static_cast<int>(number);
    }
    return device;
}

DeviceArray from_dlpack_capsule(const py::object& capsule, const core::DevicePtr& near,
                                const core::StreamPtr& ready) {
    return adopt_content(open_capsule(capsule), near, {ready});
}

DeviceArray from_dlpack_tensor(DLManagedTensorVersioned* tensor, const core::DevicePtr& near,
                               const core::StreamPtr& ready) {
    return adopt_content(opened(tensor), near, {ready});
}

namespace {

// The stream of ours that DLPack prepares an array on `device` for.
core::StreamPtr stream_for(const core::DevicePtr& device, const core::StreamPtr& stream) {
    core::StreamPtr on = &stream->device() == device.get() ? stream : core::current_stream(device);
    on->check_usable();
    return on;
}

}  // namespace

std::optional<DeviceArray> from_dlpack_functions(const py::object& object, const core::StreamPtr& stream) {
    static constinit ParameterNames names("requires_grad", "is_conj");
    PyObject *const requires_grad = names.made()[0], *const is_conj = names.made()[1];
    const DLPackExchangeAPI* const functions = functions_of(Py_TYPE(object.ptr()));
    // Only __dlpack__ lets a producer refuse tensors that record gradients. And the functions give their
    // stream as a handle, in which no event may be recorded while a stream is captured.
    if (functions == nullptr || core::captures_underway() > 0 || says(object, requires_grad))
        return std::nullopt;
    DLManagedTensorVersioned* managed = nullptr;
    const bool exported =
        functions->managed_tensor_from_py_object_no_sync(object.ptr(), &managed) == 0 && managed != nullptr;
    if (!exported) {
        PyErr_Clear();  // __dlpack__ reports the error
        return std::nullopt;
    }
    const Content content = opened(managed);
    const DLTensor& tensor = *content.tensor;
    const DLDevice on = tensor.device;
    const bool ours = on.device_type == kDLCUDA || on.device_type == dlpack::simulated;
    // A lazy conjugate has the bits of the number that it is the conjugate of.
    if (!ours || (tensor.dtype.code == kDLComplex && says(object, is_conj))) return std::nullopt;
    void* theirs = nullptr;
    if (functions->current_work_stream(on.device_type, on.device_id, &theirs) != 0) {
        PyErr_Clear();
        return std::nullopt;
    }
    if (theirs == nullptr) theirs = stream_legacy;
    const core::DevicePtr device =
        device_of_dlpack({on.device_type, on.device_id}, stream->device().shared_from_this());
    const core::StreamPtr ready = stream_for(device, stream);
    DeviceArray array = adopt_content(content, device, {nullptr, static_cast<StreamHandle>(theirs), true});
    without_gil([&] { array.open()->make_wait(ready); });
    return array;
}

DeviceArray from_dlpack_object(const py::object& object, const core::StreamPtr& stream) {
    const std::pair<int, int> on = dlpack_device_of(object);
    const core::DevicePtr device = device_of_dlpack(on, stream->device().shared_from_this());
    core::StreamPtr ready = stream_for(device, stream);
    // The per-thread default stream would mean a different stream to a producer on a thread of its own, and
    // some producers refuse it. It waits for the legacy default stream anyway, so pass that one.
    if (ready->handle() == stream_per_thread) ready = device->legacy_stream();
    const py::object method = object.attr("__dlpack__");
    const bool has_stream = on.first != kDLCUDAHost;
    py::dict arguments;
    if (has_stream) arguments["stream"] = reinterpret_cast<std::uintptr_t>(ready->handle());
    py::dict versioned = arguments.attr("copy")();
    versioned["max_version"] = py::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
    py::object capsule;
    try {
        capsule = method(**versioned);
    } catch (py::error_already_set& error) {
        if (!error.matches(PyExc_TypeError)) throw;
        capsule = method(**arguments);  // a producer from before max_version and copy
    }
    return from_dlpack_capsule(capsule, device, has_stream ? ready : nullptr);
}

}  // namespace cuscope::bindings
