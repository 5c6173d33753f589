// NumPy's shapes and dtypes, and Python objects as kernel arguments.
#include <cstring>
#include <limits>
#include <string_view>

#include "bindings/graphs/graphs.hpp"
#include "bindings/interop/import.hpp"
#include "bindings/support/objects.hpp"
#include "bindings/textures/tensor_maps.hpp"
#include "bindings/textures/texture_objects.hpp"

namespace cuscope::bindings {
namespace {

constexpr std::size_t most_axes = 64;
constexpr Py_ssize_t most_lanes = 4;  // of a vector type

const char* type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

void set_integer(core::Argument& argument, py::handle object) {
    argument.kind = core::Argument::Kind::integer;
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (overflow == 0) {
        argument.integer = static_cast<std::uint64_t>(value);
        argument.negative = value < 0;
        return;
    }
    argument.negative = overflow < 0;
    argument.too_big = true;
    argument.text = py::str(object).cast<std::string>();
    if (overflow < 0) return;
    const unsigned long long natural = PyLong_AsUnsignedLongLong(object.ptr());
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return;
    }
    argument.integer = natural;
    argument.too_big = false;
}

void set_structured(core::Argument& argument, const py::dtype& dtype) {
    argument.structured = dtype.kind() == 'V';
    argument.item_bytes = static_cast<std::size_t>(dtype.itemsize());
    argument.unaligned = argument.structured && !dtype.attr("isalignedstruct").cast<bool>();
}

void set_raw(core::Argument& argument, const void* bytes, std::size_t count) {
    if (count == 0 || count > argument.raw.size()) return;
    std::memcpy(argument.raw.data(), bytes, count);
    argument.raw_bytes = count;
}

// Sets a scalar of a type that NumPy does not have, such as bfloat16 from ml_dtypes.
void set_foreign_scalar(core::Argument& argument, py::handle object, const py::dtype& dtype) {
    const auto name = py::str(dtype.attr("name")).cast<std::string>();
    if (const core::ElementType type = core::element_type(name); type.known()) argument.element = type;
    if (name.starts_with("int") || name.starts_with("uint"))
        return set_integer(argument, py::int_(py::reinterpret_borrow<py::object>(object)));
    argument.kind = core::Argument::Kind::real;
    argument.real = PyFloat_AsDouble(object.ptr());
    if (PyErr_Occurred() == nullptr) return;
    PyErr_Clear();
    argument.kind = core::Argument::Kind::other;
}

bool is_number(const py::dtype& dtype) {
    return std::string_view("biufc").find(dtype.kind()) != std::string_view::npos ||
           dtype.num() >= first_foreign_dtype;
}

// Sets a NumPy scalar, which has the kind of number in its dtype.
void set_numpy_scalar(core::Argument& argument, py::handle object) {
    const py::dtype dtype = object.attr("dtype");
    argument.element = element_of(dtype);
    Py_buffer buffer;
    if (is_number(dtype) && PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_SIMPLE) == 0) {
        set_raw(argument, buffer.buf, static_cast<std::size_t>(buffer.len));
        PyBuffer_Release(&buffer);
    }
    PyErr_Clear();
    if (dtype.num() >= first_foreign_dtype) return set_foreign_scalar(argument, object, dtype);
    switch (dtype.kind()) {
        case 'b':
            argument.kind = core::Argument::Kind::boolean;
            argument.integer = PyObject_IsTrue(object.ptr()) == 1;
            return;
        case 'i':
        case 'u':
            set_integer(argument, py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr())));
            return;
        case 'f':
            argument.kind = core::Argument::Kind::real;
            argument.real = PyFloat_AsDouble(object.ptr());
            return;
        case 'c':
            argument.kind = core::Argument::Kind::complex;
            argument.real = object.attr("real").cast<double>();
            argument.imaginary = object.attr("imag").cast<double>();
            return;
        case 'V':
        case 'S':
            if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_SIMPLE) != 0) {
                PyErr_Clear();
                return;
            }
            argument.kind = core::Argument::Kind::bytes;
            argument.address = buffer.buf;
            argument.bytes = static_cast<std::size_t>(buffer.len);
            PyBuffer_Release(&buffer);
            set_structured(argument, dtype);
            return;
        default:
            return;  // dates and strings
    }
}

