// Nodes of copies.
#include "bindings/graphs/nodes/shared.hpp"
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

void set_copy(const GraphExecPtr& exec, const core::GraphNode& node, py::handle destination,
              py::handle source) {
    set_node(exec, node, "cudaGraphExecMemcpyNodeSetParams", [&](core::Device& device, NodeUses* uses) {
        return parse_copy(destination, source, device, uses);
    });
}

PyObject* fast_set_copy(PyObject* self, const Arguments& arguments) {
    if (!arguments.are(3)) return nullptr;
    const auto at = node_to_update(self, arguments[0]);
    if (!at.exec) return nullptr;
    set_copy(at.exec, *at.node, arguments[1], arguments[2]);
    Py_RETURN_NONE;
}

}  // namespace

void bind_copy_nodes(GraphType& graphs, GraphExecType& execs) {
    graphs.def(
        "add_copy",
        [](const GraphObject& self, const HostOrDeviceMemory& destination, const HostOrDeviceMemory& source,
           const AfterLike& after) {
            return add_node(self, after, "cudaGraphAddMemcpyNode", [&](core::Device& device, NodeUses* uses) {
                return parse_copy(destination, source, device, uses);
            });
        },
        py::arg("destination"), py::arg("source"), py::kw_only(), py::arg("after") = py::none(),
        R"(Add a copy between arrays of one shape and dtype, of devices or of the host.

A NumPy array is read, or written, whenever the graph runs. Strided arrays are copied where they are boxes of rows: one
copy of one, two or three dimensions. Module variables are arrays too (Module.symbol).

Raises ValueError for arrays that do not match, or need more than one copy. See cudaGraphAddMemcpyNode.

>>> import numpy as np, cuscope as cs
>>> x, host = cs.zeros(4), np.ones(4, np.float32)
>>> cs.Graph().add_copy(x, host).params["extent"]
(16, 1, 1)
)");
    execs.def(
        "set_copy",
        [](const GraphExecObject& self, const core::GraphNode& node, const HostOrDeviceMemory& destination,
           const HostOrDeviceMemory& source) { set_copy(self.open(), node, destination, source); },
        py::arg("node"), py::arg("destination"), py::arg("source"),
        R"(Change a copy node of the executable. The direction must stay. See cudaGraphExecMemcpyNodeSetParams.

>>> import numpy as np, cuscope as cs
>>> x, one, two = cs.zeros(1), np.ones(1, np.float32), np.full(1, 2, np.float32)
>>> g = cs.Graph()
>>> node = g.add_copy(x, one)
>>> exe = g.instantiate()
>>> exe.set_copy(node, x, two)
>>> exe.launch()
>>> x.to_host()
array([2.], dtype=float32)
)");
    FastMethod<fast_set_copy>::put_before(execs, "set_copy");
}

}  // namespace cuscope::bindings
