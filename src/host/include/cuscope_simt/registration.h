// Describes and runs a source's kernels. The compiler driver appends code to the source that uses these
// templates.
#pragma once
#pragma GCC system_header

#include <typeinfo>

#include "cuscope_simt/fiber.h"

// A kernel's stores can overwrite a copy of the Fiber pointer on the stack, but not a register. So the
// register's value also guards the frame: it is compared after each thread, which costs one machine
// instruction, where a constant costs two. A kernel would write neither value by accident.
#if CUSCOPE_FIBER_REGISTER
#define CUSCOPE_SELF cuscope_fiber
#define CUSCOPE_FRAME_GUARD reinterpret_cast<unsigned long>(cuscope_fiber)
#else
#define CUSCOPE_SELF self
#define CUSCOPE_FRAME_GUARD 0x8e5fb7d1c36d8205ul
#endif

#ifdef CUSCOPE_COUNTED
// The linker's names for the begin and the end of a section; null if there is no such section. The compiler
// driver adds the section to the assembly of an image that counts.
extern "C" {
extern const ::cuscope_simt::BlockCost __start_cuscope_costs[] CUSCOPE_HIDDEN __attribute__((weak));
extern const ::cuscope_simt::BlockCost __stop_cuscope_costs[] CUSCOPE_HIDDEN __attribute__((weak));
extern const ::cuscope_simt::LineCost __start_cuscope_lines[] CUSCOPE_HIDDEN __attribute__((weak));
extern const ::cuscope_simt::LineCost __stop_cuscope_lines[] CUSCOPE_HIDDEN __attribute__((weak));
extern const ::cuscope_simt::AccessSite __start_cuscope_accesses[] CUSCOPE_HIDDEN __attribute__((weak));
extern const ::cuscope_simt::AccessSite __stop_cuscope_accesses[] CUSCOPE_HIDDEN __attribute__((weak));
}
#endif

namespace cuscope_simt {

#ifdef CUSCOPE_COUNTED
constexpr const BlockCost* costs = __start_cuscope_costs;
constexpr const BlockCost* costs_end = __stop_cuscope_costs;
constexpr const LineCost* lines = __start_cuscope_lines;
constexpr const LineCost* lines_end = __stop_cuscope_lines;
constexpr const AccessSite* accesses = __start_cuscope_accesses;
constexpr const AccessSite* accesses_end = __stop_cuscope_accesses;
#else
constexpr const BlockCost* costs = nullptr;
constexpr const BlockCost* costs_end = nullptr;
constexpr const LineCost* lines = nullptr;
constexpr const LineCost* lines_end = nullptr;
constexpr const AccessSite* accesses = nullptr;
constexpr const AccessSite* accesses_end = nullptr;
#endif

// A separate function, so that the loop that may call it needs no preparation for the call.
CUSCOPE_UNCOUNTED __attribute__((noinline, cold, noreturn, no_sanitize("alignment"))) static void
damaged_frame() {
    fault(Fault::smashed_stack, nullptr, nullptr);
    __builtin_unreachable();
}

template <unsigned... n>
struct Sequence {};
// Uses the compilers' built-in sequences: a recursive template stops at 900 parameters.
template <unsigned count>
struct MakeSequence {
#ifdef __clang__
    template <class, unsigned... n>
    using Of = Sequence<n...>;
    using Type = __make_integer_seq<Of, unsigned, count>;
#else
    using Type = Sequence<__integer_pack(count)...>;
#endif
};

// The thing that is passed for a parameter: its value, or the address for a reference.
template <class T>
struct Passed {
    using Type = T;
    static constexpr bool is_rvalue = false;
    static CUSCOPE_OWN T& of(void* argument) { return *static_cast<T*>(argument); }
};
template <class T>
struct Passed<T&> {
    using Type = T*;
    static constexpr bool is_rvalue = false;
    static CUSCOPE_OWN T& of(void* argument) { return **static_cast<T**>(argument); }
};
template <class T>
struct Passed<T&&> {
    using Type = T*;
    static constexpr bool is_rvalue = true;
    static CUSCOPE_OWN T&& of(void* argument) { return static_cast<T&&>(**static_cast<T**>(argument)); }
};

template <class... Parameters>
struct Layouts {
    ParameterLayout list[sizeof...(Parameters) + 1] = {};
    constexpr Layouts() {
        const unsigned sizes[] = {sizeof(typename Passed<Parameters>::Type)..., 0};
        const unsigned alignments[] = {alignof(typename Passed<Parameters>::Type)..., 1};
        unsigned offset = 0;
        for (unsigned i = 0; i < sizeof...(Parameters); ++i) {
            offset = (offset + alignments[i] - 1) / alignments[i] * alignments[i];
            list[i] = {sizes[i], alignments[i], offset};
            offset += sizes[i];
        }
    }
};

// Not a fold expression: clang nests one level for each parameter, up to 256 levels.
template <class... Parameters>
constexpr bool takes_rvalue_reference() {
    const bool references[] = {Passed<Parameters>::is_rvalue..., false};
    for (const bool reference : references)
        if (reference) return true;
    return false;
}

// `waits`: a thread of this image may have to wait for another thread. Then other threads go on from
// *next_thread. `descends`: ImageFlags' lanes_descend.
template <auto kernel, bool waits, bool descends, class Type = decltype(kernel)>
struct Runner {
    static_assert(sizeof(Type) == 0, "a __global__ function must have a void return type");
};

template <auto kernel, bool waits, bool descends, class... Parameters>
struct Runner<kernel, waits, descends, void (*)(Parameters...)> {
    static_assert(!takes_rvalue_reference<Parameters...>(),
                  "a __global__ function cannot have a parameter with rvalue reference type");
    using Type = void (*)(Parameters...);
    static constexpr Layouts<Parameters...> layouts{};

