// While NVRTC compiles, its front end replaces the process's signal handlers. Ctrl-C then ends the process
// with exit code 4 (seen with 13.0). The code here restores the program's handlers at once.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>

namespace cuscope::cuda::nvrtc {

// Starts a thread that restores handlers until `finished` returns true. The result becomes true once NVRTC
// has set its handlers, which it does once, and they were removed.
std::shared_ptr<const std::atomic<bool>> keep_signal_handlers(std::function<bool()> finished);

// Blocks the signals that NVRTC has handlers for on this thread. They are delivered after let_go().
class SignalsHeld {
  public:
    SignalsHeld();
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;
    ~SignalsHeld() { let_go(); }
    void let_go();

  private:
    sigset_t before_;
    bool held_ = true;
};

}  // namespace cuscope::cuda::nvrtc
