// The contract: the operations of a CUDA runtime, without any implementation. It has one virtual method for
// each runtime function that the core needs, with the function's name (without its prefix), parameters and
// meaning. Methods may be called from any thread. A method that waits holds no lock that a host function or
// another thread's call could need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/launch_counts.hpp"
#include "runtime/pending.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope {

class Runtime {
  public:
    Runtime() = default;
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    virtual ~Runtime() = default;

    // "cuda" or "host": the first part of the names of its devices.
    virtual std::string kind() const = 0;
    // Does time come from a model rather than from a clock?
    virtual bool simulated() const = 0;

    // Devices
    virtual Status get_device_count(int* count) = 0;
    virtual Status set_device(int device) = 0;  // for the calling thread
    virtual Status get_device(int* device) = 0;
    virtual Status get_device_properties(DeviceProperties* properties, int device) = 0;
    virtual Status device_get_attribute(int* value, DeviceAttribute attribute, int device) = 0;
    virtual Status device_synchronize() = 0;
    virtual Status device_reset() = 0;
    virtual Status set_device_flags(unsigned flags) = 0;
    virtual Status get_device_flags(unsigned* flags) = 0;
    virtual Status device_can_access_peer(int* can_access, int device, int peer) = 0;
    virtual Status device_enable_peer_access(int peer, unsigned flags) = 0;
    virtual Status device_disable_peer_access(int peer) = 0;
    virtual Status device_get_limit(std::size_t* value, Limit limit) = 0;
    virtual Status device_set_limit(Limit limit, std::size_t value) = 0;
    virtual Status device_get_stream_priority_range(int* least, int* greatest) = 0;
    virtual Status driver_get_version(int* version) = 0;
    virtual Status runtime_get_version(int* version) = 0;

    // Errors of the calling thread
    virtual Status get_last_error() = 0;
    virtual Status peek_at_last_error() = 0;

