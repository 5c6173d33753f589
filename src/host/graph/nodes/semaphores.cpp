// Nodes that signal external semaphores and wait for them.
#include "host/effects/semaphore.hpp"
#include "host/graph/nodes/captured.hpp"
#include "host/graph/nodes/node_of.hpp"

namespace cuscope::host {

// Signals and waits differ in the type of their parameters alone.
template <class Parameters>
class SemaphoresNode final : public NodeOf<Parameters> {
  public:
    GraphNodeParameters parameters() const override { return Parameters{own()}; }
    void imitate(Machine& machine, const GraphNode& from) override {
        NodeOf<Parameters>::imitate(machine, from);
        const auto& same = static_cast<const SemaphoresNode&>(from);
        handles_ = same.handles_;
        values_ = same.values_;
        this->given_ = Parameters{own()};
    }
    // Copies the arrays of the caller.
    void assign(Machine& machine, const Parameters& given, Command* made) override {
        handles_.assign(given.semaphores, given.semaphores + given.count);
        values_.assign(given.parameters, given.parameters + given.count);
        NodeOf<Parameters>::assign(machine, Parameters{own()}, made);
    }

  protected:
    Status set_given(Machine& machine, Parameters& given) override {
        constexpr bool wait = std::is_same_v<Parameters, SemaphoreWaitNodeParameters>;
        Command* made = nullptr;
        const Status status = make_semaphores(machine, given, wait, *machine.devices.current().legacy, &made);
        if (status == Status::success) assign(machine, given, made);
        return status;
    }
    Status change_given(Machine& machine, Parameters& given) override {
        if (given.count == handles_.size()) return set_given(machine, given);
        return fail(Status::invalid_value,
                    "in an executable the number of a node's semaphores stays what it was");
    }
    GraphExecUpdateResult difference_to(const NodeOf<Parameters>& want) const override {
        return this->given_.count == want.given().count ? GraphExecUpdateResult::success
                                                        : GraphExecUpdateResult::parameters_changed;
    }

  private:
    ExternalSemaphoreNodeParameters own() const {
        return {handles_.data(), values_.data(), static_cast<unsigned>(handles_.size())};
    }

    std::vector<ExternalSemaphoreHandle> handles_;
    std::vector<ExternalSemaphoreParameters> values_;
};

GraphNode::Made GraphNode::make(const SemaphoreSignalNodeParameters&) {
    return std::make_unique<SemaphoresNode<SemaphoreSignalNodeParameters>>();
}

GraphNode::Made GraphNode::make(const SemaphoreWaitNodeParameters&) {
    return std::make_unique<SemaphoresNode<SemaphoreWaitNodeParameters>>();
}

Status capture_semaphores(Machine& machine, Stream& stream, const ExternalSemaphoreNodeParameters& given,
                          bool wait, Command* command) {
    const auto add = [&]<class Parameters>(const Parameters& parameters) {
        auto made = std::make_unique<SemaphoresNode<Parameters>>();
        made->assign(machine, parameters, command);
        machine.captures.add(stream, std::move(made));
    };
    wait ? add(SemaphoreWaitNodeParameters{given}) : add(SemaphoreSignalNodeParameters{given});
    return Status::success;
}

}  // namespace cuscope::host
