// Traces: CUPTI's records of the work of GPUs, or events where there is no CUPTI.
#include <cstdlib>
#include <string_view>

#include "cuda/cuda_runtime.hpp"
#include "cuda/cupti/recorder.hpp"
#include "cuda/recording/events.hpp"
#include "cuda/recording/streams.hpp"
#include "cuda/recording/work.hpp"

namespace cuscope::cuda {
namespace {

// The program wants no CUPTI, because another profiler uses it, say.
bool without_cupti() {
    const char* const chosen = std::getenv("CUSCOPE_CUPTI");
    return chosen != nullptr && std::string_view(chosen) == "none";
}

}  // namespace

void CudaRuntime::set_recorder(ActivityRecorder* recorder) {
    if (forked_after_use()) return;
    if (recorder == nullptr) {
        work_recorder = nullptr;
        if (source_.name == "cupti") {
            cupti::Recorder::instance().stop();
        } else {
            EventRecorder::instance().stop();
        }
        source_ = {};
        return;
    }
    forget_noted_streams();
    if (work_recorder != nullptr) return;  // another trace runs, with the same recorder
    source_ = {"cupti", ""};
    if (!without_cupti() && cupti::Recorder::instance().start(recorder, &source_.problem)) {
        work_recorder = &cupti::Recorder::instance();
        return;
    }
    source_.name = "events";
    EventRecorder::instance().start(recorder);
    work_recorder = &EventRecorder::instance();
}

void CudaRuntime::flush_records(bool last) {
    if (forked_after_use()) return;
    if (WorkRecorder* const recorder = work_recorder) recorder->flush(last);
}

}  // namespace cuscope::cuda
