// The commands in flight, for Python: cuscope.pending(), and the warning of a wait during which nothing
// happens.
#include "core/device/pending.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {
namespace {

struct Reason {
    std::string kind, text;
};

using Entry = core::PendingEntry;

const Entry& at(const core::PendingReport& report, py::ssize_t index) {
    const auto count = static_cast<py::ssize_t>(report.entries.size());
    if (index < 0) index += count;
    if (index < 0 || index >= count) {
        throw py::index_error("there are " + std::to_string(count) + " pieces of work");
    }
    return report.entries[static_cast<std::size_t>(index)];
}

std::vector<Reason> reasons_of(const Entry& entry) {
    std::vector<Reason> reasons;
    for (const auto& [kind, text] : entry.reasons) reasons.push_back({name_of(kind), text});
    return reasons;
}

std::string html_of(const std::string& text) {
    std::string html;
    for (const char c : text) {
        html += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    }
    return html;
}

std::string html_of(const core::PendingReport& report) {
    if (report.entries.empty()) return "<p>" + core::text_of(report) + "</p>";
    std::string html = "<table><tr><th>stream</th><th></th><th>work</th><th>state</th><th>waits</th></tr>";
    for (const Entry& entry : report.entries) {
        html += "<tr><td>" + html_of(entry.device + ", " + entry.stream) + "</td><td>" +
                (entry.position > 0 ? std::to_string(entry.position) : "") + "</td><td>" +
                html_of(entry.what) + "</td><td>" + name_of(entry.state) + "</td><td>";
        for (const auto& [kind, text] : entry.reasons) html += html_of(text) + "<br>";
        html += "</td></tr>";
    }
    html += "</table>";
    for (const std::string& root : report.roots) html += "<p>" + html_of(root) + "</p>";
    return html;
}

// How many frames up the waiting line of the user's program is: frames of this package are skipped.
Py_ssize_t stack_level() {
    Py_ssize_t level = 1;
    py::object current = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    for (; current && !current.is_none(); current = current.attr("f_back"), ++level) {
        const std::string module = py::str(current.attr("f_globals").attr("get")("__name__", ""));
        if (module != "cuscope" && !module.starts_with("cuscope.")) return level;
    }
    return 1;
}

// Called by a wait, without the GIL and without a lock.
QuietAnswer warn(double seconds) {
    if (process_exiting()) return QuietAnswer::reported;
    try {
        const core::PendingReport report = core::pending(nullptr);
        if (std::any_of(report.entries.begin(), report.entries.end(),
                        [](const Entry& entry) { return entry.works; })) {
            return QuietAnswer::goes_on;
        }
        const PythonEntry inside;
        if (!inside) return QuietAnswer::reported;
        const std::string text = "this call has waited for " + std::to_string(std::llround(seconds)) +
                                 " s, during which nothing has begun or ended:\n" + core::text_of(report);
        try {
            const py::object category = py::module_::import("cuscope._errors").attr("PendingWarning");
            if (PyErr_WarnEx(category.ptr(), text.c_str(), stack_level()) == 0) return QuietAnswer::reported;
        } catch (py::error_already_set& error) {
            error.restore();
        }
        end_wait_with_python_error();
        return QuietAnswer::end;
    } catch (const std::exception&) {
        return QuietAnswer::reported;  // a wait must not fail because the warning failed
    }
}

}  // namespace

