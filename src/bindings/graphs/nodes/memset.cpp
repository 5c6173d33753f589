// Nodes that set memory to a value.
#include <cstring>

#include "bindings/graphs/nodes/shared.hpp"

namespace cuscope::bindings {
namespace {

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

void set_memset(const GraphExecPtr& exec, const core::GraphNode& node, const DeviceArray& array,
                py::handle value) {
    set_node(exec, node, "cudaGraphExecMemsetNodeSetParams",
             [&](core::Device& device, NodeUses* uses) { return parse_memset(array, value, device, uses); });
}

PyObject* fast_set_memset(PyObject* self, const Arguments& arguments) {
    if (!arguments.are(3)) return nullptr;
    const auto at = node_to_update(self, arguments[0]);
    const auto* const array = at.exec ? exactly<DeviceArray>(arguments[1]) : nullptr;
    if (array == nullptr) return nullptr;
    set_memset(at.exec, *at.node, *array, arguments[2]);
    Py_RETURN_NONE;
}

}  // namespace

void bind_memset_nodes(GraphType& graphs, GraphExecType& execs) {
    graphs.def(
        "add_memset",
        [](const GraphObject& self, const DeviceArray& array, const Scalar& value, const AfterLike& after) {
            return add_node(self, after, "cudaGraphAddMemsetNode", [&](core::Device& device, NodeUses* uses) {
                return parse_memset(array, value, device, uses);
            });
        },
        py::arg("array"), py::arg("value"), py::kw_only(), py::arg("after") = py::none(),
        R"(Add a node that sets all elements of an array to a value.

Elements are of 1, 2 or 4 bytes, or the value repeats one byte, as 0 does. Raises ValueError for others, and for arrays
whose elements lie neither one after the other nor in rows. See cudaGraphAddMemsetNode.

>>> import cuscope as cs
>>> cs.Graph().add_memset(cs.empty(4), 1.5).params["width"]
4
)");
    execs.def(
        "set_memset",
        [](const GraphExecObject& self, const core::GraphNode& node, const DeviceArray& array,
           const Scalar& value) { set_memset(self.open(), node, array, value); },
        py::arg("node"), py::arg("array"), py::arg("value"),
        R"(Change a memset node of the executable. See cudaGraphExecMemsetNodeSetParams.

>>> import cuscope as cs
>>> x = cs.zeros(1)
>>> g = cs.Graph()
>>> node = g.add_memset(x, 1)
>>> exe = g.instantiate()
>>> exe.set_memset(node, x, 2)
>>> exe.launch()
>>> x.to_host()
array([2.], dtype=float32)
)");
    FastMethod<fast_set_memset>::put_before(execs, "set_memset");
}

}  // namespace cuscope::bindings
