#include "host/sim/model_rules.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace cuscope::host {
namespace {

std::string value(const char* name, double number) {
    std::string digits = std::to_string(static_cast<long long>(number));
    return std::string(name) + "=" + digits;
}

struct Pair {
    const char* lower_name;
    double lower;
    const char* upper_name;
    double upper;
    const char* reason;
};

bool is_power_of_two(std::size_t number) { return number != 0 && (number & (number - 1)) == 0; }

}  // namespace

std::string contradiction(const DeviceModel& model) {
    const DeviceProperties& p = model.properties;
    const auto number = [](auto of) { return static_cast<double>(of); };
    const std::array pairs{
        Pair{"max_threads_per_block", number(p.max_threads_per_block), "max_threads_per_multiprocessor",
             number(p.max_threads_per_multiprocessor), "a multiprocessor holds at least one block"},
        Pair{"shared_memory_per_block", number(p.shared_memory_per_block), "shared_memory_per_block_optin",
             number(p.shared_memory_per_block_optin), "a kernel opts in to more shared memory, not to less"},
        Pair{"shared_memory_per_block_optin", number(p.shared_memory_per_block_optin),
             "shared_memory_per_multiprocessor", number(p.shared_memory_per_multiprocessor),
             "a multiprocessor holds at least one block"},
        Pair{"registers_per_block", number(p.registers_per_block), "registers_per_multiprocessor",
             number(p.registers_per_multiprocessor), "a multiprocessor holds at least one block"},
        Pair{"kernel_latency_ns", number(model.kernel_latency_ns), "minimum_kernel_ns",
             number(model.minimum_kernel_ns), "the shortest kernel includes its start-up"},
        Pair{"graph_kernel_ns", number(model.graph_kernel_ns), "minimum_kernel_ns",
             number(model.minimum_kernel_ns), "a kernel in a graph starts no later than one in a stream"},
        Pair{"greatest_priority", number(model.greatest_priority), "least_priority",
             number(model.least_priority), "greater priorities are smaller numbers"},
    };
    for (const Pair& pair : pairs) {
        if (pair.lower <= pair.upper) continue;
        return value(pair.lower_name, pair.lower) + " is more than " + value(pair.upper_name, pair.upper) +
               ": " + pair.reason;
    }
    const auto largest = static_cast<unsigned>(p.max_threads_per_block);
    if (blocks_per_multiprocessor(model, largest, 0, DeviceModel::assumed_registers) == 0) {
        return value("max_threads_per_block", largest) +
               ": a multiprocessor does not hold such a block, with " +
               std::to_string(DeviceModel::assumed_registers) + " registers for each thread and " +
               value("registers_per_multiprocessor", p.registers_per_multiprocessor) + ", " +
               value("max_threads_per_multiprocessor", p.max_threads_per_multiprocessor);
    }
    if (blocks_per_multiprocessor(model, 1, p.shared_memory_per_block_optin,
                                  DeviceModel::assumed_registers) == 0) {
        return value("shared_memory_per_block_optin", number(p.shared_memory_per_block_optin)) +
               ": a multiprocessor does not hold such a block, with " +
               value("shared_memory_per_multiprocessor", number(p.shared_memory_per_multiprocessor)) +
               (p.compute_capability_major >= 8 ? ", of which each block reserves 1024 bytes" : "");
    }
    const std::vector<int>& groups = model.multiprocessor_groups;
    const int grouped = std::accumulate(groups.begin(), groups.end(), 0);
    if (!groups.empty() && grouped != p.multiprocessor_count) {
        return "multiprocessor_groups: the groups have " + std::to_string(grouped) +
               " multiprocessors, but " + value("multiprocessors", p.multiprocessor_count);
    }
    if (groups.empty() != (p.compute_capability_major < 9)) {
        return std::string("multiprocessor_groups: ") +
               (groups.empty() ? "there are none" : "there are some") + ", but " +
               value("compute_capability_major", p.compute_capability_major) +
               ": devices have clusters, and the groups for them, from 9 on";
    }
    if (p.compute_capability_major >= 8 && p.l2_cache_size < 4096) {
        return value("l2_cache_size", p.l2_cache_size) + " is less than 4096, but " +
               value("compute_capability_major", p.compute_capability_major) +
               ": devices can set part of the cache aside from 8 on";
    }
    if (!is_power_of_two(p.texture_alignment)) {
        return value("texture_alignment", number(p.texture_alignment)) + " is no power of two";
    }
    if (!is_power_of_two(p.texture_pitch_alignment)) {
        return value("texture_pitch_alignment", number(p.texture_pitch_alignment)) + " is no power of two";
    }
    return {};
}

}  // namespace cuscope::host
