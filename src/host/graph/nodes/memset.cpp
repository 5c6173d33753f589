// Nodes that set memory to a value.
#include "host/effects/copies.hpp"
#include "host/graph/nodes/captured.hpp"
#include "host/graph/nodes/node_of.hpp"

namespace cuscope::host {

class MemsetNode final : public NodeOf<MemsetNodeParameters> {
  public:
    // A capture takes a memset without this check.
    Status check_instantiation(Machine& machine) const override {
        const auto* const set = work<SetEffect>();
        if (set == nullptr) return Status::success;
        const Allocation* found = nullptr;
        return check_box(machine, set->destination(), set->extent(), "memory of a set", &found);
    }
    GraphInstantiateResult check_device_start(Machine&, bool) const override {
        return GraphInstantiateResult::success;
    }
    Status check_launch(Machine& machine, bool) const override {
        const auto* const set = work<SetEffect>();
        return set == nullptr || is_there(machine, set->destination(), set->extent())
                   ? Status::success
                   : Status::illegal_address;
    }
    bool can_be_disabled() const override { return true; }
    Look look() const override { return {"solid", "invtrapezium", names_of(type()).drawn}; }

  protected:
    Status set_given(Machine& machine, MemsetNodeParameters& given) override {
        const std::size_t element = given.element_bytes;
        if (element != 1 && element != 2 && element != 4) {
            return fail(Status::invalid_value,
                        "elements of " + std::to_string(element) + " bytes; allowed are 1, 2 and 4");
        }
        if (element < 4 && given.value >> (8 * element) != 0) {
            return fail(Status::invalid_value,
                        "the value has more than the " + std::to_string(element) + " bytes of an element");
        }
        const std::size_t width = given.width * element;
        const std::size_t pitch = given.height > 1 ? given.pitch : width;
        TRY(check_set_2d(given.pointer, pitch, element, width, given.height));
        Command* made = nullptr;
        const Status status =
            make_set(machine, {static_cast<std::byte*>(given.pointer), pitch, 0}, given.value, element,
                     {width, given.height, 1}, *machine.devices.current().legacy, true, &made);
        if (status == Status::success) assign(machine, given, made);
        return status;
    }
    Status change_given(Machine& machine, MemsetNodeParameters& given) override {
        if (given.height > 1 || given_.height > 1) {
            return fail(Status::invalid_value, "only memsets of one row are changed in an executable");
        }
        return set_given(machine, given);
    }
    GraphExecUpdateResult difference_to(const NodeOf& want) const override {
        return given_.height > 1 || want.given().height > 1 ? GraphExecUpdateResult::parameters_changed
                                                            : GraphExecUpdateResult::success;
    }
};

GraphNode::Made GraphNode::make(const MemsetNodeParameters&) { return std::make_unique<MemsetNode>(); }

Status capture_set(Machine& machine, Stream& stream, const Box& box, std::uint32_t value, std::size_t element,
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
    auto made = std::make_unique<MemsetNode>();
    made->assign(machine, parameters, command);
    machine.captures.add(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
