#include "host/counting/recorder.hpp"

#include <algorithm>
#include <bit>
#include <utility>

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

}  // namespace

void Recorder::begin(Setting setting) {
    setting_ = std::move(setting);
    sites_.assign(setting_.code.end - setting_.code.begin + 1, 0);
    kinds_.clear();
    costs_.clear();
    variables_.clear();
    for (const auto& variable : setting_.image_object->globals()) {
        if (!variable.constant) variables_.emplace_back(variable.address, variable.bytes);
    }
    warps_.clear();
    warps_.resize((setting_.threads + 31) / 32);
    last_ = {};
    sums_ = {};
    sums_.ranges.resize(setting_.counting->ranges().size());
    lines_.reset();
    if (setting_.profile == nullptr) return;
    lines_ = std::make_unique<LineCounts>(*setting_.profile);
    behind_.assign(setting_.threads, {});
}

void Recorder::begin_block(std::uint64_t index) {
    if (!lines_) return;
    lines_->begin_block(index);
    std::fill(behind_.begin(), behind_.end(), Behind{});
}

void Recorder::add_lines() const {
    if (!lines_) return;
    std::vector<std::uint32_t> offsets(kinds_.size());
    for (std::size_t i = 0; i < sites_.size(); ++i)
        if (sites_[i] != 0) offsets[sites_[i] - 1] = static_cast<std::uint32_t>(i);
    setting_.profile->add(*lines_, offsets);
}

Recorder::Sequence& Recorder::sequence(Warp& warp, const char* instruction, Kind kind) {
    std::uint32_t& known = sites_[reinterpret_cast<std::uintptr_t>(instruction) - setting_.code.begin];
    if (known == 0) {
        kinds_.push_back(kind);
        costs_.push_back(kind == Kind::step && profiler_ ? profiler_->cost(instruction) : nullptr);
        known = static_cast<std::uint32_t>(kinds_.size());
    }
    const std::uint32_t site = known - 1;
    if (warp.sequences.size() <= site) warp.sequences.resize(kinds_.size());
    Sequence& sequence = warp.sequences[site];
    if (!sequence.touched) {
        sequence.touched = true;
        warp.touched.push_back(site);
    }
    return sequence;
}

void Recorder::access(unsigned thread, const char* instruction, std::uintptr_t address, unsigned bytes,
                      cuscope_simt::Access access) {
    if (past_limit()) return;
    const unsigned lane = thread % 32;
    Warp& warp = warps_[thread / 32];
    Sequence& its = sequence(warp, instruction, static_cast<Kind>(access));
    std::uint32_t& executed = its.executed[lane];
    executed = std::max(executed, its.first);
    const std::size_t index = executed++ - its.first;
    if (index == its.requests.size()) {
        its.requests.emplace_back();
        ++warp.open;
    }
    Request& request = its.requests[index];
    request.mask |= 1u << lane;
    request.bytes = bytes;
    request.address[lane] = address;
    ++warp.pending[lane];
    if (!profiler_) return;
    if (access == cuscope_simt::Access::load) join(thread, request);
    if (lane == 0)
        profiler_->go_on(thread / 32, access,
                         setting_.static_shared.holds(address) || setting_.dynamic_shared.holds(address));
}

// Looks for a load of the same thread that ends where this one begins, so that a GPU could do both as one
// load of 8 or 16 bytes. It may be any load of the same iteration of a loop; loops that a GPU's compiler
// unrolls and the host's does not are short, so a few loads of the iteration before count as well.
void Recorder::join(unsigned thread, Request& request) {
    constexpr unsigned loads_of_short_loops = 4;
    Recent& recent = recent_[thread];
    const unsigned lane = thread % 32;
    const std::uintptr_t address = request.address[lane], end = address + request.bytes;
    const auto fits = [&](std::uintptr_t begin) {
        return begin / 16 == (end - 1) / 16 && (begin % 16 == 0 || (begin % 8 == 0 && end - begin <= 8));
    };
    std::uintptr_t begin = address;
    for (unsigned ago = 0; address % 16 != 0 && ago < recent.runs.size(); ++ago) {
        const Recent::Run& run = recent.runs[(recent.next - 1 - ago) % recent.runs.size()];
        if (run.end != address || (ago >= loads_of_short_loops && run.lap != recent.lap)) continue;
        if (fits(run.begin)) begin = run.begin;
        break;
    }
    recent.runs[recent.next++ % recent.runs.size()] = {begin, end, recent.lap};
    if (begin == address) return;
    const auto before = static_cast<unsigned>(address - begin);
    if (request.joined == 0) request.before = before;
    if (request.before == before) request.joined |= 1u << lane;
}

