// Lists the pending commands and what each of them waits for. Reads commands, effects and memory under the
// runtime's lock. It neither waits nor changes anything, so a program's timeline is the same with and without
// it.
#include "runtime/pending.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "host/effects/copies.hpp"
#include "host/effects/host_function.hpp"
#include "host/effects/kernel.hpp"
#include "host/effects/semaphore.hpp"
#include "host/effects/stream_memory_operations.hpp"
#include "host/runtime/host_runtime.hpp"
#include "runtime/pending_text.hpp"
#include "runtime/process.hpp"

namespace cuscope::host {
namespace {

class PendingWalk {
  public:
    explicit PendingWalk(Machine& machine) : machine_(machine) {
        for (const auto& device : machine_.devices) {
            for (const SimStream* stream : machine_.timeline.streams(device->ordinal))
                streams_.insert(stream);
            for (const auto& stream : device->destroyed) closed_.insert(stream.get());
        }
        machine_.timeline.pool().for_each([&](const Command* command) {
            if (command->line != Line::nowhere && !command->functional) commands_.push_back(command);
        });
        std::sort(commands_.begin(), commands_.end(),
                  [](const Command* a, const Command* b) { return a->sequence < b->sequence; });
        // Drops commands that have ended together with all their dependencies, and that no call has checked
        // since. The sort puts dependencies before their dependents, except for graph nodes that a condition
        // chose.
        std::erase_if(commands_, [&](const Command* command) {
            const bool done = command->ended >= 0 && command->effect_done &&
                              std::all_of(command->dependencies.begin(), command->dependencies.end(),
                                          [&](const Command* on) { return is_done(on); });
            if (done) done_.insert(command);
            return done;
        });
        for (std::size_t i = 0; i < commands_.size(); ++i) places_[commands_[i]] = static_cast<int>(i);
    }

    PendingList list() {
        std::map<const SimStream*, int> positions;
        PendingList list;
        for (const Command* command : commands_) {
            PendingWork& work = list.emplace_back();
            work.device = command->device;
            if (streams_.contains(command->stream)) name_stream(*command->stream, &work);
            if (command->line != Line::graph) work.position = ++positions[command->stream];
            work.what = what(command);
            if (const auto* host = effect_of<HostFunctionEffect>(command)) {
                work.function = host->called();
                work.data = host->argument();
            }
            explain(command, &work);
        }
        return list;
    }

  private:
    bool is_done(const Command* command) const { return command->functional || done_.contains(command); }

    template <class Wanted>
    static const Wanted* effect_of(const Command* command) {
        return dynamic_cast<const Wanted*>(command->effect.get());
    }

    void name_stream(const SimStream& stream, PendingWork* work) const {
        const auto& found = static_cast<const Stream&>(stream);
        work->stream_id = found.id;
        work->stream = stream.legacy       ? "Stream legacy default"
                       : found.thread != 0 ? "Stream per-thread default"
                                           : "Stream #" + std::to_string(found.id);
        if (closed_.contains(&stream)) work->stream += " (closed)";
    }

    static std::string address(const void* pointer) {
        return text_of_address(reinterpret_cast<std::uintptr_t>(pointer));
    }
    // For example "page-locked memory".
    std::string memory_at(const void* address) const {
        const Allocation* const found = machine_.memory.find(address);
        if (found == nullptr) return "pageable memory";
        switch (found->type) {
            case MemoryType::host:
                return "page-locked memory";
            case MemoryType::managed:
                return "managed memory";
            default:
                return "memory of host:" + std::to_string(found->device);
        }
    }
    std::string side(const void* address) const {
        const Allocation* const found = machine_.memory.find(address);
        if (found == nullptr || found->type == MemoryType::host) return "host";
        return found->type == MemoryType::managed ? "managed memory" : "device";
    }