// The number type that a buffer's format names. Unknown for structures, for pointers (which point to the
// host's memory), and for another byte order than the device's.
core::ElementType element_of_format(const char* format, std::size_t size) {
    if (format == nullptr) return {};
    std::string_view code = format;
    if (!code.empty() && (code.front() == '<' || code.front() == '=' || code.front() == '@')) {
        code.remove_prefix(1);
    }
    if (code == "Zf" || code == "Zd" || code == "F" || code == "D") return {'c', size};
    if (code.size() != 1) return {};
    if (code == "?") return {'b', size};
    if (std::string_view("cbhilqnu").find(code) != std::string_view::npos) return {'i', size};
    if (std::string_view("BHILQNP").find(code) != std::string_view::npos) return {'u', size};
    if (std::string_view("fd").find(code) != std::string_view::npos) return {'f', size};
    return {};
}

template <class T>
T read_as(const void* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

double read_real(const void* bytes, std::size_t size) {
    return size == sizeof(float) ? read_as<float>(bytes) : read_as<double>(bytes);
}

// Sets a ctypes number, which is a buffer without dimensions.
bool set_ctypes_number(core::Argument& argument, PyObject* object) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_FORMAT | PyBUF_ND) != 0) {
        PyErr_Clear();
        return false;
    }
    const auto size = static_cast<std::size_t>(buffer.len);
    const core::ElementType element =
        buffer.ndim == 0 ? element_of_format(buffer.format, size) : core::ElementType{};
    if (element.known()) set_raw(argument, buffer.buf, size);
    PyBuffer_Release(&buffer);
    if (argument.raw_bytes == 0) return false;
    argument.element = element;
    const void* const bytes = argument.raw.data();
    switch (element.kind) {
        case 'b':
            argument.kind = core::Argument::Kind::boolean;
            argument.integer = argument.raw[0] != std::byte{0};
            break;
        case 'f':
            argument.kind = core::Argument::Kind::real;
            argument.real = read_real(bytes, size);
            break;
        case 'c':
            argument.kind = core::Argument::Kind::complex;
            argument.real = read_real(bytes, size / 2);
            argument.imaginary = read_real(argument.raw.data() + size / 2, size / 2);
            break;
        default: {
            argument.kind = core::Argument::Kind::integer;
            const bool with_sign = element.kind == 'i';
            const std::int64_t value = size == 1   ? read_as<std::int8_t>(bytes)
                                       : size == 2 ? read_as<std::int16_t>(bytes)
                                       : size == 4 ? read_as<std::int32_t>(bytes)
                                                   : read_as<std::int64_t>(bytes);
            argument.negative = with_sign && value < 0;
            argument.integer = static_cast<std::uint64_t>(value);
            if (!with_sign && size < 8) argument.integer &= (std::uint64_t{1} << (8 * size)) - 1;
        }
    }
    return true;
}

// Sets ctypes numbers and structures, and other objects with their bytes in one fixed place.
bool set_buffer(core::Argument& argument, PyObject* object) {
    if (PyObject_CheckBuffer(object) == 0 || PyByteArray_Check(object) || PyMemoryView_Check(object))
        return false;
    if (set_ctypes_number(argument, object)) return true;
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) != 0) {
        PyErr_Clear();
        return false;
    }
    argument.kind = core::Argument::Kind::bytes;
    argument.address = buffer.buf;
    argument.bytes = static_cast<std::size_t>(buffer.len);
    PyBuffer_Release(&buffer);
    return true;
}

py::handle numpy_generic() {
    static constinit MadeOnce type;
    return type.get([] { return numpy().attr("generic"); });
}

void set_host_array(core::Argument& argument, py::handle object, const core::Device& device) {
    const auto array = py::reinterpret_borrow<py::array>(object);
    argument.element = kernel_element_of(array.dtype());
    set_structured(argument, array.dtype());
    argument.bytes = static_cast<std::size_t>(array.nbytes());
    argument.address = array.data();
    argument.writeable = array.writeable();
    argument.contiguous = (array.flags() & py::array::c_style) != 0;
    argument.memory =
        core::PinnedMemory::find(device, argument.address, argument.contiguous ? argument.bytes : 1);
    argument.kind = argument.memory ? core::Argument::Kind::pinned_array : core::Argument::Kind::host_array;
    if (array.ndim() != 0 || !is_number(array.dtype())) return;
    const py::object number = object[py::tuple()];
    if (!py::isinstance(number, numpy_generic())) return;
    core::Argument& part = argument.parts.emplace_back();
    part.type_name = argument.type_name;
    set_numpy_scalar(part, number);
}

// A text as error messages show it, shortened.
std::string shown(py::handle text) {
    constexpr std::size_t most = 40;
    const auto whole = py::repr(text).cast<std::string>();
    if (whole.size() <= most) return whole;
    const py::object begin = py::repr(text[py::slice(0, most / 2, 1)]);
    return begin.cast<std::string>() + "...";
}

}  // namespace

