// Modules: kernels from source and from files.
#include <pybind11/stl.h>

#include <filesystem>
#include <map>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {
namespace {

using ModulePtr = std::shared_ptr<core::Module>;
using Strings = std::vector<std::string>;

std::string parse_text(py::handle text, const char* what) {
    if (PyUnicode_Check(text.ptr()) == 0) {
        throw core::WrongKind(std::string(what) + ": takes a str, not " + Py_TYPE(text.ptr())->tp_name);
    }
    return std::string(py::reinterpret_borrow<py::str>(text));
}

Strings parse_texts(py::handle texts, const char* what) {
    if (PyUnicode_Check(texts.ptr()) != 0) {
        throw core::WrongKind(std::string(what) + ": takes a sequence of str, not a str: [" +
                              py::repr(texts).cast<std::string>() + "]");
    }
    if (PySequence_Check(texts.ptr()) == 0) {
        throw core::WrongKind(std::string(what) + ": takes a sequence of str, not " +
                              Py_TYPE(texts.ptr())->tp_name);
    }
    Strings parsed;
    for (const py::handle text : texts) parsed.push_back(parse_text(text, what));
    return parsed;
}

std::string path_string(const py::object& path) {
    const py::object text = py::reinterpret_steal<py::object>(PyOS_FSPath(path.ptr()));
    if (!text) throw py::error_already_set();
    return text.cast<std::string>();
}

Strings parse_paths(py::handle paths) {
    const bool one = PyUnicode_Check(paths.ptr()) != 0 || py::hasattr(paths, "__fspath__");
    if (one || PySequence_Check(paths.ptr()) == 0) {
        throw core::WrongKind("include_paths: takes a sequence of folders, not " + kind_of(paths) +
                              (one ? ": [" + py::repr(paths).cast<std::string>() + "]" : ""));
    }
    Strings parsed;
    for (const py::handle path : paths) {
        if (PyUnicode_Check(path.ptr()) == 0 && !py::hasattr(path, "__fspath__")) {
            throw core::WrongKind("include_paths: takes folders, each a str or a path, not " + kind_of(path));
        }
        parsed.push_back(path_string(py::reinterpret_borrow<py::object>(path)));
    }
    return parsed;
}

// Sorted by their names, so that equal headers make equal keys of the cache.
std::map<std::string, std::string> parse_headers(const py::object& headers) {
    if (!py::hasattr(headers, "items")) {
        throw core::WrongKind(
            "headers: takes a dict of str to str, the name of each header and its text, not " +
            kind_of(headers));
    }
    std::map<std::string, std::string> parsed;
    for (const py::handle entry : py::tuple(headers.attr("items")())) {
        const auto pair = py::reinterpret_borrow<py::sequence>(entry);
        const py::object name = pair[0], text = pair[1];
        if (PyUnicode_Check(name.ptr()) == 0)
            throw core::WrongKind("headers: the name of a header is a str, not " + kind_of(name));
        if (PyUnicode_Check(text.ptr()) == 0) {
            throw core::WrongKind("headers: the text of " + py::repr(name).cast<std::string>() +
                                  " is a str, not " + kind_of(text));
        }
        parsed[name.cast<std::string>()] = text.cast<std::string>();
    }
    return parsed;
}

CompileRequest request_of(std::string source, const Texts& name_expressions, const Texts& options,
                          Strings include_paths, const HeadersLike& headers, std::string file_name,
                          bool cache) {
    CompileRequest request;
    request.source = std::move(source);
    request.file_name = std::move(file_name);
    request.options = parse_texts(options, "options");
    request.include_paths = std::move(include_paths);
    const auto texts = parse_headers(headers);
    request.headers.assign(texts.begin(), texts.end());
    request.name_expressions = parse_texts(name_expressions, "name_expressions");
    request.use_cache = cache;
    return request;
}

ModulePtr compile(const CompileRequest& request, const DeviceLike& device) {
    const core::DevicePtr on = device_or_current(device);
    return ending_without_gil(without_gil([&] { return core::Module::compile(on, request); }));
}

ModulePtr from_file(const PathLike& file, const Texts& name_expressions, const Texts& options,
                    const PathsLike& include_paths, const HeadersLike& headers, bool cache,
                    const DeviceLike& device) {
    const std::filesystem::path path = path_string(file);
    if (std::error_code none; std::filesystem::is_directory(path, none)) {
        throw std::invalid_argument("path: " + path.string() +
                                    " is a folder; allowed is a file: .cu, .cubin, .ptx, .fatbin or .image");
    }
    std::string bytes = without_gil([&] { return core::read_file(path); });
    if (path.extension() != ".cu") {
        const core::DevicePtr on = device_or_current(device);
        return ending_without_gil(
            without_gil([&] { return core::Module::load(on, std::move(bytes), path.string()); }));
    }
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    Strings paths = parse_paths(include_paths);
    paths.insert(paths.begin(), folder);  // searched first, as by #include "..."
    return compile(request_of(std::move(bytes), name_expressions, options, std::move(paths), headers,
                              path.string(), cache),
                   device);
}

std::shared_ptr<core::Kernel> kernel(const core::Module& self, const std::string& name, PyObject* error) {
    try {
        return ending_without_gil(self.kernel(name));
    } catch (const std::out_of_range& missing) {
        PyErr_SetString(error, missing.what());
        throw py::error_already_set();
    }
}

}  // namespace

