// The cost of a request of a warp: the memory that it touches, its sectors, and its passes through the banks
// of shared memory.
#include <algorithm>
#include <bit>
#include <numeric>

#include "host/counting/distinct.hpp"
#include "host/counting/lanes.hpp"
#include "host/counting/recorder.hpp"

namespace cuscope::simt {
namespace {

std::uint64_t number_of_lanes(unsigned mask) {
    return mask == ~0u ? 32 : static_cast<std::uint64_t>(std::popcount(mask));
}

// The lanes whose addresses lie in a stretch.
unsigned lanes_within(const WarpRequest& request, unsigned lanes, const Stretch& stretch) {
    unsigned within = 0;
    each_lane(lanes, [&](unsigned lane) {
        within |= static_cast<unsigned>(request.address[lane] - stretch.begin < stretch.end - stretch.begin)
                  << lane;
    });
    return within;
}

// The accesses of half a warp, if each lane is the same distance from the one before.
struct Run {
    std::uintptr_t first = 0, last = 0;  // the lowest and the highest address
    std::intptr_t step = 0;
    // Is there no sector between them that they do not touch?
    bool is_dense() const {
        return step <= static_cast<std::intptr_t>(sector_bytes) &&
               -step <= static_cast<std::intptr_t>(sector_bytes);
    }
};
bool find_run(const std::uintptr_t* address, Run* run) {
    if (!are_in_steps(address)) return false;
    *run = {std::min(address[0], address[15]), std::max(address[0], address[15]),
            static_cast<std::intptr_t>(address[1] - address[0])};
    return true;
}

// Both halves of a warp.
struct Runs {
    Run one, other;
    bool are_known = false;
    bool are_whole = false;  // the second one continues the first one
    explicit Runs(const WarpRequest& request) {
        const std::uintptr_t* address = request.address.data();
        are_known = request.mask == ~0u && find_run(address, &one) && find_run(address + 16, &other);
        are_whole = are_known && one.step == other.step &&
                    address[16] - address[15] == static_cast<std::uintptr_t>(one.step);
    }
    // Does no access reach into a second word, or a second sector?
    bool are_aligned(unsigned bytes) const {
        return bytes <= sector_bytes && std::has_single_bit(bytes) &&
               ((one.first | other.first | static_cast<std::uintptr_t>(one.step) |
                 static_cast<std::uintptr_t>(other.step)) &
                (bytes - 1)) == 0;
    }
};

// The number of different sectors that two runs touch; 0: not known.
std::uint64_t sectors_of(const Runs& runs, unsigned bytes) {
    if (runs.are_whole && !runs.one.is_dense() && runs.are_aligned(bytes)) return 32;
    if (!runs.one.is_dense() || !runs.other.is_dense()) return 0;
    const auto first = [](const Run& run) { return run.first / sector_bytes; };
    const auto last = [&](const Run& run) { return (run.last + bytes - 1) / sector_bytes; };
    const Run &one = runs.one, &other = runs.other;
    const std::uint64_t both = last(one) - first(one) + last(other) - first(other) + 2;
    const std::uint64_t begin = std::max(first(one), first(other)), end = std::min(last(one), last(other));
    return begin <= end ? both - (end - begin + 1) : both;
}

// The passes that two runs of words need together; 0: not known.
unsigned passes_of(const Runs& runs, unsigned bytes) {
    constexpr std::intptr_t word = 4;
    if (bytes > word || !runs.are_aligned(bytes)) return 0;
    const Run &one = runs.one, &other = runs.other;
    const auto is_near = [](const Run& run) { return run.step <= word && -run.step <= word; };
    if (is_near(one) && is_near(other)) {
        // Words without a gap: 32 of them lie in different banks.
        const std::uintptr_t begin = std::min(one.first, other.first) / word;
        const std::uintptr_t end = std::max(one.last, other.last) / word;
        return end - begin < 32 ? 1 : 0;
    }
    if (!runs.are_whole || one.step % word != 0) return 0;
    return static_cast<unsigned>(std::gcd(one.step / word, std::intptr_t{32}));
}

// The number of different sectors that a request touches.
std::uint64_t sectors_of(const WarpRequest& request, unsigned lanes, Distinct& sectors) {
    std::uintptr_t low = ~std::uintptr_t{0}, high = 0;
    each_lane(lanes, [&](unsigned lane) {
        low = std::min(low, request.address[lane]);
        high = std::max(high, request.address[lane]);
    });
    const std::uintptr_t first = low / sector_bytes, last = (high + request.bytes - 1) / sector_bytes;
    if (last - first < 64) {
        std::uint64_t touched = 0;
        each_lane(lanes, [&](unsigned lane) {
            const std::uintptr_t address = request.address[lane];
            touched |= std::uint64_t{1} << (address / sector_bytes - first);
            touched |= std::uint64_t{1} << ((address + request.bytes - 1) / sector_bytes - first);
        });
        return static_cast<std::uint64_t>(std::popcount(touched));
    }
    sectors.clear();
    each_lane(lanes, [&](unsigned lane) {
        const std::uintptr_t address = request.address[lane];
        sectors.add(address / sector_bytes);
        sectors.add((address + request.bytes - 1) / sector_bytes);
    });
    return sectors.count();
}

}  // namespace

Recorder::Place Recorder::find(std::uintptr_t address) const {
    for (const Stretch& shared : {setting_.static_shared, setting_.dynamic_shared})
        if (shared.holds(address)) return {Place::Kind::shared, shared};
    if (setting_.image.holds(address)) {
        for (const Stretch& variable : variables_)
            if (variable.holds(address)) return {Place::Kind::variable, variable};
    }
    const std::vector<CountedRange>& ranges = setting_.counting->ranges();
    const auto after =
        std::upper_bound(ranges.begin(), ranges.end(), address,
                         [](std::uintptr_t at, const CountedRange& range) { return at < range.begin; });
    Place place;
    if (after != ranges.begin() && address < after[-1].end) {
        place.kind = Place::Kind::range;
        place.range = static_cast<std::size_t>(after - ranges.begin()) - 1;
        place.stretch.begin = after[-1].begin;
        place.stretch.end = after[-1].end;
    } else {
        place.stretch.begin = address;
        place.stretch.end = address + 1;
    }
    return place;
}

// Of the memory that holds the address.
AccessedPlace Recorder::place_of(const Place& place, std::uintptr_t address) const {
    using In = AccessedPlace::Kind;
    if (place.kind == Place::Kind::range) return {In::range, place.range, place.stretch.begin};
    if (place.kind == Place::Kind::variable) {
        const auto& globals = setting_.image_object->globals();
        for (std::size_t i = 0; i < globals.size(); ++i)
            if (reinterpret_cast<std::uintptr_t>(globals[i].address) == place.stretch.begin)
                return {In::module_variable, i, place.stretch.begin};
    }
    if (!setting_.static_shared.holds(address)) return {In::dynamic_shared, 0, place.stretch.begin};
    const auto& variables = setting_.image_object->shared_variables();
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const std::uintptr_t begin = place.stretch.begin + variables[i].offset;
        if (!variables[i].is_guard && address >= begin && address < begin + variables[i].bytes)
            return {In::static_shared, i, begin};
    }
    return {In::static_shared, variables.size(), place.stretch.begin};
}

