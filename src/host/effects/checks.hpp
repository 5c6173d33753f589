// Prepares the checks of a launch (cs.check()). Private to src/host.
#pragma once

#include "host/executor/executor.hpp"
#include "runtime/status.hpp"

namespace cuscope::host {

struct Kernel;
struct Machine;
class KernelEffect;
struct Command;

// While checks run. The launch runs the kernel of the image that checks, if there is one and `left_out` is
// not set; if not, all memory of its arguments counts as written from then on. Its image, kernel and
// arguments are set already.
Status prepare_check(Machine& machine, const Kernel& kernel, bool left_out, simt::Launch& launch);

// The same for each launch of a kernel node, on its device: the check of the order of commands is told of its
// run, and the device may have access to other memory than before. `now`: it is enqueued by the simulation,
// and not in the program's call.
void watch_run(const Machine& machine, int device, const KernelEffect& effect, bool now, Command* made);

}  // namespace cuscope::host
