// Traces: CUPTI records the work of devices, and learns which call each piece of work belongs to.
#include "cuda/calls/stream_ids.hpp"
#include "cuda/cuda_runtime.hpp"
#include "cuda/cupti/session.hpp"
#include "cuda/driver/call_gate.hpp"

namespace cuscope::cuda {

// Records begin and end while no other thread is in the driver, as far as that is possible.
WorkRecording CudaRuntime::set_recorder(ActivityRecorder* recorder) {
    if (forked_after_use()) return {};
    cupti::Session& session = cupti::session();
    if (recorder == nullptr) {
        if (!session.running()) return {};
        const AloneInDriver alone;
        session.stop();
        return {};
    }
    std::string problem;
    if (!session.running()) {
        const AloneInDriver alone;
        problem = session.start(*recorder);
    }
    const WorkSource source = problem.empty() ? WorkSource::cupti : WorkSource::none;
    return {source, std::move(problem)};
}

void CudaRuntime::flush_records(bool last) {
    if (!forked_after_use()) cupti::session().flush(last);
}

bool CudaRuntime::call_begins(const StreamHandle* stream) {
    cupti::Session& session = cupti::session();
    if (!session.running() || forked_after_use()) return false;
    const StreamHandle handle = stream != nullptr ? *stream : stream_legacy;
    cupti::CallOfWork call;
    call.call = call_context().call;
    call.name = call_context().work_name;
    call.stream = id_of_stream(handle);
    static thread_local std::uint64_t described = 0;
    if (call.stream != 0 && call.stream != described) {
        described = call.stream;
        if (!session.knows_stream(call.stream)) session.add_stream(describe_stream(handle, call.stream));
    }
    session.push(call);
    return true;
}

void CudaRuntime::call_ends() {
    if (!forked_after_use()) cupti::session().pop();
}

}  // namespace cuscope::cuda