// Counts request_ so many times.
void Recorder::settle(unsigned warp, std::uint32_t site, Sequence& its, std::uint64_t times) {
    const Request& request = request_;
    const Kind kind = kinds_[site];
    Place& last = its.last;
    unsigned left = request.mask;
    const Runs runs(request);
    const auto count_global = [&](unsigned lanes) {
        GlobalCounts counts;
        const std::uint64_t threads = times * number_of_lanes(lanes);
        if (kind == Kind::atomic) {
            counts.atomics = threads;
            return counts;
        }
        std::uint64_t sectors = runs.are_known && lanes == ~0u ? sectors_of(runs, request.bytes) : 0;
        if (sectors == 0) sectors = sectors_of(request, lanes, distinct_);
        const bool is_load = kind == Kind::load;
        (is_load ? counts.loads : counts.stores) = threads;
        (is_load ? counts.load_requests : counts.store_requests) = times;
        (is_load ? counts.load_sectors : counts.store_sectors) = times * sectors;
        (is_load ? counts.load_bytes : counts.store_bytes) = threads * request.bytes;
        return counts;
    };
    const auto all_within = [&](const Stretch& stretch) {
        return runs.are_known && left == ~0u && stretch.holds(std::min(runs.one.first, runs.other.first)) &&
               stretch.holds(std::max(runs.one.last, runs.other.last));
    };
    unsigned global = 0;
    AccessedPlace first_place;
    bool whole = false;
    while (left != 0) {
        const std::uintptr_t address = request.address[std::countr_zero(left)];
        if (!last.stretch.holds(address)) last = find(address);
        const unsigned here = all_within(last.stretch) ? left : lanes_within(request, left, last.stretch);
        left &= ~here;
        if (last.kind == Place::Kind::uncounted) continue;
        if (last.kind == Place::Kind::shared) {
            const unsigned known = runs.are_known && here == ~0u ? passes_of(runs, request.bytes) : 0;
            count_shared(warp, site, last, here, times, known);
            continue;
        }
        if (lines_ && global == 0) first_place = place_of(last, address);
        global |= here;
        if (last.kind != Place::Kind::range) continue;
        const GlobalCounts counts = count_global(here);
        sums_.ranges[last.range] += counts;
        if (here == request.mask) {
            sums_.global += counts;
            whole = true;
        }
    }
    if (global != 0 && !whole) sums_.global += count_global(global);
    if (lines_ && global != 0)
        lines_->global(site, warp, request, global, static_cast<cuscope_simt::Access>(kind), first_place);
    if (profiler_ && global != 0)
        profiler_->global(warp, request, global, static_cast<cuscope_simt::Access>(kind));
}

