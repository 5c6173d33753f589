// A file descriptor that only this process keeps: a forked child closes its copy. The kernel releases some
// resources (a lock, the end of a pipe) only with the last copy of the descriptor. This class makes their
// life end with this process, whatever it has forked.
#pragma once

#include <utility>

namespace cuscope {

class PrivateDescriptor {
  public:
    PrivateDescriptor() = default;
    explicit PrivateDescriptor(int fd);  // takes ownership; -1: no descriptor
    PrivateDescriptor(PrivateDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    PrivateDescriptor& operator=(PrivateDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~PrivateDescriptor() { close(); }

    int get() const { return fd_; }
    // Also false in a child that was forked since.
    bool is_open() const noexcept;
    void close() noexcept;

  private:
    int fd_ = -1;
};

}  // namespace cuscope
