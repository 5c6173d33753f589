#include "cuda/driver/idle.hpp"

#include <algorithm>

#include "cuda/driver/capture_use.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/wait.hpp"

namespace cuscope::cuda {
namespace {

// True if the work is not done. Any other error of the query is left to the next call to report.
bool has_work(cudaError_t answer) {
    if (answer != cudaSuccess && answer != cudaErrorNotReady) cudaGetLastError();
    return answer == cudaErrorNotReady;
}

}  // namespace

void KnownStreams::made(cudaStream_t stream) {
    const int device = current_device();
    note_device(device);
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    books_[device].streams.push_back(stream);
}

void KnownStreams::leaving(cudaStream_t stream) {
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    for (auto& [device, book] : books_) {
        const auto found = std::find(book.streams.begin(), book.streams.end(), stream);
        if (found == book.streams.end()) continue;
        book.streams.erase(found);
        const RelaxedThread relaxed;
        const StreamUse use(stream);
        if (is_captured(stream) || !has_work(cudaStreamQuery(stream))) return;
        cudaEvent_t behind = nullptr;
        if (cudaEventCreateWithFlags(&behind, cudaEventDisableTiming) == cudaSuccess &&
            cudaEventRecord(behind, stream) == cudaSuccess) {
            book.left.push_back(behind);
            return;
        }
        // The stream's remaining work is unknown from here on, so a later release of memory may wait for it.
        if (behind != nullptr) cudaEventDestroy(behind);
        cudaGetLastError();
        return;
    }
}

void KnownStreams::forget() {
    const int device = current_device();
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    books_.erase(device);
}

bool KnownStreams::captured() {
    if (captures_underway > 0) return true;
    // Other code than this package may have begun a capture.
    for (const auto& [device, book] : books_) {
        if (std::any_of(book.streams.begin(), book.streams.end(), is_captured)) return true;
    }
    return false;
}

bool KnownStreams::is_idle(Book& book) {
    while (!book.left.empty()) {
        if (has_work(cudaEventQuery(book.left.back()))) return false;
        cudaEventDestroy(book.left.back());
        book.left.pop_back();
    }
    if (is_captured(cudaStreamLegacy) || has_work(cudaStreamQuery(cudaStreamLegacy))) return false;
    const auto busy = std::find_if(book.streams.begin(), book.streams.end(),
                                   [](cudaStream_t stream) { return has_work(cudaStreamQuery(stream)); });
    if (busy == book.streams.end()) return true;
    // Moves the busy stream to the front. While it stays busy, each check queries one stream only.
    std::swap(*busy, book.streams.front());
    return false;
}

bool KnownStreams::idle(bool all_devices) {
    const RelaxedThread relaxed;
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    const InsideDriver inside;
    return is_idle(all_devices);
}

bool KnownStreams::when_idle(const std::function<void()>& call) {
    if (!idle(true)) return false;  // before other threads are kept out
    const RelaxedThread relaxed;
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    const AloneInDriver alone;
    if (!is_idle(true)) return false;
    call();
    return true;
}

bool KnownStreams::is_idle(bool all_devices) {
    const int current = current_device();
    // Checks all streams before the first query. The query of a stream may reach a captured stream and would
    // invalidate its capture.
    if (captured()) return false;
    if (!all_devices) return is_idle(books_[current]);
    note_device(current);
    bool all_idle = true;
    int left_at = current;
    for (int device = 0; all_idle && device < 64; ++device) {
        if ((used_.load(std::memory_order_relaxed) & bit_of(device)) == 0) continue;
        if (device != left_at && cudaSetDevice(device) != cudaSuccess) continue;
        left_at = device;
        all_idle = is_idle(books_[device]);
    }
    if (left_at != current) cudaSetDevice(current);
    return all_idle;
}

std::vector<cudaEvent_t> KnownStreams::events_behind_work() {
    const int current = current_device();
    const RelaxedThread relaxed;
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);  // no capture begins meanwhile
    const InsideDriver inside;
    std::vector<cudaStream_t> streams = books_[current].streams;
    streams.push_back(cudaStreamLegacy);
    streams.push_back(cudaStreamPerThread);
    std::vector<cudaEvent_t> events;
    for (const cudaStream_t stream : streams) {
        cudaEvent_t event = nullptr;
        if (is_captured(stream) || cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess)
            continue;
        if (cudaEventRecord(event, stream) == cudaSuccess) {
            events.push_back(event);
        } else {
            cudaEventDestroy(event);
        }
    }
    return events;
}

}  // namespace cuscope::cuda
