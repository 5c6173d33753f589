// The contract's handles and the library's handles have the same values.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/types.hpp"

namespace cuscope::cuda {

inline cudaStream_t native(StreamHandle stream) { return reinterpret_cast<cudaStream_t>(stream); }
inline bool is_default(StreamHandle stream) {
    return stream == nullptr || stream == stream_legacy || stream == stream_per_thread;
}
inline cudaEvent_t native(EventHandle event) { return reinterpret_cast<cudaEvent_t>(event); }
inline cudaLibrary_t native(LibraryHandle library) { return reinterpret_cast<cudaLibrary_t>(library); }
inline cudaKernel_t native(KernelHandle kernel) { return reinterpret_cast<cudaKernel_t>(kernel); }
inline cudaMemPool_t native(MemPoolHandle pool) { return reinterpret_cast<cudaMemPool_t>(pool); }
inline cudaArray_t native(ArrayHandle array) { return reinterpret_cast<cudaArray_t>(array); }
inline cudaMipmappedArray_t native(MipmappedArrayHandle array) {
    return reinterpret_cast<cudaMipmappedArray_t>(array);
}
inline cudaGraph_t native(GraphHandle graph) { return reinterpret_cast<cudaGraph_t>(graph); }
inline cudaGraphNode_t native(GraphNodeHandle node) { return reinterpret_cast<cudaGraphNode_t>(node); }
inline cudaGraphExec_t native(GraphExecHandle exec) { return reinterpret_cast<cudaGraphExec_t>(exec); }
inline cudaGraph_t* native(GraphHandle* graph) { return reinterpret_cast<cudaGraph_t*>(graph); }
inline cudaGraphNode_t* native(GraphNodeHandle* node) { return reinterpret_cast<cudaGraphNode_t*>(node); }
inline const cudaGraphNode_t* native(const GraphNodeHandle* nodes) {
    return reinterpret_cast<const cudaGraphNode_t*>(nodes);
}
inline cudaGraphExec_t* native(GraphExecHandle* exec) { return reinterpret_cast<cudaGraphExec_t*>(exec); }
// The library's kernel functions take a host function's address or a cudaKernel_t.
inline const void* function(KernelHandle kernel) { return kernel; }

inline cudaStream_t* native(StreamHandle* stream) { return reinterpret_cast<cudaStream_t*>(stream); }
inline cudaEvent_t* native(EventHandle* event) { return reinterpret_cast<cudaEvent_t*>(event); }
inline cudaLibrary_t* native(LibraryHandle* library) { return reinterpret_cast<cudaLibrary_t*>(library); }
inline cudaKernel_t* native(KernelHandle* kernel) { return reinterpret_cast<cudaKernel_t*>(kernel); }

inline cudaMemPool_t* native(MemPoolHandle* pool) { return reinterpret_cast<cudaMemPool_t*>(pool); }
inline cudaArray_t* native(ArrayHandle* array) { return reinterpret_cast<cudaArray_t*>(array); }
inline cudaMipmappedArray_t* native(MipmappedArrayHandle* array) {
    return reinterpret_cast<cudaMipmappedArray_t*>(array);
}

inline cudaMemLocation native(const MemLocation& location) {
    cudaMemLocation real{};
    real.type = static_cast<cudaMemLocationType>(location.type);
    real.id = location.id;
    return real;
}
inline cudaPitchedPtr native(const PitchedPointer& pitched) {
    return {pitched.pointer, pitched.pitch, pitched.x_size, pitched.y_size};
}

// Resets an out-parameter, so that it holds no old value whatever the library does with it. The library
// itself refuses a null one.
template <class T>
void clear(T* out) {
    if (out != nullptr) *out = T{};
}

}  // namespace cuscope::cuda
