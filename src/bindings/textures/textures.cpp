// Textures and surfaces.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "bindings/interop/import.hpp"
#include "bindings/support/objects.hpp"
#include "bindings/textures/texture_objects.hpp"

namespace cuscope::bindings {
namespace {

using Shape = std::vector<py::ssize_t>;

template <std::size_t n>
int one_of(const std::string& value, const char* what, const std::array<const char*, n>& names) {
    for (std::size_t i = 0; i < n; ++i) {
        if (value == names[i]) return static_cast<int>(i);
    }
    std::string allowed;
    for (const char* const name : names) allowed += (allowed.empty() ? "'" : ", '") + std::string(name) + "'";
    throw std::invalid_argument(std::string(what) + ": '" + value + "' is not one of " + allowed);
}

TextureAddressMode address_mode(py::handle value) {
    if (PyUnicode_Check(value.ptr()) == 0) {
        throw core::WrongKind("address: takes 'wrap', 'clamp', 'mirror' or 'border', or one for each axis");
    }
    return static_cast<TextureAddressMode>(
        one_of<4>(value.cast<std::string>(), "address", {"wrap", "clamp", "mirror", "border"}));
}

// The memory that a texture reads.
struct Source {
    ResourceDescription resource;
    std::shared_ptr<core::Memory> memory;
    core::DevicePtr device;
    std::size_t axes = 1;  // that have coordinates
    bool cubemap = false;
    unsigned levels = 0;  // of a mipmapped array
};

// The mipmap options in the program's terms.
struct LevelsAsked {
    std::string filter;
    double bias, least;
    std::optional<double> most;
};

Source source_of(const DeviceArray& array, int channels) {
    Source source{{}, array.open(), array.device};
    ResourceDescription& resource = source.resource;
    resource.format = format_of(array.dtype, channels);
    resource.pointer = array.pointer();
    Shape shape = array.shape;
    std::vector<py::ssize_t> strides = strides_of(array);
    if (channels > 1) {
        if (shape.empty() || shape.back() != channels || strides.back() != array.dtype.itemsize()) {
            throw std::invalid_argument("source: has shape " + describe(shape) + "; an array of " +
                                        std::to_string(channels) + " channels has them along its last axis");
        }
        shape.pop_back();
        strides.pop_back();
    }
    const py::ssize_t element = array.dtype.itemsize() * channels;
    const bool rows = !shape.empty() && (shape.back() == 1 || strides.back() == element);
    if (shape.empty() || shape.size() > 2 || array.bytes == 0 || !rows) {
        throw std::invalid_argument("source: has shape " + describe(array.shape) +
                                    "; device memory is read as 1 or 2 axes of elements, with contiguous "
                                    "rows: copy it into a CudaArray, which has up to 3");
    }
    if (shape.size() == 1) {
        resource.type = ResourceType::linear;
        resource.bytes = array.bytes;
        return source;
    }
    const DeviceProperties& properties = array.device->properties();
    const auto pitch_alignment = static_cast<py::ssize_t>(properties.texture_pitch_alignment);
    source.axes = 2;
    resource.type = ResourceType::pitch_2d;
    resource.width = static_cast<std::size_t>(shape[1]);
    resource.height = static_cast<std::size_t>(shape[0]);
    // A single row has no meaningful pitch.
    const py::ssize_t pitch =
        shape[0] == 1 ? (shape[1] * element + pitch_alignment - 1) / pitch_alignment * pitch_alignment
                      : strides[0];
    if (pitch < shape[1] * element || pitch % pitch_alignment != 0) {
        throw std::invalid_argument(
            "source: its rows are " + std::to_string(pitch) + " bytes apart; a texture's are a multiple of " +
            std::to_string(pitch_alignment) + ": make the array with cuscope.empty_pitched()");
    }
    resource.pitch = static_cast<std::size_t>(pitch);
    return source;
}

void check_channels(const std::optional<int>& asked, const ArrayLayout& array) {
    if (!asked || *asked == array.channels) return;
    throw std::invalid_argument("channels: " + std::to_string(*asked) + "; the array has " +
                                std::to_string(array.channels));
}

Source source_of(const py::object& given, const std::optional<int>& channels) {
    if (py::isinstance<CudaArray>(given)) {
        const auto& array = given.cast<const CudaArray&>();
        check_channels(channels, array);
        Source source{{}, array.open(), array.device};
        source.resource.array = array.open()->handle();
        source.axes = array.axes();
        source.cubemap = array.cubemap;
        source.resource.format = array.format();
        return source;
    }
    if (py::isinstance<MipmappedArray>(given)) {
        const auto& array = given.cast<const MipmappedArray&>();
        check_channels(channels, array);
        Source source{{}, array.open(), array.device};
        source.resource.type = ResourceType::mipmapped_array;
        source.resource.mipmapped_array = array.open()->handle();
        source.resource.format = array.format();
        source.axes = array.axes();
        source.cubemap = array.cubemap;
        source.levels = array.levels;
        return source;
    }
    const bool ours = py::isinstance<DeviceArray>(given);
    const auto foreign = ours ? std::nullopt : foreign_array(given, core::current_stream(current_device()));
    if (!ours && !foreign) {
        throw core::WrongKind(
            std::string("source: takes a CudaArray, a MipmappedArray or a DeviceArray, not ") +
            Py_TYPE(given.ptr())->tp_name);
    }
    if (foreign) foreign->open()->outlast_call();
    const DeviceArray& array = ours ? given.cast<const DeviceArray&>() : *foreign;
    Source source = source_of(array, channels.value_or(1));
    const auto alignment = static_cast<std::uintptr_t>(array.device->properties().texture_alignment);
    if (reinterpret_cast<std::uintptr_t>(source.resource.pointer) % alignment != 0) {
        throw std::invalid_argument("source: a view whose first element is at no multiple of " +
                                    std::to_string(alignment) + " bytes: pass .copy() of it");
    }
    return source;
}

void set_address(TextureDescription& how, const py::object& address, std::size_t axes) {
    if (PyUnicode_Check(address.ptr()) != 0 || PySequence_Check(address.ptr()) == 0) {
        how.address_mode.fill(address_mode(address));
    } else {
        const auto modes = py::reinterpret_borrow<py::sequence>(address);
        if (modes.size() == 0 || modes.size() > 3) {
            throw std::invalid_argument("address: has one mode for each of up to 3 axes, x first");
        }
        for (std::size_t i = 0; i < 3; ++i) {
            how.address_mode[i] = address_mode(py::object(modes[std::min(i, modes.size() - 1)]));
        }
    }
    for (const TextureAddressMode mode : how.address_mode) {
        const bool repeats = mode == TextureAddressMode::wrap || mode == TextureAddressMode::mirror;
        if (repeats && !how.normalized_coordinates) {
            throw std::invalid_argument(
                "address: 'wrap' and 'mirror' are for normalized coordinates: pass "
                "normalized_coordinates=True, and coordinates from 0 to 1");
        }
    }
    // With linear filtering a GPU also interpolates along axes that the array does not have, where half of
    // the weight would be the border's. So these axes are clamped.
    for (std::size_t i = axes; i < 3; ++i) how.address_mode[i] = TextureAddressMode::clamp;
}

// Sets the border's values as the runtime takes them: floats, or the bits of integers if the texture reads
// integers.
void set_border(TextureDescription& how, const py::object& border, bool integers) {
    const bool one = PyFloat_Check(border.ptr()) != 0 || PyIndex_Check(border.ptr()) != 0;
    if (!one && PySequence_Check(border.ptr()) == 0) {
        throw core::WrongKind(std::string("border: takes a number or a tuple of numbers, not ") +
                              Py_TYPE(border.ptr())->tp_name);
    }
    const py::tuple values = one ? py::make_tuple(border) : py::tuple(border);
    if (values.empty() || values.size() > 4) {
        throw std::invalid_argument("border: has " + std::to_string(values.size()) +
                                    " values; allowed are 1 to 4");
    }
    for (std::size_t i = 0; i < 4; ++i) {
        if (!one && i >= values.size()) break;
        const py::object value = values[one ? 0 : i];
        const double number = PyFloat_AsDouble(value.ptr());
        if (PyErr_Occurred() != nullptr) {
            PyErr_Clear();
            throw core::WrongKind("border: takes numbers, not " + py::repr(value).cast<std::string>());
        }
        if (!integers) {
            how.border_color[i] = static_cast<float>(number);
            continue;
        }
        if (number != std::floor(number) || number < -0x1p31 || number >= 0x1p32) {
            throw std::invalid_argument("border: " + py::str(value).cast<std::string>() +
                                        " is no integer of 32 bits, which the texture reads");
        }
        how.border_color[i] =
            std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<std::int64_t>(number)));
    }
}

