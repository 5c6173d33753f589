#include "host/simt/block.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "host/simt/grid.hpp"
#include "host/simt/recorder.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define CUSCOPE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUSCOPE_ASAN 1
#endif
#endif
#if defined(CUSCOPE_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// ThreadSanitizer is told nothing of the fibers: to it, one OS thread's fibers are one thread, and that is
// how they run.

// The C library's function for thread-local variables of a loaded object.
struct TlsIndex {
    std::size_t module, offset;
};
extern "C" void* __tls_get_addr(TlsIndex* index);

namespace cuscope::simt {
namespace {

// What shared memory holds when a block starts: not a number, minus one, and no valid address.
constexpr int shared_pattern = 0xff;
constexpr std::size_t shared_alignment = 1024;

std::size_t align_up(std::size_t value, std::size_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

}  // namespace
}  // namespace cuscope::simt

namespace cuscope_simt {

using cuscope::simt::Grid;
using cuscope::simt::GuardedMemory;

Block::Block() : os_thread(pthread_self()), fault_scope_(&target) {
    target.resume = &host_.context;
#if defined(CUSCOPE_ASAN)
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void* begin = nullptr;
        pthread_attr_getstack(&attributes, &begin, &host_.stack_bytes);
        host_.stack_begin = static_cast<char*>(begin);
        pthread_attr_destroy(&attributes);
    }
#endif
}

Block::~Block() = default;

Block& Block::of_this_thread() {
    // On the heap: an extension has little room among the thread-local variables that signal handlers need.
    struct Owner {
        Block* const block = new Block;
        ~Owner() { delete block; }
    };
    thread_local const Owner owner;
    return *owner.block;
}

void Block::attach(Grid& its_grid) {
    grid = &its_grid;
    const cuscope::simt::Launch& launch = grid->launch();
    const KernelEntry& kernel = *launch.kernel;
    kernel_ = kernel.run;
    arguments_ = grid->arguments();
    thread_count_ = launch.block.x * launch.block.y * launch.block.z;
    if (warps_.size() * 32 < thread_count_) warps_.resize((thread_count_ + 31) / 32);
    if (!stacks_.empty() && stacks_.front().bytes() < launch.stack_bytes) {
        strands_.clear();
        stacks_.clear();
    }

    static_shared_bytes_ = 0;
    if (kernel.static_shared_bytes != 0 && grid->facts().tls_bytes != 0) {
        TlsIndex index{grid->facts().tls_module, 0};
        static_shared_ = static_cast<char*>(__tls_get_addr(&index));
        static_shared_bytes_ = grid->facts().tls_bytes;
    }
    char* dynamic = nullptr;
    const std::size_t bytes = launch.dynamic_shared_bytes;
    if (bytes != 0) {
        // The array ends where the guard begins.
        const std::size_t needed = cuscope::simt::align_up(bytes, cuscope::simt::shared_alignment);
        if (dynamic_shared_.bytes() < needed) dynamic_shared_ = GuardedMemory(needed, true);
        if (dynamic_shared_) dynamic = dynamic_shared_.end() - needed;
    }

    prototype_.thread_count = thread_count_;
    prototype_.static_shared = static_shared_bytes_ != 0 ? static_shared_ : nullptr;
    prototype_.block_dim = {launch.block.x, launch.block.y, launch.block.z};
    prototype_.grid_dim = {launch.grid.x, launch.grid.y, launch.grid.z};
    prototype_.multiprocessor_count = launch.multiprocessor_count;
    prototype_.next_thread = &next_thread_;
    prototype_.dynamic_shared = dynamic;
    prototype_.dynamic_shared_bytes = bytes;
    prototype_.is_cooperative = launch.cooperative;
    prototype_.cluster_dim = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
    prototype_.api = &cuscope::simt::engine_api;
    prototype_.block = this;
    if (launch.counting) attach_recorder();
}

void Block::detach() {
    if (recorder_) detach_recorder();
    grid = nullptr;
}

bool Block::run(std::uint64_t index, cuscope::simt::Failure* failure) {
    const Index3& grid_dim = prototype_.grid_dim;
    const Index3& cluster_dim = prototype_.cluster_dim;
    if (grid->has_clusters()) {
        // The blocks of a cluster follow each other.
        const unsigned size = cluster_dim.x * cluster_dim.y * cluster_dim.z;
        const auto rank = static_cast<unsigned>(index % size);
        const std::uint64_t number = index / size;
        const unsigned wide = grid_dim.x / cluster_dim.x, high = grid_dim.y / cluster_dim.y;
        prototype_.block_index = {static_cast<unsigned>(number % wide) * cluster_dim.x + rank % cluster_dim.x,
                                  static_cast<unsigned>(number / wide % high) * cluster_dim.y +
                                      rank / cluster_dim.x % cluster_dim.y,
                                  static_cast<unsigned>(number / wide / high) * cluster_dim.z +
                                      rank / cluster_dim.x / cluster_dim.y};
    } else if (grid_dim.y == 1 && grid_dim.z == 1) {
        prototype_.block_index = {static_cast<unsigned>(index), 0, 0};
    } else {
        prototype_.block_index = {static_cast<unsigned>(index % grid_dim.x),
                                  static_cast<unsigned>(index / grid_dim.x % grid_dim.y),
                                  static_cast<unsigned>(index / grid_dim.x / grid_dim.y)};
    }
    prototype_.multiprocessor = static_cast<unsigned>(index % prototype_.multiprocessor_count);
    if (static_shared_bytes_ != 0)
        std::memset(static_shared_, cuscope::simt::shared_pattern, static_shared_bytes_);
    if (prototype_.dynamic_shared != nullptr && prototype_.dynamic_shared_bytes != 0)
        std::memset(prototype_.dynamic_shared, cuscope::simt::shared_pattern,
                    prototype_.dynamic_shared_bytes);
    next_thread_ = hint_thread_ = 0;
    used_ = live_ = 0;
    idle_hints_ = 0;
    latest_ns = barrier_ns_ = released_ns_ = 0;
    triggered_ns = -1;
    phase_.expected = thread_count_;
    phase_.arrived = arrived_at_[1] = arrived_at_[2] = exited_ = 0;
    target.signal = 0;
    if (grid->has_clusters()) grid->enter_cluster(*this, index);

    if (Strand* first = fresh(); first != &host_) {
        target.armed.store(true, std::memory_order_relaxed);
        switch_to(&host_, first);
        target.armed.store(false, std::memory_order_relaxed);
        if (live_ == 0) {
            if (cluster != nullptr) grid->leave_cluster(*this, index);
            if (recorder_) recorder_->meet_all();
            return true;
        }
    }
    cluster = nullptr;
    if (target.signal != 0) describe_signal();
    *failure = std::move(failure_);
    failure_ = {};
    reset_strands();
    if (recorder_) recorder_->forget();
    return false;
}

CUSCOPE_ON_FIBER void Block::strand_main(void* argument) {
    Strand* self = static_cast<Strand*>(argument);
#if defined(CUSCOPE_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    for (;;) {
        Block& block = *self->block;
        block.kernel_(self, block.arguments_);
        self->wait = Strand::Wait::ended;
        --block.live_;
        block.idle_hints_ = 0;
        block.switch_to(self, block.next());
    }
}

