#include "host/counting/recorder.hpp"

#include <algorithm>
#include <utility>

namespace cuscope::simt {

void Recorder::begin(Setting setting) {
    setting_ = std::move(setting);
    sites_.assign(setting_.code.end - setting_.code.begin + 1, 0);
    kinds_.clear();
    costs_.clear();
    variables_.clear();
    for (const auto& variable : setting_.image_object->globals()) {
        if (!variable.constant) variables_.emplace_back(variable.address, variable.bytes);
    }
    bytes_.clear();
    others_.clear();
    warps_.clear();
    warps_.resize((setting_.threads + 31) / 32);
    slots_.assign(cuscope_simt::count_slots, {});
    columns_.assign(warps_.size(), nullptr);
    state_ = {};
    state_.slots = slots_.data();
    state_.warps = columns_.data();
    make_room();
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
        for (std::uint32_t number = sites_[i]; number != 0; number = others_[number - 1])
            offsets[number - 1] = static_cast<std::uint32_t>(i);
    setting_.profile->add(*lines_, offsets);
}

// The site of an instruction that accesses so many bytes: a copy may access more or fewer each time.
std::uint32_t Recorder::site_of(const char* instruction, unsigned bytes, Kind kind) {
    std::uint32_t& first = sites_[reinterpret_cast<std::uintptr_t>(instruction) - setting_.code.begin];
    std::uint32_t number = first, last = 0;
    while (number != 0 && bytes_[number - 1] != bytes) number = others_[(last = number) - 1];
    if (number == 0) {
        make_room();
        kinds_.push_back(kind);
        costs_.push_back(kind == Kind::step && profiler_ ? profiler_->cost(instruction) : nullptr);
        bytes_.push_back(bytes);
        others_.push_back(0);
        number = static_cast<std::uint32_t>(kinds_.size());
        (last == 0 ? first : others_[last - 1]) = number;
    }
    // The lines' counts need the order of the steps.
    if (hooks_write() && (kind != Kind::step || !lines_))
        slots_[cuscope_simt::count_slot(instruction)] = {instruction,
                                                         (number - 1) * cuscope_simt::column_distance, bytes};
    return number - 1;
}

// Makes room for one more site. Every warp has columns for every site, since a hook that knows the site does
// not know whether the warp does.
void Recorder::make_room() {
    constexpr std::size_t more = 16;
    for (std::size_t i = 0; i < warps_.size(); ++i) {
        Warp& warp = warps_[i];
        if (warp.sequences.size() <= kinds_.size()) {
            const std::size_t sites = kinds_.size() + more;
            warp.columns.resize(sites * 32);
            warp.is_touched.resize(sites);
            warp.sequences.resize(sites);
        }
        columns_[i] = warp.columns.data();
    }
    state_.thread = ~0u;
}

void Recorder::grow(Warp& warp, std::uint32_t site, unsigned lane) {
    constexpr std::size_t few = 16;
    Sequence& its = warp.sequences[site];
    if (!its.room) {
        its.room.reset(new std::uintptr_t[32 * few]);
        its.room_for.fill(few);
        for (unsigned i = 0; i < 32; ++i) {
            its.begin[i] = its.room.get() + i * few;
            warp.columns[site * 32 + i].next = reinterpret_cast<std::uintptr_t>(its.begin[i]);
            its.all_begins += warp.columns[site * 32 + i].next;
            set_end(warp, site, i);
        }
        return;
    }
    if (const std::size_t count = warp.count(site, lane, Kind::load); count == its.room_for[lane]) {
        std::unique_ptr<std::uintptr_t[]> larger(new std::uintptr_t[2 * count]);
        std::copy_n(its.begin[lane], count, larger.get());
        its.all_begins += reinterpret_cast<std::uintptr_t>(larger.get()) -
                          reinterpret_cast<std::uintptr_t>(its.begin[lane]);
        its.begin[lane] = larger.get();
        its.room_for[lane] = 2 * count;
        its.rooms[lane] = std::move(larger);
        warp.columns[site * 32 + lane].next = reinterpret_cast<std::uintptr_t>(its.begin[lane] + count);
    }
    set_end(warp, site, lane);
}

// A hook writes down addresses until there is no more room, or the thread is far ahead.
void Recorder::set_end(Warp& warp, std::uint32_t site, unsigned lane) const {
    const Sequence& its = warp.sequences[site];
    std::size_t count = its.room_for[lane];
    if (hooks_write()) count = std::min(count, its.at_wait[lane] + most_ahead);
    warp.columns[site * 32 + lane].end = reinterpret_cast<std::uintptr_t>(its.begin[lane] + count);
}

// Calls function(site) for each site that the lanes may have come to since they last met.
template <class Function>
void Recorder::each_site(const Warp& warp, Function function) const {
    if (hooks_write()) {
        for (std::uint32_t site = 0; site < kinds_.size(); ++site)
            if (warp.is_touched[site] != 0 || warp.has_any(site)) function(site);
    } else {
        for (const std::uint32_t site : warp.touched) function(site);
    }
}

// The number of requests that a warp has not yet put together at a site.
std::size_t Recorder::requests(const Warp& warp, std::uint32_t site) const {
    std::size_t most = 0;
    for (unsigned lane = 0; lane < 32; ++lane) most = std::max(most, warp.count(site, lane, kinds_[site]));
    return most;
}

std::uint64_t Recorder::open_requests(const Warp& warp) const {
    std::uint64_t sum = 0;
    each_site(warp, [&](std::uint32_t site) {
        if (kinds_[site] != Kind::step) sum += requests(warp, site);
    });
    return sum;
}

bool Recorder::lacks_room(unsigned thread, const char* instruction, unsigned bytes,
                          cuscope_simt::Access access) {
    if (!hooks_write()) return false;
    const std::uint32_t site = site_of(instruction, bytes, static_cast<Kind>(access));
    const Warp& warp = warps_[thread / 32];
    return warp.count(site, thread % 32, kinds_[site]) >=
           warp.sequences[site].at_wait[thread % 32] + most_ahead;
}

void Recorder::caught_up(unsigned thread) {
    Warp& warp = warps_[thread / 32];
    const unsigned lane = thread % 32;
    warp.pending[lane] = 0;
    if (!hooks_write()) return;
    each_site(warp, [&](std::uint32_t site) {
        if (kinds_[site] == Kind::step) return;
        warp.sequences[site].at_wait[lane] = warp.count(site, lane, kinds_[site]);
        warp.sequences[site].has_waited = true;
        set_end(warp, site, lane);
    });
}

void Recorder::turn_to(unsigned thread, bool alone) {
    const unsigned warp = thread / 32, before = state_.thread / 32;
    if (alone && before < warps_.size() && before != warp) {
        // Put together the requests of the warp that has ended while the caches have them, and let this one
        // use the same memory.
        meet(before);
        std::swap(warps_[before].sequences, warps_[warp].sequences);
        std::swap(warps_[before].columns, warps_[warp].columns);
        std::swap(columns_[before], columns_[warp]);
    }
    warps_[warp].is_followed = true;
    state_.thread = thread;
    state_.columns = columns_[warp] + thread % 32;
}

void Recorder::access(unsigned thread, const char* instruction, std::uintptr_t address, unsigned bytes,
                      cuscope_simt::Access access) {
    if (past_limit()) return;
    const unsigned lane = thread % 32;
    const std::uint32_t site = site_of(instruction, bytes, static_cast<Kind>(access));
    Warp& warp = warps_[thread / 32];
    cuscope_simt::Column& column = warp.columns[site * 32 + lane];
    if (column.next == column.end) grow(warp, site, lane);
    touch(warp, site);
    *reinterpret_cast<std::uintptr_t*>(column.next) = address;
    column.next += sizeof address;
    ++warp.pending[lane];
    if (!profiler_) return;
    if (access == cuscope_simt::Access::load) {
        std::vector<Joined>& joined = warp.sequences[site].joined;
        const std::size_t number = warp.count(site, lane, Kind::load);
        if (joined.size() < number) joined.resize(number);
        join(thread, address, bytes, joined[number - 1]);
    }
    if (lane == 0)
        profiler_->go_on(thread / 32, access,
                         setting_.static_shared.holds(address) || setting_.dynamic_shared.holds(address));
}

// Looks for a load of the same thread that ends where this one begins, so that a GPU could do both as one
// load of 8 or 16 bytes. It may be any load of the same iteration of a loop; loops that a GPU's compiler
// unrolls and the host's does not are short, so a few loads of the iteration before count as well.
void Recorder::join(unsigned thread, std::uintptr_t address, unsigned bytes, Joined& joined) {
    constexpr unsigned loads_of_short_loops = 4;
    Recent& recent = recent_[thread];
    const std::uintptr_t end = address + bytes;
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
    if (joined.lanes == 0) joined.before = before;
    if (joined.before == before) joined.lanes |= 1u << thread % 32;
}

void Recorder::step(unsigned thread, const char* instruction) {
    if (past_limit()) return;
    const std::uint32_t site = site_of(instruction, 0, Kind::step);
    Warp& warp = warps_[thread / 32];
    touch(warp, site);
    const auto executed = static_cast<std::uint32_t>(++warp.columns[site * 32 + thread % 32].next);
    if (profiler_) {
        Recent& recent = recent_[thread];
        if (executed > recent.repeats) {
            ++recent.repeats;
            ++recent.lap;
        }
    }
    if (lines_) go_on(warp, thread, site, executed);
}

// The thread goes on from its last basic block to this one.
void Recorder::go_on(Warp& warp, unsigned thread, std::uint32_t site, std::uint32_t execution) {
    Behind& behind = behind_[thread];
    if (behind.site != 0) {
        touch(warp, behind.site - 1);
        warp.sequences[behind.site - 1].targets.add(behind.execution, site + 1);
    }
    behind = {site + 1, execution};
}

void Recorder::meet(unsigned index) {
    Warp& warp = warps_[index];
    if (hooks_write() && !warp.is_followed) return;
    warp.is_followed = false;
    state_.thread = ~0u;  // the hooks ask before they write again
    if (profiler_) count_skipped(warp);
    each_site(warp, [&](std::uint32_t site) { finish(warp, site); });
    warp.touched.clear();
    if (lines_) {
        const unsigned end = std::min(setting_.threads, index * 32 + 32);
        for (unsigned thread = index * 32; thread < end; ++thread) behind_[thread].execution = 0;
    }
    warp.pending.fill(0);
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
std::size_t Recorder::executed_next(const Warp& warp, std::uint32_t site) const {
    const cuscope_simt::BlockCost& next = costs_[site][1];
    const char* instruction = reinterpret_cast<const char*>(&next.site) + next.site;
    const std::uint32_t known = sites_[reinterpret_cast<std::uintptr_t>(instruction) - setting_.code.begin];
    return known == 0 || known > warp.sequences.size() ? 0 : requests(warp, known - 1);
}

// A warp issues the instructions of a predicated block even when none of its lanes executes it: that is each
// time that it executes the block before it without this one.
void Recorder::count_skipped(Warp& warp) {
    for (const auto& [site, count] : std::exchange(warp.undecided, {}))
        if (const std::size_t executed = executed_next(warp, site); executed < count)
            profiler_->predicated(number_of(warp), costs_[site], count - executed);
    for (const std::uint32_t site : warp.touched) {
        const cuscope_simt::BlockCost* cost = costs_[site];
        if (cost == nullptr || (cost->flags & cuscope_simt::next_is_predicated) == 0) continue;
        const std::size_t count = requests(warp, site);
        if ((cost->flags & cuscope_simt::meets_before_branch) != 0) {
            warp.undecided.emplace_back(site, count);
        } else if (const std::size_t next = executed_next(warp, site); next < count) {
            profiler_->predicated(number_of(warp), cost, count - next);
        }
    }
}

void Recorder::finish(Warp& warp, std::uint32_t site) {
    warp.is_touched[site] = 0;
    if (kinds_[site] != Kind::step) return settle(warp, site, all_requests);
    std::uint64_t all = 0, most = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        std::uintptr_t& executed = warp.columns[site * 32 + lane].next;
        all += executed;
        most = std::max<std::uint64_t>(most, executed);
        executed = 0;
    }
    sums_.thread_steps += all;
    sums_.warp_steps += most;
    if (lines_) {
        LineCounts::Step& step = lines_->step(site);
        step.warps += most;
        step.threads += all;
        step.divergent += warp.sequences[site].targets.take();
    }
    if (profiler_ && costs_[site] != nullptr) profiler_->steps(number_of(warp), costs_[site], most);
}

// Counts the first `count` requests of a site, and forgets their addresses.
void Recorder::settle(Warp& warp, std::uint32_t site, std::size_t count) {
    Sequence& its = warp.sequences[site];
    const Kind kind = kinds_[site];
    std::array<std::size_t, 32> counts;
    std::size_t most = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        counts[lane] = warp.count(site, lane, kind);
        most = std::max(most, counts[lane]);
    }
    count = std::min(count, most);
    if (count == 0) return;
    unsigned always = 0;  // the lanes that take part in all of these requests
    for (unsigned lane = 0; lane < 32; ++lane) always |= static_cast<unsigned>(counts[lane] >= count) << lane;
    request_.bytes = bytes_[site];
    for (std::size_t i = 0; i < count; ++i) {
        request_.mask = always;
        each_lane(~always, [&](unsigned lane) {
            if (i < counts[lane]) request_.mask |= 1u << lane;
        });
        each_lane(request_.mask, [&](unsigned lane) { request_.address[lane] = its.begin[lane][i]; });
        const Joined joined = i < its.joined.size() ? its.joined[i] : Joined{};
        request_.joined = joined.lanes;
        request_.before = joined.before;
        joined_ = profiler_ && request_.joined == request_.mask;
        settle(number_of(warp), site, request_, kind);
    }
    joined_ = false;
    for (unsigned lane = 0; lane < 32; ++lane) {
        const std::size_t gone = std::min(count, counts[lane]);
        if (gone < counts[lane]) std::copy_n(its.begin[lane] + gone, counts[lane] - gone, its.begin[lane]);
        warp.columns[site * 32 + lane].next -= gone * sizeof(std::uintptr_t);
        if (!its.has_waited) continue;
        its.at_wait[lane] -= std::min(its.at_wait[lane], gone);
        set_end(warp, site, lane);
    }
    if (count == most) its.has_waited = false;
    if (!its.joined.empty())
        its.joined.erase(its.joined.begin(), its.joined.begin() + static_cast<std::ptrdiff_t>(
                                                                      std::min(count, its.joined.size())));
}

