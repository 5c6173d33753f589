#include "runtime/work_timer.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <set>
#include <utility>

#include "runtime/call_times.hpp"
#include "runtime/process.hpp"

namespace cuscope {
namespace {

constexpr std::int64_t second = 1'000'000'000;

// While this object lives, the device is the thread's current one, and the thread's calls invalidate no
// capture.
class QuietCalls {
  public:
    QuietCalls(Runtime& runtime, int ordinal) : runtime_(runtime) {
        relaxed_ = runtime_.thread_exchange_stream_capture_mode(&mode_) == Status::success;
        moved_ = runtime_.get_device(&previous_) == Status::success && previous_ != ordinal &&
                 runtime_.set_device(ordinal) == Status::success;
    }
    QuietCalls(const QuietCalls&) = delete;
    QuietCalls& operator=(const QuietCalls&) = delete;
    ~QuietCalls() {
        if (moved_) runtime_.set_device(previous_);
        if (relaxed_) runtime_.thread_exchange_stream_capture_mode(&mode_);
    }

  private:
    Runtime& runtime_;
    CaptureMode mode_ = CaptureMode::relaxed;
    int previous_ = 0;
    bool relaxed_ = false, moved_ = false;
};

}  // namespace

// From the device's clock to the host's, between two anchors.
class WorkTimer::Rates {
  public:
    explicit Rates(const Anchor& first) : first_(first) {}

    // `distance`: between the anchors, on the device's clock.
    void add(const Anchor& last, double distance) {
        last_ = last;
        distance_ = distance;
        // The anchors are some microseconds wrong, which would distort short distances.
        const auto on_host = static_cast<double>(last.host_ns - first_.host_ns);
        constexpr double long_enough = 0.1 * second, most = 1e-3;
        if (first_.event != nullptr && on_host > long_enough)
            rate_ = std::clamp(on_host / distance, 1 - most, 1 + most);
    }
    // Is an event that is so far behind the first anchor nearer to the last one, and is that worth a call?
    bool last_is_better(double behind_first) const {
        return last_.event != nullptr && behind_first > second && 2 * behind_first > distance_;
    }
    std::int64_t behind_first(double distance) const {
        return first_.host_ns + std::llround(distance * rate_);
    }
    std::int64_t before_last(double distance) const { return last_.host_ns - std::llround(distance * rate_); }

