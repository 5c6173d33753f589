// Runs work that cannot be interrupted on its own thread.
#pragma once

#include <functional>

#include "runtime/compile/limit.hpp"
#include "runtime/status.hpp"

namespace cuscope::cuda::nvrtc {

enum class ThreadEnd { finished, interrupted, timed_out };

// NVRTC runs in this process and cannot be stopped, so it runs on its own thread. The caller waits until the
// work has finished, cuscope::interrupted() returns true, or the limit is over. After an early return the
// thread continues with `work`, so `work` must own everything that it uses.
ThreadEnd run_in_thread(std::function<Status()> work, const CompileLimit& limit, Status* status);

}  // namespace cuscope::cuda::nvrtc
