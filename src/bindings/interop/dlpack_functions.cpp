// The C functions of DLPack 1.3 (DLPackExchangeAPI) for arrays of cuscope. Other extensions find them on the
// type and exchange arrays without a call of Python.
#include "bindings/interop/import.hpp"
#include "bindings/support/fast_calls.hpp"

namespace cuscope::bindings {
namespace {

// Runs a function that may throw. Returns what C functions of Python return: 0, or -1 with an exception set.
template <class Function>
int guarded(Function&& function) {
    bool done = false;
    translated([&]() -> PyObject* {
        function();
        done = true;
        return nullptr;
    });
    return done ? 0 : -1;
}

void check_pointer(const void* pointer, const char* what) {
    if (pointer == nullptr) throw std::invalid_argument(std::string(what) + " is a null pointer");
}

int export_tensor(void* object, DLManagedTensorVersioned** out) {
    return guarded([&] {
        check_pointer(object, "the object");
        check_pointer(out, "the place for the tensor");
        *out = nullptr;
        const py::handle array(static_cast<PyObject*>(object));
        if (!py::isinstance<DeviceArray>(array)) {
            throw core::WrongKind("takes a DeviceArray, not " + kind_of(array));
        }
        *out = to_dlpack_tensor(array.cast<const DeviceArray&>());
    });
}

int import_tensor(DLManagedTensorVersioned* tensor, void** out) {
    return guarded([&] {
        check_pointer(tensor, "the tensor");
        const core::DevicePtr near = current_device();
        // By the rules of these functions, the work on a tensor was given to the current stream.
        const DLDevice on = tensor->dl_tensor.device;
        const bool known = tensor->version.major == DLPACK_MAJOR_VERSION && on.device_type != kDLCPU;
        const core::StreamPtr ready =
            known ? core::current_stream(device_of_dlpack({on.device_type, on.device_id}, near)) : nullptr;
        DeviceArray array = from_dlpack_tensor(tensor, near, ready);
        check_pointer(out, "the place for the array");
        *out = object_of(std::move(array));
    });
}

// Callers need not hold the GIL, so this sets no exception of Python.
int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_context,
             void (*set_error)(void* error_context, const char* kind, const char* message)) {
    const char* kind = "RuntimeError";
    std::string message;
    try {
        check_pointer(prototype, "the prototype");
        check_pointer(out, "the place for the tensor");
        *out = nullptr;
        const WithoutInterpreter released;
        *out = new_dlpack_tensor(*prototype);
        return 0;
    } catch (const core::Error& error) {
        if (error.status() == Status::memory_allocation) kind = "MemoryError";
        message = error.what();
    } catch (const std::invalid_argument& error) {
        kind = "ValueError";
        message = error.what();
    } catch (const py::buffer_error& error) {
        kind = "BufferError";
        message = error.what();
    } catch (const std::exception& error) {
        message = error.what();
    }
    if (set_error != nullptr) set_error(error_context, kind, message.c_str());
    return -1;
}

int current_work_stream(DLDeviceType type, std::int32_t id, void** out) {
    return guarded([&] {
        check_pointer(out, "the place for the stream");
        *out = nullptr;
        if (type == kDLCPU) return;
        const core::DevicePtr device = device_of_dlpack({type, id}, current_device());
        *out = core::current_stream(device)->handle();
    });
}

// Without dltensor_from_py_object_no_sync, which needs the strides in elements: arrays have them in bytes.
DLPackExchangeAPI exchange_functions{{{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, nullptr},
                                     allocate,
                                     export_tensor,
                                     import_tensor,
                                     nullptr,
                                     current_work_stream};

}  // namespace

py::object dlpack_functions() { return py::capsule(&exchange_functions, dlpack::functions_capsule); }

}  // namespace cuscope::bindings
