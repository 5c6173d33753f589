// Methods of the contract whose parameters are numbers, handles, pointers and text: a value that the method
// writes through a pointer becomes an output, all others are arguments. A method costs one small function
// here, since everything else is the same code for all of them.
#include <array>
#include <cctype>
#include <cstring>
#include <new>
#include <string_view>

#include "bindings/testing/contract.hpp"

namespace cuscope::bindings {
namespace {

enum class Kind : unsigned char { none, integer, natural, real, address, text };

// A parameter of a method.
struct Slot {
    Kind kind = Kind::none;  // none: not a plain one
    bool output = false;
    std::size_t bytes = 0;
};

// The place of a parameter's value during a call.
struct Word {
    alignas(8) std::array<std::byte, 8> bytes{};
    std::string text;
};

template <class T>
concept Complete = requires {
    sizeof(T);
};

// Handles are pointers to types that are defined nowhere.
template <class T>
constexpr bool is_address = std::is_pointer_v<T> && (std::is_void_v<std::remove_pointer_t<T>> ||
                                                     (std::is_class_v<std::remove_pointer_t<T>> &&
                                                      !Complete<std::remove_pointer_t<T>>));

template <class T>
constexpr Kind kind_of() {
    if constexpr (std::is_same_v<T, const char*>) return Kind::text;
    if constexpr (is_address<T>) return Kind::address;
    if constexpr (std::is_floating_point_v<T>) return Kind::real;
    if constexpr (std::is_enum_v<T>) return Kind::integer;
    if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? Kind::integer : Kind::natural;
    return Kind::none;
}

template <class P>
constexpr bool is_output =
    std::is_pointer_v<P>&& kind_of<P>() == Kind::none &&
    !std::is_const_v<std::remove_pointer_t<P>> && kind_of<std::remove_pointer_t<P>>() != Kind::none;

template <class P>
constexpr Slot slot_of() {
    if constexpr (is_output<P>) {
        return {kind_of<std::remove_pointer_t<P>>(), true, sizeof(std::remove_pointer_t<P>)};
    } else if constexpr (kind_of<P>() != Kind::none) {
        return {kind_of<P>(), false, sizeof(P)};
    } else {
        return {};
    }
}

template <class P>
P pass(Word& word) {
    if constexpr (is_output<P>) {
        return new (word.bytes.data()) std::remove_pointer_t<P>{};
    } else if constexpr (std::is_same_v<P, const char*>) {
        return word.text.c_str();
    } else {
        P value;
        std::memcpy(&value, word.bytes.data(), sizeof(P));
        return value;
    }
}

struct Plain {
    std::string_view name;
    std::string_view parameters;  // in C++
    const Slot* slots;
    std::size_t count;
    Status (*call)(Runtime&, Word*);
};

template <auto Method>
struct PlainOf;
template <class... P, Status (Runtime::*Method)(P...)>
struct PlainOf<Method> {
    static constexpr bool plain = ((slot_of<P>().kind != Kind::none) && ...);
    static constexpr std::array<Slot, sizeof...(P)> slots{slot_of<P>()...};

