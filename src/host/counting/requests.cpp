// The cost of a request of a warp: the memory that it touches, its sectors, and its passes through the banks
// of shared memory.
#include <algorithm>
#include <bit>

#include "host/counting/recorder.hpp"

namespace cuscope::simt {
namespace {

constexpr unsigned bank_bytes = 4;

// A set of numbers, at most one for each piece of each lane's access. Most of them come in order.
class Distinct {
  public:
    void add(std::uintptr_t number) {
        if (count_ != 0 && number == numbers_[count_ - 1]) return;
        if (count_ == numbers_.size()) reduce();
        if (count_ != 0 && number < numbers_[count_ - 1]) ordered_ = false;
        numbers_[count_++] = number;
    }
    std::size_t count() {
        if (!ordered_) reduce();
        return count_;
    }

  private:
    void reduce() {
        std::sort(numbers_.begin(), numbers_.begin() + count_);
        count_ = static_cast<std::size_t>(std::unique(numbers_.begin(), numbers_.begin() + count_) -
                                          numbers_.begin());
        ordered_ = true;
    }

    std::array<std::uintptr_t, 128> numbers_;
    std::size_t count_ = 0;
    bool ordered_ = true;
};

// The lanes whose addresses lie in a stretch.
unsigned lanes_within(const WarpRequest& request, unsigned lanes, const Stretch& stretch) {
    unsigned within = 0;
    each_lane(lanes, [&](unsigned lane) {
        within |= static_cast<unsigned>(request.address[lane] - stretch.begin < stretch.end - stretch.begin)
                  << lane;
    });
    return within;
}

// The bytes that half a warp accesses, if each lane is the same distance from the one before, and they leave
// no sector between them.
struct Run {
    std::uintptr_t first = 0, last = 0;  // the lowest and the highest address
};
bool find_run(const std::uintptr_t* address, Run* run) {
    const std::uintptr_t step = address[1] - address[0];
    std::uintptr_t expected = address[0], difference = 0;
    for (unsigned i = 0; i < 16; ++i) {
        difference |= address[i] ^ expected;
        expected += step;
    }
    if (difference != 0 || step + sector_bytes > 2 * sector_bytes) return false;
    *run = {std::min(address[0], address[15]), std::max(address[0], address[15])};
    return true;
}

// The number of different sectors that two runs touch.
std::uint64_t sectors_of(const Run& one, const Run& other, unsigned bytes) {
    const auto first = [](const Run& run) { return run.first / sector_bytes; };
    const auto last = [&](const Run& run) { return (run.last + bytes - 1) / sector_bytes; };
    const std::uint64_t both = last(one) - first(one) + last(other) - first(other) + 2;
    const std::uint64_t begin = std::max(first(one), first(other)), end = std::min(last(one), last(other));
    return begin <= end ? both - (end - begin + 1) : both;
}

// The number of different sectors that a request touches.
std::uint64_t sectors_of(const WarpRequest& request, unsigned lanes) {
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
    Distinct sectors;
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

void Recorder::settle(unsigned warp, std::uint32_t site, const Request& request, Kind kind) {
    unsigned left = request.mask;
    Run one, other;
    const bool runs = request.mask == ~0u && find_run(request.address.data(), &one) &&
                      find_run(request.address.data() + 16, &other);
    const auto count_global = [&](unsigned lanes) {
        GlobalCounts counts;
        const auto threads = static_cast<std::uint64_t>(std::popcount(lanes));
        if (kind == Kind::atomic) {
            counts.atomics = threads;
            return counts;
        }
        const std::uint64_t sectors =
            runs && lanes == ~0u ? sectors_of(one, other, request.bytes) : sectors_of(request, lanes);
        const bool is_load = kind == Kind::load;
        (is_load ? counts.loads : counts.stores) = threads;
        (is_load ? counts.load_requests : counts.store_requests) = 1;
        (is_load ? counts.load_sectors : counts.store_sectors) = sectors;
        (is_load ? counts.load_bytes : counts.store_bytes) = threads * request.bytes;
        return counts;
    };
    const auto all_within = [&](const Stretch& stretch) {
        return runs && left == ~0u && stretch.holds(std::min(one.first, other.first)) &&
               stretch.holds(std::max(one.last, other.last));
    };
    unsigned global = 0;
    AccessedPlace first_place;
    bool whole = false;
    while (left != 0) {
        const std::uintptr_t address = request.address[std::countr_zero(left)];
        if (!last_.stretch.holds(address)) last_ = find(address);
        const unsigned here = all_within(last_.stretch) ? left : lanes_within(request, left, last_.stretch);
        left &= ~here;
        if (last_.kind == Place::Kind::uncounted) continue;
        if (last_.kind == Place::Kind::shared) {
            count_shared(warp, site, request, here, kind);
            continue;
        }
        if (lines_ && global == 0) first_place = place_of(last_, address);
        global |= here;
        if (last_.kind != Place::Kind::range) continue;
        const GlobalCounts counts = count_global(here);
        sums_.ranges[last_.range] += counts;
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

// Counts the passes that a request needs. Accesses of 8 bytes are served to half a warp at a time, accesses
// of 16 bytes to a quarter.
void Recorder::count_shared(unsigned warp, std::uint32_t site, const Request& request, unsigned lanes,
                            Kind kind) {
    SharedCounts& counts = sums_.shared;
    const auto threads = static_cast<std::uint64_t>(std::popcount(lanes));
    const auto tell_lines = [&](std::uint64_t wavefronts, std::uint64_t least) {
        if (!lines_) return;
        const AccessedPlace place = place_of(last_, request.address[std::countr_zero(lanes)]);
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
    const unsigned width = request.bytes <= 4 ? 32 : request.bytes <= 8 ? 16 : 8;
    std::uint64_t wavefronts = 0, least = 0;
    for (unsigned first = 0; first < 32; first += width) {
        const unsigned phase = lanes & ((width == 32 ? ~0u : (1u << width) - 1) << first);
        if (phase == 0) continue;
        wavefronts += passes(request, phase, 0, request.bytes);
        ++least;
    }
    tell_lines(wavefronts, least);
    if (profiler_) {
        auto its = static_cast<double>(wavefronts);
        if (joined_) {
            its = passes_on_device(request, lanes, request.before, request.before + request.bytes);
            its -= passes_on_device(request, lanes, request.before, request.before);
        } else if (kind == Kind::load) {
            its = passes_on_device(request, lanes, 0, request.bytes);
        }
        profiler_->shared(warp, its, static_cast<cuscope_simt::Access>(kind), joined_);
    }
    if (kind == Kind::load) {
        counts.loads += threads;
        ++counts.load_requests;
        counts.load_wavefronts += wavefronts;
        counts.load_bank_conflicts += wavefronts - least;
    } else {
        counts.stores += threads;
        ++counts.store_requests;
        counts.store_wavefronts += wavefronts;
        counts.store_bank_conflicts += wavefronts - least;
    }
}

}  // namespace cuscope::simt
