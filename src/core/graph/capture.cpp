#include "core/graph/capture.hpp"

#include <algorithm>
#include <optional>

#include "core/graph/graph.hpp"
#include "core/stream/same_device.hpp"

namespace cuscope::core {
namespace {

// The captures under way, so that failures can be matched with them.
struct Underway {
    std::mutex mutex;
    std::vector<std::shared_ptr<Capture>> captures;
};

Underway& underway() {
    static Underway* const instance = new Underway;  // outlives static destructors
    return *instance;
}

thread_local std::weak_ptr<Capture> last_invalidated;

std::atomic<int> left_count{0};  // captures that were left behind and have not ended

// An object that represents this thread; it expires when the thread ends.
const std::shared_ptr<void>& this_thread() {
    thread_local const std::shared_ptr<void> token = std::make_shared<int>();
    return token;
}

std::vector<std::shared_ptr<Capture>> captures() {
    const std::lock_guard lock(underway().mutex);
    return underway().captures;
}

// Statuses of cudaStreamEndCapture that mean that the capture has ended or continues, rather than that the
// call failed.
bool ends_or_goes_on(Status status) {
    return status == Status::illegal_state ||
           (status >= Status::stream_capture_unsupported && status <= Status::stream_capture_wrong_thread);
}

const char* const refused = "The call was not captured, and the capture goes on.";

}  // namespace

bool Keepers::first(const void* thing) {
    const void*& recent = recent_[(reinterpret_cast<std::uintptr_t>(thing) >> 5) % recent_.size()];
    if (recent == thing) return false;
    const bool inserted = seen_.insert(thing).second;
    recent = thing;
    return inserted;
}

void Keepers::keep(const std::shared_ptr<Memory>& memory) {
    if (memory && first(memory.get())) memories_.push_back(memory);
}

void Keepers::keep(Memory& memory) {
    if (first(&memory)) memories_.push_back(memory.shared_from_this());
}

void Keepers::keep(const std::shared_ptr<void>& thing) {
    if (thing && first(thing.get())) things_.push_back(thing);
}

void Keepers::keep(const std::shared_ptr<GraphTask>& task) {
    if (task && first(task.get())) tasks_.push_back(task);
}

void Keepers::keep(const Keepers& others) {
    for (const auto& memory : others.memories_) keep(memory);
    for (const auto& memory : others.workspaces_) keep_workspace(memory);
    for (const auto& task : others.tasks_) keep(task);
    for (const auto& thing : others.things_) keep(thing);
}

void Keepers::keep_workspace(const std::shared_ptr<DeviceMemory>& memory) {
    if (std::ranges::find(workspaces_, memory) == workspaces_.end()) workspaces_.push_back(memory);
}

RelaxedCapture::RelaxedCapture(Device& device) : runtime_(device.runtime()) {
    // A capture would be invalidated by a refused call, so the mode is relaxed.
    const Status status = runtime_.thread_exchange_stream_capture_mode(&mode_);
    relaxed_ = status == Status::success;
    if (relaxed_) return;
    if (captures_underway() > 0) device.check(status, "cudaThreadExchangeStreamCaptureMode");
    // Without a capture, as on a lost device, the call that follows reports the error.
    if (!in_host_function()) runtime_.get_last_error();
}

RelaxedCapture::~RelaxedCapture() {
    if (!relaxed_ || runtime_.thread_exchange_stream_capture_mode(&mode_) == Status::success) return;
    // Try again: the thread must not stay in the relaxed mode, whatever the first failure was.
    runtime_.get_last_error();
    runtime_.thread_exchange_stream_capture_mode(&mode_);
}

void refuse_in_capture(Status status, const std::string& call, const std::string& detail) {
    throw Error(status, call, detail, refused);
}

void refuse_own_wait_in_capture(const Stream& stream, const std::string& call, const std::string& detail) {
    if (!stream.capturing()) return;
    refuse_in_capture(Status::stream_capture_unsupported, call, detail);
}

void refuse_while_captured(const Device& device, const char* call) {
    if (captures_underway() == 0) return;
    Capture::end_left();
    for (const auto& capture : captures()) {
        if (&capture->origin()->device() != &device) continue;
        refuse_in_capture(Status::stream_capture_unsupported, call,
                          "a stream of " + device.name() +
                              " is being captured, and captured work does not run: end the capture first");
    }
}

void refuse_legacy_in_capture(const Stream& stream, const char* call) {
    if (stream.handle() != stream_legacy || captures_underway() == 0) return;
    Capture::end_left();
    for (const auto& capture : captures()) {
        if (!capture->has_blocking_stream_of(stream.device())) continue;
        refuse_in_capture(Status::stream_capture_implicit, call,
                          "the legacy default stream of " + stream.device().name() +
                              " would wait for a stream that is being captured: use another stream (stream=, "
                              "or with stream:), or capture one made with non_blocking=True");
    }
}

bool Capture::has_blocking_stream_of(const Device& device) {
    const std::lock_guard lock(mutex_);
    return std::any_of(streams_.begin(), streams_.end(), [&](const StreamPtr& stream) {
        return &stream->device() == &device && (stream->flags() & flags::stream_non_blocking) == 0;
    });
}

void Capture::keep(std::span<Memory* const> memories, const std::shared_ptr<void>& kernel) {
    const std::lock_guard lock(mutex_);
    for (Memory* memory : memories) keepers_.keep(*memory);
    keepers_.keep(kernel);
}

// ---- begin and end

Capture::Capture(const StreamPtr& origin, CaptureMode mode, std::shared_ptr<Graph> into)
    : origin_(origin), mode_(mode), owner_(this_thread()), into_(std::move(into)) {}

bool Capture::is_of_this_thread() const { return owner_.lock() == this_thread(); }

void Capture::begin(const StreamPtr& stream, CaptureMode mode, const std::shared_ptr<Graph>& into,
                    const GraphNodes& after, bool held) {
    if (!into && !after.empty())
        throw std::invalid_argument("after: is only for captures that add to a graph: pass graph=, too");
    std::vector<GraphNodeHandle> nodes;
    if (into) nodes = into->handles_of(after, "after");
    stream->check_usable();
    Device& device = stream->device();
    if (into) check_same_device({.what = "graph", .verb = "capture"}, into->device(), *stream);
    const DeviceScope scope(device);
    end_left();
    device.sweep();
    ClosedGates closed(*stream);
    closed.add(GivingBack::gate());
    Runtime& runtime = device.runtime();
    if (into) {
        device.check(runtime.stream_begin_capture_to_graph(stream->handle(), into->handle(), nodes.data(),
                                                           nullptr, nodes.size(), mode),
                     "cudaStreamBeginCaptureToGraph");
    } else {
        device.check(runtime.stream_begin_capture(stream->handle(), mode), "cudaStreamBeginCapture");
    }
    const auto made = std::make_shared<Capture>(stream, mode, into);
    made->held_ = held;
    stream->capture_status(&made->id_);
    {
        const std::lock_guard lock(underway().mutex);
        underway().captures.push_back(made);
        ++capture_count;
    }
    made->join(stream);
}

void Capture::join(const StreamPtr& stream) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    streams_.push_back(stream);
    stream->set_capture(shared_from_this());
}

