// What Python's objects hold: an owner of core, until it is closed, and what is known of it after that.
#pragma once

#include <pybind11/numpy.h>

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
    // `owner`: another library's object that names a stream of ours, and may be what keeps the program's own
    // Stream open.
    explicit StreamObject(const core::StreamPtr& stream, std::shared_ptr<void> owner = nullptr);
    ~StreamObject();

    const core::StreamPtr& open() const {
        if (!stream) throw std::invalid_argument("Stream is closed");
        return stream.get();
    }

    void close();

    core::DevicePtr device;
    int priority() const { return stream ? stream->priority() : made_priority; }

    unsigned flags;
    int made_priority;
    unsigned long long id, serial;
    std::string name;  // of a default stream; else empty
    std::shared_ptr<void> owner;
    bool foreign = false;  // of another library, whose object the stream itself keeps
    Closable<core::Stream> stream;
};
using StreamObjectPtr = std::shared_ptr<StreamObject>;

// The one Python object that stands for a stream while anything refers to it.
StreamObjectPtr wrap(const core::StreamPtr& stream);
// Arguments `stream` and `device`: a TypeError says what else came. Null for None. Streams of other libraries
// are taken to be of the runtime of `near`, or else of the current device's.
StreamObjectPtr parse_stream(py::handle stream, const core::DevicePtr& near = nullptr);
// The given stream, or the current one of the device.
core::StreamPtr stream_or_current(py::handle stream, const core::DevicePtr& device);
core::DevicePtr device_or_current(py::handle device);
core::DevicePtr current_device();

struct EventObject {
    EventObject(const core::DevicePtr& device, unsigned flags);

    const std::shared_ptr<core::Event>& open() const {
        if (!event) throw std::invalid_argument("Event is closed");
        return event.get();
    }

    core::DevicePtr device;
    unsigned flags;
    Closable<core::Event> event;
};
using EventObjectPtr = std::shared_ptr<EventObject>;

struct DeviceArray {
    const std::shared_ptr<core::DeviceMemory>& open() const {
        if (!memory.get()) throw std::invalid_argument("DeviceArray is closed");
        return memory.get();
    }
    // Of a contiguous array: its elements. Of another: where its first element is.
    core::DeviceSpan span() const { return {open(), offset, bytes}; }
    // Where its first element is; null for an empty array.
    std::byte* pointer() const {
        void* const begin = open()->pointer();
        return begin == nullptr ? nullptr : static_cast<std::byte*>(begin) + offset;
    }
    // C-contiguous: the elements lie one after the other, as the copies of one dimension want them.
    bool contiguous() const { return packed; }
    // Do the elements of a row lie one after the other, and the rows in order? So pitched memory does.
    bool rows_contiguous() const;
    // The bytes before and behind the first element's address that the elements lie in.
    std::pair<py::ssize_t, py::ssize_t> reach() const;

    core::DevicePtr device;
    SharedOwner<core::DeviceMemory> memory;  // empty once closed
    std::size_t offset = 0, bytes = 0;
    std::vector<py::ssize_t> shape;
    py::dtype dtype;
    core::ElementType element;
    std::vector<py::ssize_t> strides{};  // bytes; empty: C-contiguous
    bool packed = true;
    bool read_only = false;  // as another library said
};

std::vector<py::ssize_t> contiguous_strides(const std::vector<py::ssize_t>& shape, py::ssize_t itemsize);
std::vector<py::ssize_t> strides_of(const DeviceArray& array);
// The same memory, seen otherwise; `first_byte` counts from the first element.
DeviceArray view(const DeviceArray& array, py::ssize_t first_byte, std::vector<py::ssize_t> shape,
                 std::vector<py::ssize_t> strides);
DeviceArray item(const DeviceArray& array, const py::object& index);
DeviceArray reshape(const DeviceArray& array, const py::args& shape);
DeviceArray transpose(const DeviceArray& array, const py::args& axes);
DeviceArray copy(const DeviceArray& array, const core::StreamPtr& stream);

