#include "cuda/calls/spare_pools.hpp"

#include <cstdint>

#include "cuda/driver/context.hpp"
#include "runtime/process.hpp"

namespace cuscope::cuda {
namespace {

std::uint64_t number_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    std::uint64_t value = 1;
    return cudaMemPoolGetAttribute(pool, attribute, &value) == cudaSuccess ? value : 1;
}

// False while memory is still in use or has not yet been returned to the device.
bool is_empty(cudaMemPool_t pool) {
    return number_of(pool, cudaMemPoolAttrUsedMemCurrent) == 0 && cudaMemPoolTrimTo(pool, 0) == cudaSuccess &&
           number_of(pool, cudaMemPoolAttrReservedMemCurrent) == 0;
}

bool set_as_new(cudaMemPool_t pool, const std::set<int>& reached_by) {
    for (const cudaMemPoolAttr attribute :
         {cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
          cudaMemPoolReuseAllowInternalDependencies}) {
        int on = 1;
        if (cudaMemPoolSetAttribute(pool, attribute, &on) != cudaSuccess) return false;
    }
    for (const cudaMemPoolAttr attribute :
         {cudaMemPoolAttrReleaseThreshold, cudaMemPoolAttrReservedMemHigh, cudaMemPoolAttrUsedMemHigh}) {
        std::uint64_t none = 0;
        if (cudaMemPoolSetAttribute(pool, attribute, &none) != cudaSuccess) return false;
    }
    for (const int device : reached_by) {
        const cudaMemAccessDesc nothing{{cudaMemLocationTypeDevice, device}, cudaMemAccessFlagsProtNone};
        if (cudaMemPoolSetAccess(pool, &nothing, 1) != cudaSuccess) return false;
    }
    return true;
}

}  // namespace

cudaMemPool_t SparePools::take(const cudaMemPoolProps& properties) {
    if (properties.location.type != cudaMemLocationTypeDevice) return nullptr;
    const bool failed_before = cudaPeekAtLastError() != cudaSuccess;  // this error belongs to the program
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    for (auto& [pool, known] : pools_) {
        if (!known.spare || known.device != properties.location.id || known.max_size != properties.maxSize)
            continue;
        if (!is_empty(pool) || !set_as_new(pool, known.reached_by)) {
            if (!failed_before) cudaGetLastError();
            continue;
        }
        known.spare = false;
        known.reached_by.clear();
        return pool;
    }
    return nullptr;
}

void SparePools::made(cudaMemPool_t pool, const cudaMemPoolProps& properties) {
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    pools_[pool] = {properties.location.id, properties.maxSize, false, {}};
}

void SparePools::reached(cudaMemPool_t pool, int device) {
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    const auto found = pools_.find(pool);
    if (found != pools_.end() && found->second.device != device) found->second.reached_by.insert(device);
}

cudaError_t SparePools::keep(cudaMemPool_t pool) {
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    const auto found = pools_.find(pool);
    if (found == pools_.end() || found->second.spare) return cudaErrorInvalidValue;
    // A capture refuses this call as it refuses cudaMemPoolDestroy.
    std::uint64_t none = 0;
    if (const auto set = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &none);
        set != cudaSuccess)
        return set;
    const int device = found->second.device;
    cudaMemPool_t current = nullptr;
    cudaMemPool_t other = nullptr;
    if (cudaDeviceGetMemPool(&current, device) == cudaSuccess && current == pool &&
        cudaDeviceGetDefaultMemPool(&other, device) == cudaSuccess)
        cudaDeviceSetMemPool(device, other);
    // Free memory returns to the device now. Memory that is still in use returns at a later synchronisation.
    const cudaError_t trimmed = cudaMemPoolTrimTo(pool, 0);
    found->second.spare = trimmed == cudaSuccess;
    return trimmed;
}

void SparePools::forget() {
    const int device = current_device();
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    std::erase_if(pools_, [=](const auto& entry) { return entry.second.device == device; });
}

}  // namespace cuscope::cuda
