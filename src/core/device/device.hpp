// A device: one runtime and one ordinal. It holds the state that all objects on it share: properties, the
// default streams, events for ordering, exceptions of host functions that have not been raised yet, and
// releases that had to be put off. There is one Device object for each device as long as the process lives,
// so devices are compared by address.
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

    // The runtime that calls go to: a decorator of the device's own runtime while a trace runs. Another
    // thread may have made the decorator a moment ago, and no lock orders the two: hence acquire.
    Runtime& runtime() const { return *called_.load(std::memory_order_acquire); }
    Runtime& own_runtime() const { return *runtime_; }
    // Not a comparison of runtime(): a trace that begins or ends between the two calls would change one of
    // them.
    bool shares_runtime(const Device& other) const { return runtime_ == other.runtime_; }
    // Null: calls go to the device's own runtime. A decorator lives as long as the process.
    void call_through(Runtime* decorator) {
        traced_ = decorator != nullptr;
        called_.store(traced_ ? decorator : released_.load(std::memory_order_relaxed),
                      std::memory_order_release);
    }
    // The same for a decorator that has to see the calls of destructors, too. Both hold the lock of all
    // decorators.
    void check_through(Runtime* decorator) {
        Runtime* const released = decorator != nullptr ? decorator : runtime_.get();
        released_.store(released, std::memory_order_release);
        if (!traced_) called_.store(released, std::memory_order_release);
    }
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
    // Lets kernels on this device use the peer's memory, including its pools.
    void enable_peer_access(Device& peer);
    void disable_peer_access(Device& peer);
    bool reaches(const Device& peer) const;
    // The ordinals of the devices that may use the memory of this one.
    std::vector<int> reached_by() const;
    // The ordinals of the devices that may access the memory pools here in copies. See MemPool::let_copy().
    std::vector<int> copied_by() const;
    void note_copied_by(int other);
    void synchronize();
    // Destroys everything on the device. Objects that were made before can only be dropped.
    void reset();
    std::int64_t clock_ns() { return runtime_->clock_ns(); }
    void host_work(std::int64_t nanoseconds) { runtime_->host_work(nanoseconds); }

    // False: the program has used no stream of the device.
    bool used() const { return used_.load(std::memory_order_relaxed); }
    void note_used() {
        if (!used()) first_used();
    }

    // The default streams; they live as long as the device.
    std::shared_ptr<Stream> legacy_stream();
    std::shared_ptr<Stream> per_thread_stream();

    // Throws an Error if the call failed. The second one is for waits: it throws Interrupted if the wait was
    // interrupted.
    void check(Status status, const char* call) {
        if (status != Status::success) fail(status, call, {}, {});
    }
    void check_wait(Status status, const char* call);
    [[noreturn]] void fail(Status status, const std::string& call, std::string detail, std::string hint);

    // Counts the calls of reset(). An object made in an earlier generation is refused.
    unsigned generation() const { return generation_.load(std::memory_order_relaxed); }
    void check_generation(unsigned generation, const char* what) const {
        if (generation != this->generation()) refuse_generation(what);
    }

    // Gives a resource back to the runtime. Never throws and never waits, does not consume Ctrl-C, and does
    // not invalidate a capture. Does nothing once the process exits or was forked, or the device was reset.
    // The release is put off where the runtime may not be called (inside a host function, during a capture),
    // where a capture refuses the call, and where the call would wait for the whole device. `host_bytes`: the
    // size of page-locked or managed memory, which the system does not get back until the release.
    template <class Destroy>
    void release(unsigned generation, const char* call, Destroy destroy,
                 std::size_t host_bytes = 0) noexcept {
        if (!releasable(generation)) return;
        const GivingBack now;
        if (!now || !release_now(call, destroy)) put_off({generation, call, std::move(destroy), host_bytes});
    }
    // Completes the releases that were put off and the retired ones, as far as that is possible without
    // waiting. If there are none, it costs one load. Otherwise it costs one call for each kind of release
    // that waits for the device, however many releases of that kind there are, and it tries at most 32 of the
    // retired releases, in turn. So a loop that drops and allocates keeps up with itself, and a stream that
    // is blocked for long adds a constant cost to each call in between.
    void sweep(std::size_t most_retired = 32);
    // `attempt` does as much of a release as it can and returns whether it is complete; sweeps try it again.
    // `hurry`, if given, makes the release possible at once, at the price of making streams wait for each
    // other.
    void retire(std::function<bool()> attempt, std::function<void()> hurry = nullptr) noexcept;
    std::size_t retired();

    // Makes a call that allocates. If there is no memory, releases that were put off are completed and the
    // call is made again: first by ordering streams, then by waiting for the device, which Ctrl-C ends
    // (Interrupted). The device must be current. If nothing was put off, the first failure is final.
    template <class Call>
    Status allocate(Call call) {
        Status status = call();
        for (int step = 0; status == Status::memory_allocation && step < 2; ++step) {
            if (step == 0 ? hurry() : reclaim()) status = call();
        }
        return status;
    }
    // To be called before page-locked or managed memory is allocated: waits for the device if releases of
    // more than a gibibyte are put off. The system hands such memory out without a limit until it kills the
    // process.
    void limit_put_off();

    // Events without timing, to order streams. An event may be given back as soon as the waits on it are
    // enqueued.
    Status take_event(EventHandle* event);
    void give_event(EventHandle event, unsigned generation) noexcept;

    // For large copies of pageable host memory.
    StagingRing& staging() { return *staging_; }

    // The object that represents the device's current memory pool; null: its default pool.
    std::shared_ptr<void> current_pool();
    void set_current_pool(std::shared_ptr<void> pool);
    // The pool for large results of operations; null: not made yet.
    std::shared_ptr<void> result_pool();
    void set_result_pool(std::shared_ptr<void> pool);

    // Exceptions of host functions, oldest first.
    void store_failure(unsigned long long stream, std::exception_ptr failure);
    void raise_failure();                           // of any stream
    void raise_failure(unsigned long long stream);  // of the stream with this serial number

  private:
    void first_used();
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
    // False: the release is to be put off.
    template <class Destroy>
    bool release_now(const char* call, const Destroy& destroy) noexcept;
    bool hurry();  // hurry() and reclaim() return whether something may have been given back
    bool reclaim();
    void let_others_sweep() const;

    std::shared_ptr<Runtime> runtime_;
    std::atomic<Runtime*> called_;
    std::atomic<Runtime*> released_;  // destructors call it
    bool traced_ = false;
    std::atomic<bool> used_{false};
    int ordinal_;
    std::string name_, model_;
    DeviceProperties properties_;
    std::atomic<unsigned> generation_{0};
    std::unique_ptr<Stream> legacy_, per_thread_;

    mutable std::mutex mutex_;  // guards the members below; never held during a call of the runtime
    std::vector<PutOff> put_off_;
    std::size_t put_off_host_bytes_ = 0;
    std::deque<Retired> retired_;
    std::vector<EventHandle> events_;
    std::shared_ptr<void> current_pool_, result_pool_;
    std::vector<int> reached_by_;  // ordinals
    std::vector<int> copied_by_;   // devices that may access the pools here in copies
    std::deque<std::pair<unsigned long long, std::exception_ptr>> failures_;
    std::atomic<bool> has_work_{false}, has_failures_{false};
    std::atomic<int> sweeping_{0};  // threads that are trying releases which they took out of the lists
    std::unique_ptr<StagingRing> staging_;

  public:
    ~Device();  // where Stream and StagingRing are complete
};

