#include "core/memory/copy_batch.hpp"

#include <numeric>

#include "core/graph/capture.hpp"
#include "core/memory/mem_pool.hpp"

namespace cuscope::core {

void copy_batch(const std::vector<BatchCopy>& copies, const StreamPtr& stream) {
    stream->check_usable();
    refuse_legacy_in_capture(*stream, "cudaMemcpyBatchAsync");
    Device& device = stream->device();
    const DeviceScope scope(device);
    const Enqueue enqueue(*stream);
    const RelaxedCapture relaxed(device);  // captures on other streams, which the wait would invalidate
    Runtime& runtime = device.runtime();
    std::vector<void*> to;
    std::vector<const void*> from;
    std::vector<std::size_t> sizes, first;
    std::vector<MemcpyAttributes> attributes;
    bool wait = false;
    // Notes the use in the memory, if it is device memory or page-locked. Returns true for pageable memory.
    const auto use = [&](const BatchSide& side, std::size_t bytes) {
        if (side.memory) {
            side.memory->use(stream, enqueue);
            MemPool::let_copy(device, *side.memory);
            return false;
        }
        const auto pinned = PinnedMemory::find(device, side.address, bytes);
        if (pinned) pinned->use(stream, enqueue);
        return pinned == nullptr;
    };
    for (const BatchCopy& copy : copies) {
        if (copy.bytes == 0) continue;
        wait = use(copy.to, copy.bytes) || wait;
        const auto order =
            use(copy.from, copy.bytes) ? SourceAccessOrder::during_api_call : SourceAccessOrder::stream;
        if (attributes.empty() || attributes.back().source_access_order != order) {
            attributes.push_back({order, {MemLocationType::invalid, 0}, {MemLocationType::invalid, 0}, 0});
            first.push_back(sizes.size());
        }
        to.push_back(copy.to.address);
        from.push_back(copy.from.address);
        sizes.push_back(copy.bytes);
    }
    if (sizes.empty()) return;
    if (wait && stream->capturing()) {
        refuse_in_capture(Status::stream_capture_unsupported, "cudaMemcpyBatchAsync",
                          "copies of pageable host memory must end before the call returns, but captured "
                          "copies run later: use page-locked memory, or single copies");
    }
    stream->note(Enqueued::copy, std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}),
                 static_cast<std::uint64_t>(MemcpyKind::by_address));
    if (stream->handle() == stream_legacy) {
        // The legacy default stream takes no batches.
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            device.check_wait(
                runtime.memcpy_async(to[i], from[i], sizes[i], MemcpyKind::by_address, stream->handle()),
                "cudaMemcpyAsync");
        }
    } else {
        device.check_wait(
            runtime.memcpy_batch_async(to.data(), from.data(), sizes.data(), sizes.size(), attributes.data(),
                                       first.data(), attributes.size(), stream->handle()),
            "cudaMemcpyBatchAsync");
    }
    if (wait) device.check_wait(runtime.stream_synchronize(stream->handle()), "cudaStreamSynchronize");
    device.sweep();
}

}  // namespace cuscope::core
