// Events.
#include <pybind11/stl.h>

#include "bindings/support/fast_init.hpp"

namespace cuscope::bindings {
namespace {

std::string event_text(const EventObject& self) {
    std::string text = "<Event of " + self.device->name();
    if ((self.flags & flags::event_disable_timing) != 0) text += ", no timing";
    if ((self.flags & flags::event_blocking_sync) != 0) text += ", blocking sync";
    if (!self.event) text += ", closed";
    return text + ">";
}

EventSelf record(const py::object& self, const StreamLike& stream, bool external) {
    const auto& object = self.cast<const EventObject&>();
    const std::shared_ptr<core::Event> event = object.open();
    const core::StreamPtr on = stream_or_current(stream, object.device);
    without_gil([&] { event->record(*on, external); });
    return self;
}

PyObject* fast_record(PyObject* self, const Arguments& arguments) {
    auto* const object = exactly<EventObject>(self);
    if (object == nullptr || arguments.count > 1 || arguments.named() > 0) return nullptr;
    const Closable<core::Event>::Borrowed event(object->event);
    if (!event) return nullptr;
    if (arguments.count == 0) {
        const core::StreamPtr current = core::current_stream(object->device);
        without_gil([&] { event->record(*current); });
        return Py_NewRef(self);
    }
    auto* const stream = exactly<StreamObject>(arguments[0]);
    if (stream == nullptr) return nullptr;
    const Closable<core::Stream>::Borrowed on(stream->stream);
    if (!on) return nullptr;
    without_gil([&] { event->record(*on); });
    return Py_NewRef(self);
}

PyObject* fast_event_query(PyObject* self, const Arguments& arguments) {
    auto* const object = exactly<EventObject>(self);
    if (object == nullptr || !arguments.are(0)) return nullptr;
    const Closable<core::Event>::Borrowed event(object->event);
    if (!event) return nullptr;
    return PyBool_FromLong(without_gil([&] { return event->query(); }) ? 1 : 0);
}

EventObjectPtr new_event(const core::DevicePtr& device, unsigned flags) {
    return ending_without_gil(without_gil([&] { return std::make_shared<EventObject>(device, flags); }));
}

// Event() and Event(timing=...).
EventObjectPtr fast_event(PyObject* keywords) {
    unsigned flags = flags::event_default;
    if (keywords != nullptr) {
        PyObject* const timing = PyDict_GetItemString(keywords, "timing");
        if (PyDict_GET_SIZE(keywords) != 1 || (timing != Py_True && timing != Py_False)) return nullptr;
        if (timing == Py_False) flags = flags::event_disable_timing;
    }
    return new_event(current_device(), flags);
}

}  // namespace

EventObject::EventObject(const core::DevicePtr& on, unsigned with_flags)
    : device(on), flags(with_flags), event(core::Event::create(on, with_flags)) {}

void bind_events(Classes& classes) {
    classes.event.attr("__doc__") = R"(A point in a stream, to wait for and to measure times between.

``stop - start`` is the time between two events in milliseconds, as a float.

Parameters
----------
timing : bool
    Can the event measure times? Without, recording and waiting are cheaper.
blocking_sync : bool
    Let synchronize() sleep instead of spin.
device : Device, optional
    Default: the current device. Only streams of this device can record the event; streams of others can wait for it.

See cudaEventCreateWithFlags: CUDA C++ Programming Guide, "Events" and "Elapsed Time".

Examples
--------
>>> import cuscope as cs
>>> start, stop = cs.Event(), cs.Event()
>>> with cs.Stream():
...     start = start.record()
...     x = cs.zeros(1 << 20)
...     stop = stop.record()
>>> stop.synchronize()
>>> stop - start > 0
True
)";
    classes.event
        .def(py::init([](bool timing, bool blocking_sync, const DeviceLike& device) {
                 const core::DevicePtr on = device_or_current(device);
                 const unsigned flags = (timing ? flags::event_default : flags::event_disable_timing) |
                                        (blocking_sync ? flags::event_blocking_sync : 0u);
                 return new_event(on, flags);
             }),
             py::kw_only(), py::arg("timing") = true, py::arg("blocking_sync") = false,
             py::arg("device") = py::none())
        .def("record", record, py::arg("stream") = py::none(), py::kw_only(), py::arg("external") = false,
             R"(Record the event after the work given to a stream so far; returns the event.

Default: the current stream. Recording again moves the event. Raises ValueError for a stream of another device. In a
stream that is being captured, the event marks a place in the graph: another stream joins the capture by waiting for it.
With ``external`` it becomes a node, which records the event whenever the graph runs. See cudaEventRecord: CUDA C++
Programming Guide, "Events".

>>> import cuscope as cs
>>> event = cs.Event().record()
)")
        .def(
            "query",
            [](const EventObject& self) {
                const std::shared_ptr<core::Event> event = self.open();
                return without_gil([&] { return event->query(); });
            },
            R"(Has the event happened? Does not wait. An event that was never recorded has happened. See cudaEventQuery.

>>> import cuscope as cs
>>> cs.Event().query()
True
)")
        .def(
            "synchronize",
            [](const EventObject& self) {
                const std::shared_ptr<core::Event> event = self.open();
                without_gil([&] { event->synchronize(); });
            },
            R"(Wait until the event has happened.

Raises exceptions of host functions in the event's stream, and errors of the work before the event. Ctrl-C
ends the wait. See cudaEventSynchronize: CUDA C++ Programming Guide, "Explicit Synchronization".

>>> import cuscope as cs
>>> cs.Event().record().synchronize()
)")
        .def(
            "__sub__",
            [](const EventObject& self, const EventObject& start) -> double {
                const std::shared_ptr<core::Event> stop = self.open(), begin = start.open();
                return static_cast<double>(without_gil([&] { return core::elapsed_ms(*begin, *stop); }));
            },
            py::arg("start"), py::is_operator(),
            R"(The milliseconds from another event to this one; negative if the other came later.

Raises CudaError if one of the events has not happened (cudaErrorNotReady), was never recorded or has no timing
(cudaErrorInvalidResourceHandle), ValueError if they belong to different devices. See cudaEventElapsedTime: CUDA C++
Programming Guide, "Elapsed Time".

>>> import cuscope as cs
>>> start, stop = cs.Event().record(), cs.Event().record()
>>> stop.synchronize()
>>> stop - start >= 0, start - stop <= 0
(True, True)
)")
        .def_readonly("device", &EventObject::device, "The device that the event belongs to.")
        .def_property_readonly(
            "timing", [](const EventObject& self) { return (self.flags & flags::event_disable_timing) == 0; },
            "Can the event measure times?")
        .def_property_readonly(
            "handle",
            [](const EventObject& self) {
                Held<core::Event> held = self.event.get();
                return held ? reinterpret_cast<std::uintptr_t>(held->handle()) : 0;
            },
            "The cudaEvent_t as an int; 0 for a closed event. The runtime reuses handles.")
        .def_property_readonly(
            "closed", [](const EventObject& self) { return !self.event; }, "Was the event closed?")
        .def(
            "close", [](EventObject& self) { self.event.close(); },
            R"(Give up the event. Closing twice is no error. See cudaEventDestroy.

>>> import cuscope as cs
>>> event = cs.Event()
>>> event.close()
>>> event.closed
True
)")
        .def("__repr__", event_text);
    FastInit<EventObject, fast_event>::put_before(classes.event);
    FastMethod<fast_record>::put_before(classes.event, "record");
    FastMethod<fast_event_query>::put_before(classes.event, "query");
}

}  // namespace cuscope::bindings
