#include "runtime/order/access_map.hpp"

#include <algorithm>
#include <utility>

namespace cuscope::order {
namespace {

// Does a wait whose end nobody knows lie between the two? Then they may well be ordered.
bool may_be_ordered(const Command& earlier, const Command& later) {
    return earlier.polls || later.polls || earlier.clock.at(open_waits) != later.clock.at(open_waits);
}

}  // namespace

bool in_conflict(const Access& earlier, const Access& later) {
    if (earlier.by == later.by || (!earlier.writes() && !later.writes())) return false;
    // The runtime gives memory out again only when that is safe.
    if (later.role == Role::alloc) return false;
    if (earlier.role == Role::atomic && later.role == Role::atomic) return false;
    if (earlier.role == Role::atomic && later.by->stream.is_host && later.role == Role::read) {
        earlier.by->polls = true;
        return false;
    }
    if (happens_before(*later.by, *earlier.by)) return false;
    if (happens_before(*earlier.by, *later.by)) return earlier.role == Role::free && later.role != Role::free;
    return !may_be_ordered(*earlier.by, *later.by);
}

void AccessMap::split(std::uintptr_t at) {
    auto after = cells_.upper_bound(at);
    if (after == cells_.begin()) return;
    auto& [begin, cell] = *std::prev(after);
    if (begin >= at || cell.end <= at) return;
    Cell second = cell;
    cell.end = at;
    cells_.emplace_hint(after, at, std::move(second));
}

void AccessMap::settle(Cell& cell, std::uintptr_t begin, const AccessPtr& access, const Conflict& conflict) {
    const auto compare = [&](const AccessPtr& earlier) {
        if (in_conflict(*earlier, *access)) conflict(*earlier, *access, begin, cell.end);
    };
    if (cell.last) compare(cell.last);
    for (const AccessPtr& earlier : cell.since) compare(earlier);
    if (access->role == Role::read || access->role == Role::atomic) {
        // An access that is unordered with an earlier one of the same kind is unordered with this one, too.
        std::erase_if(cell.since, [&](const AccessPtr& earlier) {
            return earlier->role == access->role && happens_before(*earlier->by, *access->by);
        });
        cell.since.push_back(access);
    } else {
        cell.last = access;
        cell.since.clear();
    }
}

void AccessMap::add(const AccessPtr& access, const Conflict& conflict) {
    if (access->begin >= access->end) return;
    split(access->begin);
    split(access->end);
    std::uintptr_t at = access->begin;
    auto cell = cells_.lower_bound(at);
    const auto fill = [&](std::uintptr_t end) {  // memory without an access so far
        Cell made;
        made.end = end;
        settle(made, at, access, conflict);
        cells_.emplace_hint(cell, at, std::move(made));
    };
    while (cell != cells_.end() && cell->first < access->end) {
        if (at < cell->first) fill(cell->first);
        settle(cell->second, cell->first, access, conflict);
        at = cell->second.end;
        ++cell;
    }
    if (at < access->end) fill(access->end);
    // Cells that have become equal are one again.
    cell = cells_.lower_bound(access->begin);
    if (cell != cells_.begin()) --cell;
    while (cell != cells_.end() && cell->first < access->end) {
        const auto next = std::next(cell);
        if (next != cells_.end() && cell->second.end == next->first && cell->second == next->second) {
            cell->second.end = next->second.end;
            cells_.erase(next);
        } else {
            cell = next;
        }
    }
}

}  // namespace cuscope::order