// Checks that the modes fit the elements. The runtimes would only return a status.
void check_modes(const TextureDescription& how, const ResourceDescription& resource) {
    const ChannelFormat& format = resource.format;
    const bool integers = format.kind != ChannelKind::floating;
    const bool normalized = how.read_mode == TextureReadMode::normalized_float;
    const bool linear = how.filter_mode == TextureFilterMode::linear;
    if (resource.type == ResourceType::linear && (linear || how.normalized_coordinates)) {
        throw std::invalid_argument(
            "source: one axis of device memory is read by tex1Dfetch(), which takes indices and filters "
            "nothing: copy it into a CudaArray for the others");
    }
    if (normalized && (!integers || format.x == 32)) {
        throw std::invalid_argument(
            "normalized_reads: are for integers of 8 and 16 bits; others are read as they are");
    }
    if (linear && integers && !normalized) {
        throw std::invalid_argument(
            "filter: 'linear' is for floats, and for integers of 8 or 16 bits with normalized_reads=True");
    }
    if (how.srgb && !(normalized && format.x == 8 && format.kind == ChannelKind::unsigned_integer)) {
        throw std::invalid_argument("srgb: is for uint8 with normalized_reads=True");
    }
}

void set_levels(TextureDescription& how, const LevelsAsked& asked, const Source& from) {
    how.mipmap_filter_mode =
        static_cast<TextureFilterMode>(one_of<2>(asked.filter, "mipmap_filter", {"point", "linear"}));
    const bool linear = how.mipmap_filter_mode == TextureFilterMode::linear;
    if (from.levels == 0) {
        if (!linear && asked.bias == 0 && asked.least == 0 && !asked.most) return;
        throw std::invalid_argument(
            "mipmap_filter, mipmap_level_bias, min_mipmap_level_clamp and max_mipmap_level_clamp: are for a "
            "MipmappedArray; other sources have one level");
    }
    const double most = asked.most.value_or(from.levels - 1);
    for (const auto& [name, value] :
         {std::pair("mipmap_level_bias", asked.bias), std::pair("min_mipmap_level_clamp", asked.least),
          std::pair("max_mipmap_level_clamp", most)}) {
        if (!std::isfinite(value)) {
            throw std::invalid_argument(std::string(name) + ": " +
                                        py::str(py::float_(value)).cast<std::string>() +
                                        "; a level is a finite number");
        }
    }
    if (asked.least > most) {
        throw std::invalid_argument(
            "min_mipmap_level_clamp: " + py::str(py::float_(asked.least)).cast<std::string>() +
            " is above max_mipmap_level_clamp, " + py::str(py::float_(most)).cast<std::string>());
    }
    if (!how.normalized_coordinates) {
        throw std::invalid_argument(
            "normalized_coordinates: the levels of a MipmappedArray have different extents, and are read by "
            "coordinates from 0 to 1: pass normalized_coordinates=True");
    }
    if (linear && from.resource.format.kind != ChannelKind::floating &&
        how.read_mode == TextureReadMode::element_type) {
        throw std::invalid_argument(
            "mipmap_filter: 'linear' is for floats, and for integers of 8 or 16 bits with "
            "normalized_reads=True");
    }
    how.mipmap_level_bias = static_cast<float>(asked.bias);
    how.min_mipmap_level_clamp = static_cast<float>(asked.least);
    how.max_mipmap_level_clamp = static_cast<float>(most);
}

