// If this process is killed, a watcher process ends the programs that this process has started.
#pragma once

#include <sys/types.h>

#include <string>

#include "runtime/private_descriptor.hpp"

namespace cuscope::simt {

// A compiler starts other programs (cc1plus, as, ld), which a signal at the parent's death would not reach.
// So all of them are in one process group. The group's leader is a shell that reads from a socket. When this
// process ends for any reason, the kernel closes the other end; then the shell ends its group and removes a
// directory.
class Watcher {
  public:
    explicit Watcher(const std::string& directory);  // "": no directory to remove
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    // The group that programs join. 0 if there is no shell: then each program leads its own group.
    pid_t group() const { return process_; }

  private:
    pid_t process_ = 0;
    PrivateDescriptor socket_;
};

}  // namespace cuscope::simt
