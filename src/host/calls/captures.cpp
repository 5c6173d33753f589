// The host runtime's stream capture.
#include <algorithm>
#include <utility>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

// `into`: the graph that is to be filled; null: a new one.
Status begin_capture(Machine& machine, StreamHandle handle, CaptureMode mode, Graph* into,
                     const GraphNodeHandle* dependencies, const GraphEdgeData* edge_data, std::size_t count) {
    if (static_cast<int>(mode) < 0 || static_cast<int>(mode) > 2) {
        return fail(Status::invalid_value, "a capture mode of " + std::to_string(static_cast<int>(mode)) +
                                               "; allowed are 0 to 2: global, thread-local, relaxed");
    }
    const Found<Stream> stream = machine.find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    TRY(machine.captures.check_begin(*stream));
    Tips tips;
    for (std::size_t i = 0; i < count; ++i) {
        GraphNode* node = dependencies == nullptr ? nullptr : machine.graphs.find_node(dependencies[i]).get();
        if (node == nullptr || node->graph != into)
            return fail(Status::invalid_value, "a dependency that is no node of the graph");
        tips.add(node, edge_data == nullptr ? GraphEdgeData{} : edge_data[i]);
    }
    return machine.captures.begin(*stream, mode, into, std::move(tips));
}

}  // namespace

Status HostRuntime::stream_begin_capture(StreamHandle stream, CaptureMode mode) {
    ENTER(other);
    return begin_capture(machine_, stream, mode, nullptr, nullptr, nullptr, 0);
}

Status HostRuntime::stream_begin_capture_to_graph(StreamHandle stream, GraphHandle graph,
                                                  const GraphNodeHandle* dependencies,
                                                  const GraphEdgeData* edge_data, std::size_t count,
                                                  CaptureMode mode) {
    ENTER(other);
    const Found<Graph> into = machine_.graphs.find(graph);
    if (into == nullptr) return invalid_handle("graph", Status::invalid_value);
    return begin_capture(machine_, stream, mode, into.get(), dependencies, edge_data, count);
}

Status HostRuntime::stream_end_capture(StreamHandle handle, GraphHandle* graph) {
    ENTER(other);
    const Found<Stream> stream = machine_.find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    if (graph == nullptr) return fail(Status::invalid_value);
    *graph = nullptr;
    return machine_.captures.end(*stream, graph);
}

Status HostRuntime::stream_is_capturing(StreamHandle stream, CaptureStatus* status) {
    return stream_get_capture_info(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

Status HostRuntime::stream_get_capture_info(StreamHandle handle, CaptureStatus* status,
                                            unsigned long long* id, GraphHandle* graph,
                                            const GraphNodeHandle** dependencies,
                                            const GraphEdgeData** edge_data, std::size_t* count) {
    ENTER(other);
    const Found<Stream> stream = machine_.find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    if (status == nullptr) return fail(Status::invalid_value);
    *status = CaptureStatus::none;
    if (count != nullptr) *count = 0;
    TRY(machine_.captures.check_legacy(*stream));
    if (!stream->captured()) return Status::success;
    const Capture& capture = *stream->capture;
    *status = capture.status;
    if (capture.status != CaptureStatus::active) return Status::success;
    const bool plain = std::all_of(stream->tips.edges.begin(), stream->tips.edges.end(),
                                   [](const GraphEdgeData& data) { return data == GraphEdgeData{}; });
    if (dependencies != nullptr && edge_data == nullptr && !plain) {
        return fail(Status::lossy_query, "the dependencies have edge data: ask for that too");
    }
    if (id != nullptr) *id = capture.id;
    if (graph != nullptr) *graph = capture.graph->handle();
    static_assert(sizeof(GraphNode*) == sizeof(GraphNodeHandle));
    if (dependencies != nullptr)
        *dependencies = reinterpret_cast<const GraphNodeHandle*>(stream->tips.nodes.data());
    if (edge_data != nullptr) *edge_data = stream->tips.edges.data();
    if (count != nullptr) *count = stream->tips.nodes.size();
    return Status::success;
}

Status HostRuntime::stream_update_capture_dependencies(StreamHandle handle,
                                                       const GraphNodeHandle* dependencies,
                                                       const GraphEdgeData* edge_data, std::size_t count,
                                                       unsigned flags) {
    ENTER(other);
    const Found<Stream> stream = machine_.find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit(*stream));
    if (!stream->captured()) return fail(Status::illegal_state, "the stream is not being captured");
    if (flags > flags::capture_set_dependencies || (dependencies == nullptr && count > 0))
        return fail(Status::invalid_value);
    Tips tips;
    for (std::size_t i = 0; i < count; ++i) {
        const Found<GraphNode> node = machine_.graphs.find_node(dependencies[i]);
        if (node == nullptr || node->graph != stream->capture->graph)
            return fail(Status::invalid_value, "a dependency that is no node of the capture's graph");
        tips.add(node.get(), edge_data == nullptr ? GraphEdgeData{} : edge_data[i]);
    }
    if (flags == flags::capture_set_dependencies) stream->tips.clear();
    stream->tips.join(tips);
    return Status::success;
}

Status HostRuntime::thread_exchange_stream_capture_mode(CaptureMode* mode) {
    if (mode == nullptr) return fail(Status::invalid_value);
    std::swap(thread().capture_mode, *mode);
    return Status::success;
}

}  // namespace cuscope::host
