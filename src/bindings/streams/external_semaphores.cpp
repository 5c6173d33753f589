// Semaphores of other interfaces, in streams and in graphs.
#include <pybind11/stl.h>

#include "bindings/graphs/graphs.hpp"
#include "core/stream/external_semaphore.hpp"

namespace cuscope::bindings {
namespace {

struct SemaphoreObject {
    Held<core::ExternalSemaphore> open() const {
        Held<core::ExternalSemaphore> held = semaphore.get();
        if (!held) throw std::invalid_argument("ExternalSemaphore is closed");
        return held;
    }
    bool timeline() const { return type == ExternalSemaphoreType::timeline_semaphore_fd; }
    const char* type_name() const { return timeline() ? "timeline_semaphore_fd" : "opaque_fd"; }

    core::DevicePtr device;
    ExternalSemaphoreType type;
    Closable<core::ExternalSemaphore> semaphore;
};

std::shared_ptr<SemaphoreObject> import_semaphore(const IntLike& fd, const std::string& type,
                                                  const DeviceLike& device) {
    const py::object index = as_integer(fd, "fd", "a file descriptor, an int");
    int overflow = 0;
    const long number = PyLong_AsLongAndOverflow(index.ptr(), &overflow);
    if (overflow != 0 || number != static_cast<int>(number)) {
        throw std::invalid_argument("fd: " + py::str(index).cast<std::string>() + " is no file descriptor");
    }
    const bool timeline = type == "timeline_semaphore_fd";
    if (!timeline && type != "opaque_fd") {
        throw std::invalid_argument("type: '" + type +
                                    "'; allowed are 'opaque_fd' and 'timeline_semaphore_fd'");
    }
    const core::DevicePtr on = device_or_current(device);
    const auto as =
        timeline ? ExternalSemaphoreType::timeline_semaphore_fd : ExternalSemaphoreType::opaque_fd;
    auto made =
        without_gil([&] { return core::ExternalSemaphore::import(on, as, static_cast<int>(number)); });
    return ending_without_gil(std::shared_ptr<SemaphoreObject>(
        new SemaphoreObject{on, as, Closable<core::ExternalSemaphore>(std::move(made))}));
}

core::SemaphoreValue semaphore_value(py::handle semaphore, py::handle value) {
    if (!py::isinstance<SemaphoreObject>(semaphore)) {
        throw core::WrongKind(
            std::string("semaphores: takes ExternalSemaphores and pairs of one and its value, not ") +
            Py_TYPE(semaphore.ptr())->tp_name);
    }
    const auto& object = semaphore.cast<const SemaphoreObject&>();
    core::SemaphoreValue made{object.open(), 0};
    if (object.timeline() == value.is_none()) {
        throw std::invalid_argument(
            object.timeline() ? "semaphores: a timeline semaphore needs its value: (semaphore, value)"
                              : "semaphores: a binary semaphore has no value");
    }
    if (object.timeline()) made.value = parse_size(value, "value");
    return made;
}

core::SemaphoreValues parse_semaphores(const SemaphoresLike& given) {
    core::SemaphoreValues made;
    const auto take = [&](py::handle one) {
        if (!py::isinstance<py::tuple>(one)) {
            made.push_back(semaphore_value(one, py::none()));
            return;
        }
        const auto pair = py::reinterpret_borrow<py::tuple>(one);
        if (pair.size() != 2) {
            throw std::invalid_argument("semaphores: a pair is (semaphore, value), and this has " +
                                        std::to_string(pair.size()) + " items");
        }
        made.push_back(semaphore_value(pair[0], pair[1]));
    };
    const bool one_pair = py::isinstance<py::tuple>(given) && py::len(given) == 2 &&
                          is_integer(py::reinterpret_borrow<py::tuple>(given)[1]);
    if (one_pair || !py::isinstance<py::iterable>(given)) {
        take(given);
        return made;
    }
    for (const py::handle one : py::reinterpret_borrow<py::iterable>(given)) take(one);
    return made;
}

void enqueue_semaphores(const StreamObject& self, core::SemaphoreUse use, const SemaphoresLike& given) {
    const core::StreamPtr stream = self.open();
    const core::SemaphoreValues semaphores = parse_semaphores(given);
    without_gil([&] { core::enqueue(stream, use, semaphores); });
}

core::GraphNodePtr add_semaphores(const GraphObject& self, core::SemaphoreUse use,
                                  const SemaphoresLike& given, const AfterLike& after) {
    const std::shared_ptr<core::Graph> graph = self.open();
    const core::GraphNodes before = parse_after(after);
    const core::SemaphoreValues semaphores = parse_semaphores(given);
    return without_gil([&] { return core::add_semaphores(*graph, use, semaphores, before); });
}

}  // namespace

py::list semaphores_of(const ExternalSemaphoreNodeParameters& semaphores) {
    py::list list;
    for (unsigned i = 0; i < semaphores.count; ++i) {
        py::dict values;
        values["semaphore"] = reinterpret_cast<std::uintptr_t>(semaphores.semaphores[i]);
        values["value"] = semaphores.parameters[i].value;
        list.append(values);
    }
    return list;
}

void bind_external_semaphores(py::module_& m, Classes& classes) {
    py::class_<SemaphoreObject, py::smart_holder>(
        m, "ExternalSemaphore",
        R"(A semaphore of another interface, such as Vulkan, which streams signal and wait for.

Parameters
----------
fd : int
    The file descriptor that the other interface exported. Unless the import raises, it belongs to CUDA from then on, and
    is closed with the semaphore.
type : str
    'opaque_fd': a binary semaphore; a wait consumes the signal. 'timeline_semaphore_fd': a counter, which a signal sets
    and a wait compares.
device : Device, optional
    Default: the current device.

On a simulated device the other side can be any process: an 'opaque_fd' is an eventfd (a signal adds 1, a wait takes the
whole count), a 'timeline_semaphore_fd' is a file in memory with the counter in its first 8 bytes.

Raises CudaError (cudaErrorUnknown) for a file descriptor of another kind. See cudaImportExternalSemaphore: CUDA C++
Programming Guide, "External Resource Interoperability".

Examples
--------
>>> import os, cuscope as cs
>>> with cs.Device("host:0"):
...     ours = os.eventfd(0)
...     semaphore, stream = cs.ExternalSemaphore(os.dup(ours)), cs.Stream()
...     stream.signal_external(semaphore)
...     stream.synchronize()
>>> os.eventfd_read(ours)
1
>>> os.close(ours)
)")
        .def(py::init(&import_semaphore), py::arg("fd"), py::arg("type") = "opaque_fd", py::kw_only(),
             py::arg("device") = py::none())
        .def_property_readonly("type", &SemaphoreObject::type_name, "'opaque_fd' or 'timeline_semaphore_fd'.")
        .def_readonly("device", &SemaphoreObject::device, "The device that the semaphore was imported for.")
        .def_property_readonly(
            "handle",
            [](const SemaphoreObject& self) {
                Held<core::ExternalSemaphore> held = self.semaphore.get();
                return held ? reinterpret_cast<std::uintptr_t>(held->handle()) : 0;
            },
            "The cudaExternalSemaphore_t as an int; 0 once it is closed.")
        .def_property_readonly(
            "closed", [](const SemaphoreObject& self) { return !self.semaphore; },
            "Was the semaphore closed?")
        .def(
            "close", [](SemaphoreObject& self) { self.semaphore.close(); },
            R"(Give up the semaphore; enqueued work and graphs keep it. Closing twice is no error. See cudaDestroyExternalSemaphore.

>>> import os, cuscope as cs
>>> with cs.Device("host:0"):
...     semaphore = cs.ExternalSemaphore(os.eventfd(0))
>>> semaphore.close()
>>> semaphore.closed
True
)")
        .def("__repr__", [](const SemaphoreObject& self) {
            return std::string("<ExternalSemaphore ") + self.type_name() + " of " + self.device->name() +
                   (self.semaphore ? ">" : ", closed>");
        });

    classes.stream
        .def(
            "signal_external",
            [](const StreamObject& self, const SemaphoresLike& semaphores) {
                enqueue_semaphores(self, core::SemaphoreUse::signal, semaphores);
            },
            py::arg("semaphores"),
            R"(Signal semaphores of another interface, in stream order.

Parameters
----------
semaphores : ExternalSemaphore, (ExternalSemaphore, int), or a list of these
    A timeline semaphore needs the value that it is set to.

Raises ValueError for a missing or superfluous value. See cudaSignalExternalSemaphoresAsync: CUDA C++ Programming Guide,
"External Resource Interoperability".

>>> import os, cuscope as cs
>>> with cs.Device("host:0"):
...     counter = os.memfd_create("counter")
...     os.truncate(counter, 8)
...     timeline, stream = cs.ExternalSemaphore(os.dup(counter), "timeline_semaphore_fd"), cs.Stream()
...     stream.signal_external((timeline, 7))
...     stream.synchronize()
>>> int.from_bytes(os.pread(counter, 8, 0), "little")
7
>>> os.close(counter)
)")
        .def(
            "wait_external",
            [](const StreamObject& self, const SemaphoresLike& semaphores) {
                enqueue_semaphores(self, core::SemaphoreUse::wait, semaphores);
            },
            py::arg("semaphores"),
            R"(Let the stream wait for semaphores of another interface: for a signal, or for the value of a timeline.

The calling thread does not wait. If a semaphore is never signalled, the stream waits for ever. Takes the arguments of
signal_external(). See cudaWaitExternalSemaphoresAsync: CUDA C++ Programming Guide, "External Resource Interoperability".

>>> import os, cuscope as cs
>>> with cs.Device("host:0"):
...     ours = os.eventfd(0)
...     semaphore, stream = cs.ExternalSemaphore(os.dup(ours)), cs.Stream()
...     stream.wait_external(semaphore)
...     os.eventfd_write(ours, 1)
...     stream.synchronize()
>>> os.close(ours)
)");
}

void bind_semaphore_nodes(GraphType& graphs, GraphExecType& execs) {
    graphs
        .def(
            "add_external_semaphore_signal",
            [](const GraphObject& self, const SemaphoresLike& semaphores, const AfterLike& after) {
                return add_semaphores(self, core::SemaphoreUse::signal, semaphores, after);
            },
            py::arg("semaphores"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that signals semaphores, as Stream.signal_external() does.

See cudaGraphAddExternalSemaphoresSignalNode.

>>> import os, cuscope as cs
>>> with cs.Device("host:0"):
...     cs.Graph().add_external_semaphore_signal(cs.ExternalSemaphore(os.eventfd(0))).type
'external_semaphore_signal'
)")
        .def(
            "add_external_semaphore_wait",
            [](const GraphObject& self, const SemaphoresLike& semaphores, const AfterLike& after) {
                return add_semaphores(self, core::SemaphoreUse::wait, semaphores, after);
            },
            py::arg("semaphores"), py::kw_only(), py::arg("after") = py::none(),
            R"(Add a node that waits for semaphores, as Stream.wait_external() does.

See cudaGraphAddExternalSemaphoresWaitNode.

>>> import os, cuscope as cs
>>> with cs.Device("host:0"):
...     cs.Graph().add_external_semaphore_wait(cs.ExternalSemaphore(os.eventfd(0))).type
'external_semaphore_wait'
)");
    execs.def(
        "set_external_semaphores",
        [](const GraphExecObject& self, const core::GraphNode& node, const SemaphoresLike& given) {
            const std::shared_ptr<core::GraphExec> exec = self.open();
            const core::SemaphoreValues semaphores = parse_semaphores(given);
            without_gil([&] { core::set_semaphores(*exec, node, semaphores); });
        },
        py::arg("node"), py::arg("semaphores"),
        R"(Change the semaphores and values of a node of the executable. The number of semaphores must stay.

See cudaGraphExecExternalSemaphoresSignalNodeSetParams and cudaGraphExecExternalSemaphoresWaitNodeSetParams.

>>> import os, cuscope as cs
>>> with cs.Device("host:0"):
...     g = cs.Graph()
...     node = g.add_external_semaphore_signal(cs.ExternalSemaphore(os.eventfd(0)))
...     g.instantiate().set_external_semaphores(node, cs.ExternalSemaphore(os.eventfd(0)))
)");
}

}  // namespace cuscope::bindings
