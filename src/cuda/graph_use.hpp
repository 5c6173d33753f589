// CUDA leaves it to its caller that no two threads use one graph at a time (Runtime API, "Graph object thread
// safety"). Objects of this package may be used from every thread, and an executable knows its graph, so all
// calls on graphs take turns. A launch that finds the driver's queue full keeps the others out until there is
// room.
#pragma once

#include <mutex>

#include "runtime/process.hpp"

namespace cuscope::cuda {

class GraphUse {
  public:
    GraphUse() {
        if (!forked_after_use()) lock_ = std::unique_lock(mutex());
    }

  private:
    static std::recursive_mutex& mutex() {                       // a call may make another
        static auto* const instance = new std::recursive_mutex;  // outlives static destructors
        return *instance;
    }
    std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace cuscope::cuda
