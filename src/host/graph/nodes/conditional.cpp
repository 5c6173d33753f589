// Conditional nodes, which choose at a launch which of their bodies runs, and the conditions that they read.
#include "host/graph/nodes/node_of.hpp"
#include "host/runtime/call.hpp"

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

class HostRuntime::GraphNode::ConditionalNode final : public Of<ConditionalNodeParameters> {
  public:
    GraphNodeParameters parameters() const override {
        ConditionalNodeParameters answer = given_;
        answer.bodies = const_cast<GraphHandle*>(body_handles.data());
        return answer;
    }
    bool is_fixed() const override { return true; }
    bool chooses_bodies() const override { return true; }
    GraphInstantiateResult check_device_start(HostRuntime&, bool whole_graph) const override {
        return whole_graph ? GraphInstantiateResult::node_operation_not_supported
                           : GraphInstantiateResult::success;
    }
    // The command that others wait for ends when the last body that was chosen has ended.
    void enqueue(HostRuntime& runtime, const Launch& launch, Command* made) const override {
        runtime.timeline_.hold(made);
        decide(runtime, launch.run, launch.step, made, launch.after, launch.now);
        launch.after.clear();
    }

  protected:
    Status set_given(HostRuntime& runtime, ConditionalNodeParameters& given) override {
        const auto kind = static_cast<int>(given.type);
        const unsigned most = given.type == ConditionalType::while_ ? 1
                              : given.type == ConditionalType::if_  ? 2
                                                                    : ~0U;
        if (kind < 0 || kind > 2 || given.size == 0 || given.size > most) {
            return runtime.fail(Status::invalid_value,
                                "a conditional node of " + std::to_string(given.size) +
                                    " graphs; a while has 1, an if 1 or 2, a switch 1 or more");
        }
        const Graph* outermost = graph;
        while (outermost->parent != nullptr) outermost = outermost->parent->graph;
        GraphCondition* condition = nullptr;
        for (const auto& known : outermost->conditions) {
            if (reinterpret_cast<ConditionalHandle>(known.get()) == given.handle) condition = known.get();
        }
        if (condition == nullptr || condition->used) {
            return runtime.fail(Status::invalid_value,
                                "the handle is none of the graph, or another node has it");
        }
        condition->used = true;
        for (unsigned i = 0; i < given.size; ++i) {
            auto body = runtime.new_graph();
            body->parent = this;
            runtime.graphs_->alive.insert(body.get());
            body_handles.push_back(reinterpret_cast<GraphHandle>(body.get()));
            bodies.push_back(std::move(body));
        }
        given.bodies = body_handles.data();
        given_ = given;
        return Status::success;
    }
    GraphExecUpdateResult difference_to(const Of& want) const override {
        return given_.handle == want.given().handle ? GraphExecUpdateResult::success
                                                    : GraphExecUpdateResult::not_supported;
    }

  private:
    // Enqueues a command that reads the condition. Once it has ended, the body of that value is enqueued, and
    // `join` waits for the end of that body.
    void decide(HostRuntime& runtime, const GraphRun& run, const GraphStep& step, Command* join,
                const std::vector<Command*>& after, bool now) const {
        Command* look = runtime.timeline_.make(*run.stream);
        look->role = Role::graph_condition;
        look->duration_from_effect = true;
        const auto* const condition = reinterpret_cast<const GraphCondition*>(given_.handle);
        look->effect = std::make_shared<ReadCondition>(&condition->value, run.plan);
        look->next = [this, &runtime, run, &step,
                      join = CommandRef(runtime.timeline_.pool(), join)](Command* looked) {
            const unsigned value = static_cast<const ReadCondition&>(*looked->effect).found;
            const std::size_t body = given_.type == ConditionalType::switch_ ? value : value != 0 ? 0 : 1;
            if (body >= step.bodies.size()) {
                runtime.timeline_.release_hold(join.get(), {});
                return;
            }
            std::vector<Command*> ends;
            runtime.enqueue_steps(run, step.bodies[body], nullptr, true, &ends);
            if (given_.type == ConditionalType::while_) {
                decide(runtime, run, step, join.get(), ends, true);
            } else {
                runtime.timeline_.release_hold(join.get(), ends);
            }
        };
        if (now) {
            runtime.timeline_.enqueue_now(look, after);
        } else {
            runtime.timeline_.enqueue_node(look, after, nullptr);
        }
    }
};

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const ConditionalNodeParameters&) {
    return std::make_unique<ConditionalNode>();
}

Status HostRuntime::graph_conditional_handle_create(ConditionalHandle* handle, GraphHandle graph,
                                                    unsigned default_value, unsigned flags) {
    ENTER(other);
    Graph* of = find_graph(graph).get();
    if (handle == nullptr || of == nullptr || (flags & ~flags::condition_assign_default) != 0)
        return fail(Status::invalid_value);
    auto made = std::make_shared<GraphCondition>();
    made->assign = flags != 0;
    made->default_value = made->value = made->assign ? default_value : 0;
    *handle = reinterpret_cast<ConditionalHandle>(made.get());
    // All conditions belong to the outermost graph, because that graph is launched.
    while (of->parent != nullptr) of = of->parent->graph;
    of->conditions.push_back(std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
