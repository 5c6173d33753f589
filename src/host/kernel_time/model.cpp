#include "host/kernel_time/model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "host/kernel_time/rates.hpp"

namespace cuscope::host {
namespace {

using simt::BlockProfile;

constexpr double sector_bytes = 32;
// Times of different parts overlap, but not entirely: a root of the sum of powers lies between the longest
// time and the sum of all. The larger the power, the more they overlap. `device_power`: for memory, atomic
// operations, and the multiprocessors as a whole.
constexpr double device_power = 2;
// For the parts of one multiprocessor, the power is half the binary logarithm of its warps, between these.
constexpr double least_power = 1.5, most_power = 3;
// For a kernel that waits for none of its loads from global memory.
constexpr double covered_power = 6;
// Larger grids are balanced: a multiprocessor that is done gets the next block.
constexpr std::uint64_t most_placed_blocks = 1 << 14;

// The sums over the sampled blocks, divided by their number.
struct Mean {
    explicit Mean(const std::vector<BlockProfile>& profiles) {
        const double part = 1 / static_cast<double>(profiles.size());
        for (const BlockProfile& profile : profiles) {
            for (std::size_t i = 0; i < instructions.size(); ++i)
                instructions[i] += profile.instructions[i] * part;
            accesses += part * (profile.load_requests + profile.store_requests + profile.atomic_requests +
                                profile.shared_requests);
            load_requests += part * profile.load_requests;
            load_sectors += part * profile.load_sectors;
            load_wavefronts += part * profile.load_wavefronts;
            store_sectors += part * profile.store_sectors;
            store_wavefronts += part * profile.store_wavefronts;
            partial_sectors += part * profile.partial_sectors;
            different_load_sectors += part * profile.different_load_sectors;
            atomic_requests += part * profile.atomic_requests;
            atomic_operations += part * profile.atomic_operations;
            shared_wavefronts += part * profile.shared_wavefronts;
            barriers += part * profile.barriers;
            warps += part * profile.warps;
            chain.instructions += part * profile.longest.instructions;
            chain.global_rounds += part * profile.longest.global_rounds;
            chain.shared_rounds += part * profile.longest.shared_rounds;
            chain.covered_rounds += part * profile.longest.covered_rounds;
            chain.covering_loads += part * profile.longest.covering_loads;
            chain.shared_loads += part * profile.longest.shared_loads;
            loaded_units += part * profile.loaded_units;
            stored_units += part * profile.stored_units;
            for (const auto& range : profile.ranges) units += part * range.units;
        }
    }

