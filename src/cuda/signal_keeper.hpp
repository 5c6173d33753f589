// NVRTC's front end puts its own handlers in place of the process's while it compiles: Ctrl-C then ends the
// process with exit code 4 (seen with 13.0). They are taken out again within milliseconds.
#pragma once

#include <functional>

namespace cuscope::cuda::nvrtc {

// On a thread of its own, until `finished` says yes.
void keep_signal_handlers(std::function<bool()> finished);

}  // namespace cuscope::cuda::nvrtc
