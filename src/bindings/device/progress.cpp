#include "bindings/device/progress.hpp"

#include <chrono>
#include <utility>

#include "runtime/progress.hpp"

namespace cuscope::bindings {

std::atomic<bool> detail::progress_shown{false};

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto pause = std::chrono::milliseconds(100);  // between two drawings

// The settings of show_progress(), which any thread may change.
struct Functions {
    PyObject *show = nullptr, *end = nullptr;  // null: no bars
    std::chrono::duration<double> after{};     // waits of this length get a bar
    [[no_unique_address]] StateLock lock;

    py::object function(PyObject* const& which) {
        const std::lock_guard guard(lock);
        return py::reinterpret_borrow<py::object>(which);
    }
    std::chrono::duration<double> least_wait() {
        const std::lock_guard guard(lock);
        return after;
    }
    void set(py::object new_show, py::object new_end, std::chrono::duration<double> new_after) {
        py::object old_show, old_end;  // dropped without the lock
        const std::lock_guard guard(lock);
        old_show = py::reinterpret_steal<py::object>(std::exchange(show, new_show.release().ptr()));
        old_end = py::reinterpret_steal<py::object>(std::exchange(end, new_end.release().ptr()));
        after = new_after;
    }
    void forget_show() {
        py::object old_show;
        const std::lock_guard guard(lock);
        old_show = py::reinterpret_steal<py::object>(std::exchange(show, nullptr));
    }
} functions;

// Only used by the main thread.
struct Bar {
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
bool drawn_well(PyObject* result, const py::object& function) {
    Py_XDECREF(result);
    if (result != nullptr) return true;
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0) return false;
    PyErr_WriteUnraisable(function.ptr());
    functions.forget_show();
    return true;
}

void set_progress(const py::object& show, const py::object& end, double after) {
    functions.set(show.is_none() ? py::object() : show, end.is_none() ? py::object() : end,
                  std::chrono::duration<double>(after));
}

}  // namespace

bool show_progress() {
    const py::object show = functions.function(functions.show);  // the function may set another one
    if (!show || bar.drawing) return true;
    const Clock::time_point now = Clock::now();
    if (cuscope::detail::calls != bar.call) {
        end_progress_if_shown();
        bar.call = cuscope::detail::calls;
        bar.since = now;
    }
    if (now - bar.since < functions.least_wait() || (detail::progress_shown && now - bar.drawn < pause))
        return true;
    const Drawing drawing;
    detail::progress_shown = true;
    bar.drawn = now;
    const Progress progress = Doing::now();
    PyObject* const result = PyObject_CallFunction(show.ptr(), "sKKd", progress.doing.c_str(),
                                                   static_cast<unsigned long long>(progress.done),
                                                   static_cast<unsigned long long>(progress.total),
                                                   std::chrono::duration<double>(now - bar.since).count());
    return drawn_well(result, show);
}

// The wait is over, so an exception of Ctrl-C becomes a new signal, which the interpreter handles next.
void detail::end_progress() {
    if (PyThread_get_thread_ident() != main_thread_id() || bar.drawing) return;
    progress_shown = false;
    const py::object end = functions.function(functions.end);
    if (!end) return;
    const Drawing drawing;
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject* const result = PyObject_CallNoArgs(end.ptr());
    if (!drawn_well(result, end)) {
        PyErr_Clear();
        PyErr_SetInterrupt();
    }
    PyErr_Restore(type, value, traceback);
}

void bind_progress(py::module_& m) {
    m.def(
        "set_progress", set_progress, py::arg("show").none(true), py::arg("end").none(true), py::arg("after"),
        "Call `show` with the text, the finished and all parts and the seconds during waits that are longer "
        "than `after` seconds, and `end` after them. None: no bars.");
}

}  // namespace cuscope::bindings
