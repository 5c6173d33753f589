#include "ops/reduce/gpu.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "cuda_kernels/reduce_auto/plan.hpp"
#include "ops/launch.hpp"
#include "ops/prediction.hpp"
#include "ops/reduce/workspace.hpp"

namespace cuscope::ops {
namespace {

using Grid = cuscope::reduce::Launch;

struct Known {
    cuscope::reduce::Operation operation;
    const char* file;
};

Known known(Operation operation) {
    using To = cuscope::reduce::Operation;
    switch (operation) {
        case Operation::sum:
            return {To::sum, "reduce_auto/sum"};
        case Operation::mean:
            return {To::mean, "reduce_auto/sum"};
        case Operation::prod:
            return {To::product, "reduce_auto/product"};
        case Operation::min:
            return {To::minimum, "reduce_auto/extremes"};
        case Operation::max:
            return {To::maximum, "reduce_auto/extremes"};
        case Operation::argmin:
            return {To::first_minimum, "reduce_auto/first_extremes"};
        case Operation::argmax:
            return {To::first_maximum, "reduce_auto/first_extremes"};
        case Operation::any:
            return {To::any, "reduce_auto/truth"};
        case Operation::all:
            return {To::all, "reduce_auto/truth"};
        case Operation::dot:
            break;
    }
    return {To::dot, "reduce_auto/dot"};
}

struct Plan {
    const char* shape;  // the kernel's name without its policy
    Grid launch;
    const char *because, *how;
};

Plan plan_of(const core::Device& device, Operation operation, Type type, const Extents& extents) {
    const cuscope::reduce::Operation of = known(operation).operation;
    const int multiprocessors = std::max(1, device.properties().multiprocessor_count);
    const auto element = static_cast<int>(size_of(type));
    const auto [outer, length, inner] = extents;
    if (outer == 1 && inner == 1) {
        const bool few = cuscope::reduce::is_few(length, element, multiprocessors);
        return {operation == Operation::dot ? "dot"
                : few                       ? "few"
                                            : "whole",
                cuscope::reduce::plan_whole(length, element, multiprocessors), "all elements lie together",
                ""};
    }
    const auto [kernel, launch] = cuscope::reduce::plan_axis(
        outer, length, inner, element, cuscope::reduce::value_bytes(of, type), multiprocessors);
    const std::string_view shape = kernel;
    if (shape == "rows") return {kernel, launch, "what is reduced lies together", ""};
    if (shape == "slices")
        return {kernel, launch, "what is reduced is short", ", each thread with results of its own"};
    if (shape == "shallow")
        return {kernel, launch, "few elements are reduced and results lie together",
                ", each thread with columns of its own"};
    if (shape == "narrow")
        return {kernel, launch, "few results lie together", ", which read the elements as they lie"};
    return {kernel, launch, "results lie together", ", each thread with columns of its own"};
}

Plan plan_of(const core::Device& device, const Strided& view) {
    const int multiprocessors = std::max(1, device.properties().multiprocessor_count);
    return {
        "strided",
        cuscope::reduce::plan_strided(view.results(), view.extent[1][0], view.extent[1][1], multiprocessors),
        "what is reduced does not lie together", ", each result with blocks of its own"};
}

Choice choice_of(const Plan& plan) {
    const Grid& launch = plan.launch;
    return {single_launch, std::string(plan.because) + ": one launch of " + plan.shape + ", " +
                               std::to_string(launch.grid) + (launch.grid == 1 ? " block" : " blocks") +
                               " of " + std::to_string(launch.block) + " threads" + plan.how + "."};
}

// The policy of an operation on a type, with its file.
std::pair<Known, std::string> instance_of(Operation operation, Type type) {
    const Known what = known(operation);
    std::string policy(cuscope::reduce::policy_of(what.operation, type));
    if (policy.empty())
        throw core::WrongKind(std::string(name(operation)) + ": complex numbers have no order");
    return {what, std::move(policy)};
}

}  // namespace

Choice explain_reduction(const core::Device& device, Operation operation, Type type, const Extents& extents) {
    return choice_of(plan_of(device, operation, type, extents));
}

Choice run_reduction(Operation operation, const Array& in, const Array* other, const Array& out,
                     const Extents& extents, const core::StreamPtr& stream) {
    const auto instance = instance_of(operation, in.type);
    const Known what = instance.first;
    const std::string& policy = instance.second;
    const cuscope::reduce::Operation of = what.operation;
    const unsigned long long bits = cuscope::reduce::bits_of(of, in.type);
    const int kind = cuscope::reduce::kind_of(of, out.type);
    const double divisor = operation == Operation::mean ? static_cast<double>(extents.length) : 1;
    const auto [outer, length, inner] = extents;
    const std::int64_t elements = outer * length * inner * (operation == Operation::dot ? 2 : 1);
    const std::int64_t duration =
        predict_reduction(stream->device(), single_launch, elements, size_of(in.type));
    const auto kernel = [&](const char* shape) {
        return KernelLibrary::of(stream->device()).kernel(what.file, std::string(shape) + "<" + policy + ">");
    };
    const auto run_with = [&](const char* shape, const Grid& launch, const Workspace& workspace,
                              std::vector<core::Memory*> memories, auto... arguments) {
        memories.insert(memories.end(), {in.memory.get(), out.memory.get()});
        if (workspace.memory() != nullptr) memories.push_back(workspace.memory());
        run(*kernel(shape), {{launch.grid, 1, 1}, {launch.block, 1, 1}, 0, duration, true}, stream, memories,
            arguments...);
    };
    const void* const from = in.pointer;
    void* const to = out.pointer;
    const Plan plan = plan_of(stream->device(), operation, in.type, extents);
    const Grid& launch = plan.launch;
    const core::Enqueue enqueue(*stream);  // a graph has a workspace of its own
    if (outer == 1 && inner == 1) {
        const Workspace slots(stream, launch.slot_bytes);
        if (operation == Operation::dot) {
            run_with(plan.shape, launch, slots, {other->memory.get()}, from,
                     static_cast<const void*>(other->pointer), to, static_cast<long long>(length), bits, kind,
                     slots.pointer());
        } else {
            run_with(plan.shape, launch, slots, {}, from, to, static_cast<long long>(length), bits, kind,
                     divisor, slots.pointer());
        }
        return choice_of(plan);
    }
    if (std::string_view(plan.shape) == "rows") {
        const Workspace slots(stream, launch.slot_bytes);
        run_with(plan.shape, launch, slots, {}, from, to, static_cast<long long>(outer),
                 static_cast<long long>(length), static_cast<long long>(length), bits, kind, divisor,
                 launch.lanes, launch.splits, slots.pointer());
        return choice_of(plan);
    }
    const Workspace tickets(stream, launch.ticket_bytes);
    std::shared_ptr<core::DeviceMemory> partials;
    std::vector<core::Memory*> memories;
    if (launch.partial_bytes > 0) {
        partials = core::DeviceMemory::allocate(stream, launch.partial_bytes);
        memories.push_back(partials.get());
    }
    run_with(plan.shape, launch, tickets, memories, from, to, static_cast<long long>(outer),
             static_cast<long long>(length), static_cast<long long>(inner), static_cast<long long>(inner),
             static_cast<long long>(length * inner), bits, kind, divisor, launch.lanes, launch.splits,
             tickets.pointer(), partials ? partials->pointer() : nullptr);
    return choice_of(plan);
}

Choice explain_reduction(const core::Device& device, const Strided& view) {
    return choice_of(plan_of(device, view));
}

Choice run_reduction(Operation operation, const Array& in, const Array& out, const Strided& view,
                     const core::StreamPtr& stream) {
    const auto [what, policy] = instance_of(operation, in.type);
    const core::Device& device = stream->device();
    const Plan plan = plan_of(device, view);
    const Grid& launch = plan.launch;
    const double divisor = operation == Operation::mean ? static_cast<double>(view.length()) : 1;
    const std::int64_t duration =
        predict_reduction(device, single_launch, view.results() * view.length(), size_of(in.type));
    const auto kernel =
        KernelLibrary::of(stream->device()).kernel(what.file, std::string(plan.shape) + "<" + policy + ">");
    const core::Enqueue enqueue(*stream);  // a graph has a workspace of its own
    const Workspace slots(stream, launch.slot_bytes);
    std::vector<core::Memory*> memories{in.memory.get(), out.memory.get()};
    if (slots.memory() != nullptr) memories.push_back(slots.memory());
    const auto of = [](std::int64_t number) { return static_cast<long long>(number); };
    run(*kernel, {{launch.grid, 1, 1}, {launch.block, 1, 1}, 0, duration, true}, stream, memories,
        static_cast<const void*>(in.pointer), static_cast<void*>(out.pointer), of(view.extent[0][1]),
        of(view.stride[0][0]), of(view.stride[0][1]), of(view.extent[1][0]), of(view.extent[1][1]),
        of(view.stride[1][0]), of(view.stride[1][1]), cuscope::reduce::bits_of(what.operation, in.type),
        cuscope::reduce::kind_of(what.operation, out.type), divisor, launch.lanes, launch.splits,
        slots.pointer());
    return choice_of(plan);
}

}  // namespace cuscope::ops
