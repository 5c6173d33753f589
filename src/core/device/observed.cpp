#include "core/device/observed.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "core/graph/capture.hpp"
#include "core/memory/memory.hpp"
#include "core/stream/host_task.hpp"
#include "core/stream/stream.hpp"
#include "runtime/pending_text.hpp"

namespace cuscope::core {

const char* interned(const std::string& text) {
    struct Texts {
        std::mutex mutex;
        std::unordered_set<std::string> texts;  // a set never moves its elements
    };
    static Texts* const known = new Texts;  // outlives static destructors
    const std::lock_guard lock(known->mutex);
    return known->texts.insert(text).first->c_str();
}

namespace {

std::string name_of(const Stream& stream) {
    return stream.handle() == stream_legacy       ? "Stream legacy default"
           : stream.handle() == stream_per_thread ? "Stream per-thread default"
                                                  : "Stream #" + std::to_string(stream.id());
}

MemoryOperation operation_of(const EnqueuedNote& note) {
    const bool wide = (note.c & 0xff) == sizeof(std::uint64_t), writes = note.kind == Enqueued::write_value;
    return {writes ? wide ? MemoryOperationType::write_value_64 : MemoryOperationType::write_value_32
            : wide ? MemoryOperationType::wait_value_64
                   : MemoryOperationType::wait_value_32,
            reinterpret_cast<void*>(static_cast<std::uintptr_t>(note.a)), note.b,
            static_cast<unsigned>(note.c >> 8)};
}

// Describes the number that a wait waits for; empty if the wait is over.
std::string look_at(const Device& device, const MemoryOperation& wait) {
    const std::string number =
        "the number at " + text_of_address(reinterpret_cast<std::uintptr_t>(wait.address));
    const auto memory = PinnedMemory::find(device, wait.address, wait.bytes());
    if (!memory) {
        return number + " is waited for to be " + condition_of(wait) +
               "; it is in memory of the device, where it cannot be read meanwhile";
    }
    const std::uint64_t found = number_at(wait);
    if (is_satisfied(wait, found)) return {};
    return number + " in page-locked memory is " + std::to_string(found) + ", waits for " +
           condition_of(wait);
}

}  // namespace

std::optional<bool> is_busy(const Stream& stream) {
    Runtime& runtime = stream.device().runtime();
    if (stream.capturing()) return std::nullopt;
    // The legacy stream is ordered with every blocking stream. CUDA refuses to query it while one of them is
    // captured.
    if (stream.handle() == stream_legacy && captures_underway() > 0) return std::nullopt;
    CaptureStatus capture = CaptureStatus::active;
    if (runtime.stream_is_capturing(stream.handle(), &capture) != Status::success) {
        runtime.get_last_error();
        return std::nullopt;
    }
    if (capture != CaptureStatus::none) return std::nullopt;
    const Status status = runtime.stream_query(stream.handle());
    if (status == Status::not_ready) return true;
    if (status != Status::success) runtime.get_last_error();
    return false;
}

std::string text_of(const EnqueuedNote& note) {
    switch (note.kind) {
        case Enqueued::kernel:
            return text_of_kernel(reinterpret_cast<const char*>(note.a), unpacked(note.b), unpacked(note.c));
        case Enqueued::copy: {
            const auto kind = static_cast<MemcpyKind>(note.b);
            return "copy of " + text_of_bytes(note.a) +
                   (kind == MemcpyKind::host_to_device     ? ", host to device"
                    : kind == MemcpyKind::device_to_host   ? ", device to host"
                    : kind == MemcpyKind::device_to_device ? ", device to device"
                                                           : "");
        }
        case Enqueued::memset:
            return "memset of " + text_of_bytes(note.a);
        case Enqueued::host_function:
            return "host function";
        case Enqueued::event_wait:
            return "wait for an event";
        case Enqueued::write_value:
        case Enqueued::wait_value:
            return text_of_operation(operation_of(note));
        case Enqueued::semaphore:
            return std::string(note.b != 0 ? "wait for " : "signal of ") +
                   (note.a == 1 ? "an external semaphore" : std::to_string(note.a) + " external semaphores");
        case Enqueued::graph:
            return "graph";
    }
    return "command";
}

namespace {

struct Busy {
    StreamPtr stream;
    std::vector<EnqueuedNote> notes;
    int first = 0;  // place of the first of the notes in the list
};

// Removes the notes of commands that have certainly ended: everything up to a host function that has
// returned, or before one that has begun.
void drop_ended(std::vector<EnqueuedNote>* notes) {
    for (std::size_t i = notes->size(); i-- > 0;) {
        if ((*notes)[i].kind != Enqueued::host_function) continue;
        HostTaskInfo info;
        const bool there = find_host_task(
            run_host_task, reinterpret_cast<void*>(static_cast<std::uintptr_t>((*notes)[i].a)), &info);
        if (there && !info.begun) continue;
        notes->erase(notes->begin(), notes->begin() + static_cast<std::ptrdiff_t>(there ? i : i + 1));
        return;
    }
}

}  // namespace

void observe(Device& device, PendingList* list) {
    if (in_host_function()) return;  // a host function may not query the runtime
    std::vector<StreamPtr> streams = Stream::all_of(device);
    std::erase_if(streams, [](const StreamPtr& stream) { return stream->enqueued().last() == 0; });
    if (streams.empty()) return;  // do not touch a device without any work
    const DeviceScope scope(device);
    const RelaxedCapture relaxed(device);
    std::vector<Busy> busy;
    for (const StreamPtr& stream : streams) {
        const std::uint64_t given = stream->enqueued().last();
        const std::optional<bool> is_working = is_busy(*stream);
        if (!is_working) continue;
        if (!*is_working) {
            stream->enqueued().ended(given);
            continue;
        }
        Busy one{stream, stream->enqueued().list(), 0};
        drop_ended(&one.notes);
        // The legacy stream is busy whenever a stream that it is ordered with is busy. So if it has no notes
        // of its own, it is left out.
        if (one.notes.empty() && stream->handle() == stream_legacy) continue;
        busy.push_back(std::move(one));
    }
    int place = static_cast<int>(list->size());
    for (Busy& one : busy) {
        one.first = place;
        place += static_cast<int>(std::max<std::size_t>(one.notes.size(), 1));
    }
    for (const Busy& one : busy) {
        const auto make = [&](int position, std::string text) -> PendingWork& {
            PendingWork& work = list->emplace_back();
            work.device = device.ordinal();
            work.stream_id = one.stream->is_default() ? one.stream->ask_id() : one.stream->id();
            work.stream = name_of(*one.stream);
            work.position = position;
            work.what = std::move(text);
            work.state = PendingState::unknown;
            return work;
        };
        if (one.notes.empty()) make(1, "work that others have enqueued, or that waits for another stream");
        for (std::size_t i = 0; i < one.notes.size(); ++i) {
            const EnqueuedNote& note = one.notes[i];
            PendingWork& work = make(static_cast<int>(i) + 1, text_of(note));
            if (i > 0) {
                work.reasons.push_back(
                    {PendingKind::order, "after {}", {one.first + static_cast<int>(i) - 1}});
            }
            const bool first = i == 0;
            switch (note.kind) {
                case Enqueued::kernel:
                    if (first) {
                        work.reasons.push_back(
                            {PendingKind::kernel,
                             "it may run for long, or have ended: a GPU does not tell a kernel that computes "
                             "from one that waits for ever",
                             {}});
                    }
                    break;
                case Enqueued::host_function: {
                    work.function = run_host_task;
                    work.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(note.a));
                    HostTaskInfo info;
                    if (!find_host_task(work.function, work.data, &info) || !info.begun) break;
                    work.state = PendingState::running;
                    work.reasons.push_back({PendingKind::host_function,
                                            "it has begun and not returned; it may wait for something that "
                                            "the program has yet to do",
                                            {}});
                    break;
                }
                case Enqueued::event_wait: {
                    for (const Busy& other : busy) {
                        if (other.stream->serial() != note.a || &other == &one) continue;
                        const int last = other.first + std::max(static_cast<int>(other.notes.size()) - 1, 0);
                        work.reasons.push_back({PendingKind::event,
                                                "for the event's record there, at the latest behind {}",
                                                {last}});
                    }
                    break;
                }
                case Enqueued::wait_value: {
                    std::string number = look_at(device, operation_of(note));
                    if (number.empty()) break;
                    std::vector<int> writers;
                    for (const Busy& other : busy) {
                        for (std::size_t j = 0; j < other.notes.size(); ++j) {
                            const EnqueuedNote& write = other.notes[j];
                            if (write.kind == Enqueued::write_value && write.a == note.a)
                                writers.push_back(other.first + static_cast<int>(j));
                        }
                    }
                    if (first) work.state = PendingState::waiting;
                    work.reasons.push_back(
                        {PendingKind::value,
                         number + (writers.empty() ? "; no write_value in flight is known to write it"
                                                   : "; to be written by {}"),
                         std::move(writers)});
                    break;
                }
                case Enqueued::semaphore:
                    if (note.b != 0) {
                        work.reasons.push_back({PendingKind::semaphore,
                                                "for an external semaphore, as far as it has not been "
                                                "signalled",
                                                {}});
                    }
                    break;
                default:
                    break;
            }
        }
    }
}

}  // namespace cuscope::core
