// The parts of CUPTI's activity records that traces need. Newer versions of CUPTI only append to a record, so
// these layouts hold for CUPTI 12 and 13; static_checks.cpp compares them with CUPTI's headers.
#pragma once

#include <cstdint>

#include "cuda/cupti/library.hpp"

namespace cuscope::cuda::cupti {

struct KernelLayout {  // CUpti_ActivityKernel7 to 10
    Kind kind;
    std::uint8_t cache_config, shared_memory_config;
    std::uint16_t registers;
    std::int32_t partitioned_cache_requested, partitioned_cache_executed;
    std::uint64_t start, end, completed;
    std::uint32_t device, context, stream;
    std::int32_t grid[3], block[3];
    std::int32_t static_shared_bytes, dynamic_shared_bytes;
    std::uint32_t local_bytes_per_thread, local_bytes;
    std::uint32_t correlation;
    std::int64_t grid_id;
    const char* name;  // mangled
    void* reserved;
    std::uint64_t queued, submitted;
    std::uint8_t launch_type, carveout_requested, carveout, padding;
    std::uint32_t shared_bytes_executed;
    std::uint64_t graph_node;  // 0: not of a graph
};

struct MemcpyLayout {  // CUpti_ActivityMemcpy5 and 6
    Kind kind;
    std::uint8_t copy_kind, source_kind, destination_kind, flags;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream;
    std::uint32_t correlation, runtime_correlation, padding;
    void* reserved;
    std::uint64_t graph_node;
};

struct PeerCopyLayout {  // CUpti_ActivityMemcpyPtoP4
    Kind kind;
    std::uint8_t copy_kind, source_kind, destination_kind, flags;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream;
    std::uint32_t source_device, source_context, destination_device, destination_context;
    std::uint32_t correlation;
    void* reserved;
    std::uint64_t graph_node;
};

struct CallLayout {  // CUpti_CallbackData
    int site;
    const char* function;
    const void* parameters;
    void* result;
    const char* symbol;
    void* context;
    std::uint32_t context_number;
    std::uint64_t* data;
    std::uint32_t correlation;
};

constexpr int call_begins = 0;  // CUPTI_API_ENTER

// CUpti_ActivityMemcpyKind. `array`: an array of textures.
enum class CopyKind : std::uint8_t {
    unknown,
    host_to_device,
    device_to_host,
    host_to_array,
    array_to_host,
    array_to_array,
    array_to_device,
    device_to_array,
    device_to_device,
    host_to_host,
    peer_to_peer,
};

constexpr std::uint8_t pageable_memory = 1;  // CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE

}  // namespace cuscope::cuda::cupti
