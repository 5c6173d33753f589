#include "host/effects/running.hpp"

#include <utility>

#include "host/effects/kernel.hpp"
#include "host/objects/device.hpp"
#include "host/sim/timeline.hpp"
#include "runtime/process.hpp"

namespace cuscope::host {

bool Running::starts(const Command* command) {
    const Device& device = devices_[command->device];
    if (stopping_ || device.lost != Status::success) return false;
    note_progress();
    if (command->engine == Engine::host) callback_ = command;
    if (command->engine == Engine::compute) {
        KernelEffect& kernel = KernelEffect::of(*command);
        kernel.outcome = {};
        kernel.control.begun = 0;
        kernel.control.abort = device.resets > 0;
        kernels_.push_back(command);
    }
    return true;
}

void Running::done(Command* command) {
    note_progress();
    if (callback_ == command) callback_ = nullptr;
    if (command->duration_from_effect || command->may_trigger)
        timeline_.resolve(command, command->effect->elapsed(), command->effect->triggered());
    if (std::erase(kernels_, command) == 0) return;
    const simt::Outcome& outcome = KernelEffect::of(*command).outcome;
    printed_ += outcome.printed;
    if (outcome.status != Status::success) devices_[command->device].lose(outcome.status, outcome.detail);
}

bool Running::gives_up(const Command* command) const {
    const Device& device = devices_[command->device];
    return stopping_ || device.resets > 0 || device.lost != Status::success;
}

Progress Running::progress() const {
    if (!kernels_.empty()) {
        const KernelEffect& kernel = KernelEffect::of(*kernels_.front());
        const Dim3 grid = kernel.launch.grid;
        return {std::string("running ") + kernel.launch.kernel->name, kernel.control.begun.load(),
                std::uint64_t{grid.x} * grid.y * grid.z};
    }
    if (callback_ != nullptr) return {.doing = "running a host function"};
    return {};
}

void Running::abort_kernels(int device) {
    for (const Command* command : kernels_) {
        if (command->device == device) KernelEffect::of(*command).control.abort = true;
    }
}

void Running::stop() {
    stopping_ = true;
    for (const Command* command : kernels_) KernelEffect::of(*command).control.abort = true;
}

void Running::flush_printed(Lock& lock) {
    if (printed_.empty()) return;
    const std::string text = std::exchange(printed_, {});
    note_unlock();
    lock.unlock();
    write_kernel_output(text);
    lock.lock();
}

}  // namespace cuscope::host