bool is_integer(py::handle value) {
    if (PyIndex_Check(value.ptr()) == 0) return false;
    if (!py::isinstance<py::array>(value)) return true;
    const auto array = py::reinterpret_borrow<py::array>(value);
    return array.ndim() == 0 && std::string_view("iu").find(array.dtype().kind()) != std::string_view::npos;
}

std::string kind_of(py::handle value) {
    std::string text = type_name(value);
    if (text.starts_with("cuscope.")) text.erase(0, text.rfind('.') + 1);
    if (!py::isinstance<py::array>(value)) return text;
    const auto array = py::reinterpret_borrow<py::array>(value);
    return text + " of shape " + describe(shape_of(array)) + " and dtype " + describe(array.dtype());
}

py::object as_integer(py::handle value, const std::string& what, const char* allowed) {
    if (!is_integer(value)) throw core::WrongKind(what + ": takes " + allowed + ", not " + kind_of(value));
    py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!number) throw py::error_already_set();
    return number;
}

std::size_t parse_size(py::handle value, const std::string& what) {
    const py::object number = as_integer(value, what);
    int overflow = 0;
    const long long size = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow > 0) {
        throw std::invalid_argument(std::string(what) + ": " + py::str(number).cast<std::string>() +
                                    " is more than there are addresses");
    }
    if (size < 0) {
        throw std::invalid_argument(std::string(what) + ": " + py::str(number).cast<std::string>() +
                                    " is negative; allowed is 0 or more");
    }
    return static_cast<std::size_t>(size);
}

std::vector<py::ssize_t> parse_shape(py::handle shape) {
    const auto parse_extent = [](py::handle extent) {
        return static_cast<py::ssize_t>(parse_size(extent, "shape"));
    };
    if (is_integer(shape)) return {parse_extent(shape)};
    const bool array = py::isinstance<py::array>(shape);
    if (PySequence_Check(shape.ptr()) == 0 || PyUnicode_Check(shape.ptr()) || PyBytes_Check(shape.ptr()) ||
        py::isinstance<DeviceArray>(shape) ||
        (array && py::reinterpret_borrow<py::array>(shape).ndim() != 1)) {
        throw core::WrongKind("shape: takes an int or a tuple of ints, not " + kind_of(shape));
    }
    std::vector<py::ssize_t> extents;
    for (const py::object extent : py::reinterpret_borrow<py::sequence>(shape)) {
        extents.push_back(parse_extent(extent));
    }
    if (extents.size() > most_axes) {
        throw std::invalid_argument("shape: has " + std::to_string(extents.size()) + " axes; allowed are " +
                                    std::to_string(most_axes) + ", as in NumPy");
    }
    return extents;
}

namespace {

py::dtype numpy_dtype(py::handle dtype) {
    try {
        return py::dtype::from_args(py::reinterpret_borrow<py::object>(dtype));
    } catch (const py::error_already_set& error) {
        if (!error.matches(PyExc_TypeError)) throw;
    }
    const bool is_name = py::isinstance<py::str>(dtype);
    throw core::WrongKind("dtype: takes a NumPy dtype or its name, not " +
                          (is_name ? py::repr(dtype).cast<std::string>() : kind_of(dtype)));
}

}  // namespace

py::dtype parse_dtype(py::handle dtype) {
    const py::dtype parsed = numpy_dtype(dtype);
    if (std::string_view("biufc").find(parsed.kind()) != std::string_view::npos) return parsed;
    if (parsed.attr("hasobject").cast<bool>()) {
        throw core::WrongKind("dtype: " + py::str(parsed).cast<std::string>() +
                              " holds Python objects, which no device can read; take a numeric dtype");
    }
    if (parsed.itemsize() == 0 || !parsed.attr("subdtype").is_none() || parsed.kind() == 'U' ||
        parsed.kind() == 'S') {
        throw core::WrongKind("dtype: " + py::str(parsed).cast<std::string>() +
                              " is no type that kernels have; take a numeric or structured dtype");
    }
    return parsed;
}

void check_value(py::handle value) {
    if (py::isinstance<DeviceArray>(value)) {
        throw core::WrongKind("value: takes a number, not a DeviceArray: copy_from() copies arrays");
    }
    if (PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr())) return;
    const py::array array(numpy().attr("asarray")(value));
    const char kind = array.dtype().kind();
    if (kind == 'O' || kind == 'U' || kind == 'S') {
        throw core::WrongKind("value: takes a number, not " +
                              (kind == 'O' ? kind_of(value) : py::repr(value).cast<std::string>()));
    }
}