std::shared_ptr<Capture> Capture::of_id(const Device& device, unsigned long long id) {
    for (const auto& capture : captures()) {
        if (capture->id_ == id && &capture->origin()->device() == &device) return capture;
    }
    return nullptr;
}

bool Capture::close_gates(ClosedGates* closed, bool may_wait) {
    for (std::size_t i = 0;; ++i) {
        StreamPtr stream;
        {
            const std::lock_guard lock(mutex_);
            if (i >= streams_.size()) return true;  // another thread may end it
            stream = streams_[i];
        }
        if (may_wait) {
            closed->add(stream);
        } else if (!closed->try_add(stream)) {
            return false;
        }
    }
}

void Capture::leave() {
    {
        const std::lock_guard lock(mutex_);
        if (ended_) return;
        ended_ = true;
        if (left_.exchange(false)) --left_count;
        for (const StreamPtr& stream : streams_) stream->set_capture(nullptr);
        streams_.clear();
    }
    const std::lock_guard lock(underway().mutex);
    std::erase_if(underway().captures, [&](const auto& other) { return other.get() == this; });
    --capture_count;
}

std::shared_ptr<Graph> Capture::end(const StreamPtr& stream, bool quietly) {
    std::optional<ClosedGates> closed(std::in_place);
    if (const auto begun = stream->capture()) begun->close_gates(&*closed, true);
    closed->add(stream);
    return end(stream, quietly, closed);
}

// Throws the error of a capture that ended without a graph. Null: no capture of this package.
void Capture::fail_end(Device& device, Capture* capture, Status status) {
    std::string detail, hint;
    bool known = false;  // is the call that invalidated the capture known?
    if (capture != nullptr && status == Status::stream_capture_invalidated) {
        const std::lock_guard lock(capture->mutex_);
        known = !capture->invalidated_by_.empty();
        detail = known ? "the capture was invalidated by " + capture->invalidated_by_
                       : "the capture was invalidated by a call that cuscope did not make";
        if (!capture->place_.empty()) detail += " at " + capture->place_;
        if (!capture->why_.empty()) detail += ": " + capture->why_;
        hint = "Make that call before the capture begins, or after it has ended.";
    } else if (status == Status::stream_capture_unjoined) {
        hint =
            "Before the capture ends, let its first stream wait for each stream that was forked off: "
            "first.wait(other).";
    }
    if (known) {
        device.runtime().get_last_error();
        throw Error(status, "cudaStreamEndCapture", detail, hint);
    }
    device.fail(status, "cudaStreamEndCapture", detail, hint);
}

