// Moments of a kernel that other commands wait for: its last block has started, or all its blocks have let
// dependents start.
#include <algorithm>

#include "host/sim/timeline.hpp"

namespace cuscope::host {

void Timeline::depend_on_trigger(Command* command, Command* kernel) {
    pool_.retain(kernel);
    command->dependencies.push_back(kernel);
    command->primary = kernel;
    if (kernel->trigger_known && kernel->trigger >= 0 && kernel->begun >= 0 &&
        kernel->begun + kernel->trigger <= time_) {
        return;
    }
    ++command->unmet;
    kernel->when_triggered.push_back(command);
    want_trigger(kernel);
}

void Timeline::all_begun(Command* kernel, Time time) {
    kernel->begun = time;
    if (!kernel->when_begun.empty()) schedule(kernel, Moment::begun);
    if (kernel->trigger_wanted) want_trigger(kernel);
}

// Notes that a command waits for the kernel's trigger.
void Timeline::want_trigger(Command* kernel) {
    kernel->trigger_wanted = true;
    if (kernel->begun < 0 || !kernel->may_trigger) return;
    if (kernel->trigger_known) {
        if (kernel->trigger >= 0) schedule(kernel, Moment::triggered);
    } else if (std::find(untriggered_.begin(), untriggered_.end(), kernel) == untriggered_.end()) {
        untriggered_.push_back(kernel);
    }
}

void Timeline::apply_trigger(Command* kernel) {
    std::erase(untriggered_, kernel);
    kernel->trigger_known = true;
    if (kernel->triggers_at_once) kernel->trigger = 0;
    if (kernel->trigger >= 0) schedule(kernel, Moment::triggered);
}

void Timeline::schedule(Command* kernel, Moment moment) {
    const bool begun = moment == Moment::begun;
    const Time time = kernel->begun + (begun ? 0 : kernel->trigger);
    pool_.retain(kernel);
    happenings_.push({std::max(time, time_), kernel->sequence, kernel, begun ? begun_mark : triggered_mark});
}

void Timeline::let_go(std::vector<Command*>& waiting, const Command* kernel) {
    for (Command* command : waiting) {
        if (--command->unmet > 0) continue;
        note_met(command, kernel);
        if (command->arrived) now_ready(command);
    }
    waiting.clear();
}

// Blocks of a kernel that overlaps the previous kernel stay until that kernel has ended, plus the time of the
// work that they do afterwards.
bool Timeline::waits_for_primary(const Happening& happening) {
    const Command* primary = happening.command->primary;
    if (primary == nullptr) return false;
    if (primary->ended < 0) {
        held_.push_back(happening);
        return true;
    }
    const Time least = primary->ended + happening.command->tail;
    if (happening.time >= least) return false;
    happenings_.push({least, happening.sequence, happening.command, happening.blocks, happening.placement});
    return true;
}

}  // namespace cuscope::host
