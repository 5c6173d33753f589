// Names the work that the calling thread waits for, so that a bar can show how far it is.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cuscope {

struct Progress {
    std::string doing = "waiting for the device";
    std::uint64_t done = 0, total = 0;  // blocks of a kernel; total 0: unknown
};

// While it lives, this thread waits for the named work. An inner one hides the outer one.
class Doing {
  public:
    explicit Doing(Progress progress) : progress_(std::move(progress)), outer_(current_) {
        current_ = &progress_;
    }
    Doing(const Doing&) = delete;
    Doing& operator=(const Doing&) = delete;
    ~Doing() { current_ = outer_; }

    static Progress now() { return current_ == nullptr ? Progress{} : *current_; }

  private:
    static inline thread_local const Progress* current_ = nullptr;
    Progress progress_;
    const Progress* outer_;
};

}  // namespace cuscope
