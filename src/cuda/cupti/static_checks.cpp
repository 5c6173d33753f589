// Compares the declarations of this folder with CUPTI's headers, where the toolkit has them.
#if __has_include(<cupti.h>)

#include <cupti.h>

#include <cstddef>

#include "cuda/cupti/layouts.hpp"
#include "cuda/cupti/library.hpp"

namespace cuscope::cuda::cupti {
namespace {

static_assert(multiple_subscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(invalid_parameter == CUPTI_ERROR_INVALID_PARAMETER);
static_assert(driver_calls == CUPTI_CB_DOMAIN_DRIVER_API && runtime_calls == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(call_begins == CUPTI_API_ENTER);
static_assert(flush_forced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
static_assert(pageable_memory == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
static_assert(static_cast<int>(CopyKind::host_to_device) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD &&
              static_cast<int>(CopyKind::device_to_host) == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH &&
              static_cast<int>(CopyKind::host_to_array) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOA &&
              static_cast<int>(CopyKind::array_to_host) == CUPTI_ACTIVITY_MEMCPY_KIND_ATOH &&
              static_cast<int>(CopyKind::host_to_host) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH &&
              static_cast<int>(CopyKind::peer_to_peer) == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);

constexpr bool same(Kind ours, CUpti_ActivityKind theirs) {
    return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(same(Kind::memcpy, CUPTI_ACTIVITY_KIND_MEMCPY) &&
              same(Kind::concurrent_kernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) &&
              same(Kind::memcpy2, CUPTI_ACTIVITY_KIND_MEMCPY2));

#define SAME_PLACE(Ours, ours, Theirs, theirs)                        \
    static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs) && \
                  sizeof(Ours::ours) == sizeof(Theirs::theirs))

#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
using Memcpy = CUpti_ActivityMemcpy6;
#else
using Kernel = CUpti_ActivityKernel9;
using Memcpy = CUpti_ActivityMemcpy5;
#endif
SAME_PLACE(KernelLayout, start, Kernel, start);
SAME_PLACE(KernelLayout, end, Kernel, end);
SAME_PLACE(KernelLayout, device, Kernel, deviceId);
SAME_PLACE(KernelLayout, context, Kernel, contextId);
SAME_PLACE(KernelLayout, stream, Kernel, streamId);
static_assert(offsetof(KernelLayout, grid) == offsetof(Kernel, gridX));
static_assert(offsetof(KernelLayout, block) == offsetof(Kernel, blockX));
SAME_PLACE(KernelLayout, static_shared_bytes, Kernel, staticSharedMemory);
SAME_PLACE(KernelLayout, dynamic_shared_bytes, Kernel, dynamicSharedMemory);
SAME_PLACE(KernelLayout, correlation, Kernel, correlationId);
SAME_PLACE(KernelLayout, name, Kernel, name);
SAME_PLACE(KernelLayout, graph_node, Kernel, graphNodeId);

SAME_PLACE(MemcpyLayout, copy_kind, Memcpy, copyKind);
SAME_PLACE(MemcpyLayout, source_kind, Memcpy, srcKind);
SAME_PLACE(MemcpyLayout, destination_kind, Memcpy, dstKind);
SAME_PLACE(MemcpyLayout, bytes, Memcpy, bytes);
SAME_PLACE(MemcpyLayout, start, Memcpy, start);
SAME_PLACE(MemcpyLayout, end, Memcpy, end);
SAME_PLACE(MemcpyLayout, device, Memcpy, deviceId);
SAME_PLACE(MemcpyLayout, context, Memcpy, contextId);
SAME_PLACE(MemcpyLayout, stream, Memcpy, streamId);
SAME_PLACE(MemcpyLayout, correlation, Memcpy, correlationId);
SAME_PLACE(MemcpyLayout, graph_node, Memcpy, graphNodeId);

using PeerCopy = CUpti_ActivityMemcpyPtoP4;
SAME_PLACE(PeerCopyLayout, bytes, PeerCopy, bytes);
SAME_PLACE(PeerCopyLayout, start, PeerCopy, start);
SAME_PLACE(PeerCopyLayout, end, PeerCopy, end);
SAME_PLACE(PeerCopyLayout, device, PeerCopy, deviceId);
SAME_PLACE(PeerCopyLayout, context, PeerCopy, contextId);
SAME_PLACE(PeerCopyLayout, stream, PeerCopy, streamId);
SAME_PLACE(PeerCopyLayout, correlation, PeerCopy, correlationId);
SAME_PLACE(PeerCopyLayout, graph_node, PeerCopy, graphNodeId);

SAME_PLACE(CallLayout, site, CUpti_CallbackData, callbackSite);
SAME_PLACE(CallLayout, correlation, CUpti_CallbackData, correlationId);
static_assert(sizeof(CallLayout) == sizeof(CUpti_CallbackData));

#if CUPTI_API_VERSION >= 130000
SAME_PLACE(SubscriberParameters, bytes, CUpti_SubscriberParams, structSize);
SAME_PLACE(SubscriberParameters, name, CUpti_SubscriberParams, subscriberName);
SAME_PLACE(SubscriberParameters, other, CUpti_SubscriberParams, oldSubscriberName);
SAME_PLACE(SubscriberParameters, other_bytes, CUpti_SubscriberParams, oldSubscriberSize);

#define CUSCOPE_API(name, number) static_assert(number == CUPTI_DRIVER_TRACE_CBID_##name);
#include "cuda/cupti/driver_apis.inc"
#undef CUSCOPE_API
#define CUSCOPE_API(name, number) static_assert(number == CUPTI_RUNTIME_TRACE_CBID_##name);
#include "cuda/cupti/runtime_apis.inc"
#undef CUSCOPE_API
#endif
#undef SAME_PLACE

}  // namespace
}  // namespace cuscope::cuda::cupti

#endif
