// Exports device arrays by DLPack.
#include <algorithm>
#include <limits>

#include "bindings/interop/import.hpp"
#include "runtime/process.hpp"

namespace cuscope::bindings {
namespace {

// The context of a capsule, which lives until the consumer calls the deleter.
struct Exported {
    std::vector<std::int64_t> shape, strides;
    std::optional<SharedOwner<core::DeviceMemory>> memory;
    std::shared_ptr<void> object;  // a NumPy array, if the elements were copied to the host
    DLManagedTensor plain{};
    DLManagedTensorVersioned versioned{};
};

template <class Managed>
void end(Managed* managed) {
    if (managed == nullptr || process_exiting()) return;  // at exit, Python's objects may be gone
    delete static_cast<Exported*>(managed->manager_ctx);
}

template <class Managed>
void drop_unconsumed(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, dlpack::Capsule<Managed>::name) == 0) return;
    auto* const managed =
        static_cast<Managed*>(PyCapsule_GetPointer(capsule, dlpack::Capsule<Managed>::name));
    managed->deleter(managed);
}

template <class Managed>
py::object capsule_of(std::unique_ptr<Exported> exported, Managed& managed, const DLTensor& tensor) {
    managed.dl_tensor = tensor;
    managed.manager_ctx = exported.get();
    managed.deleter = end<Managed>;
    PyObject* const capsule =
        PyCapsule_New(&managed, dlpack::Capsule<Managed>::name, drop_unconsumed<Managed>);
    if (capsule == nullptr) throw py::error_already_set();
    exported.release();  // NOLINT: the capsule owns it now
    return py::reinterpret_steal<py::object>(capsule);
}

void point_to_layout(Exported& exported, DLTensor& tensor) {
    tensor.ndim = static_cast<std::int32_t>(exported.shape.size());
    tensor.shape = exported.shape.data();
    tensor.strides = exported.strides.data();
}

