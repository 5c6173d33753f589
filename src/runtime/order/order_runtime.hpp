// Tells the check of the order of commands what the program does, call by call. It changes nothing: every
// call goes to the wrapped runtime. While no check runs, it only forwards.
#pragma once

#include "runtime/forwarding_runtime.hpp"
#include "runtime/order/checker.hpp"
#include "runtime/order/graphs.hpp"
#include "runtime/order/operations.hpp"

namespace cuscope::order {

class OrderRuntime final : public ForwardingRuntime {
  public:
    explicit OrderRuntime(std::shared_ptr<Runtime> under)
        : ForwardingRuntime(std::move(under)), graphs_(ForwardingRuntime::under()) {}

    // A stream that the program has made before the check.
    void introduce(StreamHandle stream, unsigned flags, unsigned long long id, int device);
    void forget_all() { graphs_.clear(); }

    Status device_synchronize() override;
    Status device_reset() override;

    Status malloc(void** pointer, std::size_t bytes) override;
    Status free(void* pointer) override;
    Status malloc_async(void** pointer, std::size_t bytes, StreamHandle stream) override;
    Status free_async(void* pointer, StreamHandle stream) override;
    Status malloc_from_pool_async(void** pointer, std::size_t bytes, MemPoolHandle pool,
                                  StreamHandle stream) override;
    Status malloc_pitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) override;
    Status malloc_3d(PitchedPointer* pitched, Extent extent) override;
    Status malloc_managed(void** pointer, std::size_t bytes, unsigned flags) override;
    Status host_alloc(void** pointer, std::size_t bytes, unsigned flags) override;
    Status free_host(void* pointer) override;
    Status host_register(void* pointer, std::size_t bytes, unsigned flags) override;
    Status host_unregister(void* pointer) override;

