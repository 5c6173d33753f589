// Converts parameters of copies and launches to the library's types and back.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/handles.hpp"

namespace cuscope::cuda {

inline dim3 dimensions(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

// Attributes that are a single number use a common path: the number lies at the beginning of the union.
inline cudaLaunchAttributeValue value_of(const LaunchAttribute& attribute, LaunchAttributeId id) {
    cudaLaunchAttributeValue value{};
    switch (launch_attribute_row(id).value) {
        case LaunchValue::window:
            value.accessPolicyWindow.base_ptr = attribute.window.base;
            value.accessPolicyWindow.num_bytes = attribute.window.bytes;
            value.accessPolicyWindow.hitRatio = attribute.window.hit_ratio;
            value.accessPolicyWindow.hitProp = static_cast<cudaAccessProperty>(attribute.window.hit);
            value.accessPolicyWindow.missProp = static_cast<cudaAccessProperty>(attribute.window.miss);
            break;
        case LaunchValue::cluster:
            if (id == LaunchAttributeId::cluster_dimension) {
                value.clusterDim = {attribute.cluster.x, attribute.cluster.y, attribute.cluster.z};
            } else {
                value.preferredClusterDim = {attribute.cluster.x, attribute.cluster.y, attribute.cluster.z};
            }
            break;
        case LaunchValue::programmatic_event:
            value.programmaticEvent = {native(attribute.event), attribute.event_flags,
                                       attribute.trigger_at_block_start ? 1 : 0};
            break;
        case LaunchValue::event:
            value.launchCompletionEvent = {native(attribute.event), attribute.event_flags};
            break;
        case LaunchValue::domain_map:
            value.memSyncDomainMap.default_ = attribute.default_domain;
            value.memSyncDomainMap.remote = attribute.remote_domain;
            break;
        case LaunchValue::none:
        case LaunchValue::number:
            value.cooperative = attribute.value;
            break;
    }
    return value;
}

inline LaunchAttribute ours(const cudaLaunchAttributeValue& value, LaunchAttributeId id) {
    LaunchAttribute attribute;
    attribute.id = id;
    switch (launch_attribute_row(id).value) {
        case LaunchValue::window:
            attribute.window = {value.accessPolicyWindow.base_ptr, value.accessPolicyWindow.num_bytes,
                                value.accessPolicyWindow.hitRatio,
                                static_cast<AccessProperty>(value.accessPolicyWindow.hitProp),
                                static_cast<AccessProperty>(value.accessPolicyWindow.missProp)};
            break;
        case LaunchValue::domain_map:
            attribute.default_domain = value.memSyncDomainMap.default_;
            attribute.remote_domain = value.memSyncDomainMap.remote;
            break;
        case LaunchValue::none:
        case LaunchValue::number:
        case LaunchValue::cluster:             // not read back
        case LaunchValue::event:               // not read back
        case LaunchValue::programmatic_event:  // not read back
            attribute.value = value.cooperative;
            break;
    }
    return attribute;
}

inline cudaMemcpy3DParms library_parameters(const Memcpy3DParameters& p) {
    cudaMemcpy3DParms real{};
    real.srcArray = native(p.source_array);
    real.srcPos = {p.source_position.x, p.source_position.y, p.source_position.z};
    real.srcPtr = native(p.source);
    real.dstArray = native(p.destination_array);
    real.dstPos = {p.destination_position.x, p.destination_position.y, p.destination_position.z};
    real.dstPtr = native(p.destination);
    real.extent = {p.extent.width, p.extent.height, p.extent.depth};
    real.kind = static_cast<cudaMemcpyKind>(p.kind);
    return real;
}

inline Memcpy3DParameters ours(const cudaMemcpy3DParms& real) {
    const auto pitched = [](const cudaPitchedPtr& p) -> PitchedPointer {
        return {p.ptr, p.pitch, p.xsize, p.ysize};
    };
    Memcpy3DParameters made;
    made.source_array = reinterpret_cast<ArrayHandle>(real.srcArray);
    made.source_position = {real.srcPos.x, real.srcPos.y, real.srcPos.z};
    made.source = pitched(real.srcPtr);
    made.destination_array = reinterpret_cast<ArrayHandle>(real.dstArray);
    made.destination_position = {real.dstPos.x, real.dstPos.y, real.dstPos.z};
    made.destination = pitched(real.dstPtr);
    made.extent = {real.extent.width, real.extent.height, real.extent.depth};
    made.kind = static_cast<MemcpyKind>(real.kind);
    return made;
}

}  // namespace cuscope::cuda
