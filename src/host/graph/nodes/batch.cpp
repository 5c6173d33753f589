// Nodes that do batches of memory operations.
#include <algorithm>

#include "host/effects/stream_memory_operations.hpp"
#include "host/graph/nodes/node_of.hpp"
#include "host/runtime/call.hpp"

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

class HostRuntime::GraphNode::BatchNode final : public Of<BatchMemOpNodeParameters> {
  public:
    void imitate(HostRuntime& runtime, const GraphNode& from) override {
        Of::imitate(runtime, from);
        use_own_operations();
    }
    void assign(HostRuntime& runtime, const BatchMemOpNodeParameters& given, Command* made) override {
        Of::assign(runtime, given, made);
        use_own_operations();
    }
    Status check_launch(HostRuntime& runtime, bool) const override {
        for (unsigned i = 0; i < given_.count; ++i) {
            TRY(runtime.check_memory_operation(given_.operations[i], false));
        }
        return Status::success;
    }

  protected:
    Status set_given(HostRuntime& runtime, BatchMemOpNodeParameters& given) override {
        Command* made = nullptr;
        const Status status = runtime.make_memory_operations(given, *runtime.device().legacy, true, &made);
        if (status == Status::success) assign(runtime, given, made);
        return status;
    }
    Status change_given(HostRuntime& runtime, BatchMemOpNodeParameters& given) override {
        if (given.operations != nullptr && alike(given, given_)) return set_given(runtime, given);
        return runtime.fail(Status::invalid_value,
                            "of a batch in an executable only addresses, values and conditions are changed, "
                            "not the count and the types of its operations");
    }
    GraphExecUpdateResult difference_to(const Of& want) const override {
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

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const BatchMemOpNodeParameters&) {
    return std::make_unique<BatchNode>();
}

Status HostRuntime::capture_batch(Stream& stream, const BatchMemOpNodeParameters& batch, Command* command) {
    auto made = std::make_unique<GraphNode::BatchNode>();
    made->assign(*this, batch, command);
    add_captured(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
