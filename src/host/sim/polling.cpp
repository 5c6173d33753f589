// Commands that watch: they end once what they look at is as they want it, whoever makes it so. Somebody
// looks whenever something has happened, with the work of all that has ended done, so that when they end
// depends on nothing but the simulated times.
#include <algorithm>

#include "host/sim/timeline.hpp"

namespace cuscope::host {

void Timeline::watch(Command* command) {
    command->due = true;  // nobody runs its effect
    command->effect->starting(time_);
    watching_.push_back(command);
    to_look_ = true;
}

// What nothing on the devices has changed since, the host has, or another process: by now.
void Timeline::look_from_outside() {
    if (!watching_.empty() && !to_look_) look_at(std::max(time_, now_));
}

// Null: everybody has looked.
Command* Timeline::look() {
    if (!to_look_) return nullptr;
    if (watching_.empty()) {
        to_look_ = false;
        return nullptr;
    }
    if (Command* undone = watch_.undone()) return undone;
    to_look_ = false;
    look_at(time_);
    return nullptr;
}

// One that goes on may change what others look at.
void Timeline::look_at(Time time) {
    for (bool changed = true; changed;) {
        changed = false;
        std::erase_if(watching_, [&](Command* command) {
            const Effect::Progress progress = watch_.look(command);
            changed |= progress != Effect::Progress::none;
            if (progress != Effect::Progress::all) return false;
            happenings_.push({time + command->duration, command->sequence, command, 0, 0});
            return true;
        });
    }
}

}  // namespace cuscope::host
