#include "host/sim/timeline.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cuscope::host {
namespace {

constexpr Time never = std::numeric_limits<Time>::max();
// A kernel is placed in at most about this many groups of blocks, however large its grid is.
constexpr std::int64_t most_groups = 64;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

Timeline::Timeline(EffectDue effect_due, Ended ended, Watch watch)
    : effect_due_(std::move(effect_due)), ended_(std::move(ended)), watch_(std::move(watch)) {}

int Timeline::add_device(const DeviceModel& model) {
    auto device = std::make_unique<Device>(
        Device{.model = &model, .multiprocessors = Multiprocessors(model.properties.multiprocessor_count)});
    device->queues.resize(model.separate_copy_queues ? 3 : model.hardware_queues);
    device->left_queues.resize(device->queues.size());
    devices_.push_back(std::move(device));
    return static_cast<int>(devices_.size()) - 1;
}

void Timeline::add_stream(SimStream& stream, int device, int priority, bool blocking, bool legacy) {
    Device& owner = *devices_[device];
    stream.device = device;
    stream.priority = priority;
    stream.blocking = blocking;
    stream.legacy = legacy;
    // The legacy stream has queue 0, to itself as long as there are queues for the other streams.
    stream.queue = legacy ? 0 : ++owner.next_queue % static_cast<int>(owner.queues.size());
    if (legacy) {
        owner.streams.insert(owner.streams.begin(),
                             &stream);  // a device's first stream is its legacy stream
    } else {
        owner.streams.push_back(&stream);
    }
}

void Timeline::remove_stream(SimStream& stream) {
    Device& device = *devices_[stream.device];
    std::erase(device.streams, &stream);
    for (CopyEngine* engine : {&device.to_device, &device.to_host, &device.on_device, &device.host}) {
        if (engine->last == &stream) engine->last = nullptr;
    }
}

Command* Timeline::make(SimStream& stream) {
    Command* command = pool_.make();
    command->stream = &stream;
    command->device = stream.device;
    command->priority = stream.priority;
    command->sequence = next_sequence_++;
    command->call = call_context().call;
    command->name = call_context().work_name;
    command->issued = std::max(now() + devices_[stream.device]->model->submit_latency_ns, time_);
    return command;
}

int Timeline::queue_of(const Device& device, const Command& command) const {
    if (!device.model->separate_copy_queues) return command.stream->queue;
    switch (command.engine) {
        case Engine::compute:
        case Engine::copy_on_device:
            return 0;
        case Engine::copy_to_device:
            return 1;
        case Engine::copy_to_host:
            return device.model->copy_engines == 1 ? 1 : 2;
        default:
            return -1;
    }
}

void Timeline::depend(Command* command, Command* on) {
    if (on == nullptr || on->functional) return;
    if (!command->dependencies.empty() && command->dependencies.back() == on) return;
    pool_.retain(on);
    command->dependencies.push_back(on);
    if (on->ended >= 0) return;
    on->dependents.push_back(command);
    ++command->unmet;
}

void Timeline::enqueue(Command* command, std::span<Command* const> after) {
    SimStream& stream = *command->stream;
    Device& device = *devices_[stream.device];
    command->queue = queue_of(device, *command);

    Command* const before = stream.last.get();
    if (command->overlaps && before != nullptr && before->may_trigger && before->ended < 0) {
        depend_on_trigger(command, before);
    } else {
        depend(command, before);
    }
    if (stream.legacy) {
        for (const SimStream* other : device.streams) {
            if (other->blocking && other != &stream) depend(command, other->last.get());
        }
    } else if (stream.blocking) {
        depend(command, device.streams.front()->last.get());
    }
    for (Command* on : after) depend(command, on);

    if (device.model->signal_delay && command->engine != Engine::none) {
        if (command->engine == Engine::compute) {
            if (device.last_kernel != nullptr && device.last_kernel->ended < 0) {
                device.last_kernel->signalled_with = command;
            }
            device.last_kernel = command;
        } else {
            device.last_kernel = nullptr;
        }
    }

    command->resolved = !command->duration_from_effect;
    stream.last = CommandRef(pool_, command);
    device.arrivals.push_back(command);
    command->line = Line::stream;
    ++pending_;
}

void Timeline::enqueue_node(Command* command, std::span<Command* const> after, Command* overlapped) {
    command->queue = -1;
    if (overlapped != nullptr && overlapped->may_trigger && overlapped->ended < 0) {
        command->overlaps = true;
        depend_on_trigger(command, overlapped);
    } else {
        depend(command, overlapped);
    }
    for (Command* on : after) depend(command, on);
    command->resolved = !command->duration_from_effect;
    devices_[command->device]->arrivals.push_back(command);
    command->line = Line::graph;
    ++pending_;
}

void Timeline::enqueue_now(Command* command, std::span<Command* const> after) {
    command->queue = -1;
    for (Command* on : after) depend(command, on);
    command->resolved = !command->duration_from_effect;
    command->issued = time_;
    command->arrived = true;
    command->line = Line::graph;
    command->met = time_;
    command->reason = ActivityReason::graph;
    ++pending_;
    if (command->unmet == 0) now_ready(command);
}

void Timeline::release_hold(Command* command, std::span<Command* const> after) {
    for (Command* on : after) depend(command, on);
    if (--command->unmet > 0) return;
    command->met = time_;
    command->reason = ActivityReason::graph;
    if (command->arrived) now_ready(command);
}

void Timeline::enqueue_beside(Command* command, Command* kernel, Moment moment) {
    command->queue = -1;
    ++command->unmet;
    if (moment == Moment::begun) {
        kernel->when_begun.push_back(command);
    } else {
        kernel->when_triggered.push_back(command);
        want_trigger(kernel);
    }
    devices_[kernel->device]->arrivals.push_back(command);
    command->line = Line::beside;
    ++pending_;
}

// ---- events

Time Timeline::next_time(int* arriving_device) const {
    *arriving_device = -1;
    Time next = happenings_.empty() ? never : happenings_.top().time;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        const auto& arrivals = devices_[i]->arrivals;
        if (!arrivals.empty() && arrivals.front()->issued < next) {
            next = arrivals.front()->issued;
            *arriving_device = static_cast<int>(i);
        }
    }
    return next;
}

