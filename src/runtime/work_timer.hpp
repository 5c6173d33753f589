// Times of work by events around it, for traces of devices that do not record their work.
//
// Two events stand around each piece of work in its stream. A thread that gives one piece of work to a stream
// directly after another one needs one event between them: recording events is most of the cost of a trace.
//
// Events have no time of the host's clock. So each device has an anchor: an event of an idle stream whose
// time is known on both clocks. A new anchor is taken whenever times are read, which is at the end of a
// trace, and at least once a second while work is issued. Two anchors tell the rates of the clocks. They also
// keep distances short: CUDA tells them as a float of milliseconds, which is too coarse for long ones. An
// anchor is as wrong as its stream was kept waiting. That shows if work seems to begin before its call: then
// all times of that reading become so much later.
//
// No event is recorded in a stream that is being captured. All other calls are made in the relaxed mode of
// captures, so that they invalidate none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/activity.hpp"
#include "runtime/runtime.hpp"

namespace cuscope {

class WorkTimer {
  public:
    // Work with the events around it.
    struct Timed {
        WorkRecord record;  // without times
        StreamRecord stream;
        std::uint64_t trace = 0;   // in which it began: see trace_
        std::uint64_t resets = 0;  // of its device before it began
        std::int64_t issued = 0;   // when its call began; 0: unknown
        EventHandle begin = nullptr, end = nullptr;
        bool shares_begin = false;   // it is the event behind the work before it
        bool next_has_end = false;   // the next work shares the event, and gives it back
        bool is_given_back = false;  // only its events are left, and wait for the work before it
    };

    explicit WorkTimer(Runtime& runtime) : runtime_(runtime) {}

    // Records the event before the work if it needs its own, and fills in the work's stream and device.
    enum class Begun { yes, no, failed };  // no: the stream is captured, and its work is not timed
    Begun begin(StreamHandle stream, Timed* timed);
    // Records the event behind the work. False: that failed, and the work is not timed.
    bool end(StreamHandle stream, const Timed& timed);
    // Takes the work after end(). Its record is complete but for the times. Forgets it if its trace has
    // ended.
    void add(const Timed& timed, ActivityRecorder& recorder);
    // Takes back the events of work that was not issued, or is not timed.
    void give_back(const Timed& timed);

    // Hands over the records of all work that has ended.
    void flush(ActivityRecorder& recorder);
    // Forgets the work that was not handed over. No trace runs.
    void clear();
    // The device was reset: its events are gone. Returns how many pieces of work have no times for that
    // reason.
    std::uint64_t forget_device(int ordinal);

  private:
    struct Anchor {
        EventHandle event = nullptr;
        std::int64_t host_ns = 0;
    };
    // The end of work whose times are known.
    struct Placed {
        EventHandle event = nullptr;
        std::int64_t host_ns = 0;
        double chained = 0;  // nanoseconds since an end that was found by an anchor
    };
    static constexpr std::size_t first_read = 4096;  // so many pieces of work later, their times are read
    struct DeviceState {
        std::vector<EventHandle> free;
        std::vector<Timed> pending;  // in the order of the calls
        std::vector<Timed> spare;    // an empty array that has room
        Placed latest;               // of the work that was read last
        std::size_t read_at = first_read;
        StreamHandle own_stream = nullptr;  // for anchors
        Anchor anchor;                      // without an event: it could not be taken
        std::uint64_t resets = 0;
        void take_back(const Timed& timed);
    };
    class Rates;
    class Reading;

    static bool follows(const DeviceState& device, const StreamRecord& stream);
    bool prepare(Timed* timed, const StreamRecord& stream);
    bool make_events(int ordinal);
    EventHandle take_event(int ordinal);
    std::optional<Anchor> take_anchor(int ordinal);
    void read(int ordinal, ActivityRecorder& recorder);  // within a turn of reading_
    void read(int ordinal, const std::vector<Timed>& work, const Anchor& first, ActivityRecorder& recorder);
    Status distance(EventHandle from, EventHandle to, double* nanoseconds);

    Runtime& runtime_;
    std::mutex reading_;  // held while times are read, also during calls of the runtime: use locked()
    std::mutex mutex_;    // guards the devices; not held during calls of the runtime
    std::map<int, DeviceState> devices_;  // by ordinal
    // Grows when no trace runs any more. A call may begin in one trace and end in the next one.
    std::uint64_t trace_ = 0;
};

}  // namespace cuscope
