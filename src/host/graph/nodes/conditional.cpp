// Conditional nodes, which choose at a launch which of their bodies runs, and the conditions that they read.
#include "host/graph/nodes/node_of.hpp"
#include "host/graph/plan.hpp"

namespace cuscope::host {
namespace {

class ReadCondition final : public Effect {
  public:
    ReadCondition(const unsigned* value, std::shared_ptr<void> owner)
        : value_(value), owner_(std::move(owner)) {}
    void run() override { found = *value_; }
    unsigned found = 0;

  private:
    const unsigned* value_;
    std::shared_ptr<void> owner_;
};

}  // namespace

class ConditionalNode final : public NodeOf<ConditionalNodeParameters> {
  public:
    GraphNodeParameters parameters() const override {
        ConditionalNodeParameters answer = given_;
        answer.bodies = const_cast<GraphHandle*>(body_handles.data());
        return answer;
    }
    bool is_fixed() const override { return true; }
    bool chooses_bodies() const override { return true; }
    GraphInstantiateResult check_device_start(Machine&, bool whole_graph) const override {
        return whole_graph ? GraphInstantiateResult::node_operation_not_supported
                           : GraphInstantiateResult::success;
    }
    // The command that others wait for ends when the last body that was chosen has ended.
    void enqueue(Machine& machine, const Launch& launch, Command* made) const override {
        machine.timeline.hold(made);
        decide(machine, launch.run, launch.step, made, launch.after, launch.now);
        launch.after.clear();
    }

  protected:
    Status set_given(Machine& machine, ConditionalNodeParameters& given) override {
        const auto kind = static_cast<int>(given.type);
        const unsigned most = given.type == ConditionalType::while_ ? 1
                              : given.type == ConditionalType::if_  ? 2
                                                                    : ~0U;
        if (kind < 0 || kind > 2 || given.size == 0 || given.size > most) {
            return fail(Status::invalid_value,
                        "a conditional node of " + std::to_string(given.size) +
                            " graphs; a while has 1, an if 1 or 2, a switch 1 or more");
        }
        GraphCondition* condition = nullptr;
        for (const auto& known : graph->outermost().conditions) {
            if (reinterpret_cast<ConditionalHandle>(known.get()) == given.handle) condition = known.get();
        }
        if (condition == nullptr || condition->used) {
            return fail(Status::invalid_value, "the handle is none of the graph, or another node has it");
        }
        condition->used = true;
        for (unsigned i = 0; i < given.size; ++i) {
            auto body = machine.graphs.make();
            body->parent = this;
            body_handles.push_back(machine.graphs.show(*body));
            bodies.push_back(std::move(body));
        }
        given.bodies = body_handles.data();
        given_ = given;
        return Status::success;
    }
    GraphExecUpdateResult difference_to(const NodeOf& want) const override {
        return given_.handle == want.given().handle ? GraphExecUpdateResult::success
                                                    : GraphExecUpdateResult::not_supported;
    }

  private:
    // Enqueues a command that reads the condition. Once it has ended, the body of that value is enqueued, and
    // `join` waits for the end of that body.
    void decide(Machine& machine, const GraphRun& run, const GraphStep& step, Command* join,
                const std::vector<Command*>& after, bool now) const {
        Command* look = machine.timeline.make(*run.stream);
        look->role = Role::graph_condition;
        look->graph = run.launch;
        look->duration_from_effect = true;
        const auto* const condition = reinterpret_cast<const GraphCondition*>(given_.handle);
        look->effect = std::make_shared<ReadCondition>(&condition->value, run.plan);
        look->next = [this, &machine, run, &step,
                      join = CommandRef(machine.timeline.pool(), join)](Command* looked) {
            const unsigned value = static_cast<const ReadCondition&>(*looked->effect).found;
            const std::size_t body = given_.type == ConditionalType::switch_ ? value : value != 0 ? 0 : 1;
            if (body >= step.bodies.size()) {
                machine.timeline.release_hold(join.get(), {});
                return;
            }
            std::vector<Command*> ends;
            run.enqueue(machine, step.bodies[body], nullptr, true, &ends);
            if (given_.type == ConditionalType::while_) {
                decide(machine, run, step, join.get(), ends, true);
            } else {
                machine.timeline.release_hold(join.get(), ends);
            }
        };
        if (now) {
            machine.timeline.enqueue_now(look, after);
        } else {
            machine.timeline.enqueue_node(look, after, nullptr);
        }
    }
};

GraphNode::Made GraphNode::make(const ConditionalNodeParameters&) {
    return std::make_unique<ConditionalNode>();
}

}  // namespace cuscope::host
