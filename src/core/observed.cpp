#include "core/observed.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <unordered_set>

#include "core/capture.hpp"
#include "core/host_task.hpp"
#include "core/memory.hpp"
#include "core/stream.hpp"

namespace cuscope::core {

const char* interned(const std::string& text) {
    struct Texts {
        std::mutex mutex;
        std::unordered_set<std::string> texts;  // whose elements stay where they are
    };
    static Texts* const known = new Texts;  // outlives static destructors
    const std::lock_guard lock(known->mutex);
    return known->texts.insert(text).first->c_str();
}

namespace {

std::string size_of(std::uint64_t packed_size) {
    const Dim3 size = unpacked(packed_size);
    std::string text = std::to_string(size.x);
    if (size.y > 1 || size.z > 1) text += "x" + std::to_string(size.y);
    if (size.z > 1) text += "x" + std::to_string(size.z);
    return text;
}

std::string hex(std::uint64_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
    return text;
}

std::string name_of(const Stream& stream) {
    return stream.handle() == stream_legacy       ? "Stream legacy default"
           : stream.handle() == stream_per_thread ? "Stream per-thread default"
                                                  : "Stream #" + std::to_string(stream.id());
}

// Does it have work to do, as far as it may be asked?
bool is_busy(const Stream& stream) {
    Runtime& runtime = stream.device().runtime();
    if (stream.capturing()) return false;
    // The legacy stream takes part in every capture of a stream that blocks: CUDA refuses the question then.
    if (stream.handle() == stream_legacy && captures_underway() > 0) return false;
    CaptureStatus capture = CaptureStatus::active;
    if (runtime.stream_is_capturing(stream.handle(), &capture) != Status::success) {
        runtime.get_last_error();
        return false;
    }
    if (capture != CaptureStatus::none) return false;
    const Status status = runtime.stream_query(stream.handle());
    if (status != Status::success && status != Status::not_ready) runtime.get_last_error();
    return status == Status::not_ready;
}

struct Wait {
    std::string condition, number;
    bool known = false, satisfied = false;
};

std::string condition_of(const EnqueuedNote& note) {
    const std::string value = std::to_string(note.b);
    switch (static_cast<unsigned>(note.c >> 8) & flags::wait_value_nor) {
        case flags::wait_value_eq:
            return "== " + value;
        case flags::wait_value_and:
            return "& " + value;
        case flags::wait_value_nor:
            return "nor " + value;
        default:
            return ">= " + value;
    }
}

// The number that a wait is for, where the host can read it.
Wait look_at(const Device& device, const EnqueuedNote& note) {
    Wait wait{condition_of(note), {}};
    const std::size_t bytes = note.c & 0xff;
    void* const address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(note.a));
    const auto memory = PinnedMemory::find(device, address, bytes);
    if (!memory) {
        wait.number = "the number at " + hex(note.a) + " is waited for to be " + wait.condition +
                      "; it is in memory of the device, where it cannot be read meanwhile";
        return wait;
    }
    const bool wide = bytes == sizeof(std::uint64_t);
    const std::uint64_t mask = wide ? ~std::uint64_t{0} : 0xffffffffU;
    const std::uint64_t value = wide ? std::atomic_ref(*static_cast<std::uint64_t*>(address)).load()
                                     : std::atomic_ref(*static_cast<std::uint32_t*>(address)).load();
    const std::uint64_t wanted = note.b & mask;
    wait.known = true;
    switch (static_cast<unsigned>(note.c >> 8) & flags::wait_value_nor) {
        case flags::wait_value_eq:
            wait.satisfied = value == wanted;
            break;
        case flags::wait_value_and:
            wait.satisfied = (value & wanted) != 0;
            break;
        case flags::wait_value_nor:
            wait.satisfied = (~(value | wanted) & mask) != 0;
            break;
        default:
            wait.satisfied = wide
                                 ? static_cast<std::int64_t>(value - wanted) >= 0
                                 : static_cast<std::int32_t>(static_cast<std::uint32_t>(value - wanted)) >= 0;
    }
    wait.number = "the number at " + hex(note.a) + " in page-locked memory is " + std::to_string(value) +
                  ", waits for " + wait.condition;
    return wait;
}

std::string what(const EnqueuedNote& note) {
    switch (note.kind) {
        case Enqueued::kernel:
            return std::string("kernel ") + reinterpret_cast<const char*>(note.a) + "<<<" + size_of(note.b) +
                   ", " + size_of(note.c) + ">>>";
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
            return "write_value " + std::to_string(note.b) + " at " + hex(note.a);
        case Enqueued::wait_value:
            return "wait_value " + condition_of(note) + " at " + hex(note.a);
        case Enqueued::semaphore:
            return std::string(note.b != 0 ? "wait for " : "signal of ") +
                   (note.a == 1 ? "an external semaphore" : std::to_string(note.a) + " external semaphores");
        case Enqueued::graph:
            return "graph";
    }
    return "command";
}

struct Busy {
    StreamPtr stream;
    std::vector<EnqueuedNote> notes;
    int first = 0;  // place of the first of them in the list
};

// What has certainly ended goes: everything up to a host function that has returned, or before one that has
// begun.
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
    if (in_host_function()) return;  // where no question is allowed
    std::vector<StreamPtr> streams = Stream::all_of(device);
    std::erase_if(streams, [](const StreamPtr& stream) { return stream->enqueued().last() == 0; });
    if (streams.empty()) return;  // a device that nobody has used is left alone
    const DeviceScope scope(device);
    const RelaxedCapture relaxed(device);
    std::vector<Busy> busy;
    for (const StreamPtr& stream : streams) {
        const std::uint64_t given = stream->enqueued().last();
        if (!is_busy(*stream)) {
            if (!stream->capturing()) stream->enqueued().ended(given);
            continue;
        }
        Busy& one = busy.emplace_back(Busy{stream, stream->enqueued().list(), 0});
        drop_ended(&one.notes);
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
            work.stream_id = one.stream->id();
            work.stream = name_of(*one.stream);
            work.position = position;
            work.what = std::move(text);
            work.state = PendingState::unknown;
            return work;
        };
        if (one.notes.empty()) make(1, "work that others have enqueued, or that waits for another stream");
        for (std::size_t i = 0; i < one.notes.size(); ++i) {
            const EnqueuedNote& note = one.notes[i];
            PendingWork& work = make(static_cast<int>(i) + 1, what(note));
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
                                                "for what was recorded there, at the latest behind {}",
                                                {last}});
                    }
                    break;
                }
                case Enqueued::wait_value: {
                    const Wait wait = look_at(device, note);
                    if (wait.known && wait.satisfied) break;
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
                         wait.number + (writers.empty() ? "; no write_value in flight is known to write it"
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
