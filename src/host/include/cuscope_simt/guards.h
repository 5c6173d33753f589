// The parts of an image that keep a kernel's mistakes inside the device: the place of __shared__ variables,
// the reaction to a damaged frame, an inaccessible range behind the image's variables, and file-scope
// objects.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/fiber.h"

// Code of the image calls this function, instead of the C library's, for the address of a thread-local
// variable. Compilers for other processors find these addresses in another way.
#if defined(__x86_64__)
#define CUSCOPE_PLACES_SHARED 1
#else
#define CUSCOPE_PLACES_SHARED 0
#endif

namespace cuscope_simt {
inline constexpr bool places_shared = CUSCOPE_PLACES_SHARED != 0;
#if CUSCOPE_PLACES_SHARED && !CUSCOPE_FIBER_REGISTER
static unsigned key_of_shared;
static constexpr unsigned* shared_key = &key_of_shared;
#else
static constexpr unsigned* shared_key = nullptr;
#endif
}  // namespace cuscope_simt

extern "C" {

#if CUSCOPE_PLACES_SHARED
struct CuscopeTlsIndex {
    unsigned long module, offset;
};
#if CUSCOPE_FIBER_REGISTER
CUSCOPE_HIDDEN CUSCOPE_UNCOUNTED __attribute__((used, no_sanitize("alignment"))) void* __tls_get_addr(
    CuscopeTlsIndex* index) {
    return cuscope_fiber->static_shared + index->offset;
}
#else
void* pthread_getspecific(unsigned key) noexcept;
CUSCOPE_HIDDEN CUSCOPE_UNCOUNTED __attribute__((used, no_sanitize("alignment"))) void* __tls_get_addr(
    CuscopeTlsIndex* index) {
    return static_cast<char*>(pthread_getspecific(::cuscope_simt::key_of_shared)) + index->offset;
}
#endif
#endif

// -fstack-protector-strong calls this when a function with a damaged frame is about to return.
CUSCOPE_HIDDEN CUSCOPE_UNCOUNTED __attribute__((used, noreturn)) void __stack_chk_fail() {
    ::cuscope_simt::fault(::cuscope_simt::Fault::smashed_stack,
                          static_cast<const char*>(__builtin_return_address(0)), nullptr);
    __builtin_unreachable();
}

// Objects at file scope are never destroyed: their destructors would run while the image is unloaded.
CUSCOPE_HIDDEN __attribute__((used)) void* __dso_handle = nullptr;
CUSCOPE_HIDDEN CUSCOPE_UNCOUNTED __attribute__((used)) int __cxa_atexit(void (*)(void*), void*,
                                                                        void*) noexcept {
    return 0;
}
CUSCOPE_HIDDEN CUSCOPE_UNCOUNTED __attribute__((used)) int __cxa_thread_atexit(void (*)(void*), void*,
                                                                               void*) noexcept {
    return 0;
}

}  // extern "C"

// As large as a wrong index may plausibly reach, counted from the next page. Linkers place it behind all
// other variables because of its name.
static __attribute__((section(".bss.cuscope_guard"), used)) char cuscope_guard[(1 << 20) + (128 << 10)];

namespace cuscope_simt {

// Runs the image's initialisers. The engine calls it, so that it can end them.
CUSCOPE_UNCOUNTED __attribute__((noinline, no_sanitize("alignment"))) static void initialize(
    Fiber* self, void** arguments) {
    cuscope_fiber = self;
    const auto* at = *static_cast<void (*const**)(int, char**, char**)>(arguments[0]);
    const auto* end = *static_cast<void (*const**)(int, char**, char**)>(arguments[1]);
    *self->next_thread = self->thread_count;
    self->linear_thread = 0;
    self->thread_index = {0, 0, 0};
    for (; at < end; ++at) {
        char* none = nullptr;
        (*at)(0, &none, &none);
    }
    self->ended = 1;
#if CUSCOPE_FIBER_REGISTER
    cuscope_fiber->api->finish(cuscope_fiber);
#else
    self->api->finish(self);
#endif
    __builtin_unreachable();
}

}  // namespace cuscope_simt
