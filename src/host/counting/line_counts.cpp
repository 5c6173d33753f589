#include "host/counting/line_counts.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace cuscope::simt {
namespace {

std::uintptr_t sectors_between(std::uintptr_t begin, std::uintptr_t end) {
    return end / sector_bytes - begin / sector_bytes;
}

struct Addresses {
    std::uint64_t different = 0, most_at_one = 0;
};

Addresses count_addresses(const WarpRequest& request, unsigned lanes) {
    std::array<std::uintptr_t, 32> sorted;
    std::size_t count = 0;
    bool ordered = true;
    each_lane(lanes, [&](unsigned lane) {
        if (count != 0 && request.address[lane] < sorted[count - 1]) ordered = false;
        sorted[count++] = request.address[lane];
    });
    if (!ordered) std::sort(sorted.begin(), sorted.begin() + count);
    Addresses result;
    std::uint64_t here = 0;
    for (std::size_t i = 0; i < count; ++i) {
        here = i != 0 && sorted[i] == sorted[i - 1] ? here + 1 : 1;
        if (here == 1) ++result.different;
        result.most_at_one = std::max(result.most_at_one, here);
    }
    return result;
}

// A request of an earlier block, or of the same block, stays.
void take_example(ProfiledAccess& access, const ProfiledAccess::Example& other) {
    const auto& mine = access.example;
    if (other.cost > mine.cost || (other.cost == mine.cost && other.block < mine.block))
        access.example = other;
}

void add_access(ProfiledAccess& sum, const ProfiledAccess& other) {
    sum.bytes = std::max(sum.bytes, other.bytes);
    sum.requests += other.requests;
    sum.threads += other.threads;
    sum.sectors += other.sectors;
    sum.ideal_sectors += other.ideal_sectors;
    sum.wavefronts += other.wavefronts;
    sum.ideal_wavefronts += other.ideal_wavefronts;
    sum.addresses += other.addresses;
    take_example(sum, other.example);
}

}  // namespace

ProfiledAccess& LineCounts::access(std::uint32_t site, cuscope_simt::Access kind, AccessedPlace place) {
    std::vector<PlaceCounts>& accesses = at(site).accesses;
    for (PlaceCounts& known : accesses)
        if (known.place == place) return known.counts;
    PlaceCounts made{place, {}};
    made.counts.kind = static_cast<ProfiledAccess::Kind>(kind);
    accesses.push_back(std::move(made));
    return accesses.back().counts;
}

void LineCounts::show(ProfiledAccess& access, std::uint64_t cost, unsigned warp, const WarpRequest& request,
                      unsigned lanes, const AccessedPlace& place) const {
    if (cost < access.example.cost || (cost == access.example.cost && block_ >= access.example.block)) return;
    ProfiledAccess::Example example;
    example.cost = cost;
    example.lanes = lanes;
    each_lane(lanes, [&](unsigned lane) { example.addresses[lane] = request.address[lane] - place.begin; });
    example.begin = place.begin % 128;
    example.block = block_;
    example.warp = warp;
    access.example = example;
}

void LineCounts::global(std::uint32_t site, unsigned warp, const WarpRequest& request, unsigned lanes,
                        cuscope_simt::Access kind, AccessedPlace place) {
    ProfiledAccess& its = access(site, kind, place);
    sectors_.clear();
    each_lane(lanes, [&](unsigned lane) {
        const std::uintptr_t first = request.address[lane] / sector_bytes,
                             last = (request.address[lane] + request.bytes - 1) / sector_bytes;
        for (std::uintptr_t sector = first; sector <= last && sectors_.count() < Distinct::most; ++sector)
            sectors_.add(sector);
    });
    const std::uint64_t count = sectors_.count();
    if (kind == cuscope_simt::Access::load && place.kind == AccessedPlace::Kind::range)
        for (const std::uintptr_t sector : sectors_) profile_.loaded(place.index, sector * sector_bytes);
    its.bytes = std::max(its.bytes, request.bytes);
    its.requests += 1;
    its.threads += static_cast<std::uint64_t>(std::popcount(lanes));
    if (kind == cuscope_simt::Access::atomic) {
        const Addresses addresses = count_addresses(request, lanes);
        its.addresses += addresses.different;
        show(its, addresses.most_at_one, warp, request, lanes, place);
        return;
    }
    its.sectors += count;
    const auto asked = static_cast<std::uint64_t>(std::popcount(lanes)) * request.bytes;
    its.ideal_sectors += std::min<std::uint64_t>(count, (asked + sector_bytes - 1) / sector_bytes);
    show(its, count, warp, request, lanes, place);
}

void LineCounts::shared(std::uint32_t site, unsigned warp, const WarpRequest& request, unsigned lanes,
                        cuscope_simt::Access kind, AccessedPlace place, std::uint64_t wavefronts,
                        std::uint64_t least) {
    ProfiledAccess& its = access(site, kind, place);
    its.shared = true;
    its.bytes = std::max(its.bytes, request.bytes);
    its.requests += 1;
    its.threads += static_cast<std::uint64_t>(std::popcount(lanes));
    its.wavefronts += wavefronts;
    its.ideal_wavefronts += least;
    if (kind != cuscope_simt::Access::atomic) return show(its, wavefronts, warp, request, lanes, place);
    const Addresses addresses = count_addresses(request, lanes);
    its.addresses += addresses.different;
    show(its, addresses.most_at_one, warp, request, lanes, place);
}