// Copies between arrays of one shape and dtype.
void upload(const DeviceArray& array, const py::array& source, const core::StreamPtr& stream);
void download(const DeviceArray& array, py::array& destination, const core::StreamPtr& stream);
void copy_array(const DeviceArray& destination, const DeviceArray& source, const core::StreamPtr& stream);
void fill_array(const DeviceArray& array, const py::array& element, const core::StreamPtr& stream);
std::vector<py::ssize_t> shape_of(const py::array& array);
// NumPy's array of what a program gives to be copied to a device; `what` is the argument's name.
py::array host_array_of(const py::object& source, const char* what);
py::tuple shape_tuple(const std::vector<py::ssize_t>& shape);
std::string describe(const std::vector<py::ssize_t>& shape);
std::string describe(const py::dtype& dtype);
core::StreamPtr stream_for_new(const StreamLike& stream);
// An array over memory that was allocated for it.
DeviceArray array_over(std::shared_ptr<core::DeviceMemory> memory, std::vector<py::ssize_t> shape,
                       const py::dtype& dtype);
// Throws if nothing may write the array; `what` is the argument's name.
void check_writeable(const DeviceArray& array, const char* what);
// Keeps a Python object alive from threads that may not have the GIL.
std::shared_ptr<void> kept(const py::object& object);

// A new array without content. Shapes and dtypes are checked here.
DeviceArray new_array(const core::StreamPtr& stream, std::vector<py::ssize_t> shape, const py::dtype& dtype,
                      const std::shared_ptr<core::MemPool>& pool = nullptr);
std::vector<py::ssize_t> parse_shape(py::handle shape);
// Is it an integer, as int() of Python's operator module sees it? NumPy's arrays say so of themselves
// whatever they hold.
bool is_integer(py::handle value);
// The int of what is one; throws WrongKind, with what is allowed, for anything else.
py::object as_integer(py::handle value, const std::string& what, const char* allowed = "an int");
// What a value is, in an error message: its type, and the shape of an array.
std::string kind_of(py::handle value);
// A count of bytes or things; `what` is the argument's name.
std::size_t parse_size(py::handle value, const std::string& what);
py::dtype parse_dtype(py::handle dtype);
core::ElementType element_of(const py::dtype& dtype);
std::size_t byte_count(const std::vector<py::ssize_t>& shape, const py::dtype& dtype);

// What a Python object is, as far as a kernel's parameter can be compared with it. Refers to the object's
// memory: the object has to outlive it. Arrays of other libraries are made ready for the stream.
core::Argument to_argument(py::handle object, const core::StreamPtr& stream);

// Types that refer to each other: all are declared before any is defined, so that signatures name them.
struct Classes {
    py::class_<core::Device, py::smart_holder> device;
    py::class_<StreamObject, py::smart_holder> stream;
    py::class_<EventObject, py::smart_holder> event;
    py::class_<DeviceArray, py::smart_holder> array;

    explicit Classes(py::module_& m);
};

// The error that Python has is raised by the wait that asks, on this thread, once it has come back.
void end_wait_with_python_error();

void bind_errors(py::module_& m);
void bind_process(py::module_& m);
void bind_devices(py::module_& m, Classes& classes);
void bind_streams(py::module_& m, Classes& classes);
void bind_stream_attributes(Classes& classes);
void bind_stream_memory(Classes& classes);
void bind_events(Classes& classes);
void bind_arrays(py::module_& m, Classes& classes);
void bind_fast_copies(py::module_& m, Classes& classes);
void bind_pinned(py::module_& m);
void bind_memory_kinds(py::module_& m, Classes& classes);
void bind_pools(py::module_& m, Classes& classes);
void bind_textures(py::module_& m);
void bind_interop(py::module_& m, Classes& classes);
void bind_launch_attributes(py::module_& m);
void bind_kernels(py::module_& m);
void bind_modules(py::module_& m);
void bind_operations(py::module_& m);
void bind_external_semaphores(py::module_& m, Classes& classes);
void bind_memory_operations(py::module_& m, Classes& classes);
void bind_graphs(py::module_& m, Classes& classes);
void bind_graph_execs(py::module_& m);
void bind_captures(py::module_& m, Classes& classes);
void bind_contract(py::module_& m);
void bind_faults(py::module_& m);
void bind_pending(py::module_& m);
// Of the types that are bound by now.
std::vector<py::type> own_types(const py::module_& m);
void refuse_uninitialised_objects(const py::module_& m);
void define_copying(const py::module_& m);
// Functions say what they take in our words where the types of their arguments are wrong.
void explain_wrong_arguments(const py::module_& m);
void bind_array_operators(Classes& classes);

}  // namespace cuscope::bindings
