// The commands in flight on the devices of this process, and the reason why each of them waits. A simulated
// device knows them exactly. For a GPU, the report has the commands that core enqueued and a part of their
// progress.
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
    std::vector<std::string> roots;     // the causes at the ends of all chains of waiting
    std::vector<std::string> observed;  // devices of which only the enqueued commands are known
};

// For one device, or for all known ones if it is null. Waits for nothing, changes nothing, and calls no
// runtime that was not used before.
PendingReport pending(const DevicePtr& device);
// A table for a terminal.
std::string text_of(const PendingReport& report);

}  // namespace cuscope::core
