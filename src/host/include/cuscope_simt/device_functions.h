// printf, assert, traps, clocks, special registers, cached loads, dynamic shared memory, and the sanitizer's
// function for a failed check.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/fiber.h"
#include "cuscope_simt/runtime_types.h"

// With -fno-builtin-printf, this would be the C library's function in an image that does not call printf
// itself.
#define __builtin_printf printf

extern "C" {

// Functions that only the text of a kernel calls are inline: an image that calls none of them has none.
// Compiling them takes a tenth of the time of a small kernel.
__attribute__((noinline)) inline int printf(const char* format, ...) {
    if (format == nullptr) return -1;
    char small[512];
    __builtin_va_list arguments, again;
    __builtin_va_start(arguments, format);
    __builtin_va_copy(again, arguments);
    const int length = __builtin_vsnprintf(small, sizeof small, format, arguments);
    const ::cuscope_simt::Api* api = cuscope_fiber->api;
    if (length >= static_cast<int>(sizeof small)) {
        char* large = static_cast<char*>(__builtin_malloc(static_cast<size_t>(length) + 1));
        if (large != nullptr) {
            __builtin_vsnprintf(large, static_cast<size_t>(length) + 1, format, again);
            api->print(cuscope_fiber, large, static_cast<unsigned long>(length));
            __builtin_free(large);
        }
    } else if (length > 0) {
        api->print(cuscope_fiber, small, static_cast<unsigned long>(length));
    }
    __builtin_va_end(again);
    __builtin_va_end(arguments);
    // CUDA's printf returns the number of arguments.
    int count = 0;
    for (const char* c = format; *c != '\0'; ++c)
        if (*c == '%' && *++c != '%') ++count;
    return count;
}

__attribute__((noinline)) inline void __assert_fail(const char* assertion, const char* file, unsigned line,
                                                    const char* function) noexcept {
    const ::cuscope_simt::Fiber* self = cuscope_fiber;
    char text[1024];
    __builtin_snprintf(text, sizeof text,
                       "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file, line,
                       function, self->block_index.x, self->block_index.y, self->block_index.z,
                       self->thread_index.x, self->thread_index.y, self->thread_index.z, assertion);
    const ::cuscope_simt::Site site{file, static_cast<int>(line), ""};
    ::cuscope_simt::fault(::cuscope_simt::Fault::assertion, text, &site);
    __builtin_unreachable();
}

// Inlined, so that the engine can tell the places that read the clock from each other.
CUSCOPE_INLINE long clock() noexcept {
    return static_cast<long>(cuscope_fiber->api->clock_cycles(cuscope_fiber));
}

// The function that the alignment sanitizer calls. Compilers define the layout of its argument.
CUSCOPE_HIDDEN __attribute__((noreturn, no_sanitize("alignment"))) void __ubsan_handle_type_mismatch_v1_abort(
    void* data, void* pointer) {
    struct Type {
        unsigned short kind, info;
        char name[1];
    };
    struct Mismatch {
        const char* file;
        unsigned line, column;
        const Type* type;
        unsigned char log_alignment, kind;
    };
    const Mismatch* mismatch = static_cast<const Mismatch*>(data);
    char text[512];
    __builtin_snprintf(text, sizeof text, "a value of type %s at the address %p, which is no multiple of %d",
                       mismatch->type->name, pointer, 1 << mismatch->log_alignment);
    const ::cuscope_simt::Site site{mismatch->file, static_cast<int>(mismatch->line), ""};
    ::cuscope_simt::fault(::cuscope_simt::Fault::misaligned, text, &site);
    __builtin_unreachable();
}

}  // extern "C"

CUSCOPE_INLINE long long clock64() { return clock(); }
CUSCOPE_INLINE void __nanosleep(unsigned nanoseconds) {
    ::cuscope_simt::switching([=](::cuscope_simt::Fiber* self) { self->api->nanosleep(self, nanoseconds); });
}
CUSCOPE_INLINE void __trap(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const ::cuscope_simt::Site site{file, line, "__trap"};
    ::cuscope_simt::fault(::cuscope_simt::Fault::trap, nullptr, &site);
    __builtin_unreachable();
}
CUSCOPE_INLINE void __brkpt(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    __trap(file, line);
}

