// The contents of Python's objects: an object of core until it is closed, and its data that remain known
// afterwards.
#pragma once

#include <pybind11/numpy.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/support/python.hpp"
#include "core/device/devices.hpp"
#include "core/memory/copy.hpp"
#include "core/memory/mem_pool.hpp"
#include "core/module/arguments.hpp"
#include "core/module/module.hpp"
#include "core/stream/event.hpp"

namespace cuscope::bindings {

struct StreamObject {
    // `owner`: an object of another library that names one of our streams. It may be what keeps the program's
    // own Stream open.
    explicit StreamObject(const core::StreamPtr& stream, std::shared_ptr<void> owner = nullptr);
    ~StreamObject();

    Held<core::Stream> open() const {
        Held<core::Stream> held = stream.get();
        if (!held) throw std::invalid_argument("Stream is closed");
        return held;
    }

    void close();

    core::DevicePtr device;
    int priority() const {
        Held<core::Stream> held = stream.get();
        return held ? held->priority() : made_priority;
    }

    unsigned flags;
    int made_priority;
    unsigned long long id, serial;  // id: 0 for default streams
    std::string name;               // of a default stream; otherwise empty
    std::shared_ptr<void> owner;
    [[no_unique_address]] StateLock owner_lock;
    std::atomic<bool> foreign = false;  // created by another library, and kept alive by the stream itself
    Closable<core::Stream> stream;
};
using StreamObjectPtr = std::shared_ptr<StreamObject>;

// The Python object of a stream. There is only one while anything refers to it.
StreamObjectPtr wrap(const core::StreamPtr& stream);
// The same, or null if there is none.
StreamObjectPtr wrapper_of(const core::Stream& stream);
// Parse the arguments `stream` and `device`. Null for None; a TypeError names a wrong type. A stream of
// another library is taken to belong to the runtime of `near`, or else of the current device.
StreamObjectPtr parse_stream(py::handle stream, const core::DevicePtr& near = nullptr);
// The given stream, or the current one of the device; null: of the current device.
core::StreamPtr stream_or_current(py::handle stream, const core::DevicePtr& device = nullptr);
core::DevicePtr device_or_current(py::handle device);
core::DevicePtr current_device();

struct EventObject {
    EventObject(const core::DevicePtr& device, unsigned flags);

    Held<core::Event> open() const {
        Held<core::Event> held = event.get();
        if (!held) throw std::invalid_argument("Event is closed");
        return held;
    }

    core::DevicePtr device;
    unsigned flags;
    Closable<core::Event> event;
};
using EventObjectPtr = std::shared_ptr<EventObject>;

struct DeviceArray {
    Held<core::DeviceMemory> open() const {
        Held<core::DeviceMemory> held = memory.get();
        if (!held) throw std::invalid_argument("DeviceArray is closed");
        return held;
    }
    // The elements of a contiguous array. For other arrays only the offset is meaningful.
    core::DeviceSpan span() const { return {open(), offset, bytes}; }
    // The address of the first element; null for an empty array.
    std::byte* pointer() const { return pointer_in(*open()); }
    std::byte* pointer_in(const core::DeviceMemory& its_memory) const {
        void* const begin = its_memory.pointer();
        return begin == nullptr ? nullptr : static_cast<std::byte*>(begin) + offset;
    }
    // Are the elements contiguous in C order, as one-dimensional copies need them?
    bool contiguous() const { return packed; }
    // Are the elements of each row contiguous, and the rows in order? True for pitched memory, too.
    bool rows_contiguous() const;
    // The range of bytes [low, high) that the elements use, relative to the first element's address.
    std::pair<py::ssize_t, py::ssize_t> reach() const;

