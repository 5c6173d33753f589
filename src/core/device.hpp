// A device: one runtime, one ordinal. Holds what belongs to all objects on it: properties, the default
// streams, events for ordering, the exceptions of host functions that nobody has seen yet, and the releases
// that had to be put off. One Device stands for a device as long as the process lives; identity is that of
// the object.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "runtime/process.hpp"
#include "runtime/runtime.hpp"

namespace cuscope::core {

class Device;
class StagingRing;
class Stream;
using DevicePtr = std::shared_ptr<Device>;

class Device : public std::enable_shared_from_this<Device> {
  public:
    Device(std::shared_ptr<Runtime> runtime, int ordinal, std::string name);

    Runtime& runtime() const { return *runtime_; }
    int ordinal() const { return ordinal_; }
    const std::string& name() const { return name_; }    // "cuda:0", "host:0"
    const std::string& model() const { return model_; }  // "NVIDIA H200", "h200 model"
    std::string kind() const { return runtime_->kind(); }
    bool simulated() const { return runtime_->simulated(); }
    const DeviceProperties& properties() const { return properties_; }

    int attribute(int number);
    std::pair<std::size_t, std::size_t> memory_info();  // free, total
    PointerAttributes pointer_attributes(const void* address);
    std::size_t limit(Limit limit);
    void set_limit(Limit limit, std::size_t value);
    void reset_persisting_l2_cache();
    std::pair<int, int> stream_priority_range();  // least, greatest
    bool can_access_peer(const Device& peer);
    // Kernels here may use the peer's memory, of its pools too.
    void enable_peer_access(Device& peer);
    void disable_peer_access(Device& peer);
    bool reaches(const Device& peer) const;
    // The devices that may use the memory of this one.
    std::vector<int> reached_by() const;
    void synchronize();
    // Everything on the device is gone afterwards: what was made before it can only be dropped.
    void reset();
    std::int64_t clock_ns() { return runtime_->clock_ns(); }
    void host_work(std::int64_t nanoseconds) { runtime_->host_work(nanoseconds); }

    // The default streams; they live as long as the device.
    std::shared_ptr<Stream> legacy_stream();
    std::shared_ptr<Stream> per_thread_stream();

    // Throws what a status says. A wait that came back because it was interrupted throws Interrupted.
    void check(Status status, const char* call) {
        if (status != Status::success) fail(status, call, {}, {});
    }
    void check_wait(Status status, const char* call);
    [[noreturn]] void fail(Status status, const std::string& call, std::string detail, std::string hint);

    // Refuses what was made before a reset().
    unsigned generation() const { return generation_.load(std::memory_order_relaxed); }
    void check_generation(unsigned generation, const char* what) const {
        if (generation != this->generation()) refuse_generation(what);
    }

    // Gives something back to the runtime: never throws, does nothing once the process exits, was forked, or
    // the device was reset; put off where the runtime may not be called (inside a host function).
    template <class Destroy>
    void release(unsigned generation, const char* call, Destroy destroy) noexcept {
        if (!releasable(generation)) return;
        if (must_defer()) {
            defer([this, generation, call, destroy] { release(generation, call, destroy); });
        } else {
            release_now(call, destroy);
        }
    }
    // Does the releases that were put off, and those that waited for their streams. Cheap if there are none.
    void sweep();
    // `attempt` does what it can of a release and says whether that was all; tried again at every sweep.
    void retire(std::function<bool()> attempt) noexcept;
    std::size_t retired();

    // Events without timing, to order streams. An event may go back as soon as the waits on it are enqueued.
    Status take_event(EventHandle* event);
    void give_event(EventHandle event, unsigned generation) noexcept;

    // For large copies of pageable host memory.
    StagingRing& staging() { return *staging_; }

    // What stands for the device's current memory pool; null: its default one.
    std::shared_ptr<void> current_pool();
    void set_current_pool(std::shared_ptr<void> pool);

    // Exceptions of host functions, oldest first.
    void store_failure(unsigned long long stream, std::exception_ptr failure);
    void raise_failure();                           // of any stream
    void raise_failure(unsigned long long stream);  // of this one; by the stream's serial number

  private:
    [[noreturn]] void refuse_generation(const char* what) const;
    bool releasable(unsigned generation) const noexcept;
    static bool must_defer() noexcept;
    void defer(std::function<void()> release) noexcept;
    template <class Destroy>
    void release_now(const char* call, Destroy destroy) noexcept;

    std::shared_ptr<Runtime> runtime_;
    int ordinal_;
    std::string name_, model_;
    DeviceProperties properties_;
    std::atomic<unsigned> generation_{0};
    std::unique_ptr<Stream> legacy_, per_thread_;

    mutable std::mutex mutex_;  // of everything below; no call is made with it held
    std::vector<std::function<void()>> deferred_;
    std::vector<std::function<bool()>> retired_;
    std::vector<EventHandle> events_;
    std::shared_ptr<void> current_pool_;
    std::vector<int> reached_by_;  // ordinals
    std::deque<std::pair<unsigned long long, std::exception_ptr>> failures_;
    std::atomic<bool> has_work_{false}, has_failures_{false};
    std::unique_ptr<StagingRing> staging_;

  public:
    ~Device();  // where Stream and StagingRing are complete
};

// Throws an Error in a child process that may not use its parent's runtimes.
[[noreturn]] void refuse_fork();
inline void refuse_after_fork() {
    if (forked_after_use()) refuse_fork();
}

// Makes a device the calling thread's current one, as its runtime sees it, and restores the one before.
class DeviceScope {
  public:
    explicit DeviceScope(Device& device) : DeviceScope(device, true) {}
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;
    ~DeviceScope() {
        if (changed_) runtime_.set_device(previous_);
    }

  protected:
    DeviceScope(Device& device, bool look) : runtime_(device.runtime()) {
        refuse_after_fork();
        if (look) enter(device);
    }

  private:
    void enter(Device& device);

    Runtime& runtime_;
    int previous_ = 0;
    bool changed_ = false;
};

// For calls that go by handles of streams and events, which know their device: which device is current
// matters to those of default streams alone.
class HandleScope : public DeviceScope {
  public:
    explicit HandleScope(Device& device, bool default_stream = false) : DeviceScope(device, default_stream) {}
};

// On a thread that runs a host function: the runtime may not be called.
class HostFunctionScope {
  public:
    HostFunctionScope();
    HostFunctionScope(const HostFunctionScope&) = delete;
    HostFunctionScope& operator=(const HostFunctionScope&) = delete;
    ~HostFunctionScope();
};
bool in_host_function() noexcept;

template <class Destroy>
void Device::release_now(const char* call, Destroy destroy) noexcept {
    try {
        const DeviceScope scope(*this);
        log_failure(destroy(*runtime_), call);
    } catch (const Error& error) {
        log_failure(error.status(), call);
    } catch (...) {
        log_failure(Status::unknown, call);
    }
}

}  // namespace cuscope::core
