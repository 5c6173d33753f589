// The behaviour of pickle and copy for objects of this package. It must be defined: by default, pickle's
// oldest protocols would create an instance of pybind11's own base class, which crashes the process.
#include <array>
#include <string>
#include <string_view>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {
namespace {

constexpr std::string_view state = "it stands for something that this process has on a device";
constexpr std::string_view answered = "it has values that a device returned at one time";

struct Rule {
    std::string_view type, reason, instead;
    bool constant = false;  // it never changes, so a copy may be the object itself
};

constexpr std::array rules{
    Rule{"Stream", state, "make another with Stream(), or Stream.handle for a library of the same process"},
    Rule{"Event", state, "make another with Event(); times between events are numbers, and can be pickled"},
    Rule{"DeviceArray", state,
         "x.copy() is a copy on the device; x.to_host() is a NumPy array, which can be pickled, and "
         "to_device() brings it back"},
    Rule{"MemoryPool", state, "make another with MemoryPool()"},
    Rule{"Registration", state, "copy or pickle its array, and register() that"},
    Rule{"CudaArray", state, "x.to_host() is a NumPy array, which can be pickled; CudaArray() makes another"},
    Rule{"MipmappedArray", state,
         "x.level(i).to_host() is a NumPy array, which can be pickled; MipmappedArray() makes another"},
    Rule{"Texture", state, "make another of the same memory with Texture()"},
    Rule{"Surface", state, "make another of the same memory with Surface()"},
    Rule{"TensorMap", state, "make another of the same array with TensorMap()"},
    Rule{"Module", state, "copy or pickle its source, and make a Module of that"},
    Rule{"Kernel", state, "copy or pickle the source of its module and its name"},
    Rule{"KernelLaunch", state, "configure the kernel again: kernel[grid, block]"},
    Rule{"WriteValue", state, "make another with WriteValue(x.array, x.value)"},
    Rule{"WaitValue", state, "make another with WaitValue(x.array, x.value, x.condition)"},
    Rule{"AccessPolicyWindow", state, "make another with AccessPolicyWindow(array)"},
    Rule{"ExternalSemaphore", state, "pass the file it came from, and import that there"},
    Rule{"Graph", state, "add the graph to another as a child, or build it again"},
    Rule{"GraphNode", state, "find it in Graph.nodes"},
    Rule{"GraphExec", state, "instantiate the graph again"},
    Rule{"GraphUpdate", state, "take its `result`, a str"},
    Rule{"Capture", state, "capture again"},
    Rule{"DeviceProperties", answered, "take the fields that you need, or Device(name).properties there",
         true},
    Rule{"MemoryInfo", answered, "take its fields: tuple(info)", true},
    Rule{"PoolStatistics", answered, "take the fields that you need, which are numbers", true},
    Rule{"PointerAttributes", answered, "take the fields that you need", true},
    Rule{"Parameter", answered, "take the fields that you need", true},
    Rule{"FunctionAttributes", answered, "take the fields that you need, which are numbers", true},
    Rule{"GlobalCounts", answered, "take the fields that you need, which are numbers", true},
    Rule{"Pending", answered, "take its text: str(pending)", true},
    Rule{"PendingWork", answered, "take its text: str(work)", true},
    Rule{"PendingReason", answered, "take its text: str(reason)", true},
    Rule{"KernelTime", answered, "take the fields that you need, which are numbers", true},
    Rule{"Counts", answered, "take the fields that you need, which are numbers", true},
};

const Rule* rule_of(std::string_view type) {
    for (const Rule& rule : rules) {
        if (rule.type == type) return &rule;
    }
    return nullptr;
}

// `rule` is null for a private class.
py::cpp_function refusal(py::handle type, std::string name, const Rule* rule) {
    return py::cpp_function(
        [name = std::move(name), rule](const Scalar&) -> Answer {
            std::string text = name + (rule != nullptr && rule->constant ? " cannot be pickled: "
                                                                         : " cannot be copied or pickled: ");
            text += rule != nullptr ? rule->reason : state;
            if (rule != nullptr) text += "; " + std::string(rule->instead);
            throw core::WrongKind(text);
        },
        py::name("__reduce__"), py::is_method(type),
        "Raises TypeError. The message says why it cannot be pickled, and an alternative.");
}

}  // namespace

// pickle and copy call __reduce_ex__, and object's version of that calls __reduce__, for every protocol.
void define_copying(const py::module_& m) {
    for (const py::type& type : own_types(m)) {
        if (type.attr("__dict__").contains("__reduce__")) continue;
        const auto name = type.attr("__name__").cast<std::string>();
        const Rule* const rule = rule_of(name);
        type.attr("__reduce__") = refusal(type, name, rule);
        if (rule == nullptr || !rule->constant) continue;
        type.attr("__copy__") =
            py::cpp_function([](const py::object& self) { return self; }, py::name("__copy__"),
                             py::is_method(type), "Returns the object itself, because it never changes.");
        type.attr("__deepcopy__") = py::cpp_function(
            [](const py::object& self, const Scalar&) { return self; }, py::name("__deepcopy__"),
            py::is_method(type), py::arg("memo"), "Returns the object itself, because it never changes.");
    }
}

}  // namespace cuscope::bindings
