#include "bindings/streams/host_function.hpp"

namespace cuscope::bindings {
namespace {

// "wait" for a bound method, "<lambda>" for a lambda, or the name of the callable's type. Runs no Python
// code.
std::string name_of(PyObject* callable) {
    if (PyMethod_Check(callable)) callable = PyMethod_GET_FUNCTION(callable);
    if (PyCFunction_Check(callable)) return reinterpret_cast<PyCFunctionObject*>(callable)->m_ml->ml_name;
    if (PyFunction_Check(callable)) {
        const auto name =
            py::reinterpret_borrow<py::object>(reinterpret_cast<PyFunctionObject*>(callable)->func_name);
        if (const char* const text = PyUnicode_AsUTF8(name.ptr()); text != nullptr) return text;
        PyErr_Clear();
    }
    return Py_TYPE(callable)->tp_name;
}

}  // namespace

PythonTask::PythonTask(py::object callable, py::tuple arguments, py::dict keywords)
    : callable_(callable.release().ptr()),
      arguments_(arguments.release().ptr()),
      keywords_(keywords.release().ptr()),
      name_(name_of(callable_)) {}

PythonTask::~PythonTask() {
    // At exit, only the thread that ends the process may still touch Python's objects. It has the GIL.
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
