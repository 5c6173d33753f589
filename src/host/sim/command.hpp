// A command of a simulated device: what it waits for, which engine it needs, how long it takes, and the work
// that it stands for. Commands are pooled and counted; everything here happens under the runtime's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace cuscope::host {

using Time = std::int64_t;  // nanoseconds of simulated time

// The work behind a command, done outside the lock, in the order that the timeline decides. A graph's
// executable has its nodes' effects run again and again, never two runs of one at a time.
class Effect {
  public:
    virtual ~Effect() = default;
    // Before each run: when that has started, and when the kernel that it overlaps had ended.
    virtual void starting(Time) {}
    virtual void primary_ended(Time) {}
    virtual void run() = 0;
    // How long the last run says that it took: a kernel's clocks, a host function's host_work.
    virtual Time elapsed() const { return 0; }
    // How long after its start each block had let dependents start; -1: not all did.
    virtual Time triggered() const { return -1; }
    // So short that handing it to another thread would take longer, and it waits for nothing.
    virtual bool quick() const { return false; }
    // It waits for something outside the device.
    virtual bool stalled() const { return false; }
    // Of a command that watches: asked under the lock, instead of being run, whenever what it waits for may
    // have come about. Does as much as it can.
    enum class Progress { none, some, all };
    virtual Progress look() { return Progress::all; }
    // The same work once more; null where there is only one of it.
    virtual std::shared_ptr<Effect> copy() const { return nullptr; }
};

enum class Engine : int {
    none,            // event records and waits, a graph's begin: take their time and nothing else
    copy_to_device,  // also between devices
    copy_to_host,
    copy_on_device,  // also memset
    compute,
    host,  // host functions: one after the other
};

struct SimStream;

// What a command of no engine is for, and a node's; `effect`: the effect says it.
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
// Which line it stands in. `nowhere`: it was not enqueued, or is what a graph's nodes are made like.
enum class Line : char { nowhere, stream, graph, beside };

struct Command {
    Engine engine = Engine::none;
    Role role = Role::effect;
    Line line = Line::nowhere;
    Time issued = 0;    // when the device can see it
    Time started = -1;  // -1: not yet
    Time ended = -1;
    Time duration = 0;                  // compute: of one block
    bool duration_from_effect = false;  // at least `duration`; running the effect tells
    bool due = false;                   // duration_from_effect: the effect has been asked for
    bool resolved = true;               // the duration is known
    Time resolution = -1;               // what the effect said; applied when the simulation gets there
    bool stalled = false;               // resolving takes too long: the timeline goes on without it
    bool functional = false;            // ended, and its effect and those of all that it waited for are done
    bool watches = false;               // it ends once its effect says so, which may be never
    bool observable = false;            // the host can see what it does without calling the runtime
    bool arrived = false;               // the device has seen it
    bool handed_over = false;           // its engine has seen it

    int device = 0;
    int queue = 0;  // hardware queue of the device; -1: none
    SimStream* stream = nullptr;
    std::uint64_t sequence = 0;

    // compute: blocks not yet placed, not yet ended, placed before the duration was known; what each takes
    std::int64_t blocks_waiting = 0, blocks_left = 0, blocks_open = 0;
    std::int64_t block_units = 0;
    int priority = 0;
    Command* signalled_with = nullptr;  // a later kernel, whose end is when others see that this has ended
    std::vector<Command*> unsignalled;  // the earlier kernels of which this is that one

    // compute: programmatic dependent launches. When its last block has started; how long after its start a
    // block lets dependents start, -1: at its end, which only the effect can tell where it may do so.
    Time begun = -1, trigger = -1;
    bool overlaps = false;          // may start when the kernel before it in the stream triggers
    bool may_trigger = false;       // the effect has to be run to know
    bool triggers_at_once = false;  // whatever the effect says
    bool trigger_wanted = false, trigger_known = false;
    Command* primary = nullptr;  // the kernel that it overlaps: it ends no sooner; one of the dependencies
    Time tail = 0;               // how much of it comes after the primary's end
    std::vector<Command*> when_begun, when_triggered;  // what waits for that; not counted

    int unmet = 0;                       // dependencies that have not ended
    std::vector<Command*> dependents;    // not counted: cleared when this ends
    std::vector<Command*> dependencies;  // counted until this is functional

    std::shared_ptr<Effect> effect;
    bool effect_done = true;
    bool running = false;  // its effect
    bool passed = false;   // by the effects of later ones, since it is stalled
    bool awaited = false;  // somebody waits for its effect

    // Called, if it is there, when the command has ended on the timeline: enqueues what comes next, which
    // depends on what its effect found out.
    std::function<void(Command*)> next;

    int references = 0;

    // What `model` is, takes and does: all but when, where and for whom.
    void imitate(const Command& model) {
        engine = model.engine;
        duration = model.duration;
        duration_from_effect = model.duration_from_effect;
        watches = model.watches;
        observable = model.observable;
        blocks_waiting = model.blocks_waiting;
        blocks_left = model.blocks_left;
        block_units = model.block_units;
        triggers_at_once = model.triggers_at_once;
        may_trigger = model.may_trigger;
        tail = model.tail;
        effect = model.effect;
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

    // Every command that somebody refers to.
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

// A counted reference, for those who keep one beyond a call. Dropped under the lock, like everything here.
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
