// State that several threads of Python use. With the GIL the classes here cost nothing: the GIL keeps the
// threads apart. On free-threaded Python they lock, or use atomics.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace cuscope::bindings {

namespace py = pybind11;

// Guards a few loads and stores. While it is locked, the thread runs no Python code, calls no runtime and
// drops no reference.
class StateLock {
  public:
    constexpr StateLock() = default;
    StateLock(const StateLock&) = delete;
    StateLock& operator=(const StateLock&) = delete;

#ifdef Py_GIL_DISABLED
    void lock() { PyMutex_Lock(&mutex_); }
    void unlock() { PyMutex_Unlock(&mutex_); }

  private:
    PyMutex mutex_{};
#else
    void lock() {}
    void unlock() {}
#endif
};

// The type in which a reader gets the content of a Python object. Without the GIL another thread may empty
// the object at any time, so the reader gets an owner of its own.
#ifdef Py_GIL_DISABLED
template <class T>
using Held = std::shared_ptr<T>;
#else
template <class T>
using Held = const std::shared_ptr<T>&;
#endif

// A Python object that is made at its first use, and lives as long as the process. If several threads come at
// the same time, each may make one, and all get the same.
class MadeOnce {
  public:
    constexpr MadeOnce() = default;
    MadeOnce(const MadeOnce&) = delete;
    MadeOnce& operator=(const MadeOnce&) = delete;

    template <class Make>
    PyObject* get(Make&& make) {
        PyObject* const known = object_.load(std::memory_order_acquire);
        return known != nullptr ? known : keep(make());
    }

  private:
    PyObject* keep(py::object made) {
        PyObject* before = nullptr;
        if (object_.compare_exchange_strong(before, made.ptr(), std::memory_order_acq_rel))
            return made.release().ptr();
        return before;
    }

    std::atomic<PyObject*> object_{nullptr};
};

// Names of parameters as interned strings, which are made at the first use and never released. A static
// variable with an initialiser would make a thread wait for another one without telling Python that it waits.
template <std::size_t count>
class ParameterNames {
  public:
    template <class... Text>
    requires(sizeof...(Text) == count) constexpr explicit ParameterNames(const Text*... texts)
        : texts_{texts...} {}
    ParameterNames(const ParameterNames&) = delete;
    ParameterNames& operator=(const ParameterNames&) = delete;

    // Only after made().
    PyObject* operator[](std::size_t i) const { return names_[i].load(std::memory_order_relaxed); }
    const ParameterNames& made() {
        if (!made_.load(std::memory_order_acquire)) [[unlikely]]
            make();
        return *this;
    }

  private:
    void make() {
        // A second thread gets the same strings.
        for (std::size_t i = 0; i < count; ++i)
            names_[i].store(PyUnicode_InternFromString(texts_[i]), std::memory_order_relaxed);
        made_.store(true, std::memory_order_release);
    }

    std::array<const char*, count> texts_;
    std::array<std::atomic<PyObject*>, count> names_{};
    std::atomic<bool> made_{false};
};
template <class... Text>
ParameterNames(const Text*...) -> ParameterNames<sizeof...(Text)>;

}  // namespace cuscope::bindings
