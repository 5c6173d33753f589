// A process that ends the programs which this process has started, if this process is killed.
#pragma once

#include <sys/types.h>

#include <string>

#include "runtime/private_descriptor.hpp"

namespace cuscope::simt {

// A compiler starts others (cc1plus, as, ld), which a signal at the parent's death would not reach. So they
// all are of one process group, and the group's leader is a shell that reads from a socket: when this process
// ends, however it does, the kernel closes the other end; the shell then ends its group and removes a
// directory.
class Watcher {
  public:
    explicit Watcher(const std::string& directory);  // "" for none
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    // The group that programs join; 0 where there is no shell, and each program leads a group of its own.
    pid_t group() const { return process_; }

  private:
    pid_t process_ = 0;
    PrivateDescriptor socket_;
};

}  // namespace cuscope::simt
