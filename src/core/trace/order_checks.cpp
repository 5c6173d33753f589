#include "core/trace/order_checks.hpp"

#include <map>
#include <mutex>

#include "core/device/devices.hpp"
#include "core/memory/memory.hpp"
#include "core/trace/recording.hpp"
#include "runtime/checking.hpp"
#include "runtime/order/notes.hpp"
#include "runtime/process.hpp"

namespace cuscope::core {
namespace {

using OrderLock = std::unique_lock<std::mutex>;

struct OrderRuntimes {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<order::OrderRuntime>> made;
    int running = 0;
};

// Never destroyed: devices may call through a decorator while the process exits.
OrderRuntimes& order_runtimes() {
    static auto* const all = new OrderRuntimes;
    return *all;
}

void take_part(Device& device) {
    if (use_runtime(device.kind()).get() != &device.own_runtime()) return;  // a test's
    const auto runtime = order_runtime(device.kind());
    if (device.used()) {
        for (const StreamPtr& stream : Stream::all_of(device))
            if (!stream->is_default() && !stream->capturing())
                runtime->introduce(stream->handle(), stream->flags(), stream->id(), device.ordinal());
    }
    device.check_through(runtime.get());
}

}  // namespace

std::shared_ptr<order::OrderRuntime> order_runtime(const std::string& kind) {
    OrderRuntimes& all = order_runtimes();
    const std::scoped_lock lock(all.mutex);
    auto& runtime = all.made[kind];
    if (!runtime) runtime = std::make_shared<order::OrderRuntime>(use_runtime(kind));
    return runtime;
}

void begin_order_check() {
    const OrderLock lock = locked<OrderLock>(decorators_mutex());
    if (order_runtimes().running++ > 0) return;
    order::set_find_page_locked(PinnedMemory::is_page_locked);
    order::begin_order();
    for (const DevicePtr& device : known_devices()) take_part(*device);
}

void end_order_check() {
    const OrderLock lock = locked<OrderLock>(decorators_mutex());
    if (--order_runtimes().running > 0) return;
    for (const DevicePtr& device : known_devices()) device->check_through(nullptr);
    for (const auto& [kind, runtime] : order_runtimes().made) runtime->forget_all();
    order::end_order();
}

void check_order_of(Device& device) {
    if (!checking()) return;
    const WithoutInterpreter released;
    const OrderLock lock = locked<OrderLock>(decorators_mutex());
    if (order_runtimes().running > 0) take_part(device);
}

}  // namespace cuscope::core