CUSCOPE_ON_FIBER void Block::switch_to(Strand* from, Strand* to) {
    if (from == to) return;
    running_ = to;
#if defined(CUSCOPE_ASAN)
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack_begin, to->stack_bytes);
#endif
    cuscope::simt::switch_context(from->context, to->context);
#if defined(CUSCOPE_ASAN)
    // A fault came here without a word.
    if (from == &host_ && target.signal != 0)
        __sanitizer_start_switch_fiber(nullptr, host_.stack_begin, host_.stack_bytes);
    __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

Block::Strand* Block::next() {
    if (!ready_.empty()) return ready_.pop();
    if (next_thread_ < thread_count_) return fresh();
    return idle();
}

Block::Strand* Block::fresh() {
    if (used_ == strands_.size() && !add_strand()) {
        failure_ = {Status::memory_allocation, "no memory for the stack of a thread that has to wait"};
        return &host_;
    }
    Strand* strand = strands_[used_++];
    static_cast<Fiber&>(*strand) = prototype_;
    strand->wait = Strand::Wait::none;
    strand->hint_thread = ~0u;
    strand->clock.forget();
    ++live_;
    idle_hints_ = 0;
    return strand;
}

// Nothing can run: every thread has ended, or those that have not wait for each other.
Block::Strand* Block::idle() {
    if (live_ == 0) return &host_;
    if (release_parked() || release_active_mask()) return ready_.pop();
    if (count_exited()) {
        if (!grid->wait_for_others(*this)) return &host_;
        release_parked();
        return ready_.pop();
    }
    describe_deadlock();
    return &host_;
}

bool Block::add_strand() {
    GuardedMemory stack(grid->launch().stack_bytes, false);
    if (!stack) return false;
    // Tops of stacks at the same place in their pages would all fall into the same few sets of the caches.
    const std::size_t colour = strands_.size() * 5 % 32 * 128;
    const std::size_t offset = (stack.bytes() - sizeof(Strand) - colour) / 64 * 64;
    Strand* strand = new (stack.begin() + offset) Strand;
    strand->stack_begin = stack.begin();
    strand->stack_bytes = offset;
    strands_.reserve(strands_.size() + 1);
    stacks_.push_back(std::move(stack));
    strands_.push_back(strand);
    cuscope::simt::make_context(strand->context, strand->stack_begin, strand->stack_begin + offset,
                                &strand_main, strand);
    return true;
}

