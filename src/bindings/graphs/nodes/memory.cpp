// Nodes that allocate and free memory, added to graphs or captured.
#include <pybind11/stl.h>

#include "bindings/graphs/nodes/shared.hpp"

namespace cuscope::bindings {
namespace {

DeviceArray malloc_async(const StreamObject& self, const ShapeLike& shape, const DTypeLike& dtype) {
    const core::StreamPtr stream = self.open();
    const std::vector<py::ssize_t> extents = parse_shape(shape);
    const py::dtype type = parse_dtype(dtype);
    const std::size_t bytes = byte_count(extents, type);
    auto memory = without_gil([&] { return core::DeviceMemory::capture_allocation(stream, bytes); });
    return array_over(std::move(memory), extents, type);
}

void free_async(const StreamObject& self, const DeviceArray& array) {
    const core::StreamPtr stream = self.open();
    const std::shared_ptr<core::DeviceMemory> memory = array.open();
    if (array.pointer() != memory->pointer())
        throw std::invalid_argument("array: is only a part of its allocation; pass the whole array");
    without_gil([&] { memory->free_of_graph(stream); });
}

}  // namespace

void bind_memory_nodes(GraphType& graphs, GraphExecType&) {
    graphs
        .def(
            "add_alloc",
            [](const GraphObject& self, const ShapeLike& shape, const DTypeLike& dtype,
               const AfterLike& after) {
                std::vector<py::ssize_t> extents;
                py::dtype type;
                AllocNodeParameters parameters;
                const auto node = add_node(self, after, "cudaGraphAddMemAllocNode", [&](auto& device, auto*) {
                    extents = parse_shape(shape);
                    type = parse_dtype(dtype);
                    parameters.pool.location.id = device.ordinal();
                    parameters.bytes = byte_count(extents, type);
                    return parameters;
                });
                // The graph and its executables own the memory.
                const GraphNodeParameters made = node->parameters();
                auto memory = core::DeviceMemory::of_graph(
                    self.device, std::get<AllocNodeParameters>(made).pointer, parameters.bytes);
                return std::pair(node, array_over(std::move(memory), extents, type));
            },
            py::arg("shape"),
            py::arg_v("dtype", py::module_::import("numpy").attr("float32"), "numpy.float32"), py::kw_only(),
            py::arg("after") = py::none(),
            R"(Add a node that allocates memory when the graph runs; returns the node and an array over the memory.

Use the array in nodes after this one, and in the streams that you launch the graph in, until a node of this or another
graph frees it (add_free). Do not use it before the graph has run, after it is freed, or after the graph and its
executables are gone. A second launch before the memory is freed is refused, unless you instantiated the executable with
``auto_free_on_launch``.

Raises CudaError if there is no room. See cudaGraphAddMemAllocNode: CUDA C++ Programming Guide, "Graph Memory Nodes".

>>> import cuscope as cs
>>> g = cs.Graph()
>>> made, x = g.add_alloc(4)
>>> filled = g.add_memset(x, 1, after=made)
>>> y = cs.zeros(4)
>>> copied = g.add_copy(y, x, after=filled)
>>> freed = g.add_free(x, after=copied)
>>> g.instantiate().launch()
>>> y.to_host()
array([1., 1., 1., 1.], dtype=float32)
)")
        .def(
            "add_free",
            [](const GraphObject& self, const DeviceArray& array, const AfterLike& after) {
                return add_node(self, after, "cudaGraphAddMemFreeNode",
                                [&](auto&, auto*) { return FreeNodeParameters{array.pointer()}; });
            },
            py::arg("array"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that frees the memory of an alloc node.

Raises CudaError for memory that no node allocates, or that another node of the graph already frees. See
cudaGraphAddMemFreeNode.

>>> import cuscope as cs
>>> g = cs.Graph()
>>> made, x = g.add_alloc(4)
>>> g.add_free(x, after=made).type
'free'
)");
}

void bind_stream_memory(Classes& classes) {
    classes.stream
        .def(
            "malloc_async", malloc_async, py::arg("shape"),
            py::arg_v("dtype", py::module_::import("numpy").attr("float32"), "numpy.float32"),
            R"(In a capture: add a node that allocates memory when the graph runs; returns an array over the memory.

Does what ``Graph.add_alloc`` does, after the commands given to the stream so far. (``cs.empty`` in a capture adds no
node: its memory exists from then on.) Use the array in commands captured after this, until ``free_async``, and in the
streams that you launch the graph in. A second launch before the memory is freed is refused, unless you instantiated the
executable with ``auto_free_on_launch``.

Raises ValueError for a stream that is not being captured, and for an array without elements. See cudaMallocAsync: CUDA
C++ Programming Guide, "Graph Memory Nodes".

>>> import cuscope as cs
>>> stream, y = cs.Stream(), cs.zeros(4)
>>> with stream.capture() as g:
...     x = stream.malloc_async(4)
...     _ = x.fill(2)
...     _ = y.copy_from(x)
...     stream.free_async(x)
>>> [node.type for node in g.nodes]
['alloc', 'memset', 'copy', 'free']
>>> exe = g.instantiate()
>>> for i in range(3):
...     exe.launch(stream)
>>> y.to_host(stream=stream)
array([2., 2., 2., 2.], dtype=float32)
)")
        .def("free_async", free_async, py::arg("array"),
             R"(Free the memory of an alloc node, in stream order; in a capture, add a node that frees it.

Outside of captures, use it for memory that a launch allocated and no node freed. You need not free other memory.

Raises ValueError for an array that is not in a graph's memory, or has only a part of it; CudaError for memory that is
not allocated at that time. See cudaFreeAsync: CUDA C++ Programming Guide, "Graph Memory Nodes".

>>> import cuscope as cs
>>> stream, g = cs.Stream(), cs.Graph()
>>> made, x = g.add_alloc(4)
>>> exe = g.instantiate()
>>> for i in range(2):
...     exe.launch(stream)
...     stream.free_async(x)
)");
}

}  // namespace cuscope::bindings
