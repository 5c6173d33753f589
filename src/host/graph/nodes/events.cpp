// Nodes that record events and wait for them.
#include "host/graph/nodes/captured.hpp"
#include "host/graph/nodes/node_of.hpp"

namespace cuscope::host {
namespace {

Status check_event(const Machine& machine, EventHandle event) {
    if (event == nullptr) return fail(Status::invalid_value, "the node's event is null");
    return machine.events.find(event) == nullptr ? invalid_handle("event") : Status::success;
}

}  // namespace

class EventWaitNode final : public NodeOf<EventWaitNodeParameters> {
  public:
    // An event that was destroyed since, or never recorded, has nothing to wait for.
    void enqueue(Machine& machine, const Launch& launch, Command* made) const override {
        made->role = Role::event_wait;
        const Found<const Event> event = machine.events.find(given_.event);
        if (event != nullptr && event->record) launch.after.push_back(event->record.get());
    }

  protected:
    Status set_given(Machine& machine, EventWaitNodeParameters& given) override {
        const Status status = check_event(machine, given.event);
        if (status == Status::success) assign(machine, given);
        return status;
    }
};

class EventRecordNode final : public NodeOf<EventRecordNodeParameters> {
  public:
    void enqueue(Machine& machine, const Launch&, Command* made) const override {
        made->role = Role::event_record;
        if (const Found<Event> event = machine.events.find(given_.event)) {
            event->set_record(CommandRef(machine.timeline.pool(), made));
        }
    }

  protected:
    Status set_given(Machine& machine, EventRecordNodeParameters& given) override {
        const Status status = check_event(machine, given.event);
        if (status == Status::success) assign(machine, given);
        return status;
    }
};

GraphNode::Made GraphNode::make(const EventWaitNodeParameters&) { return std::make_unique<EventWaitNode>(); }

GraphNode::Made GraphNode::make(const EventRecordNodeParameters&) {
    return std::make_unique<EventRecordNode>();
}

void capture_external_wait(Machine& machine, Stream& stream, EventHandle event) {
    auto made = std::make_unique<EventWaitNode>();
    made->assign(machine, {event});
    machine.captures.add(stream, std::move(made));
}

void capture_external_record(Machine& machine, Stream& stream, EventHandle event) {
    auto made = std::make_unique<EventRecordNode>();
    made->assign(machine, {event});
    machine.captures.add(stream, std::move(made));
}

}  // namespace cuscope::host