  private:
    Anchor first_, last_;
    double distance_ = 0, rate_ = 1;
};

WorkTimer::Begun WorkTimer::begin(StreamHandle stream, Timed* timed) {
    StreamRecord about;
    if (!runtime_.describe_stream(stream, &about)) return Begun::no;
    if (!prepare(timed, about)) return Begun::failed;
    if (timed->shares_begin) return Begun::yes;
    if (runtime_.event_record_with_flags(timed->begin, stream, 0) == Status::success) return Begun::yes;
    runtime_.get_last_error();
    give_back(*timed);
    return Begun::failed;
}

// Is the latest work of the device that of this thread's last call, in the same stream, and did that call end
// just now? Then nothing lies between both in the stream: a call of this package would be a later call, and
// another library's call would have taken longer.
bool WorkTimer::follows(const DeviceState& device, const StreamRecord& stream) {
    constexpr std::int64_t just_now = 2000;  // nanoseconds
    const CallTimes& times = call_times();
    if (device.pending.empty() || times.began == 0) return false;
    const Timed& before = device.pending.back();
    return before.record.call == times.last_call && before.record.stream == stream.id &&
           !before.is_given_back && times.began - times.last_ended < just_now;
}

// Other threads may take the events that this thread makes. So there are a few tries.
bool WorkTimer::prepare(Timed* timed, const StreamRecord& stream) {
    constexpr int most_tries = 8;
    const int ordinal = stream.ordinal;
    timed->stream = stream;
    timed->record.stream = stream.id;
    timed->record.device = stream.device;
    timed->issued = call_times().began;
    for (int tries = 0; tries < most_tries; ++tries) {
        {
            const std::lock_guard lock(mutex_);
            DeviceState& device = devices_[ordinal];
            if (device.anchor.host_ns != 0 && device.free.size() >= 2) {
                const auto take = [&] {
                    EventHandle const event = device.free.back();
                    device.free.pop_back();
                    return event;
                };
                timed->trace = trace_;
                timed->resets = device.resets;
                timed->shares_begin = follows(device, stream);
                if (timed->shares_begin) device.pending.back().next_has_end = true;
                timed->begin = timed->shares_begin ? device.pending.back().end : take();
                timed->end = take();
                return true;
            }
        }
        const auto turn = locked<std::unique_lock<std::mutex>>(reading_);
        if (!make_events(ordinal)) return false;
    }
    return false;
}

// Makes events, and tries once in a trace to take its first anchor. Without it, the last one serves.
bool WorkTimer::make_events(int ordinal) {
    constexpr std::size_t at_once = 64;
    const QuietCalls quiet(runtime_, ordinal);
    std::vector<EventHandle> made;
    for (EventHandle event = nullptr; made.size() < at_once; made.push_back(event)) {
        if (runtime_.event_create_with_flags(&event, 0) == Status::success) continue;
        runtime_.get_last_error();
        break;
    }
    StreamHandle stream = nullptr;
    bool anchored = false;
    {
        const std::lock_guard lock(mutex_);
        DeviceState& device = devices_[ordinal];
        device.free.insert(device.free.end(), made.begin(), made.end());
        stream = device.own_stream;
        anchored = device.anchor.host_ns != 0;
    }
    if (stream == nullptr) {
        if (runtime_.stream_create_with_priority(&stream, flags::stream_non_blocking, 0) != Status::success) {
            runtime_.get_last_error();
            return false;
        }
        const std::lock_guard lock(mutex_);
        devices_[ordinal].own_stream = stream;
    }
    if (anchored) return !made.empty();
    const Anchor none{nullptr, runtime_.trace_clock_ns()};
    const Anchor anchor = take_anchor(ordinal).value_or(none);
    const std::lock_guard lock(mutex_);
    devices_[ordinal].anchor = anchor;
    return !made.empty();
}

EventHandle WorkTimer::take_event(int ordinal) {
    {
        const std::lock_guard lock(mutex_);
        std::vector<EventHandle>& free = devices_[ordinal].free;
        if (!free.empty()) {
            EventHandle const event = free.back();
            free.pop_back();
            return event;
        }
    }
    EventHandle event = nullptr;
    if (runtime_.event_create_with_flags(&event, 0) != Status::success) runtime_.get_last_error();
    return event;
}

// The event happens between its call and the first query that finds it done. The shortest of a few tries
// counts. Nothing if the stream, whose work may share a queue with other work, takes too long.
std::optional<WorkTimer::Anchor> WorkTimer::take_anchor(int ordinal) {
    constexpr int tries = 3;
    constexpr std::int64_t patience = second / 200;
    StreamHandle stream = nullptr;
    {
        const std::lock_guard lock(mutex_);
        stream = devices_[ordinal].own_stream;
    }
    Anchor best;
    EventHandle event = take_event(ordinal), other = take_event(ordinal);
    std::int64_t shortest = patience;
    for (int i = 0; i < tries && event != nullptr && other != nullptr; ++i) {
        const std::int64_t before = runtime_.trace_clock_ns();
        Status status = runtime_.event_record_with_flags(event, stream, 0);
        std::int64_t after = before;
        while (status == Status::success && after - before < patience) {
            status = runtime_.event_query(event);
            after = runtime_.trace_clock_ns();
            if (status == Status::success) break;
            if (status != Status::not_ready) break;
            runtime_.get_last_error();
            status = Status::success;
        }
        if (status != Status::success) runtime_.get_last_error();
        if (status != Status::success || after - before >= shortest) continue;
        shortest = after - before;
        best = {event, before + shortest / 2};
        std::swap(event, other);
    }
    const std::lock_guard lock(mutex_);
    for (EventHandle unused : {event, other}) {
        if (unused != nullptr && unused != best.event) devices_[ordinal].free.push_back(unused);
    }
    return best.event != nullptr ? std::optional(best) : std::nullopt;
}

bool WorkTimer::end(StreamHandle stream, const Timed& timed) {
    if (runtime_.event_record_with_flags(timed.end, stream, 0) == Status::success) return true;
    runtime_.get_last_error();
    return false;
}

void WorkTimer::DeviceState::take_back(const Timed& timed) {
    if (timed.resets != resets) return;
    free.push_back(timed.begin);
    if (!timed.next_has_end) free.push_back(timed.end);
}

void WorkTimer::give_back(const Timed& timed) {
    const std::lock_guard lock(mutex_);
    DeviceState& device = devices_[timed.stream.ordinal];
    const bool needed = timed.shares_begin && timed.trace == trace_ && timed.resets == device.resets;
    if (!needed) return device.take_back(timed);
    device.pending.push_back(timed);  // the work before it still needs the event
    device.pending.back().is_given_back = true;
}

void WorkTimer::add(const Timed& timed, ActivityRecorder& recorder) {
    bool late = false;
    {
        const std::lock_guard lock(mutex_);
        DeviceState& device = devices_[timed.stream.ordinal];
        late = timed.trace != trace_ || timed.resets != device.resets;
        if (late) {
            device.take_back(timed);
        } else {
            device.pending.push_back(timed);
            const std::int64_t now = timed.issued != 0 ? timed.issued : runtime_.trace_clock_ns();
            if (device.pending.size() < device.read_at && now - device.anchor.host_ns < second) return;
        }
    }
    // The call began in a trace that has ended, or while one ended and the next began.
    if (late) return recorder.drop(1);
    // If another thread reads, it reads enough.
    if (const std::unique_lock turn(reading_, std::try_to_lock); turn) read(timed.stream.ordinal, recorder);
}

Status WorkTimer::distance(EventHandle from, EventHandle to, double* nanoseconds) {
    float milliseconds = 0;
    const Status status = runtime_.event_elapsed_time(&milliseconds, from, to);
    if (status != Status::success) runtime_.get_last_error();
    *nanoseconds = double{milliseconds} * 1e6;
    return status;
}

// One reading of times: the records of the work that has ended, and the events that are free again.
class WorkTimer::Reading {
  public:
    Reading(WorkTimer& timer, const Anchor& first, const std::optional<Anchor>& last, const Placed& latest)
        : timer_(timer), first_(first), last_(last), latest_(latest), rates_(first) {
        double between = 0;
        if (last && (!has_first() || timer.distance(first.event, last->event, &between) == Status::success))
            rates_.add(*last, between);
    }