    // Memory
    virtual Status malloc(void** pointer, std::size_t bytes) = 0;
    virtual Status free(void* pointer) = 0;
    virtual Status malloc_async(void** pointer, std::size_t bytes, StreamHandle stream) = 0;
    virtual Status free_async(void* pointer, StreamHandle stream) = 0;
    virtual Status host_alloc(void** pointer, std::size_t bytes, unsigned flags) = 0;
    virtual Status free_host(void* pointer) = 0;
    virtual Status host_get_flags(unsigned* flags, void* pointer) = 0;
    virtual Status host_get_device_pointer(void** device_pointer, void* host_pointer, unsigned flags) = 0;
    virtual Status pointer_get_attributes(PointerAttributes* attributes, const void* pointer) = 0;
    virtual Status mem_get_info(std::size_t* free, std::size_t* total) = 0;
    virtual Status memcpy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind) = 0;
    virtual Status memcpy_async(void* destination, const void* source, std::size_t bytes, MemcpyKind kind,
                                StreamHandle stream) = 0;
    virtual Status memset(void* pointer, int value, std::size_t bytes) = 0;
    virtual Status memset_async(void* pointer, int value, std::size_t bytes, StreamHandle stream) = 0;

    // Memory of other kinds. memset_d2d16_async and memset_d2d32_async are the driver's cuMemsetD2D16Async
    // and cuMemsetD2D32Async, which the runtime library lacks. Their widths are in elements.
    virtual Status malloc_pitch(void** pointer, std::size_t* pitch, std::size_t width,
                                std::size_t height) = 0;
    virtual Status malloc_3d(PitchedPointer* pitched, Extent extent) = 0;
    virtual Status malloc_managed(void** pointer, std::size_t bytes, unsigned flags) = 0;
    virtual Status host_register(void* pointer, std::size_t bytes, unsigned flags) = 0;
    virtual Status host_unregister(void* pointer) = 0;
    virtual Status memcpy_2d(void* destination, std::size_t destination_pitch, const void* source,
                             std::size_t source_pitch, std::size_t width, std::size_t height,
                             MemcpyKind kind) = 0;
    virtual Status memcpy_2d_async(void* destination, std::size_t destination_pitch, const void* source,
                                   std::size_t source_pitch, std::size_t width, std::size_t height,
                                   MemcpyKind kind, StreamHandle stream) = 0;
    virtual Status memcpy_3d(const Memcpy3DParameters* parameters) = 0;
    virtual Status memcpy_3d_async(const Memcpy3DParameters* parameters, StreamHandle stream) = 0;
    virtual Status memcpy_peer(void* destination, int destination_device, const void* source,
                               int source_device, std::size_t bytes) = 0;
    virtual Status memcpy_peer_async(void* destination, int destination_device, const void* source,
                                     int source_device, std::size_t bytes, StreamHandle stream) = 0;
    virtual Status memcpy_batch_async(void* const* destinations, const void* const* sources,
                                      const std::size_t* sizes, std::size_t count,
                                      const MemcpyAttributes* attributes,
                                      const std::size_t* attribute_indices, std::size_t attribute_count,
                                      StreamHandle stream) = 0;
    virtual Status memset_2d(void* pointer, std::size_t pitch, int value, std::size_t width,
                             std::size_t height) = 0;
    virtual Status memset_2d_async(void* pointer, std::size_t pitch, int value, std::size_t width,
                                   std::size_t height, StreamHandle stream) = 0;
    virtual Status memset_3d(PitchedPointer pitched, int value, Extent extent) = 0;
    virtual Status memset_3d_async(PitchedPointer pitched, int value, Extent extent, StreamHandle stream) = 0;
    virtual Status memset_d2d16_async(void* pointer, std::size_t pitch, unsigned short value,
                                      std::size_t width, std::size_t height, StreamHandle stream) = 0;
    virtual Status memset_d2d32_async(void* pointer, std::size_t pitch, unsigned value, std::size_t width,
                                      std::size_t height, StreamHandle stream) = 0;
    virtual Status mem_prefetch_async(const void* pointer, std::size_t bytes, MemLocation location,
                                      unsigned flags, StreamHandle stream) = 0;
    virtual Status mem_advise(const void* pointer, std::size_t bytes, MemoryAdvice advice,
                              MemLocation location) = 0;
    virtual Status mem_range_get_attribute(int* data, std::size_t data_bytes, MemRangeAttribute attribute,
                                           const void* pointer, std::size_t bytes) = 0;
    virtual Status device_get_default_mem_pool(MemPoolHandle* pool, int device) = 0;
    virtual Status device_get_mem_pool(MemPoolHandle* pool, int device) = 0;
    virtual Status device_set_mem_pool(int device, MemPoolHandle pool) = 0;
    virtual Status mem_pool_create(MemPoolHandle* pool, const MemPoolProperties* properties) = 0;
    virtual Status mem_pool_destroy(MemPoolHandle pool) = 0;
    virtual Status mem_pool_get_attribute(MemPoolHandle pool, MemPoolAttribute attribute,
                                          std::uint64_t* value) = 0;
    virtual Status mem_pool_set_attribute(MemPoolHandle pool, MemPoolAttribute attribute,
                                          std::uint64_t value) = 0;
    virtual Status mem_pool_trim_to(MemPoolHandle pool, std::size_t bytes) = 0;
    virtual Status mem_pool_set_access(MemPoolHandle pool, const MemAccessDescription* descriptions,
                                       std::size_t count) = 0;
    virtual Status mem_pool_get_access(MemAccess* flags, MemPoolHandle pool, MemLocation* location) = 0;
    virtual Status malloc_from_pool_async(void** pointer, std::size_t bytes, MemPoolHandle pool,
                                          StreamHandle stream) = 0;
    virtual Status malloc_array(ArrayHandle* array, const ChannelFormat* format, std::size_t width,
                                std::size_t height, unsigned flags) = 0;
    virtual Status malloc_3d_array(ArrayHandle* array, const ChannelFormat* format, Extent extent,
                                   unsigned flags) = 0;
    virtual Status free_array(ArrayHandle array) = 0;
    virtual Status array_get_info(ChannelFormat* format, Extent* extent, unsigned* flags,
                                  ArrayHandle array) = 0;
    virtual Status malloc_mipmapped_array(MipmappedArrayHandle* array, const ChannelFormat* format,
                                          Extent extent, unsigned levels, unsigned flags) = 0;
    virtual Status free_mipmapped_array(MipmappedArrayHandle array) = 0;
    // The level belongs to its array.
    virtual Status get_mipmapped_array_level(ArrayHandle* level, MipmappedArrayHandle array,
                                             unsigned index) = 0;
    virtual Status create_texture_object(TextureHandle* texture, const ResourceDescription* resource,
                                         const TextureDescription* description) = 0;
    virtual Status destroy_texture_object(TextureHandle texture) = 0;
    virtual Status create_surface_object(SurfaceHandle* surface, const ResourceDescription* resource) = 0;
    virtual Status destroy_surface_object(SurfaceHandle surface) = 0;

    // Streams
    virtual Status stream_create_with_priority(StreamHandle* stream, unsigned flags, int priority) = 0;
    virtual Status stream_destroy(StreamHandle stream) = 0;
    virtual Status stream_synchronize(StreamHandle stream) = 0;
    virtual Status stream_query(StreamHandle stream) = 0;
    virtual Status stream_wait_event(StreamHandle stream, EventHandle event, unsigned flags) = 0;
    virtual Status stream_get_flags(StreamHandle stream, unsigned* flags) = 0;
    virtual Status stream_get_priority(StreamHandle stream, int* priority) = 0;
    virtual Status stream_get_id(StreamHandle stream, unsigned long long* id) = 0;
    virtual Status stream_get_device(StreamHandle stream, int* device) = 0;
    virtual Status launch_host_func(StreamHandle stream, HostFunction function, void* data) = 0;

    // Stream memory operations: the driver's cuStreamWriteValue32 and similar functions, which the runtime
    // library lacks.
    virtual Status stream_write_value_32(StreamHandle stream, void* address, std::uint32_t value,
                                         unsigned flags) = 0;
    virtual Status stream_write_value_64(StreamHandle stream, void* address, std::uint64_t value,
                                         unsigned flags) = 0;
    virtual Status stream_wait_value_32(StreamHandle stream, void* address, std::uint32_t value,
                                        unsigned flags) = 0;
    virtual Status stream_wait_value_64(StreamHandle stream, void* address, std::uint64_t value,
                                        unsigned flags) = 0;
    virtual Status stream_batch_mem_op(StreamHandle stream, unsigned count, const MemoryOperation* operations,
                                       unsigned flags) = 0;

    // External semaphores. A successful import owns the file descriptor.
    virtual Status import_external_semaphore(ExternalSemaphoreHandle* semaphore,
                                             const ExternalSemaphoreDescription* description) = 0;
    virtual Status destroy_external_semaphore(ExternalSemaphoreHandle semaphore) = 0;
    virtual Status signal_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                                    const ExternalSemaphoreParameters* parameters,
                                                    unsigned count, StreamHandle stream) = 0;
    virtual Status wait_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                                  const ExternalSemaphoreParameters* parameters,
                                                  unsigned count, StreamHandle stream) = 0;

    // Events
    virtual Status event_create_with_flags(EventHandle* event, unsigned flags) = 0;
    virtual Status event_destroy(EventHandle event) = 0;
    virtual Status event_record_with_flags(EventHandle event, StreamHandle stream, unsigned flags) = 0;
    virtual Status event_query(EventHandle event) = 0;
    virtual Status event_synchronize(EventHandle event) = 0;
    virtual Status event_elapsed_time(float* milliseconds, EventHandle start, EventHandle end) = 0;

    // Modules. `image` is the image of a CompileResult, or the bytes of a cubin, PTX or fatbin file.
    virtual Status library_load_data(LibraryHandle* library, const void* image, std::size_t bytes) = 0;
    virtual Status library_unload(LibraryHandle library) = 0;
    virtual Status library_get_kernel(KernelHandle* kernel, LibraryHandle library,
                                      const char* lowered_name) = 0;
    virtual Status library_get_kernel_count(unsigned* count, LibraryHandle library) = 0;
    virtual Status library_enumerate_kernels(KernelHandle* kernels, unsigned count,
                                             LibraryHandle library) = 0;
    virtual Status library_get_global(void** pointer, std::size_t* bytes, LibraryHandle library,
                                      const char* name) = 0;
    virtual Status func_get_name(const char** name, KernelHandle kernel) = 0;
    virtual Status func_get_param_info(KernelHandle kernel, std::size_t index, std::size_t* offset,
                                       std::size_t* size) = 0;
    virtual Status func_get_attributes(FunctionAttributes* attributes, KernelHandle kernel) = 0;
    virtual Status func_set_attribute(KernelHandle kernel, FunctionAttribute attribute, int value) = 0;
    virtual Status func_set_cache_config(KernelHandle kernel, FunctionCache config) = 0;
    virtual Status occupancy_max_active_blocks_per_multiprocessor(int* blocks, KernelHandle kernel,
                                                                  int block_size,
                                                                  std::size_t dynamic_shared_bytes) = 0;
    virtual Status occupancy_max_potential_block_size(int* min_grid_size, int* block_size,
                                                      KernelHandle kernel, std::size_t dynamic_shared_bytes,
                                                      int block_size_limit) = 0;
    virtual Status occupancy_max_active_blocks_per_multiprocessor_with_flags(int* blocks, KernelHandle kernel,
                                                                             int block_size,
                                                                             std::size_t dynamic_shared_bytes,
                                                                             unsigned flags) = 0;
    virtual Status occupancy_available_dynamic_smem_per_block(std::size_t* bytes, KernelHandle kernel,
                                                              int blocks, int block_size) = 0;
    virtual Status occupancy_max_potential_cluster_size(int* blocks, KernelHandle kernel,
                                                        const LaunchConfig* config) = 0;
    virtual Status occupancy_max_active_clusters(int* clusters, KernelHandle kernel,
                                                 const LaunchConfig* config) = 0;
    virtual Status ctx_reset_persisting_l2_cache() = 0;
    // The argument `id` counts; the id inside `value` is ignored.
    virtual Status stream_set_attribute(StreamHandle stream, LaunchAttributeId id,
                                        const LaunchAttribute* value) = 0;
    virtual Status stream_get_attribute(StreamHandle stream, LaunchAttributeId id,
                                        LaunchAttribute* value) = 0;
    virtual Status stream_copy_attributes(StreamHandle destination, StreamHandle source) = 0;
    // arguments[i] points to the value of the i-th parameter. The values are copied before the call returns.
    virtual Status launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) = 0;
    virtual Status stream_add_callback(StreamHandle stream, StreamCallback callback, void* data,
                                       unsigned flags) = 0;

    // Capture. As in CUDA, a call that a capture does not allow invalidates the capture, and later calls on
    // it report this.
    virtual Status stream_begin_capture(StreamHandle stream, CaptureMode mode) = 0;
    virtual Status stream_begin_capture_to_graph(StreamHandle stream, GraphHandle graph,
                                                 const GraphNodeHandle* dependencies,
                                                 const GraphEdgeData* edge_data, std::size_t count,
                                                 CaptureMode mode) = 0;
    virtual Status stream_end_capture(StreamHandle stream, GraphHandle* graph) = 0;
    virtual Status stream_is_capturing(StreamHandle stream, CaptureStatus* status) = 0;
    virtual Status stream_get_capture_info(StreamHandle stream, CaptureStatus* status, unsigned long long* id,
                                           GraphHandle* graph, const GraphNodeHandle** dependencies,
                                           const GraphEdgeData** edge_data, std::size_t* count) = 0;
    virtual Status stream_update_capture_dependencies(StreamHandle stream,
                                                      const GraphNodeHandle* dependencies,
                                                      const GraphEdgeData* edge_data, std::size_t count,
                                                      unsigned flags) = 0;
    virtual Status thread_exchange_stream_capture_mode(CaptureMode* mode) = 0;

    // Graphs. A node's handle is valid until the node or its graph is destroyed. Output arrays and their
    // counts are used as in CUDA: a null array asks for the count. get_params and set_params stand for CUDA's
    // functions for each node type. Arrays that get_params returns (arguments, operations) belong to the node
    // or are valid until the thread's next call.
    virtual Status graph_create(GraphHandle* graph, unsigned flags) = 0;
    virtual Status graph_destroy(GraphHandle graph) = 0;
    virtual Status graph_clone(GraphHandle* clone, GraphHandle original) = 0;
    virtual Status graph_add_node(GraphNodeHandle* node, GraphHandle graph,
                                  const GraphNodeHandle* dependencies, const GraphEdgeData* edge_data,
                                  std::size_t count, GraphNodeParameters* parameters) = 0;
    virtual Status graph_destroy_node(GraphNodeHandle node) = 0;
    virtual Status graph_add_dependencies(GraphHandle graph, const GraphNodeHandle* from,
                                          const GraphNodeHandle* to, const GraphEdgeData* edge_data,
                                          std::size_t count) = 0;
    virtual Status graph_remove_dependencies(GraphHandle graph, const GraphNodeHandle* from,
                                             const GraphNodeHandle* to, const GraphEdgeData* edge_data,
                                             std::size_t count) = 0;
    virtual Status graph_get_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) = 0;
    virtual Status graph_get_root_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) = 0;
    virtual Status graph_get_edges(GraphHandle graph, GraphNodeHandle* from, GraphNodeHandle* to,
                                   GraphEdgeData* edge_data, std::size_t* count) = 0;
    virtual Status graph_node_get_type(GraphNodeHandle node, GraphNodeType* type) = 0;
    virtual Status graph_node_get_dependencies(GraphNodeHandle node, GraphNodeHandle* dependencies,
                                               GraphEdgeData* edge_data, std::size_t* count) = 0;
    virtual Status graph_node_get_dependent_nodes(GraphNodeHandle node, GraphNodeHandle* dependents,
                                                  GraphEdgeData* edge_data, std::size_t* count) = 0;
    virtual Status graph_node_get_params(GraphNodeHandle node, GraphNodeParameters* parameters) = 0;
    virtual Status graph_node_set_params(GraphNodeHandle node, GraphNodeParameters* parameters) = 0;
    virtual Status graph_node_find_in_clone(GraphNodeHandle* node, GraphNodeHandle original,
                                            GraphHandle clone) = 0;
    virtual Status graph_kernel_node_set_attribute(GraphNodeHandle node, LaunchAttributeId id,
                                                   const LaunchAttribute* value) = 0;
    virtual Status graph_kernel_node_get_attribute(GraphNodeHandle node, LaunchAttributeId id,
                                                   LaunchAttribute* value) = 0;
    virtual Status graph_kernel_node_copy_attributes(GraphNodeHandle destination, GraphNodeHandle source) = 0;
    virtual Status graph_conditional_handle_create(ConditionalHandle* handle, GraphHandle graph,
                                                   unsigned default_value, unsigned flags) = 0;
    virtual Status graph_debug_dot_print(GraphHandle graph, const char* path, unsigned flags) = 0;

    // Executables
    virtual Status graph_instantiate(
        GraphExecHandle* exec, GraphHandle graph,
        GraphInstantiateParameters* parameters) = 0;  // cudaGraphInstantiateWithParams
    virtual Status graph_exec_destroy(GraphExecHandle exec) = 0;
    virtual Status graph_exec_get_flags(GraphExecHandle exec, unsigned long long* flags) = 0;
    virtual Status graph_exec_update(GraphExecHandle exec, GraphHandle graph, GraphExecUpdateInfo* info) = 0;
    virtual Status graph_exec_node_set_params(GraphExecHandle exec, GraphNodeHandle node,
                                              GraphNodeParameters* parameters) = 0;
    virtual Status graph_node_set_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned enabled) = 0;
    virtual Status graph_node_get_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned* enabled) = 0;
    virtual Status graph_upload(GraphExecHandle exec, StreamHandle stream) = 0;
    virtual Status graph_launch(GraphExecHandle exec, StreamHandle stream) = 0;

    // Operations without a CUDA runtime function.

    // Compiles CUDA C++ for the calling thread's device. A source that does not compile gives
    // Status::invalid_source, with the compiler's message in result->log. A missing compiler gives
    // Status::jit_compiler_not_found, with the list of places that were tried. A compilation that takes too
    // long gives Status::timeout.
    virtual Status compile(const CompileRequest& request, CompileResult* result) = 0;
    // Like launch_kernel, but counts memory accesses and waits for the kernel. `counting` is the same kernel
    // from a library that was compiled from the same request with `counted` set. Status::not_supported on
    // real devices.
    virtual Status launch_counted(const LaunchConfig& config, KernelHandle kernel, void** arguments,
                                  KernelHandle counting, LaunchCounts* counts) = 0;
    // Adds a simulated device of the named model. Status::not_supported on real devices.
    virtual Status add_device(int* device, const char* model) = 0;
    // The host's time as this runtime sees it, in nanoseconds from an arbitrary start.
    virtual std::int64_t clock_ns() = 0;
    // Advances the host's time. Allowed inside a host function.
    virtual void host_work(std::int64_t nanoseconds) = 0;
    // Details beyond the status code about the calling thread's last failed call or a lost device: the
    // kernel, block, thread, address and source line of a fault; the amount of memory that was available.
    // Empty if there are none.
    virtual std::string error_detail() = 0;
    // Called when the process is about to exit: run no more host functions and wait for nothing. Idempotent.
    virtual void shut_down() noexcept = 0;
    // The pending work on all devices of the runtime, in the order in which it was enqueued, as far as the
    // runtime knows. A GPU's runtime knows nothing. The call does not wait and changes nothing: neither the
    // simulated time, nor a capture, nor the last error. It may come from any thread, also inside a host
    // function.
    virtual PendingList pending() = 0;
};

}  // namespace cuscope
