// The contract as it is, for tests: one method for each of class Runtime's, by its name. A method without
// outputs returns the status's name, one with outputs a tuple of it and them. Nothing is set, checked or kept
// alive, and the GIL is let go. Handles and pointers are ints.
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <variant>

#include "bindings/objects.hpp"
#include "core/devices.hpp"

namespace cuscope::bindings {
namespace {

using Address = std::uintptr_t;
using std::size_t;

struct Contract {
    std::shared_ptr<Runtime> runtime;

    // Calls with the GIL let go.
    template <class Call>
    Status call(Call&& made) const {
        const WithoutGil released;
        return made(*runtime);
    }
};

void* pointer(Address address) { return reinterpret_cast<void*>(address); }
StreamHandle stream_of(Address address) { return reinterpret_cast<StreamHandle>(address); }
EventHandle event_of(Address address) { return reinterpret_cast<EventHandle>(address); }
LibraryHandle library_of(Address address) { return reinterpret_cast<LibraryHandle>(address); }
KernelHandle kernel_of(Address address) { return reinterpret_cast<KernelHandle>(address); }

template <class T>
py::object output(const T& value) {
    if constexpr (std::is_pointer_v<T>) {
        return py::int_(reinterpret_cast<Address>(value));
    } else {
        return py::cast(value);
    }
}

template <class... Outputs>
Answer answer(Status status, const Outputs&... outputs) {
    return Answer(py::make_tuple(name(status), output(outputs)...));
}

py::str answer(Status status) { return py::str(name(status)); }

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

Dim3 dim_of(const std::variant<unsigned, std::vector<unsigned>>& value) {
    if (const unsigned* x = std::get_if<unsigned>(&value)) return {*x, 1, 1};
    const auto& extents = std::get<std::vector<unsigned>>(value);
    Dim3 dim;
    if (!extents.empty()) dim.x = extents[0];
    if (extents.size() > 1) dim.y = extents[1];
    if (extents.size() > 2) dim.z = extents[2];
    return dim;
}
using DimLike = std::variant<unsigned, std::vector<unsigned>>;

using Class = py::class_<Contract>;

// c.x() -> status
#define STATUS_ONLY(method) \
    .def(#method, [](const Contract& c) { return answer(c.call([&](Runtime& r) { return r.method(); })); })
// c.x() -> (status, output)
#define ONE_OUTPUT(method, type)                                                  \
    .def(#method, [](const Contract& c) {                                         \
        type out{};                                                               \
        const Status status = c.call([&](Runtime& r) { return r.method(&out); }); \
        return answer(status, out);                                               \
    })

void bind_device_calls(Class& contract) {
    contract STATUS_ONLY(device_synchronize) STATUS_ONLY(device_reset) STATUS_ONLY(get_last_error)
        STATUS_ONLY(peek_at_last_error) ONE_OUTPUT(get_device_count, int) ONE_OUTPUT(get_device, int)
            ONE_OUTPUT(get_device_flags, unsigned) ONE_OUTPUT(driver_get_version, int)
                ONE_OUTPUT(runtime_get_version, int);
    contract
        .def(
            "set_device",
            [](const Contract& c, int device) {
                return answer(c.call([&](Runtime& r) { return r.set_device(device); }));
            },
            py::arg("device"))
        .def(
            "get_device_properties",
            [](const Contract& c, int device) {
                DeviceProperties properties;
                const Status status =
                    c.call([&](Runtime& r) { return r.get_device_properties(&properties, device); });
                return answer(status, properties);
            },
            py::arg("device"))
        .def(
            "device_get_attribute",
            [](const Contract& c, int attribute, int device) {
                int value = 0;
                const Status status = c.call([&](Runtime& r) {
                    return r.device_get_attribute(&value, static_cast<DeviceAttribute>(attribute), device);
                });
                return answer(status, value);
            },
            py::arg("attribute"), py::arg("device"))
        .def(
            "set_device_flags",
            [](const Contract& c, unsigned flags) {
                return answer(c.call([&](Runtime& r) { return r.set_device_flags(flags); }));
            },
            py::arg("flags"))
        .def(
            "device_can_access_peer",
            [](const Contract& c, int device, int peer) {
                int can = 0;
                const Status status =
                    c.call([&](Runtime& r) { return r.device_can_access_peer(&can, device, peer); });
                return answer(status, can);
            },
            py::arg("device"), py::arg("peer"))
        .def(
            "device_enable_peer_access",
            [](const Contract& c, int peer, unsigned flags) {
                return answer(c.call([&](Runtime& r) { return r.device_enable_peer_access(peer, flags); }));
            },
            py::arg("peer"), py::arg("flags") = 0)
        .def(
            "device_disable_peer_access",
            [](const Contract& c, int peer) {
                return answer(c.call([&](Runtime& r) { return r.device_disable_peer_access(peer); }));
            },
            py::arg("peer"))
        .def(
            "device_get_limit",
            [](const Contract& c, int limit) {
                size_t value = 0;
                const Status status =
                    c.call([&](Runtime& r) { return r.device_get_limit(&value, static_cast<Limit>(limit)); });
                return answer(status, value);
            },
            py::arg("limit"))
        .def(
            "device_set_limit",
            [](const Contract& c, int limit, size_t value) {
                return answer(
                    c.call([&](Runtime& r) { return r.device_set_limit(static_cast<Limit>(limit), value); }));
            },
            py::arg("limit"), py::arg("value"))
        .def("device_get_stream_priority_range",
             [](const Contract& c) {
                 int least = 0, greatest = 0;
                 const Status status = c.call(
                     [&](Runtime& r) { return r.device_get_stream_priority_range(&least, &greatest); });
                 return answer(status, least, greatest);
             })
        .def(
            "add_device",
            [](const Contract& c, const std::string& model) {
                int device = 0;
                const Status status =
                    c.call([&](Runtime& r) { return r.add_device(&device, model.c_str()); });
                return answer(status, device);
            },
            py::arg("model"))
        .def("clock_ns", [](const Contract& c) { return c.runtime->clock_ns(); })
        .def(
            "host_work",
            [](const Contract& c, std::int64_t nanoseconds) {
                without_gil([&] { c.runtime->host_work(nanoseconds); });
            },
            py::arg("nanoseconds"))
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
            py::arg("bytes"), py::arg("null_out") = false)
        .def(
            "free",
            [](const Contract& c, Address address) {
                return answer(c.call([&](Runtime& r) { return r.free(pointer(address)); }));
            },
            py::arg("pointer"))
        .def(
            "malloc_async",
            [](const Contract& c, size_t bytes, Address stream) {
                void* out = nullptr;
                const Status status =
                    c.call([&](Runtime& r) { return r.malloc_async(&out, bytes, stream_of(stream)); });
                return answer(status, out);
            },
            py::arg("bytes"), py::arg("stream") = 0)
        .def(
            "free_async",
            [](const Contract& c, Address address, Address stream) {
                return answer(
                    c.call([&](Runtime& r) { return r.free_async(pointer(address), stream_of(stream)); }));
            },
            py::arg("pointer"), py::arg("stream") = 0)
        .def(
            "host_alloc",
            [](const Contract& c, size_t bytes, unsigned flags) {
                void* out = nullptr;
                const Status status = c.call([&](Runtime& r) { return r.host_alloc(&out, bytes, flags); });
                return answer(status, out);
            },
            py::arg("bytes"), py::arg("flags") = 0)
        .def(
            "free_host",
            [](const Contract& c, Address address) {
                return answer(c.call([&](Runtime& r) { return r.free_host(pointer(address)); }));
            },
            py::arg("pointer"))
        .def(
            "host_get_flags",
            [](const Contract& c, Address address) {
                unsigned flags = 0;
                const Status status =
                    c.call([&](Runtime& r) { return r.host_get_flags(&flags, pointer(address)); });
                return answer(status, flags);
            },
            py::arg("pointer"))
        .def(
            "host_get_device_pointer",
            [](const Contract& c, Address address, unsigned flags) {
                void* out = nullptr;
                const Status status = c.call(
                    [&](Runtime& r) { return r.host_get_device_pointer(&out, pointer(address), flags); });
                return answer(status, out);
            },
            py::arg("pointer"), py::arg("flags") = 0)
        .def(
            "pointer_get_attributes",
            [](const Contract& c, Address address) {
                PointerAttributes attributes;
                const Status status = c.call(
                    [&](Runtime& r) { return r.pointer_get_attributes(&attributes, pointer(address)); });
                return answer(status, static_cast<int>(attributes.type), attributes.device,
                              attributes.device_pointer, attributes.host_pointer);
            },
            py::arg("pointer"))
        .def("mem_get_info",
             [](const Contract& c) {
                 size_t free = 0, total = 0;
                 const Status status = c.call([&](Runtime& r) { return r.mem_get_info(&free, &total); });
                 return answer(status, free, total);
             })
        .def(
            "memcpy",
            [](const Contract& c, Address destination, Address source, size_t bytes, int kind) {
                return answer(c.call([&](Runtime& r) {
                    return r.memcpy(pointer(destination), pointer(source), bytes,
                                    static_cast<MemcpyKind>(kind));
                }));
            },
            py::arg("destination"), py::arg("source"), py::arg("bytes"), py::arg("kind") = 4)
        .def(
            "memcpy_async",
            [](const Contract& c, Address destination, Address source, size_t bytes, int kind,
               Address stream) {
                return answer(c.call([&](Runtime& r) {
                    return r.memcpy_async(pointer(destination), pointer(source), bytes,
                                          static_cast<MemcpyKind>(kind), stream_of(stream));
                }));
            },
            py::arg("destination"), py::arg("source"), py::arg("bytes"), py::arg("kind") = 4,
            py::arg("stream") = 0)
        .def(
            "memset",
            [](const Contract& c, Address address, int value, size_t bytes) {
                return answer(c.call([&](Runtime& r) { return r.memset(pointer(address), value, bytes); }));
            },
            py::arg("pointer"), py::arg("value"), py::arg("bytes"))
        .def(
            "memset_async",
            [](const Contract& c, Address address, int value, size_t bytes, Address stream) {
                return answer(c.call([&](Runtime& r) {
                    return r.memset_async(pointer(address), value, bytes, stream_of(stream));
                }));
            },
            py::arg("pointer"), py::arg("value"), py::arg("bytes"), py::arg("stream") = 0);
}

void bind_stream_calls(Class& contract) {
    contract
        .def(
            "stream_create_with_priority",
            [](const Contract& c, unsigned flags, int priority) {
                StreamHandle out = nullptr;
                const Status status =
                    c.call([&](Runtime& r) { return r.stream_create_with_priority(&out, flags, priority); });
                return answer(status, out);
            },
            py::arg("flags") = 0, py::arg("priority") = 0)
        .def(
            "stream_destroy",
            [](const Contract& c, Address stream) {
                return answer(c.call([&](Runtime& r) { return r.stream_destroy(stream_of(stream)); }));
            },
            py::arg("stream"))
        .def(
            "stream_synchronize",
            [](const Contract& c, Address stream) {
                return answer(c.call([&](Runtime& r) { return r.stream_synchronize(stream_of(stream)); }));
            },
            py::arg("stream"))
        .def(
            "stream_query",
            [](const Contract& c, Address stream) {
                return answer(c.call([&](Runtime& r) { return r.stream_query(stream_of(stream)); }));
            },
            py::arg("stream"))
        .def(
            "stream_wait_event",
            [](const Contract& c, Address stream, Address event, unsigned flags) {
                return answer(c.call([&](Runtime& r) {
                    return r.stream_wait_event(stream_of(stream), event_of(event), flags);
                }));
            },
            py::arg("stream"), py::arg("event"), py::arg("flags") = 0)
        .def(
            "stream_get_flags",
            [](const Contract& c, Address stream) {
                unsigned flags = 0;
                const Status status =
                    c.call([&](Runtime& r) { return r.stream_get_flags(stream_of(stream), &flags); });
                return answer(status, flags);
            },
            py::arg("stream"))
        .def(
            "stream_get_priority",
            [](const Contract& c, Address stream) {
                int priority = 0;
                const Status status =
                    c.call([&](Runtime& r) { return r.stream_get_priority(stream_of(stream), &priority); });
                return answer(status, priority);
            },
            py::arg("stream"))
        .def(
            "stream_get_id",
            [](const Contract& c, Address stream) {
                unsigned long long id = 0;
                const Status status =
                    c.call([&](Runtime& r) { return r.stream_get_id(stream_of(stream), &id); });
                return answer(status, id);
            },
            py::arg("stream"))
        .def(
            "launch_host_func",
            [](const Contract& c, Address stream, const py::object& callable) {
                if (callable.is_none()) {
                    return answer(c.call(
                        [&](Runtime& r) { return r.launch_host_func(stream_of(stream), nullptr, nullptr); }));
                }
                void* const data = callable.inc_ref().ptr();
                const Status status = c.call(
                    [&](Runtime& r) { return r.launch_host_func(stream_of(stream), run_callable, data); });
                if (status != Status::success) callable.dec_ref();
                return answer(status);
            },
            py::arg("stream"), py::arg("callable"))
        .def(
            "event_create_with_flags",
            [](const Contract& c, unsigned flags) {
                EventHandle out = nullptr;
                const Status status =
                    c.call([&](Runtime& r) { return r.event_create_with_flags(&out, flags); });
                return answer(status, out);
            },
            py::arg("flags") = 0)
        .def(
            "event_destroy",
            [](const Contract& c, Address event) {
                return answer(c.call([&](Runtime& r) { return r.event_destroy(event_of(event)); }));
            },
            py::arg("event"))
        .def(
            "event_record_with_flags",
            [](const Contract& c, Address event, Address stream, unsigned flags) {
                return answer(c.call([&](Runtime& r) {
                    return r.event_record_with_flags(event_of(event), stream_of(stream), flags);
                }));
            },
            py::arg("event"), py::arg("stream") = 0, py::arg("flags") = 0)
        .def(
            "event_query",
            [](const Contract& c, Address event) {
                return answer(c.call([&](Runtime& r) { return r.event_query(event_of(event)); }));
            },
            py::arg("event"))
        .def(
            "event_synchronize",
            [](const Contract& c, Address event) {
                return answer(c.call([&](Runtime& r) { return r.event_synchronize(event_of(event)); }));
            },
            py::arg("event"))
        .def(
            "event_elapsed_time",
            [](const Contract& c, Address start, Address end) {
                float milliseconds = 0;
                const Status status = c.call([&](Runtime& r) {
                    return r.event_elapsed_time(&milliseconds, event_of(start), event_of(end));
                });
                return answer(status, milliseconds);
            },
            py::arg("start"), py::arg("end"));
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
            py::arg("image"))
        .def(
            "library_unload",
            [](const Contract& c, Address library) {
                return answer(c.call([&](Runtime& r) { return r.library_unload(library_of(library)); }));
            },
            py::arg("library"))
        .def(
            "library_get_kernel",
            [](const Contract& c, Address library, const std::string& lowered) {
                KernelHandle out = nullptr;
                const Status status = c.call([&](Runtime& r) {
                    return r.library_get_kernel(&out, library_of(library), lowered.c_str());
                });
                return answer(status, out);
            },
            py::arg("library"), py::arg("lowered_name"))
        .def(
            "library_get_kernel_count",
            [](const Contract& c, Address library) {
                unsigned count = 0;
                const Status status = c.call(
                    [&](Runtime& r) { return r.library_get_kernel_count(&count, library_of(library)); });
                return answer(status, count);
            },
            py::arg("library"))
        .def(
            "library_enumerate_kernels",
            [](const Contract& c, unsigned count, Address library) {
                std::vector<KernelHandle> kernels(count);
                const Status status = c.call([&](Runtime& r) {
                    return r.library_enumerate_kernels(kernels.data(), count, library_of(library));
                });
                std::vector<Address> handles;
                for (KernelHandle kernel : kernels) handles.push_back(reinterpret_cast<Address>(kernel));
                return answer(status, handles);
            },
            py::arg("count"), py::arg("library"))
        .def(
            "library_get_global",
            [](const Contract& c, Address library, const std::string& name) {
                void* out = nullptr;
                size_t bytes = 0;
                const Status status = c.call([&](Runtime& r) {
                    return r.library_get_global(&out, &bytes, library_of(library), name.c_str());
                });
                return answer(status, out, bytes);
            },
            py::arg("library"), py::arg("name"))
        .def(
            "func_get_name",
            [](const Contract& c, Address kernel) {
                const char* found = nullptr;
                const Status status =
                    c.call([&](Runtime& r) { return r.func_get_name(&found, kernel_of(kernel)); });
                return answer(status, std::string(found == nullptr ? "" : found));
            },
            py::arg("kernel"))
        .def(
            "func_get_param_info",
            [](const Contract& c, Address kernel, size_t index) {
                size_t offset = 0, size = 0;
                const Status status = c.call([&](Runtime& r) {
                    return r.func_get_param_info(kernel_of(kernel), index, &offset, &size);
                });
                return answer(status, offset, size);
            },
            py::arg("kernel"), py::arg("index"))
        .def(
            "func_get_attributes",
            [](const Contract& c, Address kernel) {
                FunctionAttributes attributes;
                const Status status =
                    c.call([&](Runtime& r) { return r.func_get_attributes(&attributes, kernel_of(kernel)); });
                return answer(status, attributes);
            },
            py::arg("kernel"))
        .def(
            "func_set_attribute",
            [](const Contract& c, Address kernel, int attribute, int value) {
                return answer(c.call([&](Runtime& r) {
                    return r.func_set_attribute(kernel_of(kernel), static_cast<FunctionAttribute>(attribute),
                                                value);
                }));
            },
            py::arg("kernel"), py::arg("attribute"), py::arg("value"))
        .def(
            "occupancy_max_active_blocks_per_multiprocessor",
            [](const Contract& c, Address kernel, int block_size, size_t dynamic_shared) {
                int blocks = 0;
                const Status status = c.call([&](Runtime& r) {
                    return r.occupancy_max_active_blocks_per_multiprocessor(&blocks, kernel_of(kernel),
                                                                            block_size, dynamic_shared);
                });
                return answer(status, blocks);
            },
            py::arg("kernel"), py::arg("block_size"), py::arg("dynamic_shared") = 0)
        .def(
            "occupancy_max_potential_block_size",
            [](const Contract& c, Address kernel, size_t dynamic_shared, int limit) {
                int grid = 0, block = 0;
                const Status status = c.call([&](Runtime& r) {
                    return r.occupancy_max_potential_block_size(&grid, &block, kernel_of(kernel),
                                                                dynamic_shared, limit);
                });
                return answer(status, grid, block);
            },
            py::arg("kernel"), py::arg("dynamic_shared") = 0, py::arg("block_size_limit") = 0)
        .def(
            "launch_kernel",
            [](const Contract& c, Address kernel, const DimLike& grid, const DimLike& block,
               std::vector<std::string> arguments, size_t dynamic_shared, Address stream,
               std::int64_t duration_ns) {
                LaunchConfig config;
                config.grid = dim_of(grid);
                config.block = dim_of(block);
                config.dynamic_shared_bytes = dynamic_shared;
                config.stream = stream_of(stream);
                config.duration_ns = duration_ns;
                // A value is copied to where it is aligned as the largest type asks.
                std::vector<std::unique_ptr<std::byte[]>> values;
                std::vector<void*> pointers;
                for (const std::string& argument : arguments) {
                    values.push_back(std::make_unique<std::byte[]>(argument.size() + 16));
                    argument.copy(reinterpret_cast<char*>(values.back().get()), argument.size());
                    pointers.push_back(values.back().get());
                }
                return answer(c.call(
                    [&](Runtime& r) { return r.launch_kernel(config, kernel_of(kernel), pointers.data()); }));
            },
            py::arg("kernel"), py::arg("grid"), py::arg("block"), py::arg("arguments") = py::tuple(),
            py::arg("dynamic_shared") = 0, py::arg("stream") = 0, py::arg("duration_ns") = -1)
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
            py::arg("source"), py::arg("name_expressions") = py::tuple(), py::arg("options") = py::tuple(),
            py::arg("include_paths") = py::tuple(), py::arg("headers") = py::dict(),
            py::arg("file_name") = "kernel.cu", py::arg("use_cache") = true);
}
#undef STATUS_ONLY
#undef ONE_OUTPUT

}  // namespace

void bind_contract(py::module_& m) {
    Class contract(m, "Contract", "The contract of a runtime, method by method, for tests.");
    bind_device_calls(contract);
    bind_memory_calls(contract);
    bind_stream_calls(contract);
    bind_module_calls(contract);
    m.def(
        "contract",
        [](const std::string& device) {
            auto runtime = core::use_runtime(device.substr(0, device.find(':')));
            if (!runtime)
                throw std::invalid_argument("'" + device + "' is of no runtime that this build has");
            return Contract{std::move(runtime)};
        },
        py::arg("device"), "The contract of a device's runtime.");
    m.def(
        "status_name", [](int number) { return name(static_cast<Status>(number)); }, py::arg("number"),
        "The name of a cudaError_t by its number.");
    m.def(
        "status_text", [](int number) { return text(static_cast<Status>(number)); }, py::arg("number"),
        "The text of a cudaError_t by its number.");
}

}  // namespace cuscope::bindings
