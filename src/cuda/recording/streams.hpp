// The streams that traces name.
#pragma once

#include <cstdint>

#include "runtime/activity.hpp"
#include "runtime/types.hpp"

namespace cuscope::cuda {

// The number of the stream (cudaStreamGetId). Hands the recorder its StreamRecord when a trace first sees it.
// 0 while any stream is captured: the question would invalidate some captures.
std::uint64_t note_stream(StreamHandle stream, ActivityRecorder& recorder);
// To be called when a trace begins: it has seen no stream yet.
void forget_noted_streams();

// The index of the name of a device, as "cuda:0".
std::uint32_t index_of_device(std::uint32_t device);

}  // namespace cuscope::cuda
