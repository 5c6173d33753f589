// Tensor maps.
#include "bindings/textures/tensor_maps.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "bindings/interop/import.hpp"

namespace cuscope::bindings {
namespace {

template <class Enumeration, std::size_t n>
struct Choice {
    const char* argument;
    std::array<const char*, n> names;  // in the order of the enumerators

    Enumeration read(const std::string& value) const {
        const auto found = std::find(names.begin(), names.end(), value);
        if (found != names.end()) return static_cast<Enumeration>(found - names.begin());
        std::string allowed;
        for (const char* const name : names)
            allowed += (allowed.empty() ? "'" : ", '") + std::string(name) + "'";
        throw std::invalid_argument(std::string(argument) + ": '" + value + "' is not one of " + allowed);
    }
    std::string name(Enumeration value) const { return names[static_cast<std::size_t>(value)]; }
};
constexpr Choice<TensorMapSwizzle, 4> swizzles{"swizzle", {"none", "32B", "64B", "128B"}};
constexpr Choice<TensorMapL2Promotion, 4> promotions{"l2_promotion", {"none", "64B", "128B", "256B"}};
constexpr Choice<TensorMapFill, 2> fills{"oob_fill", {"zeros", "nan"}};

// Types without an own number are copied as integers of the same size.
TensorMapType type_of(const py::dtype& dtype) {
    using Row = std::pair<std::string_view, TensorMapType>;
    static constexpr std::array rows{
        Row{"bool", TensorMapType::uint8},       Row{"int8", TensorMapType::uint8},
        Row{"uint8", TensorMapType::uint8},      Row{"int16", TensorMapType::uint16},
        Row{"uint16", TensorMapType::uint16},    Row{"int32", TensorMapType::int32},
        Row{"uint32", TensorMapType::uint32},    Row{"int64", TensorMapType::int64},
        Row{"uint64", TensorMapType::uint64},    Row{"float16", TensorMapType::float16},
        Row{"float32", TensorMapType::float32},  Row{"float64", TensorMapType::float64},
        Row{"bfloat16", TensorMapType::bfloat16}};
    const auto name = dtype.attr("name").cast<std::string>();
    const bool swapped = dtype.byteorder() == '>';
    for (const auto& [known, type] : rows)
        if (known == name && !swapped) return type;
    if (name.starts_with("float8") && dtype.itemsize() == 1) return TensorMapType::uint8;
    throw core::WrongKind(
        "array: has the dtype " + describe(dtype) +
        "; tensor maps know bool, the integers, float8 to float64 and bfloat16 of the host's "
        "byte order");
}

std::vector<std::uint32_t> read_counts(const py::object& given, const char* argument, std::size_t axes) {
    const std::string allowed = "an int for each of the array's " + std::to_string(axes) + " axes";
    if (PySequence_Check(given.ptr()) == 0 || PyUnicode_Check(given.ptr()) != 0 ||
        PyBytes_Check(given.ptr()) != 0 || py::isinstance<DeviceArray>(given))
        throw core::WrongKind(std::string(argument) + ": takes " + allowed + ", not " + kind_of(given));
    std::vector<std::uint32_t> counts;
    for (const py::object one : py::reinterpret_borrow<py::sequence>(given)) {
        const std::size_t most = std::numeric_limits<std::uint32_t>::max();
        counts.push_back(static_cast<std::uint32_t>(std::min(parse_size(one, argument), most)));
    }
    if (counts.size() != axes)
        throw std::invalid_argument(std::string(argument) + ": has " + std::to_string(counts.size()) +
                                    " ints; needed is " + allowed);
    return counts;
}

TensorMap make_tensor_map(const py::object& given, const ShapeLike& box, const OptionalShape& element_strides,
                          const std::string& swizzle, const std::string& l2_promotion,
                          const std::string& oob_fill) {
    const bool ours = py::isinstance<DeviceArray>(given);
    const auto foreign = ours ? std::nullopt : foreign_array(given, core::current_stream(current_device()));
    if (!ours && !foreign) throw core::WrongKind("array: takes a DeviceArray, not " + kind_of(given));
    if (foreign) foreign->open()->outlast_call();
    const DeviceArray& array = ours ? given.cast<const DeviceArray&>() : *foreign;
    const auto memory = array.open();
    TensorMapDescription made;
    made.type = type_of(array.dtype);
    const std::size_t axes = array.shape.size();
    if (axes == 0 || axes > most_tensor_axes)
        throw std::invalid_argument("array: has " + std::to_string(axes) + " axes; tensor maps have 1 to " +
                                    std::to_string(most_tensor_axes) + ": reshape() joins axes");
    made.rank = static_cast<unsigned>(axes);
    made.address = array.pointer();
    made.swizzle = swizzles.read(swizzle);
    made.l2_promotion = promotions.read(l2_promotion);
    made.fill = fills.read(oob_fill);
    const std::vector<std::uint32_t> tile = read_counts(box, "box", axes);
    std::vector<std::uint32_t> steps(axes, 1);
    if (!element_strides.is_none()) steps = read_counts(element_strides, "element_strides", axes);
    const std::vector<py::ssize_t> strides = strides_of(array);
    if (array.shape.back() > 1 && strides.back() != array.dtype.itemsize())
        throw std::invalid_argument("array: its last axis has a stride of " + std::to_string(strides.back()) +
                                    " bytes; the elements of the last axis have to be contiguous: pass "
                                    ".copy() of it");
    for (std::size_t i = 0; i < axes; ++i) {
        const std::size_t axis = axes - 1 - i;
        made.extents[i] = static_cast<std::uint64_t>(array.shape[axis]);
        made.box[i] = tile[axis];
        made.element_strides[i] = steps[axis];
        if (strides[axis] < 0)
            throw std::invalid_argument("array: axis " + std::to_string(axis) + " has a stride of " +
                                        std::to_string(strides[axis]) +
                                        " bytes; allowed are multiples of 16 below 2**40");
        made.strides[i] = static_cast<std::uint64_t>(strides[axis]);
    }
    if (steps.back() != 1)
        throw std::invalid_argument("element_strides: is " + std::to_string(steps.back()) +
                                    " for the last axis, where the hardware knows 1 only");
    if (array.bytes == 0)
        throw std::invalid_argument("array: has shape " + describe(array.shape) +
                                    "; a tensor map needs elements");
    auto map = without_gil([&] { return core::TensorMap::make(made, memory); });
    return {array.device, SharedOwner<const core::TensorMap>(std::move(map)), array.shape, array.dtype, made};
}

py::tuple in_order_of_axes(const TensorMap& map, const std::array<std::uint32_t, most_tensor_axes>& counts) {
    py::tuple result(map.description.rank);
    for (unsigned i = 0; i < map.description.rank; ++i)
        result[i] = py::int_(counts[map.description.rank - 1 - i]);
    return result;
}

// The bytes of shared memory that a load writes, and that it adds to its barrier.
std::size_t tile_bytes(const TensorMap& map) {
    const TensorMapDescription& d = map.description;
    std::size_t bytes = bytes_of(d.type);
    for (unsigned i = 0; i < d.rank; ++i) {
        const std::uint32_t step = i == 0 ? 1 : d.element_strides[i];
        bytes *= (d.box[i] + step - 1) / step;
    }
    return bytes;
}

std::string text_of(const TensorMap& map) {
    const TensorMapDescription& d = map.description;
    std::string text = "<TensorMap on " + map.device->name() + ": shape=" + describe(map.shape) +
                       ", dtype=" + describe(map.dtype) +
                       ", box=" + py::str(in_order_of_axes(map, d.box)).cast<std::string>();
    const auto is_1 = [](std::uint32_t step) { return step == 1; };
    if (!std::all_of(d.element_strides.begin(), d.element_strides.end(), is_1))
        text += ", element_strides=" + py::str(in_order_of_axes(map, d.element_strides)).cast<std::string>();
    text += ", swizzle='" + swizzles.name(d.swizzle) + "'";
    if (d.l2_promotion != TensorMapL2Promotion::none)
        text += ", l2_promotion='" + promotions.name(d.l2_promotion) + "'";
    if (d.fill != TensorMapFill::zeros) text += ", oob_fill='" + fills.name(d.fill) + "'";
    return text + (map.map.get() ? ">" : ", closed>");
}

}  // namespace

void bind_tensor_maps(py::module_& m) {
    py::class_<TensorMap> map(
        m, "TensorMap",
        R"doc(A description of the tiles of an array, which kernels copy by the Tensor Memory Accelerator (TMA).

Pass it to a parameter of type `const __grid_constant__ CUtensorMap`, and its address to the instructions
`cp.async.bulk.tensor`. Their coordinates begin with the last axis, along which a tile begins at a multiple of 16 bytes.
Elements outside of the array are read as zeros, and not written. The map keeps the array's memory, and needs a device of
compute capability 9.0.

Parameters
----------
array : DeviceArray
    1 to 5 axes. The elements of the last axis are contiguous, the other strides are multiples of 16 bytes below 2**40,
    and the first element lies at a multiple of 16 bytes. The element type, the extents and the strides are the array's.
box : tuple of int
    The extents of a tile, in the array's order of axes: 1 to 256 elements each, and along the last axis a multiple of 16
    bytes.
element_strides : tuple of int, optional
    A tile takes every n-th element of an axis, and so has ceil(box / n) of them there: 1 to 8; 1 for the last axis.
swizzle : str
    'none', '32B', '64B' or '128B': the chunks of 16 bytes in each row of a tile are permuted in shared memory, so that
    columns are read without bank conflicts. The last axis of the box has at most as many bytes, and rows lie that far
    apart.
l2_promotion : str
    'none', '64B', '128B' or '256B': the size of the pieces in which the L2 cache reads the array.
oob_fill : str
    'zeros', or 'nan' for elements outside of an array of floating-point numbers.

Raises ValueError for an argument that breaks a rule, and cuscope.CudaError (cudaErrorNotSupported) for other devices.
See cuTensorMapEncodeTiled: CUDA Driver API, "Tensor Map Object Management"; CUDA C++ Programming Guide, "Asynchronous
Data Copies using the Tensor Memory Accelerator (TMA)".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> mod = cs.Module('''
... #include "cuda.h"
... __global__ void read(const __grid_constant__ CUtensorMap map, int row, int column, float* y) {
...     __shared__ alignas(128) float tile[2][4];
...     __shared__ alignas(8) unsigned long long barrier;
...     const unsigned to = __cvta_generic_to_shared(tile), bar = __cvta_generic_to_shared(&barrier);
...     if (threadIdx.x == 0) {
...         asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
...         asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
...         asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 32;" ::"r"(bar) : "memory");
...         asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
...                      " [%0], [%1, {%2, %3}], [%4];"
...                      ::"r"(to), "l"(&map), "r"(column), "r"(row), "r"(bar) : "memory");
...     }
...     __syncthreads();
...     unsigned done = 0;
...     while (done == 0)
...         asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
...                      " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
...     y[threadIdx.x] = tile[threadIdx.x / 4][threadIdx.x % 4];
... }''')
>>> x, y = cs.to_device(np.arange(48, dtype=np.float32).reshape(6, 8)), cs.empty(8)
>>> mod.read[1, 8](cs.TensorMap(x, box=(2, 4)), 5, 4, y)
>>> y.to_host().reshape(2, 4)
array([[44., 45., 46., 47.],
       [ 0.,  0.,  0.,  0.]], dtype=float32)
)doc");
    map.def(py::init(&make_tensor_map), py::arg("array"), py::kw_only(), py::arg("box"),
            py::arg("element_strides") = py::none(), py::arg("swizzle") = "none",
            py::arg("l2_promotion") = "none", py::arg("oob_fill") = "zeros");
    map.def_readonly("device", &TensorMap::device, "The device of the array.")
        .def_property_readonly(
            "shape", [](const TensorMap& self) { return ShapeTuple(shape_tuple(self.shape)); },
            "The extents of the array.")
        .def_property_readonly(
            "dtype", [](const TensorMap& self) { return DType(self.dtype); }, "The array's element type.")
        .def_property_readonly(
            "box",
            [](const TensorMap& self) { return ShapeTuple(in_order_of_axes(self, self.description.box)); },
            "The extents of a tile.")
        .def_property_readonly(
            "element_strides",
            [](const TensorMap& self) {
                return ShapeTuple(in_order_of_axes(self, self.description.element_strides));
            },
            "A tile takes every n-th element of each axis.")
        .def_property_readonly(
            "swizzle", [](const TensorMap& self) { return swizzles.name(self.description.swizzle); },
            "'none', '32B', '64B' or '128B'.")
        .def_property_readonly(
            "l2_promotion",
            [](const TensorMap& self) { return promotions.name(self.description.l2_promotion); },
            "'none', '64B', '128B' or '256B'.")
        .def_property_readonly(
            "oob_fill", [](const TensorMap& self) { return fills.name(self.description.fill); },
            "'zeros' or 'nan'.")
        .def_property_readonly(
            "tile_bytes", &tile_bytes,
            "The bytes of a tile, which a load completes at its barrier, also where the tile lies outside of "
            "the array. With a swizzle, shorter rows leave gaps in shared memory, which are not counted.")
        .def(
            "close", [](TensorMap& self) { self.map.reset(); },
            R"(Give up the map and the memory that it keeps. Closing twice is no error.

>>> import cuscope as cs
>>> map = cs.TensorMap(cs.zeros((4, 4)), box=(4, 4))
>>> map.close()
>>> map.closed
True

)")
        .def_property_readonly(
            "closed", [](const TensorMap& self) { return !self.map.get(); }, "Was the map closed?")
        .def(
            "__bytes__",
            [](const TensorMap& self) {
                const TensorMapBytes& map = self.open()->bytes;
                return py::bytes(reinterpret_cast<const char*>(&map), sizeof map);
            },
            "The 128 bytes of the CUtensorMap, for example to put it into an array.")
        .def("__repr__", &text_of);
}

bool set_tensor_map(core::Argument& argument, py::handle object) {
    if (!py::isinstance<TensorMap>(object)) return false;
    const auto& made = object.cast<const TensorMap&>().map.get();
    argument.kind = core::Argument::Kind::tensor_map;
    argument.type_name = "TensorMap";
    if (!made) return true;  // closed
    argument.address = &made->bytes;
    argument.bytes = made->memory->bytes();
    argument.memory = {made, made->memory.get()};  // keeps the map, to which the address leads, too
    return true;
}

}  // namespace cuscope::bindings
