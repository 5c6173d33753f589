// Stream capture: what is put in a stream becomes a graph. Knows which streams take part, keeps what the
// captured work uses, and remembers which call spoilt it.
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

// What the nodes of a graph use. Only grows: a graph's nodes are few beside what they work on.
class Keepers {
  public:
    void keep(const std::shared_ptr<Memory>& memory);
    void keep(Memory& memory);
    void keep(const std::shared_ptr<void>& thing);
    void keep(const std::shared_ptr<GraphTask>& task);
    void keep(const Keepers& others);
    // Never keeps it: its owner.
    void ignore(const void* thing) { first(thing); }

    const std::vector<std::shared_ptr<Memory>>& memories() const { return memories_; }
    const std::vector<std::shared_ptr<GraphTask>>& tasks() const { return tasks_; }

  private:
    std::vector<std::shared_ptr<Memory>> memories_;
    std::vector<std::shared_ptr<GraphTask>> tasks_;
    std::vector<std::shared_ptr<void>> things_;
    // True at the first call for it; launches mostly use what the launches before them used.
    bool first(const void* thing);

    std::unordered_set<const void*> seen_;
    std::array<const void*, 16> recent_{};  // some of those in seen_
};

class Capture : public std::enable_shared_from_this<Capture> {
  public:
    // Throws what the runtime says.
    static void begin(const StreamPtr& stream, CaptureMode mode);
    // The same, adding to a graph, behind what `after` are.
    static void begin(const StreamPtr& stream, CaptureMode mode, const std::shared_ptr<Graph>& graph,
                      const std::vector<GraphNodeHandle>& after);
    // Null where the capture failed and `quietly`; throws otherwise. The streams are usable in any case.
    static std::shared_ptr<Graph> end(const StreamPtr& stream, bool quietly);
    // A capture that is held is ended by its holder, even if the stream is closed before.
    void set_held(bool held) { held_ = held; }
    // The stream was closed or dropped: its capture is to be ended. If this thread may not end it, or not
    // now, a later call of end_left() does.
    static void leave_behind(const StreamPtr& stream) noexcept;
    static void end_left() noexcept;

    template <class Thing>
    void keep(const std::shared_ptr<Thing>& thing) {
        const std::lock_guard lock(mutex_);
        keepers_.keep(thing);
    }
    // What a launch uses.
    void keep(std::span<Memory* const> memories, const std::shared_ptr<void>& kernel);
    // Memory of the capture's own that the work of one stream uses: so much that a reduction needs, say.
    std::shared_ptr<DeviceMemory> own_memory(const StreamPtr& stream, std::size_t bytes, bool* fresh);
    // Another stream takes part, unless the capture has ended.
    void join(const StreamPtr& stream);
    // What the next node that is captured in a stream waits for; its graph, as far as it is there.
    static std::vector<std::shared_ptr<GraphNode>> dependencies(const StreamPtr& stream);
    static void update_dependencies(const StreamPtr& stream,
                                    const std::vector<std::shared_ptr<GraphNode>>& nodes, bool replace);
    const StreamPtr& origin() const { return origin_; }
    // Null: none of ours that is under way.
    static std::shared_ptr<Capture> of_id(const Device& device, unsigned long long id);
    // Does a stream take part that the legacy default stream of its device waits for?
    bool has_blocking_stream_of(const Device& device);

    // A call has failed on this thread: was a capture spoilt by it? Looks, where it can be.
    static void note_failure(Status status, const std::string& call, const std::string& detail) noexcept;
    // Where in the program the call is that note_failure() was told of last on this thread.
    static void note_place(const std::string& place);

    Capture(const StreamPtr& origin, CaptureMode mode, std::shared_ptr<Graph> into);

  private:
    static void enter(const StreamPtr& stream, CaptureMode mode, std::shared_ptr<Graph> into);
    void leave();
    void give_up();
    bool is_of_this_thread() const;
    // No stream that takes part is given work, and none joins. False where that would have to be waited for,
    // and is not to be.
    bool close_gates(ClosedGates* closed, bool may_wait);
    static std::shared_ptr<Graph> end(const StreamPtr& stream, bool quietly,
                                      std::optional<ClosedGates>& closed);

    // The graph so far.
    std::shared_ptr<Graph> graph_of(const StreamPtr& stream, GraphHandle handle);

    StreamPtr origin_;
    CaptureMode mode_;
    const std::weak_ptr<void> owner_;  // expired: the thread that began the capture has ended
    std::atomic<bool> held_{false}, left_{false};
    std::shared_ptr<Graph> into_;
    unsigned long long id_ = 0;  // the runtime's number
    std::mutex mutex_;           // of everything below
    bool ended_ = false;
    Keepers keepers_;
    std::vector<StreamPtr> streams_;
    std::unordered_map<const Stream*, std::shared_ptr<DeviceMemory>> own_;
    std::shared_ptr<Graph> unfinished_;  // null: nobody has asked
    std::string spoilt_by_, why_, place_;
};

// Captures of this process that this package began. While there are any, what need not be done now waits:
// calls that only tidy up could spoil one.
inline std::atomic<int> capture_count{0};
inline int captures_underway() noexcept { return capture_count.load(std::memory_order_relaxed); }

// Lets calls through that a capture would refuse for safety's sake alone, on this thread: allocations that
// are no part of it.
class RelaxedCapture {
  public:
    explicit RelaxedCapture(Device& device);
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;
    ~RelaxedCapture();

  private:
    Runtime* runtime_ = nullptr;  // null: nothing is captured
    CaptureMode mode_ = CaptureMode::relaxed;
};

// In a capture: keeps what pageable host memory belongs to, which the graph reads or writes when it runs.
void keep_host(const Stream& stream, bool pinned, const std::function<std::shared_ptr<void>()>& keep_alive);

// Throws before the runtime hears of a call that would spoil the capture.
[[noreturn]] void refuse_in_capture(Status status, const std::string& call, const std::string& detail);
// Of a call that waits for all of a device, or asks it.
void refuse_while_captured(const Device& device, const char* call);
// Of work in the legacy default stream, which waits for all blocking streams.
void refuse_legacy_in_capture(const Stream& stream, const char* call);

}  // namespace cuscope::core
