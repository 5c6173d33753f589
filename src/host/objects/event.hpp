// Events of the host runtime. Private to src/host.
#pragma once

#include <utility>

#include "host/graph/tips.hpp"
#include "host/sim/command.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct Event {
    static bool allows(unsigned flags);

    void set_record(CommandRef command) {
        record = std::move(command);
        capture = 0;
    }
    // Refuses a record in a stream of another device.
    Status check_record(int stream_device) const;
    // Refuses an event that has no time. It is not of a capture.
    Status check_timed() const;
    // Refuses an event that no launch records beside its kernel.
    Status check_beside(unsigned record_flags) const;
    bool interprocess() const { return (flags & flags::event_interprocess) != 0; }

    unsigned flags = 0;
    int device = 0;
    bool reset = false;  // the device was reset after the event was created
    CommandRef record;
    unsigned long long capture = 0;  // the capture of the last record; 0: not captured
    Tips tips;
};

}  // namespace cuscope::host
