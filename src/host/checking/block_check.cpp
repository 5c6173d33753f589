#include "host/checking/block_check.hpp"

#include <algorithm>

#include "host/executor/executor.hpp"

namespace cuscope::simt {

using cuscope_simt::Cell;
using cuscope_simt::CheckSlot;
using cuscope_simt::stamp_after_plain;
using cuscope_simt::stamp_among_blocks;
using cuscope_simt::stamp_among_lanes;
using cuscope_simt::stamp_among_warps;
using cuscope_simt::stamp_atomic;
using cuscope_simt::stamp_hides_plain;
using cuscope_simt::stamp_lanes;
using cuscope_simt::stamp_thread_at;
using cuscope_simt::stamp_warps;

void BlockCheck::attach(const Setting& setting) {
    launch_ = setting.launch;
    threads_ = setting.threads;
    in_cluster_ = setting.in_cluster;
    slots_.assign(cuscope_simt::check_slots, {});
    no_slots_.assign(cuscope_simt::check_slots, {});
    const auto cover = [](Region& region, const char* begin, std::size_t bytes) {
        const auto first = reinterpret_cast<std::uintptr_t>(begin);
        if (bytes == 0) {
            region = {};
        } else if (region.begin != first || region.end != first + bytes || !region.shadow) {
            region = {};
            region.begin = first;
            region.end = first + bytes;
            region.shadow = std::make_shared<Shadow>(begin, bytes, false);
        }
    };
    // Times may have begun anew since the memory was used last, so its cells are made anew, too.
    static_ = dynamic_ = {};
    cover(static_, setting.static_shared, setting.static_bytes);
    cover(dynamic_, setting.dynamic_shared, setting.dynamic_bytes);
    state_ = {};
    state_.code = launch_->launch().image->facts().code_begin;
    met_.assign(threads_, 0);
    met_in_block_.assign(threads_, 0);
    acquired_.assign(threads_, 0);
    fenced_.assign(threads_, 0);
    state_.met = met_.data();
    use_slots(true);
}

void BlockCheck::forget_slots() {
    std::fill(slots_.begin(), slots_.end(), CheckSlot{});
    cells_moved_ = launch_->cells_moved;
}

void BlockCheck::use_slots(bool use) { state_.slots = (use ? slots_ : no_slots_).data(); }

// The next moment of this block. The hooks take the state of the running thread anew.
void BlockCheck::advance() {
    state_.now = launch_->tick(block_);
    state_.thread = ~0u;
}

void BlockCheck::begin_block(std::uint64_t index) {
    block_ = index;
    advance();
    state_.block = state_.interval = state_.now;
    state_.shared = {state_.now, state_.now};
    state_.mixed = 0;
    state_.barriers_alone = launch_->published.empty() ? 1 : 0;
    std::fill(met_.begin(), met_.end(), state_.now);
    std::fill(met_in_block_.begin(), met_in_block_.end(), state_.now);
    std::fill(acquired_.begin(), acquired_.end(), 0);
    if (fences_) std::fill(fenced_.begin(), fenced_.end(), 0);
    all_acquired_ = block_acquired_ = 0;
    fences_ = false;
    // Another block may have made granules smaller.
    if (cells_moved_ != launch_->cells_moved) forget_slots();
    use_slots(true);
}

void BlockCheck::block_met() {
    settle_waiting_race();
    advance();
    state_.interval = state_.now;
    std::fill(met_.begin(), met_.end(), state_.now);
    block_acquired_ = all_acquired_;
    if (fences_) share_fences(0, threads_, ~0u);
}

// Threads that have met publish what lies before the fence of any of them: each thread writes and calls
// __threadfence, all meet, and one of them sets the flag.
void BlockCheck::share_fences(unsigned first, unsigned end, unsigned lanes) {
    Stamp latest = 0;
    for (unsigned thread = first; thread < end; ++thread)
        if (lanes >> thread % 32 & 1) latest = std::max(latest, fenced_[thread]);
    for (unsigned thread = first; thread < end; ++thread)
        if (lanes >> thread % 32 & 1) fenced_[thread] = latest;
}

void BlockCheck::warp_met(unsigned warp, unsigned lanes) {
    settle_waiting_race();
    advance();
    Stamp latest = 0;
    for (unsigned lane = 0; lane < 32 && warp * 32 + lane < threads_; ++lane)
        if (lanes >> lane & 1) latest = std::max(latest, acquired_[warp * 32 + lane]);
    for (unsigned lane = 0; lane < 32 && warp * 32 + lane < threads_; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        met_[warp * 32 + lane] = state_.now;
        acquired_[warp * 32 + lane] = latest;
    }
    if (fences_) share_fences(warp * 32, std::min(threads_, warp * 32 + 32), lanes);
}

void BlockCheck::group_met(unsigned first, unsigned count) {
    settle_waiting_race();
    state_.barriers_alone = 0;
    advance();
    const unsigned end = std::min(threads_, first + count);
    Stamp latest = 0;
    for (unsigned thread = first; thread < end; ++thread) latest = std::max(latest, acquired_[thread]);
    for (unsigned thread = first; thread < end; ++thread) {
        met_in_block_[thread] = met_[thread] = state_.now;
        acquired_[thread] = latest;
    }
    if (fences_) share_fences(first, end, ~0u);
}

void BlockCheck::waited(unsigned thread, bool device) {
    settle_waiting_race();
    state_.barriers_alone = 0;
    advance();
    met_[thread] = met_in_block_[thread] = state_.now;
    Stamp known = acquired_[thread];
    if (device) known = state_.now;
    // Threads of the block for which this one waited have told it what they knew.
    acquired_[thread] = std::max(known, all_acquired_);
    all_acquired_ = std::max(all_acquired_, acquired_[thread]);
    if (fences_) fenced_[thread] = *std::max_element(fenced_.begin(), fenced_.end());
}

void BlockCheck::grid_met() {
    settle_waiting_race();
    state_.barriers_alone = 0;
    advance();
    state_.interval = std::max(state_.interval, launch_->past());
    for (Stamp& met : met_) met = std::max(met, state_.interval);
}

void BlockCheck::fence(unsigned thread) {
    settle_waiting_race();
    state_.barriers_alone = 0;
    advance();
    fences_ = true;
    fenced_[thread] = state_.now;
}

void BlockCheck::went_on() {
    if (launch_->last_ticked() == block_) return;
    state_.mixed = 1;
    use_slots(false);
    advance();
}

void BlockCheck::end_block() { settle_waiting_race(); }

bool BlockCheck::is_of_this_block(Stamp stamp) const {
    return state_.mixed != 0 ? launch_->block_at(stamp) == block_ : stamp >= state_.block;
}

bool BlockCheck::is_ordered(Stamp stamp, unsigned thread, Stamp past) const {
    if (stamp < past) return true;
    if (is_of_this_block(stamp)) {
        if (stamp < state_.interval || thread_of(stamp) == thread || stamp < met_in_block_[thread])
            return true;
        if (thread_of(stamp) / 32 == thread / 32 && stamp < met_[thread]) return true;
    }
    return stamp < std::max(acquired_[thread], block_acquired_);
}

BlockCheck::Place BlockCheck::find(std::uintptr_t address) {
    if (static_.holds(address)) return {&static_, Space::shared};
    if (dynamic_.holds(address)) return {&dynamic_, Space::shared};
    return {launch_->find(address), Space::global};
}

void BlockCheck::access(unsigned thread, std::uintptr_t address, std::size_t bytes, cuscope_simt::Access kind,
                        const void* instruction) {
    using Kind = cuscope_simt::Access;
    settle_waiting_race();
    state_.thread = thread;
    state_.mine = state_.now | Stamp{thread} << stamp_thread_at;
    state_.since = met_[thread];
    Access access{};
    access.thread = thread;
    access.address = address;
    access.bytes = bytes;
    access.orders = kind == Kind::ordered || kind == Kind::ordered_load || kind == Kind::ordered_store;
    access.swaps = kind == Kind::compare_and_swap;
    access.atomic = access.orders || access.swaps || kind == Kind::atomic;
    access.reads = kind != Kind::store && kind != Kind::ordered_store && kind != Kind::volatile_store;
    access.writes = kind != Kind::load && kind != Kind::ordered_load && kind != Kind::volatile_load;
    access.is_volatile = kind == Kind::volatile_load || kind == Kind::volatile_store;
    access.instruction = instruction;
    const auto code = static_cast<Stamp>(static_cast<const char*>(instruction) - state_.code);
    access.code = code <= cuscope_simt::stamp_code_mask ? code : 0;
    if (access.swaps) launch_->guesses.add_swap({block_, thread, address}, access.code);

    check_memory(access);
    if (access.atomic || access.is_volatile) note_flags(access);
}

void BlockCheck::check_memory(const Access& access) {
    const std::uintptr_t address = access.address;
    const std::size_t bytes = access.bytes;
    const Place place = find(address);
    if (place.region == nullptr) {
        return is_engines(address) ? void() : outside(access);
    }
    Region& region = *place.region;
    if (&region == &static_ && is_guard(address - region.begin)) return;
    if (bytes > region.end - address) return beyond(access, region);
    if (!region.shadow) return;
    if (place.space == Space::global && !launch_->in_reach(region)) return outside(access);
    const cuscope_simt::CellBase cells = region.shadow->cells();
    if (!region.shadow->fit(address, bytes)) return;
    if (cells != 0 && cells != region.shadow->cells()) {
        ++launch_->cells_moved;
        forget_slots();
    }
    region.accessed = true;
    if (access.atomic && access.writes && !access.swaps) launch_->guesses.add_other(region.begin);
    settle(access, region, place.space);
    if (!access.orders && !access.is_volatile) fill_slot(access, region, place.space);
}

void BlockCheck::fill_slot(const Access& access, const Region& region, Space space) {
    const Shadow& shadow = *region.shadow;
    // Another access may have to make the granule smaller; then the cells move.
    CheckSlot& slot = slots_[cuscope_simt::check_slot(access.instruction)];
    const std::size_t granule = std::size_t{1} << shadow.shift();
    if (access.code == 0 || access.address % granule != 0 || access.bytes % granule != 0 || access.bytes > 16)
        return;
    slot.alone = access.bytes == granule ? access.instruction : nullptr;
    slot.instruction = access.instruction;
    slot.begin = region.begin;
    slot.most = region.end - region.begin - access.bytes;
    slot.cells = shadow.cells();
    slot.shift = shadow.shift();
    slot.count = static_cast<unsigned>(access.bytes >> shadow.shift());
    slot.bounds = space == Space::shared ? &state_.shared : shadow.bounds();
}

void BlockCheck::settle(const Access& access, Region& region, Space space) {
    const Shadow& shadow = *region.shadow;
    const std::size_t first = access.address >> shadow.shift();
    const std::size_t last = (access.address + access.bytes - 1) >> shadow.shift();
    for (std::size_t number = first; number <= last; ++number)
        settle_cell(access, region, space, *cuscope_simt::cell_at(shadow.cells(), number));
}

// Are both accesses atomic operations, or may they count as such? Volatile accesses do in global memory, and
// between warps: programs use them for flags. Within a warp they are how warp-synchronous code was written.
bool BlockCheck::exempt(const Access& access, Stamp stamp, Space space) const {
    if ((stamp & stamp_atomic) == 0) return false;
    if (access.atomic) return true;
    if (!access.is_volatile) return false;
    return space == Space::global || thread_of(stamp) / 32 != access.thread / 32;
}

void BlockCheck::settle_cell(const Access& access, const Region& region, Space space, Cell& cell) {
    const cuscope_simt::CellBounds& bounds =
        space == Space::shared ? state_.shared : *region.shadow->bounds();
    const Stamp past = bounds.past, written = __atomic_load_n(&bounds.written, __ATOMIC_RELAXED);
    const Stamp write = cell.write, read = cell.read;
    if (access.reads && write < written && !(space == Space::shared && in_cluster_)) {
        unwritten(access, region, space);
        if (space == Space::global) cell.write = 1;
    } else if (hides_plain_write(access, write, past)) {
        race(access, region, space, write, true, Other::unknown);
    } else if (!is_ordered(write, access.thread, past)) {
        if (!exempt(access, write, space)) race(access, region, space, write, true, Other::known);
    } else if (!access.atomic && !access.is_volatile && others_wrote(write, access.thread, past) &&
               launch_->published.count(access.address) == 0) {
        // Behind fences, the last thread to draw a ticket may reset the counter.
        race(access, region, space, write, true,
             other_blocks_wrote(write, access.thread) ? Other::of_another_block : Other::unknown);
    }
    if (access.writes && read >= past && !exempt(access, read, space)) {
        if (!is_ordered(read, access.thread, past))
            race(access, region, space, read, false, Other::known);
        else if (is_of_this_block(read) && others_read(read, access.thread))
            race(access, region, space, read, false, Other::unknown);
    }
    Stamp stamp = state_.mine | access.code | (access.atomic || access.is_volatile ? stamp_atomic : 0);
    if (access.writes) {
        if ((stamp & stamp_atomic) != 0 && write >= past && is_of_this_block(write) &&
            ((write & stamp_atomic) == 0 || (write & stamp_after_plain) != 0))
            stamp |= stamp_after_plain;
        if (access.atomic && (write & stamp_atomic) != 0) {
            Stamp among = 0;
            if (!is_ordered(write, access.thread, past)) {
                among = !is_of_this_block(write)                      ? stamp_among_blocks
                        : thread_of(write) / 32 == access.thread / 32 ? stamp_among_lanes
                                                                      : stamp_among_warps;
            }
            if (others_wrote(write, access.thread, past)) among = cuscope_simt::among_more(among, write);
            stamp |= among;
        }
        if (access.atomic && write >= past && write >= state_.interval && is_of_this_block(write) &&
            thread_of(write) / 32 == access.thread / 32 &&
            ((write & stamp_atomic) == 0 || (write & stamp_hides_plain) != 0))
            stamp |= stamp_hides_plain;
        // Its own plain write just before still races with atomic operations of other threads.
        const bool plain_before = (stamp & stamp_atomic) != 0 && (write & stamp_atomic) == 0 &&
                                  write >= state_.interval && write >= met_[access.thread] &&
                                  is_of_this_block(write) && thread_of(write) == access.thread;
        if (!plain_before) cell.write = stamp;
        return;
    }
    const bool plainer = (read & stamp_atomic) != 0 && (stamp & stamp_atomic) == 0;
    const bool ordered = is_ordered(read, access.thread, past);
    if (ordered || plainer) {
        // Other threads have read it as well, and are not ordered with this one.
        Stamp kept = 0;
        if (read >= past && read >= state_.interval && is_of_this_block(read)) {
            if (thread_of(read) / 32 == access.thread / 32) {
                kept = read & stamp_warps;
                if (read >= met_[access.thread]) kept |= read & stamp_lanes;
                if (!ordered) kept |= stamp_lanes;
            } else if (!ordered) {
                kept = stamp_warps;
            }
        }
        cell.read = stamp | kept;
    } else if (is_of_this_block(read)) {
        cell.read = read | cuscope_simt::stamp_of_several(read, state_.mine);
    }
}

// An atomic operation of another block or warp, which had written the cell plainly before. That write races
// with this access, though the two atomic operations do not.
bool BlockCheck::hides_plain_write(const Access& access, Stamp write, Stamp past) const {
    if (!access.atomic || write < past) return false;
    const Stamp acquired = std::max(acquired_[access.thread], block_acquired_);
    if (is_of_this_block(write))
        return (write & stamp_hides_plain) != 0 && write >= state_.interval && acquired < state_.block &&
               met_in_block_[access.thread] <= state_.interval && thread_of(write) / 32 != access.thread / 32;
    return (write & stamp_after_plain) != 0 && write >= acquired;
}

// An atomic write that is ordered before this thread: are there others that are not?
bool BlockCheck::others_wrote(Stamp write, unsigned thread, Stamp past) const {
    if ((write & stamp_atomic) == 0 || write < past || !is_of_this_block(write)) return false;
    if (other_blocks_wrote(write, thread)) return true;
    if (write < state_.interval || write < met_in_block_[thread] ||
        write < std::max(acquired_[thread], block_acquired_))
        return false;
    return (write & stamp_among_warps) != 0 || ((write & stamp_among_lanes) != 0 && write >= met_[thread]);
}

// The block's own barriers do not order the atomic writes of other blocks. If the thread has read a flag of
// any other block, they count as ordered.
bool BlockCheck::other_blocks_wrote(Stamp write, unsigned thread) const {
    return cuscope_simt::among_blocks(write) && std::max(acquired_[thread], block_acquired_) == 0;
}

// A read that is ordered before this thread: are there others that are not?
bool BlockCheck::others_read(Stamp read, unsigned thread) const {
    if (read < state_.interval || read < met_in_block_[thread] ||
        read < std::max(acquired_[thread], block_acquired_))
        return false;
    if ((read & stamp_warps) != 0) return true;
    return (read & stamp_lanes) != 0 && thread_of(read) == thread && read >= met_[thread];
}

// An atomic operation or a volatile access: if it writes behind a fence, it publishes what lies before the
// fence; if it reads what was published, all that is known to this thread from then on.
void BlockCheck::note_flags(const Access& access) {
    if (access.reads && !launch_->published.empty()) {
        if (const auto found = launch_->published.find(access.address); found != launch_->published.end()) {
            state_.barriers_alone = 0;
            acquired_[access.thread] = std::max(acquired_[access.thread], found->second);
            all_acquired_ = std::max(all_acquired_, found->second);
        }
    }
    if (!access.writes) return;
    Stamp published = fences_ ? fenced_[access.thread] : 0;
    if (access.orders) {
        advance();
        published = state_.now;
    }
    if (published == 0) return;
    state_.barriers_alone = 0;
    Stamp& known = launch_->published[access.address];
    known = std::max({known, published, acquired_[access.thread]});
}

bool BlockCheck::is_guard(std::size_t offset) const {
    const auto& variables = launch_->launch().image->shared_variables();
    return std::any_of(variables.begin(), variables.end(), [&](const SharedVariable& variable) {
        return variable.is_guard && offset - variable.offset < variable.bytes;
    });
}

}  // namespace cuscope::simt