py::object make_capsule(std::unique_ptr<Exported> exported, DLTensor tensor, bool versioned,
                        std::uint64_t flags) {
    if (!versioned && (flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
        throw py::buffer_error(
            "the array is read-only, which DLPack can say from version 1.0 on: ask with "
            "max_version=(1, 0), or pass .copy() of it");
    }
    point_to_layout(*exported, tensor);
    Exported& content = *exported;
    if (!versioned) return capsule_of(std::move(exported), content.plain, tensor);
    content.versioned.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    content.versioned.flags = flags;
    return capsule_of(std::move(exported), content.versioned, tensor);
}

// The content of a versioned capsule, without a capsule.
DLManagedTensorVersioned* make_tensor(std::unique_ptr<Exported> exported, DLTensor tensor,
                                      std::uint64_t flags) {
    point_to_layout(*exported, tensor);
    exported->versioned = {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
                           exported.get(),
                           end<DLManagedTensorVersioned>,
                           flags,
                           tensor};
    return &exported.release()->versioned;  // the consumer owns it now
}

std::unique_ptr<Exported> layout_of(const std::vector<py::ssize_t>& shape,
                                    const std::vector<py::ssize_t>& strides, const py::dtype& dtype) {
    auto exported = std::make_unique<Exported>();
    exported->shape.assign(shape.begin(), shape.end());
    for (const py::ssize_t stride : strides) {
        if (stride % dtype.itemsize() != 0) {
            throw py::buffer_error("a stride of " + std::to_string(stride) + " bytes is no multiple of the " +
                                   std::to_string(dtype.itemsize()) +
                                   " of an element, which DLPack cannot say: pass .copy() of the array");
        }
        exported->strides.push_back(stride / dtype.itemsize());
    }
    return exported;
}

std::pair<int, int> parse_device(const py::object& device) {
    if (!py::isinstance<py::tuple>(device) || py::len(device) != 2) {
        throw core::WrongKind("dl_device: takes None or a tuple (type, id), not " +
                              py::repr(device).cast<std::string>());
    }
    const auto pair = py::reinterpret_borrow<py::tuple>(device);
    const std::size_t type = parse_size(pair[0], "dl_device"), id = parse_size(pair[1], "dl_device");
    constexpr std::size_t most = 1 << 20;
    if (type > most || id > most) {
        throw py::buffer_error("dl_device: " + py::repr(device).cast<std::string>() + " is no device");
    }
    return {static_cast<int>(type), static_cast<int>(id)};
}

bool parse_versioned(const py::object& version) {
    if (version.is_none()) return false;
    if (!py::isinstance<py::tuple>(version) || py::len(version) != 2) {
        throw core::WrongKind("max_version: takes None or a tuple (major, minor), not " +
                              py::repr(version).cast<std::string>());
    }
    const auto pair = py::reinterpret_borrow<py::tuple>(version);
    parse_size(pair[1], "max_version");
    return parse_size(pair[0], "max_version") >= 1;
}

// The stream of a consumer; null if the consumer asks for no order.
core::StreamPtr consumer_stream(const py::object& stream, const core::DevicePtr& device) {
    if (stream.is_none()) return device->legacy_stream();
    if (PyLong_Check(stream.ptr()) != 0) {
        int overflow = 0;
        if (PyLong_AsLongLongAndOverflow(stream.ptr(), &overflow) == -1 && overflow == 0) return nullptr;
    }
    const std::size_t handle = parse_size(stream, "stream");
    if (handle == 0) {
        throw std::invalid_argument(
            "stream: is 0, which DLPack does not allow: 1 is the legacy default stream, 2 the per-thread "
            "one, -1 asks for no order");
    }
    return without_gil(
        [&] { return core::Stream::adopt(device, reinterpret_cast<StreamHandle>(handle), nullptr); });
}

// A copy of the array, made after all uses of the array so far.
DeviceArray settled_copy(const DeviceArray& array) {
    const auto memory = array.open();
    const core::StreamPtr on = memory->stream();
    without_gil([&] { memory->make_wait(on); });
    return copy(array, on);
}

py::object export_to_host(const DeviceArray& array, bool versioned, std::optional<bool> copy) {
    const auto memory = array.open();
    const bool reachable = memory->host_pointer() != nullptr || array.bytes == 0;
    if (copy == false && !reachable) {
        throw py::buffer_error("the elements are in the memory of " + array.device->name() +
                               ", which the host cannot read without a copy: leave out copy=False");
    }
    DLTensor tensor{};
    tensor.device = {kDLCPU, 0};
    tensor.dtype = dlpack::from_numpy(array.dtype);
    if (reachable && copy != true) {
        auto exported = layout_of(array.shape, strides_of(array), array.dtype);
        exported->memory.emplace(memory);
        without_gil([&] { memory->wait(); });
        tensor.data =
            array.bytes == 0 ? nullptr : static_cast<std::byte*>(memory->host_pointer()) + array.offset;
        return make_capsule(std::move(exported), tensor, versioned,
                            array.read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0);
    }
    const core::StreamPtr on = memory->stream();
    py::array host(array.dtype, array.shape);
    without_gil([&] { memory->make_wait(on); });
    download(array, host, on);
    without_gil([&] { on->synchronize(); });
    auto exported =
        layout_of(array.shape, contiguous_strides(array.shape, array.dtype.itemsize()), array.dtype);
    exported->object = kept(host);
    tensor.data = host.mutable_data();
    return make_capsule(std::move(exported), tensor, versioned, DLPACK_FLAG_BITMASK_IS_COPIED);
}

DLTensor described(const DeviceArray& array, std::pair<int, int> device) {
    DLTensor tensor{};
    tensor.device = {static_cast<DLDeviceType>(device.first), device.second};
    tensor.dtype = dlpack::from_numpy(array.dtype);
    return tensor;
}

// The address of the first element. Page-locked memory belongs to the host, so this is its host address.
void* address_for(const DeviceArray& array, int device_type) {
    return device_type == kDLCUDAHost ? static_cast<std::byte*>(array.open()->host_pointer()) + array.offset
                                      : array.pointer();
}

}  // namespace

std::pair<int, int> dlpack_device(const DeviceArray& array) {
    if (array.device->simulated()) return {dlpack::simulated, array.device->ordinal()};
    const auto& memory = array.open();
    if (memory->host_pointer() == nullptr) return {kDLCUDA, array.device->ordinal()};
    const MemoryType type =
        without_gil([&] { return array.device->pointer_attributes(memory->pointer()).type; });
    return {type == MemoryType::managed ? kDLCUDAManaged : kDLCUDAHost, 0};
}

