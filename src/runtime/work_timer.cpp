#include "runtime/work_timer.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <set>
#include <utility>

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
    if (runtime_.event_record_with_flags(timed->begin, stream, 0) == Status::success) return Begun::yes;
    runtime_.get_last_error();
    give_back(*timed);
    return Begun::failed;
}

// Other threads may take the events that this thread makes. So there are a few tries.
bool WorkTimer::prepare(Timed* timed, const StreamRecord& stream) {
    constexpr int most_tries = 8;
    const int ordinal = stream.ordinal;
    timed->stream = stream;
    timed->record.stream = stream.id;
    timed->record.device = stream.device;
    for (int tries = 0; tries < most_tries; ++tries) {
        {
            const std::lock_guard lock(mutex_);
            DeviceState& device = devices_[ordinal];
            if (device.anchor.host_ns != 0 && device.free.size() >= 2) {
                timed->trace = trace_;
                timed->resets = device.resets;
                timed->begin = device.free.back();
                device.free.pop_back();
                timed->end = device.free.back();
                device.free.pop_back();
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
    if (timed.resets == resets) free.insert(free.end(), {timed.begin, timed.end});
}

void WorkTimer::give_back(const Timed& timed) {
    const std::lock_guard lock(mutex_);
    devices_[timed.stream.ordinal].take_back(timed);
}

void WorkTimer::add(const Timed& timed, ActivityRecorder& recorder) {
    {
        const std::lock_guard lock(mutex_);
        DeviceState& device = devices_[timed.stream.ordinal];
        if (timed.trace != trace_ || timed.resets != device.resets) return device.take_back(timed);
        device.pending.push_back(timed);
        if (device.pending.size() < device.read_at &&
            runtime_.trace_clock_ns() - device.anchor.host_ns < second)
            return;
    }
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

void WorkTimer::read(int ordinal, ActivityRecorder& recorder) {
    std::vector<Timed> work;
    Anchor first;
    {
        const std::lock_guard lock(mutex_);
        DeviceState& device = devices_[ordinal];
        work.swap(device.pending);
        first = device.anchor;
    }
    const std::size_t count = work.size();
    if (count == 0) return;
    try {
        read(ordinal, std::move(work), first, recorder);
    } catch (const std::exception&) {  // no memory: the program's call must not fail for that
        recorder.drop(count);
    }
}

void WorkTimer::read(int ordinal, std::vector<Timed> work, const Anchor& first, ActivityRecorder& recorder) {
    const QuietCalls quiet(runtime_, ordinal);
    const bool has_first = first.event != nullptr;
    const std::optional<Anchor> last = take_anchor(ordinal);
    Rates rates(first);
    double between = 0;
    if (last && (!has_first || distance(first.event, last->event, &between) == Status::success))
        rates.add(*last, between);

    std::vector<WorkRecord> records;
    std::vector<Timed> left;
    std::vector<EventHandle> free;
    std::map<std::uint64_t, StreamRecord> used;  // by id
    std::set<std::uint64_t> busy;                // streams
    std::uint64_t lost = 0;
    for (Timed& timed : work) {
        WorkRecord& record = timed.record;
        if (busy.contains(record.stream)) {
            left.push_back(timed);
            continue;
        }
        double length = 0, behind_first = 0, before_last = 0;
        Status status = has_first || last ? distance(timed.begin, timed.end, &length) : Status::not_ready;
        if (status == Status::not_ready) {
            busy.insert(record.stream);
            left.push_back(timed);
            continue;
        }
        if (status == Status::success && has_first)
            status = distance(first.event, timed.begin, &behind_first);
        const bool from_last = !has_first || rates.last_is_better(behind_first);
        if (status == Status::success && from_last) status = distance(timed.begin, last->event, &before_last);
        free.insert(free.end(), {timed.begin, timed.end});
        if (status != Status::success) {  // the device was lost, or another library captured the work
            ++lost;
            continue;
        }
        record.start = from_last ? rates.before_last(before_last) : rates.behind_first(behind_first);
        record.end = record.start + std::llround(length);
        used.try_emplace(record.stream, timed.stream);
        records.push_back(record);
    }
    recorder.add(records);
    for (const auto& [id, stream] : used) recorder.add(stream);
    if (lost > 0) recorder.drop(lost);

    const std::lock_guard lock(mutex_);
    DeviceState& device = devices_[ordinal];
    device.read_at = first_read + 2 * left.size();
    device.pending.insert(device.pending.begin(), left.begin(), left.end());
    device.free.insert(device.free.end(), free.begin(), free.end());
    if (last) {
        if (has_first) device.free.push_back(first.event);
        device.anchor = *last;
    }
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
