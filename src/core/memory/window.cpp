#include "core/memory/window.hpp"

#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

namespace cuscope::core {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::microseconds patience = 10ms, look = 50us;

struct Window {
    unsigned generation = 0;
    StreamHandle stream = nullptr;
    void* buffer = nullptr;
    bool in_use = false;  // the copies of an earlier call have perhaps not ended
};

// Never destroyed: the driver takes everything back at the end of the process.
struct Windows {
    std::mutex mutex;
    std::map<const Device*, Window> windows;
};

Windows& all() {
    static auto* const instance = new Windows;
    return *instance;
}

bool open(Device& device, Window* window) {
    if (window->stream != nullptr && window->generation == device.generation()) return true;
    *window = {};
    Runtime& runtime = device.own_runtime();
    if (runtime.stream_create_with_priority(&window->stream, flags::stream_non_blocking, 0) !=
            Status::success ||
        runtime.host_alloc(&window->buffer, most_peeked, 0) != Status::success) {
        runtime.get_last_error();
        *window = {};
        return false;
    }
    window->generation = device.generation();
    return true;
}

bool is_done(Runtime& runtime, StreamHandle stream) {
    const auto end = std::chrono::steady_clock::now() + patience;
    for (;;) {
        const Status status = runtime.stream_query(stream);
        if (status == Status::success) return true;
        if (status != Status::not_ready || std::chrono::steady_clock::now() > end) {
            runtime.get_last_error();
            return false;
        }
        std::this_thread::sleep_for(look);
    }
}

}  // namespace

PeekResult read_through_window(Device& device, const DeviceMemory& memory, std::span<const Part> parts,
                               std::byte* destination, std::string* why) {
    const std::unique_lock lock(all().mutex, std::try_to_lock);
    if (!lock) {
        *why = "another thread is reading";
        return PeekResult::unavailable;
    }
    Runtime& runtime = device.own_runtime();
    Window& window = all().windows[&device];
    if (!open(device, &window)) {
        *why = "there is no memory to read them through";
        return PeekResult::unavailable;
    }
    if (window.in_use && !is_done(runtime, window.stream)) {
        *why = "a copy that takes long";
        return PeekResult::pending;
    }
    auto* target = static_cast<std::byte*>(window.buffer);
    window.in_use = true;
    for (const Part& part : parts) {
        const auto* const source = static_cast<const std::byte*>(memory.pointer()) + part.offset;
        if (runtime.memcpy_async(target, source, part.bytes, MemcpyKind::by_address, window.stream) !=
            Status::success) {
            runtime.get_last_error();
            *why = "the device refuses to copy them";
            return PeekResult::unavailable;
        }
        target += part.bytes;
    }
    if (!is_done(runtime, window.stream)) {
        *why = "a copy that takes long";
        return PeekResult::pending;
    }
    window.in_use = false;
    std::memcpy(destination, window.buffer,
                static_cast<std::size_t>(target - static_cast<std::byte*>(window.buffer)));
    return PeekResult::values;
}

}  // namespace cuscope::core