    std::array<double, cuscope_simt::cost_kinds> instructions{};
    double accesses = 0, load_requests = 0, load_sectors = 0, load_wavefronts = 0, store_sectors = 0,
           store_wavefronts = 0, partial_sectors = 0, different_load_sectors = 0, atomic_requests = 0,
           atomic_operations = 0, shared_wavefronts = 0, barriers = 0, warps = 0, units = 0, loaded_units = 0,
           stored_units = 0;
    BlockProfile::Chain chain;
};

// The bytes that the grid touches at least once: in each range of memory no more than lies between the first
// and the last byte that the sampled blocks touched, and no more than all blocks would touch if they shared
// nothing.
double footprint(const std::vector<BlockProfile>& profiles, double blocks) {
    double bytes = 0;
    for (std::size_t range = 0; range < profiles.front().ranges.size(); ++range) {
        std::uintptr_t begin = ~std::uintptr_t{0}, end = 0;
        double units = 0;
        for (const BlockProfile& profile : profiles) {
            const auto& touched = profile.ranges[range];
            if (touched.units == 0) continue;
            begin = std::min(begin, touched.begin);
            end = std::max(end, touched.end);
            units += touched.units;
        }
        if (units == 0) continue;
        const double all = units / static_cast<double>(profiles.size()) * blocks * BlockProfile::unit_bytes;
        bytes += std::min(all, static_cast<double>(end - begin));
    }
    return bytes;
}

// The part of its memory that a block shares with the block before it.
double shared_part(const std::vector<BlockProfile>& profiles) {
    double common = 0, all = 0;
    for (std::size_t i = 1; i < profiles.size(); ++i) {
        const BlockProfile &before = profiles[i - 1], &after = profiles[i];
        if (after.index != before.index + 1 || before.units.empty() || after.units.empty()) continue;
        std::size_t at = 0;
        for (const std::uint64_t unit : after.units) {
            while (at < before.units.size() && before.units[at] < unit) ++at;
            common += at < before.units.size() && before.units[at] == unit ? 1 : 0;
        }
        all += static_cast<double>(after.units.size());
    }
    return all == 0 ? 0 : common / all;
}

// How much memory transfers, and the part of the data that blocks wait for there. Blocks that run at the same
// time share data through the L2 cache, but they ask for the data at about the same time, so that all of them
// wait. Blocks of different waves share as far as the footprint fits into the cache.
struct Dram {
    double bytes = 0, missed = 0;
};

Dram dram(const DeviceModel& model, double blocks, double waves, double footprint, double block_bytes,
          double shared, bool cold) {
    const auto cache = static_cast<double>(model.properties.l2_cache_size);
    if (cache == 0) return {blocks * block_bytes, 1};
    // Each half of the cache serves the multiprocessors of its own side, so data that both need is there
    // twice: from a third of the cache on, some is lost before it is used again.
    const double lost = std::clamp((footprint - cache / 3) / (cache / 3), 0.0, 1.0);
    const double in_wave = blocks / std::max(1.0, waves);
    const double wave_bytes = std::min(footprint, block_bytes * (1 + (in_wave - 1) * (1 - shared)));
    const double all = std::clamp(wave_bytes * waves, footprint, std::max(footprint, blocks * block_bytes));
    const double bytes = std::max(lost * all, cold ? footprint : 0);
    return {bytes, all == 0 ? 0 : bytes / all};
}

// The operations on the line that gets most of them, of all operations of the sampled blocks.
double hottest_line(const std::vector<BlockProfile>& profiles) {
    std::vector<std::pair<std::uintptr_t, double>> lines;
    for (const BlockProfile& profile : profiles)
        lines.insert(lines.end(), profile.atomic_lines.begin(), profile.atomic_lines.end());
    std::sort(lines.begin(), lines.end());
    double most = 0, all = 0, here = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        here = i != 0 && lines[i].first == lines[i - 1].first ? here + lines[i].second : lines[i].second;
        most = std::max(most, here);
        all += lines[i].second;
    }
    return all == 0 ? 0 : most / all;
}

double weight(const BlockProfile& profile) {
    return std::accumulate(profile.instructions.begin(), profile.instructions.end(), 1.0) +
           profile.load_wavefronts + profile.store_wavefronts + profile.shared_wavefronts;
}

// Places the blocks as the device does: the first ones on the multiprocessors in turn, each other one where a
// multiprocessor has least left to do. A block that was not sampled is like the nearest one that was.
double imbalance(const std::vector<BlockProfile>& profiles, std::uint64_t blocks,
                 std::uint64_t multiprocessors, std::uint64_t resident) {
    if (blocks > most_placed_blocks || blocks <= 1) return 1;
    std::priority_queue<std::pair<double, std::uint64_t>, std::vector<std::pair<double, std::uint64_t>>,
                        std::greater<>>
        work;
    std::vector<double> first(multiprocessors);
    double all = 0, most = 0;
    std::size_t nearest = 0;
    for (std::uint64_t block = 0; block < blocks; ++block) {
        while (nearest + 1 < profiles.size() &&
               profiles[nearest].index + profiles[nearest + 1].index < 2 * block)
            ++nearest;
        const double its = weight(profiles[nearest]);
        if (block < resident) {
            double& sum = first[block % multiprocessors];
            sum += its;
            all += its;
            most = std::max(most, sum);
            continue;
        }
        if (block == resident)
            for (std::uint64_t i = 0; i < multiprocessors; ++i) work.emplace(first[i], i);
        auto [done, where] = work.top();
        work.pop();
        done += its;
        all += its;
        most = std::max(most, done);
        work.emplace(done, where);
    }
    return most * static_cast<double>(multiprocessors) / all;
}

// A root of the sum of powers, see device_power.
template <class... Times>
double overlapped(double power, Times... times) {
    const double longest = std::max({times...});
    if (longest <= 0) return 0;
    return longest * std::pow((std::pow(times / longest, power) + ...), 1 / power);
}

// The power for the parts of a multiprocessor that holds so many warps. The fewer there are, the more often
// all of them wait at the same time, and no part works. If a warp works while the loads for its next step are
// under way, it hardly waits.
double multiprocessor_power(double warps, const BlockProfile::Chain& chain) {
    const double power = std::clamp(std::log2(std::max(1.0, warps)) / 2, least_power, most_power);
    const double covered =
        chain.global_rounds == 0 ? 1 : std::min(1.0, chain.covered_rounds / chain.global_rounds);
    return power + covered * (covered_power - power);
}

// The cycles that the longest warp of a block waits, alone on the device. `round`: for global loads.
class Chain {
  public:
    Chain(const Rates& rates, const BlockProfile::Chain& its, double round) : rates_(rates) {
        instructions = its.instructions * rates.instruction_cycles;
        round_ = round;
        if (its.covered_rounds == 0 || its.shared_loads == 0) return;
        // The instructions between the loads and the stores of their results hide the latency.
        const double between = its.covering_loads / its.covered_rounds * instructions / its.shared_loads;
        round_ -= std::min(round, between) * its.covered_rounds / std::max(1.0, its.global_rounds);
    }
    double rounds(double global, double shared) const {
        return global * round_ + shared * rates_.shared_cycles;
    }
    double instructions;

