// Nodes that do batches of memory operations.
#include <algorithm>

#include "host/effects/stream_memory_operations.hpp"
#include "host/graph/nodes/captured.hpp"
#include "host/graph/nodes/node_of.hpp"

namespace cuscope::host {
namespace {

// Are two batches the same but for the addresses, the values and the conditions of waits?
bool alike(const BatchMemOpNodeParameters& one, const BatchMemOpNodeParameters& other) {
    if (one.count != other.count) return false;
    return std::equal(one.operations, one.operations + one.count, other.operations,
                      [](const MemoryOperation& a, const MemoryOperation& b) {
                          return a.type == b.type &&
                                 (a.type != MemoryOperationType::barrier || a.flags == b.flags);
                      });
}

}  // namespace

class BatchNode final : public NodeOf<BatchMemOpNodeParameters> {
  public:
    void imitate(Machine& machine, const GraphNode& from) override {
        NodeOf::imitate(machine, from);
        use_own_operations();
    }
    void assign(Machine& machine, const BatchMemOpNodeParameters& given, Command* made) override {
        NodeOf::assign(machine, given, made);
        use_own_operations();
    }
    Status check_launch(Machine& machine, bool) const override {
        for (unsigned i = 0; i < given_.count; ++i) {
            TRY(check_memory_operation(machine, given_.operations[i], false));
        }
        return Status::success;
    }

  protected:
    Status set_given(Machine& machine, BatchMemOpNodeParameters& given) override {
        Command* made = nullptr;
        const Status status =
            make_memory_operations(machine, given, *machine.devices.current().legacy, true, &made);
        if (status == Status::success) assign(machine, given, made);
        return status;
    }
    Status change_given(Machine& machine, BatchMemOpNodeParameters& given) override {
        if (given.operations != nullptr && alike(given, given_)) return set_given(machine, given);
        return fail(Status::invalid_value,
                    "of a batch in an executable only addresses, values and conditions are changed, "
                    "not the count and the types of its operations");
    }
    GraphExecUpdateResult difference_to(const NodeOf& want) const override {
        return alike(given_, want.given()) ? GraphExecUpdateResult::success
                                           : GraphExecUpdateResult::parameters_changed;
    }

  private:
    // The operations that the command's effect keeps, in place of the array of the caller.
    void use_own_operations() {
        const auto* const effect = work<MemoryOperationsEffect>();
        given_.operations = effect == nullptr ? nullptr : effect->operations().data();
    }
};

GraphNode::Made GraphNode::make(const BatchMemOpNodeParameters&) { return std::make_unique<BatchNode>(); }

Status capture_batch(Machine& machine, Stream& stream, const BatchMemOpNodeParameters& batch,
                     Command* command) {
    auto made = std::make_unique<BatchNode>();
    made->assign(machine, batch, command);
    machine.captures.add(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
