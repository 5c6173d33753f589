// The work of stream memory operations. Private to src/host.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

// A batch of writes is run like any other work. Where one of the operations waits, look() does all of them.
class HostRuntime::MemoryOperationsEffect final : public Effect {
  public:
    MemoryOperationsEffect(HostRuntime& runtime, int device, std::vector<MemoryOperation> operations)
        : runtime_(runtime), device_(device), operations_(std::move(operations)) {}
    void starting(Time) override { next_ = 0; }
    void run() override;
    Progress look() override;
    bool quick() const override { return true; }
    std::shared_ptr<Effect> copy() const override {
        return std::make_shared<MemoryOperationsEffect>(runtime_, device_, operations_);
    }
    const std::vector<MemoryOperation>& operations() const { return operations_; }
    std::size_t next() const { return next_; }

  private:
    HostRuntime& runtime_;
    int device_;
    std::vector<MemoryOperation> operations_;
    std::size_t next_ = 0;  // the first operation that look() has yet to do
};

}  // namespace cuscope::host
