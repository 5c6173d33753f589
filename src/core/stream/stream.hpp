// A stream of a device: either created here and destroyed with its last user, or one of the two default
// streams, which are never destroyed. Enqueued work survives the handle, as in CUDA.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "core/stream/enqueue.hpp"
#include "core/stream/enqueued.hpp"
#include "core/unique_handle.hpp"

namespace cuscope::core {

class Capture;
class Event;
class HostTask;
class SmallBlocks;

struct StreamTraits {
    using Handle = StreamHandle;
    static constexpr const char* call = "cudaStreamDestroy";
    static Status destroy(Runtime& runtime, Handle handle) { return runtime.stream_destroy(handle); }
};

class Stream : public std::enable_shared_from_this<Stream> {
  public:
    static std::shared_ptr<Stream> create(const DevicePtr& device, unsigned flags, int priority);
    // The stream of a handle that was created elsewhere and that `owner` keeps alive. A default stream's
    // handle means the one of `near`; any other handle belongs to the runtime of `near`. A stream that is
    // already known is returned again. A new one is remembered if it has an owner.
    static std::shared_ptr<Stream> adopt(const DevicePtr& near, StreamHandle handle,
                                         std::shared_ptr<void> owner);
    // A default stream. Lives inside its device.
    Stream(Device& device, StreamHandle default_handle);
    Stream(const DevicePtr& device, StreamHandle handle, unsigned flags, int priority);
    // A stream created elsewhere; `owner` keeps it alive, or is null if its owner is not known. While it is
    // captured, the stream is not queried, because that would invalidate the capture.
    Stream(const DevicePtr& device, StreamHandle handle, std::shared_ptr<void> owner, bool captured);

    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    Device& device() const { return device_; }
    StreamHandle handle() const { return handle_; }
    unsigned flags() const { return flags_; }
    int priority() const { return priority_.load(std::memory_order_relaxed); }
    LaunchAttribute attribute(LaunchAttributeId id);
    void set_attribute(LaunchAttributeId id, const LaunchAttribute& value);
    void copy_attributes(const Stream& source);  // of the same device
    // The runtime's own number, never reused; 0 if the runtime has none, and for default streams.
    unsigned long long id() const { return id_; }
    // That of a default stream; for the per-thread default stream, that of the calling thread.
    unsigned long long ask_id();
    // The number that core gives it, never reused in this process.
    unsigned long long serial() const { return serial_; }
    // Is the handle valid as long as this object lives? A handle that another library only passed to a call
    // is valid for that call alone.
    bool lasts() const { return is_default() || owner_ != nullptr || owned_.get() != nullptr; }
    bool is_default() const { return handle_ == stream_legacy || handle_ == stream_per_thread; }

    void check_usable() const {
        if (!is_default()) device_.check_generation(generation_, "Stream");
    }
    // Does CUDA order all work of this stream against all work of the other, by the rule for the legacy
    // default stream?
    bool implicitly_ordered_with(const Stream& other) const;

    // Is it being captured by a capture that this package began?
    bool capturing() const { return capturing_.load(std::memory_order_relaxed); }
    std::shared_ptr<Capture> capture() const;  // null: not captured
    void set_capture(std::shared_ptr<Capture> capture);
    // As reported by the runtime; `id` is the capture's.
    CaptureStatus capture_status(unsigned long long* id = nullptr) const;
    CaptureGate& gate() const { return gate_; }

    void synchronize();
    bool query();
    // An external wait becomes a node of the graph that the stream is being captured to.
    void wait(const Event& event, bool external = false);
    void wait(const Stream& other);  // for all work enqueued there so far
    void add_host_task(std::unique_ptr<HostTask> task);

    // Notes a command given to the stream, for lists of pending work. Captured commands do not run.
    void note(Enqueued kind, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0) const noexcept {
        if (!capturing()) enqueued_.add(kind, a, b, c);
    }
    EnqueuedNotes& enqueued() const { return enqueued_; }
    // Null if the stream keeps no blocks: on simulated devices, in the per-thread default stream, and if the
    // handle may be gone before this object.
    SmallBlocks* small_blocks() const { return small_blocks_.get(); }
    // All streams of a device that are in use, including the default streams.
    static std::vector<std::shared_ptr<Stream>> all_of(Device& device);

    // True: no owner is left that could give it work.
    void set_abandoned(bool abandoned) { abandoned_.store(abandoned); }
    bool abandoned() const { return abandoned_.load(); }
    // Did the program close it? A thread may still have it as its current stream.
    void set_closed(bool closed) { closed_.store(closed, std::memory_order_relaxed); }
    bool closed() const { return closed_.load(std::memory_order_relaxed); }

    // The object that represents this stream in another layer, so that it is found again.
    std::weak_ptr<void> wrapper;

  private:
    static std::shared_ptr<Stream> enter(const std::shared_ptr<Stream>& stream);
    static std::shared_ptr<Stream> made_here(const Runtime& runtime, StreamHandle handle);
    void ask_what_it_is();
    std::unique_ptr<SmallBlocks> make_small_blocks() const;
    void wait_in_capture(const Event& event, bool external);
    void join_what_it_waits_for();

    Device& device_;
    unique_handle<StreamTraits> owned_;  // keeps the device too; empty if the stream was created elsewhere
    DevicePtr kept_device_;              // of a stream created elsewhere
    std::shared_ptr<void> owner_;        // of a stream created elsewhere
    StreamHandle handle_;
    unsigned flags_;
    std::atomic<int> priority_{0};
    unsigned generation_;
    unsigned long long id_ = 0, serial_;
    std::atomic<bool> abandoned_{false}, capturing_{false}, closed_{false};
    std::shared_ptr<Capture> capture_;  // guarded by one lock for all streams
    mutable CaptureGate gate_;
    mutable EnqueuedNotes enqueued_;
    std::unique_ptr<SmallBlocks> small_blocks_;
};

using StreamPtr = std::shared_ptr<Stream>;
StreamPtr shared_from(Stream& stream);

// Makes later work of the stream `later` wait for all work given to `earlier` so far.
Status order(const Stream& later, const Stream& earlier);

}  // namespace cuscope::core
