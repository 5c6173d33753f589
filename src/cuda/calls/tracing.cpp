// Traces: CUPTI records the work of devices, and learns which call each piece of work belongs to.
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

#include "cuda/calls/stream_ids.hpp"
#include "cuda/cuda_runtime.hpp"
#include "cuda/cupti/session.hpp"
#include "cuda/driver/call_gate.hpp"
#include "cuda/driver/capture_use.hpp"
#include "cuda/driver/wait.hpp"

namespace cuscope::cuda {
namespace {

constexpr auto patience_with_captures = std::chrono::milliseconds(50);

// Changes CUPTI's state while no other thread is in the driver, as far as that is possible, and while no
// stream is captured: CUPTI allocates memory and may wait for the device, which can invalidate a capture.
// Captures of other threads end soon, so this waits a moment for their end. False: a stream is still being
// captured, and nothing was done. Captures of other libraries are unknown here; the relaxed mode spares some
// of them.
template <class Change>
bool outside_of_captures(Change&& change) {
    const auto end = std::chrono::steady_clock::now() + patience_with_captures;
    const WithoutInterpreter released;  // the thread that ends the capture may need the GIL
    for (;;) {
        if (captures_underway == 0) {
            const AloneInDriver alone;
            if (captures_underway == 0) {  // none begins or ends while this thread is alone
                const RelaxedThread relaxed;
                change();
                return true;
            }
        }
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

// CUPTI is a program's choice: CUPTI 13.0 and 13.1 lose the device (cudaErrorLaunchFailure) where threads
// launch new executables of graphs beside copies of managed memory, and launches stay slower after a trace.
bool wanted() {
    const char* const choice = std::getenv("CUSCOPE_TRACE_GPU");
    return choice != nullptr && std::string_view(choice) == "1";
}

// Held while CUPTI is switched on or off. A thread that holds it waits for the gate of call_gate.hpp, and not
// the other way round.
std::mutex& switch_mutex() {
    static auto* const mutex = new std::mutex;
    return *mutex;
}

}  // namespace

WorkRecording CudaRuntime::set_recorder(ActivityRecorder* recorder) {
    if (forked_after_use()) return {};
    cupti::Session& session = cupti::session();
    const std::lock_guard lock(switch_mutex());
    if (recorder == nullptr) {
        if (session.running() && !streams_.when_idle([&] { session.stop(); })) session.pause();
        return {};
    }
    if (!wanted()) return {};
    std::string problem;
    if (session.paused()) {
        session.resume(*recorder);
    } else if (!session.running() && !outside_of_captures([&] { problem = session.start(*recorder); })) {
        problem =
            "a stream is being captured, and to start CUPTI could invalidate the capture. To see the work of "
            "the GPU, begin the trace before the capture";
    }
    const WorkSource source = problem.empty() ? WorkSource::cupti : WorkSource::none;
    return {source, std::move(problem)};
}

std::string CudaRuntime::flush_records(bool) {
    cupti::Session& session = cupti::session();
    if (forked_after_use() || !session.running()) return "";
    if (outside_of_captures([&] { session.flush(); })) return "";
    return "a stream was being captured when the trace ended, and to ask CUPTI for its records could have "
           "invalidated the capture. Work may be missing: end the trace after the capture";
}

void CudaRuntime::settle_traces() {
    cupti::Session& session = cupti::session();
    if (!session.paused() || forked_after_use()) return;
    const std::unique_lock lock(switch_mutex(), std::try_to_lock);
    if (lock && session.paused()) streams_.when_idle([&] { session.stop(); });
}

bool CudaRuntime::describe_stream(StreamHandle stream, StreamRecord* record) {
    if (forked_after_use()) return false;
    {
        const InsideDriver inside;
        if (is_captured(native(stream))) return false;
    }
    const StreamRecord* const known = description_of_stream(stream);
    if (known != nullptr) *record = *known;
    return known != nullptr;
}

bool CudaRuntime::call_begins(const StreamHandle* stream) {
    cupti::Session& session = cupti::session();
    if (!session.running() || forked_after_use()) return false;
    const StreamHandle handle = stream != nullptr ? *stream : stream_legacy;
    cupti::CallOfWork call;
    call.call = call_context().call;
    call.name = call_context().work_name;
    static thread_local std::uint64_t described = 0;
    if (const StreamRecord* const record = description_of_stream(handle)) {
        call.stream = record->id;
        if (call.stream != described && !session.knows_stream(call.stream)) session.add_stream(*record);
        described = call.stream;
    }
    cupti::Session::set_call(call);
    return true;
}

void CudaRuntime::call_ends() { cupti::Session::set_call({}); }

}  // namespace cuscope::cuda
