#include "host/compiler/spawn.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

namespace cuscope::simt {
namespace {

class Attributes {
  public:
    Attributes() { posix_spawnattr_init(&attributes); }
    ~Attributes() { posix_spawnattr_destroy(&attributes); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    posix_spawnattr_t attributes;
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (const std::string& string : strings) result.push_back(const_cast<char*>(string.c_str()));
    result.push_back(nullptr);
    return result;
}

// A shell that changes to a directory and becomes the program.
std::vector<std::string> in_directory(const std::string& directory,
                                      const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", directory};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

void FileActions::start_in(const std::string& directory) {
    // Looked up at run time: glibc has it since 2.29, and wheels run with 2.28.
    using Function = int (*)(posix_spawn_file_actions_t*, const char*);
    static const auto change_directory =
        reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addchdir_np"));
    if (change_directory == nullptr)
        left_to_shell = directory;
    else
        change_directory(&actions, directory.c_str());
}

int spawn(const std::vector<std::string>& arguments, const std::vector<std::string>& variables,
          const FileActions& files, pid_t group, pid_t* child) {
    Attributes attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP})
        sigaddset(&defaults, signal);
    posix_spawnattr_setpgroup(&attributes.attributes, group);
    posix_spawnattr_setsigmask(&attributes.attributes, &none);
    posix_spawnattr_setsigdefault(&attributes.attributes, &defaults);
    posix_spawnattr_setflags(&attributes.attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const std::vector<std::string> wrapped =
        files.left_to_shell.empty() ? arguments : in_directory(files.left_to_shell, arguments);
    const std::vector<char*> words = pointers(wrapped), entries = pointers(variables);
    return posix_spawnp(child, words[0], &files.actions, &attributes.attributes, words.data(),
                        entries.data());
}

std::optional<int> ended(pid_t child) {
    int status = 0;
    const pid_t answer = waitpid(child, &status, WNOHANG);
    if (answer == child) return exit_code(status);
    if (answer < 0 && errno == ECHILD) return 0;
    return std::nullopt;
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return 0;
    }
    return exit_code(status);
}

}  // namespace cuscope::simt
