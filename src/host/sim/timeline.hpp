// What happens when on the simulated devices: streams, hardware queues, engines, and the host's clock. A pure
// discrete-event simulation: no threads, no wall clock, no effects; the same calls give the same times. The
// runtime's lock guards it.
//
// Lazy and conservative: enqueuing only records, and the devices are simulated as far as somebody asks, never
// past what the host may still add. A command whose duration only its effect can tell holds the simulation up
// at its earliest end until `resolve` is called.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "host/sim/command.hpp"
#include "host/sim/device_model.hpp"

namespace cuscope::host {

class Timeline {
  public:
    // A multiprocessor's room for blocks, to be divided by how many of a kernel's it holds.
    static constexpr std::int64_t units_per_multiprocessor = std::int64_t{1} << 20;

    // Called when an effect is due: when its command has ended or, where only the effect can tell how long
    // the command takes, when the simulation cannot go on without knowing.
    using EffectDue = std::function<void(Command*)>;
    // Called for every command that has ended.
    using Ended = std::function<void(Command*)>;
    // Who knows what commands that watch look at. `undone`: what has ended, and has its work yet to be done
    // before somebody may look; null if nothing. `look`: looks, for a command.
    struct Watch {
        std::function<Command*()> undone;
        std::function<Effect::Progress(Command*)> look;
    };

    Timeline(EffectDue effect_due, Ended ended, Watch watch);

    int add_device(const DeviceModel& model);
    void add_stream(SimStream& stream, int device, int priority, bool blocking, bool legacy);
    void remove_stream(SimStream& stream);

    CommandPool& pool() { return pool_; }

    Time now() const { return now_; }
    void spend(Time duration) { now_ += duration; }
    void wait_until(Time time) { now_ = time > now_ ? time : now_; }

    // A command for `stream`, issued now. The caller fills in engine, duration, blocks, effect; then enqueues
    // it.
    Command* make(SimStream& stream);
    // Adds the order of streams, and of `after` (an event's record, ends of a graph) if given. Keeps its own
    // reference.
    void enqueue(Command* command, std::span<Command* const> after = {});
    // Adds a node of a graph, in no stream's order and in no hardware queue. `overlapped` is a kernel that it
    // waits for only until that triggers.
    void enqueue_node(Command* command, std::span<Command* const> after, Command* overlapped);
    // While simulating, when something has ended: such a node begins no later than now.
    void enqueue_now(Command* command, std::span<Command* const> after);
    // Adds to what a command waits for that was enqueued with a hold, and takes the hold off.
    void release_hold(Command* command, std::span<Command* const> after);
    void hold(Command* command) { ++command->unmet; }
    // Adds a command of no engine beside a kernel, in no stream's order: it ends when the kernel's last block
    // has started, or when all of them have let dependents start.
    enum class Moment { begun, triggered };
    void enqueue_beside(Command* command, Command* kernel, Moment moment);
    std::size_t pending() const { return pending_; }

    // Simulates up to `limit`. Null: done. Otherwise the command that has to be resolved first, or whose work
    // has to be done.
    Command* advance(Time limit);
    // Simulates until `command` has ended. Null if it has; else the command to be resolved first, or
    // `command` itself if it waits for a stalled one.
    Command* advance_until(Command* command);
    // Simulates the next thing that happens; the host's clock follows. False if nothing can; `holder` is the
    // command then that has to be resolved first, or null.
    bool advance_one(Command** holder = nullptr);

    // The effect has run: its duration is known, and when its blocks let dependents start.
    void resolve(Command* command, Time elapsed, Time trigger);
    // Goes on without knowing when the command ends, or without its work. A host function that could not be
    // begun makes room for others.
    void set_stalled(Command* command, bool begun);
    // Does some command watch? And what was run ahead of its end: what it did is not to be seen before that.
    bool watching() const { return !watching_.empty(); }
    const std::vector<Command*>& ahead() const { return ahead_; }

    const std::vector<SimStream*>& streams(int device) const { return devices_[device]->streams; }

