// Threads of a block that meet elsewhere than at its barrier and in its warps: tiles of several warps,
// barriers with separate arrival and wait, and waiting for other blocks.
#include <algorithm>

#include "host/checking/block_check.hpp"
#include "host/executor/block.hpp"
#include "host/executor/grid.hpp"

namespace cuscope_simt {

using cuscope::simt::Cluster;
using cuscope::simt::Phase;

CUSCOPE_ON_FIBER const unsigned long long* Block::gather(Strand* self, unsigned first, unsigned count,
                                                         unsigned long long value, const Site* site) {
    self->site = site;
    if (table_.size() < thread_count_) table_.resize(thread_count_);
    // Threads of an earlier meeting may still read table_. It is written only after all threads have come
    // here.
    self->value = value;
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& other) {
        return other.first == first && other.count == count;
    });
    if (group == groups_.end()) group = groups_.insert(groups_.end(), {first, count, 0, {}});
    self->wait = Strand::Wait::group;
    group->waiting.push(self);
    if (++group->arrived == std::min(count, thread_count_ - first)) {
        for (const Strand* strand = group->waiting.first(); strand != nullptr; strand = strand->next)
            table_[strand->linear_thread] = strand->value;
        group->arrived = 0;
        idle_hints_ = 0;
        ++meetings_;
        if (check_) check_->group_met(first, count);
        ready_.append(group->waiting);
        if (grid->must_leave()) leave(self);
    }
    switch_to(self, next());
    return table_.data();
}

unsigned Block::arrive(Scope scope) {
    if (scope == Scope::block) {
        const unsigned token = phase_.generation.load(std::memory_order_relaxed);
        ++phase_.arrived;
        phase_.complete_if_all();
        return token;
    }
    const Phase& phase = scope == Scope::grid ? grid->phase() : cluster != nullptr ? cluster->phase : phase_;
    if (&phase == &phase_) return arrive(Scope::block);  // a cluster of one block
    const unsigned token = phase.generation.load(std::memory_order_acquire);
    unsigned& arrived = arrived_at_[static_cast<int>(scope)];
    if (++arrived + exited_ == thread_count_) {
        arrived = 0;
        grid->arrive(*this, scope);
    }
    return token;
}

CUSCOPE_ON_FIBER void Block::wait(Strand* self, Scope scope, unsigned token, const Site* site) {
    if (scope == Scope::cluster && cluster == nullptr) scope = Scope::block;
    const Phase& phase = scope == Scope::block  ? phase_
                         : scope == Scope::grid ? grid->phase()
                                                : cluster->phase;
    if (grid->must_leave()) leave(self);
    wait_outside(self, scope, phase.generation, token, site);
    if (!check_) return;
    if (scope == Scope::grid)
        check_->grid_met();
    else
        check_->waited(self->linear_thread, scope == Scope::cluster);
}

CUSCOPE_ON_FIBER void Block::wait_word(Strand* self, const unsigned* word, unsigned value, const Site* site) {
    if (grid->must_leave()) leave(self);
    static_assert(sizeof(std::atomic<unsigned>) == sizeof(unsigned));
    wait_outside(self, Scope::block, *reinterpret_cast<const std::atomic<unsigned>*>(word), value, site);
}

CUSCOPE_ON_FIBER void Block::named_barrier(Strand* self, unsigned id, unsigned count, bool waits,
                                           const Site* site) {
    if (id >= cuscope_simt::named_barriers)
        fault(self, Fault::trap, "a barrier's number is from 0 to 15", site, nullptr);
    if (count % 32 != 0)
        fault(self, Fault::trap, "a barrier's number of threads is a multiple of 32", site, nullptr);
    Phase& phase = named_[id];
    const unsigned token = phase.generation.load(std::memory_order_relaxed);
    phase.expected = count == 0 ? thread_count_ : count;
    ++phase.arrived;
    phase.complete_if_all();
    if (grid->must_leave()) leave(self);
    if (!waits) return;
    wait_outside(self, Scope::block, phase.generation, token, site);
    if (check_) check_->waited(self->linear_thread, false);
}

CUSCOPE_ON_FIBER void Block::wait_outside(Strand* self, Scope scope, const std::atomic<unsigned>& word,
                                          unsigned value, const Site* site) {
    if (word.load(std::memory_order_acquire) != value) return;
    self->site = site;
    self->scope = scope;
    self->word = &word;
    self->word_value = value;
    self->wait = Strand::Wait::outside;
    parked_.push(self);
    switch_to(self, next());
}

