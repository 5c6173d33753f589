// A thread for what cannot be interrupted.
#pragma once

#include <functional>

#include "runtime/compile/limit.hpp"
#include "runtime/status.hpp"

namespace cuscope::cuda::nvrtc {

enum class ThreadEnd { finished, interrupted, timed_out };

// NVRTC runs in this process and nobody can stop it: so it works in a thread of its own, and the caller
// waits, until it has finished, somebody interrupts (cuscope::interrupted()), or the limit is over. A thread
// that is not waited for any longer goes on with `work`, which has to own all that it uses.
ThreadEnd run_in_thread(std::function<Status()> work, const CompileLimit& limit, Status* status);

}  // namespace cuscope::cuda::nvrtc
