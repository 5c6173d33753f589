// A trace begins while other threads call the runtime, for the thread sanitizer. The calls take no lock, so
// only the pointer to the new decorator orders its construction before its use.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "core/device/devices.hpp"
#include "core/trace/recording.hpp"

namespace {

using namespace cuscope;

constexpr int threads = 3;

std::atomic<int> ready{0};
std::atomic<bool> failed{false};

// Calls until a call goes to another runtime than the device's own.
void call(core::Device& device) {
    ++ready;
    for (bool traced = false; !traced;) {
        Runtime& runtime = device.runtime();
        traced = &runtime != &device.own_runtime();
        int ordinal = -1;
        if (runtime.get_device(&ordinal) != Status::success || ordinal != device.ordinal()) failed = true;
    }
}

}  // namespace

int main() {
    const core::DevicePtr device = core::find_device("host:0");
    std::vector<std::thread> callers;
    for (int thread = 0; thread < threads; ++thread) callers.emplace_back([&] { call(*device); });
    while (ready < threads) std::this_thread::yield();
    const auto recording = std::make_shared<core::Recording>(1 << 20);
    recording->start();
    for (std::thread& caller : callers) caller.join();
    recording->stop();
    if (&device->runtime() != &device->own_runtime()) failed = true;
    std::puts(failed ? "wrong: a call beside the start of a trace"
                     : "calls beside the start of a trace: as expected");
    core::shut_down_runtimes();
    return failed ? 1 : 0;
}
