// Stream capture: the commands put in a stream become a graph. A Capture knows which streams take part, keeps
// the objects that the captured commands use, and remembers which call invalidated it.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/memory/memory.hpp"

namespace cuscope::core {

class Graph;
class GraphNode;
class GraphTask;
using GraphNodePtr = std::shared_ptr<GraphNode>;
using GraphNodes = std::vector<GraphNodePtr>;

// The objects that the nodes of a graph use. Only workspaces are removed one by one: the list is small
// compared to the memory that it keeps.
class Keepers {
  public:
    void keep(const std::shared_ptr<Memory>& memory);
    void keep(Memory& memory);
    void keep(const std::shared_ptr<void>& thing);
    void keep(const std::shared_ptr<GraphTask>& task);
    void keep(const Keepers& others);
    // Memory in which the blocks of a reduction exchange values, so that only one executable may use it.
    void keep_workspace(const std::shared_ptr<DeviceMemory>& memory);
    void drop_workspace(const std::shared_ptr<DeviceMemory>& memory) { std::erase(workspaces_, memory); }
    // Never keeps this object, which is the owner of the Keepers.
    void ignore(const void* thing) { first(thing); }

    const std::vector<std::shared_ptr<Memory>>& memories() const { return memories_; }
    const std::vector<std::shared_ptr<DeviceMemory>>& workspaces() const { return workspaces_; }
    const std::vector<std::shared_ptr<GraphTask>>& tasks() const { return tasks_; }

  private:
    std::vector<std::shared_ptr<Memory>> memories_;
    std::vector<std::shared_ptr<DeviceMemory>> workspaces_;
    std::vector<std::shared_ptr<GraphTask>> tasks_;
    std::vector<std::shared_ptr<void>> things_;
    // True at the first call for an object. Launches mostly use the same objects as the launches before them.
    bool first(const void* thing);

    std::unordered_set<const void*> seen_;
    std::array<const void*, 16> recent_{};  // some of the addresses in seen_
};

class Capture : public std::enable_shared_from_this<Capture> {
  public:
    // Throws if the runtime refuses. The commands become nodes of the graph `into`, after its nodes `after`;
    // null: of a new graph. `held`: as by set_held().
    static void begin(const StreamPtr& stream, CaptureMode mode, const std::shared_ptr<Graph>& into,
                      const GraphNodes& after, bool held);
    // If the capture failed, returns null with `quietly`, else throws. The streams are usable in either case.
    static std::shared_ptr<Graph> end(const StreamPtr& stream, bool quietly);
    // The owner of a held capture ends it, even if the stream is closed before.
    void set_held(bool held) { held_ = held; }
    // Throws if a `with` block holds a capture of the stream. Without the stream, the block could not end it.
    static void refuse_close(const StreamPtr& stream);
    // To be called when the stream was closed or dropped, so that its capture must end. If this thread may
    // not end it, or not now, a later call of end_left() does.
    static void leave_behind(const StreamPtr& stream) noexcept;
    static void end_left() noexcept;

    template <class Thing>
    void keep(const std::shared_ptr<Thing>& thing) {
        const std::lock_guard lock(mutex_);
        keepers_.keep(thing);
    }
    // Keeps the memory and the kernel of a launch.
    void keep(std::span<Memory* const> memories, const std::shared_ptr<void>& kernel);
    // The workspace of the graph for the reductions of one stream.
    std::shared_ptr<DeviceMemory> workspace(const StreamPtr& stream, std::size_t bytes, bool* fresh);
    // Adds another stream to the capture, unless the capture has ended.
    void join(const StreamPtr& stream);
    // The nodes that the next captured command of the stream will depend on.
    static std::vector<std::shared_ptr<GraphNode>> dependencies(const StreamPtr& stream);
    static void update_dependencies(const StreamPtr& stream,
                                    const std::vector<std::shared_ptr<GraphNode>>& nodes, bool replace);
    const StreamPtr& origin() const { return origin_; }
    // Null: no capture of this package with this number is under way.
    static std::shared_ptr<Capture> of_id(const Device& device, unsigned long long id);
    // Does a blocking stream of this device take part, for which its legacy default stream waits?
    bool has_blocking_stream_of(const Device& device);

    // To be called when a call has failed on this thread: notes the call at each capture that it invalidated.
    // CUDA tells that a capture is invalid, but not which call did it, so each capture under way is asked
    // now.
    static void note_failure(Status status, const std::string& call, const std::string& detail) noexcept;
    // The source line of the call that note_failure() was last told of on this thread.
    static void note_place(const std::string& place);

    Capture(const StreamPtr& origin, CaptureMode mode, std::shared_ptr<Graph> into);

  private:
    void leave();
    void give_up();
    bool is_of_this_thread() const;
    // Keeps every participating stream from getting work, and other streams from joining. False if that would
    // have to wait and `may_wait` is false.
    bool close_gates(ClosedGates* closed, bool may_wait);
    static std::shared_ptr<Graph> end(const StreamPtr& stream, bool quietly,
                                      std::optional<ClosedGates>& closed);
    [[noreturn]] static void fail_end(Device& device, Capture* capture, Status status);

    // The graph so far.
    std::shared_ptr<Graph> graph_of(const StreamPtr& stream, GraphHandle handle);

    StreamPtr origin_;
    CaptureMode mode_;
    const std::weak_ptr<void> owner_;  // expired: the thread that began the capture has ended
    std::atomic<bool> held_{false}, left_{false};
    std::shared_ptr<Graph> into_;
    unsigned long long id_ = 0;  // the runtime's number
    std::mutex mutex_;           // guards the members below
    bool ended_ = false;
    Keepers keepers_;
    std::vector<StreamPtr> streams_;
    std::unordered_map<const Stream*, std::shared_ptr<DeviceMemory>> workspaces_;
    std::shared_ptr<Graph> unfinished_;  // null: not asked for yet
    std::string invalidated_by_, why_, place_;
};

// The number of captures that this package began in this process and that have not ended. While there are
// any, calls that only tidy up are put off, because they could invalidate a capture.
inline std::atomic<int> capture_count{0};
inline int captures_underway() noexcept { return capture_count.load(std::memory_order_relaxed); }

// Allows, on this thread, calls that are not part of a capture but that a capture refuses by default because
// they are unsafe in general, such as allocations. The mode is exchanged although nothing may be captured
// yet: another thread may begin a capture before the call is made, or while it waits.
class RelaxedCapture {
  public:
    explicit RelaxedCapture(Device& device);
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;
    ~RelaxedCapture();

  private:
    Runtime& runtime_;
    CaptureMode mode_ = CaptureMode::relaxed;
    bool relaxed_ = false;
};

// Throws an Error before a call is made that would invalidate the capture.
[[noreturn]] void refuse_in_capture(Status status, const std::string& call, const std::string& detail);
// The same, for a call that waits for work of its own in this stream: to be called before that work is
// enqueued, which would stay in the graph.
void refuse_own_wait_in_capture(const Stream& stream, const std::string& call, const std::string& detail);
// The same for a call that waits for the whole device or queries it.
void refuse_while_captured(const Device& device, const char* call);
// The same for work in the legacy default stream, which waits for all blocking streams.
void refuse_legacy_in_capture(const Stream& stream, const char* call);

}  // namespace cuscope::core
