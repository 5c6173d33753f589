// Nodes that copy memory.
#include "host/effects/copies.hpp"
#include "host/graph/nodes/captured.hpp"
#include "host/graph/nodes/node_of.hpp"

namespace cuscope::host {

class CopyNode final : public NodeOf<MemcpyNodeParameters> {
  public:
    void imitate(Machine& machine, const GraphNode& from) override {
        NodeOf::imitate(machine, from);
        const auto& copy = static_cast<const CopyNode&>(from);
        known_destination_ = copy.known_destination_;
        known_source_ = copy.known_source_;
    }
    void assign(Machine& machine, const MemcpyNodeParameters& given, Command* made) override {
        NodeOf::assign(machine, given, made);
        const auto* const copy = work<CopyEffect>();
        if (copy == nullptr) return;
        known_destination_ = machine.memory.find(copy->destination().base) != nullptr;
        known_source_ = machine.memory.find(copy->source().base) != nullptr;
    }

    // Only memory that the device reaches by itself is copied. To a body, pageable memory counts as memory of
    // another device.
    GraphInstantiateResult check_device_start(Machine& machine, bool whole_graph) const override {
        const auto* const copy = work<CopyEffect>();
        if (copy == nullptr || (machine.memory.find(copy->destination().base) != nullptr &&
                                machine.memory.find(copy->source().base) != nullptr))
            return GraphInstantiateResult::success;
        return whole_graph ? GraphInstantiateResult::node_operation_not_supported
                           : GraphInstantiateResult::multiple_devices_not_supported;
    }
    Status check_launch(Machine& machine, bool) const override {
        const auto* const copy = work<CopyEffect>();
        if (copy == nullptr) return Status::success;
        if ((known_destination_ && !is_there(machine, copy->destination(), copy->extent())) ||
            (known_source_ && !is_there(machine, copy->source(), copy->extent())))
            return Status::illegal_address;
        return Status::success;
    }
    bool can_be_disabled() const override { return true; }
    Look look() const override { return {"solid", "invtrapezium", names_of(type()).drawn}; }

  protected:
    Status check_given(Machine&, const MemcpyNodeParameters& given) const override {
        return is_kind(given.kind) ? Status::success : fail(Status::invalid_memcpy_direction);
    }
    Status set_given(Machine& machine, MemcpyNodeParameters& given) override {
        Command* made = nullptr;
        TRY(make_command(machine, given, &made));
        assign(machine, given, made);
        return Status::success;
    }
    Status change_given(Machine& machine, MemcpyNodeParameters& given) override {
        Command* made = nullptr;
        TRY(make_command(machine, given, &made));
        if (command && made != nullptr && command->engine != made->engine) {
            machine.timeline.pool().release(made);
            return fail(Status::invalid_value,
                        "the copy's direction stays as it was when the graph was instantiated");
        }
        assign(machine, given, made);
        return Status::success;
    }
    // Copies stay on their engines.
    GraphExecUpdateResult difference_to(const NodeOf& want) const override {
        return command && want.command && command->engine != want.command->engine
                   ? GraphExecUpdateResult::parameters_changed
                   : GraphExecUpdateResult::success;
    }

  private:
    // No bytes: no command.
    static Status make_command(Machine& machine, const MemcpyNodeParameters& given, Command** made) {
        Box destination, source;
        Extent extent;
        bool wait = false;
        TRY(boxes_of(machine, &given, &destination, &source, &extent));
        return make_copy(machine, destination, source, extent, given.kind, *machine.devices.current().legacy,
                         {.node = true}, made, &wait);
    }

    // The runtime knew the memory when the node was made, so it has to be there at a launch.
    bool known_destination_ = false, known_source_ = false;
};

GraphNode::Made GraphNode::make(const MemcpyNodeParameters&) { return std::make_unique<CopyNode>(); }

Status capture_copy(Machine& machine, Stream& stream, const Box& destination, const Box& source,
                    const Extent& extent, MemcpyKind kind, const Memcpy3DParameters* given,
                    Command* command) {
    MemcpyNodeParameters parameters;
    if (given != nullptr) {
        parameters = {*given};
    } else {
        const auto pitched = [&](const Box& box) -> PitchedPointer {
            const std::size_t pitch = box.pitch != 0 ? box.pitch : extent.width;
            return {box.base, pitch, extent.width, box.slice != 0 ? box.slice / pitch : extent.height};
        };
        parameters.source = pitched(source);
        parameters.destination = pitched(destination);
        parameters.extent = extent;
        parameters.kind = kind;
    }
    auto made = std::make_unique<CopyNode>();
    made->assign(machine, parameters, command);
    machine.captures.add(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