    void add(const Timed& timed) {
        if (busy_.contains(timed.record.stream)) return left.push_back(timed);
        if (timed.is_given_back) return give_back(timed);
        double length = 0;
        Status status =
            has_first() || last_ ? timer_.distance(timed.begin, timed.end, &length) : Status::not_ready;
        if (status == Status::not_ready) {
            busy_.insert(timed.record.stream);
            return left.push_back(timed);
        }
        WorkRecord record = timed.record;
        const bool behind_latest = timed.shares_begin && timed.begin == latest_.event;
        const bool chained = behind_latest && latest_.chained + length < most_chained;
        if (chained) {
            record.start = latest_.host_ns;
        } else if (status == Status::success) {
            status = place(timed.begin, &record.start);
            const std::int64_t overlap = latest_.host_ns - record.start;
            if (behind_latest && overlap > 0 && overlap < rounding) record.start = latest_.host_ns;
        }
        give_back(timed);
        if (status != Status::success) {  // the device was lost, or another library captured the work
            latest_ = {};
            ++lost;
            return;
        }
        record.end = record.start + std::llround(length);
        latest_ = {timed.end, record.end, chained ? latest_.chained + length : 0};
        // Work that shares an event may begin a little before its call: see follows().
        if (timed.issued != 0 && !timed.shares_begin) early_ = std::max(early_, timed.issued - record.start);
        used_.try_emplace(record.stream, timed.stream);
        records_.push_back(record);
    }

    void deliver(ActivityRecorder& recorder) {
        for (WorkRecord& record : records_) {
            record.start += early_;
            record.end += early_;
        }
        recorder.add(records_);
        for (const auto& [id, stream] : used_) recorder.add(stream);
        if (lost > 0) recorder.drop(lost);
    }

    Placed latest() const { return {latest_.event, latest_.host_ns + early_, latest_.chained}; }
    // For the next reading.
    Anchor anchor() const {
        const Anchor& latest = last_ ? *last_ : first_;
        return {latest.event, latest.host_ns + early_};
    }

    std::vector<Timed> left;  // has not ended
    std::vector<EventHandle> free;
    std::uint64_t lost = 0;

  private:
    // Sums of lengths get wrong by the drift of the device's clock, which is some 10 ns in this time.
    static constexpr double most_chained = 1e6;
    static constexpr std::int64_t rounding = 1000;  // that of distances to anchors is smaller

    bool has_first() const { return first_.event != nullptr; }

