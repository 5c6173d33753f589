// Helpers that all bindings share: releasing the GIL, entering Python from other threads, and types that only
// determine how a signature reads.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

#include "bindings/support/shared_state.hpp"
#include "runtime/process.hpp"

namespace cuscope::bindings {

namespace detail {
extern std::atomic<PyThreadState*> main_state;  // of the thread that ends the process
void restore_other_thread(PyThreadState* state);
extern std::atomic<bool> lines_wanted;  // by traces
void note_line();
void want_lines();
void want_lines_no_longer();  // unless another trace or check runs
// Without the GIL, nobody can tell which line of the program calls.
inline void note_line_if_wanted() {
    if (lines_wanted.load(std::memory_order_relaxed)) [[unlikely]]
        note_line();
}
extern std::atomic<bool> progress_shown;  // only the main thread sets it
void end_progress();
unsigned long main_thread_id();
inline constinit StateLock making_objects;  // of values that several threads may return to Python
}  // namespace detail

// The calling thread's next waits belong to a new call: a bar that shows the last call's wait goes away.
inline void end_progress_if_shown() {
    if (detail::progress_shown.load(std::memory_order_relaxed)) [[unlikely]]
        detail::end_progress();
}

inline py::module_ numpy() { return py::module_::import("numpy"); }

// Takes the GIL back. Once the process exits, only the thread that ends it does so. The interpreter would end
// any other thread inside this call by unwinding, which C++ frames do not survive, so other threads block
// here for ever.
inline void restore_thread(PyThreadState* state) {
    if (state == detail::main_state.load(std::memory_order_relaxed)) {
        PyEval_RestoreThread(state);
    } else {
        detail::restore_other_thread(state);
    }
}

// The GIL is released while this object lives.
class WithoutGil {
  public:
    WithoutGil() : state_(leave()) { note_call(); }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;
    ~WithoutGil() {
        restore_thread(state_);
        end_progress_if_shown();
    }

  private:
    static PyThreadState* leave() {
        detail::note_line_if_wanted();
        return PyEval_SaveThread();
    }

    PyThreadState* state_;
};

template <class Call>
auto without_gil(Call&& call) {
    const WithoutGil released;
    return std::forward<Call>(call)();
}

// Enters Python from any thread, while this object lives and is true. It is false once the process exits; the
// exiting thread waits for threads that are inside.
class PythonEntry {
  public:
    PythonEntry();
    PythonEntry(const PythonEntry&) = delete;
    PythonEntry& operator=(const PythonEntry&) = delete;
    ~PythonEntry();
    explicit operator bool() const { return entered_; }

  private:
    bool entered_ = false;
    PyGILState_STATE state_{};
};

// Drops a reference that its owner is about to drop, if it is the last one: without the GIL, because that
// calls the runtime. Classes whose objects often do without such a call have a method is_dropped_quickly().
template <class T>
void drop_without_gil(std::shared_ptr<T>& last) {
    if constexpr (requires { last->is_dropped_quickly(); }) {
        if (last->is_dropped_quickly()) return;
    }
    if (last.use_count() == 1 && PyGILState_Check() != 0) {
        const WithoutGil released;
        last.reset();
    }
}

// A shared owner that drops the last reference without the GIL.
template <class T>
class SharedOwner {
  public:
    SharedOwner() = default;
    explicit SharedOwner(std::shared_ptr<T> owner) : owner_(std::move(owner)) {}
    SharedOwner(SharedOwner&& other) noexcept : owner_(std::move(other.owner_)) {}
    SharedOwner& operator=(SharedOwner&&) = delete;
    SharedOwner(const SharedOwner& other) : owner_(other.get()) {}
    SharedOwner& operator=(const SharedOwner&) = delete;
    ~SharedOwner() {
        if (owner_) drop_without_gil(owner_);
    }

    void reset() {
        std::shared_ptr<T> last = take();
        if (last) drop_without_gil(last);
    }
    Held<T> get() const {
        const std::lock_guard lock(lock_);
        return owner_;
    }

  private:
    std::shared_ptr<T> take() {
        const std::lock_guard lock(lock_);
        return std::move(owner_);
    }

