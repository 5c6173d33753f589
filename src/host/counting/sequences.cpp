// Puts the accesses of the lanes of a warp together to requests.
#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "host/counting/lanes.hpp"
#include "host/counting/recorder.hpp"

namespace cuscope::simt {
namespace {

std::uintptr_t times(std::int64_t stride, std::size_t count) {
    return static_cast<std::uintptr_t>(stride) * count;
}

}  // namespace

// Counts the first `count` requests of a site, and forgets their addresses.
void Recorder::settle(Warp& warp, std::uint32_t site, std::size_t count) {
    Sequence& its = *warp.sequences[site];
    if (count == all_requests && settle_alike(number_of(warp), site, its)) return;
    std::array<std::size_t, 32> counts;
    std::size_t most = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        counts[lane] = its.count(lane);
        most = std::max(most, counts[lane]);
    }
    count = std::min(count, most);
    if (count == 0) return;
    const Accesses& from = *its.accesses;
    Cursor& at = cursor_;
    for (unsigned lane = 0; lane < 32; ++lane) {
        at.left[lane] = 0;
        at.next[lane] = its.begin[lane];
    }
    for (std::size_t number = 0; number < count;) {
        std::size_t pieces = count - number;
        unsigned mask = 0;
        bool is_regular = true;
        std::int64_t stride = 0;
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (number >= counts[lane]) continue;
            if (at.left[lane] == 0) {
                if (from.has_pieces != 0 && at.next[lane] != nullptr && at.next[lane] != from.next[lane]) {
                    const Piece& piece = *at.next[lane]++;
                    at.address[lane] = piece.first;
                    at.stride[lane] = piece.stride;
                    at.left[lane] = piece.count;
                } else {
                    const auto open = static_cast<std::uint32_t>(from.limit[lane] - from.open[lane].left);
                    at.stride[lane] = from.open[lane].stride;
                    at.address[lane] = from.expected[lane] - times(at.stride[lane], open);
                    at.left[lane] = open;
                    at.next[lane] = nullptr;
                }
            }
            if (mask == 0) stride = at.stride[lane];
            is_regular = is_regular && at.stride[lane] == stride;
            mask |= 1u << lane;
            pieces = std::min<std::size_t>(pieces, at.left[lane]);
            request_.address[lane] = at.address[lane];
        }
        request_.mask = mask;
        settle_requests(number_of(warp), site, its, number, pieces, is_regular ? &stride : nullptr);
        each_lane(mask, [&](unsigned lane) {
            at.address[lane] += times(at.stride[lane], pieces);
            at.left[lane] -= static_cast<std::uint32_t>(pieces);
        });
        number += pieces;
    }
    if (count == most)
        begin_again(its);
    else
        keep_rest(its, counts, count);
    if (!its.joined.empty())
        its.joined.erase(its.joined.begin(), its.joined.begin() + static_cast<std::ptrdiff_t>(
                                                                      std::min(count, its.joined.size())));
}

// The usual case: all lanes accessed memory equally often, and each at the same distances. False: they did
// not.
bool Recorder::settle_alike(unsigned warp, std::uint32_t site, Sequence& its) {
    Accesses& from = *its.accesses;
    if (its.has_waited || from.has_pieces != 0) return false;
    static_assert(sizeof from.open == 32 * sizeof(std::uintptr_t));
    if (!are_equal(from.open)) return false;
    const Accesses::Open open = from.open[0];
    const auto count = static_cast<std::size_t>(cuscope_simt::most_accesses - open.left);
    if (count == 0) return true;
    const std::uintptr_t all = times(open.stride, count), first = from.expected[0] - all;
    const std::uintptr_t step = first - std::exchange(its.previous_first, first);
    const bool is_expected = std::exchange(from.has_misses, 0) == 0;
    Accesses::Open again{open.stride, cuscope_simt::most_accesses};
    // A lane that makes one access each time then expects the next one at once.
    if (const auto small = static_cast<int>(step); count == 1 && step == times(small, 1))
        again.stride = small;
    fill(from.open, std::bit_cast<std::uintptr_t>(again));
    if (is_expected && count_again(its, first, count, open.stride)) {
        if (step != all) add(from.expected, step - all);
        return true;
    }
    for (unsigned lane = 0; lane < 32; lane += 2) {
        const TwoLanes begin = load_two(from.expected + lane) - TwoLanes{all, all};
        store_two(request_.address.data() + lane, begin);
        store_two(from.expected + lane, begin + TwoLanes{step, step});
    }
    request_.mask = ~0u;
    const std::int64_t stride = open.stride;
    if (is_expected && !lines_ && !profiler_) {
        settle_shape(warp, site, its, count, stride);
    } else {
        its.shape.count = 0;
        settle_requests(warp, site, its, 0, count, &stride);
    }
    its.joined.clear();
    return true;
}