CUSCOPE_INLINE void cudaTriggerProgrammaticLaunchCompletion() {
    cuscope_fiber->api->trigger_dependents(cuscope_fiber);
}
CUSCOPE_INLINE void cudaGridDependencySynchronize() {
    cuscope_fiber->api->wait_for_primary(cuscope_fiber);
    asm volatile("" ::: "memory");
}

// Functions of kernels about graphs. Programs that were written for NVRTC declare these functions themselves.
using cudaGraphConditionalHandle = unsigned long long;
#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)
extern "C" {
// The handle is the address of the number that the conditional node reads.
CUSCOPE_INLINE void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
    __atomic_store_n(reinterpret_cast<unsigned*>(handle), value, __ATOMIC_RELAXED);
}
// The stream is only a number that names the kind of launch.
CUSCOPE_INLINE cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    return static_cast<cudaError_t>(cuscope_fiber->api->launch_graph(cuscope_fiber, exec, stream));
}
}
CUSCOPE_INLINE cudaGraphExec_t cudaGetCurrentGraphExec() {
    return static_cast<cudaGraphExec_t>(cuscope_fiber->api->current_graph(cuscope_fiber));
}

namespace cuscope_simt {
// The compiler driver replaces malloc and free by these.
CUSCOPE_OWN void* heap_malloc(unsigned long bytes) {
    return cuscope_fiber->api->heap_allocate(cuscope_fiber, bytes);
}
CUSCOPE_OWN void heap_free(void* address, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const Site site{file, line, "free"};
    cuscope_fiber->api->heap_free(cuscope_fiber, address, &site);
}
}  // namespace cuscope_simt

// Clang declares these itself, and hides them with -fvisibility-global-new-delete-hidden.
#ifdef __clang__
#define CUSCOPE_OWN_NEW
#else
#define CUSCOPE_OWN_NEW CUSCOPE_HIDDEN
#endif
CUSCOPE_OWN_NEW __attribute__((no_sanitize("alignment"))) void* operator new(decltype(sizeof(0)) bytes) {
    return ::cuscope_simt::heap_malloc(bytes == 0 ? 1 : bytes);
}
CUSCOPE_OWN_NEW __attribute__((no_sanitize("alignment"))) void operator delete(void* address) noexcept {
    cuscope_fiber->api->heap_free(cuscope_fiber, address, nullptr);
}
// The others are the same code under another name.
CUSCOPE_OWN_NEW __attribute__((alias("_Znwm"))) void* operator new[](decltype(sizeof(0)) bytes);
CUSCOPE_OWN_NEW __attribute__((alias("_ZdlPv"))) void operator delete[](void* address) noexcept;
CUSCOPE_OWN_NEW __attribute__((alias("_ZdlPv"))) void operator delete(void* address,
                                                                      decltype(sizeof(0))) noexcept;
CUSCOPE_OWN_NEW __attribute__((alias("_ZdlPv"))) void operator delete[](void* address,
                                                                        decltype(sizeof(0))) noexcept;

template <class T>
CUSCOPE_INLINE T __ldg(const T* address) {
    return *address;
}
template <class T>
CUSCOPE_INLINE T __ldca(const T* address) {
    return *address;
}
template <class T>
CUSCOPE_INLINE T __ldcs(const T* address) {
    return *address;
}
template <class T>
CUSCOPE_INLINE T __ldlu(const T* address) {
    return *address;
}
// These see stores that other threads have made since: the compiler must not keep an earlier value.
template <class T>
CUSCOPE_INLINE T __ldcg(const T* address) {
    asm volatile("" ::: "memory");
    return *address;
}
template <class T>
CUSCOPE_INLINE T __ldcv(const T* address) {
    asm volatile("" ::: "memory");
    return *address;
}
template <class T>
CUSCOPE_INLINE void __stwb(T* address, T value) {
    *address = value;
}
template <class T>
CUSCOPE_INLINE void __stcg(T* address, T value) {
    *address = value;
}
template <class T>
CUSCOPE_INLINE void __stcs(T* address, T value) {
    *address = value;
}
template <class T>
CUSCOPE_INLINE void __stwt(T* address, T value) {
    *address = value;
}

