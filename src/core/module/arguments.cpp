#include "core/module/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/number.hpp"
#include "runtime/checking.hpp"
#include "runtime/order/notes.hpp"

namespace cuscope::core {
namespace {

// The shortest text that reads back as the same double.
std::string digits(double value) {
    std::array<char, 32> text;
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end};
}

// The parameter that an argument is for, and the messages about an argument that does not fit.
struct Slot {
    const std::string& kernel;
    const ParameterCheck& check;
    std::size_t index;
    const Device& device;

    std::string where() const {
        const Parameter& parameter = check.parameter;
        std::string text = kernel + "(): ";
        text += parameter.name.empty() ? "argument " + std::to_string(index + 1)
                                       : "parameter '" + parameter.name + "'";
        if (!parameter.type.empty()) text += " (" + parameter.type + ")";
        return text;
    }
    [[noreturn]] void wrong_kind(const std::string& allowed, const Argument& argument,
                                 const std::string& advice = {}) const {
        throw WrongKind(where() + " takes " + allowed + ", not " + describe(argument) + advice);
    }
    [[noreturn]] void out_of_range(const std::string& allowed, const Argument& argument) const {
        throw std::overflow_error(where() + " takes " + allowed + ", not " + describe(argument));
    }

    static std::string describe(const Argument& argument) {
        switch (argument.kind) {
            case Argument::Kind::none:
                return "None";
            case Argument::Kind::device_array:
                return "a DeviceArray of " + name(argument.element);
            case Argument::Kind::pinned_array:
                return "a page-locked array of " + name(argument.element);
            case Argument::Kind::host_array:
                if (argument.structured) {
                    return "a structured NumPy array of " + std::to_string(argument.bytes) + " bytes";
                }
                return "a NumPy array of " + name(argument.element) + " in the host's memory";
            case Argument::Kind::sequence:
                return std::string("a ") + argument.type_name + " of " +
                       std::to_string(argument.parts.size());
            case Argument::Kind::bytes:
                return std::string(argument.type_name) + " of " + std::to_string(argument.bytes) + " bytes";
            case Argument::Kind::boolean:
                return argument.integer != 0 ? "True" : "False";
            case Argument::Kind::integer:
                if (argument.too_big)
                    return argument.text + " (" + argument.type_name + "), which needs more than 64 bits";
                return (argument.negative ? std::to_string(static_cast<std::int64_t>(argument.integer))
                                          : std::to_string(argument.integer)) +
                       " (" + argument.type_name + ")";
            case Argument::Kind::real:
                return digits(argument.real) + " (" + argument.type_name + ")";
            case Argument::Kind::complex:
                return "(" + digits(argument.real) + (std::signbit(argument.imaginary) ? "" : "+") +
                       digits(argument.imaginary) + "j) (" + argument.type_name + ")";
            case Argument::Kind::texture:
            case Argument::Kind::graph_exec:
            case Argument::Kind::tensor_map:
                return std::string("a ") + argument.type_name;
            default:
                if (!argument.text.empty()) return argument.text + " (" + argument.type_name + ")";
                return std::string("a value of type ") + argument.type_name;
        }
    }
};

// An object of which the kernel gets a handle of the runtime.
bool has_handle(const Argument& argument) {
    return argument.kind == Argument::Kind::texture || argument.kind == Argument::Kind::graph_exec;
}

bool is_array(const Argument& argument) {
    return argument.kind == Argument::Kind::device_array || argument.kind == Argument::Kind::pinned_array;
}

void check_open(const Slot& slot, const Argument& argument) {
    const bool array = argument.kind == Argument::Kind::device_array;
    const bool map = argument.kind == Argument::Kind::tensor_map;
    if ((array || map || has_handle(argument)) && !argument.memory) {
        throw std::invalid_argument(slot.where() + ": the " + (array ? "DeviceArray" : argument.type_name) +
                                    " is closed");
    }
}

// Packs the handle of a texture, a surface or an executable graph. All have 64 bits.
void pack_handle(const Slot& slot, const Argument& argument, void* out) {
    check_open(slot, argument);
    if (&argument.memory->device() != &slot.device) {
        throw std::invalid_argument(slot.where() + " takes a " + argument.type_name + " on " +
                                    slot.device.name() + ", where the kernel is; this one is on " +
                                    argument.memory->device().name());
    }
    std::memcpy(out, &argument.integer, sizeof argument.integer);
}

const void* device_address(const Slot& slot, const Argument& argument) {
    if (argument.kind == Argument::Kind::device_array) {
        if (argument.contiguous) return argument.address;
        throw std::invalid_argument(slot.where() +
                                    " takes an array whose rows are contiguous, not a view with steps or "
                                    "transposed axes: pass .copy() of it");
    }
    if (!argument.contiguous) {
        throw std::invalid_argument(slot.where() +
                                    " takes a C-contiguous array: pass numpy.ascontiguousarray "
                                    "of it, in page-locked memory of its own");
    }
    const auto& pinned = static_cast<const PinnedMemory&>(*argument.memory);
    if (const void* address = pinned.device_address(argument.address)) return address;
    throw std::invalid_argument(slot.where() + ": kernels on " + slot.device.name() +
                                " cannot reach this page-locked array: make it with "
                                "cuscope.pinned_empty(..., mapped=True)");
}

// A kernel reaches the memory of its own device, of devices that gave it access, and all managed memory.
void check_reachable(const Slot& slot, const Argument& argument) {
    const Device& device = argument.memory->device();
    if (&device == &slot.device) return;
    const bool same_runtime = device.shares_runtime(slot.device);
    if (argument.kind == Argument::Kind::device_array || argument.kind == Argument::Kind::tensor_map) {
        const auto kind = static_cast<const DeviceMemory&>(*argument.memory).kind();
        if (same_runtime && kind == DeviceMemory::Kind::managed) return;
        if (slot.device.reaches(device)) return;
    } else if (same_runtime) {
        return;
    }
    throw std::invalid_argument(slot.where() + " takes an array on " + slot.device.name() +
                                ", where the kernel is; this one is on " + device.name() +
                                (same_runtime ? ": copy it, or see Device.enable_peer_access()" : ""));
}

std::string how_to_convert(ElementType element) {
    if (element.in_numpy()) return ": convert with .astype(numpy." + name(element) + ") before copying";
    return ": convert with .astype(ml_dtypes." + name(element) +
           ") before copying, or copy an array that holds the bits as .view(numpy.uint" +
           std::to_string(8 * element.size) + ")";
}

const void* pack_pointer(const Slot& slot, const Argument& argument) {
    const ElementType element = slot.check.element;
    const bool reference = slot.check.parameter.type.find('&') != std::string::npos;
    const std::string allowed =
        element.known() ? "a DeviceArray of " + name(element) : std::string("a DeviceArray");
    if (reference && !is_array(argument) && argument.kind != Argument::Kind::host_array)
        slot.wrong_kind(allowed, argument, ": a reference names an element of the device's memory");
    if (argument.kind == Argument::Kind::none) return nullptr;
    if (argument.kind == Argument::Kind::host_array) {
        slot.wrong_kind(allowed, argument, ": cuscope.to_device(array) copies it to the device");
    }
    const bool untyped = slot.check.parameter.type.find("void") != std::string::npos;
    const std::string or_address =
        untyped ? ", an address from 0 to 18446744073709551615, or None for a null pointer"
                : " (or None for a null pointer)";
    if (untyped && argument.kind == Argument::Kind::integer) {
        if (argument.negative || argument.too_big) slot.out_of_range(allowed + or_address, argument);
        return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(argument.integer));
    }
    check_open(slot, argument);
    if (!is_array(argument)) slot.wrong_kind(allowed + or_address, argument);
    if (element.known() && element != argument.element && !holds_bits_of(element, argument.element))
        slot.wrong_kind(allowed, argument, how_to_convert(element));
    if (reference && argument.bytes == 0) {
        throw std::invalid_argument(slot.where() + " takes " + allowed +
                                    " with one element or more, not an empty array: a reference names an "
                                    "element of the device's memory");
    }
    if (!argument.writeable && !slot.check.parameter.is_const) {
        throw std::invalid_argument(slot.where() +
                                    " is written by the kernel, but the array is read-only: "
                                    "pass a writeable one");
    }
    check_reachable(slot, argument);
    return device_address(slot, argument);
}

