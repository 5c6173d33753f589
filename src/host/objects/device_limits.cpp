// The limits of simulated devices.
#include <algorithm>

#include "host/objects/device.hpp"
#include "runtime/try.hpp"

namespace cuscope::host {
namespace {

constexpr int shared_memory_limit = 7;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

std::map<int, std::size_t> first_limits(const DeviceModel& model) {
    std::map<int, std::size_t> limits{{static_cast<int>(Limit::stack_size), 1024},
                                      {static_cast<int>(Limit::printf_fifo_size), 8650752},
                                      {static_cast<int>(Limit::malloc_heap_size), 8388608}};
    const int major = model.properties.compute_capability_major;
    // Devices on which kernels could wait for kernels that they launched.
    if (major * 10 + model.properties.compute_capability_minor >= 35) {
        limits[static_cast<int>(Limit::dev_runtime_pending_launch_count)] = 2048;
        if (major < 9) limits[static_cast<int>(Limit::dev_runtime_sync_depth)] = 2;
    }
    if (major >= 8) {
        limits[static_cast<int>(Limit::max_l2_fetch_granularity)] = 64;
        limits[static_cast<int>(Limit::persisting_l2_cache_size)] = 3 * persisting_l2_unit(model);
    }
    // A limit of the driver that cudaLimit does not name: the shared memory that a block may use.
    if (major >= 9) limits[shared_memory_limit] = model.properties.shared_memory_per_block_optin;
    return limits;
}

}  // namespace

void Device::reset_limits() {
    limits = first_limits(*model);
    heap = std::make_shared<simt::Heap>(limits[static_cast<int>(Limit::malloc_heap_size)]);
    has_printed = has_allocated = false;
}

Status Device::get_limit(Limit limit, std::size_t* value) const {
    TRY(check_limit(limit));
    if (value == nullptr) return fail(Status::invalid_value);
    *value = limits.at(static_cast<int>(limit));
    return Status::success;
}

Status Device::check_limit(Limit limit) const {
    const auto number = static_cast<int>(limit);
    if (limits.contains(number)) return Status::success;
    const bool exists = number >= 0 && number <= static_cast<int>(Limit::persisting_l2_cache_size);
    return fail(exists ? Status::unsupported_limit : Status::invalid_value,
                "this device has no limit " + std::to_string(number) + " of cudaLimit");
}

Status Device::set_limit(Limit limit, std::size_t value) {
    TRY(check_limit(limit));
    const auto refuse = [&](const std::string& allowed) {
        return fail(Status::invalid_value, std::to_string(value) + "; allowed is " + allowed);
    };
    constexpr std::size_t most_stack = std::size_t{512} << 10;
    constexpr std::size_t least_fifo = std::size_t{512} << 10, most_fifo = std::size_t{2} << 30;
    constexpr std::size_t least_heap = std::size_t{4} << 20;
    switch (limit) {
        case Limit::stack_size:
            if (value > most_stack) return refuse("up to " + std::to_string(most_stack) + " bytes");
            value = round_up(value, 16);
            break;
        case Limit::printf_fifo_size:
            if (has_printed)
                return fail(Status::invalid_value, "a kernel that prints was launched: it is fixed now");
            value = round_up(std::clamp(value, least_fifo, most_fifo), 256);
            break;
        case Limit::malloc_heap_size:
            if (has_allocated)
                return fail(Status::invalid_value, "a kernel that allocates was launched: it is fixed now");
            value = round_up(std::clamp(value, least_heap, std::max(least_heap, memory / 8)), 64 << 10);
            break;
        case Limit::dev_runtime_sync_depth:
            break;
        case Limit::dev_runtime_pending_launch_count:
            value = std::max<std::size_t>(value, 32);
            break;
        case Limit::max_l2_fetch_granularity:
            if (value > 128) return refuse("0 to 128 bytes");
            break;
        case Limit::persisting_l2_cache_size: {
            const std::size_t most = persisting_l2_bytes(*model);
            if (value > most) return refuse("up to " + std::to_string(most) + " bytes");
            value = round_up(value, persisting_l2_unit(*model));
            break;
        }
        default:
            return fail(Status::not_permitted, "the shared memory of a block is the device's own");
    }
    limits[static_cast<int>(limit)] = value;
    if (limit == Limit::malloc_heap_size) heap->set_limit(value);
    return Status::success;
}

}  // namespace cuscope::host