    std::shared_ptr<T> owner_;
    [[no_unique_address]] mutable StateLock lock_;
};

// The content of a Python object, until it is closed. A call borrows the content; with the GIL that is
// cheaper than copying the owner. If the object is closed while a call is in the runtime without the GIL, the
// content is dropped after the call.
template <class T>
class Closable {
  public:
    explicit Closable(std::shared_ptr<T> held) : held_(std::move(held)) {}
    Closable(const Closable&) = delete;
    Closable& operator=(const Closable&) = delete;

    Held<T> get() const {
        const std::lock_guard lock(lock_);
        return held_;
    }
    explicit operator bool() const { return get() != nullptr; }

    // Sets the content of an object that was created without it.
    void fill(std::shared_ptr<T> held) {
        const std::lock_guard lock(lock_);
        held_ = std::move(held);
    }
    void close() {
        std::shared_ptr<T> last = take();
        if (!last) return;
#ifndef Py_GIL_DISABLED
        if (borrowers_ > 0) {
            leaving_ = std::move(last);
            return;
        }
#endif
        without_gil([&] { last.reset(); });
    }

    // The content is not dropped while this lives. It may be null. Created and destroyed with the GIL.
    class Borrowed {
      public:
        Borrowed(const Borrowed&) = delete;
        Borrowed& operator=(const Borrowed&) = delete;
        explicit operator bool() const { return borrowed_ != nullptr; }
        T& operator*() const { return *borrowed_; }
        T* operator->() const { return &*borrowed_; }

#ifdef Py_GIL_DISABLED
        explicit Borrowed(const Closable& from) : borrowed_(from.get()) {}
        ~Borrowed() {
            if (borrowed_) drop_without_gil(borrowed_);
        }

      private:
        std::shared_ptr<T> borrowed_;
#else
        explicit Borrowed(Closable& from) : from_(from), borrowed_(from.held_.get()) { ++from_.borrowers_; }
        ~Borrowed() {
            if (--from_.borrowers_ > 0 || !from_.leaving_) return;
            std::shared_ptr<T> last = std::move(from_.leaving_);
            without_gil([&] { last.reset(); });
        }

      private:
        Closable& from_;
        T* borrowed_;
#endif
    };

  private:
    std::shared_ptr<T> take() {
        const std::lock_guard lock(lock_);
        return std::move(held_);
    }