void bind_modules(py::module_& m) {
    py::class_<core::Module, py::smart_holder>(
        m, "Module",
        R"(CUDA C++ source, compiled and loaded on a device, with its kernels.

Its kernels are ``mod.vec_add`` and ``mod["scale<float>"]``.

Parameters
----------
source : str
    CUDA C++. Host code in it (main, launches, functions without __device__) is left out, as in nvcc's compilation for
    the device. Instances of templates that the host code launches are compiled.
name_expressions : sequence of str
    Instances of templates to compile: ["scale<float>"].
options : sequence of str
    Options for the compiler, as NVRTC takes them: ["-DN=4"]. With "-G", kernels are not optimised.
include_paths : sequence of str or path
    Folders in which #include searches.
headers : dict of str to str
    Headers as text, by the names in #include.
file_name : str
    The name of the source in messages.
cache : bool
    Keep and reuse compiled kernels on disk (CUSCOPE_CACHE_DIR).
device : Device, optional
    Default: the current device.

Raises
------
CompileError
    The source does not compile, or takes longer than CUSCOPE_COMPILE_TIMEOUT; ``.log`` has the compiler's output.
CudaError
    There is no compiler (cudaErrorJitCompilerNotFound), or the device refuses the code.

See cudaLibraryLoadData (CUDA Runtime API, "Library Management") and, for GPUs, NVRTC's documentation; for simulated
devices, docs/kernels.md.

Examples
--------
>>> import cuscope as cs
>>> mod = cs.Module("template <class T> __global__ void set(T* x, T v) { x[threadIdx.x] = v; }",
...                 name_expressions=["set<float>"])
>>> mod.kernels
('set<float>',)
)")
        .def(py::init([](const Text& source, const Texts& name_expressions, const Texts& options,
                         const PathsLike& include_paths, const HeadersLike& headers,
                         const std::string& file_name, bool cache, const DeviceLike& device) {
                 return compile(request_of(parse_text(source, "source"), name_expressions, options,
                                           parse_paths(include_paths), headers, file_name, cache),
                                device);
             }),
             py::arg("source"), py::kw_only(), py::arg("name_expressions") = py::tuple(),
             py::arg("options") = py::tuple(), py::arg("include_paths") = py::tuple(),
             py::arg("headers") = py::dict(), py::arg("file_name") = "kernel.cu", py::arg("cache") = true,
             py::arg("device") = py::none())
        .def_static(
            "from_file", from_file, py::arg("path"), py::kw_only(), py::arg("name_expressions") = py::tuple(),
            py::arg("options") = py::tuple(), py::arg("include_paths") = py::tuple(),
            py::arg("headers") = py::dict(), py::arg("cache") = true, py::arg("device") = py::none(),
            R"(A module from a file: a .cu file is compiled; .cubin, .ptx, .fatbin and a saved .image are loaded.

The folder of a .cu file is among its include paths. The other parameters are the same as for Module(). Raises CudaError
if the file is missing (cudaErrorFileNotFound) or has no code for this device (cudaErrorInvalidKernelImage), CompileError,
ValueError for a folder. See cudaLibraryLoadData: CUDA Runtime API, "Library Management".

>>> import pathlib, tempfile, cuscope as cs
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "one.cu")
...     _ = path.write_text("__global__ void one(int* x) { *x = 1; }")
...     cs.Module.from_file(path).kernels
('one',)
)")
        .def(
            "__getattr__",
            [](const core::Module& self, const std::string& name) {
                return kernel(self, name, PyExc_AttributeError);
            },
            py::arg("name"),
            "A kernel by its name. Raises AttributeError with a list of the names if there is none.")
        .def(
            "__getitem__",
            [](const core::Module& self, const std::string& name) {
                return kernel(self, name, PyExc_KeyError);
            },
            py::arg("name"),
            "A kernel by its name, such as 'scale<float>', by 'put(int*)' where several share one, or by "
            "the compiler's mangled name. Raises KeyError with a list of the names if there is none.")
        .def(
            "symbol",
            [](const core::Module& self, const Text& name, const OptionalDType& dtype,
               const OptionalShape& shape) {
                const std::string text = parse_text(name, "name");
                const py::dtype type =
                    dtype.is_none() ? py::dtype::of<std::uint8_t>() : parse_dtype(py::object(dtype));
                std::shared_ptr<core::DeviceMemory> memory;
                try {
                    memory = without_gil([&] { return self.symbol(text); });
                } catch (const std::out_of_range& error) {
                    throw py::key_error(error.what());
                }
                const std::size_t bytes = memory->bytes();
                const auto size = static_cast<std::size_t>(type.itemsize());
                if (bytes % size != 0) {
                    throw std::invalid_argument("dtype: the variable '" + text + "' has " +
                                                std::to_string(bytes) + " bytes, which are no elements of " +
                                                describe(type));
                }
                std::vector<py::ssize_t> extents{static_cast<py::ssize_t>(bytes / size)};
                if (!shape.is_none()) extents = parse_shape(shape);
                if (byte_count(extents, type) != bytes) {
                    throw std::invalid_argument("shape: " + describe(extents) + " of " + describe(type) +
                                                " is not the " + std::to_string(bytes) +
                                                " bytes of the variable '" + text + "'");
                }
                return array_over(std::move(memory), std::move(extents), type);
            },
            py::arg("name"), py::arg("dtype") = py::none(), py::arg("shape") = py::none(),
            R"(A __device__ or __constant__ variable of the module, as an array over its memory.

Copies work in both directions, as with any array; `pointer` is the variable's address and `nbytes` its size. The
array is one axis of bytes, unless you pass the dtype and the shape of the variable. A variable of a namespace is
named as in the source, "a::x". Raises KeyError if there is no such variable, ValueError if the shape does not fit its
size. See cudaGetSymbolAddress, cudaMemcpyToSymbol: CUDA C++ Programming Guide, "Device Memory".

>>> import numpy as np, cuscope as cs
>>> mod = cs.Module("__constant__ float scale[2]; __global__ void get(float* x) { *x = scale[1]; }")
>>> mod.symbol("scale", np.float32).copy_from(np.array([1, 2], np.float32))
>>> x = cs.empty(1); mod.get[1, 1](x); x.to_host()
array([2.], dtype=float32)
)")
        .def_property_readonly(
            "kernels",
            [](const core::Module& self) -> py::typing::Tuple<py::str, py::ellipsis> {
                py::tuple names(self.kernels().size());
                for (std::size_t i = 0; i < names.size(); ++i) names[i] = self.kernels()[i]->name();
                return names;
            },
            "The names of its kernels, in the order of the source.")
        .def_property_readonly(
            "image", [](const core::Module& self) { return py::bytes(self.image()); },
            "The compiled bytes. Save them as an .image file, and load that with from_file().")
        .def_property_readonly("log", &core::Module::log, "The compiler's output.")
        .def_property_readonly("cached", &core::Module::cached,
                               "Was it taken from the cache of compiled kernels?")
        .def_property_readonly("device", &core::Module::device, "The device that it was loaded on.")
        .def("__dir__",
             [](const py::object& self) {
                 auto names = py::list(py::module_::import("builtins").attr("object").attr("__dir__")(self));
                 for (const auto& made : self.cast<const core::Module&>().kernels()) {
                     if (made->name().find_first_of("<:(") == std::string::npos) names.append(made->name());
                 }
                 return py::typing::List<py::str>(names);
             })
        .def("__repr__", [](const core::Module& self) {
            std::string text = "<Module on " + self.device()->name() + ":";
            for (std::size_t i = 0; i < self.kernels().size(); ++i) {
                text += (i ? ", " : " ") + self.kernels()[i]->name();
            }
            return text + (self.kernels().empty() ? " no kernels>" : ">");
        });
}

}  // namespace cuscope::bindings
