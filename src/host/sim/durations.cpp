// Durations that only a command's effect knows: kernels that read a clock, and host functions.
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

// The effect runs only once the simulation needs it: a host that reads the memory too early sees that the
// effect has not run.
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

// To be called only once the simulation has reached the command's earliest end: earlier events must not
// depend on how soon the effect ran.
void Timeline::apply_resolution(Command* command) {
    std::erase(unresolved_, command);
    command->resolved = true;
    command->duration = std::max(command->duration, command->resolution);
    // A stalled command ends no earlier than the time that was simulated without it.
    Time time = std::max(command->started + command->duration, command->stalled ? time_ : Time{0});
    if (command->primary != nullptr) time = std::max(time, command->primary->ended);
    happenings_.push({time, command->sequence, command, command->blocks_open, command->placement_open});
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
