// The effects that run now. Decides whether an effect is run at all, and tells its device and the timeline of
// its outcome. Private to src/host.
#pragma once

#include <string>
#include <vector>

#include "host/runtime/lock.hpp"
#include "host/sim/command.hpp"
#include "runtime/progress.hpp"

namespace cuscope::host {

class Devices;
class Timeline;

class Running {
  public:
    Running(Devices& devices, Timeline& timeline) : devices_(devices), timeline_(timeline) {}

    // Called before an effect runs. False: the effect is skipped, on a lost device and at exit.
    bool starts(const Command* command);
    // Called after an effect has run or was skipped.
    void done(Command* command);
    // Does a command of this device that polls memory go on without its condition?
    bool gives_up(const Command* command) const;

    void abort_kernels(int device);
    // The process exits: no more effects are run.
    void stop();
    bool stopping() const { return stopping_; }
    // Of the kernel that has run for longest, or of the host function that runs.
    Progress progress() const;
    bool has_kernels() const { return !kernels_.empty(); }
    // The host function that runs now, or null.
    const Command* callback() const { return callback_; }
    // As on a GPU, the output of a kernel's printf appears when the host synchronizes.
    void flush_printed(Lock& lock);

  private:
    Devices& devices_;
    Timeline& timeline_;
    std::vector<const Command*> kernels_;
    const Command* callback_ = nullptr;
    std::string printed_;
    bool stopping_ = false;
};

}  // namespace cuscope::host
