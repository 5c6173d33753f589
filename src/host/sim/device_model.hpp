// A device model: the properties of a simulated device and the durations of its operations. Only data, and
// arithmetic that needs nothing else. Timeline decides when commands run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/types.hpp"

namespace cuscope::host {

// The time that each runtime call costs the calling host thread, in nanoseconds.
struct CallCosts {
    std::int64_t launch, event_record, stream_wait, stream_query, event_query, stream_create, stream_destroy,
        event_create, event_destroy, malloc, free, malloc_async, free_async, host_alloc, free_host,
        memcpy_async, memset_async, device_copy, host_function, synchronize, elapsed_time, other,
        graph_launch, graph_launch_node, graph_instantiate, graph_instantiate_node, memory_operations,
        memory_operation;
};

struct DeviceModel {
    // Registers per thread. A simulated kernel has no register count. With 32 a thread, registers never limit
    // the number of blocks.
    static constexpr int assumed_registers = 32;

    std::string name;             // the name to select it by: "h200"
    DeviceProperties properties;  // total_global_memory is the real device's
    CallCosts costs;

    // Bytes per nanosecond. device_to_device_rate: the bytes read, while as many are written at the same
    // time.
    double host_to_device_rate, device_to_host_rate;
    double pageable_host_to_device_rate, pageable_device_to_host_rate;
    double device_to_device_rate, memset_rate;
    // The part of the two rates between host and device that is left while page-locked copies run in both
    // directions at once.
    double both_directions_rate = 1;
    // Copies on the device that read and write at most cached_bytes stay in the L2 cache, and go at
    // cache_rate (bytes per nanosecond, read and written). At one and a half times as many bytes, nothing
    // stays there.
    double cache_rate = 1e6;
    std::int64_t cached_bytes = 0;
    double kernel_rate;  // for the bytes of a kernel's array arguments
    double link_rate;    // to and from another device; the slower of two links counts

    std::int64_t submit_latency_ns;  // from the host's call until the device sees the command
    // A copy between host and device: the lead passes before it gets its engine, while the engine may still
    // be busy with another copy; the latency, before the first byte, occupies the engine; the finish passes
    // from the last byte until the stream goes on, while the engine may already be busy with another copy.
    std::int64_t copy_lead_ns = 0, copy_latency_ns, copy_finish_ns = 0;
    // Added to the lead of a copy of at least this many bytes; less in proportion for smaller copies.
    std::int64_t copy_ramp_ns = 0, copy_ramp_bytes = 1;
    // Copies of page-locked memory of at most this many bytes have latencies of their own, from start to end.
    // 0: no such copies.
    std::int64_t small_copy_bytes = 0, small_to_device_ns = 0, small_to_host_ns = 0;
    // Copies on the device and memsets: before the first byte, and after the last byte, when the engine is
    // free.
    std::int64_t device_copy_latency_ns, device_copy_finish_ns = 0;
    // A memset of one byte. Up to this many bytes, the time rises to that of other memsets. 0: no such
    // memsets.
    std::int64_t small_memset_bytes = 0, small_memset_ns = 0;
    std::int64_t kernel_latency_ns;      // a kernel's start-up, before its first byte
    std::int64_t minimum_kernel_ns;      // the shortest kernel, start-up included
    std::int64_t graph_start_ns;         // from a graph's turn in its stream to its first nodes
    std::int64_t graph_kernel_ns;        // minimum_kernel_ns for a kernel in a graph
    std::int64_t graph_copy_latency_ns;  // device_copy_latency_ns for a memset or a device copy in a graph
    std::int64_t memory_operations_ns;   // a batch's own time, besides that of each operation
    std::int64_t write_value_ns, wait_value_ns, memory_barrier_ns;
    std::int64_t host_function_ns;  // overhead of an empty host function
    std::int64_t wake_up_ns;        // from a completion to the host that waited for it

    int copy_engines;           // 1: shared by both directions; 2 or more: one for each direction
    int hardware_queues;        // streams are mapped onto them round-robin
    bool separate_copy_queues;  // a queue for each kind of engine, in issue order, not for streams
    bool signal_delay;          // back-to-back kernels signal completion after the last one
    bool concurrent_kernels;
    // The groups of multiprocessors. A cluster has to fit into one group; empty: no clusters.
    std::vector<int> multiprocessor_groups{};
    int resident_grids;  // most kernels on the device at a time
    int least_priority = 0, greatest_priority = -5;
};

// Null if there is no such model.
const DeviceModel* find_device_model(std::string_view name);
std::vector<std::string> device_model_names();

// The number of blocks of one kernel that fit on a multiprocessor; 0 if none does.
int blocks_per_multiprocessor(const DeviceModel& model, unsigned threads_per_block,
                              std::size_t shared_bytes_per_block, int registers_per_thread);

// The shared memory available to each of this many blocks on a multiprocessor, as occupancy calls report it:
// the memory reserved for every block is not subtracted.
std::size_t shared_bytes_for_each(const DeviceModel& model, int blocks);

// The part of a multiprocessor's memory that a kernel needs as shared memory, and the part that an empty
// multiprocessor gives it. Both are 0 on devices that do not divide this memory for each kernel.
struct SharedMemoryNeed {
    std::int32_t bytes = 0, carveout = 0;
};

// For so many blocks of the kernel on a multiprocessor. `preferred`: per cent,
// cudaFuncAttributePreferredShared- MemoryCarveout; -1: no preference.
SharedMemoryNeed shared_memory_need(const DeviceModel& model, std::int64_t blocks_on_a_multiprocessor,
                                    std::size_t shared_bytes_per_block, int preferred);

// The number of clusters that fit on the device at once, given how many of the kernel's blocks fit on a
// multiprocessor. A cluster lies within one of the groups that the multiprocessors are built in.
int clusters_on_device(const DeviceModel& model, int blocks_per_multiprocessor, int cluster_blocks);

// The part of the L2 cache that may be set aside for persisting accesses, and its step size.
std::size_t persisting_l2_unit(const DeviceModel& model);
std::size_t persisting_l2_bytes(const DeviceModel& model);

// False if the model has no such attribute.
bool device_attribute(const DeviceModel& model, DeviceAttribute attribute, std::size_t total_memory,
                      int* value);

}  // namespace cuscope::host
