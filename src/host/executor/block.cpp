#include "host/executor/block.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "host/checking/block_check.hpp"
#include "host/counting/recorder.hpp"
#include "host/executor/asan.hpp"
#include "host/executor/grid.hpp"

// ThreadSanitizer is not told about the fibers. It sees all fibers of an OS thread as that one thread, and
// they do run one after the other on it.

namespace cuscope::simt {
namespace {

// Stack space for the engine's own functions. Kernels get this much in addition to their stack limit.
constexpr std::size_t engine_reserve = 32 << 10;
// Bytes above the frames of a fiber, which no correct code writes. A check within one cache line costs next
// to nothing; the margins of shared memory are no larger for the same reason.
constexpr std::size_t canary_bytes = 16;
constexpr int canary_pattern = 0xc5;
constexpr unsigned strands_per_chunk = 32;

}  // namespace
}  // namespace cuscope::simt

namespace cuscope_simt {

using cuscope::simt::Grid;
using cuscope::simt::GuardedMemory;

namespace {

void fill_canary(char* place) {
    std::memset(place, cuscope::simt::canary_pattern, cuscope::simt::canary_bytes);
}

#if defined(CUSCOPE_ASAN)
std::size_t stack_size(const cuscope::simt::Strand* strand) {
    return static_cast<std::size_t>(strand->stack_end - strand->memory_begin);
}
#endif

bool canary_lives(const char* place) {
    std::uint64_t words[cuscope::simt::canary_bytes / sizeof(std::uint64_t)], pattern = 0, difference = 0;
    std::memcpy(words, place, sizeof words);
    std::memset(&pattern, cuscope::simt::canary_pattern, sizeof pattern);
    for (const std::uint64_t word : words) difference |= word ^ pattern;
    return difference == 0;
}

}  // namespace

Block::Block() : os_thread(pthread_self()), fault_scope_(&target) {
    target.resume = &host_.context;
#if defined(CUSCOPE_ASAN)
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void* begin = nullptr;
        std::size_t bytes = 0;
        pthread_attr_getstack(&attributes, &begin, &bytes);
        host_.memory_begin = static_cast<char*>(begin);
        host_.stack_end = host_.memory_begin + bytes;
        pthread_attr_destroy(&attributes);
    }
#endif
}

Block::~Block() = default;

Block& Block::of_this_thread() {
    // On the heap: an extension module has little thread-local storage, and signal handlers need it.
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
    arguments_ = grid->arguments();
    thread_count_ = launch.block.x * launch.block.y * launch.block.z;
    lanes_descend_ = (launch.image->table().flags & lanes_descend) != 0;
    order_flip_ = lanes_descend_ ? 31u : 0u;
    if (warps_.size() * 32 < thread_count_) warps_.resize((thread_count_ + 31) / 32);
    ready_.make_room(thread_count_, &host_);
    at_barrier_.make_room(thread_count_, &host_);
    if (!stacks_.empty() && stacks_.front().bytes() < launch.stack_bytes + cuscope::simt::engine_reserve) {
        strands_.clear();
        strand_chunks_.clear();
        stacks_.clear();
    }

    use_image(*launch.image, *launch.kernel);
    place_dynamic_shared();
    prototype_.thread_count = thread_count_;
    prototype_.block_dim = {launch.block.x, launch.block.y, launch.block.z};
    prototype_.grid_dim = {launch.grid.x, launch.grid.y, launch.grid.z};
    prototype_.multiprocessor_count = launch.multiprocessor_count;
    prototype_.next_thread = &next_thread_;
    prototype_.is_cooperative = launch.cooperative;
    prototype_.cluster_dim = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
    prototype_.api = &cuscope::simt::engine_api;
    prototype_.block = this;
    prototype_.check = nullptr;
    prototype_.count = nullptr;
    if (launch.counting)
        attach_recorder();
    else
        make_idle();
    if (launch.check) attach_check();
}

void Block::use_image(const cuscope::simt::Image& image, const KernelEntry& kernel) {
    image_ = &image;
    entry_ = &kernel;
    kernel_ = kernel.run;
    const cuscope::simt::ImageFacts& facts = image.facts();
    target.interruptible_begin.store(facts.code_begin, std::memory_order_relaxed);
    target.interruptible_end.store(facts.code_end, std::memory_order_relaxed);
    place_static_shared();
}

void Block::detach() {
    if (recorder_) detach_recorder();
    check_.reset();
    grid = nullptr;
}

