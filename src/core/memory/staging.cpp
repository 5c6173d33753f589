#include "core/memory/staging.hpp"

#include <algorithm>
#include <utility>

#include "core/memory/thread_team.hpp"

namespace cuscope::core {
namespace {

constexpr std::size_t ring_chunks = 16;

// A box's axes with the steps of a chunk, which holds the elements in the device's order, in place of one
// side's.
std::vector<Axis> packed(std::vector<Axis> axes, std::size_t element, std::ptrdiff_t Axis::*side) {
    auto step = static_cast<std::ptrdiff_t>(element);
    for (std::size_t i = axes.size(); i-- > 0;) {
        axes[i].*side = step;
        step *= static_cast<std::ptrdiff_t>(axes[i].count);
    }
    return axes;
}

// Host memory that the runtime does not know: neither page-locked (by any library) nor managed.
bool is_pageable(Runtime& runtime, const void* host) {
    PointerAttributes attributes;
    if (runtime.pointer_get_attributes(&attributes, host) != Status::success) {
        runtime.get_last_error();
        return false;
    }
    return attributes.type == MemoryType::unregistered;
}

}  // namespace

bool goes_through_ring(const Stream& stream, MemcpyKind kind, const void* host, std::size_t bytes) {
    if (bytes < staging_threshold || stream.device().simulated() || stream.capturing()) return false;
    return (kind == MemcpyKind::host_to_device || kind == MemcpyKind::device_to_host) &&
           is_pageable(stream.device().runtime(), host);
}

StagingRing::~StagingRing() { forget(); }

void StagingRing::forget() {
    for (const Chunk& chunk : chunks_) device_.give_event(chunk.event, generation_);
    chunks_.clear();
    if (memory_ != nullptr) {
        device_.release(generation_, "cudaFreeHost",
                        [memory = memory_](Runtime& runtime) { return runtime.free_host(memory); });
    }
    memory_ = nullptr;
}

bool StagingRing::allocate() {
    generation_ = device_.generation();
    void* memory = nullptr;
    Runtime& runtime = device_.runtime();
    if (runtime.host_alloc(&memory, chunk_bytes * ring_chunks, 0) != Status::success) {
        runtime.get_last_error();
        return false;
    }
    memory_ = static_cast<std::byte*>(memory);
    chunks_.resize(ring_chunks);
    for (std::size_t i = 0; i < ring_chunks; ++i) {
        chunks_[i].memory = memory_ + i * chunk_bytes;
        if (device_.take_event(&chunks_[i].event) != Status::success) {
            runtime.get_last_error();
            forget();
            return false;
        }
    }
    return true;
}

// False if the device is still copying a chunk for another stream, because that could take any time.
bool StagingRing::ready(const Stream& stream) {
    if (memory_ != nullptr && generation_ != device_.generation()) forget();
    if (memory_ == nullptr) return allocate();
    Runtime& runtime = device_.runtime();
    for (Chunk& chunk : chunks_) {
        if (chunk.pending_in == 0) continue;
        const Status status = chunk.pending_in == stream.serial() ? runtime.event_synchronize(chunk.event)
                                                                  : runtime.event_query(chunk.event);
        if (status != Status::success) {
            if (status != Status::not_ready) runtime.get_last_error();
            return false;
        }
        chunk.pending_in = 0;
    }
    return true;
}

CopyPlan StagingRing::plan(const Boxes::Box& box, std::size_t element, MemcpyKind kind) {
    std::vector<Axis> axes = packed(box.axes, element, &Axis::from);
    if (kind == MemcpyKind::device_to_host) {
        for (Axis& axis : axes) std::swap(axis.to, axis.from);
    }
    return plan_copy(Axes{joined(axes)}, element);
}

Status StagingRing::issue(Chunk& chunk, std::byte* device, const Boxes& boxes, std::size_t index,
                          MemcpyKind kind, const Stream& stream) {
    Runtime& runtime = device_.runtime();
    const Boxes::Box box = boxes[index];
    const bool up = kind == MemcpyKind::host_to_device;
    const CopyPlan steps = plan(box, boxes.element(), kind);
    std::byte* const to = up ? device + box.to : chunk.memory;
    std::byte* const from = up ? chunk.memory : device + box.to;
    Status status = Status::success;
    steps.for_each_box([&](std::ptrdiff_t to_offset, std::ptrdiff_t from_offset) {
        if (status != Status::success) return;
        status = steps.enqueue_box(runtime, to + to_offset, from + from_offset, kind, stream.handle());
        if (status == Status::success) chunk.pending_in = stream.serial();
    });
    if (status != Status::success) return status;
    return runtime.event_record_with_flags(chunk.event, stream.handle(), 0);
}

void StagingRing::finish(Status status, const Stream& stream) {
    if (status == Status::success) return;
    if (status != Status::not_ready && !is_sticky(status) &&
        device_.runtime().stream_synchronize(stream.handle()) == Status::success) {
        for (Chunk& chunk : chunks_) chunk.pending_in = 0;
    }
    device_.check_wait(status, "cudaMemcpyAsync");
}

bool StagingRing::to_device(std::byte* device, const std::byte* host, const Boxes& boxes,
                            const Stream& stream) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !ready(stream)) return false;
    const std::size_t count = boxes.count(), half = ring_chunks / 2;
    Status status = Status::success;
    {
        ThreadTeam team(count, [&](std::size_t i) {
            const Boxes::Box box = boxes[i];
            move_elements(chunks_[i % ring_chunks].memory, host + box.from,
                          packed(box.axes, boxes.element(), &Axis::to), boxes.element());
        });
        if (!team) return false;
        team.allow(std::min(ring_chunks, count));
        for (std::size_t i = 0; i < count && status == Status::success; ++i) {
            team.wait(i);
            Chunk& chunk = chunks_[i % ring_chunks];
            status = issue(chunk, device, boxes, i, MemcpyKind::host_to_device, stream);
            // Stay half of the ring ahead: the device copies one half while the threads fill the other.
            if (status != Status::success || i < half) continue;
            Chunk& copied = chunks_[(i - half) % ring_chunks];
            status = device_.runtime().event_synchronize(copied.event);
            if (status != Status::success) continue;
            copied.pending_in = 0;
            team.allow(std::min(i - half + ring_chunks + 1, count));
        }
    }
    finish(status, stream);
    return true;
}

