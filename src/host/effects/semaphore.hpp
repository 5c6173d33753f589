// External semaphores of the host runtime: kernel objects that another process, or any Python program, may be
// the other side of. Private to src/host.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

// A binary one is an eventfd: a signal adds one, a wait takes what there is. A timeline is a file in memory
// whose first 8 bytes are the counter: a signal stores its value, a wait is for that or more. It is read and
// written, not mapped: others may cut it off. Owns the file descriptor.
class HostRuntime::ExternalSemaphore {
  public:
    ExternalSemaphore(int fd, int of, bool timeline) : device(of), fd_(fd), timeline_(timeline) {}
    ExternalSemaphore(const ExternalSemaphore&) = delete;
    ExternalSemaphore& operator=(const ExternalSemaphore&) = delete;
    ~ExternalSemaphore();

    void signal(std::uint64_t value);
    // What holds up a wait for this value; empty: nothing, as of now.
    std::string missing(std::uint64_t value) const;
    // True once; a binary one is not signalled any more then.
    bool take(std::uint64_t value);

    const int device;

  private:
    int fd_;
    bool timeline_;
};

class HostRuntime::SemaphoresEffect final : public Effect {
  public:
    using SemaphorePtr = std::shared_ptr<ExternalSemaphore>;
    struct One {
        SemaphorePtr semaphore;
        std::uint64_t value;
    };
    explicit SemaphoresEffect(std::vector<One> semaphores) : semaphores_(std::move(semaphores)) {}
    void starting(Time) override { next_ = 0; }
    // Of signals.
    void run() override;
    bool quick() const override { return true; }
    // Of waits.
    Progress look() override;
    std::shared_ptr<Effect> copy() const override { return std::make_shared<SemaphoresEffect>(semaphores_); }
    const std::vector<One>& semaphores() const { return semaphores_; }
    std::size_t next() const { return next_; }

  private:
    std::vector<One> semaphores_;
    std::size_t next_ = 0;  // the first that is yet to be taken
};

}  // namespace cuscope::host
