// Runs one block at a time on one OS thread: the fibers of its threads, the order in which they run, the
// barrier, the rendezvous of warps and the simulated clocks. The grid chooses the block, and knows the other
// blocks.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuscope_simt/abi.h"
#include "host/executor/asan.hpp"
#include "host/executor/clock.hpp"
#include "host/executor/fault_handler.hpp"
#include "host/executor/fiber.hpp"
#include "runtime/checking.hpp"
#include "runtime/status.hpp"

// For functions that are left by a switch to another fiber. ThreadSanitizer sees all fibers of an OS thread
// as that thread, and they do run one after the other on it. But its record of calls would not survive the
// switches.
#define CUSCOPE_ON_FIBER __attribute__((no_sanitize("thread")))

namespace cuscope::simt {

class BlockCheck;
class Counting;
class Grid;
class Image;
class Recorder;
class Sampling;
class ZeroMemory;

// The engine's data about a fiber. It lies apart from the fiber's stack, because a kernel may overwrite the
// stack.
struct alignas(64) Strand : cuscope_simt::Fiber {
    enum class Wait : unsigned char { none, barrier, warp, active_mask, group, outside, ended };

    // Every switch uses these members. They share a cache line.
    alignas(64) Context context;
    Strand* next = nullptr;                    // in the queue that holds the strand
    const cuscope_simt::Site* site = nullptr;  // the place where the strand waits
    char* kernel_floor = nullptr;              // the lowest address of the stack that the kernel may use
    cuscope_simt::BarrierKind barrier_kind{};
    Wait wait = Wait::none;
    // The values that the strand brought to a rendezvous, and the result that it got.
    cuscope_simt::WarpKind kind{};
    unsigned mask = 0;
    int operand = 0;
    int predicate = 0;
    unsigned long long value = 0, result = 0;
    ThreadClock clock;
    unsigned hint_thread = ~0u;  // the thread that gave the last spin hint
    // While the strand waits outside: it waits until *word differs from word_value.
    const std::atomic<unsigned>* word = nullptr;
    unsigned word_value = 0;
    cuscope_simt::Scope scope{};
    // The strand's stack, from below: space for the engine's functions that kernel code calls; from
    // kernel_floor on, space for the kernel; above Fiber::stack_end, the canary.
    char* memory_begin = nullptr;
    char* memory_end = nullptr;
    void* fake_stack = nullptr;  // AddressSanitizer's
    char* last_frame = nullptr;  // for AddressSanitizer: where the last thread on this stack ended

    unsigned lane() const { return linear_thread % 32; }
    unsigned warp_index() const { return linear_thread / 32; }
    std::int64_t now() const { return clock.now(linear_thread); }
};

class StrandQueue {
  public:
    bool empty() const { return first_ == nullptr; }
    Strand* first() const { return first_; }
    void push(Strand* strand) {
        strand->next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = strand;
        last_ = strand;
    }
    Strand* pop() {
        Strand* strand = first_;
        first_ = strand->next;
        return strand;
    }
    void append(StrandQueue& other) {
        if (other.first_ == nullptr) return;
        (first_ == nullptr ? first_ : last_->next) = other.first_;
        last_ = other.last_;
        other.first_ = nullptr;
    }
    void clear() { first_ = nullptr; }

