// Starts a process with default signals, in a given process group.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace cuscope::simt {

class FileActions {
  public:
    FileActions() { posix_spawn_file_actions_init(&actions); }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;

    // The directory that the program starts in. Without a call: that of this process.
    void start_in(const std::string& directory);

    posix_spawn_file_actions_t actions;
    std::string left_to_shell;  // the directory, if the C library cannot change it
};

// Returns 0 or an error number. Group 0 makes a new group, with the child as its leader.
int spawn(const std::vector<std::string>& arguments, const std::vector<std::string>& variables,
          const FileActions& files, pid_t group, pid_t* child);

// The child's exit code (128 + the signal's number if a signal ended it); empty while the child runs. If
// other code in this process has already waited for the child, the result is 0: its outputs show whether it
// succeeded.
std::optional<int> ended(pid_t child);
int wait_for(pid_t child);

}  // namespace cuscope::simt
