// CUPTI, NVIDIA's library for profilers, loaded at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda/cupti/records.hpp"

namespace cuscope::cuda::cupti {

using Result = int;  // CUptiResult; 0: success
constexpr Result multiple_subscribers = 39;

using Subscriber = struct SubscriberT*;  // CUpti_SubscriberHandle
using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
using TakeBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                            std::size_t valid_bytes);
using Callback = void (*)(void* user_data, int domain, std::uint32_t function, const CallbackData* data);

constexpr int driver_functions = 1;          // CUPTI_CB_DOMAIN_DRIVER_API
constexpr std::uint32_t flush_complete = 0;  // buffers without a record of unfinished work
constexpr std::uint32_t flush_forced = 1;    // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED: all buffers

struct Library {
    Result (*activity_register_timestamp_callback)(std::uint64_t (*clock)());
    Result (*activity_register_callbacks)(RequestBuffer, TakeBuffer);
    Result (*activity_enable)(RecordKind);
    Result (*activity_disable)(RecordKind);
    Result (*activity_flush_all)(std::uint32_t flag);
    Result (*activity_get_next_record)(std::uint8_t* buffer, std::size_t valid_bytes, Record** record);
    Result (*activity_get_dropped)(void* context, std::uint32_t stream, std::size_t* dropped);
    Result (*subscribe)(Subscriber*, Callback, void* user_data);
    Result (*unsubscribe)(Subscriber);
    Result (*enable_callback)(std::uint32_t enable, Subscriber, int domain, std::uint32_t function);
    Result (*get_callback_name)(int domain, std::uint32_t function, const char** name);
    Result (*get_result_string)(Result, const char** text);
};

// Loads CUPTI at the first call. Null if it is not found, with the reason and what to install in *problem. A
// failure is not remembered: the next call searches again.
const Library* library(std::string* problem);

}  // namespace cuscope::cuda::cupti