  private:
    Strand* first_ = nullptr;
    Strand* last_ = nullptr;
};

// The strands that can go on, in the order in which they will. An array, so that the strands after the next
// one can be prefetched.
class ReadyQueue {
  public:
    // Empties the queue. It will hold at most so many strands. `any` is a strand that lives as long as the
    // queue is used: prefetching may read places without a strand.
    void make_room(unsigned strands, Strand* any) {
        most_ = strands;
        places_.assign(2 * std::size_t{strands} + prefetched, any);
        clear();
    }
    bool empty() const { return first_ == last_; }
    void push(Strand* strand) {
        if (last_ == places_.data() + 2 * std::size_t{most_}) move_down();
        *last_++ = strand;
    }
    Strand* pop() {
        __builtin_prefetch(&first_[prefetched]->context);
        prefetch_stack(first_[prefetched / 2]->context);
        return *first_++;
    }
    void append(StrandQueue& other) {
        while (!other.empty()) push(other.pop());
    }
    // Appends the first `count` places of another queue, of which nothing else is used. If this queue is
    // empty, the two exchange their memory.
    void append(ReadyQueue& other, unsigned count) {
        if (empty()) {
            places_.swap(other.places_);
            first_ = places_.data();
            last_ = first_ + count;
        } else {
            for (unsigned i = 0; i < count; ++i) push(other.places_[i]);
        }
    }
    Strand*& operator[](unsigned place) { return places_[place]; }
    void clear() { first_ = last_ = places_.data(); }

  private:
    static constexpr unsigned prefetched = 4;
    // At most half of the places are in use, so this happens at most once for `most_` pushes.
    __attribute__((noinline)) void move_down() {
        last_ = std::copy(first_, last_, places_.data());
        first_ = places_.data();
    }

    Strand** first_ = nullptr;
    Strand** last_ = nullptr;
    std::vector<Strand*> places_;
    unsigned most_ = 0;
};

// A barrier with separate arrival and wait. It counts arrivals; `generation` counts how often all threads
// have arrived.
struct Phase {
    unsigned expected = 0, arrived = 0;
    std::atomic<unsigned> generation{0};

    void complete_if_all() {
        if (arrived != 0 && arrived >= expected) complete();
    }
    void complete() {
        arrived = 0;
        generation.fetch_add(1, std::memory_order_release);
    }
};

// The blocks of a cluster while they run. The grid's lock protects all members but the atomics.
struct Cluster {
    static constexpr unsigned most_blocks = 16;

    Phase phase;  // counts blocks
    std::atomic<unsigned> started[most_blocks] = {};
    cuscope_simt::Block* blocks[most_blocks] = {};
    unsigned ended = 0;
};

struct Failure {
    Status status = Status::success;
    std::string text;         // place and reason
    FoundThread where{};      // the same place, as far as it is known
    FoundThread other{};      // of threads that wait elsewhere; or nothing
    bool of_meeting = false;  // threads do not meet as they should
};

}  // namespace cuscope::simt

struct cuscope_simt::Block {
    using Strand = cuscope::simt::Strand;
    using Status = cuscope::Status;

    Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block();

    // The block of the calling OS thread; made at the first call.
    static Block& of_this_thread();

    // Blocks that run between attach and detach belong to this grid.
    void attach(cuscope::simt::Grid& grid);
    void detach();
    // Runs a block to its end. False if the block failed (then *failure has the reason) or was told to leave
    // (Status::success).
    bool run(std::uint64_t index, cuscope::simt::Failure* failure);
    // Around `run` for a block that is sampled.
    void begin_sample(cuscope::simt::Sampling& sampling);
    void end_sample(cuscope::simt::Sampling& sampling, std::uint64_t index, bool ended);