    Status place(EventHandle event, std::int64_t* host_ns) {
        double behind_first = 0, before_last = 0;
        Status status = has_first() ? timer_.distance(first_.event, event, &behind_first) : Status::success;
        const bool from_last = !has_first() || rates_.last_is_better(behind_first);
        if (status == Status::success && from_last)
            status = timer_.distance(event, last_->event, &before_last);
        *host_ns = from_last ? rates_.before_last(before_last) : rates_.behind_first(behind_first);
        return status;
    }

    void give_back(const Timed& timed) {
        free.push_back(timed.begin);
        if (!timed.next_has_end) free.push_back(timed.end);
    }

    WorkTimer& timer_;
    const Anchor first_;
    const std::optional<Anchor> last_;
    Placed latest_;
    Rates rates_;
    std::vector<WorkRecord> records_;
    std::map<std::uint64_t, StreamRecord> used_;  // by id
    std::set<std::uint64_t> busy_;                // streams
    std::int64_t early_ = 0;                      // by how much work seems to begin before its call
};

void WorkTimer::read(int ordinal, ActivityRecorder& recorder) {
    std::vector<Timed> work;
    Anchor first;
    {
        const std::lock_guard lock(mutex_);
        DeviceState& device = devices_[ordinal];
        work.swap(device.spare);  // so that the next work finds room
        work.swap(device.pending);
        first = device.anchor;
    }
    if (!work.empty()) {
        try {
            read(ordinal, work, first, recorder);
        } catch (const std::exception&) {  // no memory: the program's call must not fail for that
            recorder.drop(work.size());
        }
    }
    work.clear();
    const std::lock_guard lock(mutex_);
    devices_[ordinal].spare.swap(work);
}

void WorkTimer::read(int ordinal, const std::vector<Timed>& work, const Anchor& first,
                     ActivityRecorder& recorder) {
    const QuietCalls quiet(runtime_, ordinal);
    Placed latest;
    {
        const std::lock_guard lock(mutex_);
        latest = devices_[ordinal].latest;
    }
    const std::optional<Anchor> last = take_anchor(ordinal);
    Reading reading(*this, first, last, latest);
    for (const Timed& timed : work) reading.add(timed);
    reading.deliver(recorder);

    const std::lock_guard lock(mutex_);
    DeviceState& device = devices_[ordinal];
    device.read_at = first_read + 2 * reading.left.size();
    device.pending.insert(device.pending.begin(), reading.left.begin(), reading.left.end());
    device.free.insert(device.free.end(), reading.free.begin(), reading.free.end());
    if (last && first.event != nullptr) device.free.push_back(first.event);
    device.anchor = reading.anchor();
    device.latest = reading.latest();
}

void WorkTimer::flush(ActivityRecorder& recorder) {
    const auto turn = locked<std::unique_lock<std::mutex>>(reading_);
    std::vector<int> ordinals;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [ordinal, device] : devices_) ordinals.push_back(ordinal);
    }
    for (const int ordinal : ordinals) read(ordinal, recorder);
}

void WorkTimer::clear() {
    constexpr std::size_t most_kept = 8192;  // events, for the next trace
    const auto turn = locked<std::unique_lock<std::mutex>>(reading_);
    std::map<int, std::vector<EventHandle>> superfluous;
    {
        const std::lock_guard lock(mutex_);
        ++trace_;
        for (auto& [ordinal, device] : devices_) {
            for (const Timed& timed : device.pending) device.take_back(timed);
            device.pending.clear();
            if (device.anchor.event != nullptr) device.free.push_back(device.anchor.event);
            device.anchor = {};
            device.latest = {};
            device.read_at = first_read;
            if (device.free.size() <= most_kept) continue;
            superfluous[ordinal].assign(device.free.begin() + most_kept, device.free.end());
            device.free.resize(most_kept);
        }
    }
    for (const auto& [ordinal, events] : superfluous) {
        const QuietCalls quiet(runtime_, ordinal);
        for (EventHandle const event : events) runtime_.event_destroy(event);
    }
}

std::uint64_t WorkTimer::forget_device(int ordinal) {
    const auto turn = locked<std::unique_lock<std::mutex>>(reading_);
    const std::lock_guard lock(mutex_);
    DeviceState& device = devices_[ordinal];
    const std::uint64_t lost = device.pending.size(), resets = device.resets + 1;
    device = {};
    device.resets = resets;
    return lost;
}

}  // namespace cuscope
