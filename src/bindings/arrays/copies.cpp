// Copies and fills of device arrays of any strides, to and from NumPy arrays of any strides.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "bindings/arrays/host_arrays.hpp"
#include "bindings/support/objects.hpp"
#include "core/memory/host_move.hpp"
#include "core/memory/staging.hpp"
#include "core/memory/strided.hpp"
#include "core/stream/same_device.hpp"
#include "ops/array.hpp"

namespace cuscope::bindings {
namespace {

// Up to this many copies of one array are faster than packing the array on the host first. The number is
// higher for page-locked memory, because the host does not wait for its copies.
constexpr std::size_t most_boxes = 64, most_boxes_of_pinned = 4096;
// Rows this short are packed faster than they are copied one by one, if there are many.
constexpr std::size_t short_row = 32, most_short_rows = 4096;

bool is_contiguous(const py::array& array) { return (array.flags() & py::array::c_style) != 0; }

std::vector<std::size_t> counts(const std::vector<py::ssize_t>& shape) {
    return {shape.begin(), shape.end()};
}

core::StridedSide side_of(const DeviceArray& array) { return {array.pointer(), strides_of(array)}; }
core::StridedSide side_of(const py::array& array) {
    return {static_cast<std::byte*>(const_cast<void*>(array.data())), strides_of(array)};
}

void check_device(const DeviceArray& array, const core::StreamPtr& stream) {
    core::check_same_device({"array"}, *array.device, *stream);
}

core::CopyPlan plan(const DeviceArray& array, const std::vector<std::ptrdiff_t>& to,
                    const std::vector<std::ptrdiff_t>& from) {
    return core::plan_copy(counts(array.shape), static_cast<std::size_t>(array.dtype.itemsize()), to, from);
}

// Copies the elements of a host array to one of the same shape, on several threads if they are many.
void move_host(const py::array& destination, const py::array& source) {
    constexpr std::size_t block_bytes = 1 << 20;  // a thread's share
    const core::StridedSide to = side_of(destination), from = side_of(source);
    const auto element = static_cast<std::size_t>(source.itemsize());
    if (source.size() == 0) return;
    core::Axes axes =
        core::normalised(counts(shape_of(source)), to.strides, from.strides, core::Reversed::negative_to);
    if (core::may_overlap(axes.list, element, &core::Axis::to)) {
        destination[py::ellipsis()] = source;  // the last element of a place stays
        return;
    }
    without_gil([&] {
        core::move_boxes(to.first + axes.to_first, from.first + axes.from_first,
                         {std::move(axes.list), element, block_bytes});
    });
}

// A copy of a host array in C order.
py::array packed(const py::array& array) {
    const HostArray made(array.dtype(), shape_of(array));
    move_host(made.array, array);
    return made.array;
}

// Is it faster to pack the host array before the copy?
bool better_packed(const DeviceArray& array, const py::array& from, const core::CopyPlan& steps) {
    const auto [host, host_bytes] = range_of(from);
    if (core::PinnedMemory::find(*array.device, host, host_bytes))
        return steps.boxes() > most_boxes_of_pinned;
    return steps.boxes() > most_boxes ||
           (steps.width < short_row && array.bytes / steps.width > most_short_rows);
}

bool through_ring(const DeviceArray& array, const py::array& host, MemcpyKind kind,
                  const core::StreamPtr& stream) {
    if (array.bytes < core::staging_threshold) return false;
    const core::StridedSide there = side_of(array), here = side_of(host);
    const std::vector<std::size_t> shape = counts(array.shape);
    const auto element = static_cast<std::size_t>(array.dtype.itemsize());
    const std::shared_ptr<core::DeviceMemory> memory = array.open();
    return without_gil([&] {
        return core::copy_through_ring(there, here, shape, element, core::kind_for(*memory, kind), memory,
                                       stream);
    });
}

// The name of a type of the kernels with elements of this size; null if there is none.
const char* word_of(std::size_t element) {
    switch (element) {
        case 1:
            return "uint8";
        case 2:
            return "uint16";
        case 4:
            return "uint32";
        case 8:
            return "uint64";
        case 16:
            return "complex128";
        default:
            return nullptr;
    }
}

// Is it faster to gather the elements on the device by a kernel than to copy them by these steps? The copy
// engines take long for many copies and for short rows. Simulated devices model the engines' copies.
bool better_gathered(const DeviceArray& from, const core::CopyPlan& steps, const core::StreamPtr& stream) {
    if (steps.width == 0 || from.device->simulated() || stream->capturing()) return false;
    if (steps.boxes() <= most_boxes &&
        (steps.width >= short_row || from.bytes / steps.width <= most_short_rows))
        return false;
    const auto element = static_cast<std::size_t>(from.dtype.itemsize());
    auto bits = reinterpret_cast<std::uintptr_t>(from.pointer());
    for (const py::ssize_t step : strides_of(from)) bits |= static_cast<std::uintptr_t>(step);
    const std::size_t alignment = std::min<std::size_t>(element, 8);  // 16 bytes are read as two words
    return word_of(element) != nullptr && bits % alignment == 0 && &stream->device() == from.device.get();
}

void gather(const DeviceArray& to, const DeviceArray& from, const core::StreamPtr& stream) {
    const auto operand = [](const DeviceArray& array) {
        const std::vector<py::ssize_t> strides = strides_of(array);
        return ops::Array{array.open(),
                          array.pointer(),
                          ops::type_named(word_of(static_cast<std::size_t>(array.dtype.itemsize()))),
                          {array.shape.begin(), array.shape.end()},
                          {strides.begin(), strides.end()}};
    };
    const ops::Array out = operand(to), in = operand(from);
    without_gil([&] { ops::copy_into(out, in, stream); });
}

// Do two layouts of one memory overlap without being equal?
bool overlap(const DeviceArray& a, const DeviceArray& b) {
    if (a.memory.get() != b.memory.get() || (a.offset == b.offset && strides_of(a) == strides_of(b)))
        return false;
    const auto range = [](const DeviceArray& array) {
        const auto [low, high] = array.reach();
        const auto at = static_cast<py::ssize_t>(array.offset);
        return std::pair(at + low, at + high);
    };
    const auto [a_low, a_high] = range(a);
    const auto [b_low, b_high] = range(b);
    return a_low < b_high && b_low < a_high;
}

// Are there no gaps between the elements in memory, in whatever order they lie? A transposed or reversed
// array has none.
bool fills_its_memory(const py::array& array) {
    std::vector<py::ssize_t> axes;
    for (py::ssize_t i = 0; i < array.ndim(); ++i)
        if (array.shape(i) != 1) axes.push_back(i);
    std::sort(axes.begin(), axes.end(), [&](py::ssize_t a, py::ssize_t b) {
        return std::abs(array.strides(a)) < std::abs(array.strides(b));
    });
    py::ssize_t step = array.itemsize();
    for (const py::ssize_t i : axes) {
        if (std::abs(array.strides(i)) != step) return false;
        step *= array.shape(i);
    }
    return true;
}

// Copies a host array that fills its memory as it lies, and puts the elements in order on the device, which
// does that far faster than the host. Returns false if that is not possible; then the caller copies all.
bool upload_as_it_lies(const DeviceArray& array, const py::array& source, const core::StreamPtr& stream) {
    const auto element = static_cast<std::size_t>(array.dtype.itemsize());
    if (array.bytes < core::staging_threshold || array.device->simulated() || stream->capturing() ||
        &stream->device() != array.device.get() || !array.contiguous() || word_of(element) == nullptr ||
        reinterpret_cast<std::uintptr_t>(array.pointer()) % std::min<std::size_t>(element, 8) != 0 ||
        !fills_its_memory(source))
        return false;
    const std::byte* const first = range_of(source).first;
    try {
        const DeviceArray lying = new_array(stream, array.shape, array.dtype);
        const core::DeviceSpan span = lying.span();
        const core::KeepAlive keep = keeping(source);
        without_gil([&] { core::copy_to_device(span, first, stream, keep); });
        const auto* const data = static_cast<const std::byte*>(source.data());
        gather(array, view(lying, data - first, array.shape, strides_of(source)), stream);
        return true;
    } catch (const core::Error& error) {
        if (error.status() != Status::memory_allocation) throw;
        return false;
    }
}

}  // namespace

std::vector<py::ssize_t> strides_of(const py::array& array) {
    return {array.strides(), array.strides() + array.ndim()};
}

std::pair<std::byte*, std::size_t> range_of(const py::array& array) {
    py::ssize_t low = 0, high = array.itemsize();
    for (py::ssize_t i = 0; i < array.ndim(); ++i) {
        (array.strides(i) < 0 ? low : high) += array.strides(i) * (array.shape(i) - 1);
    }
    auto* const first = static_cast<std::byte*>(const_cast<void*>(array.data()));
    return {first + low, array.size() == 0 ? 0 : static_cast<std::size_t>(high - low)};
}

std::string describe(const std::vector<py::ssize_t>& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

std::string describe(const py::dtype& dtype) {
    try {
        return py::str(dtype).cast<std::string>();
    } catch (const py::error_already_set&) {
        // NumPy imports a module for that, which fails at the interpreter's exit. So this falls back to a
        // plain field.
        return dtype.attr("str").cast<std::string>();
    }
}

std::string astype(const py::dtype& dtype) {
    const std::string name = describe(dtype);
    // NumPy itself has no such name for types of other packages and for the other byte order.
    return ".astype(" + (py::hasattr(numpy(), name.c_str()) ? "numpy." + name : "array.dtype") + ")";
}

std::vector<py::ssize_t> shape_of(const py::array& array) {
    return {array.shape(), array.shape() + array.ndim()};
}

py::array host_array_of(const py::object& source, const char* what) {
    py::array array(numpy().attr("asarray")(source));
    const char kind = array.dtype().kind();
    if (!py::isinstance<py::array>(source) && (kind == 'O' || kind == 'U' || kind == 'S')) {
        throw core::WrongKind(std::string(what) +
                              ": takes an array, or numbers that NumPy makes one of, not " + kind_of(source));
    }
    return array;
}

py::tuple shape_tuple(const std::vector<py::ssize_t>& shape) {
    py::tuple result(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) result[i] = shape[i];
    return result;
}

std::shared_ptr<void> kept(const py::object& object) {
    Py_INCREF(object.ptr());
    return {object.ptr(), [](void* held) {
                if (const PythonEntry entry; entry) Py_DECREF(static_cast<PyObject*>(held));
            }};
}

core::KeepAlive keeping(const py::object& object) {
    return [raw = object.ptr()] {
        const PythonEntry entry;
        return entry ? kept(py::reinterpret_borrow<py::object>(raw)) : nullptr;
    };
}

void upload(const DeviceArray& array, const py::array& source, const core::StreamPtr& stream) {
    const core::DeviceSpan span = array.span();
    py::array from = source;
    core::CopyPlan steps;
    bool plain = array.contiguous() && is_contiguous(from);
    if (!plain) {
        if (upload_as_it_lies(array, from, stream) ||
            through_ring(array, from, MemcpyKind::host_to_device, stream))
            return;
        steps = plan(array, strides_of(array), strides_of(from));
        if (!is_contiguous(from) && better_packed(array, from, steps)) {
            from = packed(from);
            steps = plan(array, strides_of(array), strides_of(from));
            plain = array.contiguous();
        }
    }
    const core::KeepAlive keep = keeping(from);
    const void* const data = from.data();
    if (plain) {
        without_gil([&] { core::copy_to_device(span, data, stream, keep); });
        return;
    }
    check_device(array, stream);
    if (array.bytes == 0) return;
    const auto [host, host_bytes] = range_of(from);
    const core::StridedSide to = side_of(array), side = side_of(from);
    without_gil([&, first = host, length = host_bytes] {
        core::copy_strided(to, side, steps, core::kind_for(*span.memory, MemcpyKind::host_to_device),
                           {span.memory}, first, length, stream, keep);
    });
}

namespace {

// Copies everything between the first and the last element to the host, and picks the elements there.
void download_range(const DeviceArray& array, py::array& destination, const core::StreamPtr& stream) {
    const auto [low, high] = array.reach();
    const core::DeviceSpan span{array.open(),
                                static_cast<std::size_t>(static_cast<py::ssize_t>(array.offset) + low),
                                static_cast<std::size_t>(high - low)};
    HostArray range(py::dtype::of<std::uint8_t>(), {high - low});
    py::array& bytes = range.array;
    void* const data = bytes.mutable_data();
    const core::KeepAlive keep = keeping(bytes);
    without_gil([&] {
        core::copy_to_host(data, span, stream, keep);
        stream->synchronize();
    });
    const py::object elements = numpy().attr("ndarray")(shape_tuple(array.shape), array.dtype, bytes, -low,
                                                        shape_tuple(strides_of(array)));
    move_host(destination, py::array(elements));
}

// A copy of an array in C order; none if the engines copy its elements as fast, or if the device has no
// memory for the copy.
std::optional<DeviceArray> gathered(const DeviceArray& array, const core::StreamPtr& stream) {
    if (array.contiguous()) return std::nullopt;
    const core::CopyPlan steps =
        plan(array, contiguous_strides(array.shape, array.dtype.itemsize()), strides_of(array));
    if (!better_gathered(array, steps, stream)) return std::nullopt;
    try {
        DeviceArray dense = new_array(stream, array.shape, array.dtype);
        gather(dense, array, stream);
        return dense;
    } catch (const core::Error& error) {
        if (error.status() != Status::memory_allocation) throw;
        return std::nullopt;
    }
}

}  // namespace

void download(const DeviceArray& array, py::array& destination, const core::StreamPtr& stream) {
    const core::DeviceSpan span = array.span();
    const core::KeepAlive keep = keeping(destination);
    void* const data = destination.mutable_data();
    if (array.contiguous() && is_contiguous(destination)) {
        without_gil([&] { core::copy_to_host(data, span, stream, keep); });
        return;
    }
    check_device(array, stream);
    if (array.bytes == 0) return;
    if (const auto dense = gathered(array, stream)) {
        download(*dense, destination, stream);
        return;
    }
    if (through_ring(array, destination, MemcpyKind::device_to_host, stream)) return;
    const core::CopyPlan steps = plan(array, strides_of(destination), strides_of(array));
    const auto [host, host_bytes] = range_of(destination);
    const bool pinned = core::PinnedMemory::find(*array.device, host, host_bytes) != nullptr;
    if (steps.boxes() > (pinned ? most_boxes_of_pinned : most_boxes)) {
        download_range(array, destination, stream);
        return;
    }
    const core::StridedSide from = side_of(array), to = side_of(destination);
    without_gil([&, first = host, length = host_bytes] {
        core::copy_strided(to, from, steps, core::kind_for(*span.memory, MemcpyKind::device_to_host),
                           {span.memory}, first, length, stream, keep);
    });
}

py::array host_copy(const DeviceArray& array, const core::StreamPtr& stream) {
    HostArray made(array.dtype, array.shape);
    download(array, made.array, stream);
    without_gil([&] {
        stream->synchronize();
        made.touching.reset();
    });
    return std::move(made.array);
}

void copy_array(const DeviceArray& destination, const DeviceArray& source, const core::StreamPtr& stream) {
    const core::DeviceSpan to = destination.span(), from = source.span();
    if (overlap(destination, source)) {
        copy_array(destination, copy(source, stream), stream);
        return;
    }
    if (destination.contiguous() && source.contiguous()) {
        without_gil([&] { core::copy_on_device(to, from, stream); });
        return;
    }
    core::check_copy_on_device(to, from, *stream);
    const core::CopyPlan steps = plan(destination, strides_of(destination), strides_of(source));
    const bool dense = destination.contiguous() && destination.device == source.device &&
                       reinterpret_cast<std::uintptr_t>(destination.pointer()) % 8 == 0;
    if (dense && better_gathered(source, steps, stream)) {
        gather(destination, source, stream);
        return;
    }
    const core::StridedSide to_side = side_of(destination), from_side = side_of(source);
    without_gil([&] {
        core::copy_strided(to_side, from_side, steps, MemcpyKind::by_address, {to.memory, from.memory},
                           nullptr, 0, stream, {});
    });
}

DeviceArray copy(const DeviceArray& array, const core::StreamPtr& stream) {
    DeviceArray made = new_array(stream, array.shape, array.dtype);
    copy_array(made, array, stream);
    return made;
}

void fill_array(const DeviceArray& array, const py::array& element, const core::StreamPtr& stream) {
    const core::DeviceSpan span = array.span();
    const std::span<const std::byte> value(static_cast<const std::byte*>(element.data()),
                                           static_cast<std::size_t>(element.itemsize()));
    const bool pattern = value.size() == 2 || value.size() == 4;
    const bool uniform = std::all_of(value.begin(), value.end(), [&](std::byte b) { return b == value[0]; });
    if (array.contiguous() && (uniform || !pattern)) {
        without_gil([&] { core::fill(span, value, stream); });
        return;
    }
    check_device(array, stream);
    const core::StridedSide to = side_of(array);
    const std::vector<std::size_t> shape = counts(array.shape);
    without_gil([&] { core::fill_strided(span.memory, to, shape, value, stream); });
}

}  // namespace cuscope::bindings
