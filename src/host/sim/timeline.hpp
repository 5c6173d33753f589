// Decides when each command starts and ends on the simulated devices: streams, hardware queues, engines, and
// the host's clock. A pure discrete-event simulation without threads, wall clock or effects: the same calls
// give the same times. The runtime's lock guards it.
//
// The simulation is lazy and conservative. Enqueuing only records a command. The devices are simulated only
// as far as a call needs, and never past a time at which the host may still add commands. If only the effect
// can tell a command's duration, the command stops the simulation at its earliest possible end until
// `resolve` is called.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "host/sim/command.hpp"
#include "host/sim/device_model.hpp"
#include "host/sim/multiprocessors.hpp"

namespace cuscope::host {

class Timeline {
  public:
    // Called when an effect is due. That is when its command has ended. If only the effect can tell how long
    // the command takes, it is when the simulation cannot go on without knowing.
    using EffectDue = std::function<void(Command*)>;
    // Called for every command when it has ended.
    using Ended = std::function<void(Command*)>;
    // Callbacks for commands that poll memory ("watch"). `undone` returns an ended command that has to do its
    // work before the next poll; null if there is none. `look` polls for one command.
    struct Watch {
        std::function<Command*()> undone;
        std::function<Effect::Progress(Command*)> look;
    };

    Timeline(EffectDue effect_due, Ended ended, Watch watch);

    int add_device(const DeviceModel& model);
    void add_stream(SimStream& stream, int device, int priority, bool blocking, bool legacy);
    void remove_stream(SimStream& stream);

    CommandPool& pool() { return pool_; }

    // May be called without the lock, as traces do for each call of the program.
    Time now() const { return now_.load(std::memory_order_relaxed); }
    void spend(Time duration) { now_.store(now() + duration, std::memory_order_relaxed); }
    void wait_until(Time time) {
        if (time > now()) now_.store(time, std::memory_order_relaxed);
    }

    // Makes a command for `stream`, issued now. The caller sets engine, duration, blocks and effect, and then
    // enqueues it.
    Command* make(SimStream& stream);
    // Adds the dependencies that stream order gives, and `after` (an event's record, the ends of a graph).
    // Keeps its own reference.
    void enqueue(Command* command, std::span<Command* const> after = {});
    // Adds a graph node. It is in no stream's order and in no hardware queue. `overlapped` is a kernel for
    // which the node waits only until that kernel triggers (programmatic dependent launch).
    void enqueue_node(Command* command, std::span<Command* const> after, Command* overlapped);
    // Adds a graph node while the simulation handles the end of another command. The node begins no earlier
    // than now.
    void enqueue_now(Command* command, std::span<Command* const> after);
    // Adds dependencies to a command that was enqueued with a hold, and removes the hold.
    void release_hold(Command* command, std::span<Command* const> after);
    void hold(Command* command) { ++command->unmet; }
    // Adds a command without an engine that accompanies a kernel, in no stream's order. It ends when the
    // kernel's last block has started, or when all blocks have let dependents start.
    enum class Moment { begun, triggered };
    void enqueue_beside(Command* command, Command* kernel, Moment moment);
    std::size_t pending() const { return pending_; }

    // Simulates up to `limit`. Null: done. Otherwise returns the command that has to be resolved first, or
    // that needs its work done first.
    Command* advance(Time limit);
    // Simulates until `command` has ended. Null: it has ended. Otherwise returns the command to resolve
    // first, or `command` itself if it waits for a stalled command.
    Command* advance_until(Command* command);
    // Simulates the next event and moves the host's clock there. False if there is none; `holder` is then the
    // command that has to be resolved first, or null.
    bool advance_one(Command** holder = nullptr);

    // To be called when the effect has run: gives its duration, and when its blocks let dependents start.
    void resolve(Command* command, Time elapsed, Time trigger);
    // Goes on without knowing when the command ends, or without its work. A host function that could not be
    // begun makes room for other host functions.
    void set_stalled(Command* command, bool begun);
    // Does any command poll memory? `ahead` are the commands with an effect that was run before their
    // simulated end: polls must not see their writes before that end.
    bool watching() const { return !watching_.empty(); }
    const std::vector<Command*>& ahead() const { return ahead_; }

    const std::vector<SimStream*>& streams(int device) const { return devices_[device]->streams; }

    // Why an enqueued command has not ended, as far as the timeline knows: see pending.cpp.
    enum class Cause { order, signal, condition, queue, engine, grids, room, simulation };
    struct Wait {
        Cause cause;
        std::vector<const Command*> blockers;
    };
    std::vector<Wait> waits_of(const Command* command) const;

