// What the compiler driver appends to a source uses this to describe and to run its kernels.
#pragma once
#pragma GCC system_header

#include <typeinfo>

#include "cuscope_simt/fiber.h"

namespace cuscope_simt {

template <unsigned... n>
struct Sequence {};
template <unsigned count, unsigned... n>
struct MakeSequence : MakeSequence<count - 1, count - 1, n...> {};
template <unsigned... n>
struct MakeSequence<0, n...> {
    using Type = Sequence<n...>;
};

template <class T>
struct IsReference {
    static constexpr bool value = false;
};
template <class T>
struct IsReference<T&> {
    static constexpr bool value = true;
};
template <class T>
struct IsReference<T&&> {
    static constexpr bool value = true;
};

template <class... P>
struct Layouts {
    ParameterLayout list[sizeof...(P) + 1] = {};
    constexpr Layouts() {
        const unsigned sizes[] = {sizeof(P)..., 0}, alignments[] = {alignof(P)..., 1};
        unsigned offset = 0;
        for (unsigned i = 0; i < sizeof...(P); ++i) {
            offset = (offset + alignments[i] - 1) / alignments[i] * alignments[i];
            list[i] = {sizes[i], alignments[i], offset};
            offset += sizes[i];
        }
    }
};

// `waits`: some thread of this image may have to wait for another one, which then goes on from *next_thread.
template <auto kernel, bool waits, class Type = decltype(kernel)>
struct Runner {
    static_assert(sizeof(Type) == 0, "a __global__ function must have a void return type");
};

template <auto kernel, bool waits, class... P>
struct Runner<kernel, waits, void (*)(P...)> {
    static_assert((!IsReference<P>::value && ...), "a __global__ function takes no parameter by reference");
    using Type = void (*)(P...);
    static constexpr Layouts<P...> layouts{};

    // The parameters are this function's own, so that no store of the kernel can change them.
    static CUSCOPE_OWN void threads(Fiber* self, P... parameters) {
        unsigned* const next = self->next_thread;
        const unsigned count = self->thread_count;
        const unsigned width = self->block_dim.x, height = self->block_dim.y;
        unsigned thread = *next;
        self->thread_index = {thread % width, thread / width % height, thread / width / height};
        unsigned x = self->thread_index.x;
        if (!waits) *next = count;
        while (thread < count) {
            if (waits) *next = thread + 1;
            self->linear_thread = thread;
            self->thread_index.x = x;
            // Of a fault it must be known which thread it was: what the kernel does comes after these.
            asm volatile("" : "+m"(self->thread_index.x), "+m"(self->linear_thread));
#ifdef CUSCOPE_COUNTED
            // As part of this function it would not be counted.
            Type function = kernel;
            asm("" : "+r"(function));
            function(parameters...);
#else
            kernel(parameters...);
#endif
            ++thread;
            ++x;
            if (waits && *next != thread) {
                // Threads that other fibers have begun meanwhile.
                thread = *next;
                x = thread % width;
                self->thread_index.y = thread / width % height;
                self->thread_index.z = thread / width / height;
            } else if (x == width) {
                x = 0;
                if (++self->thread_index.y == height) {
                    self->thread_index.y = 0;
                    ++self->thread_index.z;
                }
            }
        }
    }

    template <unsigned... n>
    static CUSCOPE_OWN void unpack(Fiber* self, [[maybe_unused]] void** arguments, Sequence<n...>) {
        threads(self, *static_cast<P*>(arguments[n])...);
    }

    static CUSCOPE_UNCOUNTED __attribute__((no_sanitize("alignment"))) void run(Fiber* self,
                                                                                void** arguments) {
        Fiber* const outer = cuscope_fiber;
        cuscope_fiber = self;
#ifdef CUSCOPE_COUNTED
        cuscope_start_counting();
#endif
        unpack(self, arguments, typename MakeSequence<sizeof...(P)>::Type());
        cuscope_fiber = outer;
    }

    // `bounds`: of __launch_bounds__ two, of __cluster_dims__ three.
    static KernelEntry entry(const char* name, const char* parameter_names, const unsigned (&bounds)[5],
                             bool launches_graphs) {
        return {name,
                nullptr,
                typeid(void (*)(P...)).name(),
                parameter_names,
                layouts.list,
                sizeof...(P),
                bounds[0],
                bounds[1],
                {bounds[2], bounds[3], bounds[4]},
                0,
                &run,
                reinterpret_cast<const void*>(kernel),
                launches_graphs};
    }
};

template <auto kernel, bool waits, class... P>
struct Runner<kernel, waits, void (*)(P...) noexcept> : Runner<static_cast<void (*)(P...)>(kernel), waits> {};

}  // namespace cuscope_simt