void Recorder::settle_common(unsigned index, unsigned lanes) {
    Warp& warp = warps_[index];
    each_site(warp, [&](std::uint32_t site) {
        if (kinds_[site] == Kind::step) return;
        std::size_t common = all_requests;
        each_lane(lanes,
                  [&](unsigned lane) { common = std::min(common, warp.count(site, lane, kinds_[site])); });
        settle(warp, site, common);
    });
    // Else the lanes are in different branches, and will hardly execute the same instructions.
    if (open_requests(warp) >= most_open)
        each_site(warp, [&](std::uint32_t site) {
            if (kinds_[site] != Kind::step) settle(warp, site, all_requests);
        });
}

void Recorder::begin_profile(std::uint64_t most_events) {
    state_.thread = ~0u;  // from now on the hooks tell everything
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
    for (Warp& warp : warps_) {
        for (std::uint32_t site = 0; site < kinds_.size(); ++site) {
            Sequence& its = warp.sequences[site];
            its.at_wait.fill(0);
            its.has_waited = false;
            for (unsigned lane = 0; lane < 32; ++lane) {
                warp.columns[site * 32 + lane].next = reinterpret_cast<std::uintptr_t>(its.begin[lane]);
                set_end(warp, site, lane);
            }
            its.joined.clear();
            its.targets.take();
            warp.is_touched[site] = 0;
        }
        warp.touched.clear();
        warp.pending.fill(0);
        warp.is_followed = false;
    }
    state_.thread = ~0u;
    std::fill(behind_.begin(), behind_.end(), Behind{});
}

}  // namespace cuscope::simt
