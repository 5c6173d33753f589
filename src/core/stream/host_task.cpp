#include "core/stream/host_task.hpp"

#include <cxxabi.h>

#include <chrono>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/device/devices.hpp"
#include "runtime/order/notes.hpp"
#include "runtime/process.hpp"

namespace cuscope::core {
namespace {

struct Entry {
    DevicePtr device;
    unsigned long long stream = 0;
    std::unique_ptr<HostTask> task;
};

using Clock = std::chrono::steady_clock;

struct Begun {
    std::string name;
    Clock::time_point since;
};

// Never destroyed: the runtimes' threads may outlive static destructors.
struct Table {
    std::mutex mutex;
    std::uintptr_t last = 0;
    std::unordered_map<std::uintptr_t, Entry> entries;
    std::unordered_map<std::uintptr_t, Begun> begun;  // taken out of `entries`, and not returned yet
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

// Marks a task as begun as long as it lives.
class BegunScope {
  public:
    BegunScope(void* ticket, const HostTask& task) : ticket_(reinterpret_cast<std::uintptr_t>(ticket)) {
        note_progress();
        const std::lock_guard lock(table().mutex);
        table().begun[ticket_] = {task.name(), Clock::now()};
    }
    BegunScope(const BegunScope&) = delete;
    BegunScope& operator=(const BegunScope&) = delete;
    ~BegunScope() {
        note_progress();
        const std::lock_guard lock(table().mutex);
        table().begun.erase(ticket_);
    }

  private:
    std::uintptr_t ticket_;
};

}  // namespace

void* register_host_task(Device& device, unsigned long long stream, std::unique_ptr<HostTask> task) {
    const std::lock_guard lock(table().mutex);
    const std::uintptr_t number = ++table().last;
    table().entries.emplace(number, Entry{device.shared_from_this(), stream, std::move(task)});
    return reinterpret_cast<void*>(number);
}

void run_host_task(void* ticket) {
    if (process_exiting()) return;  // the end of the process releases the remaining tasks
    const HostFunctionScope scope;
    Entry entry = take(ticket);
    if (!entry.task) return;
    const BegunScope begun(ticket, *entry.task);
    const CurrentDeviceScope current(entry.device);
    const order::HostFunctionNote note(run_host_task, ticket);
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
    // destroyed after the lock is released, because their destructors may call anything
    std::vector<Entry> dropped;
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

namespace {

struct GraphEntry {
    DevicePtr device;
    std::shared_ptr<HostTask> task;
    unsigned long long stream = 0;
};

struct GraphTable {
    std::mutex mutex;
    std::uintptr_t last = 0;
    std::unordered_map<std::uintptr_t, GraphEntry> entries;
};

GraphTable& graph_table() {
    static GraphTable* const instance = new GraphTable;
    return *instance;
}

}  // namespace

GraphTask::GraphTask(Device& device, std::unique_ptr<HostTask> task) {
    const std::lock_guard lock(graph_table().mutex);
    const std::uintptr_t number = ++graph_table().last;
    graph_table().entries.emplace(number, GraphEntry{device.shared_from_this(), std::move(task), 0});
    ticket_ = reinterpret_cast<void*>(number);
}

GraphTask::~GraphTask() {
    GraphEntry last;  // destroyed after the lock is released, because its destructor may call anything
    const std::lock_guard lock(graph_table().mutex);
    auto node = graph_table().entries.extract(reinterpret_cast<std::uintptr_t>(ticket_));
    if (node) last = std::move(node.mapped());
}

void GraphTask::launched_in(unsigned long long stream) const {
    const std::lock_guard lock(graph_table().mutex);
    graph_table().entries.at(reinterpret_cast<std::uintptr_t>(ticket_)).stream = stream;
}

void run_graph_task(void* ticket) {
    if (process_exiting()) return;
    const HostFunctionScope scope;
    GraphEntry entry;
    {
        const std::lock_guard lock(graph_table().mutex);
        const auto found = graph_table().entries.find(reinterpret_cast<std::uintptr_t>(ticket));
        if (found == graph_table().entries.end()) return;
        entry = found->second;
    }
    const CurrentDeviceScope current(entry.device);
    const order::HostFunctionNote note(run_graph_task, ticket);
    try {
        entry.task->run();
    } catch (const abi::__forced_unwind&) {
        throw;  // the thread itself is being ended
    } catch (...) {
        entry.device->store_failure(entry.stream, std::current_exception());
    }
}

bool find_host_task(HostFunction function, void* ticket, HostTaskInfo* info) {
    const auto number = reinterpret_cast<std::uintptr_t>(ticket);
    if (function == run_graph_task) {
        const std::lock_guard lock(graph_table().mutex);
        const auto found = graph_table().entries.find(number);
        if (found == graph_table().entries.end()) return false;
        info->name = found->second.task->name();
        return true;
    }
    if (function != run_host_task) return false;
    const std::lock_guard lock(table().mutex);
    if (const auto found = table().begun.find(number); found != table().begun.end()) {
        *info = {found->second.name, true,
                 std::chrono::duration<double>(Clock::now() - found->second.since).count()};
        return true;
    }
    const auto found = table().entries.find(number);
    if (found == table().entries.end()) return false;
    info->name = found->second.task->name();
    return true;
}

std::size_t pending_host_tasks() {
    const std::lock_guard lock(table().mutex);
    return table().entries.size();
}

}  // namespace cuscope::core
