#include "bindings/operations/operands.hpp"

#include <algorithm>

#include "bindings/support/fast_calls.hpp"
#include "core/graph/capture.hpp"
#include "third_party/dlpack/dlpack.h"

namespace cuscope::bindings {
namespace {

bool is_numpy_scalar(py::handle object) {
    static constinit MadeOnce known;
    return py::isinstance(object, numpy_class("generic", &known));
}

// Is the object of another library an array in a device's memory?
bool is_on_device(py::handle object) {
    if (py::hasattr(object, "__cuda_array_interface__")) return true;
    if (!py::hasattr(object, "__dlpack_device__")) return false;
    const py::object place = object.attr("__dlpack_device__")();
    return !py::object(place[py::int_(0)]).equal(py::int_(static_cast<int>(kDLCPU)));
}

py::object host_array(py::handle object, const char* name) {
    if (Py_TYPE(object.ptr()) == py::detail::npy_api::get().PyArray_Type_)
        return py::reinterpret_borrow<py::object>(object);
    py::object made = numpy().attr("asarray")(object);
    const bool sequence = py::isinstance<py::array>(object) || PyList_Check(object.ptr()) != 0 ||
                          PyTuple_Check(object.ptr()) != 0;
    if (!sequence && py::reinterpret_borrow<py::array>(made).dtype().kind() == 'O') {
        throw core::WrongKind(std::string(name) +
                              ": takes an array, or numbers that NumPy makes one of, not " +
                              py::type::of(object).attr("__name__").cast<std::string>());
    }
    return made;
}

core::StreamPtr current_stream_on(const core::DevicePtr& device) {
    return current_device() == device ? core::current_stream(device) : device->legacy_stream();
}

// The bytes [low, high) that the elements use.
std::pair<const std::byte*, const std::byte*> range_of(const DeviceArray& array) {
    const auto [low, high] = array.reach();
    const std::byte* const first = array.pointer();
    return {first + low, first + high};
}

}  // namespace

std::string describe(std::span<const py::ssize_t> shape) {
    return describe(std::vector<py::ssize_t>(shape.begin(), shape.end()));
}

py::ssize_t product_of(std::span<const py::ssize_t> extents) {
    py::ssize_t count = 1;
    for (const py::ssize_t extent : extents) count *= extent;
    return count;
}

Operand::Operand(py::handle object, const char* name)
    : given_(object), name_(name), array_(device_array_in(object)) {
    if (array_ != nullptr) {
        array_->open();
        return;
    }
    PyObject* const raw = object.ptr();
    const bool host = py::isinstance<py::array>(object) || PyList_Check(raw) != 0 ||
                      PyTuple_Check(raw) != 0 || PyLong_Check(raw) != 0 || PyFloat_Check(raw) != 0 ||
                      is_numpy_scalar(object);
    if (host || !is_on_device(object)) return;
    kept_ = py::module_::import("cuscope._core").attr("asarray")(object);
    array_ = &kept_.cast<const DeviceArray&>();
}

void Operand::read_on_host() {
    kept_ = host_array(given_, name_);
    const py::dtype dtype = on_host().dtype(), native = in_native_order(dtype);
    if (!native.is(dtype)) kept_ = kept_.attr("astype")(native);
}

std::span<const py::ssize_t> Operand::shape() const {
    if (array_ != nullptr) return array_->shape;
    return {on_host().shape(), static_cast<std::size_t>(on_host().ndim())};
}

ops::Type Operand::type(const char* place) const {
    const auto type = array_ != nullptr ? type_of_elements(*array_) : type_of_dtype(on_host().dtype());
    if (!type) refuse_type(dtype(), place);
    return *type;
}

DeviceArray Operand::in_device_memory(const py::dtype& dtype, const core::StreamPtr& stream) const {
    if (array_ != nullptr) return *array_;
    const bool same = on_host().dtype().equal(dtype);
    const py::array source(same ? kept_ : kept_.attr("astype")(dtype));
    DeviceArray made = new_array(stream, shape_of(source), dtype);
    upload(made, source, stream);
    return made;
}

core::StreamPtr stream_of(std::span<Operand* const> operands, py::handle given) {
    const Operand *here = nullptr, *there = nullptr;
    for (const Operand* operand : operands) {
        const Operand*& first = operand->on_device() == nullptr ? here : there;
        if (first == nullptr) first = operand;
    }
    if (here != nullptr && there != nullptr) {
        const std::string name = here->name();
        throw core::WrongKind(name + ": is on the host, " + there->name() +
                              " on a device; allowed are arrays of one place: pass cuscope.to_device(" +
                              name + ")");
    }
    if (here != nullptr) {
        for (Operand* operand : operands) operand->read_on_host();
        return stream_or_current(given);
    }
    const core::DevicePtr& device = there->on_device()->device;
    core::StreamPtr stream;
    if (given.is_none()) {
        stream = current_stream_on(device);
    } else if (auto* const own = exactly<StreamObject>(given.ptr())) {
        stream = own->open();
    } else {
        stream = stream_or_current(given);
    }
    for (const Operand* operand : operands) {
        const core::Device& on = *operand->on_device()->device;
        if (&on == &stream->device()) continue;
        throw std::invalid_argument(std::string(operand->name()) + ": is on " + on.name() +
                                    ", the stream on " + stream->device().name() +
                                    "; allowed are arrays of the stream's device: copy it there, or pass "
                                    "stream= of its own");
    }
    return stream;
}

ops::Operand operand_of(const DeviceArray& array, ops::Type type) {
    Held<core::DeviceMemory> memory = array.open();
    return {memory, array.pointer_in(*memory), type, array.shape,
            array.packed ? std::span<const py::ssize_t>() : array.strides};
}

Output::Output(py::handle out, std::span<const py::ssize_t> shape, const ElementDType& result, bool on_host,
               const core::Stream& stream)
    : out_(out), on_host_(on_host) {
    if (on_host) {
        core::refuse_own_wait_in_capture(
            stream, "cudaMemcpyAsync",
            "the operands are on the host, so that the call waits for its result, but captured work does not "
            "run: pass device arrays, such as cuscope.to_device(array), or call it outside the capture");
    }
    if (out.is_none()) return;
    const bool host = py::isinstance<py::array>(out);
    if (!host) array_ = device_array_in(out);
    if (on_host ? !host : array_ == nullptr) {
        throw core::WrongKind(std::string("out: takes a ") + (on_host ? "numpy.ndarray" : "DeviceArray") +
                              ", as the operands are, not " +
                              py::type::of(out).attr("__name__").cast<std::string>());
    }
    std::span<const py::ssize_t> own;
    if (array_ != nullptr) {
        own = array_->shape;
    } else {
        const auto array = py::reinterpret_borrow<py::array>(out);
        own = {array.shape(), static_cast<std::size_t>(array.ndim())};
    }
    if (!std::equal(own.begin(), own.end(), shape.begin(), shape.end())) {
        throw std::invalid_argument("out: has shape " + describe(own) + "; the result has " +
                                    describe(shape));
    }
    // Here, because the result may be written by a copy, which would come after the work.
    if (array_ != nullptr) {
        check_writeable(*array_, "out");
    } else if (!py::reinterpret_borrow<py::array>(out).writeable()) {
        throw std::invalid_argument(
            "out: is read-only: pass a writeable array, such as numpy.empty(shape, dtype)");
    }
    if (array_ != nullptr && type_of_elements(*array_) == result.type) return;
    const py::dtype dtype =
        array_ != nullptr ? array_->dtype : py::reinterpret_borrow<py::array>(out).dtype();
    if (!casts_within_kind(result, dtype)) {
        throw core::WrongKind("out: has dtype " + describe(dtype) + ", which the result's " +
                              describe(result.dtype) + " does not cast to (same_kind)");
    }
    if (array_ != nullptr) checked_type(dtype, "out");
}

const DeviceArray* Output::writable(ops::Type type, const core::Device& device,
                                    std::span<const DeviceArray* const> operands) const {
    if (array_ == nullptr) return nullptr;
    array_->open();
    if (array_->device.get() != &device || !array_->contiguous() || array_->read_only || array_->bytes == 0 ||
        type_of_elements(*array_) != type)
        return nullptr;
    const auto [low, high] = range_of(*array_);
    for (const DeviceArray* operand : operands) {
        const auto [from, to] = range_of(*operand);
        if (from < high && low < to) return nullptr;
    }
    return array_;
}

DeviceArray converted(DeviceArray&& array, const ElementDType& to, const core::StreamPtr& stream) {
    if (const auto from = type_of_elements(array); from != to.type) {
        std::shared_ptr<core::DeviceMemory> memory;
        {
            ops::Operand operand = operand_of(array, from.value());
            const WithoutGil released;
            memory = ops::packed(operand.array(), to.type, stream).memory;
            operand.memory.reset();
        }
        return array_over(std::move(memory), array.shape, to.dtype);
    }
    return std::move(array);
}

py::object Output::deliver(DeviceArray&& made, const core::StreamPtr& stream) const {
    if (on_host_) {
        const py::object host = host_copy(made, stream);
        if (out_.is_none()) return made.shape.empty() ? py::object(host[py::tuple()]) : host;
        numpy().attr("copyto")(out_, host, py::arg("casting") = "same_kind");
        return written();
    }
    if (array_ == nullptr) return py::reinterpret_steal<py::object>(object_of(std::move(made)));
    const DeviceArray same =
        converted(std::move(made), {type_of_elements(*array_).value(), array_->dtype}, stream);
    copy_array(*array_, same, stream);
    return written();
}

}  // namespace cuscope::bindings