    // Kernel code calls these on its fiber.
    int barrier(Strand* self, BarrierKind kind, int predicate, const Site* site);
    unsigned long long warp(Strand* self, WarpKind kind, unsigned mask, unsigned long long value, int operand,
                            int* extra, const Site* site);
    unsigned active_mask(Strand* self, const Site* site);
    std::int64_t read_clock(Strand* self, const void* call_site);
    void sleep(Strand* self, unsigned nanoseconds);
    void spin(Strand* self);
    void print(const Strand* self, const char* text, std::size_t bytes);
    void trigger(Strand* self);
    void wait_for_primary(Strand* self);
    const unsigned long long* gather(Strand* self, unsigned first, unsigned count, unsigned long long value,
                                     const Site* site);
    unsigned arrive(Scope scope);
    void wait(Strand* self, Scope scope, unsigned token, const Site* site);
    void wait_word(Strand* self, const unsigned* word, unsigned value, const Site* site);
    void named_barrier(Strand* self, unsigned id, unsigned count, bool waits, const Site* site);
    void* map_shared(Strand* self, const void* address, unsigned rank, const Site* site);
    int shared_rank(const void* address) const;
    // `caller`: used if there is no site. An address of the image just behind the call that led here; may be
    // null.
    [[noreturn]] void fault(Strand* self, Fault kind, const char* message, const Site* site,
                            const void* caller);
    void access(Strand* self, const void* address, unsigned bytes, Access access, const void* instruction);
    void step(Strand* self, const void* instruction);
    // The same for entries of the image's tables.
    void access_at(Strand* self, const void* address, unsigned entry);
    void step_at(Strand* self, unsigned entry);
    void begin_warp(Strand* self);
    void check_access(Strand* self, const void* address, unsigned long bytes, Access access,
                      const void* instruction);
    void check_synchronization(Strand* self, Synchronization kind);
    void check_index(Strand* self, const char* array, long long index, const void* instruction);
    [[noreturn]] void finish(Strand* self);
    // Kernel code called the engine with too little stack left for the engine's functions.
    [[noreturn]] void stack_full(Strand* self, const void* caller);

    cuscope::simt::Grid* grid = nullptr;
    std::string printed;             // text of the current or last block
    std::int64_t latest_ns = 0;      // the latest time on a clock of any thread
    std::int64_t triggered_ns = -1;  // when the first thread let dependent kernels start
    cuscope::simt::SpinProfile spin_profile;
    pthread_t os_thread;
    cuscope::simt::FaultTarget target;

    // The blocks of the grid that this OS thread runs next. Any thread may take one of them. `give`, and
    // reading another OS thread's range, need the grid's lock.
    void give(std::uint64_t begin, std::uint64_t end) {
        range_next_.store(begin, std::memory_order_relaxed);
        range_end_ = end;
    }
    bool take(std::uint64_t* index) {
        *index = range_next_.fetch_add(1, std::memory_order_relaxed);
        return *index < range_end_;
    }
    std::uint64_t range_begins() const { return range_next_.load(std::memory_order_relaxed); }
    std::uint64_t left() const {
        const std::uint64_t next = range_begins();
        return next < range_end_ ? range_end_ - next : 0;
    }

    // For the grid, under its lock.
    Block* next_participant = nullptr;
    std::condition_variable turn;
    bool parked = false;  // none of the block's threads can go on before another block does
    // Can a thread of a parked block go on?
    bool released() const;
    // The place where the block's threads wait, for "2 of 4 blocks" in a message.
    const Site* parked_site() const;
    cuscope::simt::Cluster* cluster = nullptr;
    unsigned cluster_rank = 0;

  private:
    struct Warp {
        Strand* waiting[32];
        unsigned arrived = 0;    // lanes that wait in a rendezvous
        unsigned going_on = 0;   // lanes that had not ended at the last check
        unsigned converged = 0;  // lanes that asked for the active mask, at converged_site
        const Site* converged_site = nullptr;
        unsigned long long table[32];  // values of the last gather
    };
    // Threads of the block that have to meet, and the number that have arrived.
    struct Group {
        unsigned first, count, arrived;
        cuscope::simt::StrandQueue waiting;
    };

    static void strand_main(void* strand);

    // The scheduler. `next` returns the strand to run when the running strand cannot go on.
    Strand* next() { return ready_.empty() ? not_ready() : ready_.pop(); }
    Strand* not_ready();
    // A thread's position in the order in which threads start.
    unsigned place_of_thread(unsigned thread) const {
        return thread_in_order(thread, thread_count_, lanes_descend_);
    }
    void sort_barrier();
    Strand* fresh();
    Strand* idle();
    // Suspends `from` and continues `to`. Returns 0 when `from` continues.
    int switch_to(Strand* from, Strand* to);
    int jump_to(Strand* from, Strand* to);  // for functions that end with this call
    // Abandons the block. failure_ holds the reason, if there is one.
    [[noreturn]] void leave(Strand* self);
    bool add_strand();
    void begin_strand(Strand* strand);
    void place_static_shared();
    void place_dynamic_shared();
    void fill_shared();
    // Is the memory beside shared memory unchanged? If not, sets failure_.
    bool shared_is_intact();
    // Parks the strand until *word differs from value.
    void wait_outside(Strand* self, Scope scope, const std::atomic<unsigned>& word, unsigned value,
                      const Site* site);
    bool release_parked();
    bool count_exited();
    char* shared_base(const void* address, std::size_t* offset) const;
    void reset_strands();

