// The time of a kernel from the profiles of some of its blocks. docs/kernel-time.md explains the model.
#pragma once

#include <vector>

#include "host/counting/block_profile.hpp"
#include "host/sim/device_model.hpp"
#include "runtime/kernel_time.hpp"

namespace cuscope::host {

// A grid of `blocks` blocks, of which a multiprocessor holds so many at once. `profiles`: at least one, in
// the order of the blocks.
KernelTime kernel_time(const DeviceModel& model, std::uint64_t blocks, int blocks_per_multiprocessor,
                       const std::vector<simt::BlockProfile>& profiles);

}  // namespace cuscope::host
