// Views of device arrays: basic indexing, transposes, reshapes. Nothing is copied here.
#include <algorithm>
#include <optional>
#include <span>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

std::vector<py::ssize_t> contiguous_strides(const std::vector<py::ssize_t>& shape, py::ssize_t itemsize) {
    std::vector<py::ssize_t> strides(shape.size());
    py::ssize_t step = itemsize;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = step;
        step *= std::max<py::ssize_t>(1, shape[i]);
    }
    return strides;
}

std::vector<py::ssize_t> strides_of(const DeviceArray& array) {
    return array.strides.empty() ? contiguous_strides(array.shape, array.dtype.itemsize()) : array.strides;
}

bool DeviceArray::rows_contiguous() const {
    if (packed) return true;
    py::ssize_t row = dtype.itemsize();
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] == 1) continue;
        if (i + 1 == shape.size() ? strides[i] != row : strides[i] < row) return false;
        row = strides[i] * shape[i];
    }
    return true;
}

std::pair<py::ssize_t, py::ssize_t> DeviceArray::reach() const {
    if (bytes == 0) return {0, 0};
    if (packed) return {0, static_cast<py::ssize_t>(bytes)};
    py::ssize_t low = 0, high = dtype.itemsize();
    for (std::size_t i = 0; i < shape.size(); ++i) {
        (strides[i] < 0 ? low : high) += strides[i] * (shape[i] - 1);
    }
    return {low, high};
}

DeviceArray view(const DeviceArray& array, py::ssize_t first_byte, std::vector<py::ssize_t> shape,
                 std::vector<py::ssize_t> strides) {
    const std::size_t bytes = byte_count(shape, array.dtype);
    const py::ssize_t moved = bytes > 0 ? first_byte : 0;
    bool dense = true, packed = true;
    py::ssize_t step = array.dtype.itemsize();
    for (std::size_t i = shape.size(); i-- > 0;) {
        dense = dense && strides[i] == step;
        packed = packed && (bytes == 0 || shape[i] == 1 || strides[i] == step);
        step *= std::max<py::ssize_t>(1, shape[i]);
    }
    if (dense) strides = {};
    return {array.device,
            array.memory,
            static_cast<std::size_t>(static_cast<py::ssize_t>(array.offset) + moved),
            bytes,
            std::move(shape),
            array.dtype,
            array.element,
            std::move(strides),
            packed,
            array.read_only};
}

