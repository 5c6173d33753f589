// The contract's graphs and captures, for tests: see contract.cpp.
#include <pybind11/stl.h>

#include <memory>
#include <vector>

#include "bindings/testing/contract.hpp"
#include "runtime/overloads.hpp"

namespace cuscope::bindings {
namespace {

using std::size_t;
using Addresses = std::vector<Address>;
using EdgeDatas = std::vector<std::tuple<int, int, int>>;  // from_port, to_port, type

std::vector<GraphNodeHandle> nodes_of(const Addresses& addresses) {
    std::vector<GraphNodeHandle> nodes;
    for (const Address address : addresses) nodes.push_back(as_pointer<GraphNodeHandle>(address));
    return nodes;
}

Addresses addresses_of(const std::vector<GraphNodeHandle>& nodes) {
    Addresses addresses;
    for (GraphNodeHandle node : nodes) addresses.push_back(reinterpret_cast<Address>(node));
    return addresses;
}

std::vector<GraphEdgeData> data_of(const EdgeDatas& given) {
    std::vector<GraphEdgeData> data;
    for (const auto& [from_port, to_port, type] : given) {
        data.push_back({static_cast<unsigned char>(from_port), static_cast<unsigned char>(to_port),
                        static_cast<DependencyType>(type)});
    }
    return data;
}

EdgeDatas given_of(const std::vector<GraphEdgeData>& data) {
    EdgeDatas given;
    for (const GraphEdgeData& one : data)
        given.emplace_back(one.from_port, one.to_port, static_cast<int>(one.type));
    return given;
}

using Operations = std::vector<std::tuple<int, Address, std::uint64_t, unsigned>>;  // as MemoryOperation

std::vector<MemoryOperation> operations_of(const Operations& given) {
    std::vector<MemoryOperation> operations;
    for (const auto& [type, address, value, flags] : given)
        operations.push_back(
            {static_cast<MemoryOperationType>(type), as_pointer<void*>(address), value, flags});
    return operations;
}

template <class T>
const T* or_null(const std::vector<T>& values) {
    return values.empty() ? nullptr : values.data();
}

// Arrays of no semaphores are null, whatever the count says.
template <auto Method>
py::str semaphores_call(const Contract& c, const Addresses& given, unsigned count, Address stream) {
    std::vector<ExternalSemaphoreHandle> semaphores;
    for (const Address address : given) semaphores.push_back(as_pointer<ExternalSemaphoreHandle>(address));
    const std::vector<ExternalSemaphoreParameters> parameters(given.size());
    return answer(c.call([&](Runtime& r) {
        return (r.*Method)(or_null(semaphores), or_null(parameters), count, as_pointer<StreamHandle>(stream));
    }));
}

template <auto Method>
py::object change_dependencies(const Contract& c, Address graph, const Addresses& from, const Addresses& to,
                               const EdgeDatas& edge_data) {
    const auto first = nodes_of(from), second = nodes_of(to);
    const auto data = data_of(edge_data);
    return answer(c.call([&](Runtime& r) {
        return (r.*Method)(as_pointer<GraphHandle>(graph), or_null(first), or_null(second), or_null(data),
                           first.size());
    }));
}

// {"type": 0, "kernel": handle, "grid": 1, "block": 1, "arguments": [bytes], ...}, by the node's type.
struct Parameters {
    explicit Parameters(const py::dict& given) {
        const py::dict values = given;
        const auto get = [&](const char* key, auto otherwise) {
            return values.contains(key) ? values[key].cast<decltype(otherwise)>() : otherwise;
        };
        const auto address = [&](const char* key) { return as_pointer<void*>(get(key, Address{0})); };
        const size_t bytes = get("bytes", size_t{0});
        made = parameters_of_type(static_cast<GraphNodeType>(get("type", 5)));
        std::visit(
            overloads{
                [&](KernelNodeParameters& p) {
                    p.kernel = static_cast<KernelHandle>(address("kernel"));
                    p.grid.x = get("grid", 1U);
                    p.block.x = get("block", 1U);
                    p.dynamic_shared_bytes = get("dynamic_shared", size_t{0});
                    arguments = get("arguments", std::vector<std::string>{});
                    for (std::string& argument : arguments) pointers.push_back(argument.data());
                    p.arguments = pointers.empty() ? nullptr : pointers.data();
                },
                [&](MemcpyNodeParameters& p) {
                    p.destination = {address("destination"), bytes, bytes, 1};
                    p.source = {address("source"), bytes, bytes, 1};
                    p.extent = {bytes, 1, 1};
                    p.kind = static_cast<MemcpyKind>(get("kind", 4));
                },
                [&](HostNodeParameters& p) {
                    if (!values.contains("function")) return;
                    // The reference is never dropped: the process of a test ends soon.
                    const py::object function = values["function"];
                    if (!function.is_none()) p = {call, py::object(function).release().ptr()};
                },
                [&](ChildGraphNodeParameters& p) { p.graph = static_cast<GraphHandle>(address("graph")); },
                [&](EmptyNodeParameters&) {},
                [&](SemaphoreSignalNodeParameters&) {},
                [&](SemaphoreWaitNodeParameters&) {},
                [&](AllocNodeParameters& p) { p.bytes = bytes; },
                [&](BatchMemOpNodeParameters& p) {
                    operations = operations_of(get("operations", Operations{}));
                    p = {or_null(operations), static_cast<unsigned>(operations.size()), get("flags", 0U)};
                },
                [&](ConditionalNodeParameters& p) {
                    p.handle = get("handle", ConditionalHandle{0});
                    p.type = static_cast<ConditionalType>(get("condition", 0));
                    p.size = get("size", 1U);
                },
                [&](UnknownNodeParameters&) {},
                [&](auto& p) {
                    p.each_member([&]<class Value>(const char* name, Value& value) {
                        if constexpr (std::is_pointer_v<Value>) {
                            value = as_pointer<Value>(get(name, Address{0}));
                        } else {
                            value = get(name, value);
                        }
                    });
                },
            },
            made);
    }

