// The rendezvous of a warp's lanes. Every warp operation is built on it.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>

#include "host/checking/block_check.hpp"
#include "host/executor/block.hpp"
#include "host/executor/grid.hpp"

namespace cuscope_simt {
namespace {

// Calls function(lane) for each lane of a mask, in order.
template <class Function>
void each_lane(unsigned mask, Function function) {
    for (; mask != 0; mask &= mask - 1) function(static_cast<unsigned>(std::countr_zero(mask)));
}

unsigned combine(WarpKind kind, unsigned a, unsigned b) {
    const int left = static_cast<int>(a), right = static_cast<int>(b);
    switch (kind) {
        case WarpKind::reduce_min_signed:
            return static_cast<unsigned>(std::min(left, right));
        case WarpKind::reduce_max_signed:
            return static_cast<unsigned>(std::max(left, right));
        case WarpKind::reduce_min_unsigned:
            return std::min(a, b);
        case WarpKind::reduce_max_unsigned:
            return std::max(a, b);
        case WarpKind::reduce_and:
            return a & b;
        case WarpKind::reduce_or:
            return a | b;
        case WarpKind::reduce_xor:
            return a ^ b;
        default:
            return a + b;
    }
}

}  // namespace

CUSCOPE_ON_FIBER unsigned long long Block::warp(Strand* self, WarpKind kind, unsigned mask,
                                                unsigned long long value, int operand, int* extra,
                                                const Site* site) {
    const unsigned lane = self->lane();
    self->site = site;
    self->kind = kind;
    self->mask = mask;
    self->value = value;
    self->operand = operand;
    if ((mask >> lane & 1) == 0) {
        describe_foreign_lane(self);
        leave(self);
    }
    // Lanes beyond the block's last thread do not exist, so no lane waits for them.
    const unsigned lanes = std::min(thread_count_ - (self->linear_thread - lane), 32u);
    const unsigned wanted = lanes == 32 ? mask : mask & ((1u << lanes) - 1);
    Warp& warp = warps_[self->warp_index()];
    warp.waiting[lane] = self;
    warp.arrived |= 1u << lane;
    self->wait = Strand::Wait::warp;
    if ((warp.arrived & wanted) == wanted) {
        bool agree = true, hopeless = false;
        each_lane(wanted, [&](unsigned other) {
            const Strand& strand = *warp.waiting[other];
            if (strand.kind == kind && strand.mask == mask) return;
            agree = false;
            // That lane waits for this lane, and this lane for that one.
            if (strand.mask >> lane & 1) hopeless = true;
        });
        if (hopeless) {
            describe_deadlock(warp.waiting[std::countr_zero(wanted)]);
            leave(self);
        }
        if (agree) complete_warp(warp, wanted, kind);
        if (grid->must_leave()) leave(self);
    }
    switch_to(self, next());
    if (extra != nullptr) *extra = self->predicate;
    return self->result;
}

void Block::complete_warp(Warp& warp, unsigned mask, WarpKind kind) {
    Strand* const* lanes = warp.waiting;
    const Strand& first = *lanes[std::countr_zero(mask)];
    switch (kind) {
        case WarpKind::sync:
            break;
        case WarpKind::shuffle:
            each_lane(mask, [&](unsigned lane) {
                const auto source = static_cast<unsigned>(lanes[lane]->operand);
                const bool present = source < 32 && (mask >> source & 1) != 0;
                lanes[lane]->result = lanes[present ? source : lane]->value;
            });
            break;
        case WarpKind::ballot: {
            unsigned ballot = 0;
            each_lane(mask, [&](unsigned lane) { ballot |= unsigned{lanes[lane]->value != 0} << lane; });
            each_lane(mask, [&](unsigned lane) { lanes[lane]->result = ballot; });
            break;
        }
        case WarpKind::match_any:
            each_lane(mask, [&](unsigned lane) {
                unsigned equal = 0;
                each_lane(mask, [&](unsigned other) {
                    equal |= unsigned{lanes[other]->value == lanes[lane]->value} << other;
                });
                lanes[lane]->result = equal;
            });
            break;
        case WarpKind::match_all: {
            bool all = true;
            each_lane(mask, [&](unsigned lane) { all = all && lanes[lane]->value == first.value; });
            each_lane(mask, [&](unsigned lane) {
                lanes[lane]->result = all ? mask : 0;
                lanes[lane]->predicate = all;
            });
            break;
        }
        case WarpKind::gather:
            each_lane(mask, [&](unsigned lane) {
                warp.table[lane] = lanes[lane]->value;
                lanes[lane]->result = reinterpret_cast<std::uintptr_t>(warp.table);
            });
            break;
        default: {
            auto total = static_cast<unsigned>(first.value);
            each_lane(mask & (mask - 1), [&](unsigned lane) {
                total = combine(kind, total, static_cast<unsigned>(lanes[lane]->value));
            });
            each_lane(mask, [&](unsigned lane) { lanes[lane]->result = total; });
        }
    }
    if (latest_ns != 0) {
        std::int64_t latest = 0;
        each_lane(mask, [&](unsigned lane) { latest = std::max(latest, lanes[lane]->now()); });
        each_lane(mask, [&](unsigned lane) { lanes[lane]->clock.set(lanes[lane]->linear_thread, latest); });
    }
    if (check_) check_shuffle(warp, mask);
    if (recorder_) record_meeting(static_cast<unsigned>(&warp - warps_.data()), mask);
    warp.arrived &= ~mask;
    idle_hints_ = 0;
    make_ready(warp, mask);
}

// Makes lanes ready in the order in which they run.
void Block::make_ready(const Warp& warp, unsigned lanes) {
    ++meetings_;
    if (lanes_descend_) {
        for (unsigned lane = 32; lane-- > 0;)
            if (lanes >> lane & 1) ready_.push(warp.waiting[lane]);
    } else {
        each_lane(lanes, [&](unsigned lane) { ready_.push(warp.waiting[lane]); });
    }
}

// Called when nothing can run. Completes the operations at which all lanes that have not ended have arrived.
// A gather also needs the values of ended lanes, so it does not complete.
bool Block::release_warps_past_ended() {
    const auto count = static_cast<std::size_t>(thread_count_ + 31) / 32;
    for (std::size_t i = 0; i < count; ++i) warps_[i].going_on = 0;
    for (unsigned i = 0; i < used_; ++i) {
        const Strand& strand = *strands_[i];
        if (strand.wait != Strand::Wait::ended) warps_[strand.warp_index()].going_on |= 1u << strand.lane();
    }
    bool released = false;
    for (std::size_t i = 0; i < count; ++i) {
        Warp& warp = warps_[i];
        for (unsigned left = warp.arrived; left != 0;) {
            const Strand& first = *warp.waiting[std::countr_zero(left)];
            const unsigned wanted = first.mask & warp.going_on;
            bool agree = (warp.arrived & wanted) == wanted && first.kind != WarpKind::gather;
            each_lane(wanted & warp.arrived, [&](unsigned lane) {
                const Strand& strand = *warp.waiting[lane];
                agree = agree && strand.kind == first.kind && strand.mask == first.mask;
            });
            left &= ~wanted;
            if (!agree) continue;
            complete_warp(warp, wanted, first.kind);
            released = true;
        }
    }
    return released;
}

CUSCOPE_ON_FIBER unsigned Block::active_mask(Strand* self, const Site* site) {
    self->site = site;
    self->wait = Strand::Wait::active_mask;
    switch_to(self, next());
    return static_cast<unsigned>(self->result);
}

// In each warp, lets the lanes go on that wait at one place for the active mask. False if no lane waits so.
bool Block::release_active_mask() {
    bool released = false;
    for (unsigned i = 0; i < used_; ++i) {
        Strand* strand = strands_[i];
        if (strand->wait != Strand::Wait::active_mask) continue;
        Warp& warp = warps_[strand->warp_index()];
        if (warp.converged == 0) warp.converged_site = strand->site;
        if (!cuscope::simt::same_site(strand->site, warp.converged_site)) continue;
        warp.waiting[strand->lane()] = strand;
        warp.converged |= 1u << strand->lane();
        released = true;
    }
    if (!released) return false;
    for (Warp& warp : warps_) {
        each_lane(warp.converged, [&](unsigned lane) {
            warp.waiting[lane]->wait = Strand::Wait::none;
            warp.waiting[lane]->result = warp.converged;
        });
        make_ready(warp, warp.converged);
        warp.converged = 0;
    }
    return true;
}

}  // namespace cuscope_simt