    std::string what(const Command* command) const {
        const std::string node = command->line == Line::graph ? "node: " : "";
        if (const auto* kernel = effect_of<KernelEffect>(command)) {
            const simt::Launch& launch = kernel->launch;
            return node + text_of_kernel(launch.kernel->name, launch.grid, launch.block);
        }
        if (const auto* copy = effect_of<CopyEffect>(command)) {
            return node + "copy of " + text_of_bytes(bytes_of(copy->extent())) + ", " +
                   side(copy->source().base) + " to " + side(copy->destination().base);
        }
        if (const auto* set = effect_of<SetEffect>(command))
            return node + "memset of " + text_of_bytes(bytes_of(set->extent()));
        if (effect_of<HostFunctionEffect>(command) != nullptr) return node + "host function";
        if (const auto* operations = effect_of<MemoryOperationsEffect>(command))
            return node + what(operations->operations());
        if (const auto* semaphores = effect_of<SemaphoresEffect>(command)) {
            const std::size_t count = semaphores->semaphores().size();
            return node + (command->watches ? "wait for " : "signal of ") +
                   (count == 1 ? "an external semaphore" : std::to_string(count) + " external semaphores");
        }
        switch (command->role) {
            case Role::event_record:
                return node + "event record";
            case Role::event_wait:
                return node + "wait for an event";
            case Role::allocation:
                return node + "allocation";
            case Role::release:
                return node + "free";
            case Role::graph_begin:
                return "graph, begin";
            case Role::graph_end:
                return "graph, end";
            case Role::graph_node:
                return node + "graph node without work of its own";
            case Role::graph_condition:
                return node + "condition";
            case Role::graph_upload:
                return "graph upload";
            default:
                break;
        }
        switch (command->engine) {
            case Engine::copy_to_device:
            case Engine::copy_to_host:
                return node + "prefetch";
            case Engine::compute:
                return node + "kernel";
            default:
                return node + "command";
        }
    }

    static std::string what(const std::vector<MemoryOperation>& operations) {
        return operations.size() == 1 ? text_of_operation(operations.front())
                                      : std::to_string(operations.size()) + " memory operations";
    }

    void add(PendingWork* work, PendingKind kind, std::string text,
             const std::vector<const Command*>& blockers) const {
        PendingReason reason{kind, std::move(text), {}};
        for (const Command* blocker : blockers) {
            if (const auto found = places_.find(blocker); found != places_.end())
                reason.blockers.push_back(found->second);
        }
        // None of the blockers is pending any more: the reason is out of date.
        if (!blockers.empty() && reason.blockers.empty()) return;
        work->reasons.push_back(std::move(reason));
    }

    static bool same_stream(const Command* command, const Command* other) {
        return command->stream == other->stream;
    }

    void add_order(const Command* command, const Command* on, PendingWork* work) const {
        if (command->line == Line::graph || on->line == Line::graph) {
            add(work, PendingKind::graph, "after {}", {on});
        } else if (same_stream(command, on)) {
            add(work, PendingKind::order, "after {}", {on});
        } else if (command->stream->legacy || on->stream->legacy) {
            add(work, PendingKind::default_stream,
                "after {}, as the legacy default stream is ordered with all others that block", {on});
        } else {
            add(work, PendingKind::event, "for what was recorded behind {}", {on});
        }
    }

    void explain(const Command* command, PendingWork* work) const {
        if (command->ended >= 0 || (command->started >= 0 && command->duration_from_effect)) {
            explain_effect(command, work);
            if (command->ended >= 0) return;
        }
        using Cause = Timeline::Cause;
        for (const Timeline::Wait& wait : machine_.timeline.waits_of(command)) {
            const Command* const first = wait.blockers.empty() ? nullptr : wait.blockers.front();
            switch (wait.cause) {
                case Cause::order:
                    add_order(command, first, work);
                    break;
                case Cause::signal:
                    add(work, PendingKind::order,
                        "the kernel before it is only seen to have ended when {} has, as this device "
                        "signals back-to-back kernels together",
                        wait.blockers);
                    break;
                case Cause::condition:
                    add(work, PendingKind::graph, "after {}, which a condition of the graph chose",
                        wait.blockers);
                    break;
                case Cause::queue:
                    add(work, PendingKind::queue,
                        "for its turn in a hardware queue of the device, whose front is {}", wait.blockers);
                    break;
                case Cause::engine:
                    add(work, PendingKind::engine, engine_name(command) + ", which is busy with {}",
                        wait.blockers);
                    break;
                case Cause::grids:
                    add(work, PendingKind::multiprocessors,
                        "for one of the kernels that run to end, as the device runs no more at a time: {}",
                        wait.blockers);
                    break;
                case Cause::room:
                    add(work, PendingKind::multiprocessors,
                        "for room on the multiprocessors, which are full of {}", wait.blockers);
                    break;
                case Cause::simulation:
                    add(work, PendingKind::simulation,
                        "for the simulation to go on, which it does once {} has told how long it takes",
                        wait.blockers);
                    break;
            }
        }
        if (command->started >= 0) {
            if (command->watches) {
                explain_watch(command, work);
            } else if (work->state == PendingState::ready) {
                work->state = PendingState::running;
            }
        }
        if (work->state == PendingState::ready && !work->reasons.empty()) work->state = PendingState::waiting;
    }

