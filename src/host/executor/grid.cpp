#include "host/executor/grid.hpp"

#include <sched.h>

#include <algorithm>
#include <iterator>

#include "host/executor/monitor.hpp"

namespace cuscope::simt {
namespace {

using namespace std::chrono_literals;

// Real time only decides when to try a measure. It never changes a kernel's results.
constexpr auto help_after = 20us;  // a grid that lasts longer is worth waking threads for
constexpr auto more_after = 50ms;  // no block has ended for this long: one may wait for another
constexpr auto more_every = 10ms;
constexpr auto free_turns_after = 3s;            // a block has kept its turn for this long
constexpr auto free_checked_turns_after = 120s;  // checks take longer, and rely on the turns
constexpr auto stalled_after = 200ms;
constexpr auto leave_after = 200ms;  // after a failure, no block has ended for this long
constexpr unsigned most_threads = 8192;

}  // namespace

Grid::Grid(const Launch& its_launch, RunControl& control)
    : launch_(its_launch),
      control_(control),
      facts_(its_launch.image->facts()),
      block_count_(std::uint64_t{its_launch.grid.x} * its_launch.grid.y * its_launch.grid.z),
      limit_(std::clamp(its_launch.resident_blocks, 1u, most_threads)),
      in_order_((its_launch.image->table().flags & (cuscope_simt::uses_atomics | cuscope_simt::uses_print |
                                                    cuscope_simt::launches_graphs)) != 0 ||
                its_launch.cooperative || its_launch.check ||
                its_launch.cluster.x * its_launch.cluster.y * its_launch.cluster.z > 1),
      clocked_((its_launch.image->table().flags & cuscope_simt::uses_clock) != 0),
      triggers_((its_launch.image->table().flags & cuscope_simt::uses_trigger) != 0),
      in_turns_(in_order_),
      cluster_size_(its_launch.cluster.x * its_launch.cluster.y * its_launch.cluster.z) {
    phase_.expected = static_cast<unsigned>(block_count_);
    if (!in_order_)
        range_ = std::clamp<std::uint64_t>(block_count_ / (16 * ThreadPool::instance().width()), 1, 64);
    const cuscope_simt::KernelEntry& kernel = *launch_.kernel;
    arguments_ = few_arguments_;
    if (kernel.parameter_count > std::size(few_arguments_)) {
        many_arguments_.resize(kernel.parameter_count);
        arguments_ = many_arguments_.data();
    }
    for (unsigned i = 0; i < kernel.parameter_count; ++i)
        arguments_[i] = const_cast<std::byte*>(launch_.arguments.data()) + kernel.parameters[i].offset;
}

Outcome Grid::run() {
    ThreadPool& pool = ThreadPool::instance();
    Monitor& monitor = Monitor::instance();
    monitor.watch(*this);
    const std::uint64_t threads = block_count_ * launch_.block.x * launch_.block.y * launch_.block.z;
    if (threads >= 32 << 10 && !clocked_ && !piloting()) ask_for_help();
    participate();
    if (helped_.load()) pool.recall(*this);
    monitor.unwatch(*this);
    // The monitor may have sent threads while the last block ended.
    if (helped_.load()) pool.recall(*this);
    control_.stalled.store(false);
    return outcome();
}

void Grid::participate() {
    Block& block = Block::of_this_thread();
    block.attach(*this);
    {
        std::unique_lock lock(mutex_);
        block.next_participant = participants_;
        participants_ = &block;
        if (in_order_) {
            ring_.push_back(&block);
            if (turn_ == nullptr) turn_ = &block;
            while (waits_for_turn(block)) block.turn.wait(lock);
        }
    }
    Time began{};
    std::uint64_t index = 0;
    while (claim(block, &index)) {
        run_block(block, index);
        help_a_long_grid(&began);
    }
    {
        const std::scoped_lock lock(mutex_);
        Block** link = &participants_;
        while (*link != &block) link = &(*link)->next_participant;
        *link = block.next_participant;
        ++gone_;
        // Blocks are left behind only in a grid that has been stopped.
        if (block.left() != 0) left_ = true;
        block.give(0, 0);
        if (in_order_) {
            block.parked = true;  // has no thread that could go on
            if (turn_ == &block) pass_turn(block);
            block.parked = false;
            std::erase(ring_, &block);
            if (in_turns_ && turn_ == nullptr && !ring_.empty() && sent_ - gone_ == ring_.size())
                give_up_waiting();
        }
    }
    block.detach();
}

// OS threads take ranges of blocks, because neighbouring blocks use neighbouring memory. Any OS thread may
// take the rest of a range. After a failure, the blocks before the failed block still run, because the first
// failed block of the grid is reported.
bool Grid::claim(Block& block, std::uint64_t* index) {
    const bool taken = block.take(index);
    if (taken && *index < end_.load(std::memory_order_relaxed)) return true;
    const std::scoped_lock lock(mutex_);
    if (stopped()) {
        left_ = left_ || taken;
        return false;
    }
    if (escalated_ && take_from_others(index)) return true;
    if (next_block_ < block_count_) {
        const std::uint64_t end = std::min(block_count_, next_block_ + (escalated_ ? 1 : range_));
        *index = next_block_;
        block.give(next_block_ + 1, end);
        next_block_ = end;
        control_.begun.store(*index, std::memory_order_relaxed);
        return true;
    }
    return take_from_others(index);
}

// Of the blocks that other OS threads have taken and not started, takes the first.
bool Grid::take_from_others(std::uint64_t* index) {
    for (;;) {
        Block* first = nullptr;
        for (Block* block = participants_; block != nullptr; block = block->next_participant)
            if (block->left() != 0 && (first == nullptr || block->range_begins() < first->range_begins()))
                first = block;
        if (first == nullptr) return false;
        if (first->take(index)) return true;
    }
}

void Grid::run_block(Block& block, std::uint64_t index) {
    block.spin_profile.count = 0;
    if (clocked_ && first_done_.load(std::memory_order_acquire)) block.spin_profile = profile_;
    Failure failure;
    Sampling* const sampling = launch_.sampling.get();
    const bool sampled = sampling != nullptr && sampling->takes(index);
    if (sampled) block.begin_sample(*sampling);
    const bool ended = block.run(index, &failure);
    if (sampled) block.end_sample(*sampling, index, ended);
    if (sampled && index == 0) {
        if (!sampling->chosen()) sampling->choose();
        ask_for_help();
    }
    const bool is_first = clocked_ && index == 0;
    if (ended && block.latest_ns == 0 && block.printed.empty() && !is_first && !triggers_) return;

    const std::scoped_lock lock(mutex_);
    elapsed_ns_ = std::max(elapsed_ns_, block.latest_ns);
    triggered_ns_ = std::max(triggered_ns_, block.triggered_ns);
    all_triggered_ = all_triggered_ && block.triggered_ns >= 0;
    if (!block.printed.empty()) printed_.emplace_back(index, std::move(block.printed));
    block.printed.clear();
    if (is_first && ended) {
        profile_ = block.spin_profile;
        first_done_.store(true, std::memory_order_release);
    }
    if (ended) return;
    left_ = true;
    if (failure.status == Status::success || index >= end_.load()) return;
    end_.store(index);
    failure_ = std::move(failure);
    if (in_turns_) leave_.store(true);
}

std::uint64_t Grid::unclaimed() const {
    std::uint64_t blocks = block_count_ - next_block_;
    for (const Block* block = participants_; block != nullptr; block = block->next_participant)
        blocks += block->left();
    return blocks;
}

void Grid::ask_for_help() {
    const std::uint64_t others = ThreadPool::instance().width() - 1;
    if (in_order_ || others == 0 || helped_.load(std::memory_order_relaxed)) return;
    const std::scoped_lock lock(mutex_);
    if (!helped_.load()) send(static_cast<unsigned>(std::min(others, unclaimed())));
}

void Grid::help_a_long_grid(Time* began) {
    if (in_order_ || block_count_ == 1 || piloting() || helped_.load(std::memory_order_relaxed)) return;
    const Time now = std::chrono::steady_clock::now();
    if (*began == Time{}) *began = now;
    // Blocks after the first one spin as long as the first block did, and that block has ended.
    if (clocked_ || now - *began > help_after) ask_for_help();
}

unsigned Grid::send(unsigned threads) {
    threads = std::min(threads, limit_ - std::min(limit_, sent_));
    if (threads == 0) return 0;
    helped_.store(true);
    const unsigned sent = ThreadPool::instance().send(*this, threads);
    sent_ += sent;
    return sent;
}

// The running blocks may wait for blocks that have not started. From now on, blocks start in order, on twice
// as many OS threads.
void Grid::escalate() {
    escalated_ = true;
    send(sent_);
}

bool Grid::more_may_start() const { return !stopped() && unclaimed() != 0 && sent_ < limit_; }

bool Grid::waits_for_turn(const Block& block) const {
    return in_turns_ && turn_ != &block && !leave_.load(std::memory_order_relaxed);
}

// Passes the turn to the next block that can go on, which may be the same block. If there is none, the next
// block that arrives gets it.
void Grid::pass_turn(Block& block) {
    turn_ = nullptr;
    const auto self = std::find(ring_.begin(), ring_.end(), &block) - ring_.begin();
    const auto count = static_cast<std::ptrdiff_t>(ring_.size());
    for (std::ptrdiff_t i = 1; i <= count; ++i) {
        Block* next = ring_[static_cast<std::size_t>((self + i) % count)];
        if (next->parked && !next->released()) continue;
        turn_ = next;
        next->turn.notify_one();
        return;
    }
}

// Passes the turn to a block that has not started while the device has room for it, else to the next started
// block.
void Grid::hand_over(Block& block) {
    ++turns_;
    turn_ = nullptr;
    if (!more_may_start() || send(1) == 0) pass_turn(block);
}

void Grid::let_others_run(Block& block) {
    std::unique_lock lock(mutex_);
    if (in_turns_) {
        hand_over(block);
        while (waits_for_turn(block)) block.turn.wait(lock);
        return;
    }
    if (++spins_ % 16 == 0 && more_may_start()) escalate();
    lock.unlock();
    sched_yield();
}

void Grid::wake_all() {
    for (Block* block : ring_) block->turn.notify_one();
}

void Grid::interrupt_all() {
    for (Block* block = participants_; block != nullptr; block = block->next_participant)
        if (block->target.armed.load(std::memory_order_relaxed)) interrupt_kernel(block->os_thread);
}

void Grid::watch(Time now) {
    const std::scoped_lock lock(mutex_);
    if (control_.abort.load()) {
        end_.store(0);
        leave_.store(true);
    }
    if (leave_.load()) {
        wake_all();
        interrupt_all();
        return;
    }
    const std::uint64_t progress = block_count_ - unclaimed() + gone_;
    if (!watched_ || progress != seen_progress_) {
        watched_ = true;
        seen_progress_ = progress;
        moved_ = turn_moved_ = now;
        control_.stalled.store(false);
        return;
    }
    if (stopped()) {
        if (now - moved_ > leave_after) leave_.store(true);
        return;
    }
    if (in_turns_) {
        if (turns_ != seen_turns_) {
            seen_turns_ = turns_;
            turn_moved_ = now;
        }
        if (now - turn_moved_ > (launch_.check ? free_checked_turns_after : free_turns_after) &&
            (more_may_start() || ring_.size() > 1)) {
            in_turns_ = false;
            wake_all();
        }
    } else if (more_may_start() && !(piloting() && now - moved_ < free_turns_after)) {
        // A long block is no reason to run more threads than the machine has processors. If no block ends for
        // a while, that is a reason.
        const unsigned width = ThreadPool::instance().width();
        if (sent_ < width && !clocked_) send(width - sent_);
        if (now - moved_ > more_after && now - started_more_ > more_every) {
            started_more_ = now;
            escalate();
        }
    }
    if (now - moved_ > stalled_after && !more_may_start()) control_.stalled.store(true);
}

Outcome Grid::outcome() {
    Outcome outcome;
    outcome.elapsed_ns = elapsed_ns_;
    if (triggers_ && all_triggered_) outcome.triggered_ns = triggered_ns_;
    if (!printed_.empty()) {
        std::sort(printed_.begin(), printed_.end());
        for (const auto& [index, text] : printed_)
            outcome.printed.append(text, 0, std::min(text.size(), print_limit - outcome.printed.size()));
    }
    if (failure_.status != Status::success) {
        outcome.status = failure_.status;
        outcome.detail = std::move(failure_.text);
        outcome.where = std::move(failure_.where);
        outcome.other = std::move(failure_.other);
        outcome.of_meeting = failure_.of_meeting;
    } else if (left_ || next_block_ < block_count_) {
        outcome.status = Status::launch_timeout;
        outcome.detail = std::string("kernel '") + launch_.kernel->name + "' was ended before it was done";
    }
    return outcome;
}

}  // namespace cuscope::simt