    std::shared_ptr<T> held_;
    [[no_unique_address]] mutable StateLock lock_;
#ifndef Py_GIL_DISABLED
    std::shared_ptr<T> leaving_;
    int borrowers_ = 0;
#endif
};

// The same object with an owner that drops the last reference without the GIL, because that may call the
// runtime.
template <class T>
std::shared_ptr<T> ending_without_gil(std::shared_ptr<T> object) {
    T* const raw = object.get();
    return {raw, [owner = SharedOwner<T>(std::move(object))](T*) mutable { owner.reset(); }};
}

// Types for arguments that are converted by hand: the type's name appears in signatures and stubs.
#define CUSCOPE_ANNOTATED(type)                              \
    class type : public py::object {                         \
      public:                                                \
        PYBIND11_OBJECT_DEFAULT(type, object, PyObject_Type) \
    };
CUSCOPE_ANNOTATED(ShapeLike)
CUSCOPE_ANNOTATED(DTypeLike)
CUSCOPE_ANNOTATED(OptionalDType)
CUSCOPE_ANNOTATED(OptionalShape)
CUSCOPE_ANNOTATED(Pairs)
CUSCOPE_ANNOTATED(DType)
CUSCOPE_ANNOTATED(ArrayLike)
CUSCOPE_ANNOTATED(NDArray)
CUSCOPE_ANNOTATED(HostOrDeviceArray)
CUSCOPE_ANNOTATED(EventOrStream)
CUSCOPE_ANNOTATED(Index)
CUSCOPE_ANNOTATED(ShapeTuple)
CUSCOPE_ANNOTATED(Scalar)
CUSCOPE_ANNOTATED(GridLike)
CUSCOPE_ANNOTATED(LaunchKey)
CUSCOPE_ANNOTATED(KernelLaunchObject)
CUSCOPE_ANNOTATED(OptionalGrid)
CUSCOPE_ANNOTATED(OptionalText)
CUSCOPE_ANNOTATED(OptionalInt)
CUSCOPE_ANNOTATED(OptionalMap)
CUSCOPE_ANNOTATED(WindowLike)
CUSCOPE_ANNOTATED(SharedLike)
CUSCOPE_ANNOTATED(AnyCallable)
CUSCOPE_ANNOTATED(EventSelf)
CUSCOPE_ANNOTATED(StreamSelf)
CUSCOPE_ANNOTATED(DeviceSelf)
CUSCOPE_ANNOTATED(DeviceArraySelf)
CUSCOPE_ANNOTATED(PathLike)
CUSCOPE_ANNOTATED(AttributeKey)
CUSCOPE_ANNOTATED(IntLike)
CUSCOPE_ANNOTATED(Answer)
CUSCOPE_ANNOTATED(StreamLike)
CUSCOPE_ANNOTATED(DeviceLike)
CUSCOPE_ANNOTATED(EventLike)
CUSCOPE_ANNOTATED(Text)
CUSCOPE_ANNOTATED(Texts)
CUSCOPE_ANNOTATED(PathsLike)
CUSCOPE_ANNOTATED(HeadersLike)
CUSCOPE_ANNOTATED(CountDict)
CUSCOPE_ANNOTATED(AnswerDict)
CUSCOPE_ANNOTATED(AfterLike)
CUSCOPE_ANNOTATED(NodeList)
CUSCOPE_ANNOTATED(HostOrDeviceMemory)
CUSCOPE_ANNOTATED(CountsDict)
CUSCOPE_ANNOTATED(ProfileObject)
CUSCOPE_ANNOTATED(OperationsLike)
CUSCOPE_ANNOTATED(SemaphoresLike)
#undef CUSCOPE_ANNOTATED
using AnyArgs = py::Args<Scalar>;
using AnyKeywords = py::KWArgs<Scalar>;

// Thrown for an object without a value.
[[noreturn]] inline void refuse_uninitialised() {
    throw py::type_error(
        "the object was never initialised: its class overrides __init__, which has to call "
        "super().__init__(...) before it uses the object");
}

}  // namespace cuscope::bindings

namespace pybind11::detail {

// For an object without a value, because its __init__ never ran, pybind11 passes a null pointer. This caster
// throws instead.
template <class T>
requires std::is_class_v<T>
class type_caster<std::shared_ptr<T>> : public copyable_holder_caster<T, std::shared_ptr<T>> {
  public:
    bool load(handle source, bool convert) {
        if (!copyable_holder_caster<T, std::shared_ptr<T>>::load(source, convert)) return false;
        if (this->value == nullptr && !source.is_none()) cuscope::bindings::refuse_uninitialised();
        return true;
    }
#ifdef Py_GIL_DISABLED
    // pybind11 finds the Python object of a value before another thread has finished it.
    static handle cast(const std::shared_ptr<T>& source, return_value_policy policy, handle parent) {
        const std::lock_guard lock(cuscope::bindings::detail::making_objects);
        return copyable_holder_caster<T, std::shared_ptr<T>>::cast(source, policy, parent);
    }
#endif
};

}  // namespace pybind11::detail

#define CUSCOPE_SPELLED(type, text)                                      \
    template <>                                                          \
    struct pybind11::detail::handle_type_name<cuscope::bindings::type> { \
        static constexpr auto name = const_name(text);                   \
    };
CUSCOPE_SPELLED(ShapeLike, "typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]")
CUSCOPE_SPELLED(DTypeLike, "numpy.typing.DTypeLike")
CUSCOPE_SPELLED(OptionalDType, "numpy.typing.DTypeLike | None")
CUSCOPE_SPELLED(OptionalShape, "typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None")
CUSCOPE_SPELLED(Pairs, "collections.abc.Iterable[tuple[typing.Any, typing.Any]]")
CUSCOPE_SPELLED(DType, "numpy.dtype[typing.Any]")
CUSCOPE_SPELLED(ArrayLike, "numpy.typing.ArrayLike")
CUSCOPE_SPELLED(NDArray, "numpy.typing.NDArray[typing.Any]")
CUSCOPE_SPELLED(
    HostOrDeviceArray,
    "cuscope._core.DeviceArray | numpy.typing.ArrayLike | cuscope._protocols.CudaArrayInterface | "
    "cuscope._protocols.DLPackArray")
