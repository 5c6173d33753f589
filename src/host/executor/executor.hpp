// Runs a kernel's blocks and threads on the CPU. Knows nothing of streams, and of simulated time only the
// facts in a Launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/counting/counting.hpp"
#include "host/counting/sampling.hpp"
#include "host/executor/argument_bytes.hpp"
#include "host/executor/heap.hpp"
#include "host/executor/image.hpp"
#include "runtime/checking.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::simt {

// Launches graphs for a kernel that is a node of a graph.
class GraphLauncher {
  public:
    virtual ~GraphLauncher() = default;
    virtual Status launch(void* exec, void* stream) = 0;
    // The graph that holds the kernel as a node.
    virtual void* current() const = 0;
};

class LaunchCheck;
class Shadow;

struct Launch {
    std::shared_ptr<Image> image;
    const cuscope_simt::KernelEntry* kernel = nullptr;
    Dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    std::vector<std::byte, ArgumentAllocator<std::byte>>
        arguments;               // the values, each at the offset in its ParameterLayout
    std::int64_t start_ns = 0;   // simulated device time at which the kernel starts
    std::int64_t clock_khz = 1;  // of the simulated multiprocessors
    unsigned multiprocessor_count = 1;
    unsigned resident_blocks = 1;  // how many blocks the simulated device holds at once
    std::size_t stack_bytes = 64 << 10;
    bool cooperative = false;               // all blocks run at once and may wait for each other
    Dim3 cluster{1, 1, 1};                  // blocks that run at once and see each other's shared memory
    std::int64_t primary_ended_ns = 0;      // end of the kernel that it overlaps
    std::shared_ptr<Heap> heap;             // null: malloc() returns null
    std::shared_ptr<Counting> counting;     // for an image that counts; null: nothing is counted
    std::shared_ptr<GraphLauncher> graphs;  // null: the kernel is not a node of a graph
    std::shared_ptr<Sampling> sampling;     // null: no block is sampled
    std::shared_ptr<LaunchCheck> check;     // for an image that checks; null: nothing is checked
    // For the check: where memory begins that the kernel's device has no access to, in order.
    std::vector<std::uintptr_t> out_of_access;
    std::uint64_t token = 0;       // of the check of the order of commands; 0: it does not wait
    std::shared_ptr<Image> plain;  // the image with the variables that an instrumented image uses
    std::vector<std::shared_ptr<Shadow>> written;  // memory that counts as written once the kernel has run
};

struct Outcome {
    Status status = Status::success;
    std::string detail;       // of a fault: kernel, block, thread, address, source line
    FoundThread where{};      // of a fault: block, thread and line, as far as they are known
    FoundThread other{};      // of threads that wait elsewhere; or nothing
    bool of_meeting = false;  // of a fault: threads do not meet as they should
    std::string printed;      // output of the kernel's printf, in block order
    std::int64_t elapsed_ns =
        0;  // the longest that a block's clocks and sleeps say it took; 0 if it read none
    std::int64_t triggered_ns = -1;  // when the last block had let dependents start; -1: not all did
};

// Shared with another thread that waits for the run.
struct RunControl {
    std::atomic<bool> abort{false};       // end the kernel as soon as possible: Status::launch_timeout
    std::atomic<bool> stalled{false};     // set by the executor: the kernel spins on something outside itself
    std::atomic<std::uint64_t> begun{0};  // about how many blocks have begun, for a bar
};

// Gives an image's objects at file scope their first values; no code of the image runs before. The
// initialisers run like a kernel of one thread, so an error in them becomes an Outcome.
Outcome initialize(const std::shared_ptr<Image>& image, const std::shared_ptr<Heap>& heap,
                   RunControl& control);

// Runs a kernel to its end. Several OS threads may each run one kernel. The calling thread takes part in the
// work.
Outcome run(const Launch& launch, RunControl& control);

}  // namespace cuscope::simt
