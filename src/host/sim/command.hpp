// A command of a simulated device: its dependencies, engine, duration, and the work that it stands for.
// Commands are pooled and reference-counted. The runtime's lock guards everything here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "host/sim/device_model.hpp"
#include "runtime/activity.hpp"

namespace cuscope::host {

using Time = std::int64_t;  // nanoseconds of simulated time

// The work behind a command. It is done outside the lock, in the order that the timeline decides. A graph's
// executable runs its nodes' effects again and again, but never two runs of the same effect at a time.
class Effect {
  public:
    virtual ~Effect() = default;
    // Called before each run: when the run has started, and when the kernel that it overlaps had ended.
    virtual void starting(Time) {}
    virtual void primary_ended(Time) {}
    virtual void run() = 0;
    // The duration that the last run measured: a kernel's clocks, a host function's host_work.
    virtual Time elapsed() const { return 0; }
    // The same if it is known before the run, from another command with the same work that has ended; else
    // -1.
    virtual Time known_duration() const { return -1; }
    // The time after its start at which every block had let dependents start; -1: not all blocks did.
    virtual Time triggered() const { return -1; }
    // True if the work is so short that handing it to another thread would take longer, and never waits.
    virtual bool quick() const { return false; }
    // True if the work takes microseconds and never waits. A thread that waits for it may do it itself: that
    // takes less time than waking another thread.
    virtual bool brief() const { return quick(); }
    // True while the work waits for something outside the device.
    virtual bool stalled() const { return false; }
    // For commands that watch: called under the lock, in place of run(), whenever the condition may have
    // become true. Does as much of the work as it can.
    enum class Progress { none, some, all };
    virtual Progress look() { return Progress::all; }
    // A copy that does the same work; null if the work cannot be copied.
    virtual std::shared_ptr<Effect> copy() const { return nullptr; }
};

enum class Engine : int {
    none,            // event records and waits, a graph's begin: they only take time
    copy_to_device,  // also between devices
    copy_to_host,
    copy_on_device,  // also memset
    compute,
    host,  // host functions, one at a time
};

struct SimStream;

// The purpose of a graph node or of a command without an engine. `effect`: see the effect.
enum class Role : char {
    effect,
    event_record,
    event_wait,
    allocation,
    release,
    graph_begin,
    graph_end,
    graph_node,
    graph_condition,
    graph_upload,
};
// Where the command was enqueued. `nowhere`: it was not enqueued, or is a template for graph nodes.
enum class Line : char { nowhere, stream, graph, beside };

struct Command {
    Engine engine = Engine::none;
    Role role = Role::effect;
    Line line = Line::nowhere;
    Time issued = 0;    // when it becomes visible to the device
    Time started = -1;  // -1: not yet
    Time ended = -1;
    Time duration = 0;                  // compute: the duration of one block; engines: the time on the engine
    Time lead = 0;                      // engines: from handed_over_at to the engine, beside other commands
    Time finish = 0;                    // engines: from leaving the engine to the end, beside other commands
    Time handed_over_at = -1;           // engines: when its engine has seen it
    bool on_link = false;               // a copy that shares the link to the host with the other direction
    bool duration_from_effect = false;  // at least `duration`; the effect's run tells
    bool due = false;                   // the effect has been requested
    bool resolved = true;               // the duration is known
    Time resolution = -1;               // the effect's answer; applied when the simulation gets there
    bool stalled = false;               // the effect takes too long: the timeline goes on without it
    bool functional = false;            // ended; its effect and all its dependencies' effects are done
    bool watches = false;               // polls: ends once its effect says so, perhaps never
    bool observable = false;            // the host can see its result without a runtime call
    bool arrived = false;               // the device has seen it
    bool handed_over = false;           // its engine has seen it

    int device = 0;
    int queue = 0;  // hardware queue of the device; -1: none
    SimStream* stream = nullptr;
    std::uint64_t sequence = 0;

    // compute: blocks not yet placed, not yet ended, and placed before the duration was known; units per
    // block
    std::int64_t blocks_waiting = 0, blocks_left = 0, blocks_open = 0;
    std::int64_t block_units = 0;
    SharedMemoryNeed shared_memory;
    int placement_open = -1;  // the room of blocks_open
    int priority = 0;
    Command* signalled_with = nullptr;  // a later kernel; other commands see both end together
    std::vector<Command*> unsignalled;  // earlier kernels that are signalled with this one

    // compute, for programmatic dependent launches. `begun`: when the last block has started. `trigger`: how
    // long after its start a block lets dependents start; -1: at its end. If may_trigger is set, only the
    // effect can tell.
    Time begun = -1, trigger = -1;
    bool overlaps = false;          // may start when the previous kernel in the stream triggers
    bool may_trigger = false;       // the effect has to be run to know
    bool triggers_at_once = false;  // overrides the effect
    bool trigger_wanted = false, trigger_known = false;
    Command* primary = nullptr;  // the overlapped kernel, one of the dependencies; this ends no sooner
    Time tail = 0;               // the part that runs after the primary's end
    std::vector<Command*> when_begun, when_triggered;  // commands that wait for it; no references

