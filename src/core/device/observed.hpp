// What is known of a real device without asking it anything that waits: what its streams were given last, and
// what can be told of that from the outside.
#pragma once

#include "core/device/device.hpp"

namespace cuscope::core {

// Adds what may be in flight. Streams that take part in a capture, and those whose question could spoil one,
// are left out.
void observe(Device& device, PendingList* list);

}  // namespace cuscope::core
