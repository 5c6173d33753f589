// A device model: the properties of a simulated device and how long things take on it. Data, and the
// arithmetic that follows from it alone; when something happens is the timeline's affair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/types.hpp"

namespace cuscope::host {

// What a call of the runtime costs the host that makes it, in nanoseconds.
struct CallCosts {
    std::int64_t launch, event_record, stream_wait, stream_query, event_query, stream_create, stream_destroy,
        event_create, event_destroy, malloc, free, malloc_async, free_async, host_alloc, free_host,
        memcpy_async, memset_async, host_function, synchronize, elapsed_time, other, graph_launch,
        graph_launch_node, graph_instantiate, graph_instantiate_node, memory_operations, memory_operation;
};

struct DeviceModel {
    // Of a thread: a simulated kernel has none to count, and so many never limit how many blocks there are.
    static constexpr int assumed_registers = 32;

    std::string name;             // what it is asked for by: "h200"
    DeviceProperties properties;  // total_global_memory is that of the real device
    CallCosts costs;

    // Bytes per nanosecond. On the device itself: bytes read; as many are written at the same time.
    double host_to_device_rate, device_to_host_rate;
    double pageable_host_to_device_rate, pageable_device_to_host_rate;
    double device_to_device_rate, memset_rate;
    double kernel_rate;  // of the bytes of a kernel's array arguments
    double link_rate;    // to and from another device; between two, the slower link counts

    std::int64_t submit_latency_ns;       // from the host's call until the device sees a command
    std::int64_t copy_latency_ns;         // before the first byte, between host and device
    std::int64_t device_copy_latency_ns;  // the same on the device: copies and memsets
    std::int64_t kernel_latency_ns;       // a kernel's start-up, before its first byte
    std::int64_t minimum_kernel_ns;       // no kernel is over sooner, start-up included
    std::int64_t graph_start_ns;          // from a graph's turn in its stream to its first nodes
    std::int64_t graph_kernel_ns;         // minimum_kernel_ns, of a kernel in a graph
    std::int64_t memory_operations_ns;    // a batch of them, beside what each takes
    std::int64_t write_value_ns, wait_value_ns, memory_barrier_ns;
    std::int64_t host_function_ns;  // around a host function that does nothing
    std::int64_t wake_up_ns;        // from a completion to the host that waited for it

    int copy_engines;           // 1: shared by both directions; 2 and more: one a direction
    int hardware_queues;        // streams are mapped onto them round-robin
    bool separate_copy_queues;  // one queue a kind of engine, in issue order, instead of queues for streams
    bool signal_delay;          // the completion of back-to-back kernels is signalled after the last of them
    bool concurrent_kernels;
    // In which a cluster of blocks has to find its place; empty: there are no clusters.
    std::vector<int> multiprocessor_groups{};
    int resident_grids;  // kernels on the device at a time
    int least_priority = 0, greatest_priority = -5;
};

// Null if there is no such model.
const DeviceModel* find_device_model(std::string_view name);
std::vector<std::string> device_model_names();

// How many blocks of one kernel a multiprocessor holds; 0 if it cannot hold one.
int blocks_per_multiprocessor(const DeviceModel& model, unsigned threads_per_block,
                              std::size_t shared_bytes_per_block, int registers_per_thread);

// How much shared memory each of so many blocks of a multiprocessor has, as occupancy calls say it: what is
// reserved for every block is not taken off.
std::size_t shared_bytes_for_each(const DeviceModel& model, int blocks);

// How many clusters the device holds at once, where a multiprocessor holds so many of the kernel's blocks. A
// cluster lies within one of the groups that the multiprocessors are built in.
int clusters_on_device(const DeviceModel& model, int blocks_per_multiprocessor, int cluster_blocks);

// How much of the second-level cache may be set aside for accesses that persist, and in which steps.
std::size_t persisting_l2_unit(const DeviceModel& model);
std::size_t persisting_l2_bytes(const DeviceModel& model);

// False if the model has no such attribute.
bool device_attribute(const DeviceModel& model, DeviceAttribute attribute, std::size_t total_memory,
                      int* value);

}  // namespace cuscope::host
