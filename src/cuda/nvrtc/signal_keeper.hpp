// NVRTC's front end puts its own handlers in place of the process's while it compiles: Ctrl-C then ends the
// process with exit code 4 (seen with 13.0). They are taken out again at once.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>

namespace cuscope::cuda::nvrtc {

// On a thread of its own, until `finished` says yes. Becomes true once NVRTC has set its handlers, which it
// does once, and they are gone.
std::shared_ptr<const std::atomic<bool>> keep_signal_handlers(std::function<bool()> finished);

// This thread takes no signal that NVRTC has a handler for: it comes once they are let go.
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