void Recorder::step(unsigned thread, const char* instruction) {
    if (past_limit()) return;
    Warp& warp = warps_[thread / 32];
    Sequence& its = sequence(warp, instruction, Kind::step);
    ++its.executed[thread % 32];
    if (profiler_) {
        Recent& recent = recent_[thread];
        if (its.executed[thread % 32] > recent.repeats) {
            ++recent.repeats;
            ++recent.lap;
        }
    }
    if (lines_) go_on(warp, thread, static_cast<std::uint32_t>(&its - warp.sequences.data()), its);
}

// The thread goes on from its last basic block to this one.
void Recorder::go_on(Warp& warp, unsigned thread, std::uint32_t site, const Sequence& to) {
    Behind& behind = behind_[thread];
    if (behind.site != 0) {
        Sequence& from = warp.sequences[behind.site - 1];
        if (!from.touched) {
            from.touched = true;
            warp.touched.push_back(behind.site - 1);
        }
        from.targets.add(behind.execution, site + 1);
    }
    behind = {site + 1, to.executed[thread % 32]};
}

void Recorder::meet(unsigned index) {
    Warp& warp = warps_[index];
    if (profiler_) count_skipped(warp);
    for (const std::uint32_t site : warp.touched) finish(warp, site);
    warp.touched.clear();
    if (lines_) {
        const unsigned end = std::min(setting_.threads, index * 32 + 32);
        for (unsigned thread = index * 32; thread < end; ++thread) behind_[thread].execution = 0;
    }
    warp.pending.fill(0);
    warp.open = 0;
    if (!profiler_) return;
    const unsigned end = std::min(setting_.threads, index * 32 + 32);
    for (unsigned thread = index * 32; thread < end; ++thread) {
        ++recent_[thread].lap;
        recent_[thread].repeats = 0;
    }
    profiler_->met(index);
}

void Recorder::meet_all() {
    for (unsigned i = 0; i < warps_.size(); ++i) meet(i);
    if (profiler_ && events_ <= most_events_) profiler_->barrier();
}

// How often the warp has executed the block in the record behind that of this block, since it last met.
std::uint32_t Recorder::executed_next(const Warp& warp, std::uint32_t site) const {
    const cuscope_simt::BlockCost& next = costs_[site][1];
    const char* instruction = reinterpret_cast<const char*>(&next.site) + next.site;
    const std::uint32_t known = sites_[reinterpret_cast<std::uintptr_t>(instruction) - setting_.code.begin];
    if (known == 0 || known > warp.sequences.size()) return 0;
    const auto& executed = warp.sequences[known - 1].executed;
    return *std::max_element(executed.begin(), executed.end());
}

// A warp issues the instructions of a predicated block even when none of its lanes executes it: that is each
// time that it executes the block before it without this one.
void Recorder::count_skipped(Warp& warp) {
    for (const auto& [site, count] : std::exchange(warp.undecided, {}))
        if (const std::uint32_t executed = executed_next(warp, site); executed < count)
            profiler_->predicated(number_of(warp), costs_[site], count - executed);
    for (const std::uint32_t site : warp.touched) {
        const cuscope_simt::BlockCost* cost = costs_[site];
        if (cost == nullptr || (cost->flags & cuscope_simt::next_is_predicated) == 0) continue;
        const auto& executed = warp.sequences[site].executed;
        const std::uint32_t count = *std::max_element(executed.begin(), executed.end());
        if ((cost->flags & cuscope_simt::meets_before_branch) != 0) {
            warp.undecided.emplace_back(site, count);
        } else if (const std::uint32_t next = executed_next(warp, site); next < count) {
            profiler_->predicated(number_of(warp), cost, count - next);
        }
    }
}

void Recorder::finish(Warp& warp, std::uint32_t site) {
    Sequence& its = warp.sequences[site];
    if (kinds_[site] == Kind::step) {
        std::uint64_t all = 0;
        for (const std::uint32_t count : its.executed) all += count;
        const std::uint32_t most = *std::max_element(its.executed.begin(), its.executed.end());
        sums_.thread_steps += all;
        sums_.warp_steps += most;
        if (lines_) {
            LineCounts::Step& step = lines_->step(site);
            step.warps += most;
            step.threads += all;
            step.divergent += its.targets.take();
        }
        if (profiler_ && costs_[site] != nullptr) profiler_->steps(number_of(warp), costs_[site], most);
    } else {
        settle(warp, its, kinds_[site], its.requests.size());
    }
    its.executed.fill(0);
    its.first = 0;
    its.touched = false;
}

