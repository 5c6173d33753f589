// How long the package's kernels take on a simulated device: the times measured on an H200 (calibration.inc),
// scaled to the device's model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/device/device.hpp"
#include "cuda_kernels/matmul/plan.hpp"
#include "ops/matmul/matmul.hpp"

namespace cuscope::ops {

// Nanoseconds; -1 on a real device, or for a kernel that was not measured.
// A product is computed in waves of tiles. Its time is that of the multiprocessor with the most tiles, times
// the inner extent. A multiprocessor with fewer tiles than it can hold is slower per tile.
std::int64_t predict_matmul(const core::Device& device, const matmul::Instance& instance,
                            const matmul::Shape& shape);
// The same for the kernels of a choice, which may split k.
std::int64_t predict_matmul(const core::Device& device, const matmul::Choice& choice,
                            const matmul::Shape& shape);
// A reduction takes a fixed time for the launch and a time for each element, in proportion to the element's
// size.
std::int64_t predict_reduction(const core::Device& device, std::string_view variant, std::int64_t elements,
                               std::size_t element_bytes);

// Explains why a simulated device does not run the kernel, and names the kernel that the duration is taken
// from.
std::string simulated_reason(const Choice& kernel, std::int64_t duration_ns);

}  // namespace cuscope::ops
