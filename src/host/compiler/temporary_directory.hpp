// A private directory for files that are removed with the object.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/private_descriptor.hpp"

namespace cuscope::simt {

// The destructor removes the directory and all its files. If this process is killed,
// remove_abandoned_directories() of another process removes them.
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
    PrivateDescriptor owner_;  // a locked file in it; if its lock is free, the directory is abandoned
};

// Removes the directories that killed processes of this user left behind. Runs once in a process.
void remove_abandoned_directories() noexcept;

// Makes the directories that the path needs. False if the file cannot be written.
bool write_file(const std::string& path, const std::string& text);
// The same for many files in one folder, given as names and texts.
bool write_files(const std::string& folder, const std::vector<std::pair<std::string, std::string>>& files);
bool read_file(const std::string& path, std::string* text);

}  // namespace cuscope::simt
