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
#include "core/stream/enqueue.hpp"
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
    // Copies made by another device reach the memory of pools here: MemPool::let_copy().
    std::vector<int> copied_by() const;
    void note_copied_by(int other);
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

    // Gives something back to the runtime. Never throws, never waits, leaves Ctrl-C alone, spoils no capture;
    // does nothing once the process exits, was forked, or the device was reset. Put off where the runtime may
    // not be called (inside a host function, during a capture), where a capture refuses the call, and where
    // the call would wait for all of the device. `host_bytes`: of page-locked or managed memory, which the
    // system lacks until then.
    template <class Destroy>
    void release(unsigned generation, const char* call, Destroy destroy,
                 std::size_t host_bytes = 0) noexcept {
        if (!releasable(generation)) return;
        const GivingBack now;
        if (!now || !release_now(call, destroy)) put_off({generation, call, std::move(destroy), host_bytes});
    }
    // Does what it can, without waiting, of the releases that were put off and of those that are retired.
    // Cheap if there are none: one load. Otherwise one call for each kind of release that waits for the
    // device, however many there are of it, and at most 32 of those that are retired, in turn. So a loop that
    // drops and allocates keeps up with itself, and a stream that is held for long costs each call in between
    // the same.
    void sweep() { sweep(32); }
    // `attempt` does what it can of a release and says whether that was all; tried again by sweeps. `hurry`,
    // if there is one, makes the release ready at once, at the price of streams that wait for each other.
    void retire(std::function<bool()> attempt, std::function<void()> hurry = nullptr) noexcept;
    std::size_t retired();

    // Makes a call that allocates. If it finds no memory, it is made again once what was put off is given
    // back: first by ordering streams, then by waiting for the device, which Ctrl-C ends (Interrupted). The
    // device is current. A call that fails where nothing is put off has failed.
    template <class Call>
    Status allocate(Call call) {
        Status status = call();
        for (int step = 0; status == Status::memory_allocation && step < 2; ++step) {
            if (step == 0 ? hurry() : reclaim()) status = call();
        }
        return status;
    }
    // Before page-locked or managed memory is allocated, which the system may give out without end until it
    // ends the process: waits for the device if more than a gibibyte is put off.
    void limit_put_off();

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
    struct PutOff {
        unsigned generation = 0;
        const char* call = nullptr;
        std::function<Status(Runtime&)> destroy;
        std::size_t host_bytes = 0;
    };
    struct Retired {
        std::function<bool()> attempt;
        std::function<void()> hurry;
    };
    void put_off(PutOff release) noexcept;
    // False: to be put off.
    template <class Destroy>
    bool release_now(const char* call, const Destroy& destroy) noexcept;
    void sweep(std::size_t most_retired);
    bool hurry();  // both: something may have been given back
    bool reclaim();
    void let_others_sweep() const;

    std::shared_ptr<Runtime> runtime_;
    int ordinal_;
    std::string name_, model_;
    DeviceProperties properties_;
    std::atomic<unsigned> generation_{0};
    std::unique_ptr<Stream> legacy_, per_thread_;

    mutable std::mutex mutex_;  // of everything below; no call is made with it held
    std::vector<PutOff> put_off_;
    std::size_t put_off_host_bytes_ = 0;
    std::deque<Retired> retired_;
    std::vector<EventHandle> events_;
    std::shared_ptr<void> current_pool_;
    std::vector<int> reached_by_;  // ordinals
    std::vector<int> copied_by_;   // of devices whose copies were given access to the pools here
    std::deque<std::pair<unsigned long long, std::exception_ptr>> failures_;
    std::atomic<bool> has_work_{false}, has_failures_{false};
    std::atomic<int> sweeping_{0};  // how many threads have taken releases out of the lists, to try them
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

// A destructor's calls: on its device, without waiting, and so that no capture of any thread is spoilt by
// them.
class ReleaseScope {
  public:
    explicit ReleaseScope(Device& device);
    ReleaseScope(const ReleaseScope&) = delete;
    ReleaseScope& operator=(const ReleaseScope&) = delete;
    ~ReleaseScope();

  private:
    WithoutInterpreter interpreter_;
    DeviceScope device_;
    NoWait no_wait_;
    Runtime& runtime_;
    CaptureMode mode_ = CaptureMode::relaxed;
    bool relaxed_;
};
// Is this the answer of a call that is to be made again later?
bool is_put_off(Status status) noexcept;

template <class Destroy>
bool Device::release_now(const char* call, const Destroy& destroy) noexcept {
    try {
        const ReleaseScope scope(*this);
        const Status status = destroy(*runtime_);
        if (is_put_off(status)) {
            runtime_->get_last_error();
            return false;
        }
        log_failure(status, call);
    } catch (const Error& error) {
        log_failure(error.status(), call);
    } catch (...) {
        log_failure(Status::unknown, call);
    }
    return true;
}

}  // namespace cuscope::core
