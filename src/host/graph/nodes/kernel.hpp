// Kernel nodes. Private to src/host.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/effects/checks.hpp"
#include "host/effects/kernel.hpp"
#include "host/graph/device_launch.hpp"
#include "host/graph/nodes/node_of.hpp"
#include "runtime/checking.hpp"

namespace cuscope::host {

class KernelNode final : public NodeOf<KernelNodeParameters> {
  public:
    // Null for a node of another type, too.
    static Found<KernelNode> find(Machine& machine, GraphNodeHandle handle) {
        return dynamic_cast<KernelNode*>(machine.graphs.find_node(handle).get());
    }

    // The arguments are the bytes that the command's effect keeps.
    GraphNodeParameters parameters() const override {
        KernelNodeParameters answer = given_;
        arguments_.clear();
        if (const auto* const kernel = work<KernelEffect>()) {
            const simt::Launch& launch = kernel->launch;
            for (unsigned i = 0; i < launch.kernel->parameter_count; ++i) {
                const std::byte* const value = launch.arguments.data() + launch.kernel->parameters[i].offset;
                arguments_.push_back(const_cast<std::byte*>(value));
            }
        }
        answer.arguments = arguments_.data();
        return answer;
    }
    void imitate(Machine& machine, const GraphNode& from) override {
        NodeOf::imitate(machine, from);
        const auto& kernel = static_cast<const KernelNode&>(from);
        attributes_ = kernel.attributes_;
        name_ = kernel.name_;
    }
    void assign(Machine& machine, const KernelNodeParameters& given, Command* made) override {
        NodeOf::assign(machine, given, made);
        name_ = machine.libraries.find_kernel(given.kernel)->lowered;
    }

    const std::vector<LaunchAttribute>& attributes() const { return attributes_; }
    // For a capture: the launch has checked the attributes.
    void keep_attributes(std::vector<LaunchAttribute> attributes) { attributes_ = std::move(attributes); }
    // Refused, the node stays as it was.
    Status set_attributes(Machine& machine, std::vector<LaunchAttribute> attributes) {
        std::swap(attributes_, attributes);
        GraphNodeParameters same = parameters();
        const Status status = set(machine, same);
        if (status != Status::success) std::swap(attributes_, attributes);
        return status;
    }

    GraphInstantiateResult check_device_start(Machine&, bool whole_graph) const override {
        return whole_graph || !launches_graphs() ? GraphInstantiateResult::success
                                                 : GraphInstantiateResult::node_operation_not_supported;
    }
    // The local memory of the device stays at its largest from then on, and the flags of the device say so.
    void note_instantiation(Machine& machine) const override {
        machine.devices[device].flags |= lmem_resize_to_max;
    }
    void enqueue(Machine& machine, const Launch& launch, Command* made) const override {
        GraphNode::enqueue(machine, launch, made);
        if (enabled) take_known_time(made);
        if (enabled && launch.run.environment && may_launch_graphs())
            let_launch(machine, launch.run.environment, made, *work<KernelEffect>());
        else if (enabled && checking())
            watch_run(machine, device, *work<KernelEffect>(), launch.now, made);
    }
    bool launches_graphs() const override {
        return command && work<KernelEffect>()->launch.kernel->launches_graphs;
    }
    bool may_launch_graphs() const override { return command && work<KernelEffect>()->may_launch_graphs(); }
    bool can_be_disabled() const override { return true; }
    Look look() const override { return {"bold", "octagon", name_}; }

  protected:
    Status set_given(Machine& machine, KernelNodeParameters& given) override {
        if (given.kernel == nullptr)
            return fail(Status::invalid_device_function, "the node's kernel is null");
        LaunchConfig config;
        config.grid = given.grid;
        config.block = given.block;
        config.dynamic_shared_bytes = given.dynamic_shared_bytes;
        config.duration_ns = given.duration_ns;
        config.array_bytes = given.array_bytes;
        config.attributes = attributes_;
        LaunchRequest request;
        request.node = true;
        Command* made = nullptr;
        const Found<Kernel> kernel = machine.libraries.find_kernel(given.kernel);
        if (kernel == nullptr) return invalid_handle("kernel");
        if (given.checked != nullptr) kernel->checked = given.checked;
        const Status status = make_kernel(machine, config, *kernel, given.arguments,
                                          *machine.devices.current().legacy, &request, &made);
        if (status == Status::success) assign(machine, given, made);
        return status;
    }
    Status change_given(Machine& machine, KernelNodeParameters& given) override {
        if (!launches_graphs()) {
            LoadedKernel kernel;
            if (machine.libraries.load_kernel(given.kernel, &kernel) == Status::success &&
                kernel.entry->launches_graphs) {
                return fail(Status::invalid_value,
                            "a kernel that launches no graphs does not become one that does");
            }
        }
        return set_given(machine, given);
    }
    GraphExecUpdateResult difference_to(const NodeOf& want) const override {
        return want.launches_graphs() && !launches_graphs()
                   ? GraphExecUpdateResult::unsupported_function_change
                   : GraphExecUpdateResult::success;
    }

  private:
    std::vector<LaunchAttribute> attributes_;
    std::string name_;                      // in the image
    mutable std::vector<void*> arguments_;  // where parameters() found them
};

}  // namespace cuscope::host