void bind_pending(py::module_& m) {
    py::class_<Reason>(m, "PendingReason",
                       R"(The reason why a command waits: a kind, for programs, and a text, for the user.

Examples
--------
>>> import cuscope as cs
>>> with cs.Device("host:0"):
...     stream, flag = cs.Stream(), cs.pinned_empty(1, "u4")
...     flag[0] = 0
...     stream.wait_value(flag, 1)
...     cs.host_work(1e-3)  # the device starts the wait
...     print(cs.pending(cs.current_device())[0].reasons[0].kind)
...     flag[0] = 1
...     stream.synchronize()
value
)")
        .def_readonly(
            "kind", &Reason::kind,
            R"(The kind of the reason: ``'order'`` (earlier work of its stream), ``'default_stream'``, ``'event'``,
``'graph'``, ``'queue'`` (of the device), ``'engine'``, ``'multiprocessors'``, ``'value'`` (a number in memory),
``'semaphore'``, ``'host_function'``, ``'kernel'`` (a kernel that spins) or ``'simulation'``.)")
        .def_readonly("text", &Reason::text, "The reason as text, with names and numbers.")
        .def("__repr__", [](const Reason& self) { return "<" + self.kind + ": " + self.text + ">"; });

    py::class_<Entry>(m, "PendingWork",
                      R"(A command in flight: an item of cs.pending().

Examples
--------
>>> import cuscope as cs
>>> with cs.Device("host:0"):
...     stream = cs.Stream()
...     x = cs.zeros(1024, "f4", stream=stream)
...     work = [work for work in cs.pending(cs.current_device()) if "memset" in work.what]
...     print(work[-1].what)
...     stream.synchronize()
memset of 4 KiB
)")
        .def_readonly("device", &Entry::device, "The device's name: ``'host:0'``.")
        .def_readonly("stream", &Entry::stream, "The stream's name, as in its repr: ``'Stream #2'``.")
        .def_readonly("position", &Entry::position,
                      "The position in its stream: 1 is the oldest command in flight; 0: a node of a graph.")
        .def_readonly("what", &Entry::what,
                      "The command: ``'copy of 4 KiB, host to device'``, ``'kernel add<<<4, 256>>>'``.")
        .def_property_readonly(
            "state", [](const Entry& self) { return name_of(self.state); },
            "The state: ``'ready'``, ``'running'``, ``'waiting'`` or, on a GPU, ``'unknown'``.")
        .def_property_readonly("reasons", reasons_of, "The reasons why it waits, as PendingReason objects.")
        .def("__repr__", [](const Entry& self) {
            std::string text =
                "<" + self.what + " in " + self.stream + " of " + self.device + ", " + name_of(self.state);
            for (const auto& [kind, reason] : self.reasons) text += "; " + reason;
            return text + ">";
        });

    py::class_<core::PendingReport>(
        m, "Pending",
        R"(The commands in flight: a sequence of PendingWork that prints as a table.

Examples
--------
>>> import cuscope as cs
>>> cs.synchronize()
>>> cs.pending(cs.current_device())
nothing is in flight
)")
        .def("__len__", [](const core::PendingReport& self) { return self.entries.size(); })
        .def("__getitem__", at, py::arg("index"), py::return_value_policy::copy)
        .def(
            "__iter__",
            [](const core::PendingReport& self) {
                return py::make_iterator(self.entries.begin(), self.entries.end());
            },
            py::keep_alive<0, 1>())
        .def_readonly("roots", &core::PendingReport::roots,
                      "The causes at the ends of all chains of waiting: conditions that no command in flight "
                      "will fulfil.")
        .def("__repr__", [](const core::PendingReport& self) { return core::text_of(self); })
        .def("_repr_html_", [](const core::PendingReport& self) { return html_of(self); });

    m.def(
        "pending",
        [](const DeviceLike& device) {
            core::DevicePtr one;
            if (!device.is_none()) one = device_or_current(device);
            return without_gil([&] { return core::pending(one); });
        },
        py::arg("device") = py::none(),
        R"(The commands in flight and the reasons why they wait: of one device, or of all that were used.

On a simulated device the answer is exact. A GPU does not report its progress: for it you see the last commands that this
package enqueued, and the progress that can be found out without waiting. The call waits for nothing and changes nothing
(no simulated time passes, and captures go on); you may call it from any thread while others wait. If nothing begins or
ends during ten seconds of a wait, a warning shows this table (cs.PendingWarning). See docs/concurrency.md.

CUDA has no such function; see cudaStreamQuery: CUDA C++ Programming Guide, "Explicit Synchronization".

>>> import cuscope as cs
>>> with cs.Device("host:0"):
...     stream, done = cs.Stream(), cs.pinned_empty(1, "u4")
...     stream.write_value(done, 1)
...     len(cs.pending(cs.current_device()))
...     stream.synchronize()
1
)");

    const char* const given = std::getenv("CUSCOPE_WAIT_WARNING");
    constexpr double usual = 10;
    double seconds = usual;
    if (given != nullptr && *given != '\0') {
        char* end = nullptr;
        seconds = std::strtod(given, &end);
        if (*end != '\0' || !std::isfinite(seconds) || seconds < 0) {
            throw std::invalid_argument(std::string("CUSCOPE_WAIT_WARNING: '") + given +
                                        "' is no number of seconds; 0 stands for never, 10 is the default");
        }
    }
    set_quiet_report(warn, seconds);
}

}  // namespace cuscope::bindings
