// Runs another program, without a shell, and collects its output.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/watcher.hpp"
#include "runtime/compile/limit.hpp"

namespace cuscope::simt {

struct CommandResult {
    enum class End {
        exited,
        not_started,  // `output` gives the reason
        timed_out,
        interrupted,  // cuscope::interrupted() returned true
    } end = End::not_started;
    int exit_code = -1;  // 128 + the signal's number if a signal ended it
    std::string output;  // stdout and stderr together

    bool ok() const { return end == End::exited && exit_code == 0; }
};

// The program runs in `directory` and leaves temporary files there. Its messages are in English. A program
// that times out or is interrupted is killed together with all processes that it started; so is a program
// that is still running when this process ends: see Watcher.
CommandResult run_command(const std::vector<std::string>& arguments, const std::string& directory,
                          const Watcher& watcher, const CompileLimit& limit);

}  // namespace cuscope::simt