// In one pass of an atomic operation, each bank serves one lane.
std::uint64_t Recorder::passes_of_atomic(const Request& request, unsigned lanes) {
    std::array<unsigned, banks> count{};
    unsigned most = 1;
    each_lane(lanes, [&](unsigned lane) {
        most = std::max(most, ++count[request.address[lane] / bank_bytes % banks]);
    });
    return most;
}

// Does no bank serve two words? `bytes` lie in one word of each lane.
bool Recorder::without_conflict(const Request& request, unsigned lanes, unsigned before, unsigned bytes) {
    auto& word_of = in_bank_[0];
    unsigned used = 0, conflicts = 0;
    each_lane(lanes, [&](unsigned lane) {
        const std::uintptr_t address = request.address[lane] - before, word = address / bank_bytes;
        const unsigned bank = word % banks;
        const bool is_used = (used >> bank & 1) != 0;
        conflicts |= static_cast<unsigned>(is_used && word_of[bank] != word) |
                     static_cast<unsigned>((address + bytes - 1) / bank_bytes != word);
        word_of[bank] = word;
        used |= 1u << bank;
    });
    return conflicts == 0;
}

// The passes that these lanes need together, for the `bytes` from `before` bytes in front of their addresses
// on. In one pass, each bank serves one word, to any number of lanes.
unsigned Recorder::passes(const Request& request, unsigned lanes, unsigned before, unsigned bytes) {
    if (bytes <= bank_bytes && without_conflict(request, lanes, before, bytes)) return 1;
    std::array<unsigned, banks> count{};
    unsigned most = 1;
    each_lane(lanes, [&](unsigned lane) {
        const std::uintptr_t address = request.address[lane] - before;
        const std::uintptr_t begin = address / bank_bytes, end = (address + bytes - 1) / bank_bytes;
        for (std::uintptr_t bank_word = begin; bank_word <= end; ++bank_word) {
            auto& known = in_bank_[bank_word % banks];
            unsigned& size = count[bank_word % banks];
            if (std::find(known.begin(), known.begin() + size, bank_word) != known.begin() + size) continue;
            known[size++] = bank_word;
            most = std::max(most, size);
        }
    });
    return most;
}

