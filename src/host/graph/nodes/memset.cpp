// Nodes that set memory to a value.
#include "host/effects/copies.hpp"
#include "host/graph/nodes/node_of.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

class HostRuntime::GraphNode::MemsetNode final : public Of<MemsetNodeParameters> {
  public:
    // A capture takes a memset without this check.
    Status check_instantiation(HostRuntime& runtime) const override {
        const auto* const set = work<SetEffect>();
        if (set == nullptr) return Status::success;
        const Allocation* found = nullptr;
        return runtime.check_box(set->destination(), set->extent(), "memory of a set", &found);
    }
    GraphInstantiateResult check_device_start(HostRuntime&, bool) const override {
        return GraphInstantiateResult::success;
    }
    Status check_launch(HostRuntime& runtime, bool) const override {
        const auto* const set = work<SetEffect>();
        return set == nullptr || runtime.is_there(set->destination(), set->extent())
                   ? Status::success
                   : Status::illegal_address;
    }
    bool can_be_disabled() const override { return true; }
    Look look() const override { return {"solid", "invtrapezium", names_of(type()).drawn}; }

  protected:
    Status set_given(HostRuntime& runtime, MemsetNodeParameters& given) override {
        const std::size_t element = given.element_bytes;
        if (element != 1 && element != 2 && element != 4) {
            return runtime.fail(Status::invalid_value,
                                "elements of " + std::to_string(element) + " bytes; allowed are 1, 2 and 4");
        }
        if (element < 4 && given.value >> (8 * element) != 0) {
            return runtime.fail(Status::invalid_value, "the value has more than the " +
                                                           std::to_string(element) + " bytes of an element");
        }
        const std::size_t width = given.width * element;
        const std::size_t pitch = given.height > 1 ? given.pitch : width;
        TRY(runtime.check_set_2d(given.pointer, pitch, element, width, given.height));
        Command* made = nullptr;
        const Status status =
            runtime.make_set({static_cast<std::byte*>(given.pointer), pitch, 0}, given.value, element,
                             {width, given.height, 1}, *runtime.device().legacy, &made);
        if (status == Status::success) assign(runtime, given, made);
        return status;
    }
    Status change_given(HostRuntime& runtime, MemsetNodeParameters& given) override {
        if (given.height > 1 || given_.height > 1) {
            return runtime.fail(Status::invalid_value,
                                "only memsets of one row are changed in an executable");
        }
        return set_given(runtime, given);
    }
    GraphExecUpdateResult difference_to(const Of& want) const override {
        return given_.height > 1 || want.given().height > 1 ? GraphExecUpdateResult::parameters_changed
                                                            : GraphExecUpdateResult::success;
    }
};

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const MemsetNodeParameters&) {
    return std::make_unique<MemsetNode>();
}

Status HostRuntime::capture_set(Stream& stream, const Box& box, std::uint32_t value, std::size_t element,
                                const Extent& extent, Command* command) {
    const std::size_t pitch = box.pitch != 0 ? box.pitch : extent.width;
    MemsetNodeParameters parameters{box.base,
                                    pitch,
                                    value,
                                    static_cast<unsigned>(element),
                                    extent.width / element,
                                    extent.height * extent.depth};
    // Slices that do not follow each other at the distance of rows are sets of their own.
    if (extent.depth > 1 && box.slice != pitch * extent.height) parameters.height = extent.height;
    auto made = std::make_unique<GraphNode::MemsetNode>();
    made->assign(*this, parameters, command);
    add_captured(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
