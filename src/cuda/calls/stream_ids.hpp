// The descriptions of streams for traces, which need one for each call. They are asked of the driver: a
// failure leaves the library's last error alone. A stream that is captured is not asked: that invalidates the
// capture. Nor is the legacy default stream while a blocking stream is captured.
#pragma once

#include "runtime/activity.hpp"
#include "runtime/types.hpp"

namespace cuscope::cuda {

// Of a default stream, that of the current device and thread. Null: unknown. Valid until the thread's next
// call. A stream that the thread used before is known although it is captured now.
const StreamRecord* description_of_stream(StreamHandle stream);
// To be called when a stream is gone: its handle may become that of another one.
void forget_stream_ids();

}  // namespace cuscope::cuda
