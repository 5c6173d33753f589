// Memory pools.
#include <vector>

#include "cuda/cuda_runtime.hpp"
#include "cuda/handles.hpp"

namespace cuscope::cuda {
namespace {

// The switches of a pool are ints; its sizes are 64-bit.
bool is_switch(MemPoolAttribute attribute) { return static_cast<int>(attribute) < 4; }

}  // namespace

Status CudaRuntime::device_get_default_mem_pool(MemPoolHandle* pool, int device) {
    clear(pool);
    return make([&] { return cudaDeviceGetDefaultMemPool(native(pool), device); });
}

Status CudaRuntime::device_get_mem_pool(MemPoolHandle* pool, int device) {
    clear(pool);
    return make([&] { return cudaDeviceGetMemPool(native(pool), device); });
}

Status CudaRuntime::device_set_mem_pool(int device, MemPoolHandle pool) {
    return make([&] { return cudaDeviceSetMemPool(device, native(pool)); });
}

Status CudaRuntime::mem_pool_create(MemPoolHandle* pool, const MemPoolProperties* properties) {
    clear(pool);
    cudaMemPoolProps real{};
    if (properties != nullptr) {
        real.allocType = cudaMemAllocationTypePinned;
        real.handleTypes = cudaMemHandleTypeNone;
        real.location = native(properties->location);
        real.maxSize = properties->max_size;
    }
    const PoolChange change;
    return make([&] {
        if (pool == nullptr || properties == nullptr) return cudaMemPoolCreate(native(pool), nullptr);
        {
            const UnsafeCall unsafe;
            *native(pool) = pools_.take(real);
        }
        if (*pool != nullptr) return cudaSuccess;
        const AloneInDriver alone;
        const cudaError_t made = cudaMemPoolCreate(native(pool), &real);
        if (made == cudaSuccess) pools_.made(*native(pool), real);
        return made;
    });
}

Status CudaRuntime::mem_pool_destroy(MemPoolHandle pool) {
    if (would_wait()) return Status::not_ready;
    const PoolChange change;
    // It unmaps memory, like cudaFree.
    return make_release(WaitsFor::this_device, [&] { return pools_.keep(native(pool)); });
}

Status CudaRuntime::mem_pool_get_attribute(MemPoolHandle pool, MemPoolAttribute attribute,
                                           std::uint64_t* value) {
    clear(value);
    if (value == nullptr || !is_switch(attribute)) {
        return make_unsafe([&] {
            return cudaMemPoolGetAttribute(native(pool), static_cast<cudaMemPoolAttr>(attribute), value);
        });
    }
    int number = 0;
    const Status status = make_unsafe([&] {
        return cudaMemPoolGetAttribute(native(pool), static_cast<cudaMemPoolAttr>(attribute), &number);
    });
    *value = static_cast<std::uint64_t>(number);
    return status;
}

Status CudaRuntime::mem_pool_set_attribute(MemPoolHandle pool, MemPoolAttribute attribute,
                                           std::uint64_t value) {
    int number = static_cast<int>(value);
    void* const passed = is_switch(attribute) ? static_cast<void*>(&number) : static_cast<void*>(&value);
    return make_unsafe([&] {
        return cudaMemPoolSetAttribute(native(pool), static_cast<cudaMemPoolAttr>(attribute), passed);
    });
}

Status CudaRuntime::mem_pool_trim_to(MemPoolHandle pool, std::size_t bytes) {
    const PoolChange change;
    return make_unsafe([&] { return cudaMemPoolTrimTo(native(pool), bytes); });
}

Status CudaRuntime::mem_pool_set_access(MemPoolHandle pool, const MemAccessDescription* descriptions,
                                        std::size_t count) {
    std::vector<cudaMemAccessDesc> real(descriptions != nullptr ? count : 0);
    for (std::size_t i = 0; i < real.size(); ++i) {
        real[i].location = native(descriptions[i].location);
        real[i].flags = static_cast<cudaMemAccessFlags>(descriptions[i].flags);
    }
    return make_unsafe([&] {
        const cudaError_t set =
            cudaMemPoolSetAccess(native(pool), descriptions != nullptr ? real.data() : nullptr, count);
        for (std::size_t i = 0; set == cudaSuccess && i < real.size(); ++i) {
            if (real[i].location.type == cudaMemLocationTypeDevice)
                pools_.reached(native(pool), real[i].location.id);
        }
        return set;
    });
}

Status CudaRuntime::mem_pool_get_access(MemAccess* flags, MemPoolHandle pool, MemLocation* location) {
    clear(flags);
    cudaMemAccessFlags found = cudaMemAccessFlagsProtNone;
    cudaMemLocation real = location != nullptr ? native(*location) : cudaMemLocation{};
    const Status status = make_unsafe([&] {
        return cudaMemPoolGetAccess(flags != nullptr ? &found : nullptr, native(pool),
                                    location != nullptr ? &real : nullptr);
    });
    if (flags != nullptr) *flags = static_cast<MemAccess>(found);
    return status;
}

Status CudaRuntime::malloc_from_pool_async(void** pointer, std::size_t bytes, MemPoolHandle pool,
                                           StreamHandle stream) {
    clear(pointer);
    const Status status = make_in(
        stream, [&] { return cudaMallocFromPoolAsync(pointer, bytes, native(pool), native(stream)); });
    return status == Status::memory_allocation ? out_of_memory("device", bytes) : status;
}

}  // namespace cuscope::cuda
