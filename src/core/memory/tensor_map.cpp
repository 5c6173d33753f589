#include "core/memory/tensor_map.hpp"

#include <stdexcept>
#include <utility>

namespace cuscope::core {
namespace {

constexpr int least_capability = 9;  // its major number
constexpr const char* call = "cuTensorMapEncodeTiled";

}  // namespace

TensorMapBytes encode_tensor_map(Device& device, const TensorMapDescription& description) {
    const DeviceProperties& properties = device.properties();
    if (properties.compute_capability_major < least_capability) {
        throw Error(Status::not_supported, call,
                    device.name() + " has compute capability " +
                        std::to_string(properties.compute_capability_major) + "." +
                        std::to_string(properties.compute_capability_minor),
                    "Tensor maps need compute capability 9.0: cuscope.add_host_device(\"h200\") has it.");
    }
    if (const std::string problem = tensor_map_problem(description); !problem.empty())
        throw std::invalid_argument("TensorMap: " + problem);
    const DeviceScope scope(device);
    TensorMapBytes bytes{};
    device.check(device.runtime().tensor_map_encode_tiled(&bytes, &description), call);
    return bytes;
}

std::shared_ptr<const TensorMap> TensorMap::make(const TensorMapDescription& description,
                                                 std::shared_ptr<DeviceMemory> memory) {
    memory->check_usable();
    const TensorMapBytes bytes = encode_tensor_map(memory->device(), description);
    return std::make_shared<const TensorMap>(TensorMap{description, bytes, std::move(memory)});
}

}  // namespace cuscope::core
