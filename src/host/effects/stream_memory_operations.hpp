// The work of stream memory operations. Private to src/host.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "host/sim/command.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct Machine;
struct Stream;

// A batch of writes is run like any other work. Where one of the operations waits, look() does all of them.
class MemoryOperationsEffect final : public Effect {
  public:
    MemoryOperationsEffect(Machine& machine, int device, std::vector<MemoryOperation> operations)
        : machine_(machine), device_(device), operations_(std::move(operations)) {}
    void starting(Time) override { next_ = 0; }
    void run() override;
    Progress look() override;
    bool quick() const override { return true; }
    std::shared_ptr<Effect> copy() const override {
        return std::make_shared<MemoryOperationsEffect>(machine_, device_, operations_);
    }
    const std::vector<MemoryOperation>& operations() const { return operations_; }
    std::size_t next() const { return next_; }

  private:
    Machine& machine_;
    int device_;
    std::vector<MemoryOperation> operations_;
    std::size_t next_ = 0;  // the first operation that look() has yet to do
};

// The addresses of a node are checked when its graph is launched.
Status check_memory_operation(const Machine& machine, const MemoryOperation& operation, bool of_node);
// Makes the command of a batch in a stream or of a node. Without operations, `*made` stays null.
Status make_memory_operations(Machine& machine, const BatchMemOpNodeParameters& parameters, Stream& stream,
                              bool of_node, Command** made);

}  // namespace cuscope::host
