#include "host/compiler/watcher.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "host/compiler/spawn.hpp"

namespace cuscope::simt {
namespace {

// A line from the socket tells the shell that it is not needed any more. The shell ignores the signal that
// ends the compilers. A compiler that is ending may still write files, so removing the directory may take
// several attempts.
constexpr const char* script = R"(
trap '' TERM HUP INT QUIT
read -r line && exit 0
kill -s TERM 0
if [ -n "$1" ]; then
    for attempt in 1 2 3 4 5 6 7 8 9; do
        rm -rf -- "$1" && break
        sleep 1
    done
fi
kill -s KILL 0
)";

}  // namespace

Watcher::Watcher(const std::string& directory) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    PrivateDescriptor mine(ends[0]);
    const PrivateDescriptor other(ends[1]);
    FileActions files;
    posix_spawn_file_actions_adddup2(&files.actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    files.start_in("/");
    const char* const path = std::getenv("PATH");
    const std::vector<std::string> variables{
        std::string("PATH=") + (path == nullptr ? "" : std::string(path) + ":") + "/usr/bin:/bin"};
    pid_t child = 0;
    if (spawn({"/bin/sh", "-c", script, "cuscope-watcher", directory}, variables, files, 0, &child) != 0)
        return;
    process_ = child;
    socket_ = std::move(mine);
}

Watcher::~Watcher() {
    // A signal handler may have forked. In the child, the shell is not a child process.
    if (process_ == 0 || !socket_.is_open()) return;
    static_cast<void>(send(socket_.get(), "\n", 1, MSG_NOSIGNAL));
    socket_.close();
    wait_for(process_);
}

}  // namespace cuscope::simt
