// The contract as it is, for tests: one method for each of class Runtime's, by its name. A method without
// outputs returns the status's name, one with outputs a tuple of it and them. Nothing is set, checked or kept
// alive, and the GIL is let go. Handles and pointers are ints.
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <vector>

#include "bindings/testing/contract_method.hpp"

namespace cuscope::bindings {
namespace {

using std::size_t;
using Class = py::class_<Contract>;
using py::arg;

// Calls a Python callable once and lets it go. Exceptions go to sys.unraisablehook: there is nobody to raise
// them to.
void run_callable(void* data) {
    const core::HostFunctionScope scope;
    const PythonEntry entry;
    if (!entry) return;
    const auto callable = py::reinterpret_steal<py::object>(static_cast<PyObject*>(data));
    PyObject* const result = PyObject_CallNoArgs(callable.ptr());
    if (result == nullptr) {
        PyErr_WriteUnraisable(callable.ptr());
    } else {
        Py_DECREF(result);
    }
}

#define METHOD(name, ...) def(#name, contract_method(&Runtime::name) __VA_OPT__(, ) __VA_ARGS__)

void bind_device_calls(Class& contract) {
    contract.METHOD(get_device_count)
        .METHOD(set_device, arg("device"))
        .METHOD(get_device)
        .METHOD(get_device_properties, arg("device"))
        .METHOD(device_get_attribute, arg("attribute"), arg("device"))
        .METHOD(device_synchronize)
        .METHOD(device_reset)
        .METHOD(set_device_flags, arg("flags"))
        .METHOD(get_device_flags)
        .METHOD(device_can_access_peer, arg("device"), arg("peer"))
        .METHOD(device_enable_peer_access, arg("peer"), arg("flags") = 0)
        .METHOD(device_disable_peer_access, arg("peer"))
        .METHOD(device_get_limit, arg("limit"))
        .METHOD(device_set_limit, arg("limit"), arg("value"))
        .METHOD(device_get_stream_priority_range)
        .METHOD(driver_get_version)
        .METHOD(runtime_get_version)
        .METHOD(get_last_error)
        .METHOD(peek_at_last_error)
        .METHOD(add_device, arg("model"))
        .def("clock_ns", [](const Contract& c) { return c.runtime->clock_ns(); })
        .def(
            "host_work",
            [](const Contract& c, std::int64_t nanoseconds) {
                without_gil([&] { c.runtime->host_work(nanoseconds); });
            },
            arg("nanoseconds"))
        .def("error_detail", [](const Contract& c) { return c.runtime->error_detail(); })
        .def("kind", [](const Contract& c) { return c.runtime->kind(); })
        .def("simulated", [](const Contract& c) { return c.runtime->simulated(); });
}

void bind_memory_calls(Class& contract) {
    contract
        .def(
            "malloc",
            [](const Contract& c, size_t bytes, bool null_out) {
                void* out = nullptr;
                const Status status =
                    c.call([&](Runtime& r) { return r.malloc(null_out ? nullptr : &out, bytes); });
                return answer(status, out);
            },
            arg("bytes"), arg("null_out") = false)
        .METHOD(free, arg("pointer"))
        .METHOD(malloc_async, arg("bytes"), arg("stream") = 0)
        .METHOD(free_async, arg("pointer"), arg("stream") = 0)
        .METHOD(host_alloc, arg("bytes"), arg("flags") = 0)
        .METHOD(free_host, arg("pointer"))
        .METHOD(host_get_flags, arg("pointer"))
        .METHOD(host_get_device_pointer, arg("pointer"), arg("flags") = 0)
        .def(
            "pointer_get_attributes",
            [](const Contract& c, Address address) {
                PointerAttributes attributes;
                const Status status = c.call([&](Runtime& r) {
                    return r.pointer_get_attributes(&attributes, as_pointer<void*>(address));
                });
                return answer(status, static_cast<int>(attributes.type), attributes.device,
                              attributes.device_pointer, attributes.host_pointer);
            },
            arg("pointer"))
        .METHOD(mem_get_info)
        .METHOD(memcpy, arg("destination"), arg("source"), arg("bytes"), arg("kind") = 4)
        .METHOD(memcpy_async, arg("destination"), arg("source"), arg("bytes"), arg("kind") = 4,
                arg("stream") = 0)
        .METHOD(memset, arg("pointer"), arg("value"), arg("bytes"))
        .METHOD(memset_async, arg("pointer"), arg("value"), arg("bytes"), arg("stream") = 0);
}

void bind_stream_calls(Class& contract) {
    contract.METHOD(stream_create_with_priority, arg("flags") = 0, arg("priority") = 0)
        .METHOD(stream_destroy, arg("stream"))
        .METHOD(stream_synchronize, arg("stream"))
        .METHOD(stream_query, arg("stream"))
        .METHOD(stream_wait_event, arg("stream"), arg("event"), arg("flags") = 0)
        .METHOD(stream_get_flags, arg("stream"))
        .METHOD(stream_get_priority, arg("stream"))
        .METHOD(stream_get_id, arg("stream"))
        .METHOD(stream_get_device, arg("stream"))
        .def(
            "launch_host_func",
            [](const Contract& c, Address stream, const py::object& callable) {
                if (callable.is_none()) {
                    return answer(c.call([&](Runtime& r) {
                        return r.launch_host_func(as_pointer<StreamHandle>(stream), nullptr, nullptr);
                    }));
                }
                void* const data = callable.inc_ref().ptr();
                const Status status = c.call([&](Runtime& r) {
                    return r.launch_host_func(as_pointer<StreamHandle>(stream), run_callable, data);
                });
                if (status != Status::success) callable.dec_ref();
                return answer(status);
            },
            arg("stream"), arg("callable"))
        .METHOD(event_create_with_flags, arg("flags") = 0)
        .METHOD(event_destroy, arg("event"))
        .METHOD(event_record_with_flags, arg("event"), arg("stream") = 0, arg("flags") = 0)
        .METHOD(event_query, arg("event"))
        .METHOD(event_synchronize, arg("event"))
        .METHOD(event_elapsed_time, arg("start"), arg("end"));
}

void bind_module_calls(Class& contract) {
    contract
        .def(
            "library_load_data",
            [](const Contract& c, const std::string& image) {
                LibraryHandle out = nullptr;
                const Status status =
                    c.call([&](Runtime& r) { return r.library_load_data(&out, image.data(), image.size()); });
                return answer(status, out);
            },
            arg("image"))
        .METHOD(library_unload, arg("library"))
        .METHOD(library_get_kernel, arg("library"), arg("lowered_name"))
        .METHOD(library_get_kernel_count, arg("library"))
        .def(
            "library_enumerate_kernels",
            [](const Contract& c, unsigned count, Address library) {
                std::vector<KernelHandle> kernels(count);
                const Status status = c.call([&](Runtime& r) {
                    return r.library_enumerate_kernels(kernels.data(), count,
                                                       as_pointer<LibraryHandle>(library));
                });
                std::vector<Address> handles;
                for (KernelHandle kernel : kernels) handles.push_back(reinterpret_cast<Address>(kernel));
                return answer(status, handles);
            },
            arg("count"), arg("library"))
        .METHOD(library_get_global, arg("library"), arg("name"))
        .def(
            "compile",
            [](const Contract& c, const std::string& source, std::vector<std::string> name_expressions,
               std::vector<std::string> options, std::vector<std::string> include_paths,
               const std::map<std::string, std::string>& headers, const std::string& file_name,
               bool use_cache) {
                CompileRequest request;
                request.source = source;
                request.file_name = file_name;
                request.name_expressions = std::move(name_expressions);
                request.options = std::move(options);
                request.include_paths = std::move(include_paths);
                request.headers.assign(headers.begin(), headers.end());
                request.use_cache = use_cache;
                CompileResult result;
                const Status status = c.call([&](Runtime& r) { return r.compile(request, &result); });
                py::list kernels;
                for (const KernelDescription& kernel : result.kernels) {
                    kernels.append(py::make_tuple(kernel.name, kernel.lowered));
                }
                return Answer(py::make_tuple(name(status), py::bytes(result.image), kernels, result.log));
            },
            arg("source"), arg("name_expressions") = py::tuple(), arg("options") = py::tuple(),
            arg("include_paths") = py::tuple(), arg("headers") = py::dict(), arg("file_name") = "kernel.cu",
            arg("use_cache") = true);
}
#undef METHOD

}  // namespace

void bind_contract(py::module_& m) {
    Class contract(m, "Contract", "The contract of a runtime, method by method, for tests.");
    bind_device_calls(contract);
    bind_memory_calls(contract);
    bind_contract_memory(contract);
    bind_stream_calls(contract);
    bind_module_calls(contract);
    bind_contract_launches(contract);
    bind_contract_graphs(contract);
    m.def(
        "contract",
        [](const std::string& device) {
            auto runtime = core::use_runtime(device.substr(0, device.find(':')));
            if (!runtime)
                throw std::invalid_argument("'" + device + "' is of no runtime that this build has");
            return Contract{std::move(runtime)};
        },
        arg("device"), "The contract of a device's runtime.");
    m.def(
        "status_name", [](int number) { return name(static_cast<Status>(number)); }, arg("number"),
        "The name of a cudaError_t by its number.");
    m.def(
        "status_text", [](int number) { return text(static_cast<Status>(number)); }, arg("number"),
        "The text of a cudaError_t by its number.");
}

}  // namespace cuscope::bindings
