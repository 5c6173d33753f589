// Memory that streams use: device memory, allocated and freed in stream order, and page-locked host memory.
// Both outlive the commands that use them: every stream that uses a piece of memory is remembered, and the
// release waits for all of these streams, on the device or at a later call, never in a destructor.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "core/stream/recorded_event.hpp"
#include "core/stream/stream.hpp"

namespace cuscope::core {

class MemPool;

// The streams that used an object, except streams that need not be remembered, such as the memory's own.
class Uses {
  public:
    // True if the stream was not in the list before.
    bool add(const StreamPtr& stream);
    std::vector<StreamPtr> take();
    std::vector<StreamPtr> list();

  private:
    std::atomic<const Stream*> last_{nullptr};  // one of streams_
    std::mutex mutex_;
    std::vector<StreamPtr> streams_;
};

class Memory : public std::enable_shared_from_this<Memory> {
  public:
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    virtual ~Memory() = default;

    virtual Device& device() const = 0;
    virtual std::size_t bytes() const = 0;
    // To be called before work that uses the memory is put into the stream, with the stream's device current.
    // In a capture, the graph keeps the memory from then on, and each launch of the graph adds its stream to
    // the users.
    void use(const StreamPtr& stream, const Enqueue&) {
        if (stream->capturing()) {
            use_in_capture(stream);
        } else {
            used_in(stream);
        }
    }
    virtual void used_in(const StreamPtr& stream) = 0;
    // The streams with work that may still use the memory.
    virtual std::vector<StreamPtr> users() = 0;

  protected:
    Memory() = default;

  private:
    void use_in_capture(const StreamPtr& stream);
};

// Memory that kernels address: a device address and its owner.
class DeviceMemory final : public Memory {
  public:
    enum class Kind {
        pooled,    // of a pool, allocated and freed in stream order
        plain,     // cudaMalloc, cudaMallocPitch and their like
        managed,   // cudaMallocManaged
        borrowed,  // a view of memory with another owner: page-locked memory, a module's variable
        foreign,   // owned by another library
        graph,     // allocated by a node of a graph
    };

    // From the given pool, or from the device's current one.
    static std::shared_ptr<DeviceMemory> allocate(const StreamPtr& stream, std::size_t bytes,
                                                  const std::shared_ptr<MemPool>& pool = nullptr);
    static std::shared_ptr<DeviceMemory> allocate_plain(const DevicePtr& device, std::size_t bytes);
    // Rows of `width` bytes, *pitch bytes apart.
    static std::shared_ptr<DeviceMemory> allocate_pitched(const DevicePtr& device, const Extent& extent,
                                                          std::size_t* pitch);
    static std::shared_ptr<DeviceMemory> allocate_managed(const DevicePtr& device, std::size_t bytes,
                                                          unsigned flags);
    // `owner` is kept alive; `used`, if it is not null, is told of every stream.
    static std::shared_ptr<DeviceMemory> borrow(const DevicePtr& device, void* pointer, void* host_pointer,
                                                std::size_t bytes, std::shared_ptr<void> owner, Memory* used);
    // The memory that a graph's allocation node gets when the graph runs. It belongs to the graph and its
    // executables.
    static std::shared_ptr<DeviceMemory> of_graph(const DevicePtr& device, void* pointer, std::size_t bytes);
    // Adds an allocation node to the graph that the stream is being captured to.
    static std::shared_ptr<DeviceMemory> capture_allocation(const StreamPtr& stream, std::size_t bytes);
    // In stream order, or by a free node if the stream is being captured.
    void free_of_graph(const StreamPtr& stream);
    // Memory of another library. `owner` stays alive until every stream that used the memory has finished its
    // use. Streams that use the memory wait for the work given to `ready` so far, unless `ready` is null. If
    // `in_order`, then `ready` waits in turn for the streams that used the memory when they give it up; the
    // stream must exist until then.
    static std::shared_ptr<DeviceMemory> adopt(const DevicePtr& device, void* pointer, void* host_pointer,
                                               std::size_t bytes, std::shared_ptr<void> owner,
                                               const StreamPtr& ready, bool in_order);

    Device& device() const override {
        return allocation_.device ? *allocation_.device : allocation_.stream->device();
    }
    std::size_t bytes() const override { return allocation_.bytes; }
    void used_in(const StreamPtr& stream) override;
    std::vector<StreamPtr> users() override;
    // Makes later work of the stream `later` wait for all uses of the memory so far.
    void make_wait(const StreamPtr& later);
    // Waits on the host for all uses so far.
    void wait();
    // Has the producer's work on foreign memory ended, as far as it was known when the memory came? Asks
    // without waiting; the device is current. False, too, if the question is not allowed.
    bool is_ready() const;
    // To be called when another library is about to put work that uses the memory into the stream.
    void lend(const StreamPtr& stream);
    // Other processes or libraries use the memory too, in streams that are not known here. They are given
    // time to finish before the memory goes back to its pool.
    void set_exported() { exported_.store(true, std::memory_order_relaxed); }
    void check_usable() const { device().check_generation(generation_, "DeviceArray"); }
    // Will the destructor most likely give the block to the SmallBlocks of the stream, and not call the
    // driver?
    bool is_dropped_quickly() const;

