// Parameters of graph nodes from Python's values.
#include <cstring>

#include "bindings/graphs/graphs.hpp"
#include "bindings/kernels/launch.hpp"
#include "core/memory/strided.hpp"

namespace cuscope::bindings {
namespace {

// One side of a copy.
struct End {
    core::StridedSide side;
    std::vector<py::ssize_t> shape;
    py::dtype dtype;
    bool on_device = false, either = false;  // either: memory that host and device both use
};

End end_of(py::handle object, const char* what, bool written, const core::Device& device, NodeUses* uses) {
    if (py::isinstance<DeviceArray>(object)) {
        const auto& array = object.cast<const DeviceArray&>();
        const auto& memory = array.open();
        memory->check_usable();
        if (written) check_writeable(array, what);
        if (!array.device->shares_runtime(device)) {
            throw std::invalid_argument(std::string(what) + ": the array is on " + array.device->name() +
                                        ", the graph on " + device.name());
        }
        uses->memory.push_back(memory);
        return {{array.pointer(), strides_of(array)},
                array.shape,
                array.dtype,
                true,
                memory->host_pointer() != nullptr};
    }
    if (!py::isinstance<py::array>(object)) {
        throw core::WrongKind(std::string(what) + ": takes a DeviceArray or a NumPy array, not " +
                              Py_TYPE(object.ptr())->tp_name);
    }
    auto array = py::reinterpret_borrow<py::array>(object);
    if (written && !array.writeable()) throw std::invalid_argument(std::string(what) + ": is read-only");
    uses->things.push_back(kept(array));
    const std::size_t bytes = static_cast<std::size_t>(array.nbytes());
    if (auto pinned = core::PinnedMemory::find(device, array.data(), bytes)) uses->memory.push_back(pinned);
    return {{static_cast<std::byte*>(const_cast<void*>(array.data())),
             {array.strides(), array.strides() + array.ndim()}},
            shape_of(array),
            array.dtype(),
            false,
            false};
}

}  // namespace

GraphNodeParameters parse_copy(py::handle destination, py::handle source, core::Device& device,
                               NodeUses* uses) {
    const End to = end_of(destination, "destination", true, device, uses);
    const End from = end_of(source, "source", false, device, uses);
    if (to.shape != from.shape) {
        throw std::invalid_argument("source: has shape " + describe(from.shape) + ", the destination " +
                                    describe(to.shape) + ": shapes must be equal");
    }
    if (!to.dtype.equal(from.dtype)) {
        throw std::invalid_argument("source: has dtype " + describe(from.dtype) + ", the destination " +
                                    describe(to.dtype) + ": dtypes must be equal");
    }
    const core::CopyPlan plan =
        core::plan_copy({to.shape.begin(), to.shape.end()}, static_cast<std::size_t>(to.dtype.itemsize()),
                        to.side.strides, from.side.strides);
    if (plan.width == 0)
        throw std::invalid_argument("source: has no elements, and a copy node needs at least one");
    if (!plan.repeats.empty()) {
        throw std::invalid_argument("source: a node copies boxes of rows, and these layouts need " +
                                    std::to_string(plan.boxes()) +
                                    " of them: copy parts of the arrays by nodes of their own");
    }
    MemcpyNodeParameters copy;
    const std::size_t to_pitch = plan.to_pitch != 0 ? plan.to_pitch : plan.width;
    const std::size_t from_pitch = plan.from_pitch != 0 ? plan.from_pitch : plan.width;
    copy.destination = {to.side.first + plan.to_first, to_pitch, plan.width,
                        plan.depth > 1 ? plan.to_slice / to_pitch : plan.height};
    copy.source = {from.side.first + plan.from_first, from_pitch, plan.width,
                   plan.depth > 1 ? plan.from_slice / from_pitch : plan.height};
    copy.extent = {plan.width, plan.height, plan.depth};
    copy.kind = to.either || from.either ? MemcpyKind::by_address
                : to.on_device   ? from.on_device ? MemcpyKind::device_to_device : MemcpyKind::host_to_device
                : from.on_device ? MemcpyKind::device_to_host
                                 : MemcpyKind::host_to_host;
    return copy;
}

GraphNodeParameters parse_memset(const DeviceArray& array, py::handle value, core::Device& device,
                                 NodeUses* uses) {
    const auto& memory = array.open();
    memory->check_usable();
    check_writeable(array, "array");
    if (array.device.get() != &device) {
        throw std::invalid_argument("array: is on " + array.device->name() + ", the graph on " +
                                    device.name());
    }
    const py::array one = one_element(py::reinterpret_borrow<py::object>(value), array.dtype);
    const auto* const bytes = static_cast<const unsigned char*>(one.data());
    auto size = static_cast<std::size_t>(array.dtype.itemsize());
    bool uniform = true;
    for (std::size_t i = 0; i < size; ++i) uniform = uniform && bytes[i] == bytes[0];
    MemsetNodeParameters set;
    set.element_bytes = uniform ? 1 : static_cast<unsigned>(size);
    if (!uniform && size != 2 && size != 4) {
        throw std::invalid_argument("value: a node sets elements of 1, 2 or 4 bytes, and this value of " +
                                    describe(array.dtype) +
                                    " does not repeat such an element: use a kernel node");
    }
    std::memcpy(&set.value, bytes, set.element_bytes);
    set.pointer = array.pointer();
    if (array.contiguous()) {
        set.width = array.bytes / set.element_bytes;
        set.height = 1;
        set.pitch = array.bytes;
    } else if (array.shape.size() == 2 && array.rows_contiguous()) {
        set.width = static_cast<std::size_t>(array.shape[1]) * size / set.element_bytes;
        set.height = static_cast<std::size_t>(array.shape[0]);
        set.pitch = static_cast<std::size_t>(array.strides[0]);
    } else {
        throw std::invalid_argument(
            "array: a memset node takes contiguous elements, or contiguous rows of them");
    }
    if (set.width == 0 || set.height == 0)
        throw std::invalid_argument("array: has no elements, and a memset node needs at least one");
    uses->memory.push_back(memory);
    return set;
}

void with_kernel(py::handle kernel, py::handle grid, py::handle block, py::handle shared, py::handle args,
                 const KernelUse& use) {
    KernelPtr of;
    LaunchConfig config;
    if (py::isinstance<KernelLaunch>(kernel)) {
        const auto& launch = kernel.cast<const KernelLaunch&>();
        of = launch.kernel.get();
        config = launch.config;
        if (!grid.is_none() || !block.is_none()) {
            throw std::invalid_argument("grid and block: kernel[grid, block] has them already");
        }
    } else if (py::isinstance<core::Kernel>(kernel)) {
        of = kernel.cast<KernelPtr>();
        if (grid.is_none() || block.is_none()) {
            throw core::WrongKind(of->name() + ": a node needs grid= and block=, or kernel[grid, block]");
        }
        config.grid = parse_dim(grid, "grid");
        config.block = parse_dim(block, "block");
    } else {
        throw core::WrongKind(std::string("kernel: takes a Kernel or kernel[grid, block], not ") +
                              Py_TYPE(kernel.ptr())->tp_name);
    }
    if (!shared.is_none()) config.dynamic_shared_bytes = parse_shared(shared);
    if (!py::isinstance<py::tuple>(args) && !py::isinstance<py::list>(args)) {
        throw core::WrongKind(std::string("args: takes a tuple of the kernel's arguments, not ") +
                              Py_TYPE(args.ptr())->tp_name);
    }
    const py::tuple values(py::reinterpret_borrow<py::object>(args));  // a list's own items may change
    std::vector<core::Argument> arguments;
    for (const py::handle value : values)
        arguments.push_back(to_argument(value, of->device()->legacy_stream()));
    core::PackedArguments packed(of->name(), of->parameters(), arguments, *of->device());
    use(*of, config, packed);
}

}  // namespace cuscope::bindings