bool takes_tensor_map(const ParameterCheck& check) { return check.parameter.type == "CUtensorMap"; }

void pack_tensor_map(const Slot& slot, const Argument& argument, std::size_t size, void* out) {
    check_open(slot, argument);
    if (argument.kind != Argument::Kind::tensor_map || size != sizeof(TensorMapBytes))
        slot.wrong_kind(takes_tensor_map(slot.check) ? std::string("a TensorMap")
                                                     : "a value of " + std::to_string(size) + " bytes",
                        argument);
    check_reachable(slot, argument);
    std::memcpy(out, argument.address, sizeof(TensorMapBytes));
}

bool takes_graph_exec(const ParameterCheck& check) { return check.parameter.type == "cudaGraphExec_t"; }

// A plain number is a handle that the caller must keep valid.
void pack_graph_exec(const Slot& slot, const Argument& argument, void* out) {
    const bool number = argument.kind == Argument::Kind::integer && !argument.negative && !argument.too_big;
    if (argument.kind == Argument::Kind::graph_exec) return pack_handle(slot, argument, out);
    if (!number && argument.kind != Argument::Kind::none)
        slot.wrong_kind("a GraphExec, its handle, or None for a null one", argument);
    std::memcpy(out, &argument.integer, sizeof argument.integer);
}

