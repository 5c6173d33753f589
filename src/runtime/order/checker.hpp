// The state of the check of the order of commands: which command lies before which (vector clocks), and the
// memory that they use. Commands are numbered when the program makes them. Their accesses are compared in the
// same order, but later if a kernel has to run first: then it is known what the kernel has accessed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runtime/order/access_map.hpp"
#include "runtime/order/graph_shape.hpp"
#include "runtime/order/notes.hpp"
#include "runtime/types.hpp"

namespace cuscope::order {

// A stream, as calls name it. Default streams have the same handles on all devices, and the per-thread one in
// all threads.
using StreamKey =
    std::tuple<const void*, std::uintptr_t, int, std::uint64_t>;  // runtime, handle, device, thread

struct StreamFacts {
    int device = 0;
    bool blocking = true, legacy = false;
    std::string name;
    std::uint32_t made_at = 0;  // a line of the program; 0: it was made before the check
};

// What one call puts into a stream.
struct Work {
    std::string what;
    std::vector<Access> accesses;
    std::vector<KernelPart> kernels;
    std::shared_ptr<GraphShape> graph;                   // of the launch of an executable
    EventHandle records = nullptr, waits_for = nullptr;  // of a node that is captured
    std::vector<const void*> host_functions{};           // their keys
};

struct RanLaunch {
    std::vector<Ran> accesses;
    bool polls = false, known = false;
};

class Checker {
  public:
    static Checker& get();
    void begin();
    void end();

    bool knows(const StreamKey& stream);
    void introduce(const StreamKey& stream, StreamFacts facts);
    void stream_destroyed(const StreamKey& stream);

    void enqueue(const StreamKey& stream, Work work);
    // A wait for numbers in memory or for external semaphores.
    void enqueue_open_wait(const StreamKey& stream, Work work);
    // Numbers that streams write: a host that reads them knows of the commands before.
    void enqueue_flags(const StreamKey& stream, Work work);
    void enqueue_graph(const StreamKey& stream, GraphExecHandle exec, Work work);
    // Nodes whose memory was freed since they were added.
    void find_stale(const StreamKey& stream, const GraphShape& shape);
    void exec_destroyed(GraphExecHandle exec);

    void event_created(EventHandle event);
    void event_destroyed(EventHandle event);
    void event_recorded(EventHandle event, const StreamKey& stream);
    void event_captured(EventHandle event);
    void stream_waits(const StreamKey& stream, EventHandle event);
    void host_waits(EventHandle event);  // before the call

    // What a call has told: all commands so far have ended. `tidying`: not the program has asked, but the
    // package, to see what it may release.
    void event_done(EventHandle event, bool tidying);
    void stream_done(const StreamKey& stream, bool tidying);
    void device_done(const void* runtime, int device, bool tidying);
    // The host has waited for the latest command of the stream, which it has just enqueued.
    void wait_for_last(const StreamKey& stream) { stream_done(stream, false); }

    // `stream`: null where the call is no command of a stream.
    void allocated(const void* pointer, std::size_t bytes, const StreamKey* stream);
    // The number of the allocation at this address, to be asked for before it is released; 0: not known.
    std::uint64_t serial_at(const void* pointer);
    void freed(const void* pointer, std::uint64_t serial, const StreamKey* stream, const char* call,
               bool tidying);
    // The end of the allocation that holds the address; 0: not known.
    std::uintptr_t end_of_allocation(std::uintptr_t address);
    std::uint64_t serial_holding(std::uintptr_t address, std::uintptr_t* begin);

    void host_access(std::uintptr_t begin, std::uintptr_t end, bool writes, const std::string& what);
    void host_function_begins(const void* key);
    void host_function_ends();
    void launch_ran(std::uint64_t token, RanLaunch ran);

  private:
    struct Stream {
        Timeline timeline = 0;
        std::uint64_t tick = 0;
        Clock clock;
        StreamFacts facts;
        FoundStream found;
        const void* runtime = nullptr;
    };
    struct UnrecordedWait {
        FoundCall call;
        std::uint32_t line = 0;
    };
    struct Event {
        std::optional<Clock> recorded;
        std::uint32_t made_at = 0, recorded_at = 0;
        bool known = false;  // made during the check
        FoundStream recorded_in;
        std::vector<UnrecordedWait> unrecorded;
    };
    struct Live {
        std::uintptr_t end = 0;
        std::uint64_t serial = 0;
    };
    struct Entry {
        CommandPtr by;
        Work work;
    };
    using Device = std::pair<const void*, int>;  // runtime, ordinal

    // A call that needs the line of the program. The line is found before the lock is taken: Python may
    // collect garbage meanwhile, and the release of an array that it finds comes back here.
    class Call {
      public:
        explicit Call(Checker& checker) : line_(program_line_number()), lock_(checker.mutex_) {
            checker.line_ = line_;
        }

      private:
        const std::uint32_t line_;
        const std::scoped_lock<std::mutex> lock_;
    };

    Stream& find(const StreamKey& stream);
    // The next command of the stream.
    CommandPtr advance(Stream& stream, std::string what);
    Clock clock_of(const Stream& stream) const;
    void add(CommandPtr command, Work work);
    // Compares the accesses of commands as far as they are known.
    void process(bool all);
    void compare(const Entry& entry);
    void label(Access& access);
    void report_unrecorded(Event& event);

    std::mutex mutex_;
    bool active_ = false;
    std::uint32_t line_ = 0;  // of the Call that holds the lock
    std::map<StreamKey, Stream> streams_;
    std::vector<std::pair<Timeline, std::uint64_t>> unused_;  // timelines of destroyed streams
    Timeline last_timeline_ = first_stream_timeline;
    std::map<std::uint32_t, unsigned> made_on_line_;
    Clock host_, release_;
    std::map<Device, Clock> legacy_, blocking_, all_;
    std::unordered_map<EventHandle, Event> events_;
    std::unordered_map<GraphExecHandle, Clock> last_launch_;
    std::unordered_map<const void*, CommandPtr> host_functions_;
    std::map<std::uintptr_t, Live> live_;
    std::uint64_t last_serial_ = 0;
    std::map<std::uintptr_t, Clock> flags_;  // numbers that streams write
    std::deque<Entry> log_;
    std::unordered_map<std::uint64_t, RanLaunch> ran_;
    AccessMap accesses_;
};

// The finding of two accesses that nothing orders, or of one to freed memory.
Finding order_finding(const Access& earlier, const Access& later, std::uintptr_t begin, std::uintptr_t end);

}  // namespace cuscope::order
