#include "bindings/device/progress.hpp"

#include <chrono>

#include "runtime/progress.hpp"

namespace cuscope::bindings {

std::atomic<bool> detail::progress_shown{false};

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto pause = std::chrono::milliseconds(100);  // between two drawings

// Everything is only used with the GIL.
struct Bar {
    PyObject *show = nullptr, *end = nullptr;  // Python functions; null: no bars
    std::chrono::duration<double> after{};     // waits of this length get a bar
    bool drawing = false;
    unsigned call = 0;  // the call of the program that waits
    Clock::time_point since, drawn;
} bar;

class Drawing {
  public:
    Drawing() { bar.drawing = true; }
    Drawing(const Drawing&) = delete;
    Drawing& operator=(const Drawing&) = delete;
    ~Drawing() { bar.drawing = false; }
};

// An exception that is an error of the drawing ends all bars. Others, as KeyboardInterrupt, stay set: false.
bool drawn_well(PyObject* result, PyObject* function) {
    Py_XDECREF(result);
    if (result != nullptr) return true;
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0) return false;
    PyErr_WriteUnraisable(function);
    Py_CLEAR(bar.show);
    return true;
}

void set_progress(const py::object& show, const py::object& end, double after) {
    Py_XSETREF(bar.show, show.is_none() ? nullptr : show.inc_ref().ptr());
    Py_XSETREF(bar.end, end.is_none() ? nullptr : end.inc_ref().ptr());
    bar.after = std::chrono::duration<double>(after);
}

}  // namespace

bool show_progress() {
    if (bar.show == nullptr || bar.drawing) return true;
    const Clock::time_point now = Clock::now();
    if (cuscope::detail::calls != bar.call) {
        end_progress_if_shown();
        bar.call = cuscope::detail::calls;
        bar.since = now;
    }
    if (now - bar.since < bar.after || (detail::progress_shown && now - bar.drawn < pause)) return true;
    const Drawing drawing;
    detail::progress_shown = true;
    bar.drawn = now;
    const Progress progress = Doing::now();
    PyObject* const show = Py_NewRef(bar.show);  // the function may set another one
    PyObject* const result = PyObject_CallFunction(show, "sKKd", progress.doing.c_str(),
                                                   static_cast<unsigned long long>(progress.done),
                                                   static_cast<unsigned long long>(progress.total),
                                                   std::chrono::duration<double>(now - bar.since).count());
    const bool well = drawn_well(result, show);
    Py_DECREF(show);
    return well;
}

// The wait is over, so an exception of Ctrl-C becomes a new signal, which the interpreter handles next.
void detail::end_progress() {
    if (bar.drawing || PyThread_get_thread_ident() != main_thread_id()) return;
    progress_shown = false;
    if (bar.end == nullptr) return;
    const Drawing drawing;
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject* const end = Py_NewRef(bar.end);
    PyObject* const result = PyObject_CallNoArgs(end);
    if (!drawn_well(result, end)) {
        PyErr_Clear();
        PyErr_SetInterrupt();
    }
    Py_DECREF(end);
    PyErr_Restore(type, value, traceback);
}

void bind_progress(py::module_& m) {
    m.def(
        "set_progress", set_progress, py::arg("show").none(true), py::arg("end").none(true), py::arg("after"),
        "Call `show` with the text, the finished and all parts and the seconds during waits that are longer "
        "than `after` seconds, and `end` after them. None: no bars.");
}

}  // namespace cuscope::bindings
