// The host runtime's stream capture: work that is put in a stream becomes nodes of a graph. Work that cannot
// become a node is refused and spoils the capture.
#include <algorithm>
#include <utility>

#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

// ---- calls that a capture refuses

// Invalidates the capture. With a status of success, the call that did so does not fail itself.
Status HostRuntime::spoil(Capture& capture, Status status, const std::string& detail) {
    if (capture.status == CaptureStatus::active) {
        capture.status = CaptureStatus::invalidated;
        capture.why = detail;
    }
    return status == Status::success ? status : fail(status, detail);
}

Status HostRuntime::Graphs::spoil_device(HostRuntime& runtime, int device) {
    bool any = false;
    for (const auto& [id, capture] : captures) {
        if (capture->origin->device != device) continue;
        any = true;
        runtime.spoil(*capture, Status::success,
                      "a wait for the whole device while a stream of it is captured");
    }
    if (!any) return Status::success;
    return runtime.fail(Status::stream_capture_unsupported,
                        "a wait for the whole device while a stream of it is captured");
}

Status HostRuntime::forbidden() {
    if (graphs_->captures.empty() || thread().capture_mode == CaptureMode::relaxed) return Status::success;
    bool any = false;
    const char* const detail = "a call that is not safe while a stream is captured";
    for (const auto& [id, capture] : graphs_->captures) {
        if (capture->mode == CaptureMode::relaxed) continue;
        if (devices_[capture->origin->device]->lost != Status::success)
            continue;  // it cannot be ended any more
        const bool own = capture->thread == thread().id;
        const bool others =
            capture->mode == CaptureMode::global && thread().capture_mode == CaptureMode::global;
        if (!own && !others) continue;
        any = true;
        spoil(*capture, Status::success, detail);
    }
    return any ? fail(Status::stream_capture_unsupported, detail) : Status::success;
}

namespace {

const char* const legacy_detail =
    "the legacy default stream would wait for a blocking stream that is being captured";

}  // namespace

Status HostRuntime::admit_legacy(const Stream& stream) {
    if (graphs_->captures.empty() || !stream.legacy) return Status::success;
    bool any = false;
    for (const auto& [id, capture] : graphs_->captures) {
        const bool blocking = std::any_of(
            capture->streams.begin(), capture->streams.end(),
            [&](const Stream* captured) { return captured->blocking && captured->device == stream.device; });
        if (!blocking) continue;
        any = true;
        spoil(*capture, Status::success, legacy_detail);
    }
    return any ? fail(Status::stream_capture_implicit, legacy_detail) : Status::success;
}

Status HostRuntime::admit(const Stream& stream) {
    if (Status status = admit_legacy(stream); status != Status::success || stream.capture == nullptr)
        return status;
    if (stream.capture->status == CaptureStatus::active) return Status::success;
    return fail(Status::stream_capture_invalidated, "the capture was spoilt before: " + stream.capture->why);
}

Status HostRuntime::admit_uncaptured(const Stream& stream, const char* detail) {
    if (Status status = admit_legacy(stream); status != Status::success || stream.capture == nullptr)
        return status;
    return spoil(*stream.capture, Status::stream_capture_unsupported, detail);
}

Status HostRuntime::inquire(const Stream& stream) {
    if (Status status = admit_uncaptured(
            stream, "nothing runs in a stream that is being captured: there is nothing to wait for");
        status != Status::success || stream.capture != nullptr)
        return status;
    return forbidden();
}

Status HostRuntime::captured_event(const Event& event) {
    if (graphs_->active(event.capture) != nullptr) {
        return fail(Status::captured_event,
                    "the event was recorded in a stream that is being captured: nothing has happened");
    }
    return fail(Status::invalid_value, "the event was last recorded in a capture, which has ended");
}

Status HostRuntime::inquire(const Event& event) {
    if (event.capture == 0) return forbidden();
    const Status status = captured_event(event);
    if (Capture* capture = graphs_->active(event.capture)) spoil(*capture, Status::success, thread().detail);
    return status;
}

