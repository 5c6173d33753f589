// A stream of a device: one that was made, and is destroyed with the last that uses it, or one of the two
// default streams, which nobody owns. Enqueued work survives the handle, as in CUDA.
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

struct StreamTraits {
    using Handle = StreamHandle;
    static constexpr const char* call = "cudaStreamDestroy";
    static Status destroy(Runtime& runtime, Handle handle) { return runtime.stream_destroy(handle); }
};

class Stream : public std::enable_shared_from_this<Stream> {
  public:
    static std::shared_ptr<Stream> create(const DevicePtr& device, unsigned flags, int priority);
    // The stream of a handle that something else made and `owner` keeps alive. The default streams are those
    // of `near`; any other handle is one of its runtime. A stream that is known already is found again; this
    // one will be if it has an owner.
    static std::shared_ptr<Stream> adopt(const DevicePtr& near, StreamHandle handle,
                                         std::shared_ptr<void> owner);
    // A default stream. Lives inside its device.
    Stream(Device& device, StreamHandle default_handle);
    Stream(const DevicePtr& device, StreamHandle handle, unsigned flags, int priority);
    // Of something else, which `owner` keeps, or nobody whom we know. While it is captured, nothing is asked
    // about it: that would spoil the capture.
    Stream(const DevicePtr& device, StreamHandle handle, std::shared_ptr<void> owner, bool captured);

    Device& device() const { return device_; }
    StreamHandle handle() const { return handle_; }
    unsigned flags() const { return flags_; }
    int priority() const { return priority_.load(std::memory_order_relaxed); }
    LaunchAttribute attribute(LaunchAttributeId id);
    void set_attribute(LaunchAttributeId id, const LaunchAttribute& value);
    void copy_attributes(const Stream& source);  // of the same device
    // The runtime's own number, never reused; 0 where there is none to be had.
    unsigned long long id() const { return id_; }
    // Ours, never reused by another stream of this process.
    unsigned long long serial() const { return serial_; }
    // Is the handle good as long as this lives? That of a stream which another library only named is good for
    // the call that it was named to.
    bool lasts() const { return is_default() || owner_ != nullptr || owned_.get() != nullptr; }
    bool is_default() const { return handle_ == stream_legacy || handle_ == stream_per_thread; }

    void check_usable() const {
        if (!is_default()) device_.check_generation(generation_, "Stream");
    }
    // All work of this stream is ordered against all of the other by CUDA's own rule for default streams.
    bool implicitly_ordered_with(const Stream& other) const;

    // Is it being captured, as far as this package began it?
    bool capturing() const { return capturing_.load(std::memory_order_relaxed); }
    std::shared_ptr<Capture> capture() const;  // null: no
    void set_capture(std::shared_ptr<Capture> capture);
    // As the runtime says; `id` is the capture's.
    CaptureStatus capture_status(unsigned long long* id = nullptr) const;
    CaptureGate& gate() const { return gate_; }

    void synchronize();
    bool query();
    // An external wait is a node of the graph that the stream is being captured to.
    void wait(const Event& event, bool external = false);
    void wait(const Stream& other);  // for all that was enqueued there so far
    void add_host_task(std::unique_ptr<HostTask> task);

    // What it was given last, where only we know: on a real device.
    void note(Enqueued kind, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0) const noexcept {
        if (notes_) enqueued_.add(kind, a, b, c);
    }
    EnqueuedNotes& enqueued() const { return enqueued_; }
    // Those of a device that somebody uses, the default streams among them.
    static std::vector<std::shared_ptr<Stream>> all_of(Device& device);

    // Nobody is left who could give it work.
    void set_abandoned(bool abandoned) { abandoned_.store(abandoned); }
    bool abandoned() const { return abandoned_.load(); }

    // What stands for this stream in another layer, so that it is found again.
    std::weak_ptr<void> wrapper;

  private:
    static std::shared_ptr<Stream> enter(const std::shared_ptr<Stream>& stream);
    static std::shared_ptr<Stream> made_here(const Runtime& runtime, StreamHandle handle);
    void ask_what_it_is();
    void wait_in_capture(const Event& event, bool external);
    void join_what_it_waits_for();

    Device& device_;
    unique_handle<StreamTraits> owned_;  // keeps the device too; empty for a stream that nobody here owns
    DevicePtr kept_device_;              // of a stream that something else made
    std::shared_ptr<void> owner_;        // of such a stream
    StreamHandle handle_;
    unsigned flags_;
    std::atomic<int> priority_{0};
    unsigned generation_;
    unsigned long long id_ = 0, serial_;
    std::atomic<bool> abandoned_{false}, capturing_{false};
    std::shared_ptr<Capture> capture_;  // under a lock of all streams
    mutable CaptureGate gate_;
    bool notes_;
    mutable EnqueuedNotes enqueued_;
};

using StreamPtr = std::shared_ptr<Stream>;
StreamPtr shared_from(Stream& stream);

// Orders what `later` is given from now on after everything that `earlier` was given so far.
Status order(const Stream& later, const Stream& earlier);

}  // namespace cuscope::core
