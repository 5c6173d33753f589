#include "host/counting/recorder.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

#include "host/counting/lanes.hpp"

namespace cuscope::simt {

namespace {

std::size_t number_of_steps(const cuscope_simt::ImageTable& table) {
    return static_cast<std::size_t>(table.costs_end - table.costs);
}

std::size_t number_of_accesses(const cuscope_simt::ImageTable& table) {
    return static_cast<std::size_t>(table.accesses_end - table.accesses);
}

}  // namespace

void ZeroMemory::make(std::size_t bytes) {
    memory_.reset();
    if (bytes == 0) return;
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = std::unique_ptr<char, Unmap>(static_cast<char*>(memory), Unmap{bytes});
}

void ZeroMemory::Unmap::operator()(char* memory) const { munmap(memory, bytes); }

std::size_t idle_bytes(const cuscope_simt::ImageTable& table) {
    return std::max(number_of_steps(table) * sizeof(cuscope_simt::Steps),
                    number_of_accesses(table) * sizeof(cuscope_simt::Accesses));
}

void Recorder::begin(Setting setting) {
    setting_ = std::move(setting);
    const cuscope_simt::ImageTable& table = setting_.image_object->table();
    has_table_ = table.accesses != nullptr;
    for (const auto& variable : setting_.image_object->globals()) {
        if (!variable.constant) variables_.emplace_back(variable.address, variable.bytes);
    }
    warps_.resize((setting_.threads + 31) / 32);
    step_pointers_.resize(warps_.size());
    access_pointers_.resize(warps_.size());
    if (has_table_) {
        const auto place = [](const int& distance) {
            return reinterpret_cast<const char*>(&distance) + distance;
        };
        for (const auto* cost = table.costs; cost != table.costs_end; ++cost)
            add_site(place(cost->site), 0, Kind::step);
        steps_ = static_cast<std::uint32_t>(kinds_.size());
        for (const auto* its = table.accesses; its != table.accesses_end; ++its)
            add_site(place(its->site), its->bytes, static_cast<Kind>(its->access));
    }
    table_sites_ = static_cast<std::uint32_t>(kinds_.size());
    idle_.make(idle_bytes(table));
    state_ = {step_pointers_.data(), access_pointers_.data(), no_warp};
    sums_.ranges.resize(setting_.counting->ranges().size());
    if (setting_.profile != nullptr) {
        lines_ = std::make_unique<LineCounts>(*setting_.profile);
        behind_.assign(setting_.threads, {});
    }
    point_hooks();
}

void Recorder::begin_block(std::uint64_t index) {
    if (!lines_) return;
    lines_->begin_block(index);
    std::fill(behind_.begin(), behind_.end(), Behind{});
}

// The lines' counts need the order of the steps.
void Recorder::point_hooks() {
    for (std::size_t i = 0; i < warps_.size(); ++i) {
        step_pointers_[i] = is_told() || lines_ ? idle_.data() : warps_[i].steps;
        access_pointers_[i] = is_told() ? idle_.data() : warps_[i].accesses;
    }
}

void Recorder::begin_warp(unsigned number, bool alone) {
    const unsigned before = std::exchange(state_.warp, number);
    if (!alone || profiler_ || before == no_warp) return make_memory(warps_[number]);
    // Put together the requests of the warp that has ended while the caches have them, and let this one use
    // the same memory. Its accesses mostly continue the ones of that warp, as the memory expects.
    meet(before);
    Warp &from = warps_[before], &to = warps_[number];
    std::swap(from.memory, to.memory);
    std::swap(from.steps, to.steps);
    std::swap(from.accesses, to.accesses);
    std::swap(from.sequences, to.sequences);
    std::swap(from.active, to.active);
    std::swap(step_pointers_[before], step_pointers_[number]);
    std::swap(access_pointers_[before], access_pointers_[number]);
}

void Recorder::make_memory(Warp& warp) {
    if (!has_table_ || warp.steps != nullptr) return;
    const cuscope_simt::ImageTable& table = setting_.image_object->table();
    const std::size_t bytes = number_of_steps(table) * sizeof(Steps);
    warp.memory.make(bytes + number_of_accesses(table) * sizeof(Accesses));
    warp.steps = warp.memory.data();
    warp.accesses = warp.steps + bytes;
    point_hooks();
}

void Recorder::add_lines() const {
    if (!lines_) return;
    std::vector<std::uint32_t> offsets(kinds_.size());
    for (std::size_t i = 0; i < offsets.size(); ++i)
        offsets[i] = static_cast<std::uint32_t>(instructions_[i] - setting_.code.begin_pointer());
    setting_.profile->add(*lines_, offsets);
}

std::uint32_t Recorder::add_site(const char* instruction, unsigned bytes, Kind kind) {
    instructions_.push_back(instruction);
    kinds_.push_back(kind);
    bytes_.push_back(bytes);
    others_.push_back(0);
    costs_.push_back(kind == Kind::step && profiler_ ? profiler_->cost(instruction) : nullptr);
    return static_cast<std::uint32_t>(kinds_.size());
}

std::uint32_t Recorder::site_of(const char* instruction, unsigned bytes, Kind kind) {
    if (sites_.empty()) sites_.assign(setting_.code.end - setting_.code.begin + 1, 0);
    std::uint32_t& first = sites_[reinterpret_cast<std::uintptr_t>(instruction) - setting_.code.begin];
    std::uint32_t number = first, last = 0;
    while (number != 0 && bytes_[number - 1] != bytes) number = others_[(last = number) - 1];
    if (number == 0) {
        number = add_site(instruction, bytes, kind);
        (last == 0 ? first : others_[last - 1]) = number;
    }
    return number - 1;
}

Recorder::Sequence& Recorder::begin_sequence(Warp& warp, std::uint32_t site) {
    if (warp.sequences.size() <= site) warp.sequences.resize(kinds_.size() + 16);
    auto made = std::make_unique<Sequence>();
    if (kinds_[site] == Kind::step) {
        if (site >= table_sites_) made->own_steps = std::make_unique<Steps>();
        made->steps = made->own_steps ? made->own_steps.get() : reinterpret_cast<Steps*>(warp.steps) + site;
        std::fill_n(made->steps->left, 32, cuscope_simt::most_steps);
    } else {
        if (site >= table_sites_) made->own_accesses = std::make_unique<Accesses>();
        made->accesses = made->own_accesses ? made->own_accesses.get()
                                            : reinterpret_cast<Accesses*>(warp.accesses) + (site - steps_);
        std::fill_n(made->accesses->open, 32, Accesses::Open{0, cuscope_simt::most_accesses});
        std::fill_n(made->accesses->limit, 32, cuscope_simt::most_accesses);
    }
    warp.active.push_back(site);
    warp.sequences[site] = std::move(made);
    return *warp.sequences[site];
}

// Makes room for one more closed piece of a lane.
void Recorder::grow(Sequence& its, unsigned lane) {
    constexpr std::size_t few = 8;
    Accesses& to = *its.accesses;
    if (!its.room) {
        its.room.reset(new Piece[32 * few]);
        for (unsigned i = 0; i < 32; ++i) {
            its.begin[i] = to.next[i] = its.room.get() + i * few;
            to.end[i] = to.next[i] + few;
        }
        return;
    }
    const auto count = static_cast<std::size_t>(to.end[lane] - its.begin[lane]);
    std::unique_ptr<Piece[]> larger(new Piece[2 * count]);
    to.next[lane] = std::copy(its.begin[lane], to.next[lane], larger.get());
    to.end[lane] = larger.get() + 2 * count;
    its.begin[lane] = larger.get();
    its.rooms[lane] = std::move(larger);
}

// Calls function(site, sequence) for each site that the lanes may have come to since they last met.
template <class Function>
void Recorder::each_site(const Warp& warp, Function function) const {
    for (const std::uint32_t site : warp.touched) function(site, *warp.sequences[site]);
    if (is_told()) return;
    for (const std::uint32_t site : warp.active) function(site, *warp.sequences[site]);
}

// The number of requests that a warp has not yet put together at a site.
std::size_t Recorder::requests(const Sequence& its) {
    std::size_t most = 0;
    for (unsigned lane = 0; lane < 32; ++lane) most = std::max(most, its.count(lane));
    return most;
}

std::uint64_t Recorder::open_requests(const Warp& warp) const {
    std::uint64_t sum = 0;
    each_site(warp, [&](std::uint32_t, const Sequence& its) {
        if (its.accesses != nullptr) sum += requests(its);
    });
    return sum;
}

bool Recorder::lacks_room(unsigned thread, std::uint32_t site) const {
    if (is_told()) return false;
    const Sequence* const its = known(warps_[thread / 32], site);
    return its != nullptr && its->accesses->open[thread % 32].left <= 0;
}

// Lets the lane write down `most_accesses` more.
void Recorder::extend(Sequence& its, unsigned lane) {
    Accesses& accesses = *its.accesses;
    its.before[lane] = static_cast<std::uint32_t>(its.count(lane));
    its.has_waited = its.has_waited || its.before[lane] != 0;
    const int more = cuscope_simt::most_accesses - accesses.open[lane].left;
    accesses.open[lane].left += more;
    accesses.limit[lane] += more;
}

void Recorder::caught_up(unsigned thread) {
    Warp& warp = warps_[thread / 32];
    warp.pending[thread % 32] = 0;
    if (is_told()) return;
    each_site(warp, [&](std::uint32_t, Sequence& its) {
        if (its.accesses != nullptr) extend(its, thread % 32);
    });
}

void Recorder::access(unsigned thread, std::uint32_t site, std::uintptr_t address) {
    if (past_limit()) return;
    const unsigned lane = thread % 32;
    Warp& warp = warps_[thread / 32];
    Sequence& its = sequence(warp, site);
    if (its.accesses->open[lane].left <= 0) extend(its, lane);
    while (!cuscope_simt::put(*its.accesses, lane, address)) grow(its, lane);
    if (!is_told()) return;
    touch(warp, its, site);
    ++warp.pending[lane];
    if (!profiler_) return;
    const auto access = static_cast<cuscope_simt::Access>(kinds_[site]);
    if (access == cuscope_simt::Access::load) {
        const std::size_t number = its.count(lane);
        if (its.joined.size() < number) its.joined.resize(number);
        join(thread, address, bytes_[site], its.joined[number - 1]);
    }
    if (lane != 0) return;
    Place& last = its.last;
    if (!last.stretch.holds(address)) last = find(address);
    // Else the host's code has read its own data, as at a barrier.
    if (last.kind != Place::Kind::uncounted)
        profiler_->go_on(thread / 32, access, last.kind == Place::Kind::shared);
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

void Recorder::step(unsigned thread, std::uint32_t site) {
    if (past_limit()) return;
    Warp& warp = warps_[thread / 32];
    Sequence& its = sequence(warp, site);
    --its.steps->left[thread % 32];
    if (!is_told() && !lines_) return;
    touch(warp, its, site);
    const auto executed = static_cast<std::uint32_t>(its.count(thread % 32));
    if (profiler_) {
        if (thread % 32 == 0 && costs_[site] != nullptr && costs_[site]->together != 0)
            profiler_->iterate(thread / 32, *costs_[site]);
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
        Sequence& its = sequence(warp, behind.site - 1);
        touch(warp, its, behind.site - 1);
        its.targets.add(behind.execution, site + 1);
    }
    behind = {site + 1, execution};
}

void Recorder::meet(unsigned index) {
    Warp& warp = warps_[index];
    if (profiler_) count_skipped(warp);
    each_site(warp, [&](std::uint32_t site, Sequence&) { finish(warp, site); });
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
    std::uint32_t next = site + 1;
    if (site >= table_sites_) {
        const cuscope_simt::BlockCost& cost = costs_[site][1];
        const char* instruction = reinterpret_cast<const char*>(&cost.site) + cost.site;
        const std::uint32_t number =
            sites_[static_cast<std::size_t>(instruction - setting_.code.begin_pointer())];
        if (number == 0) return 0;
        next = number - 1;
    }
    const Sequence* const its = known(warp, next);
    return its == nullptr ? 0 : requests(*its);
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
        const std::size_t count = requests(*warp.sequences[site]);
        if ((cost->flags & cuscope_simt::meets_before_branch) != 0) {
            warp.undecided.emplace_back(site, count);
        } else if (const std::size_t next = executed_next(warp, site); next < count) {
            profiler_->predicated(number_of(warp), cost, count - next);
        }
    }
}

void Recorder::finish(Warp& warp, std::uint32_t site) {
    Sequence& its = *warp.sequences[site];
    its.is_touched = false;
    if (its.accesses != nullptr) return settle(warp, site, all_requests);
    auto& left = its.steps->left;
    std::uint64_t most = cuscope_simt::most_steps - left[0], all = 32 * most;
    if (!are_equal(left)) {
        all = 0;
        for (unsigned lane = 0; lane < 32; ++lane) {
            const std::uint64_t executed = cuscope_simt::most_steps - left[lane];
            all += executed;
            most = std::max(most, executed);
        }
    } else if (most == 0 && !lines_) {
        return;
    }
    fill(left, cuscope_simt::most_steps);
    sums_.thread_steps += all;
    sums_.warp_steps += most;
    if (lines_) {
        LineCounts::Step& step = lines_->step(site);
        step.warps += most;
        step.threads += all;
        step.divergent += its.targets.take();
    }
    if (profiler_ && costs_[site] != nullptr) profiler_->steps(number_of(warp), costs_[site], most);
}

void Recorder::settle_common(unsigned index, unsigned lanes) {
    Warp& warp = warps_[index];
    each_site(warp, [&](std::uint32_t site, const Sequence& its) {
        if (its.accesses == nullptr) return;
        std::size_t common = all_requests;
        each_lane(lanes, [&](unsigned lane) { common = std::min(common, its.count(lane)); });
        settle(warp, site, common);
    });
    // Else the lanes are in different branches, and will hardly execute the same instructions.
    if (open_requests(warp) >= most_open)
        each_site(warp, [&](std::uint32_t site, const Sequence& its) {
            if (its.accesses != nullptr) settle(warp, site, all_requests);
        });
}

void Recorder::begin_profile(std::uint64_t most_events) {
    profiler_ = std::make_unique<Profiler>(*setting_.image_object, *setting_.counting,
                                           static_cast<unsigned>(warps_.size()));
    point_hooks();
    for (Warp& warp : warps_) warp.undecided.clear();
    events_ = 0;
    most_events_ = most_events;
    recent_.assign(setting_.threads, {});
    for (std::size_t site = 0; site < kinds_.size(); ++site)
        if (kinds_[site] == Kind::step) costs_[site] = profiler_->cost(instructions_[site]);
}

BlockProfile Recorder::end_profile(std::uint64_t index) {
    BlockProfile profile = profiler_->end(index, events_, std::min(events_, most_events_));
    profiler_.reset();
    point_hooks();
    return profile;
}

void Recorder::forget() {
    for (Warp& warp : warps_) {
        for (const std::uint32_t site : warp.active) {
            Sequence& its = *warp.sequences[site];
            if (its.accesses != nullptr)
                begin_again(its);
            else
                std::fill_n(its.steps->left, 32, cuscope_simt::most_steps);
            its.joined.clear();
            its.targets.take();
            its.is_touched = false;
        }
        warp.touched.clear();
        warp.pending.fill(0);
    }
    state_.warp = no_warp;
    std::fill(behind_.begin(), behind_.end(), Behind{});
}

}  // namespace cuscope::simt