    // The code that runs from now on: of the launch, or of the image that counts.
    void use_image(const cuscope::simt::Image& image, const KernelEntry& kernel);

    // For counted launches and sampled blocks; recorder_ is null in any other.
    void attach_recorder();
    void attach_recorder(const cuscope::simt::Counting& counting);
    void detach_recorder();
    void make_idle();
    void record_access(Strand* self, const void* address, std::uint32_t site);
    void let_catch_up(Strand* self);
    unsigned going_on(unsigned warp) const;
    void record_meeting(unsigned warp, unsigned mask);
    [[noreturn]] void leave_without_memory(Strand* self);

    // For checked launches; check_ is null in any other launch.
    void attach_check();
    void check_barrier();
    void check_shuffle(const Warp& warp, unsigned mask);
    bool is_engines(std::uintptr_t address);

    int barrier_slowly(Strand* self, BarrierKind kind, int predicate);
    int wait_for_ready(Strand* self);
    void release_barrier();
    bool release_active_mask();
    bool release_past_ended();
    bool release_warps_past_ended();
    void complete_warp(Warp& warp, unsigned mask, WarpKind kind);
    void make_ready(const Warp& warp, unsigned lanes);

    // These set failure_. They run on a fiber that will not go on, so they must leave no objects to destroy.
    void describe_deadlock(const Strand* first = nullptr);
    void describe_mixed_barrier();
    void describe_foreign_lane(const Strand* self);
    void describe_fault(const Strand* self, Fault kind, const char* message, const Site* site,
                        const void* caller);
    std::string describe_smashed(const void* noticed) const;
    std::string line_of_call(const void* return_address) const;
    std::string line_of_fault() const;
    void describe_signal();
    void describe_overrun(const std::string& where);
    std::string place_of(const Strand* strand, std::uintptr_t address) const;
    std::string describe_absent(const std::vector<bool>& asked, const Strand* like) const;
    std::string block_name() const;
    std::string thread_name(const Strand* strand) const;
    // The thread at a line, "kernel.cu:12".
    cuscope::FoundThread found(const Strand* strand, std::string line) const;

    std::atomic<std::uint64_t> range_next_{0};
    std::uint64_t range_end_ = 0;

    // Every arrival at the barrier uses these members. They share two cache lines.
    alignas(64) unsigned arrived_ = 0;
    unsigned thread_count_ = 0;
    cuscope_simt::BarrierKind barrier_kind_{};  // of the first thread that arrived
    unsigned order_flip_ = 0;                   // see order()
    unsigned latest_order_ = 0;                 // order of the last thread that came to the barrier
    bool out_of_order_ = false;                 // some threads did not come in that order
    bool mixed_ = false;                        // threads came to barriers of different kinds
    Strand* running_ = nullptr;
    cuscope::simt::ReadyQueue at_barrier_;  // its first arrived_ places: the strands that wait at the barrier
    cuscope::simt::ReadyQueue ready_;
    unsigned predicates_ = 0;
    // A thread's number in the order in which the lanes of each warp run.
    unsigned order(const Strand* strand) const { return strand->linear_thread ^ order_flip_; }
    std::vector<Strand*> sorted_;
    unsigned released_threads_ = 0, released_predicates_ = 0;
    std::int64_t barrier_ns_ = 0;

