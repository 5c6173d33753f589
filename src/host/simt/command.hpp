// Runs another program, without a shell, and takes what it prints.
#pragma once

#include <string>
#include <vector>

namespace cuscope::simt {

struct CommandResult {
    enum class End {
        exited,
        not_started,  // `output` says why
        timed_out,
        interrupted,  // cuscope::interrupted() answered true
    } end = End::not_started;
    int exit_code = -1;  // 128 + the signal's number if a signal ended it
    std::string output;  // stdout and stderr together

    bool ok() const { return end == End::exited && exit_code == 0; }
};

// `directory` is where it runs, and where it leaves temporary files. Its messages are in English. A program
// that is given up is killed with all that it started.
CommandResult run_command(const std::vector<std::string>& arguments, const std::string& directory);

// A private directory that is removed with all it holds.
class TemporaryDirectory {
  public:
    TemporaryDirectory();  // path() is empty if none could be made
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// False if it cannot be written; makes the directories that it needs.
bool write_file(const std::string& path, const std::string& text);
bool read_file(const std::string& path, std::string* text);

}  // namespace cuscope::simt