    static void call(void* data) {
        const core::HostFunctionScope scope;
        const PythonEntry entry;
        if (!entry) return;
        PyObject* const result = PyObject_CallNoArgs(static_cast<PyObject*>(data));
        if (result == nullptr) {
            PyErr_WriteUnraisable(static_cast<PyObject*>(data));
        } else {
            Py_DECREF(result);
        }
    }

    GraphNodeParameters made;
    std::vector<std::string> arguments;
    std::vector<void*> pointers;
    std::vector<MemoryOperation> operations;
};

// Queries that answer arrays. Without `room` they answer the count alone.
template <class Ask>
Answer ask_nodes(const Contract& c, const std::optional<size_t>& room, bool with_data, Ask ask) {
    size_t count = room.value_or(0);
    std::vector<GraphNodeHandle> nodes(count + 1);
    std::vector<GraphEdgeData> data(count + 1);
    const Status status = c.call([&](Runtime& r) {
        return ask(r, room ? nodes.data() : nullptr, room && with_data ? data.data() : nullptr, &count);
    });
    nodes.resize(room ? std::min(count, nodes.size() - 1) : 0);
    data.resize(nodes.size());
    return answer(status, count, addresses_of(nodes), given_of(data));
}

}  // namespace

void add_graph_methods(ContractMethods& methods) {
    methods.add(
        "stream_add_callback", "stream, flags=0", +[](const Contract& c, Address stream, unsigned flags) {
            return answer(c.call([&](Runtime& r) {
                return r.stream_add_callback(
                    as_pointer<StreamHandle>(stream), [](StreamHandle, int, void*) {}, nullptr, flags);
            }));
        });
    methods.add(
        "stream_batch_mem_op", "stream, operations, flags=0",
        +[](const Contract& c, Address stream, const Operations& given, unsigned flags) {
            const std::vector<MemoryOperation> operations = operations_of(given);
            return answer(c.call([&](Runtime& r) {
                return r.stream_batch_mem_op(as_pointer<StreamHandle>(stream),
                                             static_cast<unsigned>(operations.size()), or_null(operations),
                                             flags);
            }));
        });
    methods.add(
        "import_external_semaphore", "type, fd, flags=0",
        +[](const Contract& c, int type, int fd, unsigned flags) {
            const ExternalSemaphoreDescription description{static_cast<ExternalSemaphoreType>(type), fd,
                                                           flags};
            ExternalSemaphoreHandle semaphore = nullptr;
            const Status status =
                c.call([&](Runtime& r) { return r.import_external_semaphore(&semaphore, &description); });
            return answer(status, semaphore);
        });
    methods.add("signal_external_semaphores_async", "semaphores, count, stream",
                semaphores_call<&Runtime::signal_external_semaphores_async>);
    methods.add("wait_external_semaphores_async", "semaphores, count, stream",
                semaphores_call<&Runtime::wait_external_semaphores_async>);
    methods.add(
        "stream_begin_capture_to_graph", "stream, graph, after=(), mode=0",
        +[](const Contract& c, Address stream, Address graph, const Addresses& after, int mode) {
            const auto nodes = nodes_of(after);
            return answer(c.call([&](Runtime& r) {
                return r.stream_begin_capture_to_graph(as_pointer<StreamHandle>(stream),
                                                       as_pointer<GraphHandle>(graph), or_null(nodes),
                                                       nullptr, nodes.size(), static_cast<CaptureMode>(mode));
            }));
        });
    methods.add(
        "stream_is_capturing", "stream", +[](const Contract& c, Address stream) {
            CaptureStatus capture = CaptureStatus::none;
            const Status status = c.call([&](Runtime& r) {
                return r.stream_is_capturing(as_pointer<StreamHandle>(stream), &capture);
            });
            return answer(status, static_cast<int>(capture));
        });
    methods.add(
        "stream_get_capture_info", "stream", +[](const Contract& c, Address stream) {
            CaptureStatus capture = CaptureStatus::none;
            unsigned long long id = 0;
            GraphHandle graph = nullptr;
            const GraphNodeHandle* nodes = nullptr;
            const GraphEdgeData* data = nullptr;
            size_t count = 0;
            std::vector<GraphNodeHandle> found;
            const Status status = c.call([&](Runtime& r) {
                return r.stream_get_capture_info(as_pointer<StreamHandle>(stream), &capture, &id, &graph,
                                                 &nodes, &data, &count);
            });
            if (nodes != nullptr) found.assign(nodes, nodes + count);
            return answer(status, static_cast<int>(capture), id, graph, addresses_of(found));
        });
    methods.add(
        "stream_update_capture_dependencies", "stream, dependencies, flags=0",
        +[](const Contract& c, Address stream, const Addresses& dependencies, unsigned flags) {
            const auto nodes = nodes_of(dependencies);
            return answer(c.call([&](Runtime& r) {
                return r.stream_update_capture_dependencies(as_pointer<StreamHandle>(stream), or_null(nodes),
                                                            nullptr, nodes.size(), flags);
            }));
        });
    methods.add(
        "thread_exchange_stream_capture_mode", "mode", +[](const Contract& c, int mode) {
            auto exchanged = static_cast<CaptureMode>(mode);
            const Status status =
                c.call([&](Runtime& r) { return r.thread_exchange_stream_capture_mode(&exchanged); });
            return answer(status, static_cast<int>(exchanged));
        });
    methods.add(
        "graph_add_node", "graph, parameters, after=(), edge_data=()",
        +[](const Contract& c, Address graph, const py::dict& given, const Addresses& after,
            const EdgeDatas& edge_data) {
            Parameters parameters(given);
            const auto nodes = nodes_of(after);
            const auto data = data_of(edge_data);
            GraphNodeHandle node = nullptr;
            const Status status = c.call([&](Runtime& r) {
                return r.graph_add_node(&node, as_pointer<GraphHandle>(graph), or_null(nodes), or_null(data),
                                        nodes.size(), &parameters.made);
            });
            Addresses bodies;
            if (const auto* const conditional = std::get_if<ConditionalNodeParameters>(&parameters.made);
                conditional != nullptr && status == Status::success) {
                for (unsigned i = 0; i < conditional->size; ++i)
                    bodies.push_back(reinterpret_cast<Address>(conditional->bodies[i]));
            }
            const auto* const alloc = std::get_if<AllocNodeParameters>(&parameters.made);
            return answer(status, node, bodies,
                          reinterpret_cast<Address>(alloc == nullptr ? nullptr : alloc->pointer));
        });
    methods.add("graph_add_dependencies", "graph, from_nodes, to_nodes, edge_data=()",
                change_dependencies<&Runtime::graph_add_dependencies>);
    methods.add("graph_remove_dependencies", "graph, from_nodes, to_nodes, edge_data=()",
                change_dependencies<&Runtime::graph_remove_dependencies>);
    methods.add(
        "graph_get_nodes", "graph, room=None",
        +[](const Contract& c, Address graph, const std::optional<size_t>& room) {
            return ask_nodes(c, room, false,
                             [&](Runtime& r, GraphNodeHandle* nodes, GraphEdgeData*, size_t* count) {
                                 return r.graph_get_nodes(as_pointer<GraphHandle>(graph), nodes, count);
                             });
        });
    methods.add(
        "graph_get_root_nodes", "graph, room=None",
        +[](const Contract& c, Address graph, const std::optional<size_t>& room) {
            return ask_nodes(c, room, false,
                             [&](Runtime& r, GraphNodeHandle* nodes, GraphEdgeData*, size_t* count) {
                                 return r.graph_get_root_nodes(as_pointer<GraphHandle>(graph), nodes, count);
                             });
        });
    methods.add(
        "graph_get_edges", "graph, room=None, with_data=True",
        +[](const Contract& c, Address graph, const std::optional<size_t>& room, bool with_data) {
            size_t count = room.value_or(0);
            std::vector<GraphNodeHandle> from(count + 1), to(count + 1);
            std::vector<GraphEdgeData> data(count + 1);
            const Status status = c.call([&](Runtime& r) {
                return r.graph_get_edges(as_pointer<GraphHandle>(graph), room ? from.data() : nullptr,
                                         room ? to.data() : nullptr,
                                         room && with_data ? data.data() : nullptr, &count);
            });
            const size_t found = room ? std::min(count, *room) : 0;
            from.resize(found);
            to.resize(found);
            data.resize(found);
            return answer(status, count, addresses_of(from), addresses_of(to), given_of(data));
        });
    methods.add(
        "graph_node_get_type", "node", +[](const Contract& c, Address node) {
            auto type = GraphNodeType::empty;
            const Status status = c.call(
                [&](Runtime& r) { return r.graph_node_get_type(as_pointer<GraphNodeHandle>(node), &type); });
            return answer(status, static_cast<int>(type));
        });
    methods.add(
        "graph_node_get_dependencies", "node, room=None, with_data=True",
        +[](const Contract& c, Address node, const std::optional<size_t>& room, bool with_data) {
            return ask_nodes(c, room, with_data,
                             [&](Runtime& r, GraphNodeHandle* nodes, GraphEdgeData* data, size_t* count) {
                                 return r.graph_node_get_dependencies(as_pointer<GraphNodeHandle>(node),
                                                                      nodes, data, count);
                             });
        });
    methods.add(
        "graph_node_get_dependent_nodes", "node, room=None, with_data=True",
        +[](const Contract& c, Address node, const std::optional<size_t>& room, bool with_data) {
            return ask_nodes(c, room, with_data,
                             [&](Runtime& r, GraphNodeHandle* nodes, GraphEdgeData* data, size_t* count) {
                                 return r.graph_node_get_dependent_nodes(as_pointer<GraphNodeHandle>(node),
                                                                         nodes, data, count);
                             });
        });
    methods.add(
        "graph_node_set_params", "node, parameters",
        +[](const Contract& c, Address node, const py::dict& given) {
            Parameters parameters(given);
            return answer(c.call([&](Runtime& r) {
                return r.graph_node_set_params(as_pointer<GraphNodeHandle>(node), &parameters.made);
            }));
        });
    methods.add(
        "graph_instantiate", "graph, flags=0, upload_stream=0",
        +[](const Contract& c, Address graph, unsigned long long flags, Address upload_stream) {
            GraphExecHandle exec = nullptr;
            GraphInstantiateParameters parameters{flags, as_pointer<StreamHandle>(upload_stream)};
            const Status status = c.call([&](Runtime& r) {
                return r.graph_instantiate(&exec, as_pointer<GraphHandle>(graph), &parameters);
            });
            return answer(status, exec, static_cast<int>(parameters.result), parameters.error_node);
        });
    methods.add(
        "graph_exec_update", "exec, graph", +[](const Contract& c, Address exec, Address graph) {
            GraphExecUpdateInfo info;
            const Status status = c.call([&](Runtime& r) {
                return r.graph_exec_update(as_pointer<GraphExecHandle>(exec), as_pointer<GraphHandle>(graph),
                                           &info);
            });
            return answer(status, static_cast<int>(info.result), info.error_node, info.error_from_node);
        });
    methods.add(
        "graph_exec_node_set_params", "exec, node, parameters",
        +[](const Contract& c, Address exec, Address node, const py::dict& given) {
            Parameters parameters(given);
            return answer(c.call([&](Runtime& r) {
                return r.graph_exec_node_set_params(as_pointer<GraphExecHandle>(exec),
                                                    as_pointer<GraphNodeHandle>(node), &parameters.made);
            }));
        });
}

}  // namespace cuscope::bindings
