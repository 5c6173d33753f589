// The functions of <cuda_pipeline.h> and <cuda_awbarrier.h>.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/cxx/barrier.h"

typedef ::cuda::barrier<::cuda::thread_scope_block> __mbarrier_t;
typedef ::cuda::barrier<::cuda::thread_scope_block>::arrival_token __mbarrier_token_t;

CUSCOPE_INLINE void __mbarrier_init(__mbarrier_t* barrier, unsigned expected) {
    init(barrier, static_cast<__PTRDIFF_TYPE__>(expected));
}
CUSCOPE_INLINE void __mbarrier_inval(__mbarrier_t*) {}
CUSCOPE_INLINE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) { return barrier->arrive(); }
CUSCOPE_INLINE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
    return barrier->cuscope_arrive_and_drop();
}
CUSCOPE_INLINE bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
    return barrier->try_wait(static_cast<__mbarrier_token_t&&>(token));
}
CUSCOPE_INLINE bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
    return barrier->try_wait_parity(parity);
}
CUSCOPE_INLINE bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, unsigned) {
    return __mbarrier_test_wait(barrier, token);
}
CUSCOPE_INLINE bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, unsigned) {
    return barrier->try_wait_parity(parity);
}

CUSCOPE_INLINE void __pipeline_memcpy_async(void* __restrict__ to, const void* __restrict__ from,
                                            decltype(sizeof(0)) bytes, decltype(sizeof(0)) zeroed = 0) {
    const auto misaligned =
        (reinterpret_cast<__UINTPTR_TYPE__>(to) | reinterpret_cast<__UINTPTR_TYPE__>(from)) & (bytes - 1);
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zeroed > bytes)
        ::cuscope_simt::fault(::cuscope_simt::Fault::trap, "__pipeline_memcpy_async copies 4, 8 or 16 bytes",
                              nullptr);
    if (misaligned != 0)
        ::cuscope_simt::fault(::cuscope_simt::Fault::misaligned,
                              "__pipeline_memcpy_async between addresses that are no multiples of the size",
                              nullptr);
    ::cuscope_simt::copying(to, from, bytes - zeroed);
    ::cuscope_simt::wrote(static_cast<char*>(to) + (bytes - zeroed), zeroed);
    __builtin_memcpy(to, from, bytes - zeroed);
    __builtin_memset(static_cast<char*>(to) + (bytes - zeroed), 0, zeroed);
}
CUSCOPE_INLINE void __pipeline_commit() {}
CUSCOPE_INLINE void __pipeline_wait_prior(decltype(sizeof(0))) {}
// The copies are done already, so the barrier counts no arrival for them.
CUSCOPE_INLINE void __pipeline_arrive_on(__mbarrier_t*) {}
