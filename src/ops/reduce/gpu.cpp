#include "ops/reduce/gpu.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/memory/mem_pool.hpp"
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

// `length` elements for each result, `elements` in all. Sets all but the form and the extents.
KernelReduction launch_of(core::Device& device, Operation operation, Type in, Type out, const Plan& plan,
                          std::int64_t length, std::int64_t elements) {
    const Known what = known(operation);
    const cuscope::reduce::Operation of = what.operation;
    const std::string policy(cuscope::reduce::policy_of(of, in));
    if (policy.empty())
        throw core::WrongKind(std::string(name(operation)) + ": complex numbers have no order");
    KernelReduction made;
    made.kernel = KernelLibrary::of(device).kernel(what.file, std::string(plan.shape) + "<" + policy + ">");
    made.grid = plan.launch;
    made.bits = cuscope::reduce::bits_of(of, in);
    made.kind = cuscope::reduce::kind_of(of, out);
    made.divisor = operation == Operation::mean ? static_cast<double>(length) : 1;
    made.duration_ns = predict_reduction(device, single_launch, elements, size_of(in));
    return made;
}

}  // namespace

Choice explain_reduction(const core::Device& device, Operation operation, Type type, const Extents& extents) {
    return choice_of(plan_of(device, operation, type, extents));
}

Choice explain_reduction(const core::Device& device, const Strided& view) {
    return choice_of(plan_of(device, view));
}

KernelReduction plan_reduction(core::Device& device, Operation operation, Type in, Type out,
                               const Extents& extents) {
    using Form = KernelReduction::Form;
    const Plan plan = plan_of(device, operation, in, extents);
    const auto [outer, length, inner] = extents;
    const std::int64_t elements = outer * length * inner * (operation == Operation::dot ? 2 : 1);
    KernelReduction made = launch_of(device, operation, in, out, plan, length, elements);
    made.form = operation == Operation::dot              ? Form::dot
                : outer == 1 && inner == 1               ? Form::whole
                : std::string_view(plan.shape) == "rows" ? Form::rows
                                                         : Form::columns;
    made.extents = extents;
    return made;
}

KernelReduction plan_reduction(core::Device& device, Operation operation, Type in, Type out,
                               const Strided& view) {
    KernelReduction made = launch_of(device, operation, in, out, plan_of(device, view), view.length(),
                                     view.results() * view.length());
    made.form = KernelReduction::Form::strided;
    made.view = view;
    return made;
}

void KernelReduction::run(const Place& in, const Place* other, const Place& out,
                          const core::StreamPtr& stream) const {
    std::array<core::Memory*, 4> memories{in.memory, out.memory};
    std::size_t used = 2;
    const auto start = [&](auto... arguments) {
        cuscope::ops::run(*kernel, {{grid.grid, 1, 1}, {grid.block, 1, 1}, 0, duration_ns, true}, stream,
                          std::span(memories).first(used), arguments...);
    };
    const void* const from = in.pointer;
    void* const to = out.pointer;
    const long long outer = extents.outer, length = extents.length, inner = extents.inner;
    const core::Enqueue enqueue(*stream);  // a graph has a workspace of its own
    const Workspace workspace(stream, grid.slot_bytes);
    if (workspace.memory() != nullptr) memories[used++] = workspace.memory();
    void* const shared = workspace.pointer();
    if (form == Form::dot) {
        memories[used++] = other->memory;
        const void* const second = other->pointer;
        start(from, second, to, length, bits, kind, shared);
    } else if (form == Form::whole) {
        start(from, to, length, bits, kind, divisor, shared);
    } else if (form == Form::rows) {
        start(from, to, outer, length, length, bits, kind, divisor, grid.lanes, grid.splits, shared);
    } else if (form == Form::strided) {
        const auto of = [](std::int64_t number) { return static_cast<long long>(number); };
        start(from, to, of(view.extent[0][1]), of(view.stride[0][0]), of(view.stride[0][1]),
              of(view.extent[1][0]), of(view.extent[1][1]), of(view.stride[1][0]), of(view.stride[1][1]),
              bits, kind, divisor, grid.lanes, grid.splits, shared);
    } else {
        start(from, to, outer, length, inner, inner, length * inner, bits, kind, divisor, grid.lanes,
              grid.splits, shared);
    }
}

}  // namespace cuscope::ops