void Recorder::settle(Warp& warp, Sequence& its, Kind kind, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        joined_ = profiler_ && its.requests[i].joined == its.requests[i].mask;
        settle(number_of(warp), static_cast<std::uint32_t>(&its - warp.sequences.data()), its.requests[i],
               kind);
    }
    joined_ = false;
    its.requests.erase(its.requests.begin(), its.requests.begin() + static_cast<std::ptrdiff_t>(count));
    its.first += static_cast<std::uint32_t>(count);
    warp.open -= count;
}

void Recorder::settle_common(unsigned index, unsigned lanes) {
    Warp& warp = warps_[index];
    for (const std::uint32_t site : warp.touched) {
        if (kinds_[site] == Kind::step) continue;
        Sequence& its = warp.sequences[site];
        std::uint32_t left_behind = its.first + static_cast<std::uint32_t>(its.requests.size());
        each_lane(lanes, [&](unsigned lane) { left_behind = std::min(left_behind, its.executed[lane]); });
        if (left_behind > its.first) settle(warp, its, kinds_[site], left_behind - its.first);
    }
    if (warp.open < most_open) return;
    // The lanes are in different branches, and will hardly execute the same instructions.
    for (const std::uint32_t site : warp.touched) {
        Sequence& its = warp.sequences[site];
        if (kinds_[site] != Kind::step) settle(warp, its, kinds_[site], its.requests.size());
    }
}

void Recorder::begin_profile(std::uint64_t most_events) {
    profiler_ = std::make_unique<Profiler>(*setting_.image_object, *setting_.counting,
                                           static_cast<unsigned>(warps_.size()));
    for (Warp& warp : warps_) warp.undecided.clear();
    events_ = 0;
    most_events_ = most_events;
    recent_.assign(setting_.threads, {});
    for (std::size_t i = 0; i < sites_.size(); ++i)
        if (const std::uint32_t site = sites_[i]; site != 0 && kinds_[site - 1] == Kind::step)
            costs_[site - 1] = profiler_->cost(setting_.code.begin_pointer() + i);
}

BlockProfile Recorder::end_profile(std::uint64_t index) {
    BlockProfile profile = profiler_->end(index, events_, std::min(events_, most_events_));
    profiler_.reset();
    return profile;
}

void Recorder::forget() {
    for (Warp& warp : warps_) warp = {};
    std::fill(behind_.begin(), behind_.end(), Behind{});
}

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
    const auto count_global = [&](unsigned lanes) {
        GlobalCounts counts;
        const auto threads = static_cast<std::uint64_t>(std::popcount(lanes));
        if (kind == Kind::atomic) {
            counts.atomics = threads;
            return counts;
        }
        Distinct sectors;
        each_lane(lanes, [&](unsigned lane) {
            const std::uintptr_t address = request.address[lane];
            sectors.add(address / sector_bytes);
            sectors.add((address + request.bytes - 1) / sector_bytes);
        });
        const bool is_load = kind == Kind::load;
        (is_load ? counts.loads : counts.stores) = threads;
        (is_load ? counts.load_requests : counts.store_requests) = 1;
        (is_load ? counts.load_sectors : counts.store_sectors) = sectors.count();
        (is_load ? counts.load_bytes : counts.store_bytes) = threads * request.bytes;
        return counts;
    };
    unsigned left = request.mask, global = 0;
    AccessedPlace first_place;
    bool whole = false;
    while (left != 0) {
        const std::uintptr_t address = request.address[std::countr_zero(left)];
        if (!last_.stretch.holds(address)) last_ = find(address);
        unsigned here = 0;
        each_lane(left, [&](unsigned lane) {
            if (last_.stretch.holds(request.address[lane])) here |= 1u << lane;
        });
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

// The passes that these lanes need together, for the `bytes` from `before` bytes in front of their addresses
// on. In one pass, each bank serves one word, to any number of lanes.
unsigned Recorder::passes(const Request& request, unsigned lanes, unsigned before, unsigned bytes) {
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
