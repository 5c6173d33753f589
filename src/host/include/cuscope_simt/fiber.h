// Gives kernel code its Fiber, and replaces functions of the C library and hooks of the sanitizer that would
// end the process. Include it before any header that defines a function.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/abi.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define CUSCOPE_FIBER_REGISTER 1
register ::cuscope_simt::Fiber* cuscope_fiber asm("r15");
#else
#define CUSCOPE_FIBER_REGISTER 0
#ifndef CUSCOPE_COUNTED
static thread_local ::cuscope_simt::Fiber* cuscope_fiber;
#else
// One variable for the kernels and for the hooks, which are compiled separately.
extern "C" __attribute__((visibility("hidden"))) __thread ::cuscope_simt::Fiber* cuscope_fiber;
#ifndef CUSCOPE_HOOKS
__thread ::cuscope_simt::Fiber* cuscope_fiber;
#endif
#endif
#endif

// artificial: with -g1, GCC records only for artificial functions where they were inlined.
#define CUSCOPE_INLINE inline __attribute__((always_inline, artificial))
// For functions that touch only the Fiber. Its alignment need not be checked.
#define CUSCOPE_OWN CUSCOPE_INLINE __attribute__((no_sanitize("alignment")))
// The same for a lambda function.
#define CUSCOPE_CALLED __attribute__((always_inline, no_sanitize("alignment")))
#define CUSCOPE_HIDDEN __attribute__((visibility("hidden")))

// CUSCOPE_COUNTED stands for both kinds of instrumented images: those that count, and those that check, which
// have CUSCOPE_CHECKED as well. For functions of such an image that must not be counted, and where the Fiber
// may not be known yet.
#ifndef CUSCOPE_COUNTED
#define CUSCOPE_UNCOUNTED
#elif defined(__clang__)
#define CUSCOPE_UNCOUNTED __attribute__((no_sanitize("thread", "coverage")))
#else
#define CUSCOPE_UNCOUNTED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif

extern "C" {
// These replace the C library's functions in the image. They are declared before its headers, so that the
// headers find them hidden.
int printf(const char* format, ...) CUSCOPE_HIDDEN __attribute__((format(printf, 1, 2)));
long clock() noexcept CUSCOPE_HIDDEN;
void __assert_fail(const char* assertion, const char* file, unsigned line,
                   const char* function) noexcept CUSCOPE_HIDDEN __attribute__((noreturn));
#ifdef CUSCOPE_COUNTED
void cuscope_start_counting() CUSCOPE_HIDDEN;
#ifndef CUSCOPE_CHECKED
void cuscope_begin_thread() CUSCOPE_HIDDEN;  // the Fiber names another thread
#endif
void cuscope_count(const void* address, unsigned bytes, ::cuscope_simt::Access access) CUSCOPE_HIDDEN;
void cuscope_synchronize(::cuscope_simt::Synchronization kind) CUSCOPE_HIDDEN;
#endif
}

namespace cuscope_simt {

// For an engine call that may run another fiber before it returns. Until the thread-local pointer names this
// fiber again, no access may be counted.
#if defined(CUSCOPE_COUNTED) && !CUSCOPE_FIBER_REGISTER
#define CUSCOPE_SWITCHING CUSCOPE_UNCOUNTED __attribute__((noinline, no_sanitize("alignment")))
#else
#define CUSCOPE_SWITCHING CUSCOPE_OWN
#endif
// `call` should be CUSCOPE_CALLED, or it may stay a function of its own.
template <class Call>
CUSCOPE_SWITCHING auto switching(Call call) -> decltype(call(static_cast<Fiber*>(nullptr))) {
#if CUSCOPE_FIBER_REGISTER
    return call(cuscope_fiber);
#else
    struct Restore {
        Fiber* self;
        CUSCOPE_UNCOUNTED CUSCOPE_INLINE ~Restore() { cuscope_fiber = self; }
    } restore{cuscope_fiber};
    return call(restore.self);
#endif
}

CUSCOPE_OWN void fault(Fault kind, const char* message, const Site* site) {
    cuscope_fiber->api->fault(cuscope_fiber, kind, message, site);
}

// Counts an atomic operation: the hooks of images that count ignore atomic operations.
CUSCOPE_OWN void count([[maybe_unused]] const void* address, [[maybe_unused]] unsigned bytes,
                       [[maybe_unused]] Access access) {
#ifdef CUSCOPE_COUNTED
    cuscope_count(address, bytes, access);
#endif
}

// Tells an image that checks of a store that compilers do not instrument.
CUSCOPE_OWN void wrote([[maybe_unused]] void* to, [[maybe_unused]] unsigned long bytes) {
#ifdef CUSCOPE_CHECKED
    if (bytes != 0) cuscope_count(to, static_cast<unsigned>(bytes), Access::store);
#endif
}

// Tells an image that checks of a copy that compilers do not instrument: __builtin_memcpy of a size that they
// know.
CUSCOPE_OWN void copying([[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                         [[maybe_unused]] unsigned long bytes) {
#ifdef CUSCOPE_CHECKED
    if (bytes == 0) return;
    cuscope_count(from, static_cast<unsigned>(bytes), Access::load);
    cuscope_count(to, static_cast<unsigned>(bytes), Access::store);
#endif
}

// Tells an image that checks that the thread has synchronized in a way that the engine does not see.
CUSCOPE_OWN void synchronized([[maybe_unused]] Synchronization kind) {
#ifdef CUSCOPE_CHECKED
    cuscope_synchronize(kind);
#endif
}

// While it exists, the thread's accesses are not checked: a lock orders them.
class Unchecked {
  public:
#ifdef CUSCOPE_CHECKED
    CUSCOPE_OWN Unchecked() : check_(cuscope_fiber->check) { cuscope_fiber->check = nullptr; }
    CUSCOPE_OWN ~Unchecked() { cuscope_fiber->check = check_; }
    Unchecked(const Unchecked&) = delete;

  private:
    CheckState* check_;
#else
    CUSCOPE_OWN Unchecked() {}
    CUSCOPE_OWN ~Unchecked() {}
#endif
};

// The value of a field of the Fiber, and the field plus 1. Images that check pay for each access that
// compilers instrument, and these do not instrument assembly. Other images have the plain expression, from
// which compilers make different instructions: images for times have their instructions counted.
#if defined(CUSCOPE_CHECKED) && defined(__x86_64__)
CUSCOPE_OWN unsigned own(const unsigned& field) {
    unsigned value;
    asm("movl %1, %0" : "=r"(value) : "m"(field));
    return value;
}
CUSCOPE_OWN unsigned increment_own(unsigned& field) {
    asm("incl %0" : "+m"(field) : : "cc");
    return own(field);
}
#define CUSCOPE_FIELD(field) ::cuscope_simt::own(field)
#define CUSCOPE_NEXT_FIELD(field) ::cuscope_simt::increment_own(field)
#else
#define CUSCOPE_FIELD(field) field
#define CUSCOPE_NEXT_FIELD(field) ++field
#endif

// Call for an operation that a thread may repeat until another thread acts.
CUSCOPE_OWN void poll() {
    if (CUSCOPE_NEXT_FIELD(cuscope_fiber->spin_count) >= spin_limit)
        switching([](Fiber* self) { self->api->spin_hint(self); });
}

}  // namespace cuscope_simt
