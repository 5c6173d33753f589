// The devices of this process, and which of them, and which stream, a thread is on.
#pragma once

#include <string>
#include <vector>

#include "core/stream/stream.hpp"

namespace cuscope::core {

// In the order in which a person sees them: real ones first. Never throws for a runtime that does not
// answer: it has no devices then.
std::vector<DevicePtr> devices();
// Those that were asked for so far; asks no runtime.
std::vector<DevicePtr> known_devices();
// By name; throws std::invalid_argument that lists the names.
DevicePtr find_device(const std::string& name);
// Another simulated device.
DevicePtr add_host_device(const std::string& model);

// The runtime of a kind, as the registry has it; null if this build has none.
std::shared_ptr<Runtime> use_runtime(const std::string& kind);
// The process is about to exit: ends what was used, waits for nothing.
void shut_down_runtimes() noexcept;

// Why a runtime has no devices: its answer to being asked for them.
struct RuntimeAnswer {
    std::string kind;
    Status status = Status::success;
    int device_count = 0;
    int driver_version = 0, runtime_version = 0;  // 13000 is 13.0; 0 where there is no answer
    std::string detail;                           // "driver too old: ..."; empty if there is nothing to say
};
std::vector<RuntimeAnswer> runtime_answers();

// The calling thread's current device: of the innermost scope, or the one last set, or the first there is
// (CUSCOPE_DEVICE names another).
DevicePtr current_device();
// The innermost scope's stream on a device, else its legacy default stream.
StreamPtr current_stream(const DevicePtr& device);
void set_current_device(const DevicePtr& device);
void push_device(const DevicePtr& device);
void push_stream(const StreamPtr& stream);
// Leaves a scope. Throws std::invalid_argument if this thread did not enter it.
void pop_device(const DevicePtr& device);
void pop_stream(unsigned long long serial);

// Makes a device the calling thread's current one without asking its runtime, which inside of a host function
// answers nothing.
class CurrentDeviceScope {
  public:
    explicit CurrentDeviceScope(const DevicePtr& device);
    CurrentDeviceScope(const CurrentDeviceScope&) = delete;
    CurrentDeviceScope& operator=(const CurrentDeviceScope&) = delete;
    ~CurrentDeviceScope();

  private:
    std::size_t scopes_;
};

}  // namespace cuscope::core
