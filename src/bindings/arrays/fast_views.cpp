// Views of device arrays, new arrays and their properties without pybind11's dispatch.
#include <memory>

#include "bindings/support/fast_calls.hpp"

namespace cuscope::bindings {
namespace {

binaryfunc slow_subscript = nullptr;

const DeviceArray* open_array(PyObject* object) {
    const auto* const array = exactly<DeviceArray>(object);
    return array != nullptr && array->memory.get() ? array : nullptr;
}

// Appends an exact int that is not less than `least`; false for everything else.
bool append(std::vector<py::ssize_t>& extents, PyObject* value, py::ssize_t least) {
    if (PyLong_CheckExact(value) == 0) return false;
    const py::ssize_t extent = PyLong_AsSsize_t(value);
    if (extent < least || PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return false;
    }
    extents.push_back(extent);
    return true;
}

// The extents in ints, or in one tuple of them.
bool parse_extents(std::vector<py::ssize_t>& extents, PyObject* const* values, Py_ssize_t count,
                   py::ssize_t least) {
    if (count == 1 && PyTuple_CheckExact(values[0]) != 0) {
        count = PyTuple_GET_SIZE(values[0]);
        values = reinterpret_cast<PyTupleObject*>(values[0])->ob_item;
    }
    constexpr Py_ssize_t few = 8;
    if (count > few) return false;
    extents.reserve(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i)
        if (!append(extents, values[i], least)) return false;
    return true;
}

PyObject* subscript(PyObject* self, PyObject* index) {
    const DeviceArray* const array = open_array(self);
    if (array == nullptr) return slow_subscript(self, index);
    return translated([&] { return object_of(item(*array, index)); });
}

PyObject* fast_reshape(PyObject* self, const Arguments& arguments) {
    const DeviceArray* const array = open_array(self);
    std::vector<py::ssize_t> shape;
    if (array == nullptr || arguments.count == 0 || arguments.named() > 0 ||
        !parse_extents(shape, arguments.values, arguments.count, -1))
        return nullptr;
    return object_of(reshape(*array, std::move(shape)));
}

PyObject* fast_transposed(PyObject* self, const Arguments& arguments) {
    const DeviceArray* const array = open_array(self);
    return array == nullptr || !arguments.are(0) ? nullptr : object_of(transpose(*array));
}

PyObject* fast_shape(PyObject* self, const Arguments& arguments) {
    const auto* const array = exactly<DeviceArray>(self);
    return array == nullptr || !arguments.are(0) ? nullptr : shape_tuple(array->shape).release().ptr();
}

PyObject* fast_dtype(PyObject* self, const Arguments& arguments) {
    const auto* const array = exactly<DeviceArray>(self);
    return array == nullptr || !arguments.are(0) ? nullptr : Py_NewRef(array->dtype.ptr());
}

// The arguments of empty() and zeros().
struct NewArray {
    core::StreamPtr stream;  // null: the arguments are not simple
    std::vector<py::ssize_t> shape;
    py::dtype dtype;
};

NewArray parse_new(const Arguments& arguments) {
    static constinit MadeOnce float32;
    NewArray parsed;
    PyObject* stream;
    if (arguments.count < 1 || arguments.count > 2 || !take_stream(arguments, &stream) ||
        !parse_extents(parsed.shape, arguments.values, 1, 0))
        return parsed;
    parsed.dtype =
        arguments.count == 2 && arguments[1] != Py_None
            ? parse_dtype(arguments[1])
            : py::reinterpret_borrow<py::dtype>(float32.get([] { return py::dtype::of<float>(); }));
    parsed.stream = plain_stream(stream, current_device());
    return parsed;
}

PyObject* fast_empty(PyObject*, const Arguments& arguments) {
    NewArray parsed = parse_new(arguments);
    if (!parsed.stream) return nullptr;
    return object_of(new_array(parsed.stream, std::move(parsed.shape), parsed.dtype));
}

PyObject* fast_zeros(PyObject*, const Arguments& arguments) {
    NewArray parsed = parse_new(arguments);
    if (!parsed.stream) return nullptr;
    DeviceArray made = new_array(parsed.stream, std::move(parsed.shape), parsed.dtype);
    const core::DeviceSpan span = made.span();
    constexpr std::byte zero{0};
    without_gil([&] { core::fill(span, {&zero, 1}, parsed.stream); });
    return object_of(std::move(made));
}

}  // namespace

// Does the same as py::cast(), without its searches: for the type by its name, and for a Python object that
// has this array already. So the object is not in pybind11's table of objects, which only casts of pointers
// need.
PyObject* object_of(DeviceArray&& array) {
    using Holder = std::unique_ptr<DeviceArray>;
    auto value = std::make_unique<DeviceArray>(std::move(array));
    PyTypeObject* const type = type_of<DeviceArray>;
    PyObject* const object = type->tp_alloc(type, 0);
    if (object == nullptr) throw py::error_already_set();
    auto* const instance = reinterpret_cast<py::detail::instance*>(object);
    static_assert(sizeof(Holder) <= sizeof(instance->simple_value_holder) - sizeof(void*));
    instance->simple_layout = true;
    instance->owned = true;
    instance->simple_value_holder[0] = value.get();
    std::construct_at(reinterpret_cast<Holder*>(&instance->simple_value_holder[1]), std::move(value));
    instance->simple_holder_constructed = true;
    return object;
}

void bind_fast_views(py::module_& m, Classes& classes) {
    FastMethod<fast_empty>::put_before(m, "empty");
    FastMethod<fast_zeros>::put_before(m, "zeros");
    FastMethod<fast_reshape>::put_before(classes.array, "reshape");
    FastMethod<fast_transposed>::put_before_getter(classes.array, "T");
    FastMethod<fast_shape>::put_before_getter(classes.array, "shape");
    FastMethod<fast_dtype>::put_before_getter(classes.array, "dtype");
    // The operator [] finds the slot without looking for __getitem__.
    auto* const type = reinterpret_cast<PyTypeObject*>(classes.array.ptr());
    slow_subscript = type->tp_as_mapping->mp_subscript;
    type->tp_as_mapping->mp_subscript = subscript;
}

}  // namespace cuscope::bindings