CUSCOPE_SPELLED(EventOrStream, "cuscope._core.Event | cuscope._core.Stream | cuscope._protocols.CudaStream")
CUSCOPE_SPELLED(Index,
                "typing.SupportsIndex | slice | types.EllipsisType | None | "
                "tuple[typing.SupportsIndex | slice | types.EllipsisType | None, ...]")
CUSCOPE_SPELLED(ShapeTuple, "tuple[int, ...]")
CUSCOPE_SPELLED(Scalar, "typing.Any")
CUSCOPE_SPELLED(GridLike, "typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]")
CUSCOPE_SPELLED(OptionalGrid, "typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None")
CUSCOPE_SPELLED(OptionalText, "str | None")
CUSCOPE_SPELLED(OptionalInt, "typing.SupportsIndex | None")
CUSCOPE_SPELLED(OptionalMap, "collections.abc.Sequence[typing.SupportsIndex] | None")
CUSCOPE_SPELLED(WindowLike, "cuscope._core.AccessPolicyWindow | None")
CUSCOPE_SPELLED(SharedLike, "typing.SupportsIndex | collections.abc.Callable[[int], int]")
CUSCOPE_SPELLED(KernelLaunchObject, "cuscope._core.KernelLaunch")
CUSCOPE_SPELLED(LaunchKey, "tuple[typing.Any, ...]")
CUSCOPE_SPELLED(AnyCallable, "collections.abc.Callable[..., object]")
CUSCOPE_SPELLED(EventSelf, "cuscope._core.Event")
CUSCOPE_SPELLED(StreamSelf, "cuscope._core.Stream")
CUSCOPE_SPELLED(DeviceSelf, "cuscope._core.Device")
CUSCOPE_SPELLED(DeviceArraySelf, "cuscope._core.DeviceArray")
CUSCOPE_SPELLED(PathLike, "str | os.PathLike[str]")
CUSCOPE_SPELLED(AttributeKey, "int | str")
CUSCOPE_SPELLED(IntLike, "typing.SupportsIndex")
CUSCOPE_SPELLED(Answer, "tuple[typing.Any, ...]")
CUSCOPE_SPELLED(StreamLike, "cuscope._core.Stream | cuscope._protocols.CudaStream | None")
CUSCOPE_SPELLED(DeviceLike, "cuscope._core.Device | None")
CUSCOPE_SPELLED(EventLike, "cuscope._core.Event | None")
CUSCOPE_SPELLED(Text, "str")
CUSCOPE_SPELLED(Texts, "collections.abc.Sequence[str]")
CUSCOPE_SPELLED(PathsLike, "collections.abc.Sequence[str | os.PathLike[str]]")
CUSCOPE_SPELLED(HeadersLike, "collections.abc.Mapping[str, str]")
CUSCOPE_SPELLED(CountDict, "dict[str, int]")
CUSCOPE_SPELLED(AnswerDict, "dict[str, typing.Any]")
CUSCOPE_SPELLED(AfterLike,
                "cuscope._core.GraphNode | collections.abc.Iterable[cuscope._core.GraphNode] | None")
CUSCOPE_SPELLED(NodeList, "list[cuscope._core.GraphNode]")
CUSCOPE_SPELLED(HostOrDeviceMemory, "cuscope._core.DeviceArray | numpy.typing.NDArray[typing.Any]")
CUSCOPE_SPELLED(CountsDict, "dict[str, GlobalCounts]")
CUSCOPE_SPELLED(ProfileObject, "cuscope._profiling.Profile")
CUSCOPE_SPELLED(
    SemaphoresLike,
    "cuscope._core.ExternalSemaphore | tuple[cuscope._core.ExternalSemaphore, typing.SupportsIndex] | "
    "collections.abc.Iterable[cuscope._core.ExternalSemaphore | "
    "tuple[cuscope._core.ExternalSemaphore, typing.SupportsIndex]]")
CUSCOPE_SPELLED(OperationsLike,
                "collections.abc.Iterable[cuscope._core.WriteValue | cuscope._core.WaitValue | "
                "cuscope._core.MemoryBarrier]")
#undef CUSCOPE_SPELLED
