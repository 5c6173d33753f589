// External semaphores of the host runtime: objects of the operating system, which another process may signal
// or wait for. Private to src/host.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "host/sim/command.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct Machine;
struct Stream;

// A binary semaphore is an eventfd: a signal adds one, and a wait sets it back to 0. A timeline semaphore is
// a file in memory. Its first 8 bytes are the counter: a signal stores a value, and a wait ends once the
// counter is that value or more. The file is read and written, not mapped, because another process may
// truncate it. Owns the file descriptor.
class ExternalSemaphore {
  public:
    // Takes over the file descriptor that the description names. Refused, the caller keeps it.
    static Status import_fd(const ExternalSemaphoreDescription& description,
                            std::shared_ptr<ExternalSemaphore>* made);
    ExternalSemaphore(int fd, int of, bool timeline) : device(of), fd_(fd), timeline_(timeline) {}
    ExternalSemaphore(const ExternalSemaphore&) = delete;
    ExternalSemaphore& operator=(const ExternalSemaphore&) = delete;
    ~ExternalSemaphore();

    void signal(std::uint64_t value);
    // The reason why a wait for this value does not end now; empty if it does.
    std::string missing(std::uint64_t value) const;
    // Ends a wait for this value, if it can end now. A binary semaphore is not signalled any more then.
    bool take(std::uint64_t value);

    const int device;

  private:
    int fd_;
    bool timeline_;
};

class SemaphoresEffect final : public Effect {
  public:
    using SemaphorePtr = std::shared_ptr<ExternalSemaphore>;
    struct One {
        SemaphorePtr semaphore;
        std::uint64_t value;
    };
    explicit SemaphoresEffect(std::vector<One> semaphores) : semaphores_(std::move(semaphores)) {}
    void starting(Time) override { next_ = 0; }
    // For signals.
    void run() override;
    bool quick() const override { return true; }
    // For waits.
    Progress look() override;
    std::shared_ptr<Effect> copy() const override { return std::make_shared<SemaphoresEffect>(semaphores_); }
    const std::vector<One>& semaphores() const { return semaphores_; }
    std::size_t next() const { return next_; }

  private:
    std::vector<One> semaphores_;
    std::size_t next_ = 0;  // the first that is yet to be taken
};

// Makes the command of signals or waits in a stream or of a node.
Status make_semaphores(Machine& machine, const ExternalSemaphoreNodeParameters& parameters, bool wait,
                       Stream& stream, Command** made);

}  // namespace cuscope::host
