// A private directory for files that do not outlive the object.
#pragma once

#include <sys/types.h>

#include <string>

#include "runtime/private_descriptor.hpp"

namespace cuscope::simt {

// Removed with all it holds by the destructor; if this process is killed, by remove_abandoned_directories()
// of another one.
class TemporaryDirectory {
  public:
    TemporaryDirectory();  // path() is empty if none could be made
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const { return path_; }

  private:
    pid_t process_;
    std::string path_;
    PrivateDescriptor owner_;  // a locked file in it: whose lock is free was abandoned
};

// Removes what killed processes of this user left. Once in a process.
void remove_abandoned_directories() noexcept;

// False if it cannot be written; makes the directories that it needs.
bool write_file(const std::string& path, const std::string& text);
bool read_file(const std::string& path, std::string* text);

}  // namespace cuscope::simt
