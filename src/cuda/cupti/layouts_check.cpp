// Compares the declared layouts with cupti.h, if the toolkit that builds this has the header.
#if __has_include(<cupti.h>)
#include <cupti.h>

#include <cstddef>

#include "cuda/cupti/records.hpp"

namespace cuscope::cuda::cupti {
namespace {

#if CUPTI_API_VERSION >= 130000  // older versions have other names for the newest records
#define CUSCOPE_SAME(ours, our_field, theirs, their_field)                      \
    static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && \
                      sizeof(ours::our_field) == sizeof(theirs::their_field),   \
                  #ours "::" #our_field " differs from " #theirs "::" #their_field)

using Kernel = CUpti_ActivityKernel10;
CUSCOPE_SAME(KernelRecord, kind, Kernel, kind);
CUSCOPE_SAME(KernelRecord, start, Kernel, start);
CUSCOPE_SAME(KernelRecord, end, Kernel, end);
CUSCOPE_SAME(KernelRecord, device, Kernel, deviceId);
CUSCOPE_SAME(KernelRecord, context, Kernel, contextId);
CUSCOPE_SAME(KernelRecord, stream, Kernel, streamId);
static_assert(offsetof(KernelRecord, grid) == offsetof(Kernel, gridX) &&
              offsetof(KernelRecord, block) == offsetof(Kernel, blockX));
CUSCOPE_SAME(KernelRecord, static_shared_bytes, Kernel, staticSharedMemory);
CUSCOPE_SAME(KernelRecord, dynamic_shared_bytes, Kernel, dynamicSharedMemory);
CUSCOPE_SAME(KernelRecord, correlation, Kernel, correlationId);
CUSCOPE_SAME(KernelRecord, name, Kernel, name);
CUSCOPE_SAME(KernelRecord, graph, Kernel, graphId);

using Copy = CUpti_ActivityMemcpy6;
CUSCOPE_SAME(CopyRecord, direction, Copy, copyKind);
CUSCOPE_SAME(CopyRecord, source, Copy, srcKind);
CUSCOPE_SAME(CopyRecord, destination, Copy, dstKind);
CUSCOPE_SAME(CopyRecord, bytes, Copy, bytes);
CUSCOPE_SAME(CopyRecord, start, Copy, start);
CUSCOPE_SAME(CopyRecord, end, Copy, end);
CUSCOPE_SAME(CopyRecord, device, Copy, deviceId);
CUSCOPE_SAME(CopyRecord, context, Copy, contextId);
CUSCOPE_SAME(CopyRecord, stream, Copy, streamId);
CUSCOPE_SAME(CopyRecord, correlation, Copy, correlationId);
CUSCOPE_SAME(CopyRecord, graph, Copy, graphId);

using CopyBetween = CUpti_ActivityMemcpyPtoP4;
CUSCOPE_SAME(CopyBetweenDevicesRecord, direction, CopyBetween, copyKind);
CUSCOPE_SAME(CopyBetweenDevicesRecord, source, CopyBetween, srcKind);
CUSCOPE_SAME(CopyBetweenDevicesRecord, destination, CopyBetween, dstKind);
CUSCOPE_SAME(CopyBetweenDevicesRecord, bytes, CopyBetween, bytes);
CUSCOPE_SAME(CopyBetweenDevicesRecord, start, CopyBetween, start);
CUSCOPE_SAME(CopyBetweenDevicesRecord, end, CopyBetween, end);
CUSCOPE_SAME(CopyBetweenDevicesRecord, device, CopyBetween, deviceId);
CUSCOPE_SAME(CopyBetweenDevicesRecord, context, CopyBetween, contextId);
CUSCOPE_SAME(CopyBetweenDevicesRecord, stream, CopyBetween, streamId);
CUSCOPE_SAME(CopyBetweenDevicesRecord, correlation, CopyBetween, correlationId);
CUSCOPE_SAME(CopyBetweenDevicesRecord, graph, CopyBetween, graphId);

using Memset = CUpti_ActivityMemset4;
CUSCOPE_SAME(MemsetRecord, bytes, Memset, bytes);
CUSCOPE_SAME(MemsetRecord, start, Memset, start);
CUSCOPE_SAME(MemsetRecord, end, Memset, end);
CUSCOPE_SAME(MemsetRecord, device, Memset, deviceId);
CUSCOPE_SAME(MemsetRecord, context, Memset, contextId);
CUSCOPE_SAME(MemsetRecord, stream, Memset, streamId);
CUSCOPE_SAME(MemsetRecord, correlation, Memset, correlationId);
CUSCOPE_SAME(MemsetRecord, graph, Memset, graphId);

CUSCOPE_SAME(CallbackData, site, CUpti_CallbackData, callbackSite);
CUSCOPE_SAME(CallbackData, correlation, CUpti_CallbackData, correlationId);

static_assert(static_cast<int>(RecordKind::copy) == CUPTI_ACTIVITY_KIND_MEMCPY &&
              static_cast<int>(RecordKind::memset) == CUPTI_ACTIVITY_KIND_MEMSET &&
              static_cast<int>(RecordKind::concurrent_kernel) == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
              static_cast<int>(RecordKind::copy_between_devices) == CUPTI_ACTIVITY_KIND_MEMCPY2);
#undef CUSCOPE_SAME
#endif

}  // namespace
}  // namespace cuscope::cuda::cupti
#endif
