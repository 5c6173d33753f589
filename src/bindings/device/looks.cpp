// Private functions for the pictures of objects in notebooks: python/cuscope/_display.
#include "core/device/looks.hpp"

#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {
namespace {

const char* name_of(core::StreamState state) {
    switch (state) {
        case core::StreamState::lost:
            return "lost";
        case core::StreamState::reset:
            return "reset";
        case core::StreamState::captured:
            return "captured";
        case core::StreamState::working:
            return "working";
        case core::StreamState::done:
            return "done";
        case core::StreamState::unknown:
            break;
    }
    return "unknown";
}

const char* name_of(core::EventMoment moment) {
    switch (moment) {
        case core::EventMoment::lost:
            return "lost";
        case core::EventMoment::reset:
            return "reset";
        case core::EventMoment::captured:
            return "captured";
        case core::EventMoment::not_recorded:
            return "not recorded";
        case core::EventMoment::pending:
            return "pending";
        case core::EventMoment::happened:
            return "happened";
        case core::EventMoment::unknown:
            break;
    }
    return "unknown";
}

using StreamState = py::typing::Tuple<py::str, py::int_, py::str, py::str>;
using EventState = py::typing::Tuple<py::str, py::int_, py::int_>;
using Peeked = py::typing::Tuple<py::str, Scalar>;

StreamState look_at_stream(const StreamObject& self) {
    const core::StreamPtr stream = self.stream.get();
    if (!stream) return py::make_tuple("closed", 0, "", "");
    const core::StreamLook look = without_gil([&] { return core::look_at(stream); });
    return py::make_tuple(name_of(look.state), look.in_flight, look.first, look.last);
}

EventState look_at_event(const EventObject& self) {
    const std::shared_ptr<core::Event> event = self.event.get();
    if (!event) return py::make_tuple("closed", -1, -1);
    const core::EventStory story = without_gil([&] { return core::look_at(*event); });
    return py::make_tuple(name_of(story.moment), story.time_ns, story.now_ns);
}

// `offsets`: bytes from the first element to each wanted element, ascending.
Peeked peek(const DeviceArray& self, const std::vector<py::ssize_t>& offsets) {
    const std::shared_ptr<core::DeviceMemory> memory = self.memory.get();
    if (!memory) return py::make_tuple("unavailable", "the array is closed");
    const auto item = static_cast<std::size_t>(self.dtype.itemsize());
    std::vector<core::Part> parts;
    for (const py::ssize_t offset : offsets) {
        const auto from = static_cast<std::size_t>(static_cast<py::ssize_t>(self.offset) + offset);
        if (!parts.empty() && parts.back().offset + parts.back().bytes == from) {
            parts.back().bytes += item;
        } else {
            parts.push_back({from, item});
        }
    }
    if (offsets.size() * item > core::most_peeked) return py::make_tuple("unavailable", "they are large");
    std::string bytes(offsets.size() * item, '\0'), why;
    const core::PeekResult result = without_gil(
        [&] { return core::peek(*memory, parts, reinterpret_cast<std::byte*>(bytes.data()), &why); });
    if (result == core::PeekResult::values) return py::make_tuple("values", py::bytes(bytes));
    return py::make_tuple(result == core::PeekResult::pending ? "pending" : "unavailable", why);
}

}  // namespace

void bind_looks(py::module_& m) {
    m.def("look_at_stream", look_at_stream, py::arg("stream"),
          "The state of a stream, how many commands are in flight, the first of them, and the last command.");
    m.def("look_at_event", look_at_event, py::arg("event"),
          "The state of an event, and two times of the simulated host: its own and the present one; -1: "
          "unknown.");
    m.def("peek", peek, py::arg("array"), py::arg("offsets"),
          "Elements of an array by their offsets: 'values' with the bytes, or 'pending' or 'unavailable' "
          "with the "
          "reason.");
    m.def("may_look", core::may_look, "Whether this thread may ask a device for the state of an object.");
    m.def(
        "looking",
        [](const AnyCallable& function, const Scalar& object) {
            const Look looking;
            return Scalar(function(object));
        },
        py::arg("function"), py::arg("object"),
        "Call a function whose calls cost a simulated device no time, and that no trace records.");
}

}  // namespace cuscope::bindings