Status HostRuntime::admit_awaited(Stream& stream, const Event* event, bool external) {
    if (stream.capture == nullptr) return event == nullptr ? invalid_handle("event") : Status::success;
    Status status = Status::success;
    if (event == nullptr) {
        status = invalid_handle("event");
    } else if ((event->flags & flags::event_interprocess) != 0 && !external) {
        status = fail(Status::stream_capture_unsupported,
                      "an event that other processes may know is no place in a graph");
    }
    if (status != Status::success) spoil(*stream.capture, Status::success, thread().detail);
    return status;
}

// ---- begin and end

Status HostRuntime::begin_capture(StreamHandle handle, CaptureMode mode, Graph* into,
                                  const GraphNodeHandle* dependencies, const GraphEdgeData* edge_data,
                                  std::size_t count) {
    if (static_cast<int>(mode) < 0 || static_cast<int>(mode) > 2) {
        return fail(Status::invalid_value, "a capture mode of " + std::to_string(static_cast<int>(mode)) +
                                               "; allowed are 0 to 2: global, thread-local, relaxed");
    }
    const Found<Stream> stream = find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    TRY(admit_legacy(*stream));
    if (stream->legacy) {
        return fail(Status::stream_capture_unsupported, "the legacy default stream is never captured");
    }
    if (stream->capture != nullptr)
        return fail(Status::illegal_state, "the stream is being captured already");
    std::vector<GraphNode*> tips;
    std::vector<GraphEdgeData> edges;
    for (std::size_t i = 0; i < count; ++i) {
        GraphNode* node = dependencies == nullptr ? nullptr : find_node(dependencies[i]).get();
        if (node == nullptr || node->graph != into)
            return fail(Status::invalid_value, "a dependency that is no node of the graph");
        tips.push_back(node);
        edges.push_back(edge_data == nullptr ? GraphEdgeData{} : edge_data[i]);
    }
    for (const auto& [id, capture] : graphs_->captures) {
        if (into != nullptr && capture->graph == into)
            return fail(Status::illegal_state, "another stream is being captured to the graph already");
    }
    auto made = std::make_unique<Capture>();
    made->id = ++graphs_->last_capture;
    made->mode = mode;
    made->origin = stream.get();
    made->thread = thread().id;
    if (into == nullptr) {
        made->own = new_graph();
        into = made->own.get();
        graphs_->alive.insert(into);
    }
    made->graph = into;
    made->streams.push_back(stream.get());
    stream->capture = made.get();
    stream->tips = std::move(tips);
    stream->tip_edges = std::move(edges);
    graphs_->captures.emplace(made->id, std::move(made));
    return Status::success;
}

Status HostRuntime::stream_begin_capture(StreamHandle stream, CaptureMode mode) {
    ENTER(other);
    return begin_capture(stream, mode, nullptr, nullptr, nullptr, 0);
}

Status HostRuntime::stream_begin_capture_to_graph(StreamHandle stream, GraphHandle graph,
                                                  const GraphNodeHandle* dependencies,
                                                  const GraphEdgeData* edge_data, std::size_t count,
                                                  CaptureMode mode) {
    ENTER(other);
    const Found<Graph> into = find_graph(graph);
    if (into == nullptr) return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    return begin_capture(stream, mode, into.get(), dependencies, edge_data, count);
}

// The streams go on as before. A graph that the capture made goes, unless the caller has moved it out of
// `own`.
void HostRuntime::leave_capture(Capture& capture) {
    // A graph that a spoilt capture was to fill goes with the capture, even if the capture did not make it.
    // The body of a node stays: it belongs to the node.
    const void* const spoilt =
        capture.own == nullptr && capture.status != CaptureStatus::active ? capture.graph : nullptr;
    for (Stream* stream : capture.streams) {
        stream->capture = nullptr;
        stream->tips.clear();
        stream->tip_edges.clear();
    }
    if (capture.own) {
        graphs_->alive.erase(capture.own.get());
        forget_nodes(*capture.own);
    }
    graphs_->captures.erase(capture.id);
    if (spoilt != nullptr) destroy_unless_captured(spoilt);
}

