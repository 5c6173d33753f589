// Tells a trace which call gives a stream work. Methods that copy, set memory or launch have a WorkScope
// around the library's call.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/activity.hpp"
#include "runtime/types.hpp"

namespace cuscope::cuda {

struct Work {
    ActivityKind kind;
    StreamHandle stream;
    // Of copies and memsets
    std::size_t bytes = 0;
    const void* destination = nullptr;
    const void* source = nullptr;
    // Of kernels
    KernelHandle kernel = nullptr;
    const LaunchConfig* config = nullptr;
};

class WorkRecorder {
  public:
    WorkRecorder() = default;
    WorkRecorder(const WorkRecorder&) = delete;
    WorkRecorder& operator=(const WorkRecorder&) = delete;
    virtual ~WorkRecorder() = default;

    // On the thread of the call, before and after it. No scope is within another.
    virtual void begin(const Work& work) = 0;
    virtual void end() = 0;
    // Hands over the records of the work that has ended. `last`: no trace goes on after this.
    virtual void flush(bool last) = 0;
};

// Null while no trace runs. A recorder is never destroyed, so that a thread may still be in a scope of it
// when the trace ends.
inline std::atomic<WorkRecorder*> work_recorder{nullptr};

class WorkScope {
  public:
    explicit WorkScope(const Work& work) : recorder_(work_recorder.load(std::memory_order_acquire)) {
        if (recorder_ != nullptr) recorder_->begin(work);
    }
    WorkScope(const WorkScope&) = delete;
    WorkScope& operator=(const WorkScope&) = delete;
    ~WorkScope() {
        if (recorder_ != nullptr) recorder_->end();
    }

  private:
    WorkRecorder* const recorder_;
};

}  // namespace cuscope::cuda
