// Commands that poll memory ("watch"). They end once the memory holds the value that they wait for, whichever
// command, host thread or process wrote it. They poll after every simulated event, once the work of all ended
// commands is done, so that their end depends only on simulated times.
#include <algorithm>

#include "host/sim/timeline.hpp"

namespace cuscope::host {

void Timeline::watch(Command* command) {
    command->due = true;  // its effect is polled, not run
    command->effect->starting(time_);
    watching_.push_back(command);
    to_look_ = true;
}

// No device event has happened since the last poll. So any change comes from the host or from another
// process, and counts as made now.
void Timeline::look_from_outside() {
    if (!watching_.empty() && !to_look_) look_at(std::max(time_, now()));
}

// Null: all watching commands have polled.
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

// Repeats, because a command that goes on may change memory that other commands poll.
void Timeline::look_at(Time time) {
    for (bool changed = true; changed;) {
        changed = false;
        std::erase_if(watching_, [&](Command* command) {
            const Effect::Progress progress = watch_.look(command);
            changed |= progress != Effect::Progress::none;
            if (progress != Effect::Progress::all) return false;
            happenings_.push({time + command->duration, command->sequence, command, 0});
            return true;
        });
    }
}

}  // namespace cuscope::host
