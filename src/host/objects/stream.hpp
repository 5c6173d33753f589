// Streams of the host runtime. Private to src/host.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "host/graph/tips.hpp"
#include "host/runtime/objects.hpp"
#include "host/sim/command.hpp"
#include "runtime/launch_types.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

class Timeline;
struct Capture;
struct Device;

struct Stream : SimStream {
    bool captured() const { return capture != nullptr; }
    // The stream takes part in no capture any more.
    void leave_capture() {
        capture = nullptr;
        tips.clear();
    }

    unsigned flags = 0;
    unsigned long long id = 0;
    unsigned long long thread = 0;  // this is that thread's per-thread default stream; 0: it is not one
    // The attributes that were set. The priority is a member of SimStream.
    std::vector<LaunchAttribute> attributes;
    Capture* capture = nullptr;
    Tips tips;  // while the stream is captured
};

// The streams of all devices by their handles. Each device owns its streams.
class Streams {
  public:
    explicit Streams(Timeline& timeline) : timeline_(timeline) {}

    // A null handle names the legacy default stream of `current`, the current device. The per-thread default
    // stream is made when it is first looked up.
    Found<Stream> find(StreamHandle handle, Device& current);
    bool contains(StreamHandle handle) const { return handles_.contains(handle); }
    // Was the stream destroyed by a reset of its device?
    bool was_reset(StreamHandle handle) const { return reset_.contains(handle); }

    void add_legacy(Device& device);
    StreamHandle create(Device& device, unsigned flags, int priority);
    // The stream's work goes on. The object is released when the work has ended.
    void destroy(Stream& stream, Device& owner);
    // Destroys all streams of the device but the legacy default stream.
    void reset(Device& device);

  private:
    Stream& add(Device& device, int priority, bool blocking, bool legacy);

    Timeline& timeline_;
    Handles<Stream, StreamHandle> handles_;
    std::unordered_set<const void*> reset_;
    unsigned long long next_id_ = 1;
};

}  // namespace cuscope::host
