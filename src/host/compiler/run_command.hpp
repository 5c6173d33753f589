// Runs another program, without a shell, and takes what it prints.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/watcher.hpp"
#include "runtime/compile/limit.hpp"

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
// that is given up is killed with all that it started, and so is one whose process ends before it: see
// Watcher.
CommandResult run_command(const std::vector<std::string>& arguments, const std::string& directory,
                          const Watcher& watcher, const CompileLimit& limit);

}  // namespace cuscope::simt
