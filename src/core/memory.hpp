// Memory that streams use: device memory, allocated and freed in stream order, and page-locked host memory.
// Both outlive whatever was enqueued on them: every stream that uses one is remembered, and what gives the
// memory back waits for all of them, on the device or at a later call, never in a destructor.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/stream.hpp"

namespace cuscope::core {

// The streams that used something, other than one that needs no remembering.
class Uses {
  public:
    // True if the stream is new here.
    bool add(const StreamPtr& stream);
    std::vector<StreamPtr> take();

  private:
    std::atomic<const Stream*> last_{nullptr};  // one of those below
    std::mutex mutex_;
    std::vector<StreamPtr> streams_;
};

class Memory {
  public:
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    virtual ~Memory() = default;

    virtual Device& device() const = 0;
    virtual std::size_t bytes() const = 0;
    // To be called before work that uses the memory is enqueued, with the device of the stream current.
    virtual void use(const StreamPtr& stream) = 0;

  protected:
    Memory() = default;
};

class DeviceMemory final : public Memory {
  public:
    static std::shared_ptr<DeviceMemory> allocate(const StreamPtr& stream, std::size_t bytes);

    Device& device() const override { return allocation_.stream->device(); }
    std::size_t bytes() const override { return allocation_.bytes; }
    void use(const StreamPtr& stream) override;
    void check_usable() const { device().check_generation(generation_, "DeviceArray"); }

    void* pointer() const { return allocation_.pointer; }  // null if there are no bytes
    const StreamPtr& stream() const { return allocation_.stream; }

    struct Allocation {
        void* pointer = nullptr;
        std::size_t bytes = 0;
        StreamPtr stream;
        EventHandle allocated = nullptr;  // when other streams may begin to use it
    };
    DeviceMemory(Allocation allocation, unsigned generation);
    ~DeviceMemory() override;

  private:
    Allocation allocation_;
    unsigned generation_;
    Uses uses_;
};

// How many bytes page-locked memory came with, and how.
class PinnedMemory final : public Memory {
  public:
    static std::shared_ptr<PinnedMemory> allocate(const DevicePtr& device, std::size_t bytes, unsigned flags);
    // The page-locked memory that holds all of these bytes, if there is one that the device knows as such.
    static std::shared_ptr<PinnedMemory> find(const Device& device, const void* address, std::size_t bytes);

    Device& device() const override { return *device_; }
    std::size_t bytes() const override { return bytes_; }
    void use(const StreamPtr& stream) override;
    void check_usable() const { device_->check_generation(generation_, "page-locked memory"); }

    void* pointer() const { return pointer_; }
    // The address by which kernels know a byte of it; null if kernels cannot.
    void* device_address(const void* address) const;

    PinnedMemory(const DevicePtr& device, void* pointer, std::size_t bytes, void* device_pointer);
    ~PinnedMemory() override;

  private:
    DevicePtr device_;
    void* pointer_;
    std::size_t bytes_;
    void* device_pointer_;
    unsigned generation_;
    Uses uses_;
};

// For tests that look for leaks.
struct LiveCounts {
    std::size_t device_memory = 0, pinned_memory = 0;
};
LiveCounts live_counts() noexcept;

}  // namespace cuscope::core