bool StagingRing::to_host(std::byte* host, std::byte* device, const Boxes& boxes, const Stream& stream) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !ready(stream)) return false;
    const std::size_t count = boxes.count();
    Status status = Status::success;
    {
        ThreadTeam team(count, [&](std::size_t i) {
            const Boxes::Box box = boxes[i];
            std::vector<Axis> axes = packed(box.axes, boxes.element(), &Axis::to);
            for (Axis& axis : axes) std::swap(axis.to, axis.from);
            move_elements(host + box.from, chunks_[i % ring_chunks].memory, axes, boxes.element());
        });
        if (!team) return false;
        std::size_t issued = 0;
        for (std::size_t i = 0; i < count && status == Status::success; ++i) {
            while (status == Status::success && issued < count && issued < i + ring_chunks) {
                if (issued >= ring_chunks && !team.done(issued - ring_chunks)) {
                    if (issued > i) break;  // there is a chunk to wait for meanwhile
                    team.wait(issued - ring_chunks);
                }
                Chunk& chunk = chunks_[issued % ring_chunks];
                status = issue(chunk, device, boxes, issued, MemcpyKind::device_to_host, stream);
                ++issued;
            }
            if (status != Status::success) break;
            Chunk& arrived = chunks_[i % ring_chunks];
            status = device_.runtime().event_synchronize(arrived.event);
            if (status != Status::success) break;
            arrived.pending_in = 0;
            team.allow(i + 1);
        }
        if (status == Status::success) team.wait_for_all();
    }
    finish(status, stream);
    return true;
}

}  // namespace cuscope::core
