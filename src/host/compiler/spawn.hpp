// Starts a process that keeps nothing of this one's signals, in a process group of one's choice.
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
    posix_spawn_file_actions_t actions;
};

// 0, or the number of the error. Group 0 is a new one, of which the child is the leader.
int spawn(const std::vector<std::string>& arguments, const std::vector<std::string>& variables,
          const FileActions& files, pid_t group, pid_t* child);

// Its exit code, 128 + the signal's number if a signal ended it; nothing while it runs. A child that
// somebody else has waited for counts as ended with 0: its outputs tell.
std::optional<int> ended(pid_t child);
int wait_for(pid_t child);

}  // namespace cuscope::simt
