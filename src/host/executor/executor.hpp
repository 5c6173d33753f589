// Runs a kernel's blocks and threads on the CPU. Knows nothing of streams or of simulated time beyond what a
// launch says.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/counting/counting.hpp"
#include "host/executor/heap.hpp"
#include "host/executor/image.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::simt {

// Whom a kernel of a graph asks to launch graphs.
class GraphLauncher {
  public:
    virtual ~GraphLauncher() = default;
    virtual Status launch(void* exec, void* stream) = 0;
    // The graph of which the kernel is a node.
    virtual void* current() const = 0;
};

struct Launch {
    std::shared_ptr<Image> image;
    const cuscope_simt::KernelEntry* kernel = nullptr;
    Dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    std::vector<std::byte> arguments;  // the values, each at its ParameterLayout's offset
    std::int64_t start_ns = 0;         // simulated device time at which the kernel starts
    std::int64_t clock_khz = 1;        // of the simulated multiprocessors
    unsigned multiprocessor_count = 1;
    unsigned resident_blocks = 1;  // how many blocks the simulated device holds at once
    std::size_t stack_bytes = 64 << 10;
    bool cooperative = false;               // all blocks run at once and may wait for each other
    Dim3 cluster{1, 1, 1};                  // blocks that run at once and see each other's shared memory
    std::int64_t primary_ended_ns = 0;      // when the kernel that it overlaps had ended
    std::shared_ptr<Heap> heap;             // null: malloc() gives nothing
    std::shared_ptr<Counting> counting;     // of an image that counts; null: it does not
    std::shared_ptr<GraphLauncher> graphs;  // null: the kernel is a node of none
    std::shared_ptr<Image> plain;           // whose variables an image that counts uses
};

struct Outcome {
    Status status = Status::success;
    std::string detail;   // of a fault: kernel, block, thread, address, source line
    std::string printed;  // what the kernel's printf wrote, in block order
    std::int64_t elapsed_ns =
        0;  // the longest that a block's clocks and sleeps say it took; 0 if it read none
    std::int64_t triggered_ns = -1;  // when the last block had let dependents start; -1: not all did
};

// Set by whoever waits for a run from another thread.
struct RunControl {
    std::atomic<bool> abort{false};    // end the kernel as soon as possible: Status::launch_timeout
    std::atomic<bool> stalled{false};  // set by the executor: the kernel spins on something outside itself
};

// Gives an image's objects at file scope their first values; nothing else of the image runs before. They run
// as a kernel of one thread does, so what is wrong with them is an outcome.
Outcome initialize(const std::shared_ptr<Image>& image, const std::shared_ptr<Heap>& heap,
                   RunControl& control);

// Runs a kernel to its end. Several threads may each run one. The calling thread takes part.
Outcome run(const Launch& launch, RunControl& control);

}  // namespace cuscope::simt
