// What is in flight on the devices of this process, and what each piece of it waits for: a simulated device
// knows, of a GPU what the core has enqueued is known, and some of what has become of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/device/device.hpp"

namespace cuscope::core {

struct PendingEntry {
    std::string device, stream;  // "host:0", "Stream #2"
    int position = 0;            // in the stream; 0: a node of a graph
    std::string what;
    PendingState state = PendingState::ready;
    bool works = false;
    std::vector<std::pair<PendingKind, std::string>> reasons;
};

struct PendingReport {
    std::vector<PendingEntry> entries;
    std::vector<std::string> roots;     // what all of it waits for in the end
    std::vector<std::string> observed;  // devices of which only what was enqueued is known
};

// Of a device, or of all that are known if it is null. Waits for nothing and changes nothing; asks no
// runtime that was not used.
PendingReport pending(const DevicePtr& device);
// A table for a terminal.
std::string text_of(const PendingReport& report);

}  // namespace cuscope::core
