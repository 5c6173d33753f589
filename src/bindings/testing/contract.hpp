// The contract's methods as tests call them. A method is a row of a table: its name, its parameters in
// Python's spelling, and a call. The table is made from runtime_methods.inc. Methods with structures, arrays
// or functions among their parameters have a call of their own, which replaces the row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/support/objects.hpp"
#include "bindings/support/status_names.hpp"
#include "core/device/devices.hpp"

namespace cuscope::bindings {

using Address = std::uintptr_t;

struct Contract {
    std::shared_ptr<Runtime> runtime;

    // Releases the GIL during the call.
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
    if constexpr (std::is_pointer_v<T>) {
        return py::int_(reinterpret_cast<Address>(value));
    } else if constexpr (std::is_enum_v<T>) {
        return py::int_(static_cast<int>(value));
    } else {
        return py::cast(value);
    }
}

// The status's name. If there are outputs, a tuple of it and them.
py::object answer_of(Status status, std::initializer_list<py::object> outputs);

template <class... Outputs>
py::object answer(Status status, const Outputs&... outputs) {
    return answer_of(status, {output(outputs)...});
}

struct ContractMethod {
    using Call = py::object (*)(const ContractMethod& self, const Contract& contract,
                                const py::tuple& arguments);

    std::string parameters;  // "pointer, bytes, kind=4"
    Call call;
    const void* target;  // for `call`
};

class ContractMethods {
  public:
    // A function(const Contract&, arguments...) as the method `name`.
    template <class Answer, class... In>
    void add(const std::string& name, const char* parameters, Answer (*function)(const Contract&, In...)) {
        methods_[name] = {parameters, call<Answer, In...>, reinterpret_cast<const void*>(function)};
    }
    void add(const std::string& name, ContractMethod method) { methods_[name] = std::move(method); }

    const std::map<std::string, ContractMethod>& all() const { return methods_; }

  private:
    template <class Answer, class... In>
    static py::object call(const ContractMethod& self, const Contract& contract, const py::tuple& arguments) {
        auto* const function =
            reinterpret_cast<Answer (*)(const Contract&, In...)>(const_cast<void*>(self.target));
        return [&]<std::size_t... I>(std::index_sequence<I...>)->py::object {
            return function(contract, py::cast<std::decay_t<In>>(py::object(arguments[I]))...);
        }
        (std::index_sequence_for<In...>());
    }

    std::map<std::string, ContractMethod> methods_;
};

void add_plain_methods(
    ContractMethods& methods);  // all whose parameters are numbers, handles, pointers and text
void add_memory_methods(ContractMethods& methods);
void add_launch_methods(ContractMethods& methods);
void add_graph_methods(ContractMethods& methods);

}  // namespace cuscope::bindings
