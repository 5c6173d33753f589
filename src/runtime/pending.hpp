// The pending work of a device and the reasons why each piece waits, as plain data. A runtime or the core
// collects it without waiting; it is made into text only when it is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph_types.hpp"

namespace cuscope {

// The state of work. `unknown`: a GPU does not report it.
enum class PendingState { ready, running, waiting, unknown };

// The thing that a piece of work waits for.
enum class PendingKind {
    order,            // earlier work of its stream
    default_stream,   // the order between the legacy default stream and the others
    event,            // an event of another stream
    graph,            // earlier nodes of its graph
    queue,            // the front of its hardware queue
    engine,           // an engine that is busy
    multiprocessors,  // room for its blocks
    value,            // a number in memory
    semaphore,        // an external semaphore
    host_function,    // a host function that has begun, or the thread that runs host functions
    kernel,           // a kernel's own threads, which may spin
    simulation,       // the simulation is held up elsewhere
};

struct PendingReason {
    PendingKind kind = PendingKind::order;
    std::string text;           // "{}" stands for the first of the blockers
    std::vector<int> blockers;  // indices into the list; empty: no pending work ends the wait
    bool circle = false;        // the blockers themselves wait for this work
};

struct PendingWork {
    int device = 0;
    unsigned long long stream_id = 0;  // the runtime's number of the stream
    std::string stream;                // "Stream #2", "Stream legacy default"
    int position = 0;                  // in the stream, 1 is the oldest pending; 0: graph node
    std::string what;                  // "copy of 4 KiB, host to device"
    PendingState state = PendingState::ready;
    bool works = false;  // a thread is running it and makes progress
    std::vector<PendingReason> reasons;
    // For a host function: lets the layer that enqueued it supply a name.
    HostFunction function = nullptr;
    void* data = nullptr;
};

using PendingList = std::vector<PendingWork>;

const char* name_of(PendingState state);
const char* name_of(PendingKind kind);
// The reason's text, with "{}" replaced by the name of the blocking work.
std::string text_of(const PendingList& list, const PendingReason& reason);
// Marks a reason if its blockers wait for the very work that has the reason.
void find_circles(PendingList* list);
// The root causes: a sentence for each reason that no pending work will remove. For the work of one device;
// -1: of all devices.
std::vector<std::string> roots_of(const PendingList& list, int device);
// For example "4 KiB".
std::string text_of_bytes(std::size_t bytes);

}  // namespace cuscope
