// The contract as it is, for tests: class Contract has the methods of class Runtime, by their names. A method
// without outputs returns the status's name. One with outputs returns a tuple of the name and the outputs.
// Nothing is set, checked or kept alive, and the GIL is released. Handles and pointers are ints.
#include "bindings/testing/contract.hpp"

#include <pybind11/eval.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <vector>

namespace cuscope::bindings {
namespace {

using std::size_t;

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

void add_device_calls(ContractMethods& methods) {
    methods.add(
        "get_device_properties", "device", +[](const Contract& c, int device) {
            DeviceProperties properties;
            const Status status =
                c.call([&](Runtime& r) { return r.get_device_properties(&properties, device); });
            return answer(status, properties);
        });
    methods.add(
        "clock_ns", "", +[](const Contract& c) { return py::int_(c.runtime->clock_ns()); });
    methods.add(
        "host_work", "nanoseconds", +[](const Contract& c, std::int64_t nanoseconds) {
            without_gil([&] { c.runtime->host_work(nanoseconds); });
            return py::none();
        });
    methods.add(
        "error_detail", "", +[](const Contract& c) { return py::str(c.runtime->error_detail()); });
    methods.add(
        "kind", "", +[](const Contract& c) { return py::str(c.runtime->kind()); });
    methods.add(
        "simulated", "", +[](const Contract& c) { return py::bool_(c.runtime->simulated()); });
}

void add_memory_calls(ContractMethods& methods) {
    methods.add(
        "malloc", "bytes, null_out=False", +[](const Contract& c, size_t bytes, bool null_out) {
            void* out = nullptr;
            const Status status =
                c.call([&](Runtime& r) { return r.malloc(null_out ? nullptr : &out, bytes); });
            return answer(status, out);
        });
    methods.add(
        "pointer_get_attributes", "pointer", +[](const Contract& c, Address address) {
            PointerAttributes attributes;
            const Status status = c.call([&](Runtime& r) {
                return r.pointer_get_attributes(&attributes, as_pointer<void*>(address));
            });
            return answer(status, static_cast<int>(attributes.type), attributes.device,
                          attributes.device_pointer, attributes.host_pointer);
        });
}

void add_stream_calls(ContractMethods& methods) {
    methods.add(
        "launch_host_func", "stream, callable",
        +[](const Contract& c, Address stream, const py::object& callable) {
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
        });
}

void add_module_calls(ContractMethods& methods) {
    methods.add(
        "library_load_data", "image", +[](const Contract& c, const std::string& image) {
            LibraryHandle out = nullptr;
            const Status status =
                c.call([&](Runtime& r) { return r.library_load_data(&out, image.data(), image.size()); });
            return answer(status, out);
        });
    methods.add(
        "library_enumerate_kernels", "count, library",
        +[](const Contract& c, unsigned count, Address library) {
            std::vector<KernelHandle> kernels(count);
            const Status status = c.call([&](Runtime& r) {
                return r.library_enumerate_kernels(kernels.data(), count, as_pointer<LibraryHandle>(library));
            });
            std::vector<Address> handles;
            for (KernelHandle kernel : kernels) handles.push_back(reinterpret_cast<Address>(kernel));
            return answer(status, handles);
        });
    methods.add(
        "compile",
        "source, name_expressions=(), options=(), include_paths=(), headers={}, file_name='kernel.cu', "
        "use_cache=True",
        +[](const Contract& c, const std::string& source, std::vector<std::string> name_expressions,
            std::vector<std::string> options, std::vector<std::string> include_paths,
            const std::map<std::string, std::string>& headers, const std::string& file_name, bool use_cache) {
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
            return py::object(py::make_tuple(name(status), py::bytes(result.image), kernels, result.log));
        });
}

const ContractMethods& all_methods() {
    static const ContractMethods methods = [] {
        ContractMethods made;
        add_plain_methods(made);
        add_device_calls(made);
        add_memory_calls(made);
        add_stream_calls(made);
        add_module_calls(made);
        add_memory_methods(made);
        add_launch_methods(made);
        add_graph_methods(made);
        return made;
    }();
    return methods;
}

// Gives the class its methods, at the first use. Python itself matches arguments with parameters.
void define_methods(const py::object& contract) {
    if (py::hasattr(contract, "malloc")) return;
    std::string code;
    for (const auto& [name, method] : all_methods().all()) {
        code += "def " + name + "(self, " + method.parameters + "):\n";
        code += "    return self._call('" + name + "', tuple(locals().values())[1:])\n";
    }
    py::dict defined;
    py::exec(code, defined);
    for (const auto& [name, method] : all_methods().all()) {
        contract.attr(name.c_str()) = defined[name.c_str()];
    }
}

py::object call(const Contract& contract, const std::string& name, const py::tuple& arguments) {
    const ContractMethod& method = all_methods().all().at(name);
    try {
        return method.call(method, contract, arguments);
    } catch (const py::cast_error&) {
        throw py::type_error(name + "(" + method.parameters +
                             ") does not take these arguments: " + std::string(py::repr(arguments)));
    }
}

}  // namespace

py::object answer_of(Status status, std::initializer_list<py::object> outputs) {
    if (outputs.size() == 0) return py::str(name(status));
    py::list answer;
    answer.append(name(status));
    for (const py::object& output : outputs) answer.append(output);
    return py::tuple(answer);
}

void bind_contract(py::module_& m) {
    py::class_<Contract> contract(m, "Contract", "The contract of a runtime, method by method, for tests.");
    contract.def("_call", call, py::arg("name"), py::arg("arguments"));
    m.def(
        "contract",
        [contract](const std::string& device) {
            define_methods(contract);
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