// Abandons whatever the fibers of a block were doing.
void Block::reset_strands() {
    for (unsigned i = 0; i < used_; ++i) {
        Strand* strand = strands_[i];
#if defined(CUSCOPE_ASAN)
        __asan_unpoison_memory_region(strand->stack_begin, strand->stack_bytes);
        strand->fake_stack = nullptr;
#endif
        cuscope::simt::make_context(strand->context, strand->stack_begin,
                                    strand->stack_begin + strand->stack_bytes, &strand_main, strand);
    }
    used_ = live_ = 0;
    ready_.clear();
    at_barrier_.clear();
    parked_.clear();
    groups_.clear();
    arrived_ = predicates_ = 0;
    mismatch_ = false;
    for (Warp& warp : warps_) warp.arrived = 0;
}

CUSCOPE_ON_FIBER void Block::leave(Strand* self) {
    switch_to(self, &host_);
    __builtin_unreachable();
}

CUSCOPE_ON_FIBER int Block::barrier(Strand* self, BarrierKind kind, int predicate, const Site* site) {
    if (arrived_ == 0)
        barrier_site_ = site;
    else if (site != barrier_site_ && !cuscope::simt::same_site(site, barrier_site_))
        mismatch_ = true;
    self->site = site;
    self->wait = Strand::Wait::barrier;
    predicates_ += predicate != 0;
    if (latest_ns != 0) barrier_ns_ = std::max(barrier_ns_, self->now());
    at_barrier_.push(self);
    if (++arrived_ == thread_count_) {
        if (mismatch_) {
            describe_deadlock();
            leave(self);
        }
        release_barrier();
        if (grid->must_leave()) leave(self);
    }
    switch_to(self, next());
    self->wait = Strand::Wait::none;
    if (released_ns_ != 0) self->clock.set(self->linear_thread, released_ns_);
    switch (kind) {
        case BarrierKind::count:
            return static_cast<int>(released_predicates_);
        case BarrierKind::all:
            return released_predicates_ == thread_count_;
        case BarrierKind::any:
            return released_predicates_ != 0;
        case BarrierKind::plain:
            break;
    }
    return 0;
}

void Block::release_barrier() {
    released_predicates_ = predicates_;
    released_ns_ = barrier_ns_;
    arrived_ = predicates_ = 0;
    idle_hints_ = 0;
    ready_.append(at_barrier_);
    if (recorder_) recorder_->meet_all();
}

CUSCOPE_ON_FIBER void Block::spin(Strand* self) {
    self->spin_count = 0;
    if (grid->must_leave()) leave(self);
    // Many operations of one thread are needed: many threads with a few each do not wait for anything.
    if (self->hint_thread != self->linear_thread) {
        self->hint_thread = self->linear_thread;
        return;
    }
    if (next_thread_ != hint_thread_) {
        hint_thread_ = next_thread_;
        idle_hints_ = 0;
    }
    if (next_thread_ < thread_count_) {
        ready_.push(self);
        switch_to(self, fresh());
    } else if (!ready_.empty()) {
        ready_.push(self);
        switch_to(self, ready_.pop());
    }
    if (++idle_hints_ > live_) {
        idle_hints_ = 0;
        release_parked();
        grid->let_others_run(*this);
        if (grid->must_leave()) leave(self);
    }
}

CUSCOPE_ON_FIBER std::int64_t Block::read_clock(Strand* self, const void* call_site) {
    if (grid->must_leave()) leave(self);
    const std::int64_t now = self->clock.read(self->linear_thread, call_site, spin_profile);
    latest_ns = std::max(latest_ns, now);
    return now;
}

CUSCOPE_ON_FIBER void Block::sleep(Strand* self, unsigned nanoseconds) {
    const std::int64_t now = self->now() + nanoseconds;
    self->clock.set(self->linear_thread, now);
    latest_ns = std::max(latest_ns, now);
    self->spin_count += spin_limit / 8;
    if (self->spin_count >= spin_limit) spin(self);
}

void Block::print(const char* text, std::size_t bytes) {
    if (printed.size() + bytes <= Grid::print_limit) printed.append(text, bytes);
}

void Block::trigger(Strand* self) {
    const std::int64_t now = self->now();
    triggered_ns = triggered_ns < 0 ? now : std::min(triggered_ns, now);
}

// The kernels before it are done when this one runs: only its clock has to come to when they were.
void Block::wait_for_primary(Strand* self) {
    const cuscope::simt::Launch& launch = grid->launch();
    const std::int64_t ended = launch.primary_ended_ns - launch.start_ns;
    if (ended <= self->now()) return;
    self->clock.set(self->linear_thread, ended);
    latest_ns = std::max(latest_ns, ended);
}

}  // namespace cuscope_simt
