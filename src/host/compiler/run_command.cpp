#include "host/compiler/run_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "host/compiler/spawn.hpp"
#include "runtime/process.hpp"

extern char** environ;

namespace cuscope::simt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int poll_ms = 30;
constexpr int end_poll_ms = 1;  // after the last output, the end comes almost at once
constexpr int most_reads = 64;  // most reads from the pipe after the program has ended

// The environment without the variables that change the language or colour of messages.
std::vector<std::string> environment(const std::string& directory) {
    std::vector<std::string> result{"LC_ALL=C", "LANGUAGE=C", "TMPDIR=" + directory};
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
#if defined(CUSCOPE_SANITIZED)
        // Python needs the sanitizer's library in LD_PRELOAD. With it, the compiler would take half as long
        // again.
        if (name == "LD_PRELOAD") continue;
#endif
        if (name != "LC_ALL" && name != "LANGUAGE" && name != "TMPDIR" && name != "GCC_COLORS" &&
            name != "CLICOLOR_FORCE")
            result.emplace_back(text);
    }
    return result;
}

// Reads the text that the pipe holds; false at its end.
bool take_output(int pipe, std::string* output) {
    char buffer[16384];
    const ssize_t bytes = read(pipe, buffer, sizeof buffer);
    if (bytes > 0) output->append(buffer, static_cast<std::size_t>(bytes));
    return bytes > 0 || (bytes < 0 && errno == EINTR);
}

// With pipe -1 it only waits.
bool has_output(int pipe, int timeout_ms) {
    pollfd ready{pipe, POLLIN, 0};
    return ::poll(&ready, 1, timeout_ms) > 0;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& arguments, const std::string& directory,
                          const Watcher& watcher, const CompileLimit& limit) {
    CommandResult result;
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        result.output = std::string("no pipe: ") + std::strerror(errno);
        return result;
    }
    FileActions files;
    posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files.actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files.actions, pipe_ends[1], STDERR_FILENO);
    files.start_in(directory);
    // The program runs outside this process's group. So a Ctrl-C in the terminal reaches only this process,
    // which then decides, and a kill of the group reaches every process that the program has started.
    pid_t group = watcher.group(), child = -1;
    int error = spawn(arguments, environment(directory), files, group, &child);
    if ((error == EPERM || error == ESRCH) && group != 0) {  // the watcher was killed
        group = 0;
        error = spawn(arguments, environment(directory), files, group, &child);
    }
    close(pipe_ends[1]);
    if (error != 0) {
        close(pipe_ends[0]);
        result.output = arguments[0] + ": " + std::strerror(error);
        return result;
    }
    if (group == 0) group = child;

    int pipe = pipe_ends[0];
    const pid_t process = getpid();
    for (Clock::time_point asked = Clock::now();;) {
        if (has_output(pipe, pipe < 0 ? end_poll_ms : poll_ms)) {
            if (!take_output(pipe, &result.output)) {
                close(std::exchange(pipe, -1));
            } else if (Clock::now() - asked < std::chrono::milliseconds(poll_ms)) {
                continue;
            }
        }
        asked = Clock::now();
        if (const std::optional<int> code = ended(child)) {
            // A process that the program left running may hold the pipe open forever.
            for (int i = 0; i < most_reads && has_output(pipe, 0) && take_output(pipe, &result.output); ++i) {
            }
            result.end = CommandResult::End::exited;
            result.exit_code = *code;
            break;
        }
        note_progress();  // a compiler may take long without being stuck
        if (interrupted())
            result.end = CommandResult::End::interrupted;
        else if (limit.is_over())
            result.end = CommandResult::End::timed_out;
        else if (getpid() == process)
            continue;
        else
            result.end = CommandResult::End::interrupted;  // a signal handler forked: this is the child
        if (getpid() != process) break;                    // the program belongs to the parent
        kill(-group, SIGKILL);
        result.exit_code = wait_for(child);
        break;
    }
    if (pipe >= 0) close(pipe);
    return result;
}

}  // namespace cuscope::simt
