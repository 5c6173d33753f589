#include "runtime/compile/claim.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "runtime/compile/cache_directory.hpp"
#include "runtime/private_descriptor.hpp"
#include "runtime/process.hpp"

namespace cuscope {
namespace {

constexpr std::chrono::milliseconds poll_interval{20};

PrivateDescriptor open_lock(int directory, const std::string& name) {
    const auto open = [&] {
        return ::openat(directory, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                        0600);
    };
    int file = open();
    if (file < 0 && errno == EISDIR) {
        remove_cache_folder(directory, name);
        file = open();
    }
    return PrivateDescriptor(file);
}

}  // namespace

struct CompileClaim::Held {
    FileDescriptor directory;
    std::string name;
    PrivateDescriptor lock;
};

CompileClaim::CompileClaim() = default;

CompileClaim::~CompileClaim() {
    if (!held_ || !held_->lock.is_open()) return;
    // The file is removed before it is unlocked. A process that opened the file before sees that it has no
    // name any more, and so knows that the compilation has ended.
    ::unlinkat(held_->directory.get(), held_->name.c_str(), 0);
    ::flock(held_->lock.get(), LOCK_UN);
}

Status CompileClaim::wait(std::string_view key, CompileLimit limit) {
    std::string reason;
    FileDescriptor directory = open_cache_directory(cache_location(), true, &reason);
    if (!directory) return Status::success;
    const std::string name = cache_lock_name(sha256(key));
    PrivateDescriptor lock = open_lock(directory.get(), name);
    struct stat status {};
    if (!lock.is_open() || ::fstat(lock.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        cache_refusal(status) != nullptr)
        return Status::success;
    limit.start_again();
    while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return Status::success;
        note_progress();  // the other compiler runs: the lock goes with its process
        if (interrupted()) return Status::not_ready;
        if (limit.is_over()) return Status::success;
        std::this_thread::sleep_for(poll_interval);
    }
    if (::fstat(lock.get(), &status) != 0 || status.st_nlink == 0) return Status::success;
    held_ = std::make_unique<Held>(Held{std::move(directory), name, std::move(lock)});
    return Status::success;
}

}  // namespace cuscope