void LineProfile::prepare(const Counting& counting) {
    sectors_.resize(counting.ranges().size());
    for (std::size_t i = 0; i < sectors_.size(); ++i) {
        const CountedRange& range = counting.ranges()[i];
        if (range.parameters.empty()) continue;
        sectors_[i].begin = range.begin;
        sectors_[i].bits.resize((sectors_between(range.begin, range.end + sector_bytes) + 64) / 64);
    }
}

void LineProfile::loaded(std::size_t range, std::uintptr_t address) {
    Sectors& its = sectors_[range];
    if (its.bits.empty() || address / sector_bytes < its.begin / sector_bytes) return;
    const std::uintptr_t sector = sectors_between(its.begin, address);
    if (sector / 64 >= its.bits.size()) return;  // of a request that reaches into another range
    const std::uint64_t bit = std::uint64_t{1} << (sector % 64);
    const std::atomic_ref<std::uint64_t> word(its.bits[sector / 64]);
    if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
}

void LineProfile::add(const LineCounts& counts, const std::vector<std::uint32_t>& offsets) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t site = 0; site < counts.sites().size(); ++site) {
        const LineCounts::Site& from = counts.sites()[site];
        LineCounts::Site& to = sites_[offsets[site]];
        to.step.warps += from.step.warps;
        to.step.threads += from.step.threads;
        to.step.divergent += from.step.divergent;
        for (const LineCounts::PlaceCounts& access : from.accesses) {
            const auto same = std::find_if(to.accesses.begin(), to.accesses.end(),
                                           [&](const auto& known) { return known.place == access.place; });
            if (same == to.accesses.end())
                to.accesses.push_back(access);
            else
                add_access(same->counts, access.counts);
        }
    }
}

void LineProfile::name(const AccessedPlace& place, const Counting& counting, ProfiledAccess& access) const {
    switch (place.kind) {
        case AccessedPlace::Kind::range:
            access.parameters = counting.ranges()[place.index].parameters;
            break;
        case AccessedPlace::Kind::module_variable:
            access.variable = image_->globals()[place.index].name;
            break;
        case AccessedPlace::Kind::static_shared:
            if (place.index < image_->shared_variables().size())
                access.variable = image_->shared_variables()[place.index].name;
            break;
        case AccessedPlace::Kind::dynamic_shared:
            access.variable = "dynamic shared memory";
            break;
    }
}

std::shared_ptr<LaunchProfile> LineProfile::result(const Counting& counting) const {
    auto made = std::make_shared<LaunchProfile>();
    const char* const code = image_->facts().code_begin;
    const auto& table = image_->table();
    const auto place = [](const int& distance) {
        return reinterpret_cast<const char*>(&distance) + distance;
    };
    std::map<const char*, const cuscope_simt::BlockCost*> costs;
    for (const auto* cost = table.costs; cost != table.costs_end; ++cost) costs[place(cost->site)] = cost;
    std::multimap<const char*, const cuscope_simt::LineCost*> pieces;
    for (const auto* piece = table.lines; piece != table.lines_end; ++piece)
        pieces.emplace(place(piece->site), piece);
    for (const auto& [offset, site] : sites_) {
        const char* const instruction = code + offset;
        if (site.step.warps != 0) {
            ProfiledCode row;
            row.block = offset;
            row.warps = site.step.warps;
            row.threads = site.step.threads;
            const auto cost = costs.find(instruction);
            const bool branches =
                cost != costs.end() && (cost->second->flags & cuscope_simt::ends_with_branch) != 0;
            auto [piece, end] = pieces.equal_range(instruction);
            if (piece == end) {
                row.line = image_->source_line(instruction - 1);
                row.branches = branches;
                row.divergent = branches ? site.step.divergent : 0;
                if (cost != costs.end())
                    for (std::size_t i = 0; i < row.instructions.size(); ++i)
                        row.instructions[i] = cost->second->quarters[i] / 4.0;
                made->code.push_back(row);
            }
            for (; piece != end; ++piece) {
                const cuscope_simt::LineCost& its = *piece->second;
                constexpr double unit = 1.0 / cuscope_simt::line_cost_units;
                row.line = image_->source_line(place(its.place));
                for (std::size_t i = 0; i < row.instructions.size(); ++i)
                    row.instructions[i] = its.instructions[i] * unit;
                row.operations32 = its.operations32 * unit;
                row.operations64 = its.operations64 * unit;
                row.branches = branches && its.is_last != 0;
                row.divergent = row.branches ? site.step.divergent : 0;
                made->code.push_back(row);
            }
        }
        const std::string line = site.accesses.empty() ? "" : image_->source_line(instruction - 1);
        // Recorders that count at the same time add their places in any order.
        std::vector<LineCounts::PlaceCounts> accesses = site.accesses;
        std::sort(accesses.begin(), accesses.end(), [](const auto& a, const auto& b) {
            return std::pair(a.place.kind, a.place.index) < std::pair(b.place.kind, b.place.index);
        });
        for (LineCounts::PlaceCounts& access : accesses) {
            access.counts.line = line;
            name(access.place, counting, access.counts);
            made->accesses.push_back(std::move(access.counts));
        }
    }
    std::map<unsigned, std::uint64_t> arguments;
    for (std::size_t i = 0; i < sectors_.size(); ++i) {
        std::uint64_t count = 0;
        for (const std::uint64_t word : sectors_[i].bits) count += static_cast<unsigned>(std::popcount(word));
        for (const unsigned parameter : counting.ranges()[i].parameters) arguments[parameter] += count;
    }
    for (const auto& [parameter, count] : arguments) made->arguments.push_back({parameter, count});
    return made;
}

}  // namespace cuscope::simt