    static std::string engine_name(const Command* command) {
        switch (command->engine) {
            case Engine::copy_to_device:
                return "for the engine that copies to the device";
            case Engine::copy_to_host:
                return "for the engine that copies to the host";
            case Engine::copy_on_device:
                return "for the engine that copies on the device";
            default:
                return "for the thread that runs host functions";
        }
    }

    // The command has had its turn on the timeline. Its work is yet to be done.
    void explain_effect(const Command* command, PendingWork* work) const {
        if (command->effect_done && command->ended < 0) {
            work->state = PendingState::running;
            return;
        }
        if (command == machine_.running.callback()) {
            work->state = PendingState::running;
            add(work, PendingKind::host_function,
                "it has begun and not returned; it may wait for something that the program has yet to do",
                {});
            return;
        }
        if (command->running) {
            work->state = PendingState::running;
            work->works = !command->effect->stalled();
            if (command->effect->stalled()) {
                add(work, PendingKind::kernel,
                    "its blocks run, and none has ended for a while: they compute for long, or wait in a "
                    "loop for memory to change" +
                        flags_of(command),
                    {});
            }
            return;
        }
        for (const Command* on : command->dependencies) {
            if (!is_done(on)) add_order(command, on, work);
        }
        if (work->reasons.empty() && !command->effect_done) {
            if (command->engine == Engine::host && machine_.running.callback() != nullptr) {
                add(work, PendingKind::host_function,
                    "for the thread that runs host functions, which is busy with {}",
                    {machine_.running.callback()});
            } else if (command->engine != Engine::host) {
                for (const Command* other : machine_.effects.queue()) {
                    if (other == command || !other->running || other->passed) continue;
                    add(work, PendingKind::simulation, "the simulation does work one after the other, now {}",
                        {other});
                    break;
                }
            }
        }
        work->state = work->reasons.empty() ? PendingState::ready : PendingState::waiting;
    }

    // Memory that the kernel's arguments point to and that the host can write. By writing it the host may let
    // the kernel go on.
    std::string flags_of(const Command* command) const {
        const auto& arguments = effect_of<KernelEffect>(command)->launch.arguments;
        for (std::size_t at = 0; at + sizeof(void*) <= arguments.size(); at += sizeof(void*)) {
            void* argument = nullptr;
            std::memcpy(&argument, arguments.data() + at, sizeof argument);
            const Allocation* const found = machine_.memory.find(argument);
            if (found != nullptr && found->type != MemoryType::device)
                return "; an argument points to " + memory_at(argument) + " at " + address(argument) +
                       ", which the host can write";
        }
        return "";
    }

    void explain_watch(const Command* command, PendingWork* work) const {
        work->state = PendingState::waiting;
        for (const Command* on : command->dependencies) {
            if (!is_done(on)) add_order(command, on, work);
        }
        if (!work->reasons.empty()) return;
        if (const auto* semaphores = effect_of<SemaphoresEffect>(command)) {
            if (semaphores->next() >= semaphores->semaphores().size()) return;
            const auto& one = semaphores->semaphores()[semaphores->next()];
            const std::string missing = one.semaphore->missing(one.value);
            if (!missing.empty()) explain_semaphore(command, one.semaphore.get(), missing, work);
            return;
        }
        const auto* const operations = effect_of<MemoryOperationsEffect>(command);
        if (operations == nullptr || operations->next() >= operations->operations().size()) return;
        explain_value(command, operations->operations()[operations->next()], work);
    }

