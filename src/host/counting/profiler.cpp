#include "host/counting/profiler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cuscope::simt {
namespace {

using cuscope_simt::Access;

constexpr std::uintptr_t line_bytes = 128;
// The loads that a warp issues before it waits for the first one. nvcc moves loads of an unrolled loop to its
// begin: 16 from global memory. From shared memory it moves eight, and issues further ones as registers
// become free, which comes to about twelve.
constexpr unsigned global_loads_in_flight = 16, shared_loads_in_flight = 12;
// The part of an instruction's latency after which the next one of the warp begins, if it does not need the
// result: one cycle of four, since compute capability 7.0.
constexpr double independent = 0.25;
// nvcc's code reads the stack pointer, the numbers of the thread and the block, and the kernel's arguments,
// and ends with an instruction. The host's code has these values in registers.
constexpr double entry_instructions = 7;
constexpr std::size_t most_lines = 4096, most_phases = 1024;
// For blocks whose cost is not known, in quarters of an instruction.
constexpr cuscope_simt::BlockCost usual_cost{0, {12, 4, 0, 0, 4}, 10, 0, 0, 0, 0, 0, 0};

unsigned rounds_of(unsigned loads) { return (loads + global_loads_in_flight - 1) / global_loads_in_flight; }

std::size_t place_of(std::uint64_t unit, std::size_t slots) {
    return static_cast<std::size_t>(unit * 0x9e3779b97f4a7c15u >> 20) & (slots - 1);
}

}  // namespace

void Footprint::grow() {
    std::vector<std::uint64_t> old = std::move(slots_);
    slots_.assign(std::max<std::size_t>(1024, old.size() * 2), 0);
    for (const std::uint64_t slot : old) {
        if (slot == 0) continue;
        std::size_t at = place_of((slot >> 3) - 1, slots_.size());
        while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = slot;
    }
}

void Footprint::add(std::uintptr_t sector, bool load) {
    if (size_ * 2 >= slots_.size()) grow();
    const std::uint64_t unit = sector / 2, key = unit + 1;
    std::size_t at = place_of(unit, slots_.size());
    while (slots_[at] != 0 && slots_[at] >> 3 != key) at = (at + 1) & (slots_.size() - 1);
    if (slots_[at] == 0) {
        slots_[at] = key << 3;
        ++size_;
    }
    slots_[at] |= load ? std::uint64_t{1} << (sector & 1) : 4;
}

Profiler::Profiler(const Image& image, const Counting& counting, unsigned warps)
    : counting_(counting), warps_(warps) {
    profile_.warps = warps;
    for (const cuscope_simt::BlockCost* cost = image.table().costs; cost != image.table().costs_end; ++cost)
        costs_.emplace_back(reinterpret_cast<const char*>(&cost->site) + cost->site, cost);
    std::sort(costs_.begin(), costs_.end());
}

const cuscope_simt::BlockCost* Profiler::cost(const char* instruction) const {
    const auto found = std::lower_bound(costs_.begin(), costs_.end(), instruction,
                                        [](const auto& entry, const char* at) { return entry.first < at; });
    return found != costs_.end() && found->first == instruction ? found->second : &usual_cost;
}

void Profiler::steps(unsigned warp, const cuscope_simt::BlockCost* cost, std::uint64_t count) {
    double all = 0;
    for (std::size_t kind = 0; kind < profile_.instructions.size(); ++kind) {
        const double instructions = cost->quarters[kind] / 4.0 * static_cast<double>(count);
        profile_.instructions[kind] += instructions;
        all += instructions;
    }
    const double chain = cost->chain / 4.0 * static_cast<double>(count);
    warps_[warp].chain.instructions += std::max(chain, all * independent);
}

void Profiler::predicated(unsigned warp, const cuscope_simt::BlockCost* before, std::uint64_t count) {
    steps(warp, before + 1, count);
    const double accesses = static_cast<double>(before->predicated_accesses * count);
    profile_.instructions[static_cast<std::size_t>(cuscope_simt::CostKind::integer)] += accesses;
    warps_[warp].chain.instructions += accesses * independent;
}