    std::vector<Group> groups_;
    std::vector<unsigned long long> table_;  // values of the last gathers
    // Barriers with separate arrival and wait: the phases of this block's own barriers, and the arrivals of
    // its threads at the barriers of its cluster and grid.
    cuscope::simt::Phase phase_;
    cuscope::simt::Phase named_[cuscope_simt::named_barriers];
    unsigned arrived_at_[3] = {};
    unsigned exited_ = 0;  // threads that the cluster's barrier no longer waits for
    cuscope::simt::StrandQueue parked_;

    unsigned next_thread_ = 0;
    bool lanes_descend_ = false;
    // State since threads last met: the thread that printed last, and the part of `printed` with its warp's
    // text, which is kept in the order of the lanes.
    unsigned meetings_ = 0, printed_meetings_ = 0, printed_thread_ = 0;
    std::size_t printed_begin_ = 0, printed_end_ = 0;
    unsigned used_ = 0;         // strands of this block
    unsigned live_ = 0;         // strands whose `run` has not returned
    unsigned hints_ = 0;        // spin hints of the block
    unsigned idle_hints_ = 0;   // spin hints since a thread last made progress
    unsigned hint_thread_ = 0;  // next_thread_ at the last spin hint
    const cuscope::simt::Image* image_ = nullptr;
    const KernelEntry* entry_ = nullptr;
    void (*kernel_)(Fiber*, void**) = nullptr;
    void** arguments_ = nullptr;
    Fiber prototype_{};
    std::vector<Warp> warps_;

    char* static_shared_ = nullptr;
    std::size_t static_shared_bytes_ = 0;
    cuscope::simt::GuardedMemory static_memory_, dynamic_memory_;
    // Bytes beside shared memory that belong to no variable. They are checked when a block ends.
    struct Margin {
        static constexpr int pattern = 0xc5;

        char* begin = nullptr;
        std::size_t bytes = 0;

        void fill() {
            for (std::size_t i = 0; i < bytes; ++i) begin[i] = static_cast<char>(pattern);
        }
        // No branch per byte, because this runs after every block.
        bool intact() const {
            unsigned char difference = 0;
            for (std::size_t i = 0; i < bytes; ++i)
                difference |= static_cast<unsigned char>(begin[i]) ^ static_cast<unsigned char>(pattern);
            return difference == 0;
        }
    };
    Margin static_below_, static_above_, dynamic_above_;

    Strand host_;  // the OS thread's own stack
    std::vector<Strand*> strands_;
    std::vector<std::unique_ptr<Strand[]>> strand_chunks_;
    std::vector<cuscope::simt::GuardedMemory> stacks_;
    cuscope::simt::Failure failure_;
    cuscope::simt::FaultScope fault_scope_;
    std::unique_ptr<cuscope::simt::Recorder> recorder_;
    std::unique_ptr<cuscope::simt::ZeroMemory> idle_;
    std::unique_ptr<cuscope::simt::BlockCheck> check_;
};

#if !defined(CUSCOPE_ASAN)
CUSCOPE_ON_FIBER inline int cuscope_simt::Block::switch_to(Strand* from, Strand* to) {
    running_ = to;
    to->wait = Strand::Wait::none;
    return cuscope::simt::switch_context(from->context, to->context);
}

// The calling function leaves no frame on the fiber: the switch returns to that function's caller.
CUSCOPE_ON_FIBER inline int cuscope_simt::Block::jump_to(Strand* from, Strand* to) {
    running_ = to;
    to->wait = Strand::Wait::none;
    return cuscope::simt::jump_to_context(from->context, to->context);
}
#endif

namespace cuscope::simt {

using Block = cuscope_simt::Block;
using cuscope_simt::Site;

extern const cuscope_simt::Api engine_api;

// "kernel.cu:12"; empty for null.
std::string line_of(const Site* site);
// For example "__syncthreads() in kernel.cu:12".
std::string operation_at(const Site* site);
bool same_site(const Site* a, const Site* b);
std::string coordinates(const cuscope_simt::Index3& index);

}  // namespace cuscope::simt
