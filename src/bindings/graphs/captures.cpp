// Capture of streams.
#include <pybind11/stl.h>

#include "bindings/graphs/graphs.hpp"
#include "bindings/kernels/launch_attributes.hpp"

namespace cuscope::bindings {
namespace {

constexpr Words<3> modes{"global", "thread_local", "relaxed"};
constexpr Words<3> statuses{"none", "active", "invalidated"};

CaptureMode parse_mode(const Text& mode) { return static_cast<CaptureMode>(parse_word(mode, "mode", modes)); }

// The graph that a capture adds to; null: a new one.
GraphObjectPtr parse_into(const py::object& graph) {
    if (graph.is_none()) return nullptr;
    if (!py::isinstance<GraphObject>(graph))
        throw core::WrongKind("graph: takes a Graph or None, not " + kind_of(graph));
    return graph.cast<GraphObjectPtr>();
}

// The object of `with stream.capture()`.
struct CaptureScope {
    core::StreamPtr stream;
    StreamObjectPtr object;  // kept, because the capture would end with it
    CaptureMode mode;
    GraphObjectPtr into;  // null: a new graph
    core::GraphNodes after;
    GraphObjectPtr result;
    std::atomic<bool> entered = false;

    // Runs before `object` is destroyed, which would end a held capture.
    ~CaptureScope() { let_go(); }
    // Another owner, or nobody, may end the capture from here on.
    void let_go() const {
        if (!entered) return;
        if (const auto capture = stream->capture()) capture->set_held(false);
    }
};

GraphObjectPtr enter(CaptureScope& self) {
    if (self.entered) throw std::invalid_argument("the capture was begun already: capture() makes another");
    const std::shared_ptr<core::Graph> into = self.into ? self.into->open() : nullptr;
    // Held from its beginning, so that no other thread can close the stream before the block runs.
    without_gil([&] { core::Capture::begin(self.stream, self.mode, into, self.after, true); });
    self.entered = true;
    self.result =
        self.into
            ? self.into
            : ending_without_gil(std::make_shared<GraphObject>(self.stream->device().shared_from_this()));
    try {
        without_gil([&] { core::push_stream(self.stream); });
    } catch (...) {
        self.let_go();
        without_gil([&] { core::Capture::end(self.stream, true); });
        throw;
    }
    return self.result;
}

// Ends the capture in any case. An exception of the body continues.
void leave(CaptureScope& self, const Scalar& type) {
    if (!self.entered) throw std::invalid_argument("the capture was not begun");
    without_gil([&] { core::pop_stream(self.stream->serial()); });
    const bool quietly = !type.is_none();
    self.let_go();
    std::shared_ptr<core::Graph> made;
    try {
        made = without_gil([&] { return core::Capture::end(self.stream, quietly); });
    } catch (...) {
        if (!self.into) self.result->state = GraphObject::State::failed;
        throw;
    }
    if (self.into) return;
    if (!made || quietly) {
        self.result->state = GraphObject::State::failed;
        without_gil([&] { made.reset(); });
        return;
    }
    self.result->graph.fill(made);
    self.result->state = GraphObject::State::made;
}

}  // namespace

void bind_captures(py::module_& m, Classes& classes) {
    py::class_<CaptureScope, py::smart_holder>(m, "Capture",
                                               R"(The context manager of ``with stream.capture() as graph:``.

See Stream.capture().

Examples
--------
>>> import cuscope as cs
>>> stream, x = cs.Stream(), cs.zeros(4)
>>> with stream.capture() as graph:
...     x.fill(1)
>>> len(graph.nodes)
1
)")
        .def("__enter__", enter)
        .def("__exit__",
             [](CaptureScope& self, const Scalar& type, const Scalar&, const Scalar&) { leave(self, type); })
        .def("__repr__", [](const CaptureScope& self) {
            return "<Capture of " + py::repr(py::cast(self.object)).cast<std::string>() +
                   (self.entered ? ", begun>" : ", not begun>");
        });
    m.def(
        "exchange_capture_mode",
        [](const Text& mode) {
            CaptureMode exchanged = parse_mode(mode);
            const core::DevicePtr device = current_device();
            without_gil([&] {
                device->check(device->runtime().thread_exchange_stream_capture_mode(&exchanged),
                              "cudaThreadExchangeStreamCaptureMode");
            });
            return modes[static_cast<std::size_t>(exchanged)];
        },
        py::arg("mode"),
        R"(Set which captures refuse unsafe calls of this thread; returns the mode before.

'global', the mode in which threads begin: captures of this thread, and of other threads that began them as 'global';
'thread_local': only captures of this thread; 'relaxed': none. A capture that was begun as 'relaxed' never refuses
calls. Allocations, for example, are unsafe. See cudaThreadExchangeStreamCaptureMode.

>>> import cuscope as cs
>>> cs.exchange_capture_mode("relaxed")
'global'
>>> cs.exchange_capture_mode("global")
'relaxed'
)");
    classes.stream
        .def(
            "capture",
            [](const StreamObject& self, const Text& mode, const py::object& graph, const AfterLike& after) {
                const GraphObjectPtr into = parse_into(graph);
                const core::StreamPtr stream = self.open();
                return ending_without_gil(std::shared_ptr<CaptureScope>(new CaptureScope{
                    stream, wrap(stream), parse_mode(mode), into, parse_after(after), nullptr}));
            },
            py::arg("mode") = "global", py::kw_only(), py::arg("graph") = py::none(),
            py::arg("after") = py::none(),
            R"(Turn the commands given to the stream into a graph: ``with stream.capture() as graph:``.

Inside the block the stream is the current one, and no command given to it runs: kernels, copies, fills and host
functions become nodes, each after the one before. Another stream joins the capture when it waits for a captured stream;
let a captured stream wait for it in turn before the block ends. Memory that you allocate inside exists at once and is
kept by the graph. You can use the graph after the block. If the block raises, the capture ends, and all streams are as
before.

Parameters
----------
mode : str
    'global': while the capture lasts, no thread may make calls that are unsafe during a capture; 'thread_local': only
    this thread may not; 'relaxed': all threads may.
graph : Graph, optional
    Add to this graph instead of making one.
after : GraphNode or list of GraphNode, optional
    With ``graph``: the nodes that the first captured node waits for.

Raises CaptureError for commands that cannot be captured: at the call, and at the end if a call invalidated the capture.
See cudaStreamBeginCapture: CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture".

>>> import numpy as np, cuscope as cs
>>> mod = cs.Module("__global__ void twice(int* x) { x[threadIdx.x] *= 2; }")
>>> x, stream = cs.full(4, 1, np.int32), cs.Stream()
>>> with stream.capture() as graph:
...     mod.twice[1, 4](x)
...     mod.twice[1, 4](x)
>>> exe = graph.instantiate()
>>> exe.launch(stream)
>>> x.to_host(stream=stream)
array([4, 4, 4, 4], dtype=int32)
)")
        .def(
            "begin_capture",
            [](const StreamObject& self, const Text& mode, const py::object& graph, const AfterLike& after) {
                const core::StreamPtr stream = self.open();
                const CaptureMode parsed = parse_mode(mode);
                const GraphObjectPtr into = parse_into(graph);
                const std::shared_ptr<core::Graph> open = into ? into->open() : nullptr;
                const core::GraphNodes behind = parse_after(after);
                without_gil([&] { core::Capture::begin(stream, parsed, open, behind, false); });
            },
            py::arg("mode") = "global", py::kw_only(), py::arg("graph") = py::none(),
            py::arg("after") = py::none(),
            R"(Begin to capture the stream; end_capture() returns the graph. capture() does both.

See cudaStreamBeginCapture and cudaStreamBeginCaptureToGraph.

>>> import cuscope as cs
>>> stream = cs.Stream()
>>> stream.begin_capture()
>>> stream.capture_status
'active'
>>> stream.end_capture()
<Graph of ...>
)")
        .def(
            "end_capture",
            [](const StreamObject& self) {
                const core::StreamPtr stream = self.open();
                return wrap(without_gil([&] { return core::Capture::end(stream, false); }));
            },
            R"(End the capture that you began in the stream; returns the graph.

Raises CaptureError if a call invalidated the capture, or if a stream that joined was not waited for. All streams can be
used again in either case. See cudaStreamEndCapture.

>>> import cuscope as cs
>>> stream = cs.Stream()
>>> stream.begin_capture()
>>> len(stream.end_capture().nodes)
0
)")
        .def_property_readonly(
            "capture_dependencies",
            [](const StreamObject& self) {
                const core::StreamPtr stream = self.open();
                const auto found = without_gil([&] { return core::Capture::dependencies(stream); });
                py::list list;
                for (const auto& node : found) list.append(py::cast(node));
                return NodeList(list);
            },
            "The nodes that the next command captured in the stream will wait for; empty unless the stream "
            "is being captured.")
        .def(
            "update_capture_dependencies",
            [](const StreamObject& self, const AfterLike& nodes, bool replace) {
                const core::StreamPtr stream = self.open();
                const core::GraphNodes given = parse_after(nodes);
                without_gil([&] { core::Capture::update_dependencies(stream, given, replace); });
            },
            py::arg("nodes"), py::kw_only(), py::arg("replace") = false,
            R"(Let the next node captured in the stream wait for these nodes, too; with ``replace``, for these alone.

Raises ValueError for nodes of another graph, or while the stream is not being captured. See
cudaStreamUpdateCaptureDependencies.

>>> import cuscope as cs
>>> stream, x, y = cs.Stream(), cs.zeros(4), cs.zeros(4)
>>> with stream.capture() as graph:
...     x.fill(1)
...     first = stream.capture_dependencies
...     stream.update_capture_dependencies([], replace=True)
...     y.fill(1)
...     stream.update_capture_dependencies(first)
>>> len(graph.roots)
2
)")
        .def_property_readonly(
            "capture_id",
            [](const StreamObject& self) {
                if (!self.stream) return 0ULL;
                const core::StreamPtr stream = self.open();
                unsigned long long id = 0;
                without_gil([&] { stream->capture_status(&id); });
                return id;
            },
            "The runtime's number of the capture that the stream takes part in; 0 if there is none.")
        .def_property_readonly(
            "capture_status",
            [](const StreamObject& self) {
                if (!self.stream) return statuses[0];
                const core::StreamPtr stream = self.open();
                return statuses[static_cast<std::size_t>(
                    without_gil([&] { return stream->capture_status(); }))];
            },
            "'active' while it is being captured, 'invalidated' once a call has invalidated the capture, "
            "else 'none'.");
}

}  // namespace cuscope::bindings
