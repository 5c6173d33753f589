// Captures of streams, and which calls they allow. A call that a capture does not allow invalidates that
// capture. Private to src/host.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/graph/tips.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct Event;
struct Graph;
struct Machine;
struct Stream;

struct Capture {
    unsigned long long id = 0;
    CaptureMode mode = CaptureMode::global;
    CaptureStatus status = CaptureStatus::active;
    Stream* origin = nullptr;
    unsigned long long thread = 0;
    Graph* graph = nullptr;
    std::unique_ptr<Graph> own;  // the same graph, if the capture makes it
    std::vector<Stream*> streams;
    std::vector<GraphNode*> left;  // the last nodes of streams that took part and were destroyed
    std::string why;               // the reason, once the capture is invalidated
};

class Captures {
  public:
    explicit Captures(Machine& machine);
    ~Captures();

    // Null for a capture that has ended or was invalidated.
    Capture* active(unsigned long long id) const;
    // Is the stream being captured, or does it wait for a stream that is?
    bool reach(const Stream& stream) const;
    // Is a stream being captured to the graph, or to a part of it?
    bool fills(const Graph& graph) const;

    // Invalidates the capture. With a status of success, the call that did so does not fail itself.
    Status spoil(Capture& capture, Status status, const std::string& detail);
    // The same for a call that has failed already, with its detail. Returns its status.
    Status spoil_failed(Stream& stream, Status status);
    // A call that waits for a whole device spoils every capture on that device.
    Status spoil_device(int device);

    // For calls that may be unsafe while any stream is captured.
    Status forbidden();
    // Calls that name a stream check captures before their other arguments. A call that is refused in the
    // legacy default stream invalidates the captures of the device's blocking streams.
    Status admit_legacy(const Stream& stream);
    Status admit(const Stream& stream);  // for calls that may be captured, or that do not affect a capture
    Status admit_uncaptured(const Stream& stream, const char* detail);  // for calls that cannot be captured
    Status admit_pooled(const Stream& stream);  // for calls of the stream-ordered allocator
    Status admit_awaited(Stream& stream, const Event* event, bool external);
    Status inquire(const Stream& stream);  // for calls that query or synchronize a stream
    Status inquire(const Event& event);
    Status captured_event(const Event& event) const;  // for an event with a captured last record
    // For queries about a capture: they spoil none.
    Status check_legacy(const Stream& stream) const;

    // Refuses a stream of which no capture begins now.
    Status check_begin(const Stream& stream);
    // `into`: the graph that is to be filled; null: a new one.
    Status begin(Stream& stream, CaptureMode mode, Graph* into, Tips tips);
    Status end(Stream& stream, GraphHandle* graph);
    // The stream is about to be destroyed.
    void leave_stream(Stream& stream);
    // The node is about to be destroyed.
    void forget_node(const GraphNode& node);

    // The node becomes the next one in the stream, behind the nodes that the stream has come to.
    void add(Stream& stream, std::unique_ptr<GraphNode> node);
    // A wait for an event and a record of one, if the stream is captured or the event is of a capture.
    Status wait(Stream& stream, Event& event, bool external);
    void record(Stream& stream, Event& event, bool external);

  private:
    // Invalidates the captures that a call affects. The call fails if there are any.
    template <class Affected>
    Status spoil_all(const Affected& affected, Status status, const char* detail);
    void leave(Capture& capture);

    Machine& machine_;
    std::map<unsigned long long, std::unique_ptr<Capture>> captures_;
    unsigned long long last_ = 0;
};

}  // namespace cuscope::host
