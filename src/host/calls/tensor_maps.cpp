// The host runtime's tensor maps.
#include <cstring>

#include "cuscope_simt/tensor/layout.h"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

Status HostRuntime::tensor_map_encode_tiled(TensorMapBytes* map, const TensorMapDescription* description) {
    ENTER(other);
    if (map == nullptr || description == nullptr) return fail(Status::invalid_value);
    const TensorMapDescription& given = *description;
    if (const std::string problem = tensor_map_problem(given); !problem.empty())
        return fail(Status::invalid_value, problem);
    cuscope_simt::TensorMapLayout layout{};
    layout.mark = layout.right_mark;
    layout.address = reinterpret_cast<std::uintptr_t>(given.address);
    layout.rank = static_cast<unsigned char>(given.rank);
    layout.element_bytes = static_cast<unsigned char>(bytes_of(given.type));
    layout.swizzle = static_cast<unsigned char>(given.swizzle);
    layout.fills_with_nan = given.fill == TensorMapFill::nan;
    layout.rounds_to_tf32 =
        given.type == TensorMapType::tfloat32 || given.type == TensorMapType::tfloat32_ftz;
    for (std::size_t i = 0; i < given.rank; ++i) {
        layout.strides[i] = i == 0 ? layout.element_bytes : given.strides[i];
        layout.extents_less_1[i] = static_cast<unsigned>(given.extents[i] - 1);
        layout.box[i] = static_cast<unsigned short>(given.box[i]);
        layout.element_strides[i] = i == 0 ? 1 : static_cast<unsigned char>(given.element_strides[i]);
    }
    *map = {};
    std::memcpy(map, &layout, sizeof layout);
    return Status::success;
}

}  // namespace cuscope::host