    core::DevicePtr device;
    SharedOwner<core::DeviceMemory> memory;  // empty once closed
    std::size_t offset = 0, bytes = 0;
    std::vector<py::ssize_t> shape;
    py::dtype dtype;
    core::ElementType element;
    std::vector<py::ssize_t> strides{};  // bytes; empty: C-contiguous
    bool packed = true;
    bool read_only = false;  // declared by another library
};

// A new Python object with the array.
PyObject* object_of(DeviceArray&& array);
std::vector<py::ssize_t> contiguous_strides(const std::vector<py::ssize_t>& shape, py::ssize_t itemsize);
std::vector<py::ssize_t> strides_of(const DeviceArray& array);
// A view of the same memory. `first_byte` is relative to the first element.
DeviceArray view(const DeviceArray& array, py::ssize_t first_byte, std::vector<py::ssize_t> shape,
                 std::vector<py::ssize_t> strides);
DeviceArray item(const DeviceArray& array, py::handle index);
DeviceArray reshape(const DeviceArray& array, const py::args& shape);
DeviceArray reshape(const DeviceArray& array, std::vector<py::ssize_t> shape);
DeviceArray transpose(const DeviceArray& array, const py::args& axes);
DeviceArray transpose(const DeviceArray& array);  // the axes in reverse order
DeviceArray copy(const DeviceArray& array, const core::StreamPtr& stream);

// Copies between arrays of equal shape and dtype.
void upload(const DeviceArray& array, const py::array& source, const core::StreamPtr& stream);
void download(const DeviceArray& array, py::array& destination, const core::StreamPtr& stream);
// A new array on the host with the elements. Waits for the stream.
py::array host_copy(const DeviceArray& array, const core::StreamPtr& stream);
void copy_array(const DeviceArray& destination, const DeviceArray& source, const core::StreamPtr& stream);
// Converts a value to one element of the dtype. Throws if the dtype cannot hold the value.
py::array one_element(const py::object& value, const py::dtype& dtype);
void fill_array(const DeviceArray& array, const py::array& element, const core::StreamPtr& stream);
std::vector<py::ssize_t> shape_of(const py::array& array);
std::vector<py::ssize_t> strides_of(const py::array& array);
// The memory from the first to the last element: its begin and its bytes.
std::pair<std::byte*, std::size_t> range_of(const py::array& array);
// Converts a source of a copy to a NumPy array. `what` is the argument's name.
py::array host_array_of(const py::object& source, const char* what);
py::tuple shape_tuple(const std::vector<py::ssize_t>& shape);
std::string describe(const std::vector<py::ssize_t>& shape);
std::string describe(const py::dtype& dtype);
// The call that converts an array on the host to the dtype, for advice in messages.
std::string astype(const py::dtype& dtype);
// An array over memory that was allocated for it.
DeviceArray array_over(std::shared_ptr<core::DeviceMemory> memory, std::vector<py::ssize_t> shape,
                       const py::dtype& dtype);
// Throws if the array is read-only. `what` is the argument's name.
void check_writeable(const DeviceArray& array, const char* what);
// Keeps a Python object alive. The owner may be dropped on threads without the GIL.
std::shared_ptr<void> kept(const py::object& object);
// The same, for copies that keep the object only if they have to. The object must live until the copy's call
// returns.
core::KeepAlive keeping(const py::object& object);

// A new array with uninitialised elements. Checks the shape and the dtype.
DeviceArray new_array(const core::StreamPtr& stream, std::vector<py::ssize_t> shape, const py::dtype& dtype,
                      const std::shared_ptr<core::MemPool>& pool = nullptr);
std::vector<py::ssize_t> parse_shape(py::handle shape);
// Is it an integer, that is, does it support operator.index()? NumPy's arrays claim so for all contents, so
// they are checked.
bool is_integer(py::handle value);
// The int of an integer; throws WrongKind with the allowed types for anything else.
py::object as_integer(py::handle value, const std::string& what, const char* allowed = "an int");
// Describes a value in an error message: its type, and the shape of an array.
std::string kind_of(py::handle value);
// A number of bytes or items; `what` is the argument's name.
std::size_t parse_size(py::handle value, const std::string& what);
inline constexpr int first_foreign_dtype = 256;  // NPY_USERDEF: types that NumPy does not have itself
py::dtype parse_dtype(py::handle dtype);
// Throws if `value` cannot be an element of an array: None, text, and objects that NumPy does not know.
void check_value(py::handle value);
core::ElementType element_of(const py::dtype& dtype);
// The same, also for the types of kernels that NumPy does not have itself, such as bfloat16.
core::ElementType kernel_element_of(const py::dtype& dtype);
std::size_t byte_count(const std::vector<py::ssize_t>& shape, const py::dtype& dtype);

// Converts a Python object so that it can be checked against a kernel's parameter. The result refers to the
// object's memory, so the object must outlive it. Arrays of other libraries are prepared for the stream.
core::Argument to_argument(py::handle object, const core::StreamPtr& stream);

// Types that refer to each other. All are declared before any is defined, so that signatures can name them.
struct Classes {
    py::class_<core::Device, py::smart_holder> device;
    py::class_<StreamObject, py::smart_holder> stream;
    py::class_<EventObject, py::smart_holder> event;
    py::class_<DeviceArray> array;

    explicit Classes(py::module_& m);
};

// Ends the current wait. The Python error that is set now is raised by the waiting call on this thread, when
// it returns.
void end_wait_with_python_error();

void bind_errors(py::module_& m);
void bind_process(py::module_& m);
void bind_devices(py::module_& m, Classes& classes);
void bind_properties(py::module_& m);  // of devices
void bind_call_costs(py::module_& m);
void bind_looks(py::module_& m);
void bind_streams(py::module_& m, Classes& classes);
void bind_stream_attributes(Classes& classes);
void bind_stream_memory(Classes& classes);
void bind_events(Classes& classes);
void bind_arrays(py::module_& m, Classes& classes);
void bind_fast_copies(py::module_& m, Classes& classes);
void bind_fast_views(py::module_& m, Classes& classes);
void bind_pinned(py::module_& m);
void bind_memory_kinds(py::module_& m, Classes& classes);
void bind_pools(py::module_& m, Classes& classes);
void bind_textures(py::module_& m);
void bind_tensor_maps(py::module_& m);
void bind_interop(py::module_& m, Classes& classes);
void bind_launch_attributes(py::module_& m);
void bind_kernels(py::module_& m);
void bind_modules(py::module_& m);
void bind_operations(py::module_& m);
void bind_external_semaphores(py::module_& m, Classes& classes);
void bind_memory_operations(py::module_& m, Classes& classes);
void bind_graphs(py::module_& m, Classes& classes);
void bind_captures(py::module_& m, Classes& classes);
void bind_contract(py::module_& m);
void bind_faults(py::module_& m);
void bind_traced_contract(py::module_& m);
void bind_pending(py::module_& m);
void bind_tracing(py::module_& m);
// Finds the types that are bound so far.
std::vector<py::type> own_types(const py::module_& m);
void refuse_uninitialised_objects(const py::module_& m);
void define_copying(const py::module_& m);
// Replaces pybind11's message for wrong argument types by a readable one.
void explain_wrong_arguments(const py::module_& m);
void bind_array_operators(Classes& classes);

}  // namespace cuscope::bindings
