#include "host/graph/captures.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "host/graph/nodes/captured.hpp"
#include "host/runtime/machine.hpp"

namespace cuscope::host {

Captures::Captures(Machine& machine) : machine_(machine) {}

Captures::~Captures() = default;

Capture* Captures::active(unsigned long long id) const {
    const auto found = captures_.find(id);
    if (found == captures_.end() || found->second->status != CaptureStatus::active) return nullptr;
    return found->second.get();
}

bool Captures::fills(const Graph& graph) const {
    return std::any_of(captures_.begin(), captures_.end(),
                       [&](const auto& entry) { return entry.second->graph->is_within(graph); });
}

// ---- calls that a capture refuses

Status Captures::spoil(Capture& capture, Status status, const std::string& detail) {
    if (capture.status == CaptureStatus::active) {
        capture.status = CaptureStatus::invalidated;
        capture.why = detail;
    }
    return status == Status::success ? status : fail(status, detail);
}

Status Captures::spoil_failed(Stream& stream, Status status) {
    if (stream.captured() && status != Status::success)
        spoil(*stream.capture, Status::success, thread().detail);
    return status;
}

template <class Affected>
Status Captures::spoil_all(const Affected& affected, Status status, const char* detail) {
    bool any = false;
    for (const auto& [id, capture] : captures_) {
        if (!affected(*capture)) continue;
        any = true;
        spoil(*capture, Status::success, detail);
    }
    return any ? fail(status, detail) : Status::success;
}

Status Captures::spoil_device(int device) {
    return spoil_all([&](const Capture& capture) { return capture.origin->device == device; },
                     Status::stream_capture_unsupported,
                     "a wait for the whole device while a stream of it is captured");
}

Status Captures::forbidden() {
    const CaptureMode mode = thread().capture_mode;
    if (mode == CaptureMode::relaxed) return Status::success;
    const auto affected = [&](const Capture& capture) {
        if (capture.mode == CaptureMode::relaxed) return false;
        // On a lost device it cannot be ended any more.
        if (machine_.devices[capture.origin->device].lost != Status::success) return false;
        return capture.thread == thread().id ||
               (capture.mode == CaptureMode::global && mode == CaptureMode::global);
    };
    return spoil_all(affected, Status::stream_capture_unsupported,
                     "a call that is not safe while a stream is captured");
}

namespace {

const char* const legacy_detail =
    "the legacy default stream would wait for a blocking stream that is being captured";

// Would the legacy default stream of the device wait for a stream of the capture?
bool blocks(const Capture& capture, int device) {
    return std::any_of(capture.streams.begin(), capture.streams.end(), [&](const Stream* captured) {
        return captured->blocking && captured->device == device;
    });
}

}  // namespace

Status Captures::admit_legacy(const Stream& stream) {
    if (!stream.legacy) return Status::success;
    return spoil_all([&](const Capture& capture) { return blocks(capture, stream.device); },
                     Status::stream_capture_implicit, legacy_detail);
}

bool Captures::reach(const Stream& stream) const {
    if (!stream.legacy) return stream.captured();
    return std::any_of(captures_.begin(), captures_.end(),
                       [&](const auto& entry) { return blocks(*entry.second, stream.device); });
}

Status Captures::check_legacy(const Stream& stream) const {
    if (!stream.legacy || !reach(stream)) return Status::success;
    return fail(Status::stream_capture_implicit, legacy_detail);
}

Status Captures::admit(const Stream& stream) {
    TRY(admit_legacy(stream));
    if (!stream.captured()) return Status::success;
    if (stream.capture->status == CaptureStatus::active) return Status::success;
    return fail(Status::stream_capture_invalidated,
                "the capture was invalidated before: " + stream.capture->why);
}

Status Captures::admit_uncaptured(const Stream& stream, const char* detail) {
    TRY(admit_legacy(stream));
    if (!stream.captured()) return Status::success;
    return spoil(*stream.capture, Status::stream_capture_unsupported, detail);
}

// Even in a stream that is not captured, these calls may be unsafe during another thread's capture.
Status Captures::admit_pooled(const Stream& stream) {
    TRY(admit(stream));
    return stream.captured() ? Status::success : forbidden();
}

Status Captures::inquire(const Stream& stream) {
    TRY(admit_uncaptured(stream,
                         "nothing runs in a stream that is being captured: there is nothing to wait for"));
    return stream.captured() ? Status::success : forbidden();
}

Status Captures::captured_event(const Event& event) const {
    if (active(event.capture) != nullptr) {
        return fail(Status::captured_event,
                    "the event was recorded in a stream that is being captured: nothing has happened");
    }
    return fail(Status::invalid_value, "the event was last recorded in a capture, which has ended");
}

Status Captures::inquire(const Event& event) {
    if (event.capture == 0) return forbidden();
    const Status status = captured_event(event);
    if (Capture* capture = active(event.capture)) spoil(*capture, Status::success, thread().detail);
    return status;
}

Status Captures::admit_awaited(Stream& stream, const Event* event, bool external) {
    Status status = Status::success;
    if (event == nullptr) {
        status = invalid_handle("event");
    } else if (stream.captured() && event->interprocess() && !external) {
        status = fail(Status::stream_capture_unsupported,
                      "an event that other processes may know is no place in a graph");
    }
    return spoil_failed(stream, status);
}

// ---- begin and end

Status Captures::check_begin(const Stream& stream) {
    TRY(admit_legacy(stream));
    if (stream.legacy) {
        return fail(Status::stream_capture_unsupported, "the legacy default stream is never captured");
    }
    if (stream.captured()) return fail(Status::illegal_state, "the stream is being captured already");
    return Status::success;
}

Status Captures::begin(Stream& stream, CaptureMode mode, Graph* into, Tips tips) {
    for (const auto& [id, capture] : captures_) {
        if (into != nullptr && capture->graph == into)
            return fail(Status::illegal_state, "another stream is being captured to the graph already");
    }
    auto made = std::make_unique<Capture>();
    made->id = ++last_;
    made->mode = mode;
    made->origin = &stream;
    made->thread = thread().id;
    if (into == nullptr) {
        made->own = machine_.graphs.make();
        into = made->own.get();
        machine_.graphs.show(*into);
    }
    made->graph = into;
    made->streams.push_back(&stream);
    stream.capture = made.get();
    stream.tips = std::move(tips);
    captures_.emplace(made->id, std::move(made));
    return Status::success;
}

// The streams go on as before. A graph that the capture made goes, unless the caller has moved it out of
// `own`.
void Captures::leave(Capture& capture) {
    // A graph that an invalidated capture was to fill goes with the capture, even if the capture did not make
    // it. The body of a node stays: it belongs to the node.
    const GraphHandle left =
        capture.own == nullptr && capture.status != CaptureStatus::active ? capture.graph->handle() : nullptr;
    for (Stream* stream : capture.streams) stream->leave_capture();
    if (capture.own) machine_.graphs.hide(*capture.own);
    captures_.erase(capture.id);
    if (left != nullptr) machine_.graphs.destroy_unless_captured(left);
}

Status Captures::end(Stream& stream, GraphHandle* graph) {
    TRY(admit_legacy(stream));
    if (!stream.captured()) return fail(Status::illegal_state, "the stream is not being captured");
    Capture& capture = *stream.capture;
    if (&stream != capture.origin) {
        return spoil(capture, Status::stream_capture_unmatched,
                     "a capture is ended in the stream in which it was begun");
    }
    if (capture.status != CaptureStatus::active) {
        const std::string why = std::move(capture.why);
        leave(capture);
        return fail(Status::stream_capture_invalidated, "the capture was invalidated: " + why);
    }
    if (capture.mode != CaptureMode::relaxed && capture.thread != thread().id) {
        leave(capture);
        return fail(Status::stream_capture_wrong_thread,
                    "a capture that is not relaxed is ended by the thread that began it: it is over now, and "
                    "there is no graph");
    }
    // All work of forked streams has to come before the last node of the first stream.
    std::unordered_set<const GraphNode*> joined;
    std::vector<const GraphNode*> stack(stream.tips.nodes.begin(), stream.tips.nodes.end());
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
                     [&](const Stream* forked) { return is_joined(forked->tips.nodes); })) {
        leave(capture);
        return fail(Status::stream_capture_unjoined,
                    "the first stream does not wait for all that was captured in other streams");
    }
    *graph = capture.graph->handle();
    if (capture.own) machine_.graphs.add(std::move(capture.own));
    leave(capture);
    return Status::success;
}