    int unmet = 0;                       // dependencies that have not ended
    std::vector<Command*> dependents;    // no references: cleared when this ends
    std::vector<Command*> dependencies;  // references until this is functional

    std::shared_ptr<Effect> effect;
    bool effect_done = true;
    bool running = false;  // its effect runs
    bool passed = false;   // later effects may run before this one, which is stalled
    bool awaited = false;  // a thread waits for its effect

    // If set, called when the command has ended on the timeline. It enqueues the following commands, which
    // depend on the result of the effect.
    std::function<void(Command*)> next;

    // For traces; numbers begin with 1. `call`: the number of the call that issued it. `graph`: the number of
    // the launch that it is a node of. `met`: when all dependencies had ended. `cause`: the number of the
    // command whose end let it start, which `reason` explains.
    std::uint64_t call = 0, graph = 0, cause = 0;
    std::uint32_t name = 0;  // a name in place of the kernel's, as an index into activity_names()
    Time met = -1;
    ActivityReason reason = ActivityReason::unknown;

    int references = 0;

    std::uint64_t number() const { return sequence + 1; }

    // Copies the work and the cost of `model`, but not its time, place or dependencies.
    void imitate(const Command& model) {
        engine = model.engine;
        duration = model.duration;
        lead = model.lead;
        finish = model.finish;
        on_link = model.on_link;
        duration_from_effect = model.duration_from_effect;
        watches = model.watches;
        observable = model.observable;
        blocks_waiting = model.blocks_waiting;
        blocks_left = model.blocks_left;
        block_units = model.block_units;
        shared_memory = model.shared_memory;
        triggers_at_once = model.triggers_at_once;
        may_trigger = model.may_trigger;
        tail = model.tail;
        effect = model.effect;
        name = model.name;
    }
};

// Hands out commands and takes them back.
class CommandPool {
  public:
    CommandPool() = default;
    CommandPool(const CommandPool&) = delete;
    CommandPool& operator=(const CommandPool&) = delete;

    Command* make() {
        if (free_.empty()) {
            blocks_.push_back(std::make_unique<Command[]>(block_size));
            for (std::size_t i = block_size; i-- > 0;) free_.push_back(&blocks_.back()[i]);
        }
        Command* command = free_.back();
        free_.pop_back();
        command->references = 1;
        return command;
    }

    void retain(Command* command) { ++command->references; }

    // Visits every command that has references.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& block : blocks_) {
            for (std::size_t i = 0; i < block_size; ++i) {
                if (block[i].references > 0) visit(&block[i]);
            }
        }
    }

    void release(Command* command) {
        // Iterative: a chain of commands may be as long as a program.
        releasing_.push_back(command);
        while (!releasing_.empty()) {
            Command* c = releasing_.back();
            releasing_.pop_back();
            if (--c->references > 0) continue;
            releasing_.insert(releasing_.end(), c->dependencies.begin(), c->dependencies.end());
            recycle(c);
        }
    }

  private:
    static constexpr std::size_t block_size = 256;

    void recycle(Command* command) {
        std::vector<Command*> dependents = std::move(command->dependents);
        std::vector<Command*> dependencies = std::move(command->dependencies);
        dependents.clear();
        dependencies.clear();
        *command = Command{};
        command->dependents = std::move(dependents);  // keep their capacity
        command->dependencies = std::move(dependencies);
        free_.push_back(command);
    }

    std::vector<std::unique_ptr<Command[]>> blocks_;
    std::vector<Command*> free_;
    std::vector<Command*> releasing_;
};

// A counted reference, for code that keeps a command beyond a call. Dropped under the lock, like everything
// here.
class CommandRef {
  public:
    CommandRef() = default;
    CommandRef(CommandPool& pool, Command* command) : pool_(&pool), command_(command) {
        if (command_) pool_->retain(command_);
    }
    CommandRef(const CommandRef& other) : pool_(other.pool_), command_(other.command_) {
        if (command_) pool_->retain(command_);
    }
    CommandRef(CommandRef&& other) noexcept
        : pool_(other.pool_), command_(std::exchange(other.command_, nullptr)) {}
    CommandRef& operator=(CommandRef other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(command_, other.command_);
        return *this;
    }
    ~CommandRef() {
        if (command_) pool_->release(command_);
    }

    Command* get() const { return command_; }
    Command* operator->() const { return command_; }
    explicit operator bool() const { return command_ != nullptr; }

  private:
    CommandPool* pool_ = nullptr;
    Command* command_ = nullptr;
};

// A stream as the timeline knows it.
struct SimStream {
    int device = 0;
    int queue = 0;  // hardware queue of the device
    int priority = 0;
    bool legacy = false;
    bool blocking = true;  // takes part in the legacy default stream's ordering
    CommandRef last;       // empty, or the last command issued to it
};

}  // namespace cuscope::host