Command* Timeline::holding_up(Time next) const {
    Command* first = nullptr;
    for (Command* command : unresolved_) {
        if (command->stalled || command->started + command->duration > next) continue;
        // The kernel that it overlaps comes first.
        if (command->primary != nullptr && command->primary->ended < 0) continue;
        if (first == nullptr || command->started + command->duration < first->started + first->duration) {
            first = command;
        }
    }
    if (first != nullptr) return first;
    for (Command* command : untriggered_) {
        if (command->stalled || command->begun > next) continue;
        if (command->primary != nullptr && command->primary->ended < 0) continue;
        return command;
    }
    return nullptr;
}

void Timeline::step(Time time, int arriving_device) {
    time_ = std::max(time_, time);
    if (arriving_device >= 0) {
        arrive(*devices_[arriving_device]);
    } else {
        const Happening happening = happenings_.top();
        happenings_.pop();
        happen(happening);
    }
    if (!watching_.empty()) to_look_ = true;
    settle();
}

Command* Timeline::advance(Time limit) {
    look_from_outside();
    for (;;) {
        if (Command* undone = look()) return undone;
        int arriving = -1;
        const Time next = next_time(&arriving);
        if (Command* holder = holding_up(std::min(next, limit))) {
            if (known(holder)) continue;
            return holder;
        }
        if (next > limit) return nullptr;
        step(next, arriving);
    }
}

Command* Timeline::advance_until(Command* command) {
    look_from_outside();
    while (command->ended < 0) {
        if (Command* undone = look()) return undone;
        int arriving = -1;
        const Time next = next_time(&arriving);
        if (Command* holder = holding_up(next)) {
            if (known(holder)) continue;
            return holder;
        }
        if (next == never) return command;
        step(next, arriving);
    }
    return nullptr;
}

bool Timeline::advance_one(Command** holder) {
    if (holder != nullptr) *holder = nullptr;
    look_from_outside();
    if (look() != nullptr) return false;
    int arriving = -1;
    Time next = next_time(&arriving);
    while (Command* first = holding_up(next)) {
        if (!known(first)) {
            if (holder != nullptr) *holder = first;
            return false;
        }
        next = next_time(&arriving);
    }
    if (next == never) return false;
    step(next, arriving);
    wait_until(time_);
    return true;
}

void Timeline::arrive(Device& device) {
    Command* command = device.arrivals.front();
    device.arrivals.pop_front();
    command->arrived = true;
    if (command->queue >= 0) device.queues[command->queue].push_back(command);
    if (command->unmet == 0) {
        command->met = time_;
        command->reason = ActivityReason::issued;
        command->cause = 0;
        now_ready(command);
    }
}

void Timeline::note_met(Command* command, const Command* dependency) const {
    command->met = time_;
    command->cause = dependency->number();
    if (command->line == Line::graph || dependency->line == Line::graph) {
        command->reason = ActivityReason::graph;
    } else if (command->stream == dependency->stream) {
        command->reason = ActivityReason::stream_order;
    } else if (command->stream->legacy || dependency->stream->legacy) {
        command->reason = ActivityReason::default_stream;
    } else {
        command->reason = ActivityReason::event;
    }
}

