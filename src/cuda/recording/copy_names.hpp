// How traces name copies.
#pragma once

#include "runtime/activity.hpp"

namespace cuscope::cuda {

// Between memory of the host and of devices. The calls of either recorder fill the name and the engine.
inline void describe_direction(bool from_host, bool to_host, WorkRecord* record) {
    static const std::uint32_t names[] = {
        index_of_name("device to device"),
        index_of_name("device to host"),
        index_of_name("host to device"),
        index_of_name("host to host"),
    };
    static constexpr ActivityEngine engines[] = {
        ActivityEngine::copy_on_device,
        ActivityEngine::copy_to_host,
        ActivityEngine::copy_to_device,
        ActivityEngine::none,
    };
    const int place = (from_host ? 2 : 0) + (to_host ? 1 : 0);
    record->name = names[place];
    record->engine = engines[place];
}

}  // namespace cuscope::cuda
