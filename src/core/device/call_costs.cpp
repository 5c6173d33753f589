#include "core/device/call_costs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/device/devices.hpp"
#include "core/stream/stream.hpp"

namespace cuscope::core {
namespace {

constexpr std::size_t allocated_bytes = std::size_t{1} << 20, copied_bytes = 4096,
                      set_bytes = std::size_t{64} << 10;
constexpr int many = 64, few = 8;  // calls between two looks at the clock
constexpr int rounds_on_gpu = 9;
constexpr std::array<int, 2> graph_sizes{1, 33}, batch_sizes{1, 17};  // nodes; memory operations

void do_nothing(void*) {}

class Calls {
  public:
    Calls(const Kernel& kernel, const Stream& stream)
        : device_(stream.device()),
          runtime_(device_.own_runtime()),
          kernel_(kernel.handle()),
          stream_(stream.handle()),
          rounds_(device_.simulated() ? 1 : rounds_on_gpu) {
        check(runtime_.malloc(&memory_, allocated_bytes), "cudaMalloc");
        check(runtime_.host_alloc(&host_, allocated_bytes, 0), "cudaHostAlloc");
        for (EventHandle& event : events_) {
            check(runtime_.event_create_with_flags(&event, flags::event_default), "cudaEventCreate");
        }
    }
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;
    ~Calls() {
        static_cast<void>(runtime_.stream_synchronize(stream_));
        for (const EventHandle event : events_) {
            if (event != nullptr) static_cast<void>(runtime_.event_destroy(event));
        }
        if (host_ != nullptr) static_cast<void>(runtime_.free_host(host_));
        if (memory_ != nullptr) static_cast<void>(runtime_.free(memory_));
    }

    std::map<std::string, double> measure() {
        streams_and_events();
        memory();
        work();
        graphs();
        memory_operations();
        return std::move(costs_);
    }

  private:
    void check(Status status, const char* call) { device_.check(status, call); }

    // Nanoseconds a call: the median of several rounds of `count` calls each. The stream is idle before a
    // round. False: the device does not support the call.
    template <class Call>
    bool time(double* cost, const char* name, int count, const Call& call) {
        std::vector<double> times;
        for (int round = 0; round < rounds_; ++round) {
            check(runtime_.stream_synchronize(stream_), "cudaStreamSynchronize");
            const std::int64_t begin = runtime_.trace_clock_ns();
            Status status = Status::success;
            for (int i = 0; i < count && status == Status::success; ++i) status = call(i);
            times.push_back(static_cast<double>(runtime_.trace_clock_ns() - begin) / count);
            if (status == Status::not_supported) {
                static_cast<void>(runtime_.get_last_error());
                return false;
            }
            if (status != Status::success) device_.fail(status, name, {}, {});
        }
        const auto middle = times.begin() + rounds_ / 2;
        std::nth_element(times.begin(), middle, times.end());
        *cost = *middle;
        return true;
    }
    template <class Call>
    bool time(const char* name, int count, const Call& call) {
        double cost = 0;
        if (!time(&cost, name, count, call)) return false;
        costs_[name] = cost;
        return true;
    }
    // A call that makes something, and the call that ends it.
    template <class Handle, class Make, class End>
    void time_pair(const char* make_name, const char* end_name, int count, const Make& make, const End& end) {
        // Rounds of both, so that no more than `count` of the things exist at a time.
        std::vector<Handle> made(static_cast<std::size_t>(count));
        std::vector<double> makes, ends;
        const int rounds = std::exchange(rounds_, 1);
        for (int round = 0; round < rounds; ++round) {
            double cost = 0;
            const auto at = [&](int i) -> Handle& { return made[static_cast<std::size_t>(i)]; };
            if (!time(&cost, make_name, count, [&](int i) { return make(&at(i)); })) break;
            makes.push_back(cost);
            time(&cost, end_name, count, [&](int i) { return end(at(i)); });
            ends.push_back(cost);
        }
        rounds_ = rounds;
        if (makes.empty()) return;
        for (auto& [name, times] : {std::pair{make_name, &makes}, std::pair{end_name, &ends}}) {
            std::nth_element(times->begin(), times->begin() + rounds / 2, times->end());
            costs_[name] = (*times)[static_cast<std::size_t>(rounds / 2)];
        }
    }

    // The costs of calls with two numbers of parts: of a call without parts, and of one part.
    void split(const char* whole, const char* part, const std::array<int, 2>& parts,
               const std::array<double, 2>& costs) {
        const double each = std::max(0.0, (costs[1] - costs[0]) / (parts[1] - parts[0]));
        costs_[part] = each;
        costs_[whole] = std::max(0.0, costs[0] - each * parts[0]);
    }

