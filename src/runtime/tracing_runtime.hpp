// Records the calls of a runtime for traces, and lets the wrapped runtime record the work of its devices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/activity.hpp"
#include "runtime/forwarding_runtime.hpp"

namespace cuscope {

// The line of the program that makes the calling thread's call, as an index into activity_names(); 0:
// unknown. It also writes the range that the call is in to call_context(). Called without a lock of the
// runtime.
using FindLine = std::uint32_t (*)();

class TracingRuntime final : public ForwardingRuntime {
  public:
    TracingRuntime(std::shared_ptr<Runtime> under, FindLine find_line)
        : ForwardingRuntime(std::move(under)), find_line_(find_line) {}

    // Returns where the records of work come from.
    WorkRecording start(std::shared_ptr<ActivityLog> log);
    // The records of work that has ended are in the log when this returns; otherwise *problem says why not.
    // True if no other trace runs.
    bool stop(const std::shared_ptr<ActivityLog>& log, std::string* problem);

    void add_range(const HostRecord& record) { recorder_.add(record); }
    std::int64_t now_ns() { return under().trace_clock_ns(); }

  protected:
    Status around(std::string_view method, const StreamHandle* stream, const Forward& forward) override;

  private:
    ActivityRecorder recorder_;
    const FindLine find_line_;
};

}  // namespace cuscope
