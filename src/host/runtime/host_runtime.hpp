// The runtime contract without a GPU: a simulated host with simulated devices. Their memory is real memory of
// the process, and their kernels run on the CPU. This class has the entry points alone: each takes the lock,
// charges the cost of the call, looks up the objects that handles name, and leaves the rest to them (see
// machine.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "host/runtime/machine.hpp"
#include "runtime/runtime.hpp"

namespace cuscope::host {

class HostRuntime final : public Runtime {
  public:
    std::string kind() const override { return "host"; }
    bool simulated() const override { return true; }

#define CUSCOPE_METHOD(method, parameters, arguments) Status method parameters override;
#include "runtime/runtime_methods.inc"
#undef CUSCOPE_METHOD

    std::int64_t clock_ns() override;
    void host_work(std::int64_t nanoseconds) override;
    std::string error_detail() override;
    PendingList pending() override;
    Status wait_beside_captures() override;
    EventLook look_at(EventHandle event) override;
    GraphNodeHandle last_captured(StreamHandle stream) override;
    bool peek(void* destination, const void* source, std::size_t bytes) override;
    std::int64_t trace_clock_ns() override;
    WorkRecording set_recorder(ActivityRecorder* recorder) override;
    std::string flush_records(bool last) override;
    bool describe_stream(StreamHandle stream, StreamRecord* record) override;
    bool call_begins(const StreamHandle*) override { return false; }  // commands look at call_context()
    void call_ends() override {}
    void shut_down() noexcept override;

  private:
    Machine machine_;
};

}  // namespace cuscope::host