Status HostRuntime::stream_end_capture(StreamHandle handle, GraphHandle* graph) {
    ENTER(other);
    const Found<Stream> stream = find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    if (graph == nullptr) return fail(Status::invalid_value);
    *graph = nullptr;
    TRY(admit_legacy(*stream));
    if (stream->capture == nullptr) return fail(Status::illegal_state, "the stream is not being captured");
    Capture& capture = *stream->capture;
    if (stream != capture.origin) {
        return spoil(capture, Status::stream_capture_unmatched,
                     "a capture is ended in the stream in which it was begun");
    }
    if (capture.status != CaptureStatus::active) {
        const std::string why = std::move(capture.why);
        leave_capture(capture);
        return fail(Status::stream_capture_invalidated, "the capture was spoilt: " + why);
    }
    if (capture.mode != CaptureMode::relaxed && capture.thread != thread().id) {
        leave_capture(capture);
        return fail(Status::stream_capture_wrong_thread,
                    "a capture that is not relaxed is ended by the thread that began it: it is over now, and "
                    "there is no graph");
    }
    // All work of forked streams has to come before the last node of the first stream.
    std::unordered_set<const GraphNode*> joined;
    std::vector<const GraphNode*> stack(stream->tips.begin(), stream->tips.end());
    while (!stack.empty()) {
        const GraphNode* node = stack.back();
        stack.pop_back();
        if (!joined.insert(node).second) continue;
        for (const GraphNode::Edge& edge : node->dependencies) stack.push_back(edge.node);
    }
    const auto is_joined = [&](const std::vector<GraphNode*>& tips) {
        return std::all_of(tips.begin(), tips.end(),
                           [&](const GraphNode* tip) { return joined.contains(tip); });
    };
    if (!is_joined(capture.left) ||
        !std::all_of(capture.streams.begin(), capture.streams.end(),
                     [&](const Stream* forked) { return is_joined(forked->tips); })) {
        leave_capture(capture);
        return fail(Status::stream_capture_unjoined,
                    "the first stream does not wait for all that was captured in other streams");
    }
    Graph* const made = capture.graph;
    if (capture.own) graphs_->graphs.emplace(made, std::move(capture.own));
    leave_capture(capture);
    *graph = reinterpret_cast<GraphHandle>(made);
    return Status::success;
}

// ---- queries about a capture