py::object to_dlpack(const DeviceArray& array, const py::object& stream, const py::object& max_version,
                     const py::object& dl_device, const py::object& copy_flag) {
    const auto memory = array.open();
    const bool versioned = parse_versioned(max_version);
    const std::optional<bool> copied = parse_copy(copy_flag);
    const std::pair<int, int> own = dlpack_device(array);
    const std::pair<int, int> target = dl_device.is_none() ? own : parse_device(dl_device);
    if (target.first == kDLCPU) {
        if (!stream.is_none()) {
            throw std::invalid_argument("stream: has to be None for the host, which the array waits for");
        }
        return export_to_host(array, versioned, copied);
    }
    const bool as_device =
        !array.device->simulated() && target.first == kDLCUDA && target.second == array.device->ordinal();
    if (target != own && !as_device) {
        throw py::buffer_error("dl_device: the array is on (" + std::to_string(own.first) + ", " +
                               std::to_string(own.second) + ") and can go to the host, (1, 0), but not to (" +
                               std::to_string(target.first) + ", " + std::to_string(target.second) + ")");
    }
    DLTensor tensor = described(array, target);
    const core::StreamPtr consumer = consumer_stream(stream, array.device);
    const DeviceArray given = copied == true ? settled_copy(array) : array;
    auto exported = layout_of(given.shape, strides_of(given), given.dtype);
    const auto& shared = given.open();
    shared->set_exported();
    // A consumer that names no stream may be about to read on the host.
    const bool on_host = stream.is_none() && target.first != kDLCUDA && shared->host_pointer() != nullptr;
    without_gil([&] {
        if (consumer) shared->make_wait(consumer);
        if (on_host) shared->wait();
    });
    exported->memory.emplace(shared);
    tensor.data = address_for(given, target.first);
    const std::uint64_t flags = (given.read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0) |
                                (copied == true ? DLPACK_FLAG_BITMASK_IS_COPIED : 0);
    return make_capsule(std::move(exported), tensor, versioned, flags);
}

DLManagedTensorVersioned* to_dlpack_tensor(const DeviceArray& array) {
    const auto& memory = array.open();
    const std::pair<int, int> device = dlpack_device(array);
    DLTensor tensor = described(array, device);
    auto exported = layout_of(array.shape, strides_of(array), array.dtype);
    const core::StreamPtr on = core::current_stream(array.device);
    memory->set_exported();
    without_gil([&] { memory->lend(on); });
    exported->memory.emplace(memory);
    tensor.data = address_for(array, device.first);
    return make_tensor(std::move(exported), tensor, array.read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0);
}

DLManagedTensorVersioned* new_dlpack_tensor(const DLTensor& prototype) {
    const DLDevice on = prototype.device;
    const DLDataType dtype = prototype.dtype;
    if (prototype.ndim < 0 || (prototype.ndim > 0 && prototype.shape == nullptr)) {
        throw std::invalid_argument("a prototype of " + std::to_string(prototype.ndim) +
                                    " axes: allowed are 0 and more, with a shape");
    }
    auto exported = std::make_unique<Exported>();
    exported->strides.resize(static_cast<std::size_t>(prototype.ndim));
    exported->shape.assign(prototype.shape, prototype.shape + prototype.ndim);
    std::int64_t elements = 1, bits = 0;
    bool empty = false, too_many = false;
    for (std::size_t i = exported->shape.size(); i-- > 0;) {
        if (exported->shape[i] < 0) {
            throw std::invalid_argument("a prototype with an extent of " +
                                        std::to_string(exported->shape[i]) + ": allowed is 0 or more");
        }
        exported->strides[i] = elements;
        too_many = too_many ||
                   __builtin_mul_overflow(elements, std::max<std::int64_t>(1, exported->shape[i]), &elements);
        empty = empty || exported->shape[i] == 0;
    }
    if (too_many || __builtin_mul_overflow(elements, std::int64_t{dtype.bits} * dtype.lanes, &bits) ||
        bits > std::numeric_limits<std::int64_t>::max() - 7) {
        throw std::invalid_argument("a prototype with more elements than there are addresses");
    }
    const core::DevicePtr device = device_of_dlpack({on.device_type, on.device_id}, core::current_device());
    const auto bytes = empty ? 0 : static_cast<std::size_t>((bits + 7) / 8);
    exported->memory.emplace(core::DeviceMemory::allocate(core::current_stream(device), bytes));
    exported->memory->get()->set_exported();
    DLTensor tensor{};
    tensor.device = on;
    tensor.dtype = dtype;
    tensor.data = exported->memory->get()->pointer();
    return make_tensor(std::move(exported), tensor, 0);
}

}  // namespace cuscope::bindings