    void streams_and_events() {
        time_pair<StreamHandle>(
            "stream_create", "stream_destroy", few,
            [&](StreamHandle* made) {
                return runtime_.stream_create_with_priority(made, flags::stream_non_blocking, 0);
            },
            [&](StreamHandle stream) { return runtime_.stream_destroy(stream); });
        time_pair<EventHandle>(
            "event_create", "event_destroy", many,
            [&](EventHandle* made) { return runtime_.event_create_with_flags(made, flags::event_default); },
            [&](EventHandle event) { return runtime_.event_destroy(event); });
        time("event_record", many,
             [&](int) { return runtime_.event_record_with_flags(events_[0], stream_, 0); });
        time("stream_wait", many, [&](int) { return runtime_.stream_wait_event(stream_, events_[0], 0); });
        check(runtime_.event_record_with_flags(events_[1], stream_, 0), "cudaEventRecord");
        check(runtime_.stream_synchronize(stream_), "cudaStreamSynchronize");
        time("synchronize", many, [&](int) { return runtime_.stream_synchronize(stream_); });
        time("stream_query", many, [&](int) { return runtime_.stream_query(stream_); });
        time("event_query", many, [&](int) { return runtime_.event_query(events_[1]); });
        time("elapsed_time", many, [&](int) {
            float milliseconds = 0;
            return runtime_.event_elapsed_time(&milliseconds, events_[0], events_[1]);
        });
        time("other", many, [&](int) {
            unsigned flags = 0;
            return runtime_.stream_get_flags(stream_, &flags);
        });
    }

    void memory() {
        time_pair<void*>(
            "malloc", "free", few, [&](void** made) { return runtime_.malloc(made, allocated_bytes); },
            [&](void* pointer) { return runtime_.free(pointer); });
        time_pair<void*>(
            "host_alloc", "free_host", few,
            [&](void** made) { return runtime_.host_alloc(made, allocated_bytes, 0); },
            [&](void* pointer) { return runtime_.free_host(pointer); });
        time_pair<void*>(
            "malloc_async", "free_async", few,
            [&](void** made) { return runtime_.malloc_async(made, allocated_bytes, stream_); },
            [&](void* pointer) { return runtime_.free_async(pointer, stream_); });
    }

    void work() {
        LaunchConfig config;
        config.grid = config.block = {1, 1, 1};
        config.stream = stream_;
        void* no_arguments[] = {nullptr};
        time("launch", many, [&](int) { return runtime_.launch_kernel(config, kernel_, no_arguments); });
        time("memcpy_async", many, [&](int) {
            return runtime_.memcpy_async(memory_, host_, copied_bytes, MemcpyKind::host_to_device, stream_);
        });
        // The host launches a kernel for a larger memset, which takes longer.
        time("memset_async", many, [&](int) { return runtime_.memset_async(memory_, 0, 1, stream_); });
        time("device_copy", many, [&](int) { return runtime_.memset_async(memory_, 0, set_bytes, stream_); });
        costs_["device_copy"] = std::max(0.0, costs_["device_copy"] - costs_["memset_async"]);
        time("host_function", many,
             [&](int) { return runtime_.launch_host_func(stream_, do_nothing, nullptr); });
    }

    void graphs() {
        std::array<double, 2> launch{}, instantiate{};
        for (std::size_t i = 0; i < graph_sizes.size(); ++i) {
            GraphHandle graph = nullptr;
            check(runtime_.graph_create(&graph, 0), "cudaGraphCreate");
            void* no_arguments[] = {nullptr};
            GraphNodeHandle last = nullptr;
            for (int n = 0; n < graph_sizes[i]; ++n) {
                KernelNodeParameters node;
                node.kernel = kernel_;
                node.grid = node.block = {1, 1, 1};
                node.arguments = no_arguments;
                GraphNodeParameters parameters = node;
                const GraphNodeHandle before = last;
                check(runtime_.graph_add_node(&last, graph, &before, nullptr, n > 0 ? 1 : 0, &parameters),
                      "cudaGraphAddNode");
            }
            GraphExecHandle made = nullptr;
            time(&instantiate[i], "cudaGraphInstantiate", 1, [&](int) {
                if (made != nullptr) static_cast<void>(runtime_.graph_exec_destroy(made));
                GraphInstantiateParameters parameters;
                return runtime_.graph_instantiate(&made, graph, &parameters);
            });
            check(runtime_.graph_launch(made, stream_), "cudaGraphLaunch");  // the first one uploads it
            time(&launch[i], "cudaGraphLaunch", few,
                 [&](int) { return runtime_.graph_launch(made, stream_); });
            check(runtime_.stream_synchronize(stream_), "cudaStreamSynchronize");
            static_cast<void>(runtime_.graph_exec_destroy(made));
            static_cast<void>(runtime_.graph_destroy(graph));
        }
        split("graph_launch", "graph_launch_node", graph_sizes, launch);
        split("graph_instantiate", "graph_instantiate_node", graph_sizes, instantiate);
    }

    void memory_operations() {
        std::array<double, 2> batch{};
        for (std::size_t i = 0; i < batch_sizes.size(); ++i) {
            MemoryOperation write;
            write.type = MemoryOperationType::write_value_32;
            write.address = memory_;
            const std::vector<MemoryOperation> all(static_cast<std::size_t>(batch_sizes[i]), write);
            if (!time(&batch[i], "cuStreamBatchMemOp", few, [&](int) {
                    return runtime_.stream_batch_mem_op(stream_, static_cast<unsigned>(all.size()),
                                                        all.data(), 0);
                })) {
                return;
            }
        }
        split("memory_operations", "memory_operation", batch_sizes, batch);
    }

    Device& device_;
    Runtime& runtime_;
    KernelHandle kernel_;
    StreamHandle stream_;
    int rounds_;
    void* memory_ = nullptr;
    void* host_ = nullptr;
    std::array<EventHandle, 2> events_{};
    std::map<std::string, double> costs_;
};

}  // namespace

std::map<std::string, double> measure_call_costs(const Kernel& kernel, const StreamPtr& stream) {
    const DeviceScope scope(stream->device());
    return Calls(kernel, *stream).measure();
}

}  // namespace cuscope::core
