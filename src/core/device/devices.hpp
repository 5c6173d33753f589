// The devices of this process, and the current device and stream of each thread.
#pragma once

#include <string>
#include <vector>

#include "core/stream/stream.hpp"

namespace cuscope::core {

// In the order in which they are listed to the user: real devices first. Does not throw if a runtime fails;
// such a runtime has no devices.
std::vector<DevicePtr> devices();
// The devices that were asked for so far. Calls no runtime.
std::vector<DevicePtr> known_devices();
// Throws std::invalid_argument with a list of the names if there is no such device.
DevicePtr find_device(const std::string& name);
// Adds another simulated device.
DevicePtr add_host_device(const std::string& model);

// The registered runtime of a kind; null if this build has none.
std::shared_ptr<Runtime> use_runtime(const std::string& kind);
// Called when the process is about to exit: shuts down the runtimes that were used, without waiting.
void shut_down_runtimes() noexcept;

// The result of listing a runtime's devices, with the reason if it has none.
struct RuntimeAnswer {
    std::string kind;
    Status status = Status::success;
    int device_count = 0;
    int driver_version = 0, runtime_version = 0;  // 13000 is 13.0; 0 where there is no answer
    std::string detail;                           // "driver too old: ..."; empty if there is nothing to say
};
std::vector<RuntimeAnswer> runtime_answers();

// The calling thread's current device: of the innermost scope, else the one last set, else the first device
// (CUSCOPE_DEVICE names another).
DevicePtr current_device();
// The same without a call of a runtime: null until this thread has asked for its current device.
const DevicePtr* known_current_device() noexcept;
// The innermost scope's stream on the device, else its legacy default stream. Throws if the program has
// closed that stream: work must not go to a stream that has been given up, and no other stream is the one
// meant.
StreamPtr current_stream(const DevicePtr& device);
// The same without that check, to show which stream it is.
StreamPtr innermost_stream(const DevicePtr& device);
void set_current_device(const DevicePtr& device);
void push_device(const DevicePtr& device);
void push_stream(const StreamPtr& stream);
// Leaves a scope. Throws std::invalid_argument if this thread did not enter it.
void pop_device(const DevicePtr& device);
void pop_stream(unsigned long long serial);

// Makes a device the calling thread's current one without calling its runtime, which cannot be called inside
// a host function.
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
