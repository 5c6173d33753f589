// Nodes that signal external semaphores and wait for them.
#include "host/effects/semaphore.hpp"
#include "host/graph/nodes/node_of.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

// Signals and waits differ in the type of their parameters alone.
template <class Parameters>
class HostRuntime::GraphNode::SemaphoresNode final : public Of<Parameters> {
  public:
    GraphNodeParameters parameters() const override { return Parameters{own()}; }
    void imitate(HostRuntime& runtime, const GraphNode& from) override {
        Of<Parameters>::imitate(runtime, from);
        const auto& same = static_cast<const SemaphoresNode&>(from);
        handles_ = same.handles_;
        values_ = same.values_;
        this->given_ = Parameters{own()};
    }
    // Copies the arrays of the caller.
    void assign(HostRuntime& runtime, const Parameters& given, Command* made) override {
        handles_.assign(given.semaphores, given.semaphores + given.count);
        values_.assign(given.parameters, given.parameters + given.count);
        Of<Parameters>::assign(runtime, Parameters{own()}, made);
    }

  protected:
    Status set_given(HostRuntime& runtime, Parameters& given) override {
        constexpr bool wait = std::is_same_v<Parameters, SemaphoreWaitNodeParameters>;
        Command* made = nullptr;
        const Status status = runtime.make_semaphores(given, wait, *runtime.device().legacy, &made);
        if (status == Status::success) assign(runtime, given, made);
        return status;
    }
    Status change_given(HostRuntime& runtime, Parameters& given) override {
        if (given.count == handles_.size()) return set_given(runtime, given);
        return runtime.fail(Status::invalid_value,
                            "in an executable the number of a node's semaphores stays what it was");
    }
    GraphExecUpdateResult difference_to(const Of<Parameters>& want) const override {
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

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const SemaphoreSignalNodeParameters&) {
    return std::make_unique<SemaphoresNode<SemaphoreSignalNodeParameters>>();
}

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const SemaphoreWaitNodeParameters&) {
    return std::make_unique<SemaphoresNode<SemaphoreWaitNodeParameters>>();
}

Status HostRuntime::capture_semaphores(Stream& stream, const ExternalSemaphoreNodeParameters& given,
                                       bool wait, Command* command) {
    const auto add = [&]<class Parameters>(const Parameters& parameters) {
        auto made = std::make_unique<GraphNode::SemaphoresNode<Parameters>>();
        made->assign(*this, parameters, command);
        add_captured(stream, std::move(made));
    };
    wait ? add(SemaphoreWaitNodeParameters{given}) : add(SemaphoreSignalNodeParameters{given});
    return Status::success;
}

}  // namespace cuscope::host
