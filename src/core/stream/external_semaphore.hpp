// Semaphores of other interfaces, such as Vulkan, which streams signal and wait for.
#pragma once

#include <memory>
#include <vector>

#include "core/graph/graph.hpp"

namespace cuscope::core {

// Has no memory, but must outlive its uses as memory does: it remembers its streams, and graphs keep it.
class ExternalSemaphore final : public Memory {
  public:
    // Takes ownership of the file descriptor, unless it throws.
    static std::shared_ptr<ExternalSemaphore> import(const DevicePtr& device, ExternalSemaphoreType type,
                                                     int fd);
    ExternalSemaphore(const DevicePtr& device, ExternalSemaphoreType type, ExternalSemaphoreHandle handle);
    ~ExternalSemaphore() override;

    Device& device() const override { return *device_; }
    std::size_t bytes() const override { return 0; }
    void used_in(const StreamPtr& stream) override;
    std::vector<StreamPtr> users() override { return uses_.list(); }
    void check_usable() const { device_->check_generation(generation_, "ExternalSemaphore"); }
    ExternalSemaphoreType type() const { return type_; }
    ExternalSemaphoreHandle handle() const { return handle_; }

  private:
    DevicePtr device_;
    ExternalSemaphoreType type_;
    ExternalSemaphoreHandle handle_;
    unsigned generation_;
    Uses uses_;
};

// A semaphore and the value that a timeline semaphore is set to or waited for. Binary semaphores have no
// value.
struct SemaphoreValue {
    std::shared_ptr<ExternalSemaphore> semaphore;
    std::uint64_t value = 0;
};
using SemaphoreValues = std::vector<SemaphoreValue>;

enum class SemaphoreUse { signal, wait };
void enqueue(const StreamPtr& stream, SemaphoreUse use, const SemaphoreValues& semaphores);
GraphNodePtr add_semaphores(Graph& graph, SemaphoreUse use, const SemaphoreValues& semaphores,
                            const GraphNodes& after);
// The node determines whether the semaphores are signalled or waited for.
void set_semaphores(GraphExec& exec, const GraphNode& node, const SemaphoreValues& semaphores);

}  // namespace cuscope::core