// The gates are open when this returns.
std::shared_ptr<Graph> Capture::end(const StreamPtr& stream, bool quietly,
                                    std::optional<ClosedGates>& closed) {
    Device& device = stream->device();
    const std::shared_ptr<Capture> capture = stream->capture();  // no other thread can end it now
    if (capture && capture->origin_ == stream && capture->mode_ != CaptureMode::relaxed &&
        !capture->is_of_this_thread()) {
        // The runtime would end the capture and return no graph.
        refuse_in_capture(Status::stream_capture_wrong_thread, "cudaStreamEndCapture",
                          "the thread that began a capture ends it, unless it was begun with mode='relaxed'");
    }
    Runtime& runtime = device.runtime();
    GraphHandle handle = nullptr;
    Status status = Status::success;
    {
        const DeviceScope scope(device);
        status = runtime.stream_end_capture(stream->handle(), &handle);
    }
    if (status != Status::success && !ends_or_goes_on(status)) {
        // Whatever failed, the stream must be usable afterwards.
        CaptureStatus now = CaptureStatus::none;
        GraphHandle left = nullptr;
        const DeviceScope scope(device);
        if (runtime.stream_is_capturing(stream->handle(), &now) == Status::success &&
            now != CaptureStatus::none &&
            runtime.stream_end_capture(stream->handle(), &left) == Status::success &&
            !(capture && capture->into_)) {
            runtime.graph_destroy(left);
        }
    }
    // Called in the wrong stream or on the wrong thread: the capture continues.
    const bool goes_on = status == Status::stream_capture_unmatched ||
                         status == Status::stream_capture_wrong_thread || status == Status::illegal_state;
    const bool ours =
        capture && (!goes_on || (status == Status::illegal_state && capture->origin_ == stream));
    std::shared_ptr<Graph> unfinished;
    if (ours) {
        capture->leave();
        const std::lock_guard lock(capture->mutex_);
        unfinished = std::move(capture->unfinished_);
    }
    closed.reset();
    if (unfinished && status != Status::success) unfinished->fail();
    if (ours && capture->into_ && status != Status::success) capture->into_->fail();
    if (status != Status::success) {
        if (!quietly) fail_end(device, capture.get(), status);
        runtime.get_last_error();
        device.sweep();
        return nullptr;
    }
    std::shared_ptr<Graph> graph;
    if (capture && capture->into_) {
        graph = capture->into_;
    } else if (unfinished) {
        graph = unfinished;
        graph->finish();
    } else {
        graph = std::make_shared<Graph>(device.shared_from_this(), handle);
    }
    if (capture) {
        const std::lock_guard lock(capture->mutex_);
        graph->keep(capture->keepers_);
    }
    device.sweep();
    return graph;
}

void Capture::refuse_close(const StreamPtr& stream) {
    const auto capture = stream->capture();
    if (!capture || capture->origin_ != stream || !capture->held_) return;
    throw Error(
        Status::stream_capture_unsupported, "cudaStreamDestroy",
        "a `with` block captures the stream, and later commands of the block would run instead of being "
        "captured: close the stream after the block, which ends the capture",
        "The stream stays open, and the capture goes on.");
}

void Capture::leave_behind(const StreamPtr& stream) noexcept {
    const auto capture = stream->capture();
    if (!capture || capture->origin_ != stream) return;
    // Another thread holds the capture in a `with` block. The end of the block ends the capture.
    if (capture->held_ && !capture->is_of_this_thread()) return;
    if (!capture->left_.exchange(true)) ++left_count;
    end_left();
}

// No thread may end this capture. Invalidate it, so that it cannot produce a graph; it ends with its stream.
void Capture::give_up() {
    const DeviceScope scope(origin_->device());
    Runtime& runtime = origin_->device().runtime();
    runtime.stream_query(origin_->handle());
    runtime.get_last_error();
    if (into_) into_->fail();
    leave();
}

// May run in a destructor, so it never waits. In a host function no call of the runtime is allowed.
void Capture::end_left() noexcept {
    if (left_count == 0 || in_host_function() || process_exiting() || forked_after_use()) return;
    try {
        for (const auto& capture : captures()) {
            if (!capture->left_) continue;
            const bool may_end = capture->mode_ == CaptureMode::relaxed || capture->is_of_this_thread();
            if (!may_end && !capture->owner_.expired()) continue;
            std::optional<ClosedGates> closed(std::in_place);
            if (!capture->close_gates(&*closed, false) || !capture->left_.exchange(false)) continue;
            --left_count;
            if (may_end) {
                end(capture->origin_, true, closed);
            } else {
                capture->give_up();
            }
        }
    } catch (...) {
        // The runtime does not answer, so no capture can be under way either.
    }
}

