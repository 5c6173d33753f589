// Traces begin and end while other threads call the runtime, for the thread sanitizer. The calls take no
// lock, so only the pointer to the new decorator orders its construction before its use.
#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/device/devices.hpp"
#include "core/memory/copy.hpp"
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

// Asks again and again whether the device shares memory with itself, while traces begin and end.
void check_copies(core::Device& device, const std::atomic<bool>& ended) {
    const core::StreamPtr stream = device.legacy_stream();
    const auto memory = core::DeviceMemory::allocate_plain(device.shared_from_this(), 64);
    const core::DeviceSpan first{memory, 0, 32}, second{memory, 32, 32};
    ++ready;
    try {
        while (!ended) core::check_copy_on_device(first, second, *stream);
    } catch (const std::invalid_argument& error) {
        std::printf("refused: %s\n", error.what());
        failed = true;
    }
}

void trace_beside_copies(core::Device& device) {
    std::atomic<bool> ended{false};
    ready = 0;
    std::vector<std::thread> checkers;
    for (int thread = 0; thread < threads; ++thread) {
        checkers.emplace_back([&] { check_copies(device, ended); });
    }
    while (ready < threads) std::this_thread::yield();
    for (int round = 0; round < 20000; ++round) {
        const auto recording = std::make_shared<core::Recording>(1 << 10);
        recording->start();
        recording->stop();
    }
    ended = true;
    for (std::thread& checker : checkers) checker.join();
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
    trace_beside_copies(*device);
    std::puts(failed ? "wrong: a call beside a trace that begins or ends"
                     : "calls beside traces that begin and end: as expected");
    core::shut_down_runtimes();
    return failed ? 1 : 0;
}
