// CUPTI, NVIDIA's library for traces, loaded at run time: where it was found, and its functions. Declared
// here, so that CUPTI's headers are not needed; static_checks.cpp compares with them where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cuscope::cuda::cupti {

using Result = int;  // CUptiResult
constexpr Result success = 0;
constexpr Result invalid_parameter = 1;      // CUPTI_ERROR_INVALID_PARAMETER
constexpr Result multiple_subscribers = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED

// CUpti_ActivityKind
enum class Kind : int {
    memcpy = 1,
    concurrent_kernel = 10,
    memcpy2 = 22,  // between devices
};

constexpr int driver_calls = 1, runtime_calls = 2;  // CUpti_CallbackDomain
constexpr std::uint32_t flush_forced = 1u << 0;     // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

using Subscriber = struct SubscriberT*;  // CUpti_SubscriberHandle
using Callback = void (*)(void* data, int domain, std::uint32_t id, const void* about);
using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                std::size_t valid_bytes);
using Timestamp = std::uint64_t (*)();

// CUpti_SubscriberParams
struct SubscriberParameters {
    std::size_t bytes = sizeof(SubscriberParameters);
    const char* name = nullptr;
    char* other = nullptr;  // receives the name of the tool that is subscribed already
    std::size_t other_bytes = 0;
};

struct Library {
    std::string path;  // of the shared library
    std::uint32_t version = 0;

    Result (*get_version)(std::uint32_t*);
    Result (*get_result_string)(Result, const char**);
    Result (*subscribe)(Subscriber*, Callback, void* data);
    Result (*unsubscribe)(Subscriber);
    Result (*enable_callback)(std::uint32_t enable, Subscriber, int domain, std::uint32_t id);
    Result (*activity_enable)(Kind);
    Result (*activity_disable)(Kind);
    Result (*activity_register_callbacks)(RequestBuffer, CompleteBuffer);
    Result (*activity_register_timestamp_callback)(Timestamp);
    Result (*activity_flush_all)(std::uint32_t flags);
    Result (*activity_get_next_record)(std::uint8_t* buffer, std::size_t valid_bytes, void** record);
    Result (*activity_get_num_dropped_records)(void* context, std::uint32_t stream, std::size_t* dropped);

    // Null in versions that lack it.
    Result (*subscribe_v2)(Subscriber*, Callback, void* data, SubscriberParameters*);
};

// Loads CUPTI at the first call. Null if it is not found, with the reason and the way out in *problem. A
// failure is not remembered: the next call searches again.
const Library* library(std::string* problem);

// "CUPTI_ERROR_UNKNOWN (999)"
std::string result_text(const Library& library, Result result);

}  // namespace cuscope::cuda::cupti