bool Block::released() const {
    for (const Strand* strand = parked_.first(); strand != nullptr; strand = strand->next)
        if (strand->word->load(std::memory_order_acquire) != strand->word_value) return true;
    return false;
}

const Site* Block::parked_site() const { return parked_.empty() ? nullptr : parked_.first()->site; }

// Makes the parked threads ready that need not wait any longer. False if there are none.
bool Block::release_parked() {
    cuscope::simt::StrandQueue still;
    while (!parked_.empty()) {
        Strand* strand = parked_.pop();
        if (strand->word->load(std::memory_order_acquire) == strand->word_value)
            still.push(strand);
        else
            ready_.push(strand);
    }
    parked_.append(still);
    ++meetings_;
    return !ready_.empty();
}

// Called when nothing can run. Returns whether a thread waits for another block, rather than for a thread of
// this block. Tells the cluster which threads have ended.
bool Block::count_exited() {
    if (parked_.empty()) return false;
    unsigned waiting[3] = {};
    for (const Strand* strand = parked_.first(); strand != nullptr; strand = strand->next)
        ++waiting[static_cast<int>(strand->scope)];
    // A thread that has arrived at no barrier waits for a block of the cluster to start.
    if (waiting[static_cast<int>(Scope::cluster)] != 0) {
        unsigned& arrived = arrived_at_[static_cast<int>(Scope::cluster)];
        exited_ = thread_count_ - live_;
        if (arrived == 0) return true;
        if (arrived + exited_ < thread_count_) return false;
        arrived = 0;
        grid->arrive(*this, Scope::cluster);
        return true;
    }
    if (waiting[static_cast<int>(Scope::grid)] == 0) return false;
    // Threads that wait for the grid wait for threads of this block, unless all threads that have not ended
    // have arrived. A block's first thread reports the arrival to the other blocks, as on a GPU. So it must
    // have come.
    unsigned& arrived = arrived_at_[static_cast<int>(Scope::grid)];
    if (arrived == 0) return true;
    bool first_came = false;
    for (const Strand* strand = parked_.first(); strand != nullptr; strand = strand->next)
        first_came = first_came || strand->linear_thread == 0;
    if (waiting[static_cast<int>(Scope::grid)] != live_ || !first_came) return false;
    arrived = 0;
    grid->arrive(*this, Scope::grid);
    return true;
}

// The base of the block's shared memory that holds an address, and the address's offset; null if it lies in
// none.
char* Block::shared_base(const void* address, std::size_t* offset) const {
    const auto* place = static_cast<const char*>(address);
    const auto within = [&](char* begin, std::size_t bytes) {
        if (begin == nullptr || place < begin || place >= begin + bytes) return false;
        *offset = static_cast<std::size_t>(place - begin);
        return true;
    };
    if (static_shared_bytes_ != 0 && within(static_shared_, static_shared_bytes_)) return static_shared_;
    if (within(prototype_.dynamic_shared, prototype_.dynamic_shared_bytes)) return prototype_.dynamic_shared;
    return nullptr;
}

CUSCOPE_ON_FIBER void* Block::map_shared(Strand* self, const void* address, unsigned rank, const Site* site) {
    const Index3& size = prototype_.cluster_dim;
    std::size_t offset = 0;
    const char* base = shared_base(address, &offset);
    if (base == nullptr || rank >= size.x * size.y * size.z) return nullptr;
    if (cluster == nullptr || rank == cluster_rank) return const_cast<void*>(address);
    wait_outside(self, Scope::cluster, cluster->started[rank], 0, site);
    const Block& other = *cluster->blocks[rank];
    return (base == static_shared_ ? other.static_shared_ : other.prototype_.dynamic_shared) + offset;
}

int Block::shared_rank(const void* address) const {
    std::size_t offset = 0;
    if (shared_base(address, &offset) != nullptr) return static_cast<int>(cluster_rank);
    for (unsigned rank = 0; cluster != nullptr && rank < Cluster::most_blocks; ++rank) {
        if (cluster->started[rank].load(std::memory_order_acquire) == 0) continue;
        if (cluster->blocks[rank]->shared_base(address, &offset) != nullptr) return static_cast<int>(rank);
    }
    return -1;
}

}  // namespace cuscope_simt
