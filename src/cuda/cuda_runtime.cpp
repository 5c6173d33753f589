// Devices, errors, time, and helpers that all calls share.
#include "cuda/cuda_runtime.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "cuda/calls/printing.hpp"
#include "cuda/calls/stream_ids.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/driver/wait.hpp"
#include "cuda/handles.hpp"
#include "runtime/registry.hpp"

namespace cuscope::cuda {
namespace {

const RuntimeRegistration registration({"cuda", 0, []() -> std::shared_ptr<Runtime> {
                                            return std::make_shared<CudaRuntime>();
                                        }});

DriverFunction<CUresult (*)(CUdevice*)> ctx_get_device("cuCtxGetDevice", 2000);

// Details about this thread's last failed call, beyond its status.
std::string& last_detail() {
    static thread_local std::string detail;
    return detail;
}

}  // namespace

void CudaRuntime::shut_down() noexcept { end_waits(); }

Status CudaRuntime::failed(Status status) {
    std::string& detail = last_detail();
    detail.clear();
    switch (status) {
        case Status::initialization_error:
            if (forked_after_use()) {
                detail = "this process is a fork of one that had used the runtime";
                break;
            }
            [[fallthrough]];
        case Status::insufficient_driver:
        case Status::no_device:
        case Status::stub_library:
        case Status::system_driver_mismatch:
        case Status::unknown:
            if (!forked_after_use()) detail = driver_problem();
            break;
        default:
            break;
    }
    return status;
}

Status CudaRuntime::out_of_memory(const char* what, std::size_t bytes) {
    std::size_t free = 0, total = 0;
    std::string detail = "asked for " + std::to_string(bytes) + " bytes of " + what + " memory";
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
        detail +=
            "; of the device's " + std::to_string(total) + " bytes " + std::to_string(free) + " are free";
    }
    last_detail() = std::move(detail);
    return Status::memory_allocation;
}

std::string CudaRuntime::error_detail() { return last_detail(); }

Status CudaRuntime::get_device_count(int* count) {
    clear(count);
    return make([&] { return cudaGetDeviceCount(count); });
}

Status CudaRuntime::set_device(int device) {
    const Status status = make([&] { return cudaSetDevice(device); });
    if (status == Status::success) streams_.note_device(device);
    return status;
}

Status CudaRuntime::get_device(int* device) {
    clear(device);
    // Every launch asks for the device. The driver answers as soon as the thread has a context.
    if (device != nullptr && driver_call(ctx_get_device, device) == Status::success) return Status::success;
    return make([&] { return cudaGetDevice(device); });
}

Status CudaRuntime::get_device_properties(DeviceProperties* properties, int device) {
    if (properties == nullptr) return failed(Status::invalid_value);
    *properties = {};
    cudaDeviceProp real{};
    if (const Status status = make([&] { return cudaGetDeviceProperties(&real, device); });
        status != Status::success) {
        return status;
    }
    // cudaDeviceProp loses and gains fields between versions; attributes remain.
    Status status = Status::success;
    const auto number = [&](DeviceAttribute attribute) {
        int value = 0;
        const Status answer = device_get_attribute(&value, attribute, device);
        if (answer != Status::success) status = answer;
        return value;
    };
    const auto size = [&](DeviceAttribute attribute) { return static_cast<std::size_t>(number(attribute)); };
    const auto extent = [&](DeviceAttribute attribute) { return static_cast<unsigned>(number(attribute)); };
    using A = DeviceAttribute;
    properties->name = real.name;
    properties->total_global_memory = real.totalGlobalMem;
    properties->compute_capability_major = number(A::compute_capability_major);
    properties->compute_capability_minor = number(A::compute_capability_minor);
    properties->multiprocessor_count = number(A::multiprocessor_count);
    properties->warp_size = number(A::warp_size);
    properties->max_threads_per_block = number(A::max_threads_per_block);
    properties->max_threads_per_multiprocessor = number(A::max_threads_per_multiprocessor);
    properties->max_blocks_per_multiprocessor = number(A::max_blocks_per_multiprocessor);
    properties->max_block_dim = {extent(A::max_block_dim_x), extent(A::max_block_dim_y),
                                 extent(A::max_block_dim_z)};
    properties->max_grid_dim = {extent(A::max_grid_dim_x), extent(A::max_grid_dim_y),
                                extent(A::max_grid_dim_z)};
    properties->registers_per_block = number(A::max_registers_per_block);
    properties->registers_per_multiprocessor = number(A::max_registers_per_multiprocessor);
    properties->shared_memory_per_block = size(A::max_shared_memory_per_block);
    properties->shared_memory_per_block_optin = size(A::max_shared_memory_per_block_optin);
    properties->shared_memory_per_multiprocessor = size(A::max_shared_memory_per_multiprocessor);
    properties->total_constant_memory = size(A::total_constant_memory);
    properties->memory_pitch = size(A::max_pitch);
    properties->texture_alignment = size(A::texture_alignment);
    properties->texture_pitch_alignment = size(A::texture_pitch_alignment);
    properties->l2_cache_size = number(A::l2_cache_size);
    properties->memory_bus_width = number(A::global_memory_bus_width);
    properties->clock_rate = number(A::clock_rate);
    properties->memory_clock_rate = number(A::memory_clock_rate);
    properties->async_engine_count = number(A::async_engine_count);
    properties->concurrent_kernels = number(A::concurrent_kernels) != 0;
    properties->integrated = number(A::integrated) != 0;
    properties->can_map_host_memory = number(A::can_map_host_memory) != 0;
    properties->unified_addressing = number(A::unified_addressing) != 0;
    properties->managed_memory = number(A::managed_memory) != 0;
    properties->concurrent_managed_access = number(A::concurrent_managed_access) != 0;
    properties->pageable_memory_access = number(A::pageable_memory_access) != 0;
    properties->stream_priorities_supported = number(A::stream_priorities_supported) != 0;
    properties->host_register_supported = number(A::host_register_supported) != 0;
    properties->host_register_read_only_supported = number(A::host_register_read_only_supported) != 0;
    properties->memory_pools_supported = number(A::memory_pools_supported) != 0;
    properties->cooperative_launch = number(A::cooperative_launch) != 0;
    return status;
}

