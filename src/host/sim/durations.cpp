// Durations that only the effect of a command knows: kernels that look at a clock, host functions.
#include <algorithm>

#include "host/sim/timeline.hpp"

namespace cuscope::host {

void Timeline::resolve(Command* command, Time elapsed, Time trigger) {
    command->resolution = elapsed;
    command->trigger = trigger;
    if (!command->stalled || command->ended >= 0) return;
    if (!command->resolved) apply_resolution(command);
    if (command->begun >= 0 && !command->trigger_known) apply_trigger(command);
}

// The effect is run no sooner than the simulation needs it: a host that looks too early sees that it has not
// been.
bool Timeline::known(Command* holder) {
    if (!holder->due) {
        holder->due = true;
        ahead_.push_back(holder);
        effect_due_(holder);
    }
    if (holder->resolution < 0) return false;
    if (std::find(untriggered_.begin(), untriggered_.end(), holder) != untriggered_.end()) {
        apply_trigger(holder);
    } else {
        apply_resolution(holder);
    }
    return true;
}

// Not before the simulation has reached the earliest end: what happens until then must not depend on how soon
// the effect was run.
void Timeline::apply_resolution(Command* command) {
    std::erase(unresolved_, command);
    command->resolved = true;
    command->duration = std::max(command->duration, command->resolution);
    // A stalled one ends no earlier than what has been simulated without it.
    Time time = std::max(command->started + command->duration, command->stalled ? time_ : Time{0});
    if (command->primary != nullptr) time = std::max(time, command->primary->ended);
    happenings_.push({time, command->sequence, command, command->blocks_open,
                      command->blocks_open * command->block_units});
    command->blocks_open = 0;
}

void Timeline::set_stalled(Command* command, bool begun) {
    command->stalled = true;
    if (begun || command->engine != Engine::host) return;
    CopyEngine& engine = devices_[command->device]->host;
    if (engine.running != command) return;
    leave_engine(*devices_[command->device], engine);
    settle();
}

}  // namespace cuscope::host
