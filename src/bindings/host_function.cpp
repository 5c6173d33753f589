#include "bindings/host_function.hpp"

namespace cuscope::bindings {

PythonTask::PythonTask(py::object callable, py::tuple arguments, py::dict keywords)
    : callable_(callable.release().ptr()),
      arguments_(arguments.release().ptr()),
      keywords_(keywords.release().ptr()) {}

PythonTask::~PythonTask() {
    // At exit only the thread that ends the process, which has the GIL, may still touch what Python owns.
    if (PyGILState_Check() != 0) {
        Py_DECREF(callable_);
        Py_DECREF(arguments_);
        Py_DECREF(keywords_);
    } else if (const PythonEntry entry; entry) {
        Py_DECREF(callable_);
        Py_DECREF(arguments_);
        Py_DECREF(keywords_);
    }
}

void PythonTask::run() {
    const PythonEntry entry;
    if (!entry) return;
    PyObject* const result = PyObject_Call(callable_, arguments_, keywords_);
    if (result == nullptr) throw py::error_already_set();
    Py_DECREF(result);
}

}  // namespace cuscope::bindings