// Throws an Error in a forked child process, which may not use its parent's runtimes.
[[noreturn]] void refuse_fork();
inline void refuse_after_fork() {
    if (forked_after_use()) refuse_fork();
}

// Makes a device the calling thread's current one in its runtime, and restores the previous one.
class DeviceScope {
  public:
    // Without `look` the scope changes no device, and only refuses calls after a fork.
    explicit DeviceScope(Device& device, bool look = true) : runtime_(device.runtime()) {
        refuse_after_fork();
        if (look) enter(device);
    }
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;
    ~DeviceScope() {
        if (changed_) runtime_.set_device(previous_);
    }

  private:
    void enter(Device& device);

    Runtime& runtime_;
    int previous_ = 0;
    bool changed_ = false;
};

// For calls that take the handle of a stream or event. Such a handle implies its device, so the current
// device is set only for default streams: they have the same handles on all devices.
class HandleScope : public DeviceScope {
  public:
    explicit HandleScope(Device& device, bool default_stream = false) : DeviceScope(device, default_stream) {}
};

// Marks a thread that runs a host function, in which the runtime may not be called.
class HostFunctionScope {
  public:
    HostFunctionScope();
    HostFunctionScope(const HostFunctionScope&) = delete;
    HostFunctionScope& operator=(const HostFunctionScope&) = delete;
    ~HostFunctionScope();
};
bool in_host_function() noexcept;

// Surrounds the calls of a destructor: they are made on its device, without waiting, and without invalidating
// a capture of any thread.
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
// Does this status mean that the call is to be made again later?
bool is_put_off(Status status) noexcept;

template <class Destroy>
bool Device::release_now(const char* call, const Destroy& destroy) noexcept {
    try {
        const ReleaseScope scope(*this);
        Runtime& runtime = *released_.load(std::memory_order_acquire);
        const Status status = destroy(runtime);
        if (is_put_off(status)) {
            runtime.get_last_error();
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
