// The state of a real device as far as it can be found out without a call that waits: the last commands given
// to its streams, and how far they have come.
#pragma once

#include <optional>
#include <string>

#include "core/device/device.hpp"
#include "core/stream/enqueued.hpp"

namespace cuscope::core {

// Adds the commands that may be in flight. Leaves out streams that take part in a capture, and streams
// that cannot be queried without invalidating a capture.
void observe(Device& device, PendingList* list);
// Does the stream of a real device have work to do? Unknown if the query is not allowed. The device is
// current.
std::optional<bool> is_busy(const Stream& stream);
// For example "copy of 4 KiB, host to device".
std::string text_of(const EnqueuedNote& note);

}  // namespace cuscope::core
