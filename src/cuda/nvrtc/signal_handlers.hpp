// NVRTC's front end replaces the process's handlers of SIGINT and SIGTERM while it works. For a moment it
// also ignores SIGINT, which discards a Ctrl-C that is pending, and at its end it sets the default actions,
// which end the process (seen with 13.0). The code here turns these calls of signal() into calls without
// effect.
#pragma once

namespace cuscope::cuda::nvrtc {

// Redirects the library's calls of signal(). `handle` comes from dlopen. A library that does not import
// signal() stays as it is.
void redirect_signal_calls(void* handle);

// While it lives, redirected calls on this thread change no handler. On other threads they go to the C
// library: they belong to other users of NVRTC in this process.
class HandlersKept {
  public:
    HandlersKept();
    HandlersKept(const HandlersKept&) = delete;
    HandlersKept& operator=(const HandlersKept&) = delete;
    ~HandlersKept();
};

}  // namespace cuscope::cuda::nvrtc