    void explain_semaphore(const Command* command, const ExternalSemaphore* semaphore,
                           const std::string& missing, PendingWork* work) const {
        std::vector<const Command*> signals;
        for (const Command* other : commands_) {
            const auto* const effect = effect_of<SemaphoresEffect>(other);
            if (effect == nullptr || other->watches || other == command) continue;
            for (const auto& one : effect->semaphores()) {
                if (one.semaphore.get() == semaphore) signals.push_back(other);
            }
        }
        if (signals.empty()) {
            add(work, PendingKind::semaphore,
                missing + "; no work in flight signals it: only another process, the host or later work can",
                {});
        } else {
            add(work, PendingKind::semaphore, missing + "; to be signalled by {}", signals);
        }
    }

    void explain_value(const Command* command, const MemoryOperation& wait, PendingWork* work) const {
        if (machine_.memory.find_range(wait.address, wait.bytes()) == nullptr) return;
        const std::uint64_t value = number_at(wait);
        const std::string number = "the number at " + address(wait.address) + " in " +
                                   memory_at(wait.address) + " is " + std::to_string(value) + ", waits for " +
                                   condition_of(wait);
        if (is_satisfied(wait, value)) {
            add(work, PendingKind::simulation,
                number + "; the simulation has yet to reach the moment at which that is seen", {});
            return;
        }
        std::vector<const Command*> writers, perhaps;
        for (const Command* other : commands_) {
            if (other == command || (other->effect && other->effect_done && other->due)) continue;
            switch (writes(other, wait)) {
                case Writes::yes:
                    writers.push_back(other);
                    break;
                case Writes::maybe:
                    // A command that depends on the wait is hardly meant to end it.
                    if (!machine_.effects.depends_on(other, command)) perhaps.push_back(other);
                    break;
                default:
                    break;
            }
        }
        if (!writers.empty()) {
            add(work, PendingKind::value, number + "; to be written by {}", writers);
        } else if (!perhaps.empty()) {
            add(work, PendingKind::value, number + "; may be written by {}", perhaps);
        } else {
            const Allocation* const found = machine_.memory.find(wait.address);
            add(work, PendingKind::value,
                number + (found->type == MemoryType::device
                              ? "; no work in flight writes it: only work that is yet to be enqueued can"
                              : "; no work in flight writes it: only the host can, a host function too, or "
                                "work that is yet to be enqueued"),
                {});
        }
    }

    enum class Writes { no, maybe, yes };
    Writes writes(const Command* command, const MemoryOperation& wait) const {
        const auto* const target = static_cast<const std::byte*>(wait.address);
        const auto covers = [&](const Box& box, const Extent& extent) {
            return box.base <= target && target < box.base + box.reach(extent);
        };
        if (const auto* operations = effect_of<MemoryOperationsEffect>(command)) {
            for (const MemoryOperation& one : operations->operations()) {
                if (one.writes() && one.address == wait.address && is_satisfied(wait, one.value))
                    return Writes::yes;
            }
            return Writes::no;
        }
        if (const auto* copy = effect_of<CopyEffect>(command))
            return covers(copy->destination(), copy->extent()) ? Writes::yes : Writes::no;
        if (const auto* set = effect_of<SetEffect>(command))
            return covers(set->destination(), set->extent()) ? Writes::yes : Writes::no;
        const Allocation* const memory = machine_.memory.find(wait.address);
        const auto* const kernel = effect_of<KernelEffect>(command);
        if (kernel == nullptr) return Writes::no;
        const auto& arguments = kernel->launch.arguments;
        for (std::size_t at = 0; at + sizeof(void*) <= arguments.size(); at += sizeof(void*)) {
            void* argument = nullptr;
            std::memcpy(&argument, arguments.data() + at, sizeof argument);
            if (machine_.memory.find(argument) == memory) return Writes::maybe;
        }
        return Writes::no;
    }

    Machine& machine_;
    std::vector<const Command*> commands_;
    std::set<const Command*> done_;
    std::map<const Command*, int> places_;
    std::set<const SimStream*> streams_, closed_;
};

}  // namespace

// This does not count as a call: it costs no simulated time, and the devices still advance in the background.
PendingList HostRuntime::pending() {
    if (forked_after_use()) return {};
    Lock lock(machine_.mutex, std::defer_lock);
    take(lock);
    return PendingWalk(machine_).list();
}

}  // namespace cuscope::host