Status HostRuntime::stream_is_capturing(StreamHandle stream, CaptureStatus* status) {
    return stream_get_capture_info(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

Status HostRuntime::stream_get_capture_info(StreamHandle handle, CaptureStatus* status,
                                            unsigned long long* id, GraphHandle* graph,
                                            const GraphNodeHandle** dependencies,
                                            const GraphEdgeData** edge_data, std::size_t* count) {
    ENTER(other);
    const Found<Stream> stream = find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    if (status == nullptr) return fail(Status::invalid_value);
    *status = CaptureStatus::none;
    if (count != nullptr) *count = 0;
    if (stream->legacy) {
        for (const auto& [number, capture] : graphs_->captures) {
            for (const Stream* captured : capture->streams) {
                if (captured->blocking && captured->device == stream->device)
                    return fail(Status::stream_capture_implicit, legacy_detail);
            }
        }
    }
    if (stream->capture == nullptr) return Status::success;
    const Capture& capture = *stream->capture;
    *status = capture.status;
    if (capture.status != CaptureStatus::active) return Status::success;
    const bool plain = std::all_of(stream->tip_edges.begin(), stream->tip_edges.end(),
                                   [](const GraphEdgeData& data) { return data == GraphEdgeData{}; });
    if (dependencies != nullptr && edge_data == nullptr && !plain) {
        return fail(Status::lossy_query, "the dependencies have edge data: ask for that too");
    }
    if (id != nullptr) *id = capture.id;
    if (graph != nullptr) *graph = reinterpret_cast<GraphHandle>(capture.graph);
    static_assert(sizeof(GraphNode*) == sizeof(GraphNodeHandle));
    if (dependencies != nullptr)
        *dependencies = reinterpret_cast<const GraphNodeHandle*>(stream->tips.data());
    if (edge_data != nullptr) *edge_data = stream->tip_edges.data();
    if (count != nullptr) *count = stream->tips.size();
    return Status::success;
}

Status HostRuntime::stream_update_capture_dependencies(StreamHandle handle,
                                                       const GraphNodeHandle* dependencies,
                                                       const GraphEdgeData* edge_data, std::size_t count,
                                                       unsigned flags) {
    ENTER(other);
    const Found<Stream> stream = find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    TRY(admit(*stream));
    if (stream->capture == nullptr) return fail(Status::illegal_state, "the stream is not being captured");
    if (flags > flags::capture_set_dependencies || (dependencies == nullptr && count > 0))
        return fail(Status::invalid_value);
    std::vector<GraphNode*> tips;
    std::vector<GraphEdgeData> edges;
    for (std::size_t i = 0; i < count; ++i) {
        const Found<GraphNode> node = find_node(dependencies[i]);
        if (node == nullptr || node->graph != stream->capture->graph)
            return fail(Status::invalid_value, "a dependency that is no node of the capture's graph");
        tips.push_back(node.get());
        edges.push_back(edge_data == nullptr ? GraphEdgeData{} : edge_data[i]);
    }
    if (flags == flags::capture_set_dependencies) {
        stream->tips.clear();
        stream->tip_edges.clear();
    }
    join(*stream, tips, edges);
    return Status::success;
}

Status HostRuntime::thread_exchange_stream_capture_mode(CaptureMode* mode) {
    if (mode == nullptr) return fail(Status::invalid_value);
    std::swap(thread().capture_mode, *mode);
    return Status::success;
}

// ---- captured work

void HostRuntime::join(Stream& stream, const std::vector<GraphNode*>& tips,
                       const std::vector<GraphEdgeData>& edges) {
    for (std::size_t i = 0; i < tips.size(); ++i) {
        if (std::find(stream.tips.begin(), stream.tips.end(), tips[i]) != stream.tips.end()) continue;
        stream.tips.push_back(tips[i]);
        stream.tip_edges.push_back(edges[i]);
    }
}

// The node becomes the next one in the stream, behind the nodes that the stream has come to.
void HostRuntime::add_captured(Stream& stream, std::unique_ptr<GraphNode> made) {
    made->serial = ++graphs_->last_serial;
    made->device = stream.device;
    GraphNode& node = append(*stream.capture->graph, std::move(made));
    graphs_->nodes.emplace(&node, &node);
    for (std::size_t i = 0; i < stream.tips.size(); ++i) {
        GraphEdgeData data = stream.tip_edges[i];
        // Only a kernel can wait for less than the end of the kernel before it.
        if (!node.is_kernel()) data = {};
        connect(*stream.tips[i], node, data);
    }
    stream.tips = {&node};
    stream.tip_edges = {GraphEdgeData{}};
}

Status HostRuntime::capture_wait(Stream& stream, Event& event, bool external) {
    Capture* const from = event.capture == 0 ? nullptr : graphs_->active(event.capture);
    // This goes for external events, too. A GPU was asked about a spoilt capture; we assume that it treats a
    // capture that has ended alike.
    if (event.capture != 0 && from == nullptr) {
        const Status status =
            fail(Status::invalid_value, "the event was last recorded in a capture, which has ended");
        if (stream.capture != nullptr) spoil(*stream.capture, Status::success, thread().detail);
        return status;
    }
    if (external && stream.capture != nullptr) {
        capture_external_wait(stream, reinterpret_cast<EventHandle>(&event));
        return Status::success;
    }
    if (stream.capture == nullptr) {
        if (stream.legacy) {
            return spoil(*from, Status::stream_capture_implicit,
                         "the legacy default stream cannot take part in a capture");
        }
        stream.capture = from;
        stream.tips = event.tips;
        stream.tip_edges = event.tip_edges;
        from->streams.push_back(&stream);
        return Status::success;
    }
    if (from == nullptr) {
        // As outside of captures, there is nothing to wait for in an event that was never recorded.
        if (!event.record) return Status::success;
        return spoil(
            *stream.capture, Status::stream_capture_isolation,
            "the event was recorded outside of the capture: record it in a stream that takes part, or "
            "wait for it as an external one");
    }
    if (from != stream.capture) {
        spoil(*from, Status::success, "two captures would become one");
        return spoil(*stream.capture, Status::stream_capture_merge, "two captures would become one");
    }
    join(stream, event.tips, event.tip_edges);
    return Status::success;
}

Status HostRuntime::capture_record(Stream& stream, Event& event, EventHandle handle, bool external) {
    if (external) {
        capture_external_record(stream, handle);
        return Status::success;
    }
    event.capture = stream.capture->id;
    event.record = {};
    event.tips = stream.tips;
    event.tip_edges = stream.tip_edges;
    return Status::success;
}

}  // namespace cuscope::host
