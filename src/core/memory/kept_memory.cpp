#include "core/memory/kept_memory.hpp"

#include <atomic>
#include <limits>

namespace cuscope::core {
namespace {

constexpr std::uint64_t not_set = std::numeric_limits<std::uint64_t>::max();
std::atomic<std::uint64_t> set_bytes{not_set};

}  // namespace

void set_kept_memory(std::uint64_t bytes) { set_bytes = bytes; }

bool keeps_memory() { return set_bytes.load(std::memory_order_relaxed) != 0; }

std::uint64_t kept_memory(const Device& device) {
    const std::uint64_t bytes = set_bytes;
    return bytes == not_set ? device.properties().total_global_memory / 8 : bytes;
}

}  // namespace cuscope::core