// The lanes have accessed the addresses that were expected of them. False: the counts of the time before are
// not known, or this time has other counts.
bool Recorder::count_again(const Sequence& its, std::uintptr_t first, std::size_t count,
                           std::int64_t stride) {
    const Shape& shape = its.shape;
    const std::uintptr_t lowest = first + shape.to_lowest;
    const bool is_shared = its.last.kind == Place::Kind::shared;
    if (shape.count != count || (count > 1 && shape.stride != stride) ||
        (first - shape.first) % (is_shared ? bank_bytes : sector_bytes) != 0 ||
        !its.last.stretch.holds(lowest) || !its.last.stretch.holds(lowest + shape.span))
        return false;
    if (is_shared) {
        sums_.shared += shape.shared;
    } else {
        sums_.global += shape.global;
        if (its.last.kind == Place::Kind::range) sums_.ranges[its.last.range] += shape.global;
    }
    return true;
}

// Counts the requests, and keeps their counts if all of them access one place.
void Recorder::settle_shape(unsigned warp, std::uint32_t site, Sequence& its, std::size_t count,
                            std::int64_t stride) {
    Shape& shape = its.shape;
    const std::uintptr_t all = times(stride, count - 1);
    std::uintptr_t low = ~std::uintptr_t{0}, high = 0;
    for (const std::uintptr_t address : request_.address) {
        low = std::min({low, address, address + all});
        high = std::max({high, address, address + all});
    }
    shape.stride = stride;
    shape.first = request_.address[0];
    shape.to_lowest = low - shape.first;
    shape.span = high - low;
    const GlobalCounts global = std::exchange(sums_.global, {});
    const SharedCounts shared = std::exchange(sums_.shared, {});
    settle_requests(warp, site, its, 0, count, &stride);
    shape.global = sums_.global;
    shape.shared = sums_.shared;
    sums_.global += global;
    sums_.shared += shared;
    shape.count = its.last.stretch.holds(low) && its.last.stretch.holds(high) ? count : 0;
}

// Nothing is recorded any more. Each lane is expected to begin as far from its first address as the first
// lane has moved since the time before.
void Recorder::begin_again(Sequence& its) {
    Accesses& to = *its.accesses;
    std::uintptr_t step = 0;
    bool is_known = false;
    for (unsigned lane = 0; lane < 32; ++lane) {
        const auto open = static_cast<std::size_t>(to.limit[lane] - to.open[lane].left);
        const bool has_pieces = to.has_pieces != 0 && to.next[lane] != its.begin[lane];
        std::uintptr_t& expected = to.expected[lane];
        expected = has_pieces ? its.begin[lane]->first : expected - times(to.open[lane].stride, open);
        if (!is_known && (has_pieces || open != 0)) {
            step = expected - its.previous_first;
            its.previous_first = expected;
            is_known = true;
        }
        to.next[lane] = its.begin[lane];
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
        to.expected[lane] += step;
        to.open[lane].left = to.limit[lane] = cuscope_simt::most_accesses;
    }
    to.has_pieces = to.has_misses = 0;
    its.shape.count = 0;
    its.has_waited = false;
    its.before.fill(0);
}