// The same for a load, as a device divides its lanes: the two halves of the warp (for words of 8 bytes), or
// the two quarters of a half (for 16) are served together if each lane reads the same address as the lane
// beside it, or as the lane two places away. On an H200, a load of 16 bytes that is the same for each half of
// the warp takes two passes.
unsigned Recorder::passes_on_device(const Request& request, unsigned lanes, unsigned before, unsigned bytes) {
    if (bytes <= bank_bytes) return passes(request, lanes, before, bytes);
    const unsigned width = bytes <= 2 * bank_bytes ? 16 : 8;
    if (bytes > 2 * bank_bytes) bytes = 4 * bank_bytes;  // three words take a load of four
    unsigned sum = 0;
    for (unsigned first = 0; first < 32; first += 2 * width) {
        const unsigned low = ((1u << width) - 1) << first, both = lanes & (low | low << width);
        const auto share = [&](unsigned step) {
            bool all = true;
            each_lane(both, [&](unsigned lane) {
                const unsigned other = lane ^ step;
                all = all && ((both >> other & 1) == 0 || request.address[lane] == request.address[other]);
            });
            return all;
        };
        if (both == 0) continue;
        if (share(1) || share(2)) {
            sum += passes(request, both, before, bytes);
            continue;
        }
        for (const unsigned part : {both & low, both & ~low})
            if (part != 0) sum += passes(request, part, before, bytes);
    }
    return sum;
}

// Counts the passes that request_ needs, so many times. Accesses of 8 bytes are served to half a warp at a
// time, accesses of 16 bytes to a quarter. `known`: the passes of accesses of up to 4 bytes, if not 0.
void Recorder::count_shared(unsigned warp, std::uint32_t site, const Place& its_place, unsigned lanes,
                            std::uint64_t times, unsigned known) {
    const Request& request = request_;
    const Kind kind = kinds_[site];
    SharedCounts& counts = sums_.shared;
    const std::uint64_t threads = times * number_of_lanes(lanes);
    const auto tell_lines = [&](std::uint64_t wavefronts, std::uint64_t least) {
        if (!lines_) return;
        const AccessedPlace place = place_of(its_place, request.address[std::countr_zero(lanes)]);
        lines_->shared(site, warp, request, lanes, static_cast<cuscope_simt::Access>(kind), place, wavefronts,
                       least);
    };
    if (kind == Kind::atomic) {
        counts.atomics += threads;
        if (lines_) tell_lines(passes_of_atomic(request, lanes), 1);
        if (profiler_)
            profiler_->shared(warp, passes_of_atomic(request, lanes), cuscope_simt::Access::atomic, false);
        return;
    }
    std::uint64_t wavefronts = known, least = 1;
    if (known == 0) {
        const unsigned width = request.bytes <= 4 ? 32 : request.bytes <= 8 ? 16 : 8;
        least = 0;
        for (unsigned first = 0; first < 32; first += width) {
            const unsigned phase = lanes & ((width == 32 ? ~0u : (1u << width) - 1) << first);
            if (phase == 0) continue;
            wavefronts += passes(request, phase, 0, request.bytes);
            ++least;
        }
    }
    tell_lines(wavefronts, least);
    if (profiler_) {
        auto in_pipe = static_cast<double>(wavefronts);
        if (joined_) {
            in_pipe = passes_on_device(request, lanes, request.before, request.before + request.bytes);
            in_pipe -= passes_on_device(request, lanes, request.before, request.before);
        } else if (kind == Kind::load && known == 0) {
            in_pipe = passes_on_device(request, lanes, 0, request.bytes);
        }
        profiler_->shared(warp, in_pipe, static_cast<cuscope_simt::Access>(kind), joined_);
    }
    if (kind == Kind::load) {
        counts.loads += threads;
        counts.load_requests += times;
        counts.load_wavefronts += times * wavefronts;
        counts.load_bank_conflicts += times * (wavefronts - least);
    } else {
        counts.stores += threads;
        counts.store_requests += times;
        counts.store_wavefronts += times * wavefronts;
        counts.store_bank_conflicts += times * (wavefronts - least);
    }
}

}  // namespace cuscope::simt
