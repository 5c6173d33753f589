// Host memory that work in a stream reads or writes.
#pragma once

#include "core/graph/capture.hpp"
#include "core/memory/copy.hpp"
#include "core/stream/mark.hpp"

namespace cuscope::core {

// Calls `enqueue_work(pinned)`, which gives the stream work with `bytes` bytes of host memory; null: with no
// host memory. Page-locked memory is kept until the work has ended. Pageable memory may go after the call,
// but for two cases, in which `keep_alive` keeps it: the call was interrupted while the work goes on, or the
// work was captured and the graph reads or writes the memory whenever it runs.
template <class Work>
void with_host_memory(const void* host, std::size_t bytes, const StreamPtr& stream, const Enqueue& enqueue,
                      const KeepAlive& keep_alive, Work&& enqueue_work) {
    Device& device = stream->device();
    const RelaxedCapture relaxed(device);  // captures on other streams: copies of pageable memory wait inside
    const auto pinned = host != nullptr ? PinnedMemory::find(device, host, bytes) : nullptr;
    if (pinned) pinned->use(stream, enqueue);
    const bool pageable = host != nullptr && !pinned && keep_alive;
    try {
        enqueue_work(pinned != nullptr);
    } catch (const Interrupted&) {
        if (pageable) keep_until_done(stream, keep_alive());
        throw;
    }
    if (pageable && stream->capturing()) {
        if (const auto capture = stream->capture()) capture->keep(keep_alive());
    }
    device.sweep();
}

}  // namespace cuscope::core
