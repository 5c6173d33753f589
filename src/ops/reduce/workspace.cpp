#include "ops/reduce/workspace.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/graph/capture.hpp"
#include "cuda_kernels/reduce_auto/plan.hpp"

namespace cuscope::ops {
namespace {

constexpr std::size_t kept_bytes = cuscope::reduce::most_workspace;
// Enough for most reductions, so that all reductions of a captured stream share it. Each launch of the graph
// sets the workspace to zero.
constexpr std::size_t captured_bytes = std::size_t{64} << 10;

// The workspace of one stream. It does not count as a use of the memory, which would keep the stream alive.
struct Kept {
    std::weak_ptr<core::Stream> stream;
    std::shared_ptr<core::DeviceMemory> memory;
    unsigned generation = 0;
};

std::shared_ptr<core::DeviceMemory> zeroed(const core::StreamPtr& stream,
                                           std::shared_ptr<core::DeviceMemory> memory) {
    core::Device& device = stream->device();
    const core::DeviceScope scope(device);
    device.check(device.runtime().memset_async(memory->pointer(), 0, memory->bytes(), stream->handle()),
                 "cudaMemsetAsync");
    return memory;
}

// Null if no workspace can be kept: the per-thread default stream is a different stream in each thread.
void* kept(const core::StreamPtr& stream) {
    if (stream->handle() == stream_per_thread) return nullptr;
    static std::mutex mutex;
    static auto* const all =
        new std::map<const core::Stream*, Kept>;  // never destroyed, because the process may be exiting
    const unsigned generation = stream->device().generation();
    std::map<const core::Stream*, Kept> gone;
    {
        const std::lock_guard lock(mutex);
        const auto found = all->find(stream.get());
        // A new stream may have the address of one that is gone.
        if (found != all->end() && found->second.generation == generation &&
            !found->second.stream.owner_before(stream) && !stream.owner_before(found->second.stream))
            return found->second.memory->pointer();
        for (auto entry = all->begin(); entry != all->end();) {
            const auto next = std::next(entry);
            if (entry->second.stream.expired()) gone.insert(all->extract(entry));
            entry = next;
        }
    }
    gone.clear();  // makes calls of the runtime, so not under the lock
    Kept made{
        stream,
        zeroed(stream, core::DeviceMemory::allocate_plain(stream->device().shared_from_this(), kept_bytes)),
        generation};
    const std::lock_guard lock(mutex);
    // If two threads create the workspace of a stream at once, the second one uses that of the first.
    Kept& entry = (*all)[stream.get()];
    if (!entry.memory || entry.generation != made.generation) std::swap(entry, made);
    return entry.memory->pointer();
}

}  // namespace

Workspace::Workspace(const core::StreamPtr& stream, std::size_t bytes) {
    if (bytes == 0) return;
    if (const auto capture = stream->capture()) {
        // The graph gets a workspace of its own, because it may run in another stream while this stream does
        // other work. Every run of the graph sets it to zero once.
        bool fresh = false;
        const auto memory = capture->workspace(stream, std::max(bytes, captured_bytes), &fresh);
        if (fresh) zeroed(stream, memory);
        pointer_ = memory->pointer();
        return;
    }
    if (bytes <= kept_bytes) pointer_ = kept(stream);
    if (pointer_ != nullptr) return;
    own_ = zeroed(stream, core::DeviceMemory::allocate(stream, bytes));
    pointer_ = own_->pointer();
}

}  // namespace cuscope::ops
