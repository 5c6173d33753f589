// Engines that run one command at a time: copy engines, and the one for host functions.
//
// The latency of a copy does not occupy its engine: `lead` passes before, `finish` after the transfer, both
// beside the transfers of other copies. Copies of a stream that follow each other directly need not wait for
// each other's latency at all, so an engine stays with a stream as long as the stream has a next copy for it.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "host/sim/timeline.hpp"

namespace cuscope::host {
namespace {

// Do copies in this engine follow each other without the latency between them?
bool streams_copies(const Command* command) {
    return command->engine == Engine::copy_to_device || command->engine == Engine::copy_to_host;
}

}  // namespace

Timeline::CopyEngine* Timeline::copy_engine(Device& device, Engine engine) {
    switch (engine) {
        case Engine::copy_to_device:
            return &device.to_device;
        case Engine::copy_to_host:
            return device.model->copy_engines > 1 ? &device.to_host : &device.to_device;
        case Engine::copy_on_device:
            return &device.on_device;
        default:
            return &device.host;
    }
}

void Timeline::hand_over(Device& device, CopyEngine& engine, Command* command) {
    command->handed_over = true;
    command->handed_over_at = time_;
    engine.waiting.push_back(command);
    to_start_.emplace_back(&device, &engine);
}

// Of the waiting commands, the one starts that has been ready for longest. If several became ready at the
// same time, the engine turns to another stream than before.
void Timeline::start_next(Device& device, CopyEngine& engine) {
    auto& waiting = engine.waiting;
    if (engine.running != nullptr || waiting.empty()) return;
    const auto order = [&](const Command* command) {
        return std::make_tuple(command->handed_over_at, command->stream == engine.last, command->sequence);
    };
    auto chosen = std::min_element(waiting.begin(), waiting.end(),
                                   [&](const Command* a, const Command* b) { return order(a) < order(b); });
    const bool kept = engine.kept_for != nullptr;
    if (kept) chosen = std::find(waiting.begin(), waiting.end(), engine.kept_for);
    if (chosen == waiting.end()) return;
    Command* command = *chosen;
    waiting.erase(chosen);
    engine.kept_for = nullptr;
    engine.running = command;
    if (streams_copies(command)) engine.last = command->stream;
    command->started = time_;
    if (command->handed_over_at < time_) {  // the engine was busy
        command->reason = ActivityReason::engine;
        command->cause = engine.left_by;
    }
    if (command->duration_from_effect) {
        unresolved_.push_back(command);
    } else {
        const Time begin = kept ? engine.free_at : std::max(time_, command->handed_over_at + command->lead);
        engine.left = begin - time_ + command->duration;
        engine.since = time_;
        engine.slowed = false;
        time_end(device, engine);
        if (command->on_link) share_link(device);
    }
    leave_queue(device, command);
}

void Timeline::time_end(Device& device, CopyEngine& engine) {
    Command* command = engine.running;
    const double speed = engine.slowed ? device.model->both_directions_rate : 1;
    engine.free_at = time_ + std::llround(static_cast<double>(engine.left) / speed);
    if (command->on_link) pool_.retain(command);  // a void end may outlast the command
    happenings_.push({std::max(time_, engine.free_at), command->sequence, command, ++engine.timing});
}

// Copies in both directions at once slow each other down.
void Timeline::share_link(Device& device) {
    const auto on_link = [](const CopyEngine& engine) {
        return engine.running != nullptr && engine.running->on_link;
    };
    const bool both = on_link(device.to_device) && on_link(device.to_host);
    for (CopyEngine* engine : {&device.to_device, &device.to_host}) {
        if (!on_link(*engine) || engine->slowed == both) continue;
        const double speed = engine->slowed ? device.model->both_directions_rate : 1;
        engine->left -= std::llround(static_cast<double>(time_ - engine->since) * speed);
        engine->since = time_;
        engine->slowed = both;
        time_end(device, *engine);
    }
}

// The next copy of the command's stream, if it uses the same engine and nothing but the command keeps it from
// starting; else null.
Command* Timeline::next_of_stream(const Device& device, const Command* command) const {
    if (!streams_copies(command) || command->line != Line::stream) return nullptr;
    const Command* before = command;
    for (Command* next : device.queues[static_cast<std::size_t>(command->queue)]) {
        const auto& needed = next->dependencies;
        if (next->stream != command->stream || next->unmet != 1) return nullptr;
        if (std::find(needed.begin(), needed.end(), before) == needed.end()) return nullptr;
        if (next->engine == command->engine) return next;
        if (next->role != Role::event_record) return nullptr;
        before = next;
    }
    return nullptr;
}

void Timeline::leave_engine(Device& device, CopyEngine& engine) {
    const bool on_link = engine.running->on_link;
    engine.left_by = engine.running->number();
    engine.running = nullptr;
    if (on_link) share_link(device);
    to_start_.emplace_back(&device, &engine);
}

void Timeline::happen_on_engine(Device& device, const Happening& happening) {
    Command* command = happening.command;
    CopyEngine& engine = *copy_engine(device, command->engine);
    const bool held = engine.running == command;  // false: a stalled host function that has left the engine
    Time done = time_;
    if (held) {
        if (command->finish > 0) done = std::max(time_, engine.free_at + command->finish);
        engine.kept_for = next_of_stream(device, command);
        leave_engine(device, engine);
    }
    if (done > time_) {
        happenings_.push({done, command->sequence, command, finished_mark});
    } else {
        end(command);
    }
    if (command->on_link) pool_.release(command);
}

// Is this an end that was planned before the other direction began or ended?
bool Timeline::is_void(const Happening& happening) {
    const Command* command = happening.command;
    if (!command->on_link || happening.blocks < 0) return false;
    const CopyEngine& engine = *copy_engine(*devices_[command->device], command->engine);
    return engine.running != command || happening.blocks != engine.timing;
}

void Timeline::drop_void() {
    while (!happenings_.empty() && is_void(happenings_.top())) {
        Command* command = happenings_.top().command;
        happenings_.pop();
        pool_.release(command);
    }
}

}  // namespace cuscope::host
