// Nodes that copy memory.
#include "host/effects/copies.hpp"
#include "host/graph/nodes/node_of.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

class HostRuntime::GraphNode::CopyNode final : public Of<MemcpyNodeParameters> {
  public:
    void imitate(HostRuntime& runtime, const GraphNode& from) override {
        Of::imitate(runtime, from);
        const auto& copy = static_cast<const CopyNode&>(from);
        known_destination_ = copy.known_destination_;
        known_source_ = copy.known_source_;
    }
    void assign(HostRuntime& runtime, const MemcpyNodeParameters& given, Command* made) override {
        Of::assign(runtime, given, made);
        const auto* const copy = work<CopyEffect>();
        if (copy == nullptr) return;
        known_destination_ = runtime.memory_.find(copy->destination().base) != nullptr;
        known_source_ = runtime.memory_.find(copy->source().base) != nullptr;
    }

    // Only memory that the device reaches by itself is copied. To a body, pageable memory counts as memory of
    // another device.
    GraphInstantiateResult check_device_start(HostRuntime& runtime, bool whole_graph) const override {
        const auto* const copy = work<CopyEffect>();
        if (copy == nullptr || (runtime.memory_.find(copy->destination().base) != nullptr &&
                                runtime.memory_.find(copy->source().base) != nullptr))
            return GraphInstantiateResult::success;
        return whole_graph ? GraphInstantiateResult::node_operation_not_supported
                           : GraphInstantiateResult::multiple_devices_not_supported;
    }
    Status check_launch(HostRuntime& runtime, bool) const override {
        const auto* const copy = work<CopyEffect>();
        if (copy == nullptr) return Status::success;
        if ((known_destination_ && !runtime.is_there(copy->destination(), copy->extent())) ||
            (known_source_ && !runtime.is_there(copy->source(), copy->extent())))
            return Status::illegal_address;
        return Status::success;
    }
    bool can_be_disabled() const override { return true; }
    Look look() const override { return {"solid", "invtrapezium", names_of(type()).drawn}; }

  protected:
    Status check_given(HostRuntime& runtime, const MemcpyNodeParameters& given) const override {
        const int kind = static_cast<int>(given.kind);
        if (kind >= 0 && kind <= 4) return Status::success;
        return runtime.fail(Status::invalid_memcpy_direction);
    }
    Status set_given(HostRuntime& runtime, MemcpyNodeParameters& given) override {
        Command* made = nullptr;
        TRY(make_command(runtime, given, &made));
        assign(runtime, given, made);
        return Status::success;
    }
    Status change_given(HostRuntime& runtime, MemcpyNodeParameters& given) override {
        Command* made = nullptr;
        TRY(make_command(runtime, given, &made));
        if (command && made != nullptr && command->engine != made->engine) {
            runtime.timeline_.pool().release(made);
            return runtime.fail(Status::invalid_value,
                                "the copy's direction stays as it was when the graph was instantiated");
        }
        assign(runtime, given, made);
        return Status::success;
    }
    // Copies stay on their engines.
    GraphExecUpdateResult difference_to(const Of& want) const override {
        return command && want.command && command->engine != want.command->engine
                   ? GraphExecUpdateResult::parameters_changed
                   : GraphExecUpdateResult::success;
    }

  private:
    // No bytes: no command.
    static Status make_command(HostRuntime& runtime, const MemcpyNodeParameters& given, Command** made) {
        Box destination, source;
        Extent extent;
        bool wait = false;
        TRY(runtime.boxes_of(&given, &destination, &source, &extent));
        return runtime.make_copy(destination, source, extent, given.kind, *runtime.device().legacy,
                                 {.node = true}, made, &wait);
    }

    // The runtime knew the memory when the node was made, so it has to be there at a launch.
    bool known_destination_ = false, known_source_ = false;
};

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const MemcpyNodeParameters&) {
    return std::make_unique<CopyNode>();
}

Status HostRuntime::capture_copy(Stream& stream, const Box& destination, const Box& source,
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
    auto made = std::make_unique<GraphNode::CopyNode>();
    made->assign(*this, parameters, command);
    add_captured(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
