// What is in flight on a device and what each piece of it waits for, as plain data: collected by a runtime or
// by the core without waiting, made into text when somebody reads it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph_types.hpp"

namespace cuscope {

// Where work stands. `unknown`: a GPU does not say.
enum class PendingState { ready, running, waiting, unknown };

// What a piece of work waits for.
enum class PendingKind {
    order,            // earlier work of its stream
    default_stream,   // the order between the legacy default stream and the others
    event,            // an event of another stream
    graph,            // earlier nodes of its graph
    queue,            // the front of its hardware queue
    engine,           // an engine that does something else
    multiprocessors,  // room for its blocks
    value,            // a number in memory
    semaphore,        // an external semaphore
    host_function,    // a host function that has begun, or the thread that runs them
    kernel,           // a kernel's own threads, which may spin
    simulation,       // the simulation is held up elsewhere
};

struct PendingReason {
    PendingKind kind = PendingKind::order;
    std::string text;           // "{}" stands for the first of the blockers
    std::vector<int> blockers;  // places in the list of work; empty: nothing that is in flight ends it
    bool circle = false;        // the blockers wait for this themselves
};

struct PendingWork {
    int device = 0;
    unsigned long long stream_id = 0;  // the runtime's number of the stream
    std::string stream;                // "Stream #2", "Stream legacy default"
    int position = 0;                  // in the stream, 1 being the oldest that is in flight; 0: of a graph
    std::string what;                  // "copy of 4 KiB, host to device"
    PendingState state = PendingState::ready;
    bool works = false;  // a thread is doing it right now, and gets on with it
    std::vector<PendingReason> reasons;
    // Of a host function: whoever enqueued it may know a name for it.
    HostFunction function = nullptr;
    void* data = nullptr;
};

using PendingList = std::vector<PendingWork>;

const char* name_of(PendingState state);
const char* name_of(PendingKind kind);
// "order", or what it says of the work that it names.
std::string text_of(const PendingList& list, const PendingReason& reason);
// Marks the reasons whose blockers wait for the very work that has the reason.
void find_circles(PendingList* list);
// What all of it waits for in the end: one sentence for each cause that nothing in flight will remove.
// Of what is on one device; -1: on all.
std::vector<std::string> roots_of(const PendingList& list, int device);
// "4 KiB"
std::string text_of_bytes(std::size_t bytes);

}  // namespace cuscope
