// How long the package's kernels take on a simulated device: as an H200 took (calibration.inc), scaled to the
// model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/device/device.hpp"
#include "cuda_kernels/matmul/plan.hpp"
#include "ops/matmul/matmul.hpp"

namespace cuscope::ops {

// Nanoseconds; -1 for a device that is none of ours to predict, or a kernel that was not measured.
//
// A product is waves of tiles: the multiprocessor that has most of them, times the inner extent, and less
// fast where it holds fewer than it can.
std::int64_t predict_matmul(const core::Device& device, const matmul::Instance& instance,
                            const matmul::Shape& shape);
// A reduction's launch is a fixed time and one for each element; wider elements take as much longer.
std::int64_t predict_reduction(const core::Device& device, std::string_view variant, std::int64_t elements,
                               std::size_t element_bytes);

// Why a simulated device goes its own way, how long that takes on it, and which kernel's time that is.
std::string simulated_reason(const Choice& kernel, std::int64_t duration_ns);

}  // namespace cuscope::ops
