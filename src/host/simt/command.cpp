#include "host/simt/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "runtime/process.hpp"

extern char** environ;

namespace cuscope::simt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes time_limit{5};
constexpr int poll_ms = 30;

// The environment, but for what would change the language or colour of messages.
std::vector<std::string> environment(const std::string& directory) {
    std::vector<std::string> result{"LC_ALL=C", "LANGUAGE=C", "TMPDIR=" + directory};
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        if (name != "LC_ALL" && name != "LANGUAGE" && name != "TMPDIR" && name != "GCC_COLORS" &&
            name != "CLICOLOR_FORCE")
            result.emplace_back(text);
    }
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& string : strings) result.push_back(string.data());
    result.push_back(nullptr);
    return result;
}

class FileActions {
  public:
    FileActions() { posix_spawn_file_actions_init(&actions); }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    posix_spawn_file_actions_t actions;
};

class Attributes {
  public:
    Attributes() { posix_spawnattr_init(&attributes); }
    ~Attributes() { posix_spawnattr_destroy(&attributes); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    posix_spawnattr_t attributes;
};

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        // Whoever ignores SIGCHLD leaves us no answer; the outputs tell then.
        if (errno != EINTR) return 0;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& arguments, const std::string& directory) {
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
    posix_spawn_file_actions_addchdir_np(&files.actions, directory.c_str());
    // A group of its own: a Ctrl-C in the terminal reaches us, who then decide; and a kill reaches all of it.
    Attributes attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP})
        sigaddset(&defaults, signal);
    posix_spawnattr_setpgroup(&attributes.attributes, 0);
    posix_spawnattr_setsigmask(&attributes.attributes, &none);
    posix_spawnattr_setsigdefault(&attributes.attributes, &defaults);
    posix_spawnattr_setflags(&attributes.attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::vector<std::string> words = arguments, variables = environment(directory);
    const std::vector<char*> argument_pointers = pointers(words), variable_pointers = pointers(variables);
    pid_t child = -1;
    const int error = posix_spawnp(&child, words[0].c_str(), &files.actions, &attributes.attributes,
                                   argument_pointers.data(), variable_pointers.data());
    close(pipe_ends[1]);
    if (error != 0) {
        close(pipe_ends[0]);
        result.output = words[0] + ": " + std::strerror(error);
        return result;
    }

    result.end = CommandResult::End::exited;
    const Clock::time_point deadline = Clock::now() + time_limit;
    char buffer[16384];
    for (;;) {
        pollfd ready{pipe_ends[0], POLLIN, 0};
        const int polled = ::poll(&ready, 1, poll_ms);
        if (polled > 0) {
            const ssize_t bytes = read(pipe_ends[0], buffer, sizeof buffer);
            if (bytes == 0 || (bytes < 0 && errno != EINTR)) break;
            if (bytes > 0) result.output.append(buffer, static_cast<std::size_t>(bytes));
            continue;
        }
        note_progress();  // a compiler takes as long as it takes
        if (interrupted())
            result.end = CommandResult::End::interrupted;
        else if (Clock::now() > deadline)
            result.end = CommandResult::End::timed_out;
        else
            continue;
        kill(-child, SIGKILL);
        break;
    }
    close(pipe_ends[0]);
    result.exit_code = wait_for(child);
    return result;
}

TemporaryDirectory::TemporaryDirectory() {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    std::string name = ((error ? std::filesystem::path("/tmp") : parent) / "cuscope-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

bool write_file(const std::string& path, const std::string& text) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    return static_cast<bool>(file.flush());
}

bool read_file(const std::string& path, std::string* text) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return false;
    text->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    return !file.bad();
}

}  // namespace cuscope::simt
