// Constructors without pybind11's dispatch: for an object of exactly the bound type, made with simple
// arguments. All others go to pybind11's __init__.
#pragma once

#include "bindings/support/fast_calls.hpp"

namespace cuscope::bindings {

// Returns null without an exception to leave the call to pybind11. `keywords` is null if there are none.
template <class T>
using FastConstructor = std::shared_ptr<T> (*)(PyObject* keywords);

template <class T, FastConstructor<T> construct>
class FastInit {
  public:
    static void put_before(py::handle type) {
        auto* const raw = reinterpret_cast<PyTypeObject*>(type.ptr());
        slow = raw->tp_init;
        raw->tp_init = init;
    }

  private:
    static int init(PyObject* self, PyObject* arguments, PyObject* keywords) {
        const bool simple = Py_TYPE(self) == type_of<T> && PyTuple_GET_SIZE(arguments) == 0;
        if (!simple || exactly<T>(self) != nullptr) return slow(self, arguments, keywords);
        bool done = false;
        translated([&]() -> PyObject* {
            const std::shared_ptr<T> made = construct(keywords);
            if (!made) return nullptr;
            const py::detail::type_info* const info = known_info();
            const std::lock_guard lock(detail::making_objects);
            if (exactly<T>(self) != nullptr) return nullptr;  // another thread was first
            auto* const instance = reinterpret_cast<py::detail::instance*>(self);
            instance->get_value_and_holder(info).value_ptr() = made.get();
            auto holder = py::smart_holder::from_shared_ptr(made);
            info->init_instance(instance, &holder);
            done = true;
            return nullptr;
        });
        if (done) return 0;
        return PyErr_Occurred() != nullptr ? -1 : slow(self, arguments, keywords);
    }

    static const py::detail::type_info* known_info() {
        static constinit std::atomic<const py::detail::type_info*> info{nullptr};
        const py::detail::type_info* known = info.load(std::memory_order_acquire);
        if (known == nullptr) {
            known = py::detail::get_type_info(type_of<T>);
            info.store(known, std::memory_order_release);
        }
        return known;
    }

    static inline initproc slow = nullptr;
};

}  // namespace cuscope::bindings
