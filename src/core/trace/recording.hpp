// A recording of the calls and the work of all runtimes in use, for one trace. Recordings may overlap, over
// threads, too.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/device/device.hpp"
#include "runtime/activity.hpp"
#include "runtime/tracing_runtime.hpp"

namespace cuscope::core {

class Recording : public std::enable_shared_from_this<Recording> {
  public:
    // The records of one runtime, and its clock at the begin and the end.
    struct Part {
        std::shared_ptr<ActivityLog> log;
        std::int64_t start_ns = 0, end_ns = 0;
        WorkRecording work;  // where the records of work come from
    };

    explicit Recording(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    void start();
    // Waits for the devices that have worked, but not for streams that are being captured. The wait is not
    // recorded. To be called before stop().
    void wait();
    // Idempotent. The parts do not change afterwards.
    void stop();
    const std::map<std::string, Part>& parts() const { return parts_; }
    // Why the work of runtimes is not recorded as well as it could be, by their kinds.
    std::map<std::string, std::string> problems() const;

  private:
    friend void trace_device(Device& device);
    void add(const std::string& kind, TracingRuntime& runtime);

    const std::size_t most_bytes_;
    std::map<std::string, Part> parts_;  // by the kind of the runtime
    bool stopped_ = false;
};

// Waits until the kernels of simulated devices have run, unless a capture is under way. Their errors stay
// with the devices.
void wait_for_simulated_devices();

// Lets a device take part in the recordings that run. To be called when it is made, and when it is first
// used.
void trace_device(Device& device);
bool recording();
// Held while devices are switched to a decorator or back. Take it with locked().
std::mutex& decorators_mutex();

// To be called when the device was reset: events around its work are gone.
void forget_traced_work(Device& device);
// For tests: traces of simulated devices also measure the work by events, as those of a GPU without CUPTI. To
// be called before the first trace.
void measure_simulated_work();

// How the line of a call is found, and the range that it is in. Set once, before the first recording.
void set_find_line(FindLine find_line);

// A range of the program. The time is that of the device's runtime.
struct Range {
    std::uint64_t number = 0;
    std::uint64_t outer = 0;
    std::int64_t start_ns = 0;
    std::uint32_t line = 0;
};
Range begin_range(Device& device);
void end_range(Device& device, const Range& range, std::string_view text);

}  // namespace cuscope::core
