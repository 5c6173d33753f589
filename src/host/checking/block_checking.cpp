// The part of a block that feeds the checks of a checked launch.
#include <bit>
#include <new>

#include "host/checking/block_check.hpp"
#include "host/executor/block.hpp"
#include "host/executor/grid.hpp"

namespace cuscope_simt {

using cuscope::simt::BlockCheck;
using cuscope::simt::line_of;
using cuscope::simt::same_site;

void Block::attach_check() {
    check_ = std::make_unique<BlockCheck>();
    BlockCheck::Setting setting;
    setting.launch = grid->launch().check.get();
    setting.threads = thread_count_;
    setting.in_cluster = grid->has_clusters();
    setting.static_shared = static_shared_;
    setting.static_bytes = static_shared_bytes_;
    setting.dynamic_shared = prototype_.dynamic_shared;
    setting.dynamic_bytes = prototype_.dynamic_shared == nullptr ? 0 : prototype_.dynamic_shared_bytes;
    check_->attach(setting);
    check_->is_engines = [this](std::uintptr_t address) { return is_engines(address); };
    prototype_.check = check_->state();
}

// Is the address in memory that the checks do not know: the stacks of the block's threads, the tables of
// exchanged values, the arguments, the device's heap, shared memory of other blocks of a cluster, or the
// image itself?
bool Block::is_engines(std::uintptr_t address) {
    const auto within = [address](const void* begin, std::size_t bytes) {
        const auto first = reinterpret_cast<std::uintptr_t>(begin);
        return address >= first && address - first < bytes;
    };
    for (const Strand* strand : strands_)
        if (within(strand->memory_begin, static_cast<std::size_t>(strand->memory_end - strand->memory_begin)))
            return true;
    const cuscope::simt::ImageFacts& facts = grid->facts();
    const auto* const place = reinterpret_cast<const char*>(address);
    const auto& heap = grid->launch().heap;
    const auto& arguments = grid->launch().arguments;
    return within(warps_.data(), warps_.size() * sizeof(Warp)) ||
           within(table_.data(), table_.size() * sizeof(table_[0])) ||
           within(arguments.data(), arguments.size()) ||
           within(facts.image_begin, static_cast<std::size_t>(facts.image_end - facts.image_begin)) ||
           (heap && heap->holds(place)) || (cluster != nullptr && shared_rank(place) >= 0);
}

CUSCOPE_ON_FIBER void Block::check_access(Strand* self, const void* address, unsigned long bytes,
                                          Access access, const void* instruction) {
    if (!check_) return;
    bool done = true;
    try {
        check_->access(self->linear_thread, reinterpret_cast<std::uintptr_t>(address), bytes, access,
                       instruction);
    } catch (const std::bad_alloc&) {
        done = false;
    }
    if (done) return;
    failure_ = {Status::memory_allocation, "no memory for the checks of a kernel"};
    leave(self);
}

CUSCOPE_ON_FIBER void Block::check_synchronization(Strand* self, Synchronization kind) {
    if (!check_) return;
    if (kind == Synchronization::fence)
        check_->fence(self->linear_thread);
    else
        check_->waited(self->linear_thread, kind == Synchronization::met_on_device);
}

CUSCOPE_ON_FIBER void Block::check_index(Strand* self, const char* array, long long index,
                                         const void* instruction) {
    if (check_) check_->index(self->linear_thread, array, index, instruction);
}

// The threads that are at the barrier go on.
void Block::check_barrier() {
    const Strand& first = *at_barrier_[0];
    for (unsigned i = 1; i < arrived_; ++i) {
        const Strand& other = *at_barrier_[i];
        if (same_site(first.site, other.site)) continue;
        // Lanes of one warp are a mistake; whole warps work on GPUs, but CUDA does not promise it.
        const Strand* mate = nullptr;
        for (unsigned k = 0; k < arrived_ && mate == nullptr; ++k)
            if (at_barrier_[k]->warp_index() == other.warp_index() &&
                !same_site(at_barrier_[k]->site, other.site))
                mate = at_barrier_[k];
        const Strand& one = mate == nullptr ? first : *mate;
        check_->different_barriers(one.linear_thread, line_of(one.site), other.linear_thread,
                                   line_of(other.site), mate != nullptr);
        if (mate != nullptr) break;
    }
    check_->block_met();
}

// Lanes of a warp have met, perhaps to exchange values.
void Block::check_shuffle(const Warp& warp, unsigned mask) {
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        const Strand& strand = *warp.waiting[std::countr_zero(rest)];
        if (strand.kind != WarpKind::shuffle) break;
        const auto source = static_cast<unsigned>(strand.operand);
        if (source < 32 && (mask >> source & 1) != 0) continue;
        check_->absent_lane(strand.linear_thread, source & 31, strand.site->operation, line_of(strand.site));
    }
    check_->warp_met(static_cast<unsigned>(&warp - warps_.data()), mask);
}

}  // namespace cuscope_simt
