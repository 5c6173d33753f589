// The contract over the CUDA runtime library. Owns nothing but what it takes to wait so that Ctrl-C ends the
// wait; everything else is the library's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <utility>

#include "cuda/calls/spare_pools.hpp"
#include "cuda/driver/capture_use.hpp"
#include "cuda/driver/idle.hpp"
#include "cuda/handles.hpp"
#include "runtime/process.hpp"
#include "runtime/runtime.hpp"

namespace cuscope::cuda {

class CudaRuntime final : public Runtime {
  public:
    std::string kind() const override { return "cuda"; }
    bool simulated() const override { return false; }

#define CUSCOPE_METHOD(method, parameters, arguments) Status method parameters override;
#include "runtime/runtime_methods.inc"
#undef CUSCOPE_METHOD

    std::int64_t clock_ns() override;
    void host_work(std::int64_t nanoseconds) override;
    std::string error_detail() override;
    PendingList pending() override { return {}; }  // the core remembers what it enqueued
    // Host functions stay with the driver, which cannot be told to drop them; those of the core look at
    // process_exiting() before they do anything.
    void shut_down() noexcept override;

  private:
    // Makes a call of the library, unless this process is a fork's child: the driver can do nothing there.
    template <class Call>
    Status make(Call&& call) {
        if (forked_after_use()) return failed(Status::initialization_error);
        return answered(static_cast<Status>(std::forward<Call>(call)()));
    }
    // The same, of a call in a stream. Not for calls that wait.
    template <class Call>
    Status make_in(StreamHandle stream, Call&& call) {
        const StreamUse use(native(stream));
        return make(std::forward<Call>(call));
    }
    template <class Wait, class Call>
    Status make_after(StreamHandle stream, Wait&& wait, Call&& call);
    template <class Call>
    Status make_copy(StreamHandle stream, bool waits, Call&& call);
    // Of calls that wait for all of a device, or of all devices: would this one, where it must not?
    bool would_wait(bool all_devices = false) {
        return NoWait::active() && !forked_after_use() && !streams_.idle(all_devices);
    }
    Status answered(Status status) { return status == Status::success ? status : failed(status); }

    // Remembers what is known about a failed call of this thread, for error_detail().
    Status failed(Status status);
    Status out_of_memory(const char* what, std::size_t bytes);

    KnownStreams streams_;
    SparePools pools_;
};

}  // namespace cuscope::cuda
