// Host functions: what a stream calls on the host. A task is kept in a table, and the runtime gets a number,
// so that one that never runs (a lost device, the end of the process) can be released, and is not run after
// that.
#pragma once

#include <memory>

#include "core/device/device.hpp"

namespace cuscope::core {

class HostTask {
  public:
    HostTask() = default;
    HostTask(const HostTask&) = delete;
    HostTask& operator=(const HostTask&) = delete;
    virtual ~HostTask() = default;
    // On the runtime's own thread. What it throws is raised at the next synchronisation of the stream.
    virtual void run() = 0;
    // What a person calls it; empty if nobody knows.
    virtual std::string name() const { return {}; }
};

// Returns what `run_host_task` is to be called with.
void* register_host_task(Device& device, unsigned long long stream, std::unique_ptr<HostTask> task);
void run_host_task(void* ticket);
// What a runtime was told to call with it: its name, and whether it has begun. False if it is no task of
// ours, or has ended.
struct HostTaskInfo {
    std::string name;
    bool begun = false;
    double seconds = 0;  // since it began
};
bool find_host_task(HostFunction function, void* ticket, HostTaskInfo* info);
void drop_host_task(void* ticket);
void drop_host_tasks(Device* device);  // null: of all devices
std::size_t pending_host_tasks();

// The task of a graph's node, which runs whenever the graph does. It can be run as long as this lives.
class GraphTask {
  public:
    GraphTask(Device& device, std::unique_ptr<HostTask> task);
    GraphTask(const GraphTask&) = delete;
    GraphTask& operator=(const GraphTask&) = delete;
    ~GraphTask();
    void* ticket() const { return ticket_; }
    // The graph was launched there: what the task throws is raised by its next synchronisation.
    void launched_in(unsigned long long stream) const;

  private:
    void* ticket_;
};
void run_graph_task(void* ticket);

}  // namespace cuscope::core