std::string integer_range(ElementType type) {
    const IntegerLimits limits = integer_limits(type);
    return "an integer from " + std::to_string(limits.least) + " to " + std::to_string(limits.most);
}

// A hint for an object that was passed where a number is expected.
std::string where_the_number_is(const Argument& argument) {
    if (std::string_view(argument.type_name).ends_with("CudaArray") ||
        std::string_view(argument.type_name).ends_with("MipmappedArray")) {
        return ": a kernel reads it through an object that says how: pass cuscope.Texture(array), or "
               "cuscope.Surface(array) to write";
    }
    if (argument.kind == Argument::Kind::device_array) {
        return ": a kernel takes numbers by value; array.to_host()[()] is that of an array without "
               "dimensions";
    }
    if (argument.kind == Argument::Kind::host_array || argument.kind == Argument::Kind::pinned_array) {
        return ": a kernel takes numbers by value, such as array[0] or an array without dimensions";
    }
    return {};
}

void pack_integer(const Slot& slot, const Argument& argument, ElementType type, void* out) {
    if (argument.kind != Argument::Kind::integer && argument.kind != Argument::Kind::boolean) {
        // Compilers replace cudaTextureObject_t and cudaSurfaceObject_t by this type.
        const bool handle = type == ElementType{'u', sizeof argument.integer};
        slot.wrong_kind((handle ? "a Texture, a Surface, or " : "") + integer_range(type), argument,
                        where_the_number_is(argument));
    }
    if (argument.too_big || !store_integer(type, argument.integer, argument.negative, out))
        slot.out_of_range(integer_range(type), argument);
}

double as_real(const Argument& argument) {
    if (argument.kind == Argument::Kind::real) return argument.real;
    return argument.negative ? static_cast<double>(static_cast<std::int64_t>(argument.integer))
                             : static_cast<double>(argument.integer);
}

