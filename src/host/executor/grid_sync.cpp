// Blocks of a grid that wait for each other: in clusters and at the grid's barrier.
#include <chrono>

#include "host/checking/launch_check.hpp"
#include "host/executor/grid.hpp"

namespace cuscope::simt {

using cuscope_simt::Scope;

void Grid::enter_cluster(Block& block, std::uint64_t index) {
    const std::scoped_lock lock(mutex_);
    auto& cluster = clusters_[index / cluster_size_];
    if (!cluster) {
        cluster = std::make_unique<Cluster>();
        cluster->phase.expected = cluster_size_;
    }
    block.cluster = cluster.get();
    block.cluster_rank = static_cast<unsigned>(index % cluster_size_);
    cluster->blocks[block.cluster_rank] = &block;
    cluster->started[block.cluster_rank].store(1, std::memory_order_release);
    wake_parked();
}

void Grid::leave_cluster(Block& block, std::uint64_t index) {
    const std::scoped_lock lock(mutex_);
    Cluster& cluster = *block.cluster;
    block.cluster = nullptr;
    --cluster.phase.expected;
    cluster.phase.complete_if_all();
    wake_parked();
    // A cluster is kept while one of its blocks may still look at it.
    if (++cluster.ended == cluster_size_) clusters_.erase(index / cluster_size_);
}

void Grid::arrive(Block& block, Scope scope) {
    const std::scoped_lock lock(mutex_);
    Phase& phase = scope == Scope::grid ? phase_ : block.cluster->phase;
    ++phase.arrived;
    if (launch_.check && scope == Scope::grid && phase.arrived >= phase.expected) launch_.check->grid_met();
    phase.complete_if_all();
    wake_parked();
}

// Blocks that take turns are not woken: each of them checks when its turn comes.
void Grid::wake_parked() {
    if (in_turns_) return;
    for (Block* block : ring_)
        if (block->parked && block->released()) block->turn.notify_one();
}

bool Grid::wait_for_others(Block& block) {
    std::unique_lock lock(mutex_);
    block.parked = true;
    for (;;) {
        if (must_leave()) break;
        if (block.released() && (!in_turns_ || turn_ == &block)) break;
        if (in_turns_) {
            if (turn_ == &block) {
                hand_over(block);
                if (turn_ == nullptr && sent_ - gone_ == ring_.size()) give_up_waiting();
                continue;
            }
            block.turn.wait(lock);
        } else {
            if (more_may_start()) send(1);
            block.turn.wait_for(lock, std::chrono::milliseconds(1));
        }
    }
    block.parked = false;
    return !must_leave();
}

// Every started block waits for another block, and no other block can start.
void Grid::give_up_waiting() {
    if (stopped() || more_may_start()) return;
    std::string text = std::string("kernel '") + launch_.kernel->name + "': ";
    const Block* first = nullptr;
    std::size_t waiting = 0;
    for (const Block* block : ring_) {
        if (!block->parked || block->parked_site() == nullptr) continue;
        if (first == nullptr) first = block;
        ++waiting;
    }
    const std::uint64_t unstarted = unclaimed();
    text += std::to_string(waiting) + (waiting == 1 ? " block waits" : " blocks wait") + " at " +
            operation_at(first == nullptr ? nullptr : first->parked_site()) + " for others, which have " +
            (unstarted == 0 ? "ended" : "no room on the device") +
            ". Every block that the barrier counts has to come to it";
    failure_ = {Status::launch_failure, text + "."};
    failure_.where.line = line_of(first == nullptr ? nullptr : first->parked_site());
    failure_.of_meeting = true;
    end_.store(0);
    left_ = true;
    leave_.store(true);
    wake_all();
}

}  // namespace cuscope::simt
