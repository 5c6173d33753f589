// The ring for large copies of pageable memory, which simulated devices do not use: several threads copy to
// and from a simulated device through it, in several layouts, for the thread sanitizer. Prints the first copy
// that is wrong and returns 1.
#include "core/memory/staging.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "core/device/devices.hpp"
#include "core/memory/memory.hpp"

namespace {

using namespace cuscope;

constexpr int threads = 3, rounds = 1;
constexpr std::size_t sampled =
    31;  // each so many elements of the last axis are compared: the sanitizer is slow

std::atomic<bool> failed{false};
std::atomic<int> staged{0}, refused{0};

// A layout of the same bytes on the host: the device's are contiguous.
struct Layout {
    const char* name;
    std::size_t element;
    std::vector<std::size_t> shape;
    std::vector<std::ptrdiff_t> host;  // the steps
    std::size_t device_row = 0;        // bytes from row to row of the device, if they are not contiguous

    std::vector<std::ptrdiff_t> device() const {
        std::vector<std::ptrdiff_t> steps(shape.size());
        auto step = static_cast<std::ptrdiff_t>(element);
        for (std::size_t i = shape.size(); i-- > 0;) {
            steps[i] = step;
            step *= static_cast<std::ptrdiff_t>(shape[i]);
        }
        if (device_row != 0) steps[steps.size() - 2] = static_cast<std::ptrdiff_t>(device_row);
        return steps;
    }
};

std::vector<Layout> layouts(std::size_t bytes) {
    const auto wide = static_cast<std::ptrdiff_t>(bytes / 600);
    const std::size_t columns = bytes / 600;
    return {
        {"contiguous", 1, {bytes}, {1}},
        {"transposed", 4, {600 / 4, columns}, {4, 600}},
        {"flat", 2, {columns, 300}, {2, 2 * wide}},
        {"reversed", 2, {columns, 300}, {600, -2}},
        {"planes", 12, {10, columns, 5}, {12, 600, 120}},
        {"rows", 8, {columns, 60}, {480, 8}, 600},
    };
}

// The ring refuses while another thread uses it; then the runtime copies, as in a program.
void copy(core::Device& device, bool to_device, std::byte* there, std::byte* here, const Layout& layout,
          const core::Stream& stream) {
    core::Axes axes =
        core::normalised(layout.shape, layout.device(), layout.host, core::Reversed::negative_to);
    const core::Boxes boxes(axes.list, layout.element, core::StagingRing::chunk_bytes);
    there += axes.to_first;
    here += axes.from_first;
    const bool done = to_device ? device.staging().to_device(there, here, boxes, stream)
                                : device.staging().to_host(here, there, boxes, stream);
    ++(done ? staged : refused);
    if (done) return;
    for (std::size_t i = 0; i < boxes.count(); ++i) {
        const core::Boxes::Box box = boxes[i];
        device.check(device.runtime().stream_synchronize(stream.handle()), "cudaStreamSynchronize");
        std::vector<core::Axis> moved = box.axes;
        if (to_device) {
            core::move_elements(there + box.to, here + box.from, moved, boxes.element());
        } else {
            for (core::Axis& axis : moved) std::swap(axis.to, axis.from);
            core::move_elements(here + box.from, there + box.to, moved, boxes.element());
        }
    }
}

// Calls `visit` with the places of elements on the device and on the host.
template <class Visit>
void each(const Layout& layout, Visit visit) {
    const std::vector<std::ptrdiff_t> device = layout.device();
    std::vector<std::size_t> at(layout.shape.size(), 0);
    for (;;) {
        std::ptrdiff_t there = 0, here = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
            there += static_cast<std::ptrdiff_t>(at[i]) * device[i];
            here += static_cast<std::ptrdiff_t>(at[i]) * layout.host[i];
        }
        visit(there, here);
        std::size_t axis = at.size();
        for (std::size_t step = sampled; axis > 0; step = 1) {
            if ((at[axis - 1] += step) < layout.shape[axis - 1]) break;
            at[--axis] = 0;
        }
        if (axis == 0) return;
    }
}

void work(const core::DevicePtr& device, int thread) {
    const core::DeviceScope scope(*device);
    const core::StreamPtr stream =
        core::Stream::create(device, thread % 2 != 0 ? flags::stream_non_blocking : 0U, 0);
    // Less than the ring, more than the ring, no multiple of its chunks.
    const std::size_t bytes =
        (core::staging_threshold * static_cast<std::size_t>(1 + 2 * thread) + 12345) / 1200 * 1200;
    std::vector<std::byte> there(2 * bytes), here(2 * bytes);
    const auto memory = core::DeviceMemory::allocate(stream, bytes);
    auto* const on_device = static_cast<std::byte*>(memory->pointer());
    for (int round = 0; round < rounds && !failed; ++round) {
        for (const Layout& layout : layouts(bytes)) {
            for (std::size_t i = 0; i < there.size(); ++i)
                there[i] = static_cast<std::byte>(i * 7 + i / 4096 + static_cast<std::size_t>(round));
            const std::vector<std::byte> wanted = there;
            // Room for steps in both directions.
            copy(*device, true, on_device, there.data() + bytes / 2, layout, *stream);
            there.assign(there.size(), std::byte{0});  // the source may be changed after the call
            copy(*device, false, on_device, here.data() + bytes / 2, layout, *stream);
            bool equal = true;
            each(layout, [&](std::ptrdiff_t on_there, std::ptrdiff_t on_here) {
                const auto at = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(bytes / 2) + on_here);
                equal = equal && std::memcmp(&here[at], &wanted[at], layout.element) == 0 &&
                        std::memcmp(on_device + on_there, &wanted[at], layout.element) == 0;
            });
            if (!equal && !failed.exchange(true))
                std::printf("wrong: %s, round %d, thread %d\n", layout.name, round, thread);
        }
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
