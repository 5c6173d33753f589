// Measures the work that the wrapped runtime cannot record, for traces:
// - All work, by events around each call, if the wrapped runtime records none: see work_timer.hpp. Such a
// span
//   begins when the work before it in the stream has ended. So it includes the time in which the work waits
//   for an engine, and in an idle stream the time between the calls of the first event and of the work.
// - Otherwise, if CUPTI records, memsets and host functions, which it does not record here.
// Host functions are measured with the host's clock, where they begin and end.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/forwarding_runtime.hpp"
#include "runtime/work_timer.hpp"

namespace cuscope {

// Lives as long as the process: a host function may end at any time.
class MeasuringRuntime final : public ForwardingRuntime {
  public:
    // `always`: measures although the wrapped runtime records, too. Tests compare both.
    explicit MeasuringRuntime(std::shared_ptr<Runtime> under, bool always = false)
        : ForwardingRuntime(std::move(under)), always_(always), timer_(this->under()) {}

    WorkRecording set_recorder(ActivityRecorder* recorder) override;
    std::string flush_records(bool last) override;
    // The device was reset: the events on it are gone.
    void forget_device(int ordinal);

    Status launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) override;
    Status graph_launch(GraphExecHandle exec, StreamHandle stream) override;
    Status launch_host_func(StreamHandle stream, HostFunction function, void* data) override;
    Status library_unload(LibraryHandle library) override;
    Status device_reset() override;

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

  protected:
    Status around(std::string_view, const StreamHandle*, const Forward& forward) override {
        return forward();
    }

  private:
    struct HostCall;
    struct KernelFacts {
        std::uint32_t name = 0;
        std::uint32_t static_shared_bytes = 0;
    };

    // Makes the call in the stream with events around it. `describe` completes the record after the call.
    // Whatever fails in measuring, the call is made: then its work has no span, and the trace counts it.
    template <class Call, class Describe>
    Status measured(StreamHandle stream, ActivityKind kind, const Call& call, const Describe& describe);
    template <class Call>
    Status measured_copy(StreamHandle stream, std::size_t bytes, MemcpyKind kind, const void* destination,
                         const void* source, const Call& call);
    template <class Call>
    Status measured_set(StreamHandle stream, std::size_t bytes, const Call& call);
    void describe_copy(WorkRecord* record, MemcpyKind kind, const void* destination, const void* source);
    void describe_3d(WorkRecord* record, const Memcpy3DParameters& parameters);
    KernelFacts facts_of(KernelHandle kernel);
    KernelFacts look_up(KernelHandle kernel);
    void forget_kernels();
    MemoryType type_of(const void* pointer);
    static void run_host_call(void* data);

    const bool always_;
    std::atomic<ActivityRecorder*> recorder_{nullptr};
    std::atomic<bool> by_events_{false};
    std::atomic<bool> memsets_by_events_{false};
    WorkTimer timer_;
    std::mutex mutex_;  // guards the kernels; not held during calls of the wrapped runtime
    std::unordered_map<KernelHandle, KernelFacts> kernels_;
    std::atomic<std::uint64_t> forgotten_{1};  // how often the kernels were forgotten
};

}  // namespace cuscope
