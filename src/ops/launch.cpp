#include "ops/launch.hpp"

#include <algorithm>

namespace cuscope::ops {

std::span<const LaunchAttribute> overlapping(const core::Device& device) {
    static const LaunchAttribute attribute = [] {
        LaunchAttribute allowed;
        allowed.id = LaunchAttributeId::programmatic_stream_serialization;
        allowed.value = 1;
        return allowed;
    }();
    if (device.simulated() || device.properties().compute_capability_major < 9) return {};
    return {&attribute, 1};
}

std::shared_ptr<core::Kernel> native_kernel(core::Device& device) {
    return KernelLibrary::of(device).kernel("host/native", "native");
}

unsigned blocks_for(const core::Device& device, std::int64_t elements, unsigned threads) {
    constexpr std::int64_t blocks_of_a_multiprocessor = 16;
    const std::int64_t needed = (elements + threads - 1) / threads;
    const std::int64_t busy =
        blocks_of_a_multiprocessor * std::max(device.properties().multiprocessor_count, 1);
    return static_cast<unsigned>(std::clamp<std::int64_t>(needed, 1, busy));
}

}  // namespace cuscope::ops