DeviceArray item(const DeviceArray& array, py::handle index) {
    array.open();
    PyObject* const only = index.ptr();
    const bool several = PyTuple_Check(only) != 0;
    const std::span<PyObject* const> parts(several ? reinterpret_cast<PyTupleObject*>(only)->ob_item : &only,
                                           several ? static_cast<std::size_t>(PyTuple_GET_SIZE(only)) : 1);
    std::vector<py::ssize_t> computed;
    if (array.strides.empty()) computed = contiguous_strides(array.shape, array.dtype.itemsize());
    const std::vector<py::ssize_t>& strides = array.strides.empty() ? computed : array.strides;
    const std::size_t axes = array.shape.size();
    std::size_t named = 0;
    bool ellipsis = false;
    for (const py::handle part : parts) {
        if (part.ptr() == Py_Ellipsis) {
            if (ellipsis) throw py::index_error("index: has more than one '...'");
            ellipsis = true;
        } else if (!part.is_none()) {
            ++named;
        }
    }
    if (named > axes) {
        if (axes == 0) throw py::index_error("an array without axes has no items: use .to_host()");
        throw py::index_error("index: names " + std::to_string(named) + " axes of an array that has " +
                              std::to_string(axes));
    }
    std::vector<py::ssize_t> new_shape, new_strides;
    new_shape.reserve(axes + parts.size());
    new_strides.reserve(axes + parts.size());
    py::ssize_t first = 0;
    std::size_t axis = 0;
    const auto keep = [&](std::size_t count) {
        for (; count > 0; --count, ++axis) {
            new_shape.push_back(array.shape[axis]);
            new_strides.push_back(strides[axis]);
        }
    };
    for (const py::handle part : parts) {
        if (part.ptr() == Py_Ellipsis) {
            keep(axes - named);
        } else if (part.is_none()) {
            new_shape.push_back(1);
            new_strides.push_back(0);
        } else if (PySlice_Check(part.ptr())) {
            py::ssize_t start = 0, stop = 0, step = 0;
            if (PySlice_Unpack(part.ptr(), &start, &stop, &step) < 0) throw py::error_already_set();
            const py::ssize_t count = PySlice_AdjustIndices(array.shape[axis], &start, &stop, step);
            if (count > 0) first += start * strides[axis];
            new_shape.push_back(count);
            new_strides.push_back(strides[axis] * step);
            ++axis;
        } else {
            if (!is_integer(part) || PyBool_Check(part.ptr())) {
                throw core::WrongKind("index: takes ints, slices, ... and None, not " + kind_of(part) +
                                      ": index the host's copy, .to_host()[...]");
            }
            // An index beyond the range of addresses is clipped. It is out of range in any case.
            py::ssize_t at = PyNumber_AsSsize_t(part.ptr(), nullptr);
            if (at == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
            const py::ssize_t length = array.shape[axis];
            if (at < 0) at += length;
            if (at < 0 || at >= length) {
                throw py::index_error("index " + py::str(part).cast<std::string>() + " is outside axis " +
                                      std::to_string(axis) + " of " + std::to_string(length));
            }
            first += at * strides[axis];
            ++axis;
        }
    }
    keep(axes - axis);
    return view(array, first, std::move(new_shape), std::move(new_strides));
}

namespace {

// Treats f(1, 2) and f((1, 2)) alike.
py::tuple spread(const py::args& arguments, const char* what) {
    if (arguments.size() != 1 || is_integer(py::object(arguments[0]))) return arguments;
    const py::object only = arguments[0];
    if (only.is_none()) return py::tuple();
    if (PySequence_Check(only.ptr()) == 0 || PyUnicode_Check(only.ptr()) || PyBytes_Check(only.ptr()) ||
        py::isinstance<DeviceArray>(only) ||
        (py::isinstance<py::array>(only) && py::reinterpret_borrow<py::array>(only).ndim() != 1)) {
        throw core::WrongKind(std::string(what) + ": takes ints or a tuple of ints, not " + kind_of(only));
    }
    return py::tuple(only);
}

py::ssize_t as_index(py::handle value, const char* what) {
    const py::object number = as_integer(value, what, "ints");
    const py::ssize_t index = PyLong_AsSsize_t(number.ptr());
    if (index != -1 || PyErr_Occurred() == nullptr) return index;
    PyErr_Clear();
    throw std::invalid_argument(std::string(what) + ": " + py::str(number).cast<std::string>() +
                                " needs more than 64 bits");
}

// The strides for the same memory in another shape; nothing if only a copy can have this shape. Axes that are
// split or joined must be contiguous in memory.
std::optional<std::vector<py::ssize_t>> reshaped_strides(const DeviceArray& array,
                                                         const std::vector<py::ssize_t>& shape) {
    const std::vector<py::ssize_t> all = strides_of(array);
    std::vector<py::ssize_t> old, steps;
    for (std::size_t i = 0; i < array.shape.size(); ++i) {
        if (array.shape[i] == 1) continue;
        old.push_back(array.shape[i]);
        steps.push_back(all[i]);
    }
    std::vector<py::ssize_t> strides(shape.size(), array.dtype.itemsize());
    std::size_t from = 0, to = 0;
    while (from < old.size() && to < shape.size()) {
        std::size_t from_end = from + 1, to_end = to + 1;
        py::ssize_t have = old[from], want = shape[to];
        while (have != want) have < want ? have *= old[from_end++] : want *= shape[to_end++];
        for (std::size_t i = from; i + 1 < from_end; ++i) {
            if (steps[i] != steps[i + 1] * old[i + 1]) return std::nullopt;
        }
        py::ssize_t step = steps[from_end - 1];
        for (std::size_t i = to_end; i-- > to;) {
            strides[i] = step;
            step *= shape[i];
        }
        from = from_end;
        to = to_end;
    }
    return strides;
}

}  // namespace

DeviceArray transpose(const DeviceArray& array) {
    array.open();
    std::vector<py::ssize_t> shape(array.shape.rbegin(), array.shape.rend()), strides = strides_of(array);
    std::reverse(strides.begin(), strides.end());
    return view(array, 0, std::move(shape), std::move(strides));
}

DeviceArray transpose(const DeviceArray& array, const py::args& arguments) {
    array.open();
    const std::vector<py::ssize_t> strides = strides_of(array);
    const auto axes = static_cast<py::ssize_t>(array.shape.size());
    std::vector<py::ssize_t> order;
    for (const py::handle value : spread(arguments, "axes")) {
        const py::ssize_t axis = as_index(value, "axes");
        order.push_back(axis < 0 ? axis + axes : axis);
    }
    if (order.empty()) return transpose(array);
    std::vector<py::ssize_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    bool permutation = sorted.size() == array.shape.size();
    for (std::size_t i = 0; permutation && i < sorted.size(); ++i) {
        permutation = sorted[i] == static_cast<py::ssize_t>(i);
    }
    if (!permutation) {
        const std::string last = axes == 1 ? "0" : "each of 0 to " + std::to_string(axes - 1);
        throw std::invalid_argument("axes: " + describe(order) + " is no order of the array's " +
                                    std::to_string(axes) + (axes == 1 ? " axis: " : " axes: ") + last +
                                    " has to be there once");
    }
    std::vector<py::ssize_t> new_shape, new_strides;
    for (const py::ssize_t axis : order) {
        new_shape.push_back(array.shape[static_cast<std::size_t>(axis)]);
        new_strides.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    return view(array, 0, std::move(new_shape), std::move(new_strides));
}

DeviceArray reshape(const DeviceArray& array, const py::args& arguments) {
    array.open();
    std::vector<py::ssize_t> shape;
    for (const py::handle value : spread(arguments, "shape")) shape.push_back(as_index(value, "shape"));
    return reshape(array, std::move(shape));
}

DeviceArray reshape(const DeviceArray& array, std::vector<py::ssize_t> shape) {
    array.open();
    std::size_t unknown = 0;
    py::ssize_t known = 1;
    for (const py::ssize_t extent : shape) {
        if (extent < -1) throw std::invalid_argument("shape: extents are 0 or more, or one -1");
        if (extent < 0) {
            ++unknown;
        } else if (__builtin_mul_overflow(known, extent, &known)) {
            throw std::invalid_argument("shape: has more elements than there are addresses");
        }
    }
    const auto size =
        static_cast<py::ssize_t>(array.bytes / static_cast<std::size_t>(array.dtype.itemsize()));
    if (unknown == 1 && known != 0 && size % known == 0) {
        std::replace(shape.begin(), shape.end(), py::ssize_t{-1}, size / known);
        known = size;
        unknown = 0;
    }
    if (unknown != 0 || known != size) {
        throw std::invalid_argument("shape: " + describe(shape) + " does not hold the " +
                                    std::to_string(size) + " elements of an array of shape " +
                                    describe(array.shape));
    }
    std::vector<py::ssize_t> strides = contiguous_strides(shape, array.dtype.itemsize());
    if (array.contiguous()) return view(array, 0, std::move(shape), std::move(strides));
    if (auto same = reshaped_strides(array, shape)) return view(array, 0, std::move(shape), std::move(*same));
    const DeviceArray dense = copy(array, core::current_stream(array.device));
    return view(dense, 0, std::move(shape), std::move(strides));
}

}  // namespace cuscope::bindings
