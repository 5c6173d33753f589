// The ids of streams, for traces, which need one for each call. They are asked of the driver: a failure
// leaves the library's last error alone. A stream that is captured is not asked: that invalidates the
// capture. Nor is the legacy default stream while a blocking stream is captured.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/activity.hpp"
#include "runtime/types.hpp"

namespace cuscope::cuda {

// The id of the stream; for default streams, that of the current device and thread. 0: unknown.
std::uint64_t id_of_stream(StreamHandle stream);
// Its description. `id` is its id. Nothing if it cannot be asked now.
std::optional<StreamRecord> describe_stream(StreamHandle stream, std::uint64_t id);
// To be called when a stream is gone: its handle may become that of another one.
void forget_stream_ids();

}  // namespace cuscope::cuda