void Profiler::global(unsigned warp, const WarpRequest& request, unsigned lanes, Access access) {
    struct Piece {
        std::uintptr_t sector;
        unsigned bytes;
    };
    std::array<Piece, 64> pieces;
    std::size_t count = 0;
    bool ordered = true;
    const auto add = [&](std::uintptr_t sector, unsigned bytes) {
        if (count != 0 && pieces[count - 1].sector == sector) {
            pieces[count - 1].bytes += bytes;
            return;
        }
        if (count != 0 && sector < pieces[count - 1].sector) ordered = false;
        pieces[count++] = {sector, bytes};
    };
    each_lane(lanes, [&](unsigned lane) {
        const std::uintptr_t address = request.address[lane];
        const std::uintptr_t first = address / sector_bytes,
                             last = (address + request.bytes - 1) / sector_bytes;
        if (first == last) return add(first, request.bytes);
        const auto before = static_cast<unsigned>(last * sector_bytes - address);
        add(first, before);
        add(last, request.bytes - before);
    });
    if (!ordered) {
        std::sort(pieces.begin(), pieces.begin() + count,
                  [](const Piece& a, const Piece& b) { return a.sector < b.sector; });
        std::size_t kept = 0;
        for (std::size_t i = 1; i < count; ++i) {
            if (pieces[i].sector == pieces[kept].sector)
                pieces[kept].bytes += pieces[i].bytes;
            else
                pieces[++kept] = pieces[i];
        }
        count = kept + 1;
    }
    double lines = 0, partial = 0;
    std::uintptr_t line = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uintptr_t its = pieces[i].sector / (line_bytes / sector_bytes);
        if (i == 0 || its != line) ++lines;
        line = its;
        if (pieces[i].bytes < sector_bytes) ++partial;
        footprint_.add(pieces[i].sector, access == Access::load);
    }
    const double sectors = static_cast<double>(count);
    // The cache looks two lines up at a time, and delivers the sectors of one line.
    const double wavefronts = std::ceil(std::max(lines / 2, sectors / 4));
    Warp& its = warps_[warp];
    its.chain.instructions += 1;
    if (access == Access::load) {
        profile_.load_requests += 1;
        profile_.load_sectors += sectors;
        profile_.load_wavefronts += wavefronts;
        ++its.loads;
    } else if (access == Access::store) {
        profile_.store_requests += 1;
        profile_.store_sectors += sectors;
        profile_.store_wavefronts += wavefronts;
        profile_.partial_sectors += partial;
    } else {
        std::array<std::uintptr_t, 32> addresses;
        std::size_t different = 0;
        each_lane(lanes, [&](unsigned lane) { addresses[different++] = request.address[lane]; });
        std::sort(addresses.begin(), addresses.begin() + different);
        different = static_cast<std::size_t>(std::unique(addresses.begin(), addresses.begin() + different) -
                                             addresses.begin());
        profile_.atomic_requests += 1;
        profile_.atomic_operations += static_cast<double>(different);
        for (std::size_t i = 0; i < different; ++i)
            if (const std::uintptr_t at = addresses[i] / line_bytes;
                atomic_lines_.size() < most_lines || atomic_lines_.count(at) != 0)
                atomic_lines_[at] += 1;
    }
}

void Profiler::shared(unsigned warp, double wavefronts, Access access, bool joined) {
    profile_.shared_wavefronts += wavefronts;
    if (joined) return;
    profile_.shared_requests += 1;
    warps_[warp].chain.instructions += 1;
    if (access != Access::store) ++warps_[warp].shared_loads;
}

void Profiler::end_round(Warp& its) {
    std::ptrdiff_t most = 0;  // the executions of one place
    for (const unsigned short place : its.places)
        most = std::max(most, std::count(its.places.begin(), its.places.end(), place));
    const auto executed = static_cast<unsigned>(most);
    // A round that is not complete: nvcc's code does the iterations that are left over in smaller steps.
    const unsigned steps = executed < its.together ? executed / its.rest + executed % its.rest : 1;
    its.ended_rounds += its.begun == 0 ? 0 : std::max(steps, rounds_of(its.begun));
    its.ended_loads += std::exchange(its.begun, 0u);
    its.places.clear();
}

void Profiler::iterate(unsigned warp, const cuscope_simt::BlockCost& cost) {
    Warp& its = warps_[warp];
    const int loop = cost.place / 256;
    const bool enters = std::exchange(its.loop, loop) != loop;
    if (enters) {
        profile_.instructions[static_cast<std::size_t>(cuscope_simt::CostKind::integer)] += cost.entry;
        its.chain.instructions += cost.entry;
    }
    // Loads before the first loop join its first round.
    const bool ends_other = enters && !its.places.empty();
    if (ends_other || std::count(its.places.begin(), its.places.end(), cost.place) >= cost.together)
        end_round(its);
    its.together = cost.together;
    its.rest = std::max<unsigned>(1, cost.rest);
    its.places.push_back(cost.place);
}

void Profiler::go_on(unsigned warp, Access access, bool shared) {
    Warp& its = warps_[warp];
    if (!shared) {
        if (access != Access::load) return;
        ++its.begun;
        its.loads_are_open = true;
        its.behind = 0;
    } else if (access == Access::load) {
        ++its.behind;
    } else if (access == Access::store && its.loads_are_open) {
        its.loads_are_open = false;
        its.covering += its.behind;
    }
}

