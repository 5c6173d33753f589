#include "core/host_task.hpp"

#include <cxxabi.h>

#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/devices.hpp"
#include "runtime/process.hpp"

namespace cuscope::core {
namespace {

struct Entry {
    DevicePtr device;
    unsigned long long stream = 0;
    std::unique_ptr<HostTask> task;
};

// Never destroyed: the runtimes' threads may outlive static destructors.
struct Table {
    std::mutex mutex;
    std::uintptr_t last = 0;
    std::unordered_map<std::uintptr_t, Entry> entries;
};

Table& table() {
    static Table* const instance = new Table;
    return *instance;
}

Entry take(void* ticket) {
    const std::lock_guard lock(table().mutex);
    auto node = table().entries.extract(reinterpret_cast<std::uintptr_t>(ticket));
    return node ? std::move(node.mapped()) : Entry{};
}

}  // namespace

void* register_host_task(Device& device, unsigned long long stream, std::unique_ptr<HostTask> task) {
    const std::lock_guard lock(table().mutex);
    const std::uintptr_t number = ++table().last;
    table().entries.emplace(number, Entry{device.shared_from_this(), stream, std::move(task)});
    return reinterpret_cast<void*>(number);
}

void run_host_task(void* ticket) {
    if (process_exiting()) return;  // whoever ends the process releases what is left
    const HostFunctionScope scope;
    Entry entry = take(ticket);
    if (!entry.task) return;
    const CurrentDeviceScope current(entry.device);
    try {
        entry.task->run();
    } catch (const abi::__forced_unwind&) {
        throw;  // the thread itself is being ended
    } catch (...) {
        entry.device->store_failure(entry.stream, std::current_exception());
    }
}

void drop_host_task(void* ticket) { take(ticket); }

void drop_host_tasks(Device* device) {
    std::vector<Entry> dropped;  // destroyed after the lock is let go: their destructors may call anything
    const std::lock_guard lock(table().mutex);
    for (auto entry = table().entries.begin(); entry != table().entries.end();) {
        if (device == nullptr || entry->second.device.get() == device) {
            dropped.push_back(std::move(entry->second));
            entry = table().entries.erase(entry);
        } else {
            ++entry;
        }
    }
}

std::size_t pending_host_tasks() {
    const std::lock_guard lock(table().mutex);
    return table().entries.size();
}

}  // namespace cuscope::core
