// Tensor maps: descriptions of tiles of an array, which kernels get by value and hand to the GPU's Tensor
// Memory Accelerator.
#pragma once

#include <memory>

#include "core/memory/memory.hpp"

namespace cuscope::core {

// The map of a description. Throws std::invalid_argument with the rule that the description breaks, and Error
// with Status::not_supported for a device without tensor maps (compute capability below 9.0).
TensorMapBytes encode_tensor_map(Device& device, const TensorMapDescription& description);

// A map, and the memory that it describes. It has no resource of the runtime.
struct TensorMap {
    TensorMapDescription description;
    TensorMapBytes bytes;
    std::shared_ptr<DeviceMemory> memory;

    static std::shared_ptr<const TensorMap> make(const TensorMapDescription& description,
                                                 std::shared_ptr<DeviceMemory> memory);
};

}  // namespace cuscope::core
