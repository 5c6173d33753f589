#include "cuda/driver/capture_use.hpp"

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "cuda/driver/context.hpp"
#include "cuda/driver/function.hpp"

namespace cuscope::cuda {
namespace {

struct Captures {
    struct Origin {
        cudaStream_t stream;
        int device;
    };
    std::vector<Origin> origins;  // of active captures; used only by a thread that is alone
};

Captures& captures() {
    static auto* const instance = new Captures;  // outlives static destructors
    return *instance;
}

std::recursive_mutex& graph_mutex() {  // recursive: a graph call may make another
    static auto* const mutex = new std::recursive_mutex;
    return *mutex;
}

// Asks the driver, because its error leaves the library's last error unchanged.
DriverFunction<CUresult (*)(CUstream, CUstreamCaptureStatus*)> is_capturing("cuStreamIsCapturing", 10000);

std::timed_mutex& synchronisation_mutex() {
    static auto* const mutex = new std::timed_mutex;
    return *mutex;
}

template <class Goes>
void forget_origins(Goes&& goes) {
    std::erase_if(captures().origins, goes);
    captures_underway = static_cast<int>(captures().origins.size());
}

}  // namespace

bool is_captured(cudaStream_t stream) {
    const auto ask = is_capturing.get();
    if (ask == nullptr) return false;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult answer = ask(stream, &status);
    if (answer == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;
    return answer == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

GraphUse::GraphUse() {
    if (!forked_after_use()) lock_ = locked<std::unique_lock<std::recursive_mutex>>(graph_mutex());
}

void StreamUse::look_at(cudaStream_t stream) {
    const bool legacy = stream == nullptr || stream == cudaStreamLegacy;
    if (forked_after_use() || legacy || !is_captured(stream)) return;
    inside_.leave();
    graphs_.emplace();
    alone_.emplace();
}

CaptureChange::CaptureChange(Unless unless) {
    if (forked_after_use()) return;
    if (unless == Unless::nothing_is_captured) {
        inside_.emplace();
        if (captures_underway == 0) return;
        inside_.reset();
    }
    graphs_.emplace();
    alone_.emplace();
}

void CaptureChange::begun(cudaStream_t stream) {
    captures().origins.push_back({stream, current_device()});
    captures_underway = static_cast<int>(captures().origins.size());
}

void CaptureChange::may_have_ended(cudaStream_t stream) {
    if (alone_ && !is_captured(stream)) gone(stream);
}

void CaptureChange::gone(cudaStream_t stream) {
    if (alone_) forget_origins([=](const auto& origin) { return origin.stream == stream; });
}

SynchronisationTurn::SynchronisationTurn() {
    if (!forked_after_use()) lock_ = std::unique_lock(synchronisation_mutex(), std::try_to_lock);
}

PoolChange::PoolChange() {
    constexpr auto patience = std::chrono::milliseconds(20);
    if (forked_after_use()) return;
    lock_ = std::unique_lock(synchronisation_mutex(), std::try_to_lock);
    if (lock_) return;
    const WithoutInterpreter released;
    static_cast<void>(lock_.try_lock_for(patience));
}

void forget_captures() {
    const CaptureChange change(CaptureChange::Unless::nothing_is_captured);
    const int device = current_device();
    if (captures_underway > 0) forget_origins([=](const auto& origin) { return origin.device == device; });
}

}  // namespace cuscope::cuda