Texture make_texture(const py::object& source, const std::optional<int>& channels, const std::string& filter,
                     const py::object& address, bool normalized_coordinates, bool normalized_reads,
                     const py::object& border, bool srgb, const std::string& mipmap_filter,
                     double mipmap_level_bias, double min_mipmap_level_clamp,
                     const std::optional<double>& max_mipmap_level_clamp) {
    TextureDescription how;
    how.filter_mode = static_cast<TextureFilterMode>(one_of<2>(filter, "filter", {"point", "linear"}));
    how.read_mode = normalized_reads ? TextureReadMode::normalized_float : TextureReadMode::element_type;
    how.srgb = srgb;
    Source from = source_of(source, channels);
    // a cubemap's directions are always normalized
    how.normalized_coordinates = normalized_coordinates || from.cubemap;
    check_modes(how, from.resource);
    set_levels(how, {mipmap_filter, mipmap_level_bias, min_mipmap_level_clamp, max_mipmap_level_clamp}, from);
    set_address(how, address, from.axes);
    set_border(
        how, border,
        from.resource.format.kind != ChannelKind::floating && how.read_mode == TextureReadMode::element_type);
    auto made = without_gil([&] {
        return core::TextureObject::texture(from.device, from.resource, how, std::move(from.memory));
    });
    return {from.device, SharedOwner<core::TextureObject>(std::move(made))};
}

