// Translates core's errors to Python exceptions. The exception classes are in cuscope/_errors.py.
#include "bindings/support/objects.hpp"
#include "core/graph/capture.hpp"
#include "runtime/status.hpp"

namespace cuscope::bindings {
namespace {

void raise(const char* class_name, const core::Error& error, const std::string* log) {
    const py::object type = py::module_::import("cuscope._errors").attr(class_name);
    const auto optional = [](const std::string& text) -> py::object {
        return text.empty() ? py::none() : py::object(py::str(text));
    };
    py::list arguments;
    arguments.append(error.what());
    arguments.append(static_cast<int>(error.status()));
    arguments.append(name(error.status()));
    arguments.append(error.call());
    arguments.append(optional(error.detail()));
    arguments.append(optional(error.hint()));
    if (log != nullptr) arguments.append(*log);
    const py::object exception = type(*py::tuple(arguments));
    PyErr_SetObject(type.ptr(), exception.ptr());
}

bool is_of_captures(Status status) {
    return status >= Status::stream_capture_unsupported && status <= Status::stream_capture_wrong_thread;
}

// The innermost line of the user's program, "file.py:12": frames of this package are skipped.
std::string place_of_call() {
    PyFrameObject* frame = PyEval_GetFrame();
    py::object current = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(frame));
    while (current && !current.is_none()) {
        const py::object name = current.attr("f_globals").attr("get")("__name__", "");
        const std::string module = py::str(name);
        if (module != "cuscope" && !module.starts_with("cuscope.")) {
            return py::str(current.attr("f_code").attr("co_filename")).cast<std::string>() + ":" +
                   py::str(current.attr("f_lineno")).cast<std::string>();
        }
        current = current.attr("f_back");
    }
    return "";
}

void translate(std::exception_ptr thrown) {
    try {
        std::rethrow_exception(std::move(thrown));
    } catch (const core::CompileFailure& error) {
        raise("CompileError", error, &error.log());
    } catch (const core::Error& error) {
        if (core::captures_underway() > 0) core::Capture::note_place(place_of_call());
        raise(error.status() == Status::memory_allocation ? "OutOfMemoryError"
              : is_of_captures(error.status())            ? "CaptureError"
                                                          : "CudaError",
              error, nullptr);
    } catch (const core::WrongKind& error) {
        PyErr_SetString(PyExc_TypeError, error.what());
    }
}

}  // namespace

void bind_errors(py::module_& m) {
    py::register_exception_translator(translate);
    m.def(
        "usual_hint",
        [](int code, const std::string& call) { return core::usual_hint(static_cast<Status>(code), call); },
        py::arg("code"), py::arg("call"), "The usual hint for an error of this code and call.");
}

}  // namespace cuscope::bindings