void Profiler::met(unsigned warp) {
    Warp& its = warps_[warp];
    if (!its.places.empty()) end_round(its);
    const unsigned rounds = its.ended_rounds + rounds_of(its.loads - std::min(its.loads, its.ended_loads));
    const unsigned shared_rounds = (its.shared_loads + shared_loads_in_flight - 1) / shared_loads_in_flight;
    its.chain.global_rounds += rounds;
    its.chain.shared_rounds += shared_rounds;
    its.chain.shared_loads += its.shared_loads;
    if (its.covering != 0) {
        its.chain.covered_rounds += rounds;
        its.chain.covering_loads += its.covering;
    }
    its.global_rounds += rounds;
    its.shared_rounds += shared_rounds;
    its.loads = its.shared_loads = its.covering = 0;
    its.begun = its.ended_rounds = its.ended_loads = 0;
    its.loop = no_loop;
    its.places.clear();
    its.loads_are_open = false;
}

void Profiler::barrier() {
    profile_.barriers += 1;
    BlockProfile::Phase now, phase;
    now.accesses = profile_.load_requests + profile_.store_requests + profile_.shared_requests +
                   profile_.atomic_requests;
    now.load_wavefronts = profile_.load_wavefronts;
    now.other_wavefronts = profile_.store_wavefronts + profile_.shared_wavefronts + profile_.atomic_requests;
    phase.accesses = now.accesses - before_.accesses;
    phase.load_wavefronts = now.load_wavefronts - before_.load_wavefronts;
    phase.other_wavefronts = now.other_wavefronts - before_.other_wavefronts;
    for (Warp& warp : warps_) {
        phase.global_rounds = std::max(phase.global_rounds, static_cast<double>(warp.global_rounds));
        phase.shared_rounds = std::max(phase.shared_rounds, static_cast<double>(warp.shared_rounds));
        warp.global_rounds = warp.shared_rounds = 0;
    }
    before_ = now;
    if (profile_.phases.size() < most_phases) profile_.phases.push_back(phase);
}

BlockProfile Profiler::end(std::uint64_t index, std::uint64_t events, std::uint64_t recorded) {
    BlockProfile& result = profile_;
    result.index = index;
    result.events = events;
    const auto length = [](const BlockProfile::Chain& chain) {
        return chain.instructions * 4 + chain.global_rounds * 300 + chain.shared_rounds * 30;
    };
    for (const Warp& warp : warps_) {
        if (length(warp.chain) >= length(result.longest)) result.longest = warp.chain;
        result.sum.instructions += warp.chain.instructions;
        result.sum.global_rounds += warp.chain.global_rounds;
        result.sum.shared_rounds += warp.chain.shared_rounds;
    }
    const std::vector<CountedRange>& ranges = counting_.ranges();
    result.ranges.resize(ranges.size() + 1);
    result.units.reserve(footprint_.size());
    footprint_.each([&](std::uint64_t unit, std::uint64_t loaded, bool stored) {
        result.units.push_back(unit);
        result.loaded_units += loaded != 0 ? 1 : 0;
        result.stored_units += stored ? 1 : 0;
        result.different_load_sectors += static_cast<double>(loaded);
    });
    std::sort(result.units.begin(), result.units.end());
    std::size_t at = 0;
    for (const std::uint64_t unit : result.units) {
        const std::uintptr_t begin = unit * BlockProfile::unit_bytes, end = begin + BlockProfile::unit_bytes;
        while (at < ranges.size() && ranges[at].end <= begin) ++at;
        const bool known = at < ranges.size() && ranges[at].begin < end;
        TouchedRange& range = result.ranges[known ? at : ranges.size()];
        if (range.units == 0) range.begin = begin;
        range.end = end;
        range.units += 1;
    }
    result.atomic_lines.assign(atomic_lines_.begin(), atomic_lines_.end());
    std::sort(result.atomic_lines.begin(), result.atomic_lines.end());
    if (recorded != 0 && events > recorded) {
        const double more = static_cast<double>(events) / static_cast<double>(recorded);
        for (double& count : result.instructions) count *= more;
        for (double* count :
             {&result.load_requests,          &result.load_sectors,           &result.load_wavefronts,
              &result.store_requests,         &result.store_sectors,          &result.store_wavefronts,
              &result.partial_sectors,        &result.different_load_sectors, &result.loaded_units,
              &result.stored_units,           &result.atomic_requests,        &result.atomic_operations,
              &result.shared_requests,        &result.shared_wavefronts,      &result.barriers,
              &result.longest.instructions,   &result.longest.global_rounds,  &result.longest.shared_rounds,
              &result.sum.instructions,       &result.sum.global_rounds,      &result.sum.shared_rounds,
              &result.longest.covered_rounds, &result.longest.covering_loads, &result.longest.shared_loads})
            *count *= more;
        for (TouchedRange& range : result.ranges) range.units *= more;
    }
    // Every warp begins and ends.
    result.instructions[0] += entry_instructions * result.warps;
    return std::move(result);
}

}  // namespace cuscope::simt