namespace cuscope_simt {

// The element type of an array of unknown bound.
template <class Array>
struct SharedArray;
template <class T>
struct SharedArray<T[]> {
    using Element = T;
};
template <class Array>
CUSCOPE_INLINE typename SharedArray<Array>::Element* dynamic_shared() {
    return reinterpret_cast<typename SharedArray<Array>::Element*>(cuscope_fiber->dynamic_shared);
}

// A __shared__ variable may have no constructor, because it would run for one thread of a block, or not at
// all.
template <class T>
inline constexpr bool is_shared_type = __has_trivial_constructor(T);
template <class T, decltype(sizeof(0)) n>
inline constexpr bool is_shared_type<T[n]> = is_shared_type<T>;

// PTX's special registers, by name, for asm statements that read them.
namespace special {
CUSCOPE_OWN unsigned laneid() { return cuscope_fiber->linear_thread & 31u; }
CUSCOPE_OWN unsigned warpid() { return cuscope_fiber->linear_thread >> 5; }
CUSCOPE_OWN unsigned nwarpid() { return 64; }
CUSCOPE_OWN unsigned smid() { return cuscope_fiber->multiprocessor; }
CUSCOPE_OWN unsigned nsmid() { return cuscope_fiber->multiprocessor_count; }
CUSCOPE_OWN unsigned lanemask_eq() { return 1u << laneid(); }
CUSCOPE_OWN unsigned lanemask_lt() { return lanemask_eq() - 1; }
CUSCOPE_OWN unsigned lanemask_le() { return lanemask_lt() | lanemask_eq(); }
CUSCOPE_OWN unsigned lanemask_gt() { return ~lanemask_le(); }
CUSCOPE_OWN unsigned lanemask_ge() { return ~lanemask_lt(); }
CUSCOPE_OWN unsigned clock() { return static_cast<unsigned>(::clock64()); }
CUSCOPE_OWN unsigned clock_hi() { return static_cast<unsigned>(::clock64() >> 32); }
CUSCOPE_OWN unsigned long long clock64() { return static_cast<unsigned long long>(::clock64()); }
CUSCOPE_OWN unsigned long long globaltimer() { return cuscope_fiber->api->global_timer_ns(cuscope_fiber); }
CUSCOPE_OWN unsigned globaltimer_lo() { return static_cast<unsigned>(globaltimer()); }
CUSCOPE_OWN unsigned long long current_graph_exec() {
    return reinterpret_cast<unsigned long long>(cuscope_fiber->api->current_graph(cuscope_fiber));
}
CUSCOPE_OWN unsigned globaltimer_hi() { return static_cast<unsigned>(globaltimer() >> 32); }
CUSCOPE_OWN unsigned tid_x() { return cuscope_fiber->thread_index.x; }
CUSCOPE_OWN unsigned tid_y() { return cuscope_fiber->thread_index.y; }
CUSCOPE_OWN unsigned tid_z() { return cuscope_fiber->thread_index.z; }
CUSCOPE_OWN unsigned ntid_x() { return cuscope_fiber->block_dim.x; }
CUSCOPE_OWN unsigned ntid_y() { return cuscope_fiber->block_dim.y; }
CUSCOPE_OWN unsigned ntid_z() { return cuscope_fiber->block_dim.z; }
CUSCOPE_OWN unsigned ctaid_x() { return cuscope_fiber->block_index.x; }
CUSCOPE_OWN unsigned ctaid_y() { return cuscope_fiber->block_index.y; }
CUSCOPE_OWN unsigned ctaid_z() { return cuscope_fiber->block_index.z; }
CUSCOPE_OWN unsigned nctaid_x() { return cuscope_fiber->grid_dim.x; }
CUSCOPE_OWN unsigned nctaid_y() { return cuscope_fiber->grid_dim.y; }
CUSCOPE_OWN unsigned nctaid_z() { return cuscope_fiber->grid_dim.z; }
CUSCOPE_OWN unsigned dynamic_smem_size() {
    return static_cast<unsigned>(cuscope_fiber->dynamic_shared_bytes);
}
}  // namespace special

}  // namespace cuscope_simt
