// The checks of kernels behind cs.check(), for Python.
#include <pybind11/stl.h>

#include "bindings/kernels/launch.hpp"
#include "core/trace/order_checks.hpp"
#include "core/trace/recording.hpp"
#include "runtime/checking.hpp"
#include "runtime/order/notes.hpp"

namespace cuscope::bindings {
namespace {

const char* name_of(Severity severity) {
    return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

// None for a thread that is not known.
py::object triple(const std::array<std::int64_t, 3>& index) {
    if (index[0] < 0) return py::none();
    return py::make_tuple(index[0], index[1], index[2]);
}

py::dict to_python(const Finding& finding) {
    py::dict made;
    made["kind"] = finding.kind;
    made["severity"] = name_of(finding.severity);
    made["kernel"] = finding.kernel;
    made["line"] = finding.first.line;
    made["block"] = triple(finding.first.block);
    made["thread"] = triple(finding.first.thread);
    made["other_line"] = finding.other.line;
    made["other_block"] = triple(finding.other.block);
    made["other_thread"] = triple(finding.other.thread);
    made["text"] = finding.text;
    made["advice"] = finding.advice;
    made["memory"] = finding.memory;
    made["count"] = finding.count;
    py::list calls;
    for (const FoundCall& call : finding.calls) {
        calls.append(py::make_tuple(call.what, call.line, call.stream.name, call.stream.made_at,
                                    call.stream.nth, call.stream.is_host, call.stream.is_default));
    }
    made["calls"] = calls;
    made["code"] = finding.code;
    made["code_before"] = finding.where;
    return made;
}

py::typing::Dict<py::str, py::object> to_python(const Findings& findings) {
    py::list list;
    for (const Finding& finding : findings.list()) list.append(to_python(finding));
    py::dict made;
    made["findings"] = list;
    made["launches"] = findings.launches;
    made["commands"] = findings.commands;
    made["unchecked"] = findings.unchecked;
    made["unchecked_kernels"] = findings.unchecked_kernels;
    made["left_out"] = findings.left_out;
    return made;
}

std::uint64_t begin_for_python() {
    const std::uint64_t handle = begin_check();
    without_gil([] { core::begin_order_check(); });
    detail::want_lines();
    return handle;
}

py::typing::Dict<py::str, py::object> end_for_python(std::uint64_t handle) {
    without_gil([] { core::end_order_check(); });
    const Findings findings = end_check(handle);
    detail::want_lines_no_longer();
    return to_python(findings);
}

}  // namespace

void bind_checks(py::module_& m) {
    m.def("begin_check", &begin_for_python,
          "Begin to check kernels of simulated devices, and return the check's number.");
    m.def("end_check", &end_for_python, py::arg("number"), "End a check, and return what it found.");
    m.def(
        "findings_of_check", [](std::uint64_t number) { return to_python(findings_of(number)); },
        py::arg("number"), "The findings of a check so far.");
    m.def(
        "wait_for_simulated_devices", [] { without_gil([] { core::wait_for_simulated_devices(); }); },
        "Wait until the kernels of simulated devices have run.");
    m.def("checking", &checking, "Does a check run?");
    m.def(
        "note_host_access",
        [](std::uintptr_t begin, std::size_t bytes, bool writes, const std::string& what) {
            if (checking()) order::host_access(reinterpret_cast<const void*>(begin), bytes, writes, what);
        },
        py::arg("begin"), py::arg("bytes"), py::arg("writes"), py::arg("what"),
        "Tell checks that the program reads or writes memory that streams use as well.");
}

}  // namespace cuscope::bindings
