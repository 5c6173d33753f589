// The layouts of CUPTI's activity records, as far as they are read. Declared here, so that cupti.h is not
// needed: it is no part of the smallest toolkit. CUPTI only ever adds fields at the end of a record, so these
// beginnings hold for CUPTI 12 and 13. layouts_check.cpp compares them with the header if there is one.
#pragma once

#include <cstdint>

namespace cuscope::cuda::cupti {

// CUpti_ActivityKind
enum class RecordKind : std::int32_t {
    copy = 1,
    memset = 2,
    concurrent_kernel = 10,
    copy_between_devices = 22,
};

struct Record {
    RecordKind kind;
};

// CUpti_ActivityKernel
struct KernelRecord {
    RecordKind kind;
    std::uint8_t unused_1[12];
    std::uint64_t start, end, completed;
    std::uint32_t device, context, stream;
    std::int32_t grid[3], block[3];
    std::int32_t static_shared_bytes, dynamic_shared_bytes;
    std::uint32_t unused_2[2];
    std::uint32_t correlation;
    std::int64_t unused_3;
    const char* name;
    std::uint8_t unused_4[44];
    std::uint32_t graph;
};

// CUpti_ActivityMemoryKind
enum class MemoryOfCopy : std::uint8_t { pageable = 1, page_locked = 2, device = 3, array = 4, managed = 5 };

// CUpti_ActivityMemcpy
struct CopyRecord {
    RecordKind kind;
    std::uint8_t direction;  // CUpti_ActivityMemcpyKind
    MemoryOfCopy source, destination;
    std::uint8_t unused_1;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream, correlation;
    std::uint32_t unused_2[6];
    std::uint32_t graph;
};

// CUpti_ActivityMemcpyPtoP
struct CopyBetweenDevicesRecord {
    RecordKind kind;
    std::uint8_t direction;
    MemoryOfCopy source, destination;
    std::uint8_t unused_1;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream;
    std::uint32_t unused_2[4];
    std::uint32_t correlation;
    std::uint32_t unused_3[4];
    std::uint32_t graph;
};

// CUpti_ActivityMemset
struct MemsetRecord {
    RecordKind kind;
    std::uint32_t unused_1;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream, correlation;
    std::uint32_t unused_2[6];
    std::uint32_t graph;
};

// CUpti_CallbackData
struct CallbackData {
    std::int32_t site;  // 0: the call begins
    const char* function_name;
    const void* parameters;
    void* result;
    const char* symbol_name;
    void* context;
    std::uint32_t context_number;
    std::uint64_t* data;
    std::uint32_t correlation;
};

}  // namespace cuscope::cuda::cupti
