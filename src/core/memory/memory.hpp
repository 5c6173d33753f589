// Memory that streams use: device memory, allocated and freed in stream order, and page-locked host memory.
// Both outlive whatever was enqueued on them: every stream that uses one is remembered, and what gives the
// memory back waits for all of them, on the device or at a later call, never in a destructor.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "core/stream/stream.hpp"

namespace cuscope::core {

class MemPool;

// The streams that used something, other than one that needs no remembering.
class Uses {
  public:
    // True if the stream is new here.
    bool add(const StreamPtr& stream);
    std::vector<StreamPtr> take();
    std::vector<StreamPtr> list();

  private:
    std::atomic<const Stream*> last_{nullptr};  // one of those below
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
    // To be called before work that uses the memory is put into the stream, with its device current. In a
    // capture the memory is the graph's from then on, and is told of the streams that this is launched in.
    void use(const StreamPtr& stream, const Enqueue&) {
        if (stream->capturing()) {
            use_in_capture(stream);
        } else {
            used_in(stream);
        }
    }
    virtual void used_in(const StreamPtr& stream) = 0;
    // The streams whose work may still use the memory.
    virtual std::vector<StreamPtr> users() = 0;

  protected:
    Memory() = default;

  private:
    void use_in_capture(const StreamPtr& stream);
};

// What kernels know by an address of the device.
class DeviceMemory final : public Memory {
  public:
    enum class Kind {
        pooled,    // of a pool, allocated and freed in stream order
        plain,     // cudaMalloc, cudaMallocPitch and their like
        managed,   // cudaMallocManaged
        borrowed,  // a view of what something else owns: page-locked memory, a module's variable
        foreign,   // of another library
        graph,     // of a node of a graph
    };

    // From the device's current pool, or from the given one.
    static std::shared_ptr<DeviceMemory> allocate(const StreamPtr& stream, std::size_t bytes,
                                                  const std::shared_ptr<MemPool>& pool = nullptr);
    static std::shared_ptr<DeviceMemory> allocate_plain(const DevicePtr& device, std::size_t bytes);
    // Rows of `width` bytes, *pitch bytes apart.
    static std::shared_ptr<DeviceMemory> allocate_pitched(const DevicePtr& device, const Extent& extent,
                                                          std::size_t* pitch);
    static std::shared_ptr<DeviceMemory> allocate_managed(const DevicePtr& device, std::size_t bytes,
                                                          unsigned flags);
    // `owner` stays alive; `used`, if it is not null, is told of every stream.
    static std::shared_ptr<DeviceMemory> borrow(const DevicePtr& device, void* pointer, void* host_pointer,
                                                std::size_t bytes, std::shared_ptr<void> owner, Memory* used);
    // What a node of a graph allocates when the graph runs: it belongs to the graph and its executables.
    static std::shared_ptr<DeviceMemory> of_graph(const DevicePtr& device, void* pointer, std::size_t bytes);
    // By a new node of the graph that the stream is being captured to.
    static std::shared_ptr<DeviceMemory> capture_allocation(const StreamPtr& stream, std::size_t bytes);
    // In stream order; by a node if the stream is being captured.
    void free_of_graph(const StreamPtr& stream);
    // Memory of another library. `owner` stays alive until every stream that used it is past that. Streams
    // that use it wait for what `ready` was given so far, unless that is null. If `in_order`, that stream
    // waits in turn for those that used the memory, when they give it up: it has to be there until then.
    static std::shared_ptr<DeviceMemory> adopt(const DevicePtr& device, void* pointer, void* host_pointer,
                                               std::size_t bytes, std::shared_ptr<void> owner,
                                               const StreamPtr& ready, bool in_order);

    Device& device() const override {
        return allocation_.device ? *allocation_.device : allocation_.stream->device();
    }
    std::size_t bytes() const override { return allocation_.bytes; }
    void used_in(const StreamPtr& stream) override;
    std::vector<StreamPtr> users() override;
    // Orders what `later` is given from now on after all that the memory was used for so far.
    void make_wait(const StreamPtr& later);
    // Waits for that on the host.
    void wait();
    // Others use it too, in streams that are not known here: they are given a chance to be done before the
    // memory goes back to its pool.
    void set_exported() { exported_.store(true, std::memory_order_relaxed); }
    void check_usable() const { device().check_generation(generation_, "DeviceArray"); }

    // Foreign memory that is kept longer than the call that it was given to asks nothing more of a stream
    // that may be gone by then.
    void outlast_call();

    void* pointer() const { return allocation_.pointer; }  // null if there are no bytes
    const StreamPtr& stream() const { return allocation_.stream; }
    Kind kind() const { return allocation_.kind; }
    // The address by which the host knows it; null where it does not.
    void* host_pointer() const { return allocation_.host_pointer; }

    // Of managed memory: moves the pages of a part to a place, in stream order; says how it will be used.
    void prefetch(std::size_t offset, std::size_t bytes, const MemLocation& location,
                  const StreamPtr& stream);
    void advise(std::size_t offset, std::size_t bytes, MemoryAdvice advice, const MemLocation& location);
    std::vector<int> range_attribute(std::size_t offset, std::size_t bytes, MemRangeAttribute attribute);

    struct Allocation {
        void* pointer = nullptr;
        std::size_t bytes = 0;
        StreamPtr stream;
        EventHandle allocated = nullptr;  // when other streams may begin to use it
        Kind kind = Kind::pooled;
        void* host_pointer = nullptr;
        std::shared_ptr<void> owner;    // borrowed or foreign, or a pool
        Memory* used = nullptr;         // borrowed
        DevicePtr device;               // foreign: the stream may be another device's
        StreamPtr ready;                // foreign: what `allocated` was recorded in; its handle may be gone
        bool in_order = false;          // foreign
        unsigned event_generation = 0;  // foreign: of the stream's device
    };
    DeviceMemory(Allocation allocation, unsigned generation);
    ~DeviceMemory() override;

  private:
    // In whose order `allocated` is.
    const Stream& first_stream() const {
        return *(allocation_.ready ? allocation_.ready : allocation_.stream);
    }

    Allocation allocation_;
    unsigned generation_;
    Uses uses_;
    std::atomic<bool> exported_{false};
};

// How many bytes page-locked memory came with, and how.
class PinnedMemory final : public Memory {
  public:
    static std::shared_ptr<PinnedMemory> allocate(const DevicePtr& device, std::size_t bytes, unsigned flags);
    // Page-locks memory of the program's own, which `owner` keeps alive.
    static std::shared_ptr<PinnedMemory> register_memory(const DevicePtr& device, void* pointer,
                                                         std::size_t bytes, unsigned flags,
                                                         std::shared_ptr<void> owner);
    // Of registered memory: waits for the streams that use it and unlocks it.
    void unregister();
    bool closed() const { return closed_.load(); }
    // While one is held no registration is closed.
    static std::shared_lock<std::shared_mutex> stay_registered();
    // The page-locked memory that holds all of these bytes, if there is one that the device knows as such.
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
    // The address by which kernels know a byte of it; null if kernels cannot.
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

// After a reset, which takes page-locked and managed memory away: puts empty pages where arrays still look.
// NumPy arrays cannot be told that their memory is gone; reading one ended the process. The pages stay until
// the process ends.
void keep_host_addresses(const Device& device) noexcept;

// Gives something back once every stream is past its uses of it: now, or at a later sweep of the device. See
// Device::release() for `host_bytes`.
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