Surface make_surface(const CudaArray& array) {
    const auto memory = array.open();
    if (!array.surface) {
        throw std::invalid_argument(
            "array: was not made for surfaces: make it with CudaArray(..., surface=True)");
    }
    return {array.device, SharedOwner<core::TextureObject>(
                              without_gil([&] { return core::TextureObject::surface(memory); }))};
}

template <class Class>
void bind_object(Class& bound, const char* name) {
    using Object = typename Class::type;
    bound.def_readonly("device", &Object::device, "The device that the kernels using it run on.")
        .def_property_readonly(
            "handle", [](const Object& self) { return self.open()->handle(); },
            "The cudaTextureObject_t or cudaSurfaceObject_t that kernels get, as an int.")
        .def(
            "close", [](Object& self) { self.object.reset(); },
            R"(Give up the object. It is destroyed once no kernel uses it. Closing twice is no error.

See cudaDestroyTextureObject, cudaDestroySurfaceObject.

>>> import cuscope as cs
>>> texture, surface = cs.Texture(cs.CudaArray(4)), cs.Surface(cs.CudaArray(4, surface=True))
>>> texture.close(), surface.close()
(None, None)
>>> texture.closed and surface.closed
True

)")
        .def_property_readonly(
            "closed", [](const Object& self) { return !self.object.get(); }, "Was the object closed?")
        .def("__repr__", [name](const Object& self) {
            return std::string("<") + name + " on " + self.device->name() +
                   (self.object.get() ? ">" : ", closed>");
        });
}

}  // namespace