    template <std::size_t... I>
    static Status pass_all(Runtime& runtime, [[maybe_unused]] Word* words, std::index_sequence<I...>) {
        return (runtime.*Method)(pass<P>(words[I])...);
    }
    static Status call(Runtime& runtime, Word* words) {
        return pass_all(runtime, words, std::index_sequence_for<P...>());
    }
    static constexpr Plain row(std::string_view name, std::string_view parameters) {
        if constexpr (plain) return {name, parameters, slots.data(), slots.size(), call};
        return {name, parameters, nullptr, 0, nullptr};
    }
};

constexpr std::array rows = {
#define CUSCOPE_METHOD(method, parameters, arguments) PlainOf<&Runtime::method>::row(#method, #parameters),
#include "runtime/runtime_methods.inc"
#undef CUSCOPE_METHOD
};

// The names of "(void** pointer, std::size_t bytes)".
std::vector<std::string> names_of(std::string_view parameters) {
    std::vector<std::string> names;
    std::string word;
    for (const char c : parameters) {
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
            word += c;
        } else if ((c == ',' || c == ')') && !word.empty()) {
            names.push_back(std::exchange(word, {}));
        } else {
            word.clear();
        }
    }
    return names;
}

// The values of optional arguments.
std::string default_of(const std::string& method, const std::string& name) {
    if (name == "kind") return "4";                                 // cudaMemcpyDefault
    if (method == "malloc_managed" && name == "flags") return "1";  // cudaMemAttachGlobal
    for (const char* zero : {"flags", "stream", "mode", "priority", "dynamic_shared_bytes",
                             "block_size_limit", "default_value"}) {
        if (name == zero) return "0";
    }
    return "";
}

std::string python_parameters(const Plain& row) {
    const std::vector<std::string> names = names_of(row.parameters);
    std::string text;
    bool optional = true;
    for (std::size_t i = row.count;
         i-- > 0;) {  // from the last one: no optional argument precedes another one
        if (row.slots[i].output) continue;
        const std::string value = default_of(std::string(row.name), names[i]);
        // The stream of a call about a stream is its first argument.
        optional = optional && !value.empty() && !(i == 0 && names[i] == "stream");
        text = names[i] + (optional ? "=" + value : "") + (text.empty() ? "" : ", ") + text;
    }
    return text;
}

void read(const Slot& slot, const py::handle& value, Word* word) {
    if (slot.kind == Kind::text) {
        word->text = py::cast<std::string>(value);
        return;
    }
    const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!index) throw py::error_already_set();
    if (slot.kind == Kind::integer) {
        const long long number = PyLong_AsLongLong(index.ptr());
        if (PyErr_Occurred() != nullptr) throw py::error_already_set();
        const auto narrow = static_cast<std::int32_t>(number);
        if (slot.bytes == 4 && narrow != number) throw py::value_error("an int of 32 bits is expected");
        std::memcpy(word->bytes.data(), &number, 8);
    } else {
        const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
        if (PyErr_Occurred() != nullptr) throw py::error_already_set();
        if (slot.bytes < 8 && number >> (8 * slot.bytes) != 0) {
            throw py::value_error("an unsigned of " + std::to_string(8 * slot.bytes) + " bits is expected");
        }
        std::memcpy(word->bytes.data(), &number, 8);
    }
}

template <class T>
T stored(const Word& word) {
    T value;
    std::memcpy(&value, word.bytes.data(), sizeof(T));
    return value;
}

py::object written(const Slot& slot, const Word& word) {
    switch (slot.kind) {
        case Kind::text: {
            const char* const text = stored<const char*>(word);
            return py::str(text == nullptr ? "" : text);
        }
        case Kind::real:
            return py::float_(slot.bytes == 4 ? stored<float>(word) : stored<double>(word));
        case Kind::integer:
            return py::int_(slot.bytes == 4 ? stored<std::int32_t>(word) : stored<std::int64_t>(word));
        default:
            return py::int_(slot.bytes == 4 ? stored<std::uint32_t>(word) : stored<std::uint64_t>(word));
    }
}

py::object call_plain(const ContractMethod& self, const Contract& contract, const py::tuple& arguments) {
    const Plain& row = *static_cast<const Plain*>(self.target);
    std::vector<Word> words(row.count);
    std::size_t argument = 0;
    for (std::size_t i = 0; i < row.count; ++i) {
        if (!row.slots[i].output) read(row.slots[i], arguments[argument++], &words[i]);
    }
    const Status status = contract.call([&](Runtime& runtime) { return row.call(runtime, words.data()); });
    py::list answer;
    answer.append(name(status));
    for (std::size_t i = 0; i < row.count; ++i) {
        if (row.slots[i].output) answer.append(written(row.slots[i], words[i]));
    }
    return answer.size() == 1 ? py::object(answer[0]) : py::tuple(answer);
}

}  // namespace

void add_plain_methods(ContractMethods& methods) {
    for (const Plain& row : rows) {
        if (row.call != nullptr) {
            methods.add(std::string(row.name), {python_parameters(row), call_plain, &row});
        }
    }
}

}  // namespace cuscope::bindings
