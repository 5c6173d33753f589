// Stream memory operations: writing a value and waiting for a value, in streams and in graphs.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bindings/graphs/graphs.hpp"
#include "core/stream/memory_operations.hpp"

namespace cuscope::bindings {
namespace {

// at the positions of their flags
constexpr std::array<const char*, 4> condition_names{"geq", "eq", "and", "nor"};

// An operation as a Python object. The array is looked up again at each use, because it may have been closed.
struct ValueOperation {
    py::object array, value;
    MemoryOperation operation;
};
struct WriteValue : ValueOperation {};
struct WaitValue : ValueOperation {};
struct MemoryBarrier {
    MemoryOperation operation;
};

unsigned parse_condition(const std::string& condition) {
    const auto found = std::find_if(condition_names.begin(), condition_names.end(),
                                    [&](std::string_view name) { return name == condition; });
    if (found != condition_names.end()) return static_cast<unsigned>(found - condition_names.begin());
    throw std::invalid_argument("condition: '" + condition +
                                "'; allowed are 'geq', 'eq', 'and' and 'nor', of which 'geq' compares in a "
                                "circle: array - value, as a signed number, is 0 or more");
}

// The address and the memory of an array of one integer, and its dtype.
core::MemoryOperationOn place_of(py::handle array, bool writes, py::dtype* dtype) {
    core::MemoryOperationOn made;
    py::ssize_t count = 1;
    if (py::isinstance<DeviceArray>(array)) {
        const auto& on_device = array.cast<const DeviceArray&>();
        const auto& memory = on_device.open();
        memory->check_usable();
        if (writes) check_writeable(on_device, "array");
        for (const py::ssize_t extent : on_device.shape) count *= extent;
        *dtype = on_device.dtype;
        made.operation.address = count == 0 ? nullptr : on_device.pointer();
        made.memory = memory;
    } else if (py::isinstance<py::array>(array)) {
        auto on_host = py::reinterpret_borrow<py::array>(array);
        if (writes && !on_host.writeable()) throw std::invalid_argument("array: is read-only");
        count = on_host.size();
        *dtype = on_host.dtype();
        made.operation.address = const_cast<void*>(on_host.data());
    } else {
        throw core::WrongKind(std::string("array: takes a DeviceArray or a page-locked NumPy array, not ") +
                              Py_TYPE(array.ptr())->tp_name);
    }
    if (count != 1) {
        throw std::invalid_argument("array: has " + std::to_string(count) +
                                    " elements, and an operation works on one: take a part, as array[0:1]");
    }
    const bool whole = dtype->kind() == 'i' || dtype->kind() == 'u';
    if (!whole || (dtype->itemsize() != 4 && dtype->itemsize() != 8) || dtype->byteorder() == '>') {
        throw std::invalid_argument("array: has dtype " + describe(*dtype) +
                                    "; operations work on integers of 4 or 8 bytes in the machine's order");
    }
    if (made.memory) core::check_takes_operations(*made.memory);
    return made;
}

// Looks up page-locked memory in the runtime of the device.
void find_host_memory(core::MemoryOperationOn& made, const core::Device& device) {
    if (made.memory) return;
    made.memory = core::PinnedMemory::find(device, made.operation.address, made.operation.bytes());
    if (made.memory) return;
    throw std::invalid_argument(
        "array: is pageable host memory, which a device cannot reach by itself: take cs.pinned_empty() or "
        "cs.register(), of " +
        device.name() + "'s runtime");
}

std::uint64_t parse_value(py::handle value, const py::dtype& dtype) {
    const py::object number = as_integer(value, "value");
    const py::object limits = numpy().attr("iinfo")(dtype);
    if (number < limits.attr("min") || number > limits.attr("max")) {
        throw std::invalid_argument("value: " + py::str(number).cast<std::string>() + "; " + describe(dtype) +
                                    " holds " + py::str(limits.attr("min")).cast<std::string>() + " to " +
                                    py::str(limits.attr("max")).cast<std::string>());
    }
    return PyLong_AsUnsignedLongLongMask(number.ptr());
}

template <class Made>
Made make_operation(const HostOrDeviceMemory& array, const IntLike& value, unsigned flags) {
    constexpr bool writes = std::is_same_v<Made, WriteValue>;
    py::dtype dtype;
    Made made;
    made.operation = place_of(array, writes, &dtype).operation;
    made.array = array;
    made.value = as_integer(value, "value");
    made.operation.value = parse_value(value, dtype);
    if (dtype.itemsize() == 4) made.operation.value &= 0xffffffffU;
    using Type = MemoryOperationType;
    made.operation.type = dtype.itemsize() == 8 ? (writes ? Type::write_value_64 : Type::wait_value_64)
                                                : (writes ? Type::write_value_32 : Type::wait_value_32);
    made.operation.flags = flags;
    return made;
}

core::MemoryOperationOn ready(const ValueOperation& given, const core::Device& device) {
    py::dtype dtype;
    core::MemoryOperationOn made = place_of(given.array, given.operation.writes(), &dtype);
    void* const address = made.operation.address;
    made.operation = given.operation;
    made.operation.address = address;
    find_host_memory(made, device);
    return made;
}

core::MemoryOperations parse_operations(const OperationsLike& given, const core::Device& device) {
    if (!py::isinstance<py::iterable>(given)) {
        throw core::WrongKind(
            std::string("operations: takes a list of WriteValue, WaitValue and MemoryBarrier, not ") +
            Py_TYPE(given.ptr())->tp_name);
    }
    core::MemoryOperations made;
    for (const py::handle one : py::reinterpret_borrow<py::iterable>(given)) {
        if (py::isinstance<WriteValue>(one)) {
            made.push_back(ready(one.cast<const WriteValue&>(), device));
        } else if (py::isinstance<WaitValue>(one)) {
            made.push_back(ready(one.cast<const WaitValue&>(), device));
        } else if (py::isinstance<MemoryBarrier>(one)) {
            made.push_back({one.cast<const MemoryBarrier&>().operation, nullptr});
        } else {
            throw core::WrongKind(
                std::string("operations: takes WriteValue, WaitValue and MemoryBarrier, not ") +
                Py_TYPE(one.ptr())->tp_name);
        }
    }
    return made;
}

void enqueue_operations(const StreamObject& self, const core::MemoryOperations& operations) {
    const core::StreamPtr stream = self.open();
    without_gil([&] { core::enqueue(stream, operations); });
}

std::string operation_repr(const char* name, const ValueOperation& self) {
    return std::string("<") + name + " " + py::str(self.value).cast<std::string>() + ", " +
           std::to_string(8 * self.operation.bytes()) + " bits" +
           (self.operation.waits() ? std::string(", ") + condition_names[self.operation.flags] : "") + ">";
}

template <class Made>
void define_fields(py::class_<Made>& type, const char* name) {
    type.def_property_readonly(
            "array", [](const Made& self) { return Scalar(self.array); }, "The array of one element.")
        .def_property_readonly(
            "value", [](const Made& self) { return self.value.template cast<py::int_>(); }, "The number.")
        .def("__repr__", [name](const Made& self) { return operation_repr(name, self); });
}

void bind_operation_types(py::module_& m) {
    py::class_<WriteValue> write(m, "WriteValue",
                                 R"(An operation of a batch: write a number to memory. See Stream.write_value.

See cuStreamBatchMemOp: CUDA Driver API, "Stream Memory Operations".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> cs.WriteValue(cs.empty_plain(1, np.uint32), 7)
<WriteValue 7, 32 bits>
)");
    write.def(py::init([](const HostOrDeviceMemory& array, const IntLike& value) {
                  return make_operation<WriteValue>(array, value, 0);
              }),
              py::arg("array"), py::arg("value"));
    define_fields(write, "WriteValue");

    py::class_<WaitValue> wait(
        m, "WaitValue",
        R"(An operation of a batch: wait until memory holds a number. See Stream.wait_value.

See cuStreamBatchMemOp: CUDA Driver API, "Stream Memory Operations".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> cs.WaitValue(cs.empty_plain(1, np.uint64), 7, "eq")
<WaitValue 7, 64 bits, eq>
)");
    wait.def(
            py::init([](const HostOrDeviceMemory& array, const IntLike& value, const std::string& condition) {
                return make_operation<WaitValue>(array, value, parse_condition(condition));
            }),
            py::arg("array"), py::arg("value"), py::arg("condition") = "geq")
        .def_property_readonly(
            "condition", [](const WaitValue& self) { return condition_names[self.operation.flags]; },
            "The condition to wait for: 'geq', 'eq', 'and' or 'nor'.");
    define_fields(wait, "WaitValue");

    py::class_<MemoryBarrier>(m, "MemoryBarrier",
                              R"(An operation of a batch: order the writes before it and the writes after it.

The order holds for the whole system, or with ``scope="device"`` for the device. See CU_STREAM_MEM_OP_BARRIER: CUDA
Driver API, "Stream Memory Operations".

Examples
--------
>>> import cuscope as cs
>>> cs.MemoryBarrier("device")
<MemoryBarrier device>
)")
        .def(py::init([](const std::string& scope) {
                 if (scope != "system" && scope != "device") {
                     throw std::invalid_argument("scope: '" + scope + "'; allowed are 'system' and 'device'");
                 }
                 return MemoryBarrier{
                     {MemoryOperationType::barrier, nullptr, 0,
                      scope == "device" ? flags::memory_barrier_device : flags::memory_barrier_system}};
             }),
             py::arg("scope") = "system")
        .def_property_readonly(
            "scope",
            [](const MemoryBarrier& self) { return self.operation.flags == 0 ? "system" : "device"; },
            "Where the order holds: 'system' or 'device'.")
        .def(
            "__reduce__",
            [](const py::object& self) -> Answer {
                return py::make_tuple(py::type::of<MemoryBarrier>(), py::make_tuple(self.attr("scope")));
            },
            "Another MemoryBarrier of the same scope.")
        .def("__repr__", [](const MemoryBarrier& self) {
            return std::string("<MemoryBarrier ") + (self.operation.flags == 0 ? "system" : "device") + ">";
        });
}

}  // namespace

py::list operations_of(const BatchMemOpNodeParameters& batch) {
    py::list operations;
    for (unsigned i = 0; i < batch.count; ++i) {
        const MemoryOperation& one = batch.operations[i];
        py::dict values;
        if (!one.writes() && !one.waits()) {
            values["operation"] = "barrier";
            values["scope"] = one.flags == flags::memory_barrier_device ? "device" : "system";
            operations.append(values);
            continue;
        }
        values["operation"] = one.writes() ? "write_value" : "wait_value";
        values["pointer"] = reinterpret_cast<std::uintptr_t>(one.address);
        values["bits"] = 8 * one.bytes();
        values["value"] = one.value;
        if (one.waits()) values["condition"] = condition_names[one.flags & flags::wait_value_nor];
        operations.append(values);
    }
    return operations;
}

void bind_memory_operations(py::module_& m, Classes& classes) {
    bind_operation_types(m);
    classes.stream
        .def(
            "write_value",
            [](const StreamObject& self, const HostOrDeviceMemory& array, const IntLike& value) {
                const auto made = make_operation<WriteValue>(array, value, 0);
                enqueue_operations(self, {ready(made, *self.device)});
            },
            py::arg("array"), py::arg("value"),
            R"(Write a number to memory in stream order: a flag for other streams, kernels or the host.

When a reader sees the number, it also sees everything that the stream wrote before.

Parameters
----------
array : DeviceArray or numpy.ndarray
    One integer of 4 or 8 bytes: from cs.empty_plain(), in a module's variable, or in page-locked memory. Devices do not
    support these operations on memory from pools (where other arrays are) and on managed memory.
value : int
    A value of the array's dtype.

Raises ValueError for other arrays and numbers. See cuStreamWriteValue32 and cuStreamWriteValue64: CUDA Driver API,
"Stream Memory Operations".

>>> import numpy as np, cuscope as cs
>>> flag = cs.pinned_empty(1, np.uint32)
>>> stream = cs.Stream()
>>> stream.write_value(flag, 7)
>>> stream.synchronize()
>>> flag.tolist()
[7]
)")
        .def(
            "wait_value",
            [](const StreamObject& self, const HostOrDeviceMemory& array, const IntLike& value,
               const std::string& condition) {
                const auto made = make_operation<WaitValue>(array, value, parse_condition(condition));
                enqueue_operations(self, {ready(made, *self.device)});
            },
            py::arg("array"), py::arg("value"), py::arg("condition") = "geq",
            R"(Let the stream wait until memory holds a number, which a stream, a kernel or the host writes.

The calling thread does not wait. If the number is never written, the stream waits for ever, and so does every wait for
the stream; Ctrl-C ends a wait of the host. CUDA does not know of this order. If the writer is a stream of the same
device, use an event instead, which cannot deadlock.

Parameters
----------
array : DeviceArray or numpy.ndarray
    The same as for write_value().
value : int
    A value of the array's dtype.
condition : str
    'geq': wait until array - value, as a signed number, is at least 0 (so counters may wrap around); 'eq': until both
    are equal; 'and': until array & value is not 0; 'nor': until ~(array | value) is not 0.

Raises ValueError for other arrays, numbers and conditions. See cuStreamWaitValue32 and cuStreamWaitValue64: CUDA Driver
API, "Stream Memory Operations".

>>> import numpy as np, cuscope as cs
>>> flag = cs.pinned_empty(1, np.uint32)
>>> flag[0] = 0
>>> first, second = cs.Stream(), cs.Stream()
>>> first.wait_value(flag, 1)
>>> first.query()
False
>>> second.write_value(flag, 1)
>>> first.synchronize()
)")
        .def(
            "batch_mem_op",
            [](const StreamObject& self, const OperationsLike& operations) {
                const core::MemoryOperations made = parse_operations(operations, *self.device);
                enqueue_operations(self, made);
            },
            py::arg("operations"),
            R"(Enqueue fewer than 256 memory operations, done in order. Cheaper than one by one.

Parameters
----------
operations : list of WriteValue, WaitValue and MemoryBarrier
    The operations.

Raises ValueError for operations of another device, and for too many operations. See cuStreamBatchMemOp: CUDA
Driver API, "Stream Memory Operations".

>>> import numpy as np, cuscope as cs
>>> flags = cs.pinned_empty(2, np.uint32)
>>> flags[:] = 0
>>> stream = cs.Stream()
>>> stream.batch_mem_op([cs.WriteValue(flags[0:1], 1), cs.WaitValue(flags[0:1], 1), cs.WriteValue(flags[1:2], 2)])
>>> stream.synchronize()
>>> flags.tolist()
[1, 2]
)");
}

void bind_batch_nodes(GraphType& graphs, GraphExecType& execs) {
    graphs.def(
        "add_batch_mem_op",
        [](const GraphObject& self, const OperationsLike& operations, const AfterLike& after) {
            const std::shared_ptr<core::Graph> graph = self.open();
            const core::GraphNodes before = parse_after(after);
            const core::MemoryOperations made = parse_operations(operations, graph->device());
            return without_gil([&] { return core::add_batch(*graph, made, before); });
        },
        py::arg("operations"), py::kw_only(), py::arg("after") = py::none(),
        R"(Add a node of memory operations, done in order: writes of a number, waits for a number, barriers.

Raises the errors of Stream.batch_mem_op(). See cuGraphAddBatchMemOpNode.

>>> import numpy as np, cuscope as cs
>>> flag = cs.pinned_empty(1, np.uint32)
>>> g = cs.Graph()
>>> node = g.add_batch_mem_op([cs.WriteValue(flag, 7)])
>>> g.instantiate().launch()
>>> cs.synchronize()
>>> node.type, flag.tolist()
('batch_mem_op', [7])
)");
    execs.def(
        "set_batch_mem_op",
        [](const GraphExecObject& self, const core::GraphNode& node, const OperationsLike& operations) {
            const std::shared_ptr<core::GraphExec> exec = self.open();
            const core::MemoryOperations made = parse_operations(operations, exec->device());
            without_gil([&] { core::set_batch(*exec, node, made); });
        },
        py::arg("node"), py::arg("operations"),
        R"(Change the arrays, numbers and conditions in a node of memory operations. Their types and count must stay.

See cuGraphExecBatchMemOpNodeSetParams.

>>> import numpy as np, cuscope as cs
>>> flag = cs.pinned_empty(1, np.uint32)
>>> g = cs.Graph()
>>> node = g.add_batch_mem_op([cs.WriteValue(flag, 1)])
>>> exe = g.instantiate()
>>> exe.set_batch_mem_op(node, [cs.WriteValue(flag, 2)])
>>> exe.launch()
>>> cs.synchronize()
>>> flag.tolist()
[2]
)");
}

}  // namespace cuscope::bindings