core::ElementType element_of(const py::dtype& dtype) {
    const char kind = dtype.kind();
    const bool native = dtype.byteorder() == '=' || dtype.byteorder() == '|' || dtype.byteorder() == '<';
    // NumPy's kind of some types of ml_dtypes is 'f', too.
    const bool known = native && dtype.num() < first_foreign_dtype &&
                       (kind == 'b' || kind == 'i' || kind == 'u' || kind == 'f' || kind == 'c');
    return {known ? kind : char{0}, static_cast<std::size_t>(dtype.itemsize())};
}

std::size_t byte_count(const std::vector<py::ssize_t>& shape, const py::dtype& dtype) {
    std::size_t bytes = static_cast<std::size_t>(dtype.itemsize());
    bool empty = false;
    for (const py::ssize_t extent : shape) empty = empty || extent == 0;
    if (empty) return 0;
    for (const py::ssize_t extent : shape) {
        const auto count = static_cast<std::size_t>(extent);
        if (bytes > static_cast<std::size_t>(std::numeric_limits<py::ssize_t>::max()) / count) {
            throw std::invalid_argument("shape: so many elements of " + std::to_string(dtype.itemsize()) +
                                        " bytes are more than there are addresses");
        }
        bytes *= count;
    }
    return bytes;
}

namespace {

void set_device_array(core::Argument& argument, const DeviceArray& array) {
    argument.kind = core::Argument::Kind::device_array;
    if (!array.memory.get()) return;  // closed
    argument.contiguous = array.rows_contiguous();
    argument.writeable = !array.read_only;
    const core::DeviceSpan span = array.span();
    argument.address = span.pointer();
    argument.bytes = span.bytes;
    argument.element = array.element;
    argument.memory = span.memory;
}

}  // namespace

core::Argument to_argument(py::handle object, const core::StreamPtr& stream) {
    core::Argument argument;
    argument.type_name = type_name(object);
    PyObject* const raw = object.ptr();
    if (py::isinstance<DeviceArray>(object)) {
        set_device_array(argument, object.cast<const DeviceArray&>());
    } else if (PyBool_Check(raw)) {
        argument.kind = core::Argument::Kind::boolean;
        argument.integer = raw == Py_True;
    } else if (PyLong_Check(raw)) {
        set_integer(argument, object);
    } else if (PyFloat_CheckExact(raw)) {
        argument.kind = core::Argument::Kind::real;
        argument.real = PyFloat_AS_DOUBLE(raw);
    } else if (raw == Py_None) {
        argument.kind = core::Argument::Kind::none;
    } else if (py::isinstance<py::array>(object)) {
        set_host_array(argument, object, stream->device());
    } else if (py::isinstance(object, numpy_generic())) {
        set_numpy_scalar(argument, object);
    } else if (PyBytes_Check(raw)) {
        argument.kind = core::Argument::Kind::bytes;
        argument.address = PyBytes_AS_STRING(raw);
        argument.bytes = static_cast<std::size_t>(PyBytes_GET_SIZE(raw));
    } else if (PyFloat_Check(raw)) {
        argument.kind = core::Argument::Kind::real;
        argument.real = PyFloat_AsDouble(raw);
    } else if (PyComplex_Check(raw)) {
        argument.kind = core::Argument::Kind::complex;
        argument.real = PyComplex_RealAsDouble(raw);
        argument.imaginary = PyComplex_ImagAsDouble(raw);
    } else if (set_texture(argument, object) || set_graph_exec(argument, object) ||
               set_tensor_map(argument, object)) {
        return argument;
    } else if (const auto foreign = foreign_array(object, stream)) {
        set_device_array(argument, *foreign);
    } else if (PyIndex_Check(raw)) {
        const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(raw));
        if (!number) throw py::error_already_set();
        set_integer(argument, number);
    } else if ((PyTuple_Check(raw) || PyList_Check(raw)) && PySequence_Size(raw) <= most_lanes) {
        argument.kind = core::Argument::Kind::sequence;
        for (const py::object part : py::reinterpret_borrow<py::sequence>(object)) {
            const bool nested = PyTuple_Check(part.ptr()) || PyList_Check(part.ptr());
            if (!nested) {
                argument.parts.push_back(to_argument(part, stream));
                continue;
            }
            argument.parts.emplace_back().type_name = type_name(part);
        }
    } else if (PyUnicode_Check(raw)) {
        argument.text = shown(object);
    } else {
        set_buffer(argument, raw);
    }
    return argument;
}

}  // namespace cuscope::bindings
