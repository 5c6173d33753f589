#include "runtime/private_descriptor.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace cuscope {
namespace {

struct Registry {
    std::mutex mutex;
    std::vector<int> open;
};

// Never destroyed: a fork may happen at any time.
Registry& registry() {
    static auto* const made = new Registry;
    return *made;
}

void before_fork() { registry().mutex.lock(); }
void after_fork_in_parent() { registry().mutex.unlock(); }
void after_fork_in_child() {
    for (const int fd : registry().open) ::close(fd);
    registry().open.clear();
    registry().mutex.unlock();
}

}  // namespace

PrivateDescriptor::PrivateDescriptor(int fd) : fd_(fd) {
    if (fd < 0) return;
    static const int registered = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    static_cast<void>(registered);
    const std::lock_guard lock(registry().mutex);
    registry().open.push_back(fd);
}

bool PrivateDescriptor::is_open() const noexcept {
    if (fd_ < 0) return false;
    const std::lock_guard lock(registry().mutex);
    const std::vector<int>& open = registry().open;
    return std::find(open.begin(), open.end(), fd_) != open.end();
}

void PrivateDescriptor::close() noexcept {
    const int fd = std::exchange(fd_, -1);
    if (fd < 0) return;
    {
        const std::lock_guard lock(registry().mutex);
        // In a forked child the descriptor is already closed, and its number may belong to another file.
        if (std::erase(registry().open, fd) == 0) return;
    }
    ::close(fd);
}

}  // namespace cuscope