    // The parameters are this function's own, so that no store of the kernel can change them. A kernel's
    // local arrays lie in the same frame. Compilers that protect frames place arrays of char above all other
    // arrays, and arrays above all other variables. So `guard` is the first thing that a kernel hits when it
    // writes past the end of an array; the counters of threads lie below.
    static CUSCOPE_OWN void threads([[maybe_unused]] Fiber* self, Parameters... parameters) {
        alignas(8) char guard[sizeof(unsigned long)];
        unsigned long& guard_word = *reinterpret_cast<unsigned long*>(guard);
        guard_word = CUSCOPE_FRAME_GUARD;
        unsigned* const next = CUSCOPE_SELF->next_thread;
        const unsigned count = CUSCOPE_SELF->thread_count;
        const unsigned width = CUSCOPE_SELF->block_dim.x, height = CUSCOPE_SELF->block_dim.y;
        unsigned started = *next, thread = 0, x = 0;
        const auto find_thread = [&]() CUSCOPE_CALLED {
            thread = thread_in_order(started, count, descends);
            x = thread % width;
            CUSCOPE_SELF->thread_index.y = thread / width % height;
            CUSCOPE_SELF->thread_index.z = thread / width / height;
        };
        find_thread();
        if (!waits) *next = count;
        // Checks for remaining threads only at the end of a row or a warp, and after other fibers have begun
        // threads.
        for (bool more = started < count; more;) {
            if (waits) *next = started + 1;
            CUSCOPE_SELF->linear_thread = thread;
            CUSCOPE_SELF->thread_index.x = x;
            // A fault report needs the current thread. So these stores must happen before the kernel's code.
            asm volatile(""
                         : "+m"(CUSCOPE_SELF->thread_index.x), "+m"(CUSCOPE_SELF->linear_thread),
                           "+m"(guard));
#if defined(CUSCOPE_COUNTED) && !defined(CUSCOPE_CHECKED)
            cuscope_begin_thread();
#endif
#ifdef CUSCOPE_COUNTED
            // As a part of this function, the kernel would not be counted.
            Type function = kernel;
            asm("" : "+r"(function));
            function(parameters...);
#else
            kernel(parameters...);
#endif
            asm volatile("" : "+m"(guard));
            if (__builtin_expect(guard_word != CUSCOPE_FRAME_GUARD, 0)) damaged_frame();
            ++started;
            if (waits && *next != started) {
                // Other fibers have begun threads in the meantime.
                started = *next;
                more = started < count;
                find_thread();
            } else if (descends) {
                if (thread % 32 == 0) {
                    more = started < count;
                    find_thread();
                } else {
                    --thread;
                    if (x-- == 0) {
                        x = width - 1;
                        if (CUSCOPE_SELF->thread_index.y-- == 0) {
                            CUSCOPE_SELF->thread_index.y = height - 1;
                            --CUSCOPE_SELF->thread_index.z;
                        }
                    }
                }
            } else {
                ++thread;
                if (++x == width) {
                    x = 0;
                    more = started < count;
                    if (++CUSCOPE_SELF->thread_index.y == height) {
                        CUSCOPE_SELF->thread_index.y = 0;
                        ++CUSCOPE_SELF->thread_index.z;
                    }
                }
            }
        }
        CUSCOPE_SELF->ended = 1;
    }

    template <unsigned... n>
    static CUSCOPE_OWN void unpack(Fiber* self, [[maybe_unused]] void** arguments, Sequence<n...>) {
        threads(self, Passed<Parameters>::of(arguments[n])...);
    }

    // Separate from `run`, so that the frame is checked when this function returns.
    static CUSCOPE_UNCOUNTED __attribute__((noinline, no_sanitize("alignment"))) void frame(
        Fiber* self, void** arguments) {
        unpack(self, arguments, typename MakeSequence<sizeof...(Parameters)>::Type());
    }

    // Does not return, because a kernel may have overwritten the return address.
    static CUSCOPE_UNCOUNTED __attribute__((no_sanitize("alignment"))) void run(Fiber* self,
                                                                                void** arguments) {
        cuscope_fiber = self;
#ifdef CUSCOPE_COUNTED
        cuscope_start_counting();
#endif
        frame(self, arguments);
        CUSCOPE_SELF->api->finish(CUSCOPE_SELF);
        __builtin_unreachable();
    }

    // `bounds`: two values of __launch_bounds__, then three of __cluster_dims__.
    static CUSCOPE_OWN KernelEntry entry(const char* name, const char* parameter_names,
                                         const unsigned (&bounds)[5], bool launches_graphs) {
        return {name,
                nullptr,
                typeid(void (*)(Parameters...)).name(),
                parameter_names,
                layouts.list,
                sizeof...(Parameters),
                bounds[0],
                bounds[1],
                {bounds[2], bounds[3], bounds[4]},
                0,
                &run,
                reinterpret_cast<const void*>(kernel),
                launches_graphs};
    }
};

template <auto kernel, bool waits, bool descends, class... Parameters>
struct Runner<kernel, waits, descends, void (*)(Parameters...) noexcept>
    : Runner<static_cast<void (*)(Parameters...)>(kernel), waits, descends> {};

}  // namespace cuscope_simt