  private:
    struct Happening {  // the end of a command, of some of its blocks, or of its use of an engine
        Time time;
        std::uint64_t sequence;
        Command* command;
        std::int64_t blocks;  // compute: number of blocks; engines: CopyEngine::timing; or one of the marks
        int placement = Multiprocessors::none;  // compute: the room that the blocks occupied
        bool operator>(const Happening& other) const {
            // Ties are ordered by issue, never by when the simulation learnt of the event.
            return time != other.time ? time > other.time : sequence > other.sequence;
        }
    };
    // Marks that take the place of Happening::blocks: a kernel's moment, or the end of a copy that has left
    // its engine.
    static constexpr std::int64_t begun_mark = -1, triggered_mark = -2, finished_mark = -3;
    struct CopyEngine {  // see copy_engines.cpp
        Command* running = nullptr;
        std::vector<Command*> waiting;    // ready
        Command* kept_for = nullptr;      // the next command, which will be ready soon
        const SimStream* last = nullptr;  // the stream that used the engine last
        Time free_at = 0;                 // when `running` leaves the engine, or the last command left it
        Time left = 0, since = 0;         // the rest of `running` at full speed, at the time `since`
        bool slowed = false;              // the other direction runs too
        std::uint64_t left_by = 0;        // the number of the last command that left the engine
        std::int64_t timing = 0;          // counts changes of free_at: older ends are void
    };
    struct Device {
        const DeviceModel* model;
        std::vector<SimStream*> streams;
        int next_queue = 0;
        std::deque<Command*> arrivals;  // ordered by `issued`
        std::vector<std::deque<Command*>> queues;
        std::vector<std::uint64_t> left_queues;  // the number of the last command that left each queue
        std::uint64_t freed_by = 0;              // of the last kernel that gave room back
        CopyEngine to_device, to_host, on_device, host;
        std::vector<Command*> grids;  // kernels with blocks to place; by priority, then by arrival
        Multiprocessors multiprocessors;
        int resident = 0;  // kernels that occupy multiprocessors
        Command* last_kernel =
            nullptr;  // the last issued command if it is a kernel; event records do not count
    };

    static CopyEngine* copy_engine(Device& device, Engine engine);
    int queue_of(const Device& device, const Command& command) const;
    Time next_time(int* arriving_device) const;
    void step(Time time, int arriving_device);
    Command* holding_up(Time next) const;
    bool known(Command* holder);
    // The moments of a kernel that other commands wait for: see Command::begun.
    void depend_on_trigger(Command* command, Command* kernel);
    void all_begun(Command* kernel, Time time);
    void want_trigger(Command* kernel);
    void apply_trigger(Command* kernel);
    void schedule(Command* kernel, Moment moment);
    void let_go(std::vector<Command*>& waiting, const Command* kernel);
    // Notes for traces why a command may start.
    void note_met(Command* command, const Command* dependency) const;
    bool waits_for_primary(const Happening& happening);
    void apply_resolution(Command* command);
    // Commands that poll memory: see polling.cpp.
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
    void leave_queue(Device& device, Command* command);
    // Engines that run one command at a time: see copy_engines.cpp.
    void hand_over(Device& device, CopyEngine& engine, Command* command);
    void start_next(Device& device, CopyEngine& engine);
    void time_end(Device& device, CopyEngine& engine);
    void share_link(Device& device);
    Command* next_of_stream(const Device& device, const Command* command) const;
    void leave_engine(Device& device, CopyEngine& engine);
    void happen_on_engine(Device& device, const Happening& happening);
    bool is_void(const Happening& happening);
    void drop_void();
    void place_blocks(Device& device);
    bool take_known_duration(Command* command);
    void schedule_blocks(const Device& device, Command* grid, std::int64_t slots, int placement);
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
    std::vector<Command*> untriggered_;  // begun kernels with an unknown trigger that a command waits for
    std::vector<Command*> watching_;     // ordered by begin
    bool to_look_ = false;               // an event has happened since the last poll
    std::vector<Command*> ahead_;        // not ended, but their effects were already requested
    std::vector<Happening> held_;        // ends of blocks that wait for the previous kernel
    std::vector<std::pair<int, int>> to_look_at_;            // device, queue
    std::vector<Command*> loose_;                            // ready commands that are in no hardware queue
    std::vector<int> to_place_;                              // devices with changed grids or slots
    std::vector<std::pair<Device*, CopyEngine*>> to_start_;  // free engines with commands that wait
    std::uint64_t next_sequence_ = 0;
    std::size_t pending_ = 0;
    std::atomic<Time> now_{0};  // the host's clock
    Time time_ = 0;             // how far the devices have been simulated
};

}  // namespace cuscope::host
