// Checks that the contract's numbers equal CUDA's, against the header of the toolkit that builds this.
#include <cuda_runtime_api.h>

#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope {
namespace {

template <class A, class B>
constexpr bool same(A a, B b) {
    return static_cast<long long>(a) == static_cast<long long>(b);
}

#if CUDART_VERSION >= 13000  // older headers lack some codes
#define CUSCOPE_STATUS(number, enumerator, name, text) \
    static_assert(same(Status::enumerator, ::name), "Status differs from cudaError_t");
#include "runtime/status_codes.inc"
#undef CUSCOPE_STATUS
#endif

static_assert(same(MemcpyKind::host_to_host, cudaMemcpyHostToHost));
static_assert(same(MemcpyKind::host_to_device, cudaMemcpyHostToDevice));
static_assert(same(MemcpyKind::device_to_host, cudaMemcpyDeviceToHost));
static_assert(same(MemcpyKind::device_to_device, cudaMemcpyDeviceToDevice));
static_assert(same(MemcpyKind::by_address, cudaMemcpyDefault));

static_assert(same(flags::stream_default, cudaStreamDefault));
static_assert(same(flags::stream_non_blocking, cudaStreamNonBlocking));
static_assert(same(flags::event_default, cudaEventDefault));
static_assert(same(flags::event_blocking_sync, cudaEventBlockingSync));
static_assert(same(flags::event_disable_timing, cudaEventDisableTiming));
static_assert(same(flags::event_interprocess, cudaEventInterprocess));
static_assert(same(flags::event_record_external, cudaEventRecordExternal));
static_assert(same(flags::event_wait_external, cudaEventWaitExternal));
static_assert(same(flags::host_alloc_portable, cudaHostAllocPortable));
static_assert(same(flags::host_alloc_mapped, cudaHostAllocMapped));
static_assert(same(flags::host_alloc_write_combined, cudaHostAllocWriteCombined));
static_assert(same(flags::host_register_portable, cudaHostRegisterPortable));
static_assert(same(flags::host_register_mapped, cudaHostRegisterMapped));
static_assert(same(flags::host_register_read_only, cudaHostRegisterReadOnly));
static_assert(same(flags::mem_attach_global, cudaMemAttachGlobal));
static_assert(same(flags::array_surface_load_store, cudaArraySurfaceLoadStore));
static_assert(same(flags::array_layered, cudaArrayLayered));
static_assert(same(flags::array_cubemap, cudaArrayCubemap));
static_assert(same(MemLocationType::host, cudaMemLocationTypeHost));
static_assert(same(MemoryAdvice::unset_accessed_by, cudaMemAdviseUnsetAccessedBy));
static_assert(same(MemRangeAttribute::last_prefetch_location, cudaMemRangeAttributeLastPrefetchLocation));
static_assert(same(MemPoolAttribute::reuse_follow_event_dependencies,
                   cudaMemPoolReuseFollowEventDependencies));
static_assert(same(MemPoolAttribute::release_threshold, cudaMemPoolAttrReleaseThreshold));
static_assert(same(MemAccess::read, cudaMemAccessFlagsProtRead));
static_assert(same(MemAccess::read_write, cudaMemAccessFlagsProtReadWrite));
static_assert(same(MemPoolAttribute::used_high, cudaMemPoolAttrUsedMemHigh));
static_assert(same(SourceAccessOrder::any, cudaMemcpySrcAccessOrderAny));
static_assert(same(ChannelKind::floating, cudaChannelFormatKindFloat));
static_assert(same(ResourceType::mipmapped_array, cudaResourceTypeMipmappedArray));
static_assert(same(ResourceType::pitch_2d, cudaResourceTypePitch2D));
static_assert(same(TextureAddressMode::border, cudaAddressModeBorder));
static_assert(same(TextureFilterMode::linear, cudaFilterModeLinear));
static_assert(same(TextureReadMode::normalized_float, cudaReadModeNormalizedFloat));
static_assert(same(flags::device_schedule_spin, cudaDeviceScheduleSpin));
static_assert(same(Limit::persisting_l2_cache_size, cudaLimitPersistingL2CacheSize));
static_assert(same(FunctionAttribute::cluster_scheduling_policy_preference,
                   cudaFuncAttributeClusterSchedulingPolicyPreference));
static_assert(same(FunctionCache::prefer_equal, cudaFuncCachePreferEqual));
static_assert(same(AccessProperty::persisting, cudaAccessPropertyPersisting));
static_assert(same(flags::occupancy_disable_caching_override, cudaOccupancyDisableCachingOverride));
#define CUSCOPE_ROW(name, number, cuda, ...) \
    static_assert(same(LaunchAttributeId::name, cudaLaunchAttribute##cuda));
CUSCOPE_LAUNCH_ATTRIBUTES(CUSCOPE_ROW)
#undef CUSCOPE_ROW
static_assert(same(flags::device_schedule_yield, cudaDeviceScheduleYield));
static_assert(same(flags::device_schedule_blocking_sync, cudaDeviceScheduleBlockingSync));
static_assert(same(flags::device_map_host, cudaDeviceMapHost));

static_assert(same(Limit::stack_size, cudaLimitStackSize));
static_assert(same(Limit::printf_fifo_size, cudaLimitPrintfFifoSize));
static_assert(same(Limit::malloc_heap_size, cudaLimitMallocHeapSize));

static_assert(same(MemoryType::unregistered, cudaMemoryTypeUnregistered));
static_assert(same(MemoryType::host, cudaMemoryTypeHost));
static_assert(same(MemoryType::device, cudaMemoryTypeDevice));
static_assert(same(MemoryType::managed, cudaMemoryTypeManaged));

static_assert(same(FunctionAttribute::max_dynamic_shared_size, cudaFuncAttributeMaxDynamicSharedMemorySize));
static_assert(same(FunctionAttribute::preferred_shared_memory_carveout,
                   cudaFuncAttributePreferredSharedMemoryCarveout));

static_assert(same(CaptureMode::global, cudaStreamCaptureModeGlobal));
static_assert(same(CaptureMode::thread_local_, cudaStreamCaptureModeThreadLocal));
static_assert(same(CaptureMode::relaxed, cudaStreamCaptureModeRelaxed));
static_assert(same(CaptureStatus::active, cudaStreamCaptureStatusActive));
static_assert(same(CaptureStatus::invalidated, cudaStreamCaptureStatusInvalidated));
static_assert(same(DependencyType::programmatic, cudaGraphDependencyTypeProgrammatic));
static_assert(same(ports::kernel_programmatic, cudaGraphKernelNodePortProgrammatic));
static_assert(same(ports::kernel_launch_order, cudaGraphKernelNodePortLaunchCompletion));
static_assert(same(ConditionalType::while_, cudaGraphCondTypeWhile));
static_assert(same(ConditionalType::switch_, cudaGraphCondTypeSwitch));
static_assert(same(GraphExecUpdateResult::attributes_changed, cudaGraphExecUpdateErrorAttributesChanged));
static_assert(same(GraphExecUpdateResult::topology_changed, cudaGraphExecUpdateErrorTopologyChanged));
static_assert(same(flags::graph_auto_free_on_launch, cudaGraphInstantiateFlagAutoFreeOnLaunch));
static_assert(same(flags::graph_use_node_priority, cudaGraphInstantiateFlagUseNodePriority));
static_assert(same(flags::capture_set_dependencies, cudaStreamSetCaptureDependencies));
static_assert(same(flags::condition_assign_default, cudaGraphCondAssignDefault));
static_assert(sizeof(ConditionalHandle) == sizeof(cudaGraphConditionalHandle));

#define CUSCOPE_ATTRIBUTE(ours, theirs)                             \
    static_assert(same(DeviceAttribute::ours, cudaDevAttr##theirs), \
                  "DeviceAttribute differs from cudaDeviceAttr");
CUSCOPE_ATTRIBUTE(max_threads_per_block, MaxThreadsPerBlock)
CUSCOPE_ATTRIBUTE(max_block_dim_x, MaxBlockDimX)
CUSCOPE_ATTRIBUTE(max_block_dim_y, MaxBlockDimY)
CUSCOPE_ATTRIBUTE(max_block_dim_z, MaxBlockDimZ)
CUSCOPE_ATTRIBUTE(max_grid_dim_x, MaxGridDimX)
CUSCOPE_ATTRIBUTE(max_grid_dim_y, MaxGridDimY)
CUSCOPE_ATTRIBUTE(max_grid_dim_z, MaxGridDimZ)
CUSCOPE_ATTRIBUTE(max_shared_memory_per_block, MaxSharedMemoryPerBlock)
CUSCOPE_ATTRIBUTE(total_constant_memory, TotalConstantMemory)
CUSCOPE_ATTRIBUTE(warp_size, WarpSize)
CUSCOPE_ATTRIBUTE(max_pitch, MaxPitch)
CUSCOPE_ATTRIBUTE(max_registers_per_block, MaxRegistersPerBlock)
CUSCOPE_ATTRIBUTE(clock_rate, ClockRate)
CUSCOPE_ATTRIBUTE(texture_alignment, TextureAlignment)
CUSCOPE_ATTRIBUTE(multiprocessor_count, MultiProcessorCount)
CUSCOPE_ATTRIBUTE(kernel_exec_timeout, KernelExecTimeout)
CUSCOPE_ATTRIBUTE(integrated, Integrated)
CUSCOPE_ATTRIBUTE(can_map_host_memory, CanMapHostMemory)
CUSCOPE_ATTRIBUTE(compute_mode, ComputeMode)
CUSCOPE_ATTRIBUTE(concurrent_kernels, ConcurrentKernels)
CUSCOPE_ATTRIBUTE(ecc_enabled, EccEnabled)
CUSCOPE_ATTRIBUTE(pci_bus_id, PciBusId)
CUSCOPE_ATTRIBUTE(pci_device_id, PciDeviceId)
CUSCOPE_ATTRIBUTE(memory_clock_rate, MemoryClockRate)
CUSCOPE_ATTRIBUTE(global_memory_bus_width, GlobalMemoryBusWidth)
CUSCOPE_ATTRIBUTE(l2_cache_size, L2CacheSize)
CUSCOPE_ATTRIBUTE(max_threads_per_multiprocessor, MaxThreadsPerMultiProcessor)
CUSCOPE_ATTRIBUTE(async_engine_count, AsyncEngineCount)
CUSCOPE_ATTRIBUTE(unified_addressing, UnifiedAddressing)
CUSCOPE_ATTRIBUTE(texture_pitch_alignment, TexturePitchAlignment)
CUSCOPE_ATTRIBUTE(compute_capability_major, ComputeCapabilityMajor)
CUSCOPE_ATTRIBUTE(compute_capability_minor, ComputeCapabilityMinor)
CUSCOPE_ATTRIBUTE(stream_priorities_supported, StreamPrioritiesSupported)
CUSCOPE_ATTRIBUTE(max_shared_memory_per_multiprocessor, MaxSharedMemoryPerMultiprocessor)
CUSCOPE_ATTRIBUTE(max_registers_per_multiprocessor, MaxRegistersPerMultiprocessor)
CUSCOPE_ATTRIBUTE(managed_memory, ManagedMemory)
CUSCOPE_ATTRIBUTE(pageable_memory_access, PageableMemoryAccess)
CUSCOPE_ATTRIBUTE(concurrent_managed_access, ConcurrentManagedAccess)
CUSCOPE_ATTRIBUTE(cooperative_launch, CooperativeLaunch)
CUSCOPE_ATTRIBUTE(max_shared_memory_per_block_optin, MaxSharedMemoryPerBlockOptin)
CUSCOPE_ATTRIBUTE(host_register_supported, HostRegisterSupported)
CUSCOPE_ATTRIBUTE(max_blocks_per_multiprocessor, MaxBlocksPerMultiprocessor)
CUSCOPE_ATTRIBUTE(reserved_shared_memory_per_block, ReservedSharedMemoryPerBlock)
CUSCOPE_ATTRIBUTE(host_register_read_only_supported, HostRegisterReadOnlySupported)
CUSCOPE_ATTRIBUTE(memory_pools_supported, MemoryPoolsSupported)
#undef CUSCOPE_ATTRIBUTE

}  // namespace
}  // namespace cuscope
