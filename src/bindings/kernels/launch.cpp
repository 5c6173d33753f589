#include "bindings/kernels/launch.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "bindings/kernels/fast_arguments.hpp"

namespace cuscope::bindings {
namespace {

unsigned parse_extent(py::handle value, const char* what) {
    const py::object number = as_integer(value, what, "an int or a tuple of 1 to 3 ints");
    int overflow = 0;
    const long long extent = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0 || extent < 0 || extent > std::numeric_limits<unsigned>::max()) {
        throw std::invalid_argument(
            std::string(what) + ": " + py::str(number).cast<std::string>() +
            " is no extent; allowed is 1 to the limit of the device (device.properties)");
    }
    return static_cast<unsigned>(extent);
}

}  // namespace

Dim3 parse_dim(py::handle value, const char* what) {
    if (is_integer(value)) return {parse_extent(value, what), 1, 1};
    const bool several =
        py::isinstance<py::tuple>(value) || py::isinstance<py::list>(value) ||
        (py::isinstance<py::array>(value) && py::reinterpret_borrow<py::array>(value).ndim() == 1);
    if (!several) parse_extent(value, what);
    const auto sequence = py::reinterpret_borrow<py::sequence>(value);
    const std::size_t count = sequence.size();
    if (count < 1 || count > 3) {
        throw std::invalid_argument(std::string(what) + ": has " + std::to_string(count) +
                                    " extents; allowed are 1 to 3");
    }
    Dim3 dim{parse_extent(sequence[0], what), 1, 1};
    if (count > 1) dim.y = parse_extent(sequence[1], what);
    if (count > 2) dim.z = parse_extent(sequence[2], what);
    return dim;
}

std::size_t parse_shared(py::handle value) { return value.is_none() ? 0 : parse_size(value, "shared"); }

KernelLaunchObject configure(const KernelPtr& kernel, const LaunchKey& key) {
    const std::size_t count = py::isinstance<py::tuple>(key) ? py::len(key) : 0;
    if (count < 2 || count > 4) {
        throw core::WrongKind(kernel->name() +
                              ": a launch is kernel[grid, block], kernel[grid, block, stream] or "
                              "kernel[grid, block, stream, shared_bytes]");
    }
    const auto parts = py::reinterpret_borrow<py::tuple>(key);
    KernelLaunch launch{SharedOwner<core::Kernel>(kernel), {}, nullptr, nullptr};
    launch.config.grid = parse_dim(parts[0], "grid");
    launch.config.block = parse_dim(parts[1], "block");
    if (count > 2) launch.stream = parse_stream(parts[2], kernel->device());
    if (count > 3) launch.config.dynamic_shared_bytes = parse_shared(parts[3]);
    return KernelLaunchObject(fast_object(std::move(launch)));
}

namespace {

// The arguments of a launch as core's Argument values. A few of them, which is enough for most kernels, need
// no allocation.
class Values {
  public:
    Values(const py::tuple& values, const core::StreamPtr& stream) : count_(values.size()) {
        if (count_ > few_.size()) many_.resize(count_);
        for (std::size_t i = 0; i < count_; ++i) {
            begin()[i] = to_argument(PyTuple_GET_ITEM(values.ptr(), static_cast<py::ssize_t>(i)), stream);
        }
    }

    std::span<core::Argument> all() { return {begin(), count_}; }
    // To be called without the GIL: an argument may hold the last reference to its memory.
    void release() {
        for (core::Argument& argument : all()) argument.memory.reset();
    }

  private:
    core::Argument* begin() { return count_ > few_.size() ? many_.data() : few_.data(); }

    std::size_t count_;
    std::array<core::Argument, 12> few_;
    std::vector<core::Argument> many_;
};

core::StreamPtr stream_of(const core::Kernel& kernel, const StreamObjectPtr& stream) {
    return stream ? stream->open() : core::current_stream(kernel.device());
}

}  // namespace

void run(const core::Kernel& kernel, const LaunchConfig& config, const StreamObjectPtr& stream,
         const py::tuple& values) {
    const core::StreamPtr on = stream_of(kernel, stream);
    Values arguments(values, on);
    const WithoutGil released;
    kernel.launch(config, on, arguments.all());
    arguments.release();
}

Counts count(const core::Kernel& kernel, const LaunchConfig& config, const StreamObjectPtr& stream,
             const py::tuple& values) {
    const core::StreamPtr on = stream_of(kernel, stream);
    Values arguments(values, on);
    Counts result;
    result.kernel = kernel.name();
    for (const core::ParameterCheck& check : kernel.parameters())
        result.names.push_back(check.parameter.name);
    const WithoutGil released;
    result.counts = kernel.count(config, on, arguments.all());
    arguments.release();
    return result;
}

TimeOfKernel explain_time(const core::Kernel& kernel, const LaunchConfig& config,
                          const StreamObjectPtr& stream, const py::tuple& values) {
    const core::StreamPtr on = stream_of(kernel, stream);
    Values arguments(values, on);
    TimeOfKernel result{{}, kernel.name()};
    const WithoutGil released;
    result.time = kernel.explain_time(config, on, arguments.all());
    arguments.release();
    return result;
}

namespace {

PyObject* slow_call = nullptr;
Py_ssize_t vectorcall_offset = 0;

PyObject* fast_launch(PyObject* self, const Arguments& arguments) {
    const auto* const launch = exactly<KernelLaunch>(self);
    if (launch == nullptr || arguments.named() > 0 ||
        detail::launches_are_profiled.load(std::memory_order_relaxed))
        return nullptr;
    const core::Kernel& kernel = *launch->kernel.get();
    FastArguments packed;
    if (!packed.pack(kernel, arguments.values, static_cast<std::size_t>(arguments.count))) return nullptr;
    const core::StreamPtr stream = stream_of(kernel, launch->stream);
    {
        const WithoutGil released;
        kernel.launch(launch->config, stream, packed.pointers(), packed.memories(), packed.array_bytes());
        packed.release();  // without the GIL: an argument may hold the last reference to its memory
    }
    Py_RETURN_NONE;
}

PyObject* call_launch(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* keywords) {
    const Arguments arguments{values, PyVectorcall_NARGS(flags), keywords};
    PyObject* const result = translated([&] { return fast_launch(self, arguments); });
    if (result != nullptr || PyErr_Occurred() != nullptr) return result;
    return call_slowly(slow_call, self, arguments);
}

}  // namespace

py::object fast_object(KernelLaunch&& launch) {
    py::object object = py::cast(std::move(launch));
    const vectorcallfunc call = call_launch;
    std::memcpy(reinterpret_cast<char*>(object.ptr()) + vectorcall_offset, &call, sizeof call);
    return object;
}

// pybind11's objects have no room for a vectorcall function, so this enlarges the objects of this type.
void make_launches_fast(py::handle launch_type) {
    remember_type<KernelLaunch>(launch_type);
    auto* const launch = reinterpret_cast<PyTypeObject*>(launch_type.ptr());
    slow_call = py::object(launch_type.attr("__call__")).release().ptr();
    vectorcall_offset = launch->tp_basicsize;
    launch->tp_basicsize += static_cast<Py_ssize_t>(sizeof(vectorcallfunc));
    launch->tp_vectorcall_offset = vectorcall_offset;
    launch->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyType_Modified(launch);
}

}  // namespace cuscope::bindings
