#include "host/compiler/watcher.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "host/compiler/spawn.hpp"

namespace cuscope::simt {
namespace {

// A line says that this process needs it no more. The signal that ends the compilers passes over the shell;
// what a compiler still writes while it ends may keep the directory from being removed at once.
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
    posix_spawn_file_actions_addchdir_np(&files.actions, "/");
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
    // In a child that a signal's handler has forked, the shell is not ours.
    if (process_ == 0 || !socket_.is_open()) return;
    static_cast<void>(send(socket_.get(), "\n", 1, MSG_NOSIGNAL));
    socket_.close();
    wait_for(process_);
}

}  // namespace cuscope::simt