void pack_real(const Slot& slot, const Argument& argument, ElementType type, void* out) {
    if ((argument.kind != Argument::Kind::integer && argument.kind != Argument::Kind::real &&
         argument.kind != Argument::Kind::boolean)) {
        slot.wrong_kind("a number", argument, where_the_number_is(argument));
    }
    if (argument.too_big || !store_real(type, as_real(argument), out))
        slot.out_of_range("a number that " + name(type) + " can hold", argument);
}

// Packs two numbers of type `part`. A real number gets the imaginary part 0.
void pack_complex(const Slot& slot, const Argument& argument, ElementType part, void* out) {
    if (argument.raw_bytes == 2 * part.size && argument.element == ElementType{'c', 2 * part.size}) {
        std::memcpy(out, argument.raw.data(), argument.raw_bytes);
        return;
    }
    // bit by bit, so a NaN keeps its payload
    if (argument.raw_bytes == part.size && argument.element == part) {
        std::memcpy(out, argument.raw.data(), part.size);
        std::memset(static_cast<std::byte*>(out) + part.size, 0, part.size);
        return;
    }
    Argument number = argument;
    if (argument.kind == Argument::Kind::complex) number.kind = Argument::Kind::real;
    pack_real(slot, number, part, out);
    number.kind = Argument::Kind::real;
    number.real = argument.kind == Argument::Kind::complex ? argument.imaginary : 0.0;
    pack_real(slot, number, part, static_cast<std::byte*>(out) + part.size);
}

void pack_scalar(const Slot& slot, const Argument& argument, void* out) {
    const ElementType type = slot.check.element;
    if (argument.kind == Argument::Kind::texture && type == ElementType{'u', sizeof argument.integer})
        return pack_handle(slot, argument, out);
    if (argument.raw_bytes == type.size && argument.element == type) {
        std::memcpy(out, argument.raw.data(), type.size);
        return;
    }
    switch (type.kind) {
        case 'b':
            if (argument.kind != Argument::Kind::boolean) {
                slot.wrong_kind("True or False", argument, where_the_number_is(argument));
            }
            *static_cast<unsigned char*>(out) = argument.integer != 0;
            return;
        case 'i':
        case 'u':
            return pack_integer(slot, argument, type, out);
        case 'c':
            return pack_complex(slot, argument, {'f', type.size / 2}, out);
        default:
            break;
    }
    // NumPy may lack the dtype: then a program has the number's bytes.
    const bool as_bytes = argument.kind == Argument::Kind::bytes && argument.bytes == type.size;
    if (type.in_numpy() || !as_bytes) return pack_real(slot, argument, type, out);
    std::memcpy(out, argument.address, type.size);
}

bool is_number(const Argument& argument) {
    return argument.kind == Argument::Kind::integer || argument.kind == Argument::Kind::real ||
           argument.kind == Argument::Kind::boolean || argument.kind == Argument::Kind::complex;
}

// cuFloatComplex and cuDoubleComplex are typedefs of float2 and double2.
bool holds_complex(const VectorType& vector) {
    return vector.complex || (vector.lanes == 2 && vector.element.kind == 'f' && vector.element.size >= 4);
}

// Packs float4 and its like: a number for each of x, y, z, w, in a tuple or a NumPy array; or a complex
// number, if the type can hold one. False: the argument is none of these.
bool pack_vector(const Slot& slot, const Argument& argument, void* out) {
    const VectorType& vector = slot.check.vector;
    const bool complex = argument.kind == Argument::Kind::complex && holds_complex(vector);
    if (complex || (vector.complex && is_number(argument))) {
        pack_complex(slot, argument, vector.element, out);
        return true;
    }
    const bool array =
        argument.kind == Argument::Kind::host_array || argument.kind == Argument::Kind::pinned_array;
    if (!(array && !argument.structured) && argument.kind != Argument::Kind::sequence) return false;
    const std::string allowed = "a tuple of " + std::to_string(vector.lanes) +
                                " numbers, or a NumPy array of as many " + name(vector.element);
    if (array) {
        if (argument.element != vector.element || argument.bytes != vector.bytes() || !argument.contiguous) {
            slot.wrong_kind(allowed, argument,
                            " with " + std::to_string(argument.bytes) + " bytes" +
                                (argument.contiguous ? "" : " that are not contiguous"));
        }
        std::memcpy(out, argument.address, argument.bytes);
        return true;
    }
    if (argument.parts.size() != vector.lanes) slot.wrong_kind(allowed, argument);
    const ParameterCheck lane{slot.check.parameter, vector.element};
    for (std::size_t i = 0; i < vector.lanes; ++i) {
        pack_scalar({slot.kernel, lane, slot.index, slot.device}, argument.parts[i],
                    static_cast<std::byte*>(out) + i * vector.element.size);
    }
    return true;
}

