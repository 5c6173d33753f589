#include "host/graph/plan.hpp"

#include <algorithm>
#include <utility>

#include "host/runtime/machine.hpp"

namespace cuscope::host {
namespace {

// Child graphs are laid out in place: their first nodes wait for the nodes that the child waits for, and the
// nodes that wait for the child wait for its last ones.
void lay_out(Graph& graph, GraphSteps& steps, const std::vector<int>& begins, std::vector<int>* ends) {
    struct Place {
        std::vector<int> last;  // steps after which the node is over
        std::size_t waits;      // how many nodes before it are not planned yet
    };
    std::unordered_map<const GraphNode*, Place> places;
    std::vector<GraphNode*> ready;
    for (const auto& node : graph.nodes) {
        places[node.get()].waits = node->dependencies.size();
        if (node->dependencies.empty()) ready.push_back(node.get());
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
        GraphNode* node = ready[next];
        std::vector<int> after;
        int overlapped = -1;
        const auto wait_for = [&](int step) {
            if (std::find(after.begin(), after.end(), step) == after.end()) after.push_back(step);
        };
        for (const GraphNode::Edge& edge : node->dependencies) {
            const std::vector<int>& last = places[edge.node].last;
            if (edge.data.type == DependencyType::programmatic && overlapped < 0) {
                overlapped = last.front();
                continue;
            }
            for (const int step : last) wait_for(step);
        }
        std::erase(after, overlapped);
        if (node->dependencies.empty()) after = begins;
        Place& place = places[node];
        if (node->is_laid_out() && node->enabled) {
            lay_out(*node->bodies.front(), steps, after, &place.last);
            if (place.last.empty()) place.last = after;
        } else {
            GraphStep step;
            step.node = node;
            step.after = std::move(after);
            step.overlapped = overlapped;
            for (const auto& body : node->bodies) {
                GraphSteps& inner = step.bodies.emplace_back();
                lay_out(*body, inner, {}, &inner.ends);
            }
            place.last = {static_cast<int>(steps.steps.size())};
            steps.steps.push_back(std::move(step));
        }
        for (const GraphNode::Edge& edge : node->dependents) {
            if (--places[edge.node].waits == 0) ready.push_back(edge.node);
        }
    }
    for (const auto& node : graph.nodes) {
        if (!node->dependents.empty()) continue;
        for (const int step : places[node.get()].last) {
            if (std::find(ends->begin(), ends->end(), step) == ends->end()) ends->push_back(step);
        }
    }
}

}  // namespace

std::shared_ptr<GraphPlan> GraphPlan::of(Machine& machine, const Graph& graph) {
    auto plan = std::make_shared<GraphPlan>();
    plan->graph = machine.graphs.copy(graph, true);
    visit_nodes(*plan->graph, [&](GraphNode& node) {
        plan->by_origin[node.origin] = &node;
        ++plan->nodes;
    });
    lay_out(*plan->graph, plan->whole, {}, &plan->whole.ends);
    plan->note_launching();
    return plan;
}

void GraphPlan::note_launching() {
    may_launch_graphs = false;
    visit_nodes(*graph, [&](const GraphNode& node) { may_launch_graphs |= node.may_launch_graphs(); });
}

Status GraphPlan::check_launch(Machine& machine, int device, bool frees) const {
    const Status last = thread().last;
    Status status = Status::success;
    visit_nodes(*graph, [&](const GraphNode& node) {
        if (status == Status::success && node.enabled) status = node.check_launch(machine, frees);
    });
    if (status == Status::illegal_address) {
        thread().last = last;
        machine.devices[device].lose(status, "a node of a graph uses memory that was freed");
    }
    return status;
}

void GraphRun::enqueue(Machine& machine, const GraphSteps& steps, Command* begin, bool now,
                       std::vector<Command*>* ends) const {
    std::vector<Command*> made(steps.steps.size());
    std::vector<Command*> after;
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        const GraphStep& step = steps.steps[i];
        const GraphNode& node = *step.node;
        after.clear();
        for (const int before : step.after) after.push_back(made[static_cast<std::size_t>(before)]);
        Command* const overlapped =
            step.overlapped < 0 ? nullptr : made[static_cast<std::size_t>(step.overlapped)];
        if (step.after.empty() && overlapped == nullptr && begin != nullptr) after.push_back(begin);
        Command* const command = made[i] = machine.timeline.make(*stream);
        command->role = Role::graph_node;
        command->graph = launch;
        node.enqueue(machine, {*this, step, after, now}, command);
        if (now) {
            if (overlapped != nullptr) after.push_back(overlapped);
            machine.timeline.enqueue_now(command, after);
        } else {
            machine.timeline.enqueue_node(command, after, overlapped);
        }
    }
    for (const int end : steps.ends) ends->push_back(made[static_cast<std::size_t>(end)]);
}

}  // namespace cuscope::host
