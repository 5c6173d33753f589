// The process as a whole: Ctrl-C during a wait, threads that enter Python, the interpreter's exit, and counts
// of live objects.
#include "runtime/process.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "bindings/device/progress.hpp"
#include "bindings/support/objects.hpp"
#include "core/stream/host_task.hpp"
#include "runtime/compile/cache.hpp"

namespace cuscope::bindings {

std::atomic<PyThreadState*> detail::main_state{nullptr};

namespace {

std::atomic<int> inside{0};     // threads of runtimes that run Python code
std::atomic<int> returning{0};  // Python threads that are returning from a call of a runtime
std::atomic<unsigned long> main_thread{0};
// An exception of a signal handler (or of a warning turned into an error), until the wait that it interrupted
// has returned.
thread_local PyObject *pending_type = nullptr, *pending_value = nullptr, *pending_traceback = nullptr;

// Called by waits, without the GIL and without a lock.
bool check_signals() {
    if (pending_type != nullptr) return true;
    if (PyThread_get_thread_ident() != detail::main_thread_id() || process_exiting()) return false;
    const PyGILState_STATE state = PyGILState_Ensure();
    if (PyErr_CheckSignals() != 0) {
        PyErr_Fetch(&pending_type, &pending_value, &pending_traceback);
    } else if (!show_progress()) {
        PyErr_Fetch(&pending_type, &pending_value, &pending_traceback);
    }
    PyGILState_Release(state);
    return pending_type != nullptr;
}

// sys.stdout, or null. Sets no exception.
py::object standard_output() {
#ifdef Py_GIL_DISABLED
    // Another thread may replace it, so a borrowed reference does not do.
    const auto sys = py::reinterpret_steal<py::object>(PyImport_ImportModule("sys"));
    auto out = py::reinterpret_steal<py::object>(sys ? PyObject_GetAttrString(sys.ptr(), "stdout") : nullptr);
    if (!out) PyErr_Clear();
    return out;
#else
    return py::reinterpret_borrow<py::object>(PySys_GetObject("stdout"));
#endif
}

// Writes the output of kernels to Python's sys.stdout, which in a notebook is the cell. Never raises, because
// it is called from waits of every kind.
void write_to_python(const char* text, std::size_t bytes) {
    {
        const PythonEntry entry;
        const py::object keep = entry ? standard_output() : py::object();
        PyObject* const out = keep.ptr();
        if (out != nullptr && out != Py_None) {
            const auto printed = py::reinterpret_steal<py::object>(
                PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(bytes), "replace"));
            const auto call = [&](const char* method, PyObject* argument) {
                PyObject* const result = argument == nullptr
                                             ? PyObject_CallMethod(out, method, nullptr)
                                             : PyObject_CallMethod(out, method, "O", argument);
                if (result == nullptr) PyErr_WriteUnraisable(out);
                Py_XDECREF(result);
            };
            if (printed) {
                call("write", printed.ptr());
                call("flush", nullptr);
            }
            return;
        }
    }
    std::fwrite(text, 1, bytes, stdout);
    std::fflush(stdout);
}

void translate_interrupt(std::exception_ptr thrown) {
    try {
        std::rethrow_exception(std::move(thrown));
    } catch (const core::Interrupted&) {
        if (pending_type != nullptr) {
            PyErr_Restore(pending_type, pending_value, pending_traceback);
            pending_type = pending_value = pending_traceback = nullptr;
        } else {
            PyErr_SetString(PyExc_RuntimeError, "the wait ended although the work has not");
        }
    }
}

// How long the interpreter's exit waits for threads that are still in Python.
constexpr auto patience = std::chrono::seconds(2);

void at_exit() {
    // In a child that another thread forked, the main thread is a different one than at import.
    main_thread = PyThread_get_thread_ident();
    detail::main_state = PyThreadState_Get();
    set_process_exiting();
    without_gil([] {
        core::shut_down_runtimes();
        if (forked_after_use()) return;  // the threads that were inside exist only in the parent
        const auto end = std::chrono::steady_clock::now() + patience;
        while (inside.load() + returning.load() != 0 && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    if (forked_after_use()) return;
    // Reports exceptions that no synchronisation has raised, so that they are not lost silently.
    for (const core::DevicePtr& device : core::known_devices()) {
        for (bool more = true; more;) {
            try {
                device->raise_failure();
                more = false;
            } catch (py::error_already_set& error) {
                error.discard_as_unraisable("a host function of a stream that was never synchronized");
            } catch (...) {
                more = false;
            }
        }
    }
    core::drop_host_tasks(nullptr);
}

CountDict live() {
    const core::LiveCounts counts = core::live_counts();
    std::size_t retired = 0;
    for (const core::DevicePtr& device : core::known_devices()) retired += device->retired();
    py::dict result;
    result["device_memory"] = counts.device_memory;
    result["pinned_memory"] = counts.pinned_memory;
    result["host_functions"] = core::pending_host_tasks();
    result["retired"] = retired;
    return CountDict(result);
}

}  // namespace

unsigned long detail::main_thread_id() { return main_thread.load(std::memory_order_relaxed); }

void detail::restore_other_thread(PyThreadState* state) {
    returning.fetch_add(1);
    if (process_exiting()) {
        returning.fetch_sub(1);
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
    PyEval_RestoreThread(state);
    returning.fetch_sub(1);
}

PythonEntry::PythonEntry() {
    inside.fetch_add(1);
    entered_ = !process_exiting();
    if (entered_) {
        state_ = PyGILState_Ensure();
    } else {
        inside.fetch_sub(1);
    }
}

PythonEntry::~PythonEntry() {
    if (!entered_) return;
    PyGILState_Release(state_);
    inside.fetch_sub(1);
}

void end_wait_with_python_error() {
    if (pending_type == nullptr) {
        PyErr_Fetch(&pending_type, &pending_value, &pending_traceback);
    } else {
        PyErr_Clear();
    }
}

void bind_process(py::module_& m) {
    py::register_exception_translator(translate_interrupt);
    const py::module_ threading = py::module_::import("threading");
    main_thread = threading.attr("main_thread")().attr("ident").cast<unsigned long>();
    if (PyThread_get_thread_ident() == main_thread) detail::main_state = PyThreadState_Get();
    set_interrupt_check(check_signals);
    set_kernel_output(write_to_python);
    set_interpreter_lock(
        []() -> void* {
            if (PyGILState_Check() == 0) return nullptr;
            detail::note_line_if_wanted();
            return PyEval_SaveThread();
        },
        [](void* state) {
            restore_thread(static_cast<PyThreadState*>(state));
            end_progress_if_shown();
        });
    py::module_::import("atexit").attr("register")(py::cpp_function(at_exit));
    m.def("cache_description", cache_description, "The folder of compiled kernels, or why there is none.");
    m.def("live", live, "The numbers of live objects, for tests that look for leaks.");
}

}  // namespace cuscope::bindings
