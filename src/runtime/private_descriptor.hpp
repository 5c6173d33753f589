// A file descriptor of this process alone: a forked child closes its copy. What the kernel lets go with the
// last copy, a lock or the end of a pipe, then ends with this process, whatever it has forked.
#pragma once

#include <utility>

namespace cuscope {

class PrivateDescriptor {
  public:
    PrivateDescriptor() = default;
    explicit PrivateDescriptor(int fd);  // which it owns; -1 for none
    PrivateDescriptor(PrivateDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    PrivateDescriptor& operator=(PrivateDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~PrivateDescriptor() { close(); }

    int get() const { return fd_; }
    // False in a child that was forked since, too.
    bool is_open() const noexcept;
    void close() noexcept;

  private:
    int fd_ = -1;
};

}  // namespace cuscope