void bind_textures(py::module_& m) {
    bind_cuda_arrays(m);
    bind_mipmapped_arrays(m);

    py::class_<Texture> texture(
        m, "Texture",
        R"(A texture object, through which kernels read an array by tex1D(), tex2D(), tex3D(), tex1Dfetch() and their like.

Pass it to a parameter of type cudaTextureObject_t.

Parameters
----------
source : CudaArray, MipmappedArray or DeviceArray
    Device memory is read as one axis (tex1Dfetch) or as two axes; in the latter case its rows must be contiguous and
    `pitch` bytes apart.
channels : int, optional
    For device memory: the channels along the last axis, 1 (the default), 2 or 4.
filter : str
    'point', or 'linear' to interpolate between neighbouring elements (floats and normalized reads only).
address : str or tuple of str
    How coordinates outside of the array are read, for each axis, x first: 'clamp', 'border', and with normalized
    coordinates 'wrap' and 'mirror'.
normalized_coordinates : bool
    Coordinates go from 0 to 1, not to the extent. Ignored for a cubemap, which is read by a direction.
normalized_reads : bool
    Integers of 8 and 16 bits are read as floats from 0 or -1 to 1.
border : number or tuple of numbers
    The value that 'border' reads outside; a tuple has one for each channel.
srgb : bool
    Normalized 8-bit reads are converted from sRGB to linear values.
mipmap_filter : str
    For a MipmappedArray: 'point' reads the nearest level, 'linear' interpolates between two.
mipmap_level_bias : float
    For a MipmappedArray: added to the level that a kernel requests.
min_mipmap_level_clamp, max_mipmap_level_clamp : float
    For a MipmappedArray: the range of levels that are read. Default: all.

See cudaCreateTextureObject: CUDA C++ Programming Guide, "Texture Object API" and "Texture Fetching".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> mod = cs.Module('''__global__ void read(cudaTextureObject_t t, float* x) {
...     *x = tex2D<float>(t, 1.0f, 0.5f); }''')
>>> a = cs.CudaArray((1, 2))
>>> a.copy_from(np.array([[10, 20]], np.float32))
>>> x = cs.empty(1)
>>> mod.read[1, 1](cs.Texture(a, filter="linear"), x)
>>> x.to_host()
array([15.], dtype=float32)
)");
    texture.def(py::init(&make_texture), py::arg("source"), py::kw_only(), py::arg("channels") = py::none(),
                py::arg("filter") = "point", py::arg("address") = "clamp",
                py::arg("normalized_coordinates") = false, py::arg("normalized_reads") = false,
                py::arg("border") = 0.0, py::arg("srgb") = false, py::arg("mipmap_filter") = "point",
                py::arg("mipmap_level_bias") = 0.0, py::arg("min_mipmap_level_clamp") = 0.0,
                py::arg("max_mipmap_level_clamp") = py::none());
    bind_object(texture, "Texture");

    py::class_<Surface> surface(
        m, "Surface",
        R"(A surface object, through which kernels read and write an array by surf2Dread(), surf2Dwrite() and their like.

Pass it to a parameter of type cudaSurfaceObject_t. In kernels, x is in bytes. Make the array with
CudaArray(..., surface=True). See cudaCreateSurfaceObject: CUDA C++ Programming Guide, "Surface Object API".

>>> import numpy as np, cuscope as cs
>>> mod = cs.Module("__global__ void set(cudaSurfaceObject_t s) { surf2Dwrite(7, s, threadIdx.x * 4, 0); }")
>>> a = cs.CudaArray((1, 3), np.int32, surface=True)
>>> mod.set[1, 3](cs.Surface(a))
>>> a.to_host()
array([[7, 7, 7]], dtype=int32)
)");
    surface.def(py::init(&make_surface), py::arg("array"));
    bind_object(surface, "Surface");
}

bool set_texture(core::Argument& argument, py::handle object) {
    const bool texture = py::isinstance<Texture>(object);
    if (!texture && !py::isinstance<Surface>(object)) return false;
    const auto& made =
        texture ? object.cast<const Texture&>().object.get() : object.cast<const Surface&>().object.get();
    argument.kind = core::Argument::Kind::texture;
    argument.type_name = texture ? "Texture" : "Surface";
    if (!made) return true;  // closed
    argument.integer = made->handle();
    argument.bytes = made->bytes();
    argument.memory = made;
    return true;
}

}  // namespace cuscope::bindings