// Keeps the accesses behind the first `count` ones of each lane. The cursors point there.
void Recorder::keep_rest(Sequence& its, const std::array<std::size_t, 32>& counts, std::size_t count) {
    Accesses& to = *its.accesses;
    its.shape.count = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        const std::size_t gone = std::min(count, counts[lane]), rest = counts[lane] - gone;
        std::uint32_t& before = its.before[lane];
        before -= static_cast<std::uint32_t>(std::min<std::size_t>(before, gone));
        int open = to.limit[lane] - to.open[lane].left;
        const Piece* const next = cursor_.next[lane];
        const std::uint32_t left = cursor_.left[lane];
        if (gone != 0 && next == nullptr) {
            open = static_cast<int>(left);
            to.next[lane] = its.begin[lane];
        } else if (gone != 0) {
            Piece* kept = its.begin[lane];
            const Piece* from = next;
            if (left != 0) *kept++ = {cursor_.address[lane], static_cast<int>(cursor_.stride[lane]), left};
            to.next[lane] = std::copy(from, static_cast<const Piece*>(to.next[lane]), kept);
        }
        to.open[lane].left = static_cast<int>(before) + cuscope_simt::most_accesses - static_cast<int>(rest);
        to.limit[lane] = to.open[lane].left + open;
    }
}

// Counts `count` requests, of which request_ is the first. `number` of them have been counted before.
// `stride`: of all lanes; null: cursor_ has the lanes' strides.
void Recorder::settle_requests(unsigned warp, std::uint32_t site, Sequence& its, std::size_t number,
                               std::size_t count, const std::int64_t* stride) {
    request_.bytes = bytes_[site];
    request_.joined = request_.before = 0;
    if (count > 1 && stride != nullptr && settle_repeated(warp, site, its, count, *stride)) return;
    for (std::size_t i = 0; i < count; ++i) {
        if (profiler_) {
            const std::size_t at = number + i;
            const Joined joined = at < its.joined.size() ? its.joined[at] : Joined{};
            request_.joined = joined.lanes;
            request_.before = joined.before;
            joined_ = joined.lanes == request_.mask;
        }
        settle(warp, site, its, 1);
        if (i + 1 == count) break;
        if (stride != nullptr) {
            add(request_.address.data(), times(*stride, 1));
        } else {
            each_lane(request_.mask,
                      [&](unsigned lane) { request_.address[lane] += times(cursor_.stride[lane], 1); });
        }
    }
    joined_ = false;
}

// The same for requests of which each is `stride` bytes behind the one before, so that only few of them
// differ. False: they have to be counted one by one.
bool Recorder::settle_repeated(unsigned warp, std::uint32_t site, Sequence& its, std::size_t count,
                               std::int64_t stride) {
    if (lines_ || profiler_) return false;
    const std::uintptr_t all = times(stride, count - 1);
    std::uintptr_t low = ~std::uintptr_t{0}, high = 0;
    each_lane(request_.mask, [&](unsigned lane) {
        low = std::min(low, request_.address[lane]);
        high = std::max(high, request_.address[lane]);
    });
    if (!its.last.stretch.holds(low)) its.last = find(low);
    const Stretch& within = its.last.stretch;
    if (!within.holds(high) || !within.holds(low + all) || !within.holds(high + all)) return false;
    // The costs of a request are the same at each place in the banks, or at the same place in a sector.
    const unsigned unit = its.last.kind == Place::Kind::shared ? bank_bytes : sector_bytes;
    const bool is_costly = kinds_[site] != Kind::atomic && its.last.kind != Place::Kind::uncounted;
    const auto within_unit = static_cast<unsigned>(static_cast<std::uintptr_t>(stride) % unit);
    const std::size_t period = is_costly ? unit / std::gcd(unit, within_unit) : 1;
    for (std::size_t i = 0; i < std::min(period, count); ++i) {
        settle(warp, site, its, (count - i + period - 1) / period);
        add(request_.address.data(), times(stride, 1));
    }
    return true;
}

}  // namespace cuscope::simt
