// Why commands have not ended. Reads the timeline and changes nothing.
#include <algorithm>

#include "host/sim/timeline.hpp"

namespace cuscope::host {

std::vector<Timeline::Wait> Timeline::waits_of(const Command* command) const {
    Device& device = *devices_[command->device];
    std::vector<Wait> waits;
    if (command->ended >= 0) return waits;
    const auto running_kernels = [&] {
        std::vector<const Command*> found;
        pool_.for_each([&](const Command* other) {
            if (other != command && other->device == command->device && other->engine == Engine::compute &&
                other->line != Line::nowhere && other->started >= 0 && other->ended < 0) {
                found.push_back(other);
            }
        });
        std::sort(found.begin(), found.end(),
                  [](const Command* a, const Command* b) { return a->sequence < b->sequence; });
        return found;
    };
    const auto held_up = [&] {
        int arriving = -1;
        const Command* const holder = holding_up(next_time(&arriving));
        if (holder != nullptr && holder != command) waits.push_back({Cause::simulation, {holder}});
    };

    if (command->started >= 0) {
        if (command->engine == Engine::compute && command->blocks_waiting > 0 && command->blocks_open == 0)
            waits.push_back({Cause::room, running_kernels()});
        if (command->resolved && !command->watches) held_up();
        return waits;
    }
    if (command->unmet > 0) {
        for (const Command* dependency : command->dependencies) {
            if (dependency->ended < 0) waits.push_back({Cause::order, {dependency}});
        }
        if (!waits.empty()) return waits;
        // The other reasons: a kernel's end that is signalled with a later kernel's, a kernel's moment, a
        // condition.
        for (const Command* dependency : command->dependencies) {
            const Command* const later = dependency->signalled_with;
            if (later == nullptr) continue;
            const auto& held = later->unsignalled;
            if (std::find(held.begin(), held.end(), dependency) != held.end())
                waits.push_back({Cause::signal, {later}});
        }
        pool_.for_each([&](const Command* other) {
            for (const auto* moment : {&other->when_begun, &other->when_triggered}) {
                if (std::find(moment->begin(), moment->end(), command) != moment->end())
                    waits.push_back({Cause::order, {other}});
            }
        });
        if (!waits.empty()) return waits;
        std::vector<const Command*> chosen;
        pool_.for_each([&](const Command* other) {
            if (other->line == Line::graph && other->stream == command->stream && other->ended < 0 &&
                (other->role == Role::graph_condition || other->sequence > command->sequence)) {
                chosen.push_back(other);
            }
        });
        waits.push_back({Cause::condition, std::move(chosen)});
        return waits;
    }
    if (!command->arrived) {
        held_up();
        return waits;
    }
    if (!command->handed_over) {
        if (command->queue < 0) return waits;
        const auto& queue = device.queues[static_cast<std::size_t>(command->queue)];
        if (!queue.empty() && queue.front() != command) waits.push_back({Cause::queue, {queue.front()}});
        return waits;
    }
    if (command->engine != Engine::compute) {
        const CopyEngine& engine = *copy_engine(device, command->engine);
        if (engine.running != nullptr && engine.running != command)
            waits.push_back({Cause::engine, {engine.running}});
        else if (engine.kept_for != nullptr && engine.kept_for != command)
            waits.push_back({Cause::engine, {engine.kept_for}});
        return waits;
    }
    // Kernels are placed in order: a kernel that does not fit keeps out all later ones.
    const bool full =
        device.resident >= (device.model->concurrent_kernels ? device.model->resident_grids : 1);
    waits.push_back({full ? Cause::grids : Cause::room, running_kernels()});
    return waits;
}

}  // namespace cuscope::host
