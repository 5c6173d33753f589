// The ring for large copies of pageable memory, which simulated devices do not use: several threads
// copy to and from a simulated device through it, for the thread sanitizer. Prints the first copy that is
// wrong and returns 1.
#include "core/memory/staging.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

#include "core/device/devices.hpp"
#include "core/memory/memory.hpp"

namespace {

using namespace cuscope;

constexpr int threads = 3, rounds = 4;

std::atomic<bool> failed{false};
std::atomic<int> staged{0}, refused{0};

// The ring refuses while another thread uses it; then the runtime copies, as in a program.
void copy(core::Device& device, bool to_device, std::byte* there, std::byte* here, std::size_t bytes,
          const core::Stream& stream) {
    const bool done = to_device ? device.staging().to_device(there, here, bytes, stream)
                                : device.staging().to_host(here, there, bytes, stream);
    ++(done ? staged : refused);
    if (done) return;
    device.check(
        to_device
            ? device.runtime().memcpy_async(there, here, bytes, MemcpyKind::host_to_device, stream.handle())
            : device.runtime().memcpy_async(here, there, bytes, MemcpyKind::device_to_host, stream.handle()),
        "cudaMemcpyAsync");
}

void work(const core::DevicePtr& device, int thread) {
    const core::DeviceScope scope(*device);
    const core::StreamPtr stream =
        core::Stream::create(device, thread % 2 != 0 ? flags::stream_non_blocking : 0U, 0);
    // Less than the ring, more than the ring, no multiple of its chunks.
    const std::size_t bytes = core::staging_threshold * static_cast<std::size_t>(1 + 3 * thread) + 12345;
    std::vector<std::byte> there(bytes), here(bytes);
    const auto memory = core::DeviceMemory::allocate(stream, bytes);
    auto* const on_device = static_cast<std::byte*>(memory->pointer());
    for (int round = 0; round < rounds && !failed; ++round) {
        for (std::size_t i = 0; i < bytes; ++i)
            there[i] = static_cast<std::byte>(i * 7 + i / 4096 + static_cast<std::size_t>(round));
        const std::vector<std::byte> wanted = there;
        copy(*device, true, on_device, there.data(), bytes, *stream);
        there.assign(bytes, std::byte{0});  // the source may be changed after the call
        copy(*device, false, on_device, here.data(), bytes, *stream);
        if (here != wanted && !failed.exchange(true))
            std::printf("wrong: round %d, thread %d\n", round, thread);
    }
}

}  // namespace

int main() {
    const core::DevicePtr device = core::find_device("host:0");
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread)
        workers.emplace_back([&, thread] { work(device, thread); });
    for (std::thread& worker : workers) worker.join();
    if (staged == 0 && !failed.exchange(true)) std::puts("wrong: the ring copied nothing");
    if (!failed)
        std::printf("%d copies through the ring, %d beside it: all as expected\n", staged.load(),
                    refused.load());
    core::shut_down_runtimes();
    return failed ? 1 : 0;
}