    // Why a command that was enqueued has not ended, as far as the timeline knows: see pending.cpp.
    enum class Cause { order, signal, condition, queue, engine, grids, room, simulation };
    struct Wait {
        Cause cause;
        std::vector<const Command*> blockers;
    };
    std::vector<Wait> waits_of(const Command* command) const;

  private:
    struct Happening {  // the end of a command, or of some of its blocks
        Time time;
        std::uint64_t sequence;
        Command* command;
        std::int64_t blocks;  // compute: how many of its blocks; of a moment, which: begun_mark, ...
        std::int64_t units;   // and what they occupied
        bool operator>(const Happening& other) const {
            // Ties go by the order of issue, never by when the simulation learnt of the event.
            return time != other.time ? time > other.time : sequence > other.sequence;
        }
    };
    struct CopyEngine {
        Command* running = nullptr;
        std::deque<Command*> waiting;
    };
    struct Device {
        const DeviceModel* model;
        std::vector<SimStream*> streams;
        int next_queue = 0;
        std::deque<Command*> arrivals;  // in order of `issued`
        std::vector<std::deque<Command*>> queues;
        CopyEngine to_device, to_host, on_device, host;
        std::vector<Command*> grids;  // that have blocks to place; by priority, then by arrival
        std::int64_t free_units = 0;
        int resident = 0;  // grids that hold slots
        Command* last_kernel =
            nullptr;  // the last command issued, if that is a kernel (event records do not count)
    };

    static CopyEngine* copy_engine(Device& device, Engine engine);
    int queue_of(const Device& device, const Command& command) const;
    Time next_time(int* arriving_device) const;
    void step(Time time, int arriving_device);
    Command* holding_up(Time next) const;
    bool known(Command* holder);
    // Moments of a kernel that other commands wait for: see Command::begun.
    void depend_on_trigger(Command* command, Command* kernel);
    void all_begun(Command* kernel, Time time);
    void want_trigger(Command* kernel);
    void apply_trigger(Command* kernel);
    void schedule(Command* kernel, Moment moment);
    void let_go(std::vector<Command*>& waiting);
    bool waits_for_primary(const Happening& happening);
    void apply_resolution(Command* command);
    // Commands that watch: see watches.cpp.
    void watch(Command* command);
    void look_from_outside();
    Command* look();
    void look_at(Time time);
    void arrive(Device& device);
    void now_ready(Command* command);
    void look_at_queue(Device& device, int queue);
    void pass(Command* command);
    void add_grid(Device& device, Command* command);
    void settle();
    void depend(Command* command, Command* on);
    void begin(Device& device, CopyEngine& engine, Command* command);
    void leave_queue(Device& device, Command* command);
    void leave_engine(Device& device, CopyEngine& engine);
    void place_blocks(Device& device);
    void schedule_blocks(Device& device, Command* command, std::int64_t slots);
    void happen(const Happening& happening);
    void end(Command* command);
    void signal(Command* command, bool to_kernels, bool to_others);

    EffectDue effect_due_;
    Ended ended_;
    Watch watch_;
    CommandPool pool_;
    std::vector<std::unique_ptr<Device>> devices_;
    std::priority_queue<Happening, std::vector<Happening>, std::greater<>> happenings_;
    std::vector<Command*> unresolved_;
    std::vector<Command*> untriggered_;  // begun, and somebody waits for what only the effect can tell
    std::vector<Command*> watching_;     // in the order in which they began
    bool to_look_ = false;               // something has happened since somebody looked
    std::vector<Command*> ahead_;        // not ended, and their effects have been asked for
    std::vector<Happening> held_;        // ends of blocks that wait for the kernel before theirs
    std::vector<std::pair<int, int>> to_look_at_;  // device, queue
    std::vector<Command*> loose_;                  // ready, and in no hardware queue
    std::vector<int> to_place_;                    // devices whose grids or slots changed
    std::uint64_t next_sequence_ = 0;
    std::size_t pending_ = 0;
    Time now_ = 0;   // the host's clock
    Time time_ = 0;  // how far the devices have been simulated
};

}  // namespace cuscope::host