std::shared_ptr<DeviceMemory> Capture::workspace(const StreamPtr& stream, std::size_t bytes, bool* fresh) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = workspaces_.find(stream.get());
        *fresh = found == workspaces_.end() || found->second->bytes() < bytes;
        if (!*fresh) return found->second;
    }
    auto made = DeviceMemory::allocate_plain(stream->device().shared_from_this(), bytes);
    const std::lock_guard lock(mutex_);
    keepers_.keep_workspace(made);
    workspaces_[stream.get()] = made;
    return made;
}

// ---- the dependencies of the next node

std::shared_ptr<Graph> Capture::graph_of(const StreamPtr& stream, GraphHandle handle) {
    if (into_) return into_;
    const std::lock_guard lock(mutex_);
    if (!unfinished_) unfinished_ = Graph::unfinished(stream->device().shared_from_this(), handle);
    return unfinished_;
}

std::vector<std::shared_ptr<GraphNode>> Capture::dependencies(const StreamPtr& stream) {
    stream->check_usable();
    const auto capture = stream->capture();
    if (!capture) return {};
    Device& device = stream->device();
    const DeviceScope scope(device);
    CaptureStatus status = CaptureStatus::none;
    GraphHandle handle = nullptr;
    const GraphNodeHandle* nodes = nullptr;
    const GraphEdgeData* data = nullptr;
    std::size_t count = 0;
    device.check(device.runtime().stream_get_capture_info(stream->handle(), &status, nullptr, &handle, &nodes,
                                                          &data, &count),
                 "cudaStreamGetCaptureInfo");
    if (status != CaptureStatus::active) return {};
    const std::vector<GraphNodeHandle> handles(nodes, nodes + count);
    const std::shared_ptr<Graph> graph = capture->graph_of(stream, handle);
    std::vector<std::shared_ptr<GraphNode>> found;
    for (GraphNodeHandle node : handles) found.push_back(graph->node(node));
    return found;
}

void Capture::update_dependencies(const StreamPtr& stream,
                                  const std::vector<std::shared_ptr<GraphNode>>& nodes, bool replace) {
    stream->check_usable();
    const auto capture = stream->capture();
    if (!capture) throw std::invalid_argument("the stream is not being captured");
    Device& device = stream->device();
    const DeviceScope scope(device);
    CaptureStatus status = CaptureStatus::none;
    GraphHandle handle = nullptr;
    Runtime& runtime = device.runtime();
    device.check(runtime.stream_get_capture_info(stream->handle(), &status, nullptr, &handle, nullptr,
                                                 nullptr, nullptr),
                 "cudaStreamGetCaptureInfo");
    std::vector<GraphNodeHandle> handles;
    for (const auto& node : nodes) {
        node->check_usable();
        if (status == CaptureStatus::active && node->graph()->handle() != handle)
            throw std::invalid_argument("nodes: one of them is not in the graph that is being captured");
        handles.push_back(node->handle());
    }
    device.check(runtime.stream_update_capture_dependencies(
                     stream->handle(), handles.data(), nullptr, handles.size(),
                     replace ? flags::capture_set_dependencies : flags::capture_add_dependencies),
                 "cudaStreamUpdateCaptureDependencies");
    if (!replace) return;
    // The next reduction of the stream need not follow the last one, so both may run at once.
    const std::lock_guard lock(capture->mutex_);
    capture->workspaces_.erase(stream.get());
}

// ---- which call invalidated a capture

void Capture::note_failure(Status status, const std::string& call, const std::string& detail) noexcept {
    if (captures_underway() == 0 || status == Status::stream_capture_invalidated) return;
    try {
        for (const auto& capture : captures()) {
            {
                const std::lock_guard lock(capture->mutex_);
                if (!capture->invalidated_by_.empty()) continue;
            }
            Runtime& runtime = capture->origin_->device().runtime();
            CaptureStatus now = CaptureStatus::none;
            if (runtime.stream_is_capturing(capture->origin_->handle(), &now) != Status::success ||
                now != CaptureStatus::invalidated) {
                continue;
            }
            const std::lock_guard lock(capture->mutex_);
            capture->invalidated_by_ = call + " (" + name(status) + ")";
            capture->why_ = detail;
            last_invalidated = capture;
        }
    } catch (...) {
        // Out of memory while noting the call. The capture's own error is reported all the same, without
        // naming the call.
    }
}

void Capture::note_place(const std::string& place) {
    const std::shared_ptr<Capture> capture = last_invalidated.lock();
    last_invalidated.reset();
    if (!capture) return;
    const std::lock_guard lock(capture->mutex_);
    if (capture->place_.empty()) capture->place_ = place;
}

}  // namespace cuscope::core