// The reason why a structure of another size came, as far as it can be told from the sizes.
std::string about_size(const Argument& argument, std::size_t size) {
    if (!argument.structured) return {};
    if (!argument.contiguous) return ": its elements do not lie one after the other";
    if (argument.item_bytes == size)
        return argument.bytes == 0 ? ": it has no elements"
                                   : ": pass one of its " + std::to_string(argument.bytes / size) +
                                         " elements, such as array.flat[0]";
    if (argument.unaligned && argument.item_bytes < size)
        return ": its fields lie without gaps; if they are the fields of the C++ structure, "
               "numpy.dtype(..., align=True) places them as C++ does";
    return ": the dtype of " + std::to_string(argument.item_bytes) +
           " bytes needs the fields of the C++ structure, of the same types and in the same order";
}

// Packs a parameter of which only the size is known: a structure, or one of a kernel without a signature.
void pack_opaque(const Slot& slot, const Argument& argument, std::size_t size, void* out) {
    check_open(slot, argument);
    const std::string bytes = std::to_string(size) + " bytes";
    if (slot.check.vector.lanes != 0 && pack_vector(slot, argument, out)) return;
    const bool structure = argument.structured && (argument.kind == Argument::Kind::host_array ||
                                                   argument.kind == Argument::Kind::pinned_array);
    if (argument.kind == Argument::Kind::bytes || structure) {
        if (argument.bytes != size || !argument.contiguous) {
            slot.wrong_kind(bytes + ", as bytes or as one element of a structured dtype", argument,
                            about_size(argument, size));
        }
        std::memcpy(out, argument.address, size);
        return;
    }
    const std::size_t lanes = slot.check.vector.lanes;
    if (lanes != 0) {
        slot.wrong_kind((holds_complex(slot.check.vector) ? "a complex number, " : "") +
                            ("a tuple of " + std::to_string(lanes)) + " numbers, a NumPy array of as many " +
                            name(slot.check.vector.element) + ", or " + bytes,
                        argument);
    }
    if (is_array(argument) && size == sizeof(void*)) {
        check_reachable(slot, argument);
        const void* address = device_address(slot, argument);
        std::memcpy(out, &address, sizeof address);
        return;
    }
    if (argument.kind == Argument::Kind::none && size == sizeof(void*)) {
        std::memset(out, 0, size);
        return;
    }
    if (has_handle(argument) && size == sizeof argument.integer) return pack_handle(slot, argument, out);
    if (argument.raw_bytes == size && !argument.element.known()) {  // of a type that NumPy does not have
        std::memcpy(out, argument.raw.data(), size);
        return;
    }
    // A NumPy scalar has its own type. A Python int is packed as an integer of the parameter's size, which
    // also serves enumerations. A Python float is packed only if the signature does not name another type.
    ElementType type = argument.element;
    if (!type.known() && argument.raw_bytes == 0) {
        const bool real = argument.kind == Argument::Kind::real && slot.check.parameter.type.empty();
        const bool integer =
            argument.kind == Argument::Kind::integer || argument.kind == Argument::Kind::boolean;
        if ((real && (size == 4 || size == 8)) ||
            (integer && (size == 1 || size == 2 || size == 4 || size == 8))) {
            type = {real ? 'f' : argument.negative ? 'i' : 'u', size};
        }
    }
    if (!is_number(argument) || !type.known() || type.size != size) {
        const bool scalar = size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
        slot.wrong_kind(
            "a value of " + bytes + " (" + (size == sizeof(void*) ? "an array, " : "") +
                (scalar ? "a NumPy scalar, " : "") +
                "bytes, or one element of a structured dtype with the fields of the C++ structure)",
            argument);
    }
    const ParameterCheck check{slot.check.parameter, type};
    pack_scalar({slot.kernel, check, slot.index, slot.device}, argument, out);
}

}  // namespace

