#include "host/executor/executor.hpp"

#include <string_view>

#include "cuscope_simt/runtime_types.h"
#include "host/checking/launch_check.hpp"
#include "host/counting/borrowed_variables.hpp"
#include "host/executor/grid.hpp"
#include "runtime/order/notes.hpp"

// The status names that kernels use must have the runtime's numbers.
#define CUSCOPE_STATUS(number, enumerator, name, text) static_assert(name == (number));
#include "runtime/status_codes.inc"
#undef CUSCOPE_STATUS

namespace cuscope::simt {
namespace {

using namespace cuscope_simt;

// The strand of a fiber that calls the engine. The engine may take locks and allocate memory, so it must not
// hit the end of the stack.
CUSCOPE_ON_FIBER __attribute__((always_inline)) inline Strand* strand(Fiber* self) {
    auto* found = static_cast<Strand*>(self);
    if (__builtin_expect(static_cast<char*>(__builtin_frame_address(0)) < found->kernel_floor, 0))
        self->block->stack_full(found, __builtin_return_address(0));
    return found;
}

CUSCOPE_ON_FIBER int api_barrier(Fiber* self, BarrierKind kind, int predicate, const Site* site) {
    return self->block->barrier(strand(self), kind, predicate, site);
}

CUSCOPE_ON_FIBER unsigned long long api_warp(Fiber* self, WarpKind kind, unsigned mask,
                                             unsigned long long value, int operand, int* extra,
                                             const Site* site) {
    return self->block->warp(strand(self), kind, mask, value, operand, extra, site);
}

CUSCOPE_ON_FIBER unsigned api_active_mask(Fiber* self, const Site* site) {
    return self->block->active_mask(strand(self), site);
}

CUSCOPE_ON_FIBER std::int64_t device_time(Fiber* self, const void* call_site) {
    return self->block->grid->launch().start_ns + self->block->read_clock(strand(self), call_site);
}

CUSCOPE_ON_FIBER unsigned long long api_clock_cycles(Fiber* self) {
    const std::int64_t time = device_time(self, __builtin_return_address(0));
    const std::int64_t khz = self->block->grid->launch().clock_khz;
    return static_cast<unsigned long long>(time / 1'000'000 * khz + time % 1'000'000 * khz / 1'000'000);
}

CUSCOPE_ON_FIBER unsigned long long api_global_timer(Fiber* self) {
    return static_cast<unsigned long long>(device_time(self, __builtin_return_address(0)));
}

CUSCOPE_ON_FIBER void api_nanosleep(Fiber* self, unsigned nanoseconds) {
    self->block->sleep(strand(self), nanoseconds);
}

CUSCOPE_ON_FIBER void api_spin_hint(Fiber* self) { self->block->spin(strand(self)); }

CUSCOPE_ON_FIBER int api_print(Fiber* self, const char* text, unsigned long bytes) {
    const Strand* its = strand(self);
    its->block->print(its, text, bytes);
    return static_cast<int>(bytes);
}

CUSCOPE_ON_FIBER void api_fault(Fiber* self, Fault kind, const char* message, const Site* site) {
    self->block->fault(strand(self), kind, message, site, __builtin_return_address(0));
}

CUSCOPE_ON_FIBER const unsigned long long* api_gather(Fiber* self, unsigned first, unsigned count,
                                                      unsigned long long value, const Site* site) {
    return self->block->gather(strand(self), first, count, value, site);
}

CUSCOPE_ON_FIBER unsigned api_arrive(Fiber* self, Scope scope) { return strand(self)->block->arrive(scope); }

CUSCOPE_ON_FIBER void api_wait(Fiber* self, Scope scope, unsigned token, const Site* site) {
    self->block->wait(strand(self), scope, token, site);
}

CUSCOPE_ON_FIBER void* api_map_shared(Fiber* self, const void* address, unsigned rank, const Site* site) {
    return self->block->map_shared(strand(self), address, rank, site);
}

CUSCOPE_ON_FIBER int api_shared_rank(Fiber* self, const void* address) {
    return self->block->shared_rank(address);
}

CUSCOPE_ON_FIBER void api_wait_word(Fiber* self, const unsigned* word, unsigned value, const Site* site) {
    self->block->wait_word(strand(self), word, value, site);
}

CUSCOPE_ON_FIBER void api_named_barrier(Fiber* self, unsigned id, unsigned count, bool waits,
                                        const Site* site) {
    self->block->named_barrier(strand(self), id, count, waits, site);
}

CUSCOPE_ON_FIBER void api_trigger_dependents(Fiber* self) { self->block->trigger(strand(self)); }

CUSCOPE_ON_FIBER void api_wait_for_primary(Fiber* self) { self->block->wait_for_primary(strand(self)); }

CUSCOPE_ON_FIBER void* api_heap_allocate(Fiber* self, unsigned long bytes) {
    const auto& heap = strand(self)->block->grid->launch().heap;
    return heap ? heap->allocate(bytes) : nullptr;
}

CUSCOPE_ON_FIBER void api_heap_free(Fiber* self, void* address, const Site* site) {
    const auto& heap = strand(self)->block->grid->launch().heap;
    if (address == nullptr || (heap && heap->free(address))) return;
    // `delete` may get memory that a library allocated.
    if (site == nullptr && !(heap && heap->holds(address))) return;
    self->block->fault(strand(self), Fault::trap,
                       "free() of an address that no kernel's malloc() gave, or that was freed before", site,
                       __builtin_return_address(0));
}

CUSCOPE_ON_FIBER int api_launch_graph(Fiber* self, void* exec, void* stream) {
    const auto& graphs = strand(self)->block->grid->launch().graphs;
    const Status status = graphs ? graphs->launch(exec, stream) : Status::not_supported;
    if (status == Status::illegal_address)
        self->block->fault(strand(self), Fault::no_graph, nullptr, nullptr, __builtin_return_address(0));
    return static_cast<int>(status);
}

CUSCOPE_ON_FIBER void* api_current_graph(Fiber* self) {
    const auto& graphs = self->block->grid->launch().graphs;
    return graphs ? graphs->current() : nullptr;
}

CUSCOPE_ON_FIBER void api_access(Fiber* self, const void* address, unsigned bytes, Access access,
                                 const void* instruction) {
    self->block->access(strand(self), address, bytes, access, instruction);
}

CUSCOPE_ON_FIBER void api_check_access(Fiber* self, const void* address, unsigned long bytes, Access access,
                                       const void* instruction) {
    self->block->check_access(strand(self), address, bytes, access, instruction);
}

CUSCOPE_ON_FIBER void api_check_synchronization(Fiber* self, Synchronization kind) {
    self->block->check_synchronization(strand(self), kind);
}

CUSCOPE_ON_FIBER void api_check_index(Fiber* self, const char* array, long long index,
                                      const void* instruction) {
    self->block->check_index(strand(self), array, index, instruction);
}

CUSCOPE_ON_FIBER void api_step(Fiber* self, const void* instruction) {
    self->block->step(strand(self), instruction);
}

CUSCOPE_ON_FIBER void api_access_at(Fiber* self, const void* address, unsigned entry) {
    self->block->access_at(strand(self), address, entry);
}

CUSCOPE_ON_FIBER void api_step_at(Fiber* self, unsigned entry) { self->block->step_at(strand(self), entry); }

CUSCOPE_ON_FIBER void api_begin_warp(Fiber* self) { self->block->begin_warp(strand(self)); }

// Not instrumented. Before a call that does not return, AddressSanitizer cleans the thread's stack; but this
// code runs on a fiber's stack.
CUSCOPE_ON_FIBER __attribute__((no_sanitize("address"))) void api_finish(Fiber* self) {
    self->block->finish(static_cast<Strand*>(self));
}

}  // namespace

constexpr cuscope_simt::Api engine_api = {
    api_barrier,
    api_warp,
    api_active_mask,
    api_clock_cycles,
    api_global_timer,
    api_nanosleep,
    api_spin_hint,
    api_print,
    api_fault,
    api_gather,
    api_arrive,
    api_wait,
    api_map_shared,
    api_shared_rank,
    api_wait_word,
    api_trigger_dependents,
    api_wait_for_primary,
    api_heap_allocate,
    api_heap_free,
    api_launch_graph,
    api_current_graph,
    api_access,
    api_step,
    api_finish,
    api_named_barrier,
    api_check_access,
    api_check_synchronization,
    api_check_index,
    api_access_at,
    api_step_at,
    api_begin_warp,
};

Outcome initialize(const std::shared_ptr<Image>& image, const std::shared_ptr<Heap>& heap,
                   RunControl& control) {
    const void* const* const list[] = {image->initializers_begin(), image->initializers_end()};
    if (list[0] == list[1]) return {};
    constexpr unsigned pointer = sizeof(void*);
    static const cuscope_simt::ParameterLayout layouts[] = {{pointer, pointer, 0},
                                                            {pointer, pointer, pointer}};
    cuscope_simt::KernelEntry entry{};
    entry.name = "initialisers";
    entry.parameters = layouts;
    entry.parameter_count = 2;
    entry.run = image->table().initialize;
    Launch launch;
    launch.image = image;
    launch.kernel = &entry;
    launch.heap = heap;
    const auto* bytes = reinterpret_cast<const std::byte*>(list);
    launch.arguments.assign(bytes, bytes + sizeof list);
    Outcome outcome = Grid(launch, control).run();
    constexpr std::string_view thread = "thread (0,0,0): ";
    if (const std::size_t at = outcome.detail.find(thread); at != std::string::npos)
        outcome.detail.erase(0, at + thread.size());
    return outcome;
}

static Outcome run_checked(const Launch& launch, RunControl& control) {
    if (!launch.check->begin(launch)) {
        Launch plain = launch;
        plain.image = launch.plain;
        plain.kernel = launch.plain->kernel(launch.kernel->lowered);
        plain.check = nullptr;
        launch.check->count_as_written();
        count_unchecked_launch(launch.kernel->name, "another kernel that is checked was waiting meanwhile");
        order::launch_ran(launch.token, {}, false, false);
        return Grid(plain, control).run();
    }
    const BorrowedVariables variables(*launch.plain, *launch.image);
    Outcome outcome = Grid(launch, control).run();
    variables.put_back();
    launch.check->end(outcome);
    return outcome;
}

Outcome run(const Launch& launch, RunControl& control) {
    for (const auto& shadow : launch.written) shadow->mark_all_written();
    if (launch.check) return run_checked(launch, control);
    if (!launch.counting) {
        if (!launch.sampling) return Grid(launch, control).run();
        // Only constants: kernels with variables that they may change are not sampled.
        const BorrowedVariables constants(*launch.image, launch.sampling->image());
        return Grid(launch, control).run();
    }
    const BorrowedVariables variables(*launch.plain, *launch.image);
    Outcome outcome = Grid(launch, control).run();
    variables.put_back();
    return outcome;
}

}  // namespace cuscope::simt