  private:
    const Rates& rates_;
    double round_;
};

// The cycles that a block alone on a multiprocessor takes longer than its parts would if they overlapped
// across its barriers: the warps of a block do not load while others still multiply.
double barrier_cycles(const Rates& rates, const BlockProfile& profile, double round, double power) {
    double accesses = 0, load = 0, other = 0, global = 0, shared = 0;
    for (const auto& phase : profile.phases) {
        accesses += phase.accesses, load += phase.load_wavefronts, other += phase.other_wavefronts;
        global += phase.global_rounds, shared += phase.shared_rounds;
    }
    if (profile.phases.size() < 2 || accesses == 0) return 0;
    const Chain chain(rates, profile.longest, round);
    const double own = std::accumulate(profile.instructions.begin(), profile.instructions.end(), 0.0);
    const auto time = [&](double its, double load_wavefronts, double other_wavefronts, double waits) {
        // Instructions are counted by the basic block, which may hold a barrier: phases get them by their
        // accesses.
        return overlapped(
            power, chain.instructions * its / accesses + waits, (own * its / accesses + its) / rates.issue,
            (load_wavefronts * rates.load_wavefront + other_wavefronts) / rates.shared_wavefronts);
    };
    double sum = 0;
    for (const auto& phase : profile.phases)
        sum += time(phase.accesses, phase.load_wavefronts, phase.other_wavefronts,
                    chain.rounds(phase.global_rounds, phase.shared_rounds));
    const double more = sum - time(accesses, load, other, chain.rounds(global, shared));
    return more * profile.barriers / static_cast<double>(profile.phases.size());
}

// How many cycles later the kernel ends if its last block goes on with the results of all other blocks. That
// is assumed if the last block loads more than the others, and the kernel has atomic operations, by which a
// block can find out that it is the last one.
double last_block_cycles(const Rates& rates, const std::vector<BlockProfile>& profiles, const Mean& mean,
                         std::uint64_t blocks) {
    const BlockProfile& last = profiles.back();
    if (profiles.size() == 1 || last.index + 1 != blocks || mean.atomic_operations == 0) return 0;
    // A last block with fewer elements may have more rounds: iterations that are left over have rounds of
    // their own. So the requests count, too.
    const double rounds = last.longest.global_rounds - mean.chain.global_rounds;
    if (rounds < 0.5 || last.load_requests < mean.load_requests + 0.5) return 0;
    const double more = (last.longest.instructions - mean.chain.instructions) * rates.instruction_cycles +
                        rounds * rates.l2_cycles +
                        (last.longest.shared_rounds - mean.chain.shared_rounds) * rates.shared_cycles +
                        (last.barriers - mean.barriers) * rates.barrier_cycles;
    return rates.ticket_cycles + std::max(0.0, more);
}

}  // namespace