namespace {

// A NumPy array without dimensions counts as its number, unless the parameter takes an array.
const Argument& as_number_for(const ParameterCheck& check, const Argument& argument) {
    const bool pinned = argument.kind == Argument::Kind::pinned_array;
    if (argument.parts.size() != 1 || !(pinned || argument.kind == Argument::Kind::host_array))
        return argument;
    // For a parameter without a type, a page-locked array can only mean its address.
    const bool array = check.parameter.kind == ParameterKind::pointer ||
                       (pinned && check.parameter.kind == ParameterKind::opaque &&
                        check.parameter.type.empty() && check.parameter.size == sizeof(void*));
    return array || check.vector.lanes == 1 ? argument : argument.parts.front();
}

}  // namespace

void* PackedArguments::place(std::size_t bytes) {
    const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
    if (padded > small_.size() - used_) {
        large_.push_back(std::make_unique<std::byte[]>(padded));
        return large_.back().get();
    }
    void* const at = small_.data() + used_;
    used_ += padded;
    return at;
}

PackedArguments::PackedArguments(const std::string& kernel, std::span<const ParameterCheck> parameters,
                                 std::span<Argument> arguments, const Device& device) {
    if (arguments.size() != parameters.size()) {
        const std::string count = std::to_string(parameters.size());
        throw WrongKind(kernel + "() takes " + count + (parameters.size() == 1 ? " argument" : " arguments") +
                        ", not " + std::to_string(arguments.size()) + ": " + signature(kernel, parameters));
    }
    pointers_.reserve(parameters.size());
    if (checking()) order::packed_spans().clear();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const ParameterCheck& check = parameters[i];
        const Argument& argument = as_number_for(check, arguments[i]);
        const Slot slot{kernel, check, i, device};
        const std::size_t size = check.parameter.size;
        void* const out = place(size);
        pointers_.push_back(out);
        const bool opaque = check.parameter.kind == ParameterKind::opaque;
        if (takes_graph_exec(check)) {
            pack_graph_exec(slot, argument, out);
        } else if (takes_tensor_map(check) || (opaque && argument.kind == Argument::Kind::tensor_map)) {
            pack_tensor_map(slot, argument, size, out);
        } else if (check.parameter.kind == ParameterKind::pointer) {
            const void* address = pack_pointer(slot, argument);
            std::memcpy(out, &address, sizeof address);
        } else if (check.parameter.kind == ParameterKind::scalar && check.element.known()) {
            pack_scalar(slot, argument, out);
        } else {
            pack_opaque(slot, argument, size, out);
        }
        if (checking() && argument.address != nullptr && argument.contiguous && is_array(argument))
            order::packed_spans().emplace_back(reinterpret_cast<std::uintptr_t>(argument.address),
                                               argument.bytes);
        if (argument.memory) {
            memories_.push_back(argument.memory.get());
            array_bytes_ += static_cast<std::int64_t>(argument.bytes);
        }
    }
}

std::string signature(const std::string& kernel, std::span<const ParameterCheck> parameters) {
    std::string text = kernel + "(";
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Parameter& parameter = parameters[i].parameter;
        if (i != 0) text += ", ";
        text += parameter.type.empty() ? std::to_string(parameter.size) + " bytes" : parameter.type;
        if (!parameter.name.empty()) text += " " + parameter.name;
    }
    return text + ")";
}

}  // namespace cuscope::core
