#include "runtime/private_descriptor.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace cuscope {
namespace {

struct OpenDescriptors {
    std::mutex mutex;
    std::vector<int> open;
};

// Never destroyed: a fork may happen at any time.
OpenDescriptors& open_descriptors() {
    static auto* const made = new OpenDescriptors;
    return *made;
}

void before_fork() { open_descriptors().mutex.lock(); }
void after_fork_in_parent() { open_descriptors().mutex.unlock(); }
void close_in_child() {
    for (const int fd : open_descriptors().open) ::close(fd);
    open_descriptors().open.clear();
    open_descriptors().mutex.unlock();
}

}  // namespace

PrivateDescriptor::PrivateDescriptor(int fd) : fd_(fd) {
    if (fd < 0) return;
    static const int registered = pthread_atfork(before_fork, after_fork_in_parent, close_in_child);
    static_cast<void>(registered);
    const std::lock_guard lock(open_descriptors().mutex);
    open_descriptors().open.push_back(fd);
}

bool PrivateDescriptor::is_open() const noexcept {
    if (fd_ < 0) return false;
    const std::lock_guard lock(open_descriptors().mutex);
    const std::vector<int>& open = open_descriptors().open;
    return std::find(open.begin(), open.end(), fd_) != open.end();
}

void PrivateDescriptor::close() noexcept {
    const int fd = std::exchange(fd_, -1);
    if (fd < 0) return;
    {
        const std::lock_guard lock(open_descriptors().mutex);
        // In a forked child the descriptor is already closed, and its number may belong to another file.
        if (std::erase(open_descriptors().open, fd) == 0) return;
    }
    ::close(fd);
}

}  // namespace cuscope