bool Block::run(std::uint64_t index, cuscope::simt::Failure* failure) {
    const Index3& grid_dim = prototype_.grid_dim;
    const Index3& cluster_dim = prototype_.cluster_dim;
    if (grid->has_clusters()) {
        // Blocks of a cluster have consecutive indices.
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
    fill_shared();
    next_thread_ = hint_thread_ = 0;
    hints_ = 0;
    used_ = live_ = 0;
    idle_hints_ = 0;
    latest_ns = barrier_ns_ = 0;
    triggered_ns = -1;
    phase_.expected = thread_count_;
    for (cuscope::simt::Phase& phase : named_) phase.arrived = 0;
    phase_.arrived = arrived_at_[1] = arrived_at_[2] = exited_ = 0;
    target.signal = 0;
    if (grid->has_clusters()) grid->enter_cluster(*this, index);
    if (recorder_) recorder_->begin_block(index);
    if (check_) check_->begin_block(index);

    if (Strand* first = fresh(); first != &host_) {
        target.armed.store(true, std::memory_order_relaxed);
        switch_to(&host_, first);
        target.armed.store(false, std::memory_order_relaxed);
        if (live_ == 0 && shared_is_intact()) {
            if (cluster != nullptr) grid->leave_cluster(*this, index);
            if (recorder_) recorder_->meet_all();
            if (check_) check_->end_block();
            return true;
        }
    }
    cluster = nullptr;
    if (target.signal != 0) describe_signal();
    *failure = std::move(failure_);
    failure_ = {};
    reset_strands();
    if (recorder_) recorder_->forget();
    if (check_) check_->end_block();
    return false;
}

CUSCOPE_ON_FIBER void Block::strand_main(void* argument) {
    Strand* self = static_cast<Strand*>(argument);
#if defined(CUSCOPE_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    self->block->kernel_(self, self->block->arguments_);
    __builtin_trap();
}

// The fiber's frames and registers are not read any more: a faulty kernel may have changed all of them.
CUSCOPE_ON_FIBER void Block::finish(Strand* self) {
    if (!canary_lives(self->stack_end)) fault(self, Fault::smashed_stack, nullptr, nullptr, nullptr);
    self->wait = Strand::Wait::ended;
    --live_;
    idle_hints_ = 0;
    Strand* const to = next();
    running_ = to;
    to->wait = Strand::Wait::none;
#if defined(CUSCOPE_ASAN)
    self->last_frame = static_cast<char*>(__builtin_frame_address(0));
    __sanitizer_start_switch_fiber(nullptr, to->memory_begin, stack_size(to));
#endif
    cuscope::simt::jump_to_context(self->context, to->context);
    __builtin_unreachable();
}

CUSCOPE_ON_FIBER void Block::stack_full(Strand* self, const void* caller) {
    target.code = SEGV_ACCERR;
    target.address = self->memory_begin - 1;
    target.stack = self->memory_begin;
    target.instruction = static_cast<const char*>(caller) - 1;
    target.is_write = true;
    target.signal = SIGSEGV;
    // Like the handler of a fault: `running_` goes on naming this thread.
    cuscope::simt::switch_context(self->context, host_.context);
    __builtin_unreachable();
}

#if defined(CUSCOPE_ASAN)
CUSCOPE_ON_FIBER int Block::switch_to(Strand* from, Strand* to) {
    if (from == to) return 0;
    running_ = to;
    to->wait = Strand::Wait::none;
    __sanitizer_start_switch_fiber(&from->fake_stack, to->memory_begin, stack_size(to));
    cuscope::simt::switch_context(from->context, to->context);
    // A fault switched here without telling AddressSanitizer.
    if (from == &host_ && target.signal != 0)
        __sanitizer_start_switch_fiber(nullptr, host_.memory_begin, stack_size(&host_));
    __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
    return 0;
}

CUSCOPE_ON_FIBER int Block::jump_to(Strand* from, Strand* to) { return switch_to(from, to); }
#endif

Block::Strand* Block::not_ready() {
    if (next_thread_ < thread_count_) return fresh();
    return idle();
}

Block::Strand* Block::fresh() {
    if (used_ == strands_.size() && !add_strand()) {
        failure_ = {Status::memory_allocation, "no memory for the stack of a thread that has to wait"};
        return &host_;
    }
    Strand* strand = strands_[used_++];
    char* const stack_begin = strand->stack_begin;
    char* const stack_end = strand->stack_end;
    static_cast<Fiber&>(*strand) = prototype_;
    strand->stack_begin = stack_begin;
    strand->stack_end = stack_end;
    begin_strand(strand);
    strand->wait = Strand::Wait::none;
    strand->hint_thread = ~0u;
    strand->clock.forget();
    ++live_;
    idle_hints_ = 0;
    return strand;
}

// Nothing can run: every thread has ended, or the remaining threads wait for each other.
Block::Strand* Block::idle() {
    if (live_ == 0) return &host_;
    if (release_past_ended()) return grid->must_leave() ? &host_ : ready_.pop();
    if (release_parked() || release_active_mask()) return ready_.pop();
    if (count_exited()) {
        if (!grid->wait_for_others(*this)) return &host_;
        if (check_) check_->went_on();
        release_parked();
        return ready_.pop();
    }
    if (mixed_ && arrived_ == live_)
        describe_mixed_barrier();
    else
        describe_deadlock();
    return &host_;
}

bool Block::add_strand() {
    const std::size_t index = strands_.size(), place = index % cuscope::simt::strands_per_chunk;
    if (index / cuscope::simt::strands_per_chunk == stacks_.size()) {
        GuardedMemory stacks(grid->launch().stack_bytes + cuscope::simt::engine_reserve,
                             cuscope::simt::strands_per_chunk);
        if (!stacks) return false;
        strand_chunks_.emplace_back(new Strand[cuscope::simt::strands_per_chunk]);
        stacks_.push_back(std::move(stacks));
    }
    char* const stack = stacks_.back().open(static_cast<unsigned>(place));
    if (stack == nullptr) return false;
    strands_.reserve(index + 1);
    // Without an offset, the tops of all stacks would be at the same place in their pages and compete for a
    // few sets of the caches.
    const std::size_t colour = index * 5 % 32 * 128;
    Strand* strand = &strand_chunks_.back()[place];
    strand->memory_begin = strand->stack_begin = stack;
    strand->memory_end = stack + stacks_.back().bytes();
    strand->stack_end = strand->memory_end - colour - cuscope::simt::canary_bytes;
    strand->kernel_floor = stack + cuscope::simt::engine_reserve;
    strands_.push_back(strand);
    return true;
}

// An earlier kernel may have written over the whole stack.
CUSCOPE_ON_FIBER void Block::begin_strand(Strand* strand) {
#if defined(CUSCOPE_ASAN)
    // The functions in which the last thread ended did not return, so their frames are poisoned. The memory
    // below them is not, and is much larger.
    constexpr std::ptrdiff_t frame_of_finish = 4096;
    char* const begin = strand->last_frame == nullptr
                            ? strand->memory_begin
                            : std::max(strand->memory_begin, strand->last_frame - frame_of_finish);
    __asan_unpoison_memory_region(begin, static_cast<std::size_t>(strand->stack_end - begin));
#endif
    fill_canary(strand->stack_end);
    cuscope::simt::make_context(strand->context, strand->memory_begin, strand->stack_end, &strand_main,
                                strand);
}

// Abandons the work of all fibers of a block.
void Block::reset_strands() {
#if defined(CUSCOPE_ASAN)
    for (unsigned i = 0; i < used_; ++i) {
        Strand* strand = strands_[i];
        __asan_unpoison_memory_region(strand->memory_begin, stack_size(strand));
        strand->fake_stack = nullptr;
    }
#endif
    used_ = live_ = 0;
    ready_.clear();
    parked_.clear();
    groups_.clear();
    arrived_ = predicates_ = latest_order_ = 0;
    mixed_ = out_of_order_ = false;
    barrier_kind_ = BarrierKind::plain;
    for (Warp& warp : warps_) warp.arrived = 0;
}

CUSCOPE_ON_FIBER void Block::leave(Strand* self) {
    switch_to(self, &host_);
    __builtin_unreachable();
}

// The usual case needs no call but the switch, and saves no registers itself.
CUSCOPE_ON_FIBER int Block::barrier(Strand* self, BarrierKind kind, int predicate, const Site* site) {
    const unsigned its_order = order(self);
    if (its_order < latest_order_) out_of_order_ = true;
    latest_order_ = its_order;
    self->site = site;
    self->barrier_kind = kind;
    self->wait = Strand::Wait::barrier;
    at_barrier_[arrived_] = self;
    if (++arrived_ == thread_count_ || kind != BarrierKind::plain || barrier_kind_ != BarrierKind::plain ||
        latest_ns != 0)
        return barrier_slowly(self, kind, predicate);
    if (ready_.empty()) return wait_for_ready(self);
    return jump_to(self, ready_.pop());
}

CUSCOPE_ON_FIBER __attribute__((noinline)) int Block::wait_for_ready(Strand* self) {
    return jump_to(self, not_ready());
}

// The rest of an arrival that is the last one, of another kind than __syncthreads(), or of a block whose
// threads read clocks.
CUSCOPE_ON_FIBER __attribute__((noinline)) int Block::barrier_slowly(Strand* self, BarrierKind kind,
                                                                     int predicate) {
    mixed_ |= kind != barrier_kind_ && arrived_ != 1;
    barrier_kind_ = kind;
    predicates_ += predicate != 0;
    if (latest_ns != 0) barrier_ns_ = std::max(barrier_ns_, self->now());
    if (arrived_ == thread_count_) {
        if (mixed_) {
            describe_mixed_barrier();
            leave(self);
        }
        release_barrier();
        if (grid->must_leave()) leave(self);
    }
    switch_to(self, next());
    switch (kind) {
        case BarrierKind::count:
            return static_cast<int>(released_predicates_);
        case BarrierKind::all:
            return released_predicates_ == released_threads_;
        case BarrierKind::any:
            return released_predicates_ != 0;
        case BarrierKind::plain:
            break;
    }
    return 0;
}

void Block::release_barrier() {
    released_threads_ = arrived_;
    released_predicates_ = predicates_;
    idle_hints_ = 0;
    ++meetings_;
    if (check_) check_barrier();
    if (out_of_order_) sort_barrier();
    if (barrier_ns_ != 0)
        for (unsigned i = 0; i < arrived_; ++i)
            at_barrier_[i]->clock.set(at_barrier_[i]->linear_thread, barrier_ns_);
    ready_.append(at_barrier_, arrived_);
    arrived_ = predicates_ = latest_order_ = 0;
    barrier_kind_ = BarrierKind::plain;
    if (recorder_) recorder_->meet_all();
}

// The lanes of each warp continue in the order in which lanes run, whatever they did before the barrier.
void Block::sort_barrier() {
    out_of_order_ = false;
    sorted_.assign((thread_count_ + 31) / 32 * 32, nullptr);
    for (unsigned i = 0; i < arrived_; ++i) sorted_[order(at_barrier_[i])] = at_barrier_[i];
    unsigned sorted = 0;
    for (Strand* strand : sorted_)
        if (strand != nullptr) at_barrier_[sorted++] = strand;
}

// Called when nothing can run. A barrier or a warp operation does not wait for threads that have ended, so
// the threads that wait only for ended threads go on. False if there are none.
bool Block::release_past_ended() {
    if (live_ == thread_count_ || next_thread_ < thread_count_) return false;
    if (arrived_ != 0) {
        if (arrived_ != live_) return release_warps_past_ended();
        if (mixed_) return false;
        release_barrier();
        return true;
    }
    // Barriers with separate arrival and wait, and numbered barriers, if they are of all threads.
    const auto barrier_of = [this](const Strand& strand) -> cuscope::simt::Phase* {
        if (strand.word == &phase_.generation) return &phase_;
        for (cuscope::simt::Phase& phase : named_)
            if (strand.word == &phase.generation && phase.expected == thread_count_) return &phase;
        return nullptr;
    };
    cuscope::simt::Phase* const barrier = parked_.empty() ? nullptr : barrier_of(*parked_.first());
    unsigned waiting = 0;
    for (const Strand* strand = parked_.first(); strand != nullptr; strand = strand->next)
        waiting += barrier != nullptr && strand->word == &barrier->generation;
    if (waiting == live_) {
        barrier->complete();
        return release_parked();
    }
    return release_warps_past_ended();
}

CUSCOPE_ON_FIBER void Block::spin(Strand* self) {
    self->spin_count = 0;
    if (grid->must_leave()) leave(self);
    // A warp that waits by votes looks busy, because each vote counts as progress. So other blocks get their
    // turn after a number of hints, too.
    constexpr unsigned hints_between_turns = 128;
    if (++hints_ % hints_between_turns == 0) grid->let_others_run(*this);
    // One thread has to give many spin hints before it counts as waiting: many threads with a few hints each
    // are not waiting.
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
        release_past_ended();
        release_parked();
        grid->let_others_run(*this);
        if (check_) check_->went_on();
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

// A warp's lanes print in lane order, which may not be the order in which they ran.
void Block::print(const Strand* self, const char* text, std::size_t bytes) {
    if (printed.size() + bytes > Grid::print_limit) return;
    const unsigned thread = self->linear_thread;
    const bool beside = !printed.empty() && printed_meetings_ == meetings_ && thread <= printed_thread_ &&
                        thread / 32 == printed_thread_ / 32;
    if (!beside)
        printed_begin_ = printed_end_ = printed.size();
    else if (thread != printed_thread_)
        printed_end_ = printed_begin_;
    printed.insert(printed_end_, text, bytes);
    printed_end_ += bytes;
    printed_meetings_ = meetings_;
    printed_thread_ = thread;
}

void Block::trigger(Strand* self) {
    const std::int64_t now = self->now();
    triggered_ns = triggered_ns < 0 ? now : std::min(triggered_ns, now);
}

// The kernel before this one is done already. Only the thread's clock has to move to the time at which that
// kernel ended.
void Block::wait_for_primary(Strand* self) {
    const cuscope::simt::Launch& launch = grid->launch();
    const std::int64_t ended = launch.primary_ended_ns - launch.start_ns;
    if (ended <= self->now()) return;
    self->clock.set(self->linear_thread, ended);
    latest_ns = std::max(latest_ns, ended);
}

}  // namespace cuscope_simt