Status CudaRuntime::device_get_attribute(int* value, DeviceAttribute attribute, int device) {
    clear(value);
    return make(
        [&] { return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device); });
}

Status CudaRuntime::device_synchronize() {
    if (forked_after_use()) return failed(Status::initialization_error);
    return make_after_wait(wait_for_device(), [] { return cudaDeviceSynchronize(); });
}

Status CudaRuntime::wait_beside_captures() {
    if (forked_after_use()) return failed(Status::initialization_error);
    const RelaxedThread relaxed;
    return make_after_wait(cuda::wait_beside_captures(streams_), [] { return cudaDeviceSynchronize(); });
}

Status CudaRuntime::device_reset() {
    flush_records(false);  // the device's records are gone afterwards
    const Status status = make([] { return cudaDeviceReset(); });
    if (status != Status::success) return status;
    streams_.forget();
    pools_.forget();
    forget_captures();
    forget_stream_ids();
    return status;
}

Status CudaRuntime::set_device_flags(unsigned flags) {
    return make([&] { return cudaSetDeviceFlags(flags); });
}

Status CudaRuntime::get_device_flags(unsigned* flags) {
    clear(flags);
    return make([&] { return cudaGetDeviceFlags(flags); });
}

Status CudaRuntime::device_can_access_peer(int* can_access, int device, int peer) {
    clear(can_access);
    return make([&] { return cudaDeviceCanAccessPeer(can_access, device, peer); });
}

Status CudaRuntime::device_enable_peer_access(int peer, unsigned flags) {
    return make_unsafe([&] { return cudaDeviceEnablePeerAccess(peer, flags); });
}

Status CudaRuntime::device_disable_peer_access(int peer) {
    return make([&] { return cudaDeviceDisablePeerAccess(peer); });
}

Status CudaRuntime::device_get_limit(std::size_t* value, Limit limit) {
    clear(value);
    return make([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}

Status CudaRuntime::device_set_limit(Limit limit, std::size_t value) {
    return make_unsafe([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}

Status CudaRuntime::device_get_stream_priority_range(int* least, int* greatest) {
    clear(least);
    clear(greatest);
    return make([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

Status CudaRuntime::driver_get_version(int* version) {
    clear(version);
    return make([&] { return cudaDriverGetVersion(version); });
}

Status CudaRuntime::runtime_get_version(int* version) {
    clear(version);
    return make([&] { return cudaRuntimeGetVersion(version); });
}

Status CudaRuntime::get_last_error() {
    if (forked_after_use()) return Status::initialization_error;
    return static_cast<Status>(cudaGetLastError());
}

Status CudaRuntime::peek_at_last_error() {
    if (forked_after_use()) return Status::initialization_error;
    return static_cast<Status>(cudaPeekAtLastError());
}

Status CudaRuntime::launch_counted(const LaunchConfig&, KernelHandle, void**, KernelHandle, LaunchCounts*) {
    return failed(Status::not_supported);
}

Status CudaRuntime::kernel_time_by_counts(KernelHandle, const CompileRequest&) {
    return failed(Status::not_supported);
}

Status CudaRuntime::kernel_time(const LaunchConfig&, KernelHandle, void**, KernelTime*) {
    return failed(Status::not_supported);
}

Status CudaRuntime::add_device(int* device, const char*) {
    clear(device);
    return failed(Status::not_supported);
}

std::int64_t CudaRuntime::clock_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void CudaRuntime::host_work(std::int64_t nanoseconds) {
    constexpr std::int64_t slice_ns = 30'000'000;  // between two calls of interrupted()
    constexpr std::int64_t spin_ns = 200'000;      // shorter sleeps overshoot
    const std::int64_t end = clock_ns() + std::max<std::int64_t>(nanoseconds, 0);
    for (std::int64_t left = end - clock_ns(); left > spin_ns; left = end - clock_ns()) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left - spin_ns / 2, slice_ns)));
        note_progress();
        if (end - clock_ns() > spin_ns && interrupted()) return;
    }
    while (clock_ns() < end) {
    }
}

}  // namespace cuscope::cuda
