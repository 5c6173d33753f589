// Streams, and the current stream of a thread.
#include <pybind11/stl.h>

#include <algorithm>
#include <limits>

#include "bindings/interop/import.hpp"
#include "bindings/streams/host_function.hpp"
#include "bindings/support/fast_init.hpp"
#include "core/graph/graph.hpp"
#include "ops/kernel_library.hpp"

namespace cuscope::bindings {
namespace {

std::string stream_text(const StreamObject& self) {
    std::string text = "<Stream ";
    text += self.name.empty() ? "#" + std::to_string(self.id) : self.name;
    text += " of " + self.device->name();
    if (self.priority() != 0) text += ", priority " + std::to_string(self.priority());
    if ((self.flags & flags::stream_non_blocking) != 0) text += ", non-blocking";
    if (!self.stream) text += ", closed";
    return text + ">";
}

// Takes any int. One beyond the range of an int is clamped, like any priority that the device does not have.
int parse_priority(py::handle value) {
    const py::object number = as_integer(value, "priority");
    int overflow = 0;
    const long long priority = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    constexpr long long least = std::numeric_limits<int>::max(), greatest = std::numeric_limits<int>::min();
    if (overflow != 0) return static_cast<int>(overflow > 0 ? least : greatest);
    return static_cast<int>(std::clamp(priority, greatest, least));
}

void wait(const StreamObject& self, const EventOrStream& what, bool external) {
    const core::StreamPtr stream = self.open();
    if (py::isinstance<EventObject>(what)) {
        const std::shared_ptr<core::Event> event = what.cast<const EventObject&>().open();
        without_gil([&] { stream->wait(*event, external); });
        return;
    }
    if (external)
        throw std::invalid_argument("external: is for events; leave it out when a stream waits for a stream");
    const StreamObjectPtr foreign =
        py::isinstance<StreamObject>(what) ? nullptr : foreign_stream(what, self.device);
    if (!foreign && !py::isinstance<StreamObject>(what)) {
        throw core::WrongKind(std::string("what: a stream waits for an Event or a Stream, not ") +
                              Py_TYPE(what.ptr())->tp_name);
    }
    const core::StreamPtr other = (foreign ? *foreign : what.cast<const StreamObject&>()).open();
    without_gil([&] { stream->wait(*other); });
}

PyObject* fast_wait(PyObject* self, const Arguments& arguments) {
    auto* const object = exactly<StreamObject>(self);
    auto* const event = arguments.are(1) ? exactly<EventObject>(arguments[0]) : nullptr;
    if (object == nullptr || event == nullptr) return nullptr;
    const Closable<core::Stream>::Borrowed stream(object->stream);
    const Closable<core::Event>::Borrowed awaited(event->event);
    if (!stream || !awaited) return nullptr;
    without_gil([&] { stream->wait(*awaited); });
    Py_RETURN_NONE;
}

PyObject* fast_stream_query(PyObject* self, const Arguments& arguments) {
    auto* const object = exactly<StreamObject>(self);
    if (object == nullptr || !arguments.are(0)) return nullptr;
    const Closable<core::Stream>::Borrowed stream(object->stream);
    if (!stream) return nullptr;
    return PyBool_FromLong(without_gil([&] { return stream->query(); }) ? 1 : 0);
}

PyObject* fast_enter(PyObject* self, const Arguments& arguments) {
    auto* const object = exactly<StreamObject>(self);
    if (object == nullptr || !arguments.are(0)) return nullptr;
    const core::StreamPtr stream = object->stream.get();
    if (!stream) return nullptr;
    without_gil([&] { core::push_stream(stream); });
    return Py_NewRef(self);
}

PyObject* fast_exit(PyObject* self, const Arguments& arguments) {
    const auto* const object = exactly<StreamObject>(self);
    if (object == nullptr || !arguments.are(3)) return nullptr;
    const unsigned long long serial = object->serial;
    without_gil([&] { core::pop_stream(serial); });
    Py_RETURN_NONE;
}

// Looking at a closed current stream does not open it again, as other ways to get a stream do.
StreamObjectPtr wrapped_current_stream() {
    const core::StreamPtr stream = core::innermost_stream(current_device());
    const bool closed = stream->closed();
    StreamObjectPtr made = wrap(stream);
    if (closed) stream->set_closed(true);
    return made;
}

PyObject* fast_current_stream(PyObject*, const Arguments& arguments) {
    if (!arguments.are(0)) return nullptr;
    return py::cast(wrapped_current_stream()).release().ptr();
}

// An event of ours as the only argument.
PyObject* fast_record_behind(PyObject* self, const Arguments& arguments) {
    auto* const object = exactly<StreamObject>(self);
    auto* const event = arguments.are(1) ? exactly<EventObject>(arguments[0]) : nullptr;
    if (object == nullptr || event == nullptr) return nullptr;
    const Closable<core::Stream>::Borrowed on(object->stream);
    const Closable<core::Event>::Borrowed recorded(event->event);
    if (!on || !recorded) return nullptr;
    without_gil([&] { recorded->record(*on); });
    return Py_NewRef(arguments[0]);
}

PyObject* fast_host_function(PyObject* self, const Arguments& arguments) {
    auto* const object = exactly<StreamObject>(self);
    const Py_ssize_t count = arguments.count;
    if (object == nullptr || count < 1 || arguments.named() > 0 || PyCallable_Check(arguments[0]) == 0)
        return nullptr;
    const Closable<core::Stream>::Borrowed stream(object->stream);
    if (!stream) return nullptr;
    py::tuple passed(count - 1);
    for (Py_ssize_t i = 1; i < count; ++i) PyTuple_SET_ITEM(passed.ptr(), i - 1, Py_NewRef(arguments[i]));
    auto task = std::make_unique<PythonTask>(py::reinterpret_borrow<py::object>(arguments[0]),
                                             std::move(passed), py::dict());
    without_gil([&] { stream->add_host_task(std::move(task)); });
    Py_RETURN_NONE;
}

EventObjectPtr record_behind(const StreamObject& self, const EventLike& event) {
    const core::StreamPtr stream = self.open();
    if (!event.is_none() && !py::isinstance<EventObject>(event)) {
        throw core::WrongKind(std::string("event: takes an Event or None, not ") +
                              Py_TYPE(event.ptr())->tp_name);
    }
    EventObjectPtr recorded = event.is_none() ? nullptr : event.cast<EventObjectPtr>();
    if (!recorded) {
        recorded = without_gil(
            [&] { return std::make_shared<EventObject>(stream->device().shared_from_this(), 0); });
        recorded = ending_without_gil(std::move(recorded));
    }
    const std::shared_ptr<core::Event> open = recorded->open();
    without_gil([&] { open->record(*stream); });
    return recorded;
}

void host_function(const StreamObject& self, const AnyCallable& callable, const AnyArgs& arguments,
                   const AnyKeywords& keywords) {
    const core::StreamPtr stream = self.open();
    if (PyCallable_Check(callable.ptr()) == 0) {
        throw core::WrongKind(std::string("callable: takes something that can be called, not ") +
                              Py_TYPE(callable.ptr())->tp_name);
    }
    auto task = std::make_unique<PythonTask>(callable, arguments, keywords);
    without_gil([&] { stream->add_host_task(std::move(task)); });
}

}  // namespace

StreamObject::StreamObject(const core::StreamPtr& made, std::shared_ptr<void> kept_alive)
    : device(made->device().shared_from_this()),
      flags(made->flags()),
      made_priority(made->priority()),
      id(made->id()),
      serial(made->serial()),
      name(!made->is_default()               ? ""
           : made->handle() == stream_legacy ? "legacy default"
                                             : "per-thread default"),
      owner(std::move(kept_alive)),
      stream(made) {
    made->set_abandoned(false);
    made->set_closed(false);
}

namespace {

StateLock wrappers;  // guards the wrapper of every stream

void abandon(const core::StreamPtr& stream) {
    stream->set_abandoned(true);
    if (stream->capturing() && !process_exiting()) core::Capture::leave_behind(stream);
}

}  // namespace

StreamObject::~StreamObject() {
    if (!stream || !name.empty() || owner) return;
    {
        // Another thread may have wrapped the stream again since the last reference to this object went.
        const std::lock_guard lock(wrappers);
        if (!stream.get()->wrapper.expired()) return;
    }
    abandon(stream.get());
}

void StreamObject::close() {
    if (!name.empty())
        throw std::invalid_argument("a default stream cannot be closed: it belongs to its device");
    if (const core::StreamPtr open = stream.get()) core::Capture::refuse_close(open);
    std::shared_ptr<void> kept_alive, taken;
    {
        const std::lock_guard lock(owner_lock);
        kept_alive = owner;
    }
    if (!kept_alive) {  // else the stream belongs to another object, such as one of another library
        if (const core::StreamPtr last = stream.get()) {
            last->set_closed(true);
            without_gil([&] { abandon(last); });
        }
    }
    stream.close();  // before the owner is taken: without an owner, another thread would abandon the stream
    const std::lock_guard lock(owner_lock);
    taken = std::move(owner);
}

StreamObjectPtr wrap(const core::StreamPtr& stream) {
    const std::lock_guard lock(wrappers);
    if (auto same = std::static_pointer_cast<StreamObject>(stream->wrapper.lock())) return same;
    auto made = ending_without_gil(std::make_shared<StreamObject>(stream));
    stream->wrapper = made;
    return made;
}

StreamObjectPtr wrapper_of(const core::Stream& stream) {
    const std::lock_guard lock(wrappers);
    return std::static_pointer_cast<StreamObject>(stream.wrapper.lock());
}

StreamObjectPtr parse_stream(py::handle stream, const core::DevicePtr& near) {
    if (stream.is_none()) return nullptr;
    if (py::isinstance<StreamObject>(stream)) return stream.cast<StreamObjectPtr>();
    if (StreamObjectPtr foreign = foreign_stream(stream, near ? near : current_device())) return foreign;
    throw core::WrongKind(
        std::string("stream: takes a Stream, an object with __cuda_stream__, or None, not ") +
        Py_TYPE(stream.ptr())->tp_name);
}

core::StreamPtr stream_or_current(py::handle stream, const core::DevicePtr& device) {
    if (const StreamObjectPtr given = parse_stream(stream, device)) return given->open();
    return core::current_stream(device ? device : current_device());
}

namespace {

StreamObjectPtr new_stream(const core::DevicePtr& device, unsigned flags, int priority) {
    return wrap(without_gil([&] {
        ops::KernelLibrary::load_ahead(*device);
        return core::Stream::create(device, flags, priority);
    }));
}

// Stream().
StreamObjectPtr fast_stream(PyObject* keywords) {
    return keywords == nullptr ? new_stream(current_device(), flags::stream_default, 0) : nullptr;
}

}  // namespace

void bind_streams(py::module_& m, Classes& classes) {
    classes.stream.attr("__doc__") =
        R"(A queue of work for a device, which runs in the order in which you enqueue it.

``with stream:`` makes it the current stream of this thread, and its device the current device. Calls may return before
the work that they enqueue is done; synchronize() waits for it.

Parameters
----------
priority : int
    Smaller numbers go first; clamped to device.stream_priority_range.
non_blocking : bool
    Independent of the legacy default stream: neither waits for the other.
device : Device, optional
    Default: the current device.

See cudaStreamCreateWithPriority: CUDA C++ Programming Guide, "Streams", "Stream Priorities" and "Implicit
Synchronization".

Examples
--------
>>> import cuscope as cs
>>> with cs.Stream() as stream:
...     x = cs.zeros(4)
>>> stream.synchronize()
>>> stream.query()
True
)";
    classes.stream
        .def(py::init([](const IntLike& number, bool non_blocking, const DeviceLike& device) {
                 const int priority = parse_priority(number);
                 const core::DevicePtr on = device_or_current(device);
                 const unsigned flags = non_blocking ? flags::stream_non_blocking : flags::stream_default;
                 return new_stream(on, flags, priority);
             }),
             py::kw_only(), py::arg("priority") = 0, py::arg("non_blocking") = false,
             py::arg("device") = py::none())
        .def(
            "synchronize",
            [](const StreamObject& self) {
                const core::StreamPtr stream = self.open();
                without_gil([&] { stream->synchronize(); });
            },
            R"(Wait until everything in the stream is done.

Raises exceptions of its host functions (one for each call, oldest first), and errors of the work itself.
Ctrl-C ends the wait. See cudaStreamSynchronize: CUDA C++ Programming Guide, "Explicit Synchronization".

>>> import cuscope as cs
>>> cs.current_stream().synchronize()
)")
        .def(
            "query",
            [](const StreamObject& self) {
                const core::StreamPtr stream = self.open();
                return without_gil([&] { return stream->query(); });
            },
            R"(Is everything in the stream done? Does not wait, and does not raise exceptions of host functions.

See cudaStreamQuery: CUDA C++ Programming Guide, "Explicit Synchronization".

>>> import cuscope as cs
>>> cs.Stream().query()
True
)")
        .def("wait", wait, py::arg("what"), py::kw_only(), py::arg("external") = false,
             R"(Let the stream wait for an event, or for all work given to another stream so far.

The calling thread does not wait. An event that was never recorded is not waited for. The event may belong to another
device. A stream that waits for a captured stream, or for an event in one, joins the capture. Use ``external`` in a
stream that is being captured: the wait becomes a node of the graph, which waits at each run for the event's latest
record. See cudaStreamWaitEvent: CUDA C++ Programming Guide, "Explicit Synchronization".

>>> import cuscope as cs
>>> first, second = cs.Stream(), cs.Stream()
>>> second.wait(first.record())
>>> second.wait(first)
)")
        .def(
            "record", record_behind, py::arg("event") = py::none(),
            R"(Record an event (default: a new one) after the work given to the stream so far; returns the event.

Raises ValueError for an event of another device. See cudaEventRecord: CUDA C++ Programming Guide, "Events".

>>> import cuscope as cs
>>> stream = cs.Stream()
>>> start, stop = stream.record(), stream.record()
>>> stop.synchronize()
>>> stop - start >= 0
True
)")
        .def("host_function", host_function, py::arg("callable"),
             R"(Call a Python callable on the host, in stream order, on a thread of the runtime.

The stream waits until it returns. Its exception is raised by the next synchronisation of the stream. It must
not call the runtime (cudaErrorNotPermitted). It and its arguments are kept alive until it has run. See
cudaLaunchHostFunc: CUDA C++ Programming Guide, the section on host functions.

>>> import cuscope as cs
>>> seen = []
>>> stream = cs.Stream()
>>> stream.host_function(seen.append, 1)
>>> stream.synchronize()
>>> seen
[1]
)")
        .def_readonly("device", &StreamObject::device, "The device that the stream belongs to.")
        .def_property_readonly(
            "non_blocking",
            [](const StreamObject& self) { return (self.flags & flags::stream_non_blocking) != 0; },
            "Is it independent of the legacy default stream?")
        .def_property_readonly(
            "id",
            [](const StreamObject& self) { return self.name.empty() ? self.id : self.open()->ask_id(); },
            "The runtime's number for the stream, never used twice. The per-thread default stream has one "
            "for "
            "each thread.\n\nIt raises a CaptureError for a default stream while a capture refuses the "
            "question. "
            "See cudaStreamGetId.")
        .def_property_readonly(
            "handle",
            [](const StreamObject& self) {
                Held<core::Stream> held = self.stream.get();
                return held ? reinterpret_cast<std::uintptr_t>(held->handle()) : 0;
            },
            "The cudaStream_t as an int: 1 and 2 for default streams, 0 for a closed one. The runtime reuses "
            "handles.")
        .def_property_readonly(
            "closed", [](const StreamObject& self) { return !self.stream; }, "Was the stream closed?")
        .def("close", &StreamObject::close,
             R"(Give up the stream; enqueued work still runs. Closing twice is no error.

Raises ValueError for a default stream. See cudaStreamDestroy: CUDA C++ Programming Guide, "Creation and Destruction".

>>> import cuscope as cs
>>> stream = cs.Stream()
>>> stream.close()
>>> stream.closed
True
)")
        .def("__enter__",
             [](const py::object& self) -> StreamSelf {
                 const core::StreamPtr stream = self.cast<const StreamObject&>().open();
                 without_gil([&] { core::push_stream(stream); });
                 return self;
             })
        .def("__exit__", [](const StreamObject& self, const Scalar&, const Scalar&,
                            const Scalar&) { without_gil([&] { core::pop_stream(self.serial); }); })
        .def("__eq__",
             [](const StreamObject& self, const py::object& other) {
                 return py::isinstance<StreamObject>(other) &&
                        other.cast<const StreamObject&>().serial == self.serial;
             })
        .def("__hash__", [](const StreamObject& self) { return static_cast<py::ssize_t>(self.serial); })
        .def("__repr__", stream_text);
    bind_stream_attributes(classes);
    bind_stream_memory(classes);
    FastInit<StreamObject, fast_stream>::put_before(classes.stream);
    FastMethod<fast_wait>::put_before(classes.stream, "wait");
    FastMethod<fast_stream_query>::put_before(classes.stream, "query");
    FastMethod<fast_enter>::put_before(classes.stream, "__enter__");
    FastMethod<fast_exit>::put_before(classes.stream, "__exit__");
    FastMethod<fast_record_behind>::put_before(classes.stream, "record");
    FastMethod<fast_host_function>::put_before(classes.stream, "host_function");

    m.def(
        "current_stream", [] { return wrapped_current_stream(); },
        R"(The current stream of this thread: the one of the innermost ``with`` on the current device, else the
device's legacy default stream.

See CUDA C++ Programming Guide, "Default Stream".

>>> import cuscope as cs
>>> with cs.Stream() as stream:
...     cs.current_stream() is stream
True
)");
    FastMethod<fast_current_stream>::put_before(m, "current_stream");
    m.def(
        "synchronize",
        [](const DeviceLike& device) {
            const core::DevicePtr on = device_or_current(device);
            without_gil([&] { on->synchronize(); });
        },
        py::arg("device") = py::none(),
        R"(Wait until all work on a device is done. Default: the current device.

See Device.synchronize and cudaDeviceSynchronize.

>>> import cuscope as cs
>>> cs.synchronize()
)");
}

}  // namespace cuscope::bindings