void Captures::leave_stream(Stream& stream) {
    if (!stream.captured()) return;
    Capture& capture = *stream.capture;
    if (capture.origin == &stream) {
        // A capture that was begun in this stream can no longer be ended.
        spoil(capture, Status::success, "the stream in which it was begun was destroyed");
        leave(capture);
        return;
    }
    // The stream's captured work still has to be joined to the capture's origin.
    capture.left.insert(capture.left.end(), stream.tips.nodes.begin(), stream.tips.nodes.end());
    std::erase(capture.streams, &stream);
    stream.capture = nullptr;
}

void Captures::forget_node(const GraphNode& node) {
    for (const auto& [id, capture] : captures_) {
        if (capture->graph != node.graph) continue;
        std::erase(capture->left, &node);
        for (Stream* stream : capture->streams) stream->tips.forget(&node);
        machine_.events.for_each([&, number = id](Event& event) {
            if (event.capture == number) event.tips.forget(&node);
        });
    }
}

// ---- captured work

void Captures::add(Stream& stream, std::unique_ptr<GraphNode> made) {
    made->device = stream.device;
    GraphNode& node = machine_.graphs.add_node(*stream.capture->graph, std::move(made));
    for (std::size_t i = 0; i < stream.tips.nodes.size(); ++i) {
        // Only a kernel can wait for less than the end of the kernel before it.
        const GraphEdgeData data = node.is_kernel() ? stream.tips.edges[i] : GraphEdgeData{};
        stream.tips.nodes[i]->connect_to(node, data);
    }
    stream.tips = {{&node}, {GraphEdgeData{}}};
}

Status Captures::wait(Stream& stream, Event& event, bool external) {
    Capture* const from = event.capture == 0 ? nullptr : active(event.capture);
    // This goes for external events, too. A GPU was asked about an invalidated capture; we assume that it
    // treats a capture that has ended alike.
    if (event.capture != 0 && from == nullptr) {
        return spoil_failed(
            stream, fail(Status::invalid_value, "the event was last recorded in a capture, which has ended"));
    }
    if (external && stream.captured()) {
        capture_external_wait(machine_, stream, reinterpret_cast<EventHandle>(&event));
        return Status::success;
    }
    if (!stream.captured()) {
        if (stream.legacy) {
            return spoil(*from, Status::stream_capture_implicit,
                         "the legacy default stream cannot take part in a capture");
        }
        stream.capture = from;
        stream.tips = event.tips;
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
    stream.tips.join(event.tips);
    return Status::success;
}

void Captures::record(Stream& stream, Event& event, bool external) {
    if (external) {
        capture_external_record(machine_, stream, reinterpret_cast<EventHandle>(&event));
        return;
    }
    event.capture = stream.capture->id;
    event.record = {};
    event.tips = stream.tips;
}

}  // namespace cuscope::host
