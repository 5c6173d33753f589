// Makes a Python method of one of class Runtime's: what it writes through a pointer comes back in a tuple
// behind the status's name, and everything else is an argument. Handles and pointers are ints.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bindings/support/objects.hpp"
#include "core/device/devices.hpp"

namespace cuscope::bindings {

using Address = std::uintptr_t;

struct Contract {
    std::shared_ptr<Runtime> runtime;

    // Calls with the GIL let go.
    template <class Call>
    Status call(Call&& made) const {
        const WithoutGil released;
        return made(*runtime);
    }
};

template <class T>
T as_pointer(Address address) {
    return reinterpret_cast<T>(address);
}

template <class T>
py::object output(const T& value) {
    if constexpr (std::is_same_v<T, const char*>) {
        return py::str(value == nullptr ? "" : value);
    } else if constexpr (std::is_pointer_v<T>) {
        return py::int_(reinterpret_cast<Address>(value));
    } else {
        return py::cast(value);
    }
}

template <class... Outputs>
Answer answer(Status status, const Outputs&... outputs) {
    return Answer(py::make_tuple(name(status), output(outputs)...));
}

inline py::str answer(Status status) { return py::str(name(status)); }

template <class T>
constexpr bool is_handle =
    std::is_same_v<T, StreamHandle> || std::is_same_v<T, EventHandle> || std::is_same_v<T, LibraryHandle> ||
    std::is_same_v<T, KernelHandle> || std::is_same_v<T, GraphHandle> || std::is_same_v<T, GraphNodeHandle> ||
    std::is_same_v<T, GraphExecHandle> || std::is_same_v<T, ExternalSemaphoreHandle> ||
    std::is_same_v<T, MemPoolHandle> || std::is_same_v<T, ArrayHandle> ||
    std::is_same_v<T, MipmappedArrayHandle>;

template <class P>
constexpr bool is_output =
    std::is_pointer_v<P> && !is_handle<P> && !std::is_void_v<std::remove_pointer_t<P>> &&
    !std::is_const_v<std::remove_pointer_t<P>>;

// A parameter of a method, as it comes from Python and as it goes into the call.
template <class P>
struct Slot {
    using Python = std::conditional_t<
        std::is_same_v<P, const char*>, std::string,
        std::conditional_t<std::is_pointer_v<P>, Address, std::conditional_t<std::is_enum_v<P>, int, P>>>;
    using Inputs = std::tuple<Python>;
    Python value{};
    P pass() {
        if constexpr (std::is_same_v<P, const char*>) {
            return value.c_str();
        } else if constexpr (std::is_pointer_v<P>) {
            return as_pointer<P>(value);
        } else {
            return static_cast<P>(value);
        }
    }
};
template <class P>
requires is_output<P>
struct Slot<P> {
    using Inputs = std::tuple<>;
    std::remove_pointer_t<P> value{};
    P pass() { return &value; }
};

template <class P>
auto outputs_of(const Slot<P>& slot) {
    if constexpr (is_output<P>) {
        return std::tie(slot.value);
    } else {
        return std::tuple<>();
    }
}

// Fills the input slots, in order, with what came from Python.
template <std::size_t Parameter, std::size_t From, class Slots, class Inputs>
void fill(Slots& slots, Inputs& inputs) {
    if constexpr (Parameter < std::tuple_size_v<Slots>) {
        auto& slot = std::get<Parameter>(slots);
        using Passed = decltype(slot.pass());
        if constexpr (is_output<Passed>) {
            fill<Parameter + 1, From>(slots, inputs);
        } else {
            slot.value = std::move(std::get<From>(inputs));
            fill<Parameter + 1, From + 1>(slots, inputs);
        }
    }
}

template <class... P>
auto contract_method(Status (Runtime::*method)(P...)) {
    using Inputs = decltype(std::tuple_cat(std::declval<typename Slot<P>::Inputs>()...));
    return [method]<class... In>(std::type_identity<std::tuple<In...>>) {
        return [method](const Contract& contract, In... in) {
            std::tuple<Slot<P>...> slots;
            auto inputs = std::make_tuple(std::move(in)...);
            fill<0, 0>(slots, inputs);
            const Status status = contract.call([&](Runtime& runtime) {
                return std::apply([&](auto&... slot) { return (runtime.*method)(slot.pass()...); }, slots);
            });
            const auto outputs =
                std::apply([](const auto&... slot) { return std::tuple_cat(outputs_of(slot)...); }, slots);
            return std::apply([&](const auto&... output) { return answer(status, output...); }, outputs);
        };
    }(std::type_identity<Inputs>());
}

void bind_contract_memory(py::class_<Contract>& contract);
void bind_contract_launches(py::class_<Contract>& contract);
void bind_contract_graphs(py::class_<Contract>& contract);

}  // namespace cuscope::bindings