    Status memcpy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind) override;
    Status memcpy_async(void* destination, const void* source, std::size_t bytes, MemcpyKind kind,
                        StreamHandle stream) override;
    Status memcpy_2d(void* destination, std::size_t destination_pitch, const void* source,
                     std::size_t source_pitch, std::size_t width, std::size_t height,
                     MemcpyKind kind) override;
    Status memcpy_2d_async(void* destination, std::size_t destination_pitch, const void* source,
                           std::size_t source_pitch, std::size_t width, std::size_t height, MemcpyKind kind,
                           StreamHandle stream) override;
    Status memcpy_3d(const Memcpy3DParameters* parameters) override;
    Status memcpy_3d_async(const Memcpy3DParameters* parameters, StreamHandle stream) override;
    Status memcpy_peer(void* destination, int destination_device, const void* source, int source_device,
                       std::size_t bytes) override;
    Status memcpy_peer_async(void* destination, int destination_device, const void* source, int source_device,
                             std::size_t bytes, StreamHandle stream) override;
    Status memcpy_batch_async(void* const* destinations, const void* const* sources, const std::size_t* sizes,
                              std::size_t count, const MemcpyAttributes* attributes,
                              const std::size_t* attribute_indices, std::size_t attribute_count,
                              StreamHandle stream) override;
    Status memset(void* pointer, int value, std::size_t bytes) override;
    Status memset_async(void* pointer, int value, std::size_t bytes, StreamHandle stream) override;
    Status memset_2d(void* pointer, std::size_t pitch, int value, std::size_t width,
                     std::size_t height) override;
    Status memset_2d_async(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                           StreamHandle stream) override;
    Status memset_3d(PitchedPointer pitched, int value, Extent extent) override;
    Status memset_3d_async(PitchedPointer pitched, int value, Extent extent, StreamHandle stream) override;
    Status memset_d2d16_async(void* pointer, std::size_t pitch, unsigned short value, std::size_t width,
                              std::size_t height, StreamHandle stream) override;
    Status memset_d2d32_async(void* pointer, std::size_t pitch, unsigned value, std::size_t width,
                              std::size_t height, StreamHandle stream) override;

    Status stream_create_with_priority(StreamHandle* stream, unsigned flags, int priority) override;
    Status stream_destroy(StreamHandle stream) override;
    Status stream_synchronize(StreamHandle stream) override;
    Status stream_query(StreamHandle stream) override;
    Status stream_wait_event(StreamHandle stream, EventHandle event, unsigned flags) override;
    Status launch_host_func(StreamHandle stream, HostFunction function, void* data) override;
    Status stream_write_value_32(StreamHandle stream, void* address, std::uint32_t value,
                                 unsigned flags) override;
    Status stream_write_value_64(StreamHandle stream, void* address, std::uint64_t value,
                                 unsigned flags) override;
    Status stream_wait_value_32(StreamHandle stream, void* address, std::uint32_t value,
                                unsigned flags) override;
    Status stream_wait_value_64(StreamHandle stream, void* address, std::uint64_t value,
                                unsigned flags) override;
    Status stream_batch_mem_op(StreamHandle stream, unsigned count, const MemoryOperation* operations,
                               unsigned flags) override;
    Status signal_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                            const ExternalSemaphoreParameters* parameters, unsigned count,
                                            StreamHandle stream) override;
    Status wait_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                          const ExternalSemaphoreParameters* parameters, unsigned count,
                                          StreamHandle stream) override;

    Status event_create_with_flags(EventHandle* event, unsigned flags) override;
    Status event_destroy(EventHandle event) override;
    Status event_record_with_flags(EventHandle event, StreamHandle stream, unsigned flags) override;
    Status event_query(EventHandle event) override;
    Status event_synchronize(EventHandle event) override;
    Status event_elapsed_time(float* milliseconds, EventHandle start, EventHandle end) override;

    Status launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) override;
    Status launch_counted(const LaunchConfig& config, KernelHandle kernel, void** arguments,
                          KernelHandle counting, LaunchCounts* counts) override;

    Status graph_clone(GraphHandle* clone, GraphHandle original) override;
    Status graph_add_node(GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* dependencies,
                          const GraphEdgeData* edge_data, std::size_t count,
                          GraphNodeParameters* parameters) override;
    Status graph_destroy_node(GraphNodeHandle node) override;
    Status graph_node_set_params(GraphNodeHandle node, GraphNodeParameters* parameters) override;
    Status graph_instantiate(GraphExecHandle* exec, GraphHandle graph,
                             GraphInstantiateParameters* parameters) override;
    Status graph_exec_destroy(GraphExecHandle exec) override;
    Status graph_exec_update(GraphExecHandle exec, GraphHandle graph, GraphExecUpdateInfo* info) override;
    Status graph_exec_node_set_params(GraphExecHandle exec, GraphNodeHandle node,
                                      GraphNodeParameters* parameters) override;
    Status graph_node_set_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned enabled) override;
    Status graph_launch(GraphExecHandle exec, StreamHandle stream) override;

  protected:
    Status around(std::string_view, const StreamHandle*, const Forward& forward) override {
        return forward();
    }

  private:
    static bool watched() { return checking(); }
    StreamKey key_of(StreamHandle stream);
    void know(const StreamKey& key, StreamHandle stream);
    bool is_captured(StreamHandle stream);
    // Enqueues the work of a call that has succeeded, or notes the node that it has become. `waits`: the call
    // has waited for it.
    void enqueue(StreamHandle stream, Work work, bool waits = false);
    void note_node(StreamHandle stream, Work work);
    Status copy(Status status, StreamHandle stream, CopyWork work, bool blocking);
    Status set(Status status, StreamHandle stream, const void* pointer, std::size_t pitch, std::size_t width,
               std::size_t height, std::size_t depth = 1, std::size_t slice_rows = 0);
    Status wait_value(Status status, StreamHandle stream, void* address, unsigned bytes);
    Status write_value(Status status, StreamHandle stream, void* address, unsigned bytes);
    template <class Call>
    Status release(void* pointer, const char* name, bool waits, const Call& call);
    int current_device();

    Graphs graphs_;
};

}  // namespace cuscope::order
