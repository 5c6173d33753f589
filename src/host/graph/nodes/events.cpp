// Nodes that record events and wait for them.
#include "host/graph/nodes/node_of.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

Status HostRuntime::check_node_event(EventHandle event) {
    if (event == nullptr) return fail(Status::invalid_value, "the node's event is null");
    return find_event(event) == nullptr ? invalid_handle("event") : Status::success;
}

class HostRuntime::GraphNode::EventWaitNode final : public Of<EventWaitNodeParameters> {
  public:
    // An event that was destroyed since, or never recorded, has nothing to wait for.
    void enqueue(HostRuntime& runtime, const Launch& launch, Command* made) const override {
        made->role = Role::event_wait;
        const Found<const Event> event = runtime.find_event(given_.event);
        if (event != nullptr && event->record) launch.after.push_back(event->record.get());
    }

  protected:
    Status set_given(HostRuntime& runtime, EventWaitNodeParameters& given) override {
        const Status status = runtime.check_node_event(given.event);
        if (status == Status::success) assign(runtime, given);
        return status;
    }
};

class HostRuntime::GraphNode::EventRecordNode final : public Of<EventRecordNodeParameters> {
  public:
    void enqueue(HostRuntime& runtime, const Launch&, Command* made) const override {
        made->role = Role::event_record;
        if (const Found<Event> event = runtime.find_event(given_.event)) {
            event->record = CommandRef(runtime.timeline_.pool(), made);
            event->capture = 0;
        }
    }

  protected:
    Status set_given(HostRuntime& runtime, EventRecordNodeParameters& given) override {
        const Status status = runtime.check_node_event(given.event);
        if (status == Status::success) assign(runtime, given);
        return status;
    }
};

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const EventWaitNodeParameters&) {
    return std::make_unique<EventWaitNode>();
}

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const EventRecordNodeParameters&) {
    return std::make_unique<EventRecordNode>();
}

void HostRuntime::capture_external_wait(Stream& stream, EventHandle event) {
    auto made = std::make_unique<GraphNode::EventWaitNode>();
    made->assign(*this, {event});
    add_captured(stream, std::move(made));
}

void HostRuntime::capture_external_record(Stream& stream, EventHandle event) {
    auto made = std::make_unique<GraphNode::EventRecordNode>();
    made->assign(*this, {event});
    add_captured(stream, std::move(made));
}

}  // namespace cuscope::host
