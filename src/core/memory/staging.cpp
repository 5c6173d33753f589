#include "core/memory/staging.hpp"

#include <algorithm>
#include <cstring>

#include "core/memory/thread_team.hpp"

namespace cuscope::core {
namespace {

constexpr std::size_t chunk_bytes = 2 << 20;
constexpr std::size_t ring_chunks = 16;

std::size_t chunk_count(std::size_t bytes) { return (bytes + chunk_bytes - 1) / chunk_bytes; }

std::size_t chunk_length(std::size_t index, std::size_t bytes) {
    return std::min(chunk_bytes, bytes - index * chunk_bytes);
}

}  // namespace

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

Status StagingRing::issue(Chunk& chunk, void* destination, const void* source, std::size_t bytes,
                          MemcpyKind kind, const Stream& stream) {
    Runtime& runtime = device_.runtime();
    const Status status = runtime.memcpy_async(destination, source, bytes, kind, stream.handle());
    if (status != Status::success) return status;
    chunk.pending_in = stream.serial();
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

bool StagingRing::to_device(void* destination, const void* host, std::size_t bytes, const Stream& stream) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !ready(stream)) return false;
    const std::size_t count = chunk_count(bytes), half = ring_chunks / 2;
    Status status = Status::success;
    {
        ThreadTeam team(count, [&](std::size_t i) {
            std::memcpy(chunks_[i % ring_chunks].memory,
                        static_cast<const std::byte*>(host) + i * chunk_bytes, chunk_length(i, bytes));
        });
        if (!team) return false;
        team.allow(std::min(ring_chunks, count));
        for (std::size_t i = 0; i < count && status == Status::success; ++i) {
            team.wait(i);
            Chunk& chunk = chunks_[i % ring_chunks];
            status = issue(chunk, static_cast<std::byte*>(destination) + i * chunk_bytes, chunk.memory,
                           chunk_length(i, bytes), MemcpyKind::host_to_device, stream);
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

bool StagingRing::to_host(void* host, const void* source, std::size_t bytes, const Stream& stream) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !ready(stream)) return false;
    const std::size_t count = chunk_count(bytes);
    Status status = Status::success;
    {
        ThreadTeam team(count, [&](std::size_t i) {
            std::memcpy(static_cast<std::byte*>(host) + i * chunk_bytes, chunks_[i % ring_chunks].memory,
                        chunk_length(i, bytes));
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
                status =
                    issue(chunk, chunk.memory, static_cast<const std::byte*>(source) + issued * chunk_bytes,
                          chunk_length(issued, bytes), MemcpyKind::device_to_host, stream);
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