void Timeline::now_ready(Command* command) {
    if (command->queue >= 0) {
        to_look_at_.emplace_back(command->device, command->queue);
    } else {
        loose_.push_back(command);
    }
}

// Starts every command that can start now. A worklist in place of a recursion, since a program may chain
// streams without limit.
void Timeline::settle() {
    while (!to_look_at_.empty() || !loose_.empty() || !to_start_.empty() || !to_place_.empty()) {
        // In this order: kernels that become ready at the same time are placed as they were issued.
        for (std::size_t i = 0; i < to_look_at_.size(); ++i) {  // to_look_at_ may grow meanwhile
            const auto [device, queue] = to_look_at_[i];
            look_at_queue(*devices_[device], queue);
        }
        to_look_at_.clear();
        for (std::size_t i = 0; i < loose_.size(); ++i) {  // loose_ may grow meanwhile
            Command* command = loose_[i];
            Device& device = *devices_[command->device];
            if (command->engine == Engine::none) {
                pass(command);
            } else if (command->engine == Engine::compute) {
                add_grid(device, command);
            } else {
                hand_over(device, *copy_engine(device, command->engine), command);
            }
        }
        loose_.clear();
        if (!to_start_.empty()) {
            // All commands that have become ready at this time are known: the engine can choose.
            const auto [device, engine] = to_start_.back();
            to_start_.pop_back();
            start_next(*device, *engine);
        } else if (!to_place_.empty()) {
            const int device = to_place_.back();
            to_place_.pop_back();
            place_blocks(*devices_[device]);
        }
    }
    drop_void();
}

void Timeline::look_at_queue(Device& device, int index) {
    auto& queue = device.queues[index];
    while (!queue.empty()) {
        Command* command = queue.front();
        if (command->unmet > 0 || command->handed_over) return;
        if (command->met < time_) {  // it was behind another command in the queue
            command->reason = ActivityReason::queue;
            command->cause = device.left_queues[static_cast<std::size_t>(index)];
        }
        if (command->engine == Engine::none) {
            device.left_queues[static_cast<std::size_t>(index)] = command->number();
            queue.pop_front();
            pass(command);
        } else if (command->engine == Engine::compute) {
            add_grid(device, command);
        } else {
            hand_over(device, *copy_engine(device, command->engine), command);
            return;  // when the command starts, leave_queue() schedules another look at the queue
        }
    }
}

// Runs a command that needs no engine.
void Timeline::pass(Command* command) {
    command->started = time_;
    if (command->watches) {
        watch(command);
    } else if (!command->resolved) {
        unresolved_.push_back(command);
    } else if (command->duration > 0) {
        happenings_.push({time_ + command->duration, command->sequence, command, 0});
    } else {
        end(command);
    }
}

void Timeline::add_grid(Device& device, Command* command) {
    command->handed_over = true;
    command->handed_over_at = time_;
    const auto after =
        std::upper_bound(device.grids.begin(), device.grids.end(), command,
                         [](const Command* a, const Command* b) { return a->priority < b->priority; });
    device.grids.insert(after, command);
    to_place_.push_back(command->device);
}

void Timeline::leave_queue(Device& device, Command* command) {
    if (command->queue < 0) return;
    device.left_queues[static_cast<std::size_t>(command->queue)] = command->number();
    device.queues[command->queue].pop_front();
    to_look_at_.emplace_back(command->device, command->queue);
}

// ---- multiprocessors

// Kernels get room in order of priority, then of arrival. A kernel that cannot be placed whole keeps later
// kernels out.
void Timeline::place_blocks(Device& device) {
    std::size_t placed = 0;
    while (placed < device.grids.size()) {
        Command* grid = device.grids[placed];
        const bool first = grid->started < 0;
        if (first) {
            const int allowed = device.model->concurrent_kernels ? device.model->resident_grids : 1;
            if (device.resident >= allowed) break;
        }
        if (grid->blocks_open > 0) break;
        std::int64_t slots = 0;
        const BlockGroup group{grid->blocks_waiting, grid->block_units, grid->shared_memory, !first};
        const int placement = device.multiprocessors.place(group, &slots);
        if (slots == 0) break;
        if (first) {
            grid->started = time_;
            if (grid->handed_over_at < time_) {
                grid->reason = ActivityReason::multiprocessors;
                grid->cause = device.freed_by;
            }
            ++device.resident;
            if (!grid->resolved && !take_known_duration(grid)) unresolved_.push_back(grid);
        }
        if (grid->resolved) {
            schedule_blocks(device, grid, slots, placement);
        } else {
            grid->blocks_open = slots;
            grid->placement_open = placement;
            grid->blocks_waiting -= slots;
            if (grid->blocks_waiting == 0) all_begun(grid, time_);
        }
        if (grid->blocks_waiting > 0) break;
        leave_queue(device, grid);
        ++placed;
    }
    device.grids.erase(device.grids.begin(), device.grids.begin() + static_cast<std::ptrdiff_t>(placed));
}

