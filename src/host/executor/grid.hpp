// One launch while it runs: which OS thread runs which block, in what order, the result, and how to react
// when there is no progress. Knows nothing of the inside of a block.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/executor/block.hpp"
#include "host/executor/executor.hpp"
#include "runtime/thread_pool.hpp"

namespace cuscope::simt {

class Grid final : private ThreadPool::Job {
  public:
    Grid(const Launch& launch, RunControl& control);
    Grid(const Grid&) = delete;
    Grid& operator=(const Grid&) = delete;

    // The calling thread runs blocks, with others, until the kernel has ended.
    Outcome run();
    // Runs blocks on the calling OS thread until none is left to start.
    void participate() override;

    const Launch& launch() const { return launch_; }
    const ImageFacts& facts() const { return facts_; }
    void** arguments() { return arguments_; }
    std::uint64_t block_count() const { return block_count_; }
    // Kernel code has to be left as soon as possible.
    bool must_leave() const { return leave_.load(std::memory_order_relaxed); }
    // Called when the block of the calling OS thread cannot progress without another block. Lets other blocks
    // run.
    void let_others_run(Block& block);

    // Blocks that wait for each other.
    bool has_clusters() const { return cluster_size_ > 1; }
    void enter_cluster(Block& block, std::uint64_t index);
    void leave_cluster(Block& block, std::uint64_t index);
    // All threads of a block have arrived, or have ended.
    void arrive(Block& block, cuscope_simt::Scope scope);
    const Phase& phase() const { return phase_; }
    // Waits until a thread of the block can go on. False if no thread ever will.
    bool wait_for_others(Block& block);

    // The monitor calls this every few milliseconds.
    void watch(std::chrono::steady_clock::time_point now);

    // For the monitor, under its lock.
    Grid* next_watched = nullptr;
    Grid** watched_link = nullptr;

    static constexpr std::size_t print_limit = 8 << 20;

  private:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::uint64_t no_end = ~std::uint64_t{0};

    // The first block is sampled and has not ended. It runs alone, because its length decides which other
    // blocks are sampled.
    bool piloting() const { return launch_.sampling && !launch_.sampling->chosen(); }
    bool stopped() const { return end_.load(std::memory_order_relaxed) != no_end; }
    bool claim(Block& block, std::uint64_t* index);
    void run_block(Block& block, std::uint64_t index);
    void ask_for_help();
    void help_a_long_grid(Time* began);
    Outcome outcome();

    // These need the lock.
    bool take_from_others(std::uint64_t* index);
    std::uint64_t unclaimed() const;  // blocks that no OS thread has taken
    void escalate();
    bool more_may_start() const;
    unsigned send(unsigned threads);
    bool waits_for_turn(const Block& block) const;
    void hand_over(Block& block);
    void wake_parked();
    void give_up_waiting();
    void pass_turn(Block& block);
    void wake_all();
    void interrupt_all();

    const Launch& launch_;
    RunControl& control_;
    const ImageFacts facts_;
    void** arguments_ = nullptr;
    void* few_arguments_[16];
    std::vector<void*> many_arguments_;
    const std::uint64_t block_count_;
    const unsigned limit_;  // limit on OS threads: as many as the blocks that the device holds at once
    const bool in_order_;
    const bool clocked_;
    const bool triggers_;

    std::atomic<std::uint64_t> end_{no_end};  // no block from this index on starts any more
    std::atomic<bool> leave_{false};          // running blocks must leave
    std::atomic<bool> first_done_{false};
    std::atomic<bool> helped_{false};

    std::mutex mutex_;
    std::uint64_t next_block_ = 0;  // the first block that no OS thread has taken
    std::uint64_t range_ = 1;       // number of blocks to take at once
    bool escalated_ = false;
    unsigned spins_ = 0;
    Block* participants_ = nullptr;
    unsigned sent_ = 1;         // OS threads that run blocks, or will
    std::uint64_t gone_ = 0;    // number of these OS threads that do not run blocks any more
    std::vector<Block*> ring_;  // blocks in order: they take turns
    Block* turn_ = nullptr;     // null: the next block to come gets the turn
    bool in_turns_;             // in_order_, until a block has kept its turn for too long
    std::uint64_t turns_ = 0;

    Failure failure_;
    bool left_ = false;  // a block did not run to its end
    std::vector<std::pair<std::uint64_t, std::string>> printed_;
    const unsigned cluster_size_;
    Phase phase_;  // the grid's barrier: counts blocks
    std::map<std::uint64_t, std::unique_ptr<Cluster>> clusters_;

    std::int64_t elapsed_ns_ = 0;
    std::int64_t triggered_ns_ = 0;
    bool all_triggered_ = true;
    SpinProfile profile_;  // of the first block

    // State at the monitor's last look.
    bool watched_ = false;
    std::uint64_t seen_progress_ = 0, seen_turns_ = 0;
    Time moved_, turn_moved_, started_more_;
};

}  // namespace cuscope::simt