KernelTime kernel_time(const DeviceModel& model, std::uint64_t block_count, int blocks_per_multiprocessor,
                       const std::vector<BlockProfile>& profiles) {
    const Rates rates = rates_of(model);
    const Mean mean(profiles);
    const auto blocks = static_cast<double>(block_count);
    const double multiprocessors = model.properties.multiprocessor_count;
    const double resident = multiprocessors * blocks_per_multiprocessor;
    const double cycle = 1e6 / model.properties.clock_rate;  // nanoseconds

    KernelTime time;
    time.blocks = block_count;
    time.sampled_blocks = profiles.size();
    time.blocks_per_multiprocessor = blocks_per_multiprocessor;
    time.waves = blocks / resident;
    time.imbalance = imbalance(profiles, block_count, static_cast<std::uint64_t>(multiprocessors),
                               static_cast<std::uint64_t>(resident));
    // The work of the busiest multiprocessor, in blocks of mean work.
    const double busiest = blocks / multiprocessors * time.imbalance;

    const double own = std::accumulate(mean.instructions.begin(), mean.instructions.end(), 0.0);
    const double instructions = own + mean.accesses;
    double pipe = instructions / rates.issue;
    for (std::size_t i = 0; i < mean.instructions.size(); ++i)
        pipe = std::max(pipe, mean.instructions[i] / rates.pipes[i]);
    time.instructions = instructions * blocks;
    auto& part = time.part_ns;
    const auto at = [&](TimeBound bound) -> double& { return part[static_cast<std::size_t>(bound)]; };
    at(TimeBound::issue) = busiest * pipe * cycle;

    const double l1 = mean.load_wavefronts * rates.load_wavefront + mean.store_wavefronts +
                      mean.atomic_requests + mean.shared_wavefronts;
    time.l1_wavefronts = (mean.load_wavefronts + mean.store_wavefronts) * blocks;
    time.shared_wavefronts = mean.shared_wavefronts * blocks;
    at(TimeBound::shared) = busiest * l1 / rates.shared_wavefronts * cycle;

    const double full = mean.store_sectors - mean.partial_sectors;
    time.l2_bytes = blocks * sector_bytes * (mean.different_load_sectors + mean.store_sectors);
    at(TimeBound::l2) = blocks * sector_bytes *
                        (mean.different_load_sectors + full + mean.partial_sectors * rates.partial_sector) /
                        rates.l2_bytes_per_ns;

    time.footprint_bytes = footprint(profiles, blocks);
    time.atomic_operations = mean.atomic_operations * blocks;
    at(TimeBound::atomics) =
        time.atomic_operations * std::max(hottest_line(profiles) * rates.atomic_ns, 1 / rates.atomics_per_ns);
    const double dispatch = blocks * rates.block_cycles * cycle;
    at(TimeBound::launch) = static_cast<double>(model.minimum_kernel_ns) + dispatch;
    const bool one_wave = time.waves <= 1;
    // If no warp makes more than one atomic operation, it is probably the last that its block does. Blocks of
    // one wave end at about the same time, so their operations do not overlap with the work of other blocks.
    const bool atomics_end_blocks = one_wave && mean.atomic_operations <= mean.warps;
    const double last_block = last_block_cycles(rates, profiles, mean, block_count) * cycle;

    const double per_round = mean.chain.global_rounds == 0
                                 ? 1
                                 : std::clamp(mean.load_requests / std::max(1.0, mean.warps) /
                                                  std::max(1.0, mean.chain.global_rounds),
                                              1.0, 8.0);
    const double shared_part_of_block = shared_part(profiles);
    // The blocks that a multiprocessor holds at once.
    const double held =
        std::clamp(std::ceil(blocks / multiprocessors), 1.0, static_cast<double>(blocks_per_multiprocessor));
    const double power = multiprocessor_power(held * mean.warps, mean.chain);
    const auto total = [&](bool cold) {
        const Dram memory = dram(model, blocks, time.waves, time.footprint_bytes,
                                 mean.units * BlockProfile::unit_bytes, shared_part_of_block, cold);
        // Bytes that are loaded and stored are transferred twice.
        time.dram_bytes =
            mean.units > 0 ? memory.bytes * (mean.loaded_units + mean.stored_units) / mean.units : 0;
        at(TimeBound::dram) = time.dram_bytes / model.kernel_rate;

        // A round waits for the slowest of its loads: for memory if one of them misses both caches.
        const double missed = mean.load_sectors == 0 ? 0 : mean.different_load_sectors / mean.load_sectors;
        const double to_l2 = 1 - std::pow(1 - std::min(1.0, missed), per_round);
        const double to_dram = to_l2 * (1 - std::pow(1 - std::min(1.0, memory.missed), per_round));
        const double round = rates.l1_cycles + to_l2 * (rates.l2_cycles - rates.l1_cycles) +
                             to_dram * (rates.dram_cycles - rates.l2_cycles);
        const Chain chain(rates, mean.chain, round);
        const double waits = chain.instructions +
                             chain.rounds(mean.chain.global_rounds, mean.chain.shared_rounds) +
                             std::max(0.0, mean.barriers - 1) * rates.barrier_cycles;
        const double in_line = std::max(1.0, time.waves) * cycle;
        at(TimeBound::latency) = in_line * waits;

        // A warp issues in the cycles in which it does not wait; only other warps use the cycles in which it
        // does. So its own instructions and its waits do not overlap.
        const double issued = in_line * pipe / std::max(1.0, mean.warps) * rates.schedulers;
        const double waited = std::max(0.0, at(TimeBound::latency) - issued);
        const double multiprocessor = overlapped(power, at(TimeBound::shared), at(TimeBound::issue), waited);
        // The same data pass memory and the L2 cache, one piece behind the other, while further blocks begin.
        const double flow = std::max({at(TimeBound::dram), at(TimeBound::l2), one_wave ? 0 : dispatch});
        const double atomics = at(TimeBound::atomics);
        // If warps ask memory for all of their data at once, they wait first, and then for the transfer. With
        // several rounds, some warps wait while the data of others are transferred.
        const bool all_from_memory = one_wave && cold;
        const double overlaps =
            all_from_memory ? std::clamp((mean.chain.global_rounds - 1) / 3, 0.0, 1.0) : 1;
        double work = overlapped(1 + overlaps * (device_power - 1), flow, atomics_end_blocks ? 0 : atomics,
                                 multiprocessor) +
                      issued + waited - overlapped(device_power, issued, waited) + last_block;
        // The last block of a single wave begins when all others have begun, and takes as long as each of
        // them. Blocks that begin one after the other also end so, and so do blocks whose data arrive one
        // after the other: each makes its atomic operation while later blocks still work.
        const double arriving = all_from_memory ? at(TimeBound::dram) : 0;
        if (one_wave) work += std::max(dispatch, atomics_end_blocks ? atomics - arriving : 0);
        // Of the blocks that a multiprocessor holds, each works while another one waits at a barrier.
        double barriers = 0;
        for (const BlockProfile& profile : profiles) barriers += barrier_cycles(rates, profile, round, power);
        barriers /= static_cast<double>(profiles.size());
        barriers *= std::max(1.0, busiest / held) / held * cycle;
        return model.minimum_kernel_ns + static_cast<std::int64_t>(std::llround(work + barriers));
    };
    // The warm time is last: the parts and the bytes in `time` belong to the last call.
    time.cold_ns = total(true);
    time.total_ns = total(false);
    const auto longest = std::max_element(part.begin(), part.end());
    time.bound = static_cast<TimeBound>(longest - part.begin());
    return time;
}

}  // namespace cuscope::host
