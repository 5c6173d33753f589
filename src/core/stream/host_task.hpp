// Host functions: callbacks that a stream runs on the host. The tasks stand in a table and the runtime gets
// only a number. So a task that never runs (because the device was lost or the process ends) can be released,
// and is not run afterwards.
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
    // Called on the runtime's own thread. An exception is raised at the next synchronisation of the stream.
    virtual void run() = 0;
    // The name that the user gave it; empty if there is none.
    virtual std::string name() const { return {}; }
};

// Returns the pointer that `run_host_task` is to be called with.
void* register_host_task(Device& device, unsigned long long stream, std::unique_ptr<HostTask> task);
void run_host_task(void* ticket);
// The name of the task that a runtime was given as a host function, and whether it has begun. False if the
// function is not a task of this package, or has ended.
struct HostTaskInfo {
    std::string name;
    bool begun = false;
    double seconds = 0;  // since it began
};
bool find_host_task(HostFunction function, void* ticket, HostTaskInfo* info);
void drop_host_task(void* ticket);
void drop_host_tasks(Device* device);  // null: of all devices
std::size_t pending_host_tasks();

// The task of a graph's host node, which runs whenever the graph does. It can run as long as this object
// lives.
class GraphTask {
  public:
    GraphTask(Device& device, std::unique_ptr<HostTask> task);
    GraphTask(const GraphTask&) = delete;
    GraphTask& operator=(const GraphTask&) = delete;
    ~GraphTask();
    void* ticket() const { return ticket_; }
    // To be called when the graph was launched in a stream: its next synchronisation raises the task's
    // exception.
    void launched_in(unsigned long long stream) const;

  private:
    void* ticket_;
};
void run_graph_task(void* ticket);

}  // namespace cuscope::core
