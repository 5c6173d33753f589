// The state of a real device as far as it can be found out without a call that waits: the last commands given
// to its streams, and how far they have come.
#pragma once

#include "core/device/device.hpp"

namespace cuscope::core {

// Adds the commands that may be in flight. Leaves out streams that take part in a capture, and streams
// that cannot be queried without invalidating a capture.
void observe(Device& device, PendingList* list);

}  // namespace cuscope::core