    // To be called when foreign memory is kept longer than the call that it was passed to: from then on the
    // producer's stream, which may be gone, is no longer used.
    void outlast_call();

    void* pointer() const { return allocation_.pointer; }  // null if there are no bytes
    const StreamPtr& stream() const { return allocation_.stream; }
    Kind kind() const { return allocation_.kind; }
    // The address by which the host can use it; null if there is none.
    void* host_pointer() const { return allocation_.host_pointer; }

    // For managed memory: migrates the pages of a part, in stream order, or gives a hint how they will be
    // used.
    void prefetch(std::size_t offset, std::size_t bytes, const MemLocation& location,
                  const StreamPtr& stream);
    void advise(std::size_t offset, std::size_t bytes, MemoryAdvice advice, const MemLocation& location);
    std::vector<int> range_attribute(std::size_t offset, std::size_t bytes, MemRangeAttribute attribute);

    struct Allocation {
        void* pointer = nullptr;
        std::size_t bytes = 0;
        StreamPtr stream;
        std::shared_ptr<const RecordedEvent> allocated;  // when other streams may begin to use it
        Kind kind = Kind::pooled;
        void* host_pointer = nullptr;
        std::shared_ptr<void> owner;  // borrowed or foreign, or a pool
        Memory* used = nullptr;       // borrowed
        DevicePtr device;             // foreign: the stream may be another device's
        StreamPtr ready;  // foreign: the stream in which `allocated` was recorded; its handle may be gone
        bool in_order = false;  // foreign
    };
    DeviceMemory(Allocation allocation, unsigned generation);
    ~DeviceMemory() override;

  private:
    // The stream in which `allocated` was recorded.
    const Stream& first_stream() const {
        return *(allocation_.ready ? allocation_.ready : allocation_.stream);
    }

    Allocation allocation_;
    unsigned generation_;
    Uses uses_;
    std::atomic<bool> exported_{false};
};

// Page-locked host memory: its bytes and how they were page-locked.
class PinnedMemory final : public Memory {
  public:
    static std::shared_ptr<PinnedMemory> allocate(const DevicePtr& device, std::size_t bytes, unsigned flags);
    // Page-locks memory that the program owns and `owner` keeps alive.
    static std::shared_ptr<PinnedMemory> register_memory(const DevicePtr& device, void* pointer,
                                                         std::size_t bytes, unsigned flags,
                                                         std::shared_ptr<void> owner);
    // For registered memory: waits for the streams that use it and unlocks it.
    void unregister();
    bool closed() const { return closed_.load(); }
    // No registration is closed while such a lock is held.
    static std::shared_lock<std::shared_mutex> stay_registered();
    // The number of objects: see live_counts().
    static std::size_t live() noexcept;
    // Does page-locked memory of any device contain all of these bytes?
    static bool is_page_locked(const void* address, std::size_t bytes);
    // The page-locked memory that contains all of these bytes, if the device knows any.
    static std::shared_ptr<PinnedMemory> find(const Device& device, const void* address, std::size_t bytes);

    Device& device() const override { return *device_; }
    std::size_t bytes() const override { return bytes_; }
    void used_in(const StreamPtr& stream) override;
    std::vector<StreamPtr> users() override { return uses_.list(); }
    void check_usable() const {
        device_->check_generation(generation_, "page-locked memory");
        if (closed_) throw std::invalid_argument("the registration of the memory was closed");
    }

    void* pointer() const { return pointer_; }
    // The address by which kernels use a byte of it; null if kernels cannot.
    void* device_address(const void* address) const;

    PinnedMemory(const DevicePtr& device, void* pointer, std::size_t bytes, void* device_pointer,
                 std::shared_ptr<void> owner = nullptr);
    ~PinnedMemory() override;

  private:
    static std::shared_ptr<PinnedMemory> enter(const std::shared_ptr<PinnedMemory>& memory);

    DevicePtr device_;
    void* pointer_;
    std::size_t bytes_;
    void* device_pointer_;
    unsigned generation_;
    Uses uses_;
    std::shared_ptr<void> owner_;  // of registered memory
    std::atomic<bool> closed_{false};
};

// To be called after a reset, which frees page-locked and managed memory: maps empty pages where NumPy arrays
// still point. A NumPy array cannot be told that its memory is gone, and without the pages reading it would
// crash the process. The pages stay until the process ends.
void keep_host_addresses(const Device& device) noexcept;

// Gives a resource back once every stream in `used` has finished its uses of it: now, or at a later sweep of
// the device. See Device::release() for `host_bytes`.
using Destroy = std::function<Status(Runtime&)>;
void release_after_uses(const DevicePtr& device, unsigned generation, const char* call,
                        const std::vector<StreamPtr>& used, Destroy destroy,
                        std::size_t host_bytes = 0) noexcept;

// For tests that look for leaks.
struct LiveCounts {
    std::size_t device_memory = 0, pinned_memory = 0;
};
LiveCounts live_counts() noexcept;

}  // namespace cuscope::core
