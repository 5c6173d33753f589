// Semaphores of other interfaces, such as Vulkan's, that streams signal and wait for.
#pragma once

#include <memory>
#include <vector>

#include "core/graph/graph.hpp"

namespace cuscope::core {

// Holds no memory, but outlives its uses as memory does: streams are remembered, graphs keep it.
class ExternalSemaphore final : public Memory {
  public:
    // Takes the file descriptor over, if nothing is thrown.
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

// With the value that a timeline is set to, or waited for; binary ones have none.
struct SemaphoreValue {
    std::shared_ptr<ExternalSemaphore> semaphore;
    std::uint64_t value = 0;
};
using SemaphoreValues = std::vector<SemaphoreValue>;

enum class SemaphoreUse { signal, wait };
void enqueue(const StreamPtr& stream, SemaphoreUse use, const SemaphoreValues& semaphores);
GraphNodePtr add_semaphores(Graph& graph, SemaphoreUse use, const SemaphoreValues& semaphores,
                            const GraphNodes& after);
// The node says whether they are signalled or waited for.
void set_semaphores(GraphExec& exec, const GraphNode& node, const SemaphoreValues& semaphores);

}  // namespace cuscope::core