// Takes the duration if it has become known since the command was made; false if not. The answer follows from
// the timeline alone. A kernel that overlaps another one keeps the duration it was made with, to which its
// Command::tail belongs.
bool Timeline::take_known_duration(Command* command) {
    if (command->primary != nullptr) return false;
    const Time known = command->effect->known_duration();
    if (known < 0) return false;
    command->duration = std::max(command->duration, known);
    command->duration_from_effect = false;
    return command->resolved = true;
}

// Waves go together only if the kernel makes many of them with the whole device to itself. The room of this
// moment says nothing: if it is small, the blocks may get room elsewhere before these slots are free again.
void Timeline::schedule_blocks(const Device& device, Command* grid, std::int64_t slots, int placement) {
    const std::int64_t waves = grid->blocks_waiting / device.multiprocessors.most_blocks(grid->block_units);
    const std::int64_t together = std::max<std::int64_t>(1, waves / most_groups);
    const std::int64_t blocks = std::min(grid->blocks_waiting, slots * together);
    grid->blocks_waiting -= blocks;
    const Time end = time_ + divide_up(blocks, slots) * grid->duration;
    happenings_.push({end, grid->sequence, grid, blocks, placement});
    if (grid->blocks_waiting == 0) all_begun(grid, end - grid->duration);
}

void Timeline::happen(const Happening& happening) {
    Command* command = happening.command;
    Device& device = *devices_[command->device];
    if (happening.blocks == finished_mark) {
        end(command);
        return;
    }
    if (happening.blocks < 0) {
        let_go(happening.blocks == begun_mark ? command->when_begun : command->when_triggered, command);
        pool_.release(command);
        return;
    }
    if (command->engine == Engine::compute) {
        if (waits_for_primary(happening)) return;
        device.multiprocessors.leave(happening.placement);
        device.freed_by = command->number();
        command->blocks_left -= happening.blocks;
        to_place_.push_back(command->device);
        if (command->blocks_left > 0) return;
        --device.resident;
        if (device.last_kernel == command) device.last_kernel = nullptr;
        end(command);
        return;
    }
    if (command->engine == Engine::none) {
        end(command);
        return;
    }
    happen_on_engine(device, happening);
}

void Timeline::end(Command* command) {
    command->ended = time_;
    --pending_;
    if (command->effect && !command->due) {
        command->due = true;
        effect_due_(command);
    } else if (!ahead_.empty()) {
        std::erase(ahead_, command);
    }
    if (command->engine == Engine::compute) {
        if (!untriggered_.empty()) std::erase(untriggered_, command);
        let_go(command->when_begun, command);
        let_go(command->when_triggered, command);
        std::erase_if(held_, [&](const Happening& held) {
            if (held.command->primary != command) return false;
            happenings_.push(
                {time_ + held.command->tail, held.sequence, held.command, held.blocks, held.placement});
            return true;
        });
    }
    // Moves `next` out before the call, since the objects it captures may own the command.
    if (command->next) std::exchange(command->next, {})(command);
    const bool deferred = command->signalled_with != nullptr;
    signal(command, true, !deferred);
    if (deferred) {
        Command* later = command->signalled_with;
        pool_.retain(command);
        later->unsignalled.push_back(command);
        later->unsignalled.insert(later->unsignalled.end(), command->unsignalled.begin(),
                                  command->unsignalled.end());
        command->unsignalled.clear();
    } else {
        for (Command* earlier : command->unsignalled) {
            signal(earlier, false, true);
            pool_.release(earlier);
        }
        command->unsignalled.clear();
    }
    ended_(command);
}

void Timeline::signal(Command* command, bool to_kernels, bool to_others) {
    auto& dependents = command->dependents;
    std::size_t kept = 0;
    for (Command* dependent : dependents) {
        // Records and waits stand between kernels: a kernel that follows one must not wait for itself.
        const bool as_kernel = dependent->engine == Engine::compute || dependent->engine == Engine::none;
        if (as_kernel ? !to_kernels : !to_others) {
            dependents[kept++] = dependent;
            continue;
        }
        if (--dependent->unmet > 0) continue;
        note_met(dependent, command);
        if (dependent->arrived) now_ready(dependent);
    }
    dependents.resize(kept);
}

}  // namespace cuscope::host
