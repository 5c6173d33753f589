// The runtime contract without a GPU: a simulated host with simulated devices. Their memory is real memory of
// the process, and their kernels run on the CPU. Timeline decides when each command starts and ends in
// simulated time. Effects does the commands' work in real time. This class holds the rules of the runtime's
// calls: handles, errors, argument checks, and which calls wait for which commands.
//
// One lock guards everything. It is never held while an effect runs or while the interrupt check is called.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "cuscope_simt/texture_object.h"
#include "host/counting/counting.hpp"
#include "host/effects/effects.hpp"
#include "host/executor/heap.hpp"
#include "host/executor/image.hpp"
#include "host/memory/allocations.hpp"
#include "host/memory/managed.hpp"
#include "host/memory/page_locked_chunks.hpp"
#include "host/memory/pool.hpp"
#include "host/runtime/lock.hpp"
#include "host/sim/timeline.hpp"
#include "runtime/runtime.hpp"

namespace cuscope::host {

struct Box;

constexpr unsigned lmem_resize_to_max = 0x10;  // a device flag: cudaDeviceLmemResizeToMax

class HostRuntime final : public Runtime {
  public:
    HostRuntime();
    ~HostRuntime() override;  // defined where Graphs is a complete type

    std::string kind() const override { return "host"; }
    bool simulated() const override { return true; }

#define CUSCOPE_METHOD(method, parameters, arguments) Status method parameters override;
#include "runtime/runtime_methods.inc"
#undef CUSCOPE_METHOD

    std::int64_t clock_ns() override;
    void host_work(std::int64_t nanoseconds) override;
    std::string error_detail() override;
    PendingList pending() override;
    void shut_down() noexcept override;

  private:
    // Graphs and active captures: see graph.hpp.
    struct Capture;
    struct Graph;
    struct GraphNode;
    struct GraphExec;
    struct GraphCondition;
    struct GraphStep;
    struct GraphSteps;
    struct GraphPlan;
    struct GraphMemory;
    struct Graphs;
    // Graphs that kernels launch: see graph_device_launch.hpp.
    struct DeviceGraph;
    struct LaunchEnvironment;
    class KernelLauncher;

    struct Stream : SimStream {
        unsigned flags = 0;
        unsigned long long id = 0;
        unsigned long long thread = 0;  // this is that thread's per-thread default stream; 0: it is not one
        // The attributes that were set. The priority is a member of SimStream.
        std::vector<LaunchAttribute> attributes;
        // While the stream is captured: the nodes that the next captured node depends on.
        Capture* capture = nullptr;
        std::vector<GraphNode*> tips;
        std::vector<GraphEdgeData> tip_edges;
    };
    struct Event {
        unsigned flags = 0;
        int device = 0;
        bool reset = false;  // the device was reset after the event was created
        CommandRef record;
        unsigned long long capture = 0;  // the capture of the last record; 0: not captured
        std::vector<GraphNode*> tips;
        std::vector<GraphEdgeData> tip_edges;
    };
    struct Kernel;
    // The settings that the attributes of a launch request.
    struct LaunchRequest {
        bool cooperative = false;
        Dim3 cluster{0, 0, 0}, preferred_cluster{0, 0, 0};  // all zero: not given
        std::optional<int> priority;
        bool overlaps = false;  // programmatic stream serialization
        Event* programmatic_event = nullptr;
        bool trigger_at_block_start = false;
        bool node = false;  // the launch is a graph node
        Event* completion_event = nullptr;
        Kernel* counted = nullptr;  // the kernel in the counting image; used with `counting`
        std::shared_ptr<simt::Counting> counting;
    };
    struct Library;
    // The settings that func_set_attribute changes.
    struct FunctionSettings {
        int max_dynamic_shared = -1;  // -1: not set
        int carveout = -1;            // per cent; -1: no preference
        Dim3 cluster{0, 0, 0};        // required size; all zero: none
        int cluster_scheduling_policy = 0;
        bool non_portable_cluster = false;
    };
    struct Kernel {
        Library* library;
        std::string lowered;
        std::map<int, FunctionSettings> settings;  // by device; only devices with a setting
    };
    struct Library {
        std::string image;
        std::map<int, std::shared_ptr<simt::Image>> instances;  // one for each device that uses it
        std::vector<std::unique_ptr<Kernel>> kernels;
    };
    // A CUDA array. Its elements are packed in row-major order.
    struct Array {
        ChannelFormat format;
        Extent extent;  // in elements; height and depth are 0 for axes that the array lacks
        unsigned flags = 0;
        int device = 0;
        std::size_t element = 0;  // bytes of one element
        std::byte* base = nullptr;
        bool is_level = false;  // a level of a mipmapped array, which owns the memory
    };
    struct MipmappedArray {
        int device = 0;
        std::byte* base = nullptr;
        std::vector<ArrayHandle> levels;
    };
    // The object behind the handle of a texture or a surface.
    struct TextureObject : cuscope_simt::Texture {
        std::vector<cuscope_simt::Level> own_levels;
    };
    struct Device {
        const DeviceModel* model = nullptr;
        std::size_t memory = 0;
        std::unique_ptr<DeviceArena> arena;
        Stream* legacy = nullptr;
        std::vector<std::unique_ptr<Stream>> streams;
        std::vector<std::unique_ptr<Stream>> destroyed;  // still have pending work
        std::vector<std::unique_ptr<Pool>> pools;        // the default pool is the first
        Pool* pool = nullptr;                            // the current pool
        Status lost = Status::success;                   // once set, every call returns it
        std::string lost_detail;
        unsigned flags = flags::device_map_host;
        std::map<int, std::size_t> limits;
        std::shared_ptr<simt::Heap> heap;
        int resets = 0;  // running device_reset calls; they abort kernels and waits on memory
        bool has_printed = false, has_allocated = false;  // a kernel that does so was launched
        std::vector<int> peers;
    };
    class KernelEffect;
    class HostFunctionEffect;
    class CopyEffect;
    class SetEffect;
    class MemoryOperationsEffect;
    class SemaphoresEffect;
    class ExternalSemaphore;
    // The prologue of every call: takes the lock, charges the cost, decides whether the call is refused.
    class Call;
    class LastErrorKept;
    class OnDevice;

    // The runtime's state for one thread.
    struct ThreadState {
        int device = 0;
        Status last = Status::success;
        std::string detail;
        unsigned long long id = 0;
        CaptureMode capture_mode = CaptureMode::global;
        bool in_host_function = false;
        Time host_function_time = 0;
        // linger() stores here how long this thread's latest NoWait scope may still wait.
        unsigned long long moment_of = 0;
        std::chrono::steady_clock::time_point moment_ends;
    };
    static ThreadState& thread();

    Status fail(Status status, std::string detail = {});
    Device& device() { return *devices_[thread().device]; }
    Status add_model(const DeviceModel& model, int* ordinal);

    Found<Stream> find_stream(StreamHandle handle);  // null: the handle is invalid
    Found<Event> find_event(EventHandle handle);
    Found<Kernel> find_kernel(KernelHandle handle);
    Found<Library> find_library(LibraryHandle handle);
    Status invalid_handle(const char* what);
    void sweep(Device& device);
    void release_unloaded();

    // Waits
    bool pass_stalled();
    Status wait_for(Lock& lock, Command* command);
    bool waits_outside(const Command* command, const Command* next,
                       std::chrono::steady_clock::duration real) const;
    Status wait_for_device(Lock& lock, int device);
    bool is_idle(int device);
    // For calls that give memory back, in place of wait_for_device(). Waits for one device; -1: for all
    // devices.
    Status wait_to_free(Lock& lock, int device);
    std::vector<CommandRef> last_of_device(int device);
    std::vector<CommandRef> last_of_stream(const Stream& stream);
    void catch_up(Lock& lock);
    bool drain(Lock& lock);
    bool is_done(Lock& lock, Command* command);
    Effect::Progress look(Command* command);  // polls a watching command
    bool is_ahead(const void* address) const;
    bool wait_slice(Lock& lock, Command* awaited);
    bool asked_to_end(Lock& lock);
    bool linger(Lock& lock, Command* awaited);
    void relieve(Lock& lock);
    void flush_printed(Lock& lock);
    void trim_pools(Device& device);
    void start_background();
    void background();
    bool starts(const Command* command);
    class PendingWalk;  // makes the list of pending commands
    void done(Command* command);
    void abort_kernels(int device);
    void lose(int device, Status status, std::string detail);

    // Commands
    Command* begin(Stream& stream, Engine engine, Role role = Role::effect);
    void commit(Command* command, Command* after = nullptr);
    Status check_box(const Box& box, const Extent& extent, const char* what, const Allocation** allocation);
    Status check_copy(const Box& destination, const Box& source, const Extent& extent, MemcpyKind kind,
                      const Allocation** to, const Allocation** from);
    // Options for make_copy(). `parameters` describe a copy that becomes a graph node; if null, they are
    // derived from the boxes.
    struct CopyRequest {
        bool synchronous = false, stage = false, node = false;
        bool peer = false;  // the call names both devices
        const Memcpy3DParameters* parameters = nullptr;
    };
    // Can the device access this memory in place? True for its own memory, the host's memory, managed memory,
    // and peer memory that it was given access to.
    bool reaches(int device, const Allocation& allocation) const;
    Status check_access(int device, const Allocation* to, const Allocation* from);
    Status make_copy(const Box& destination, const Box& source, const Extent& extent, MemcpyKind kind,
                     Stream& stream, const CopyRequest& request, Command** made, bool* wait);
    Status copy(Lock& lock, const Box& destination, const Box& source, const Extent& extent, MemcpyKind kind,
                Found<Stream> stream, const CopyRequest& request);
    // Translates the parameters of a three-dimensional copy to boxes. An extent of zero bytes has no boxes.
    Status boxes_of(const Memcpy3DParameters* parameters, Box* destination, Box* source, Extent* extent);
    Status copy_2d(Lock& lock, void* destination, std::size_t destination_pitch, const void* source,
                   std::size_t source_pitch, std::size_t width, std::size_t height, MemcpyKind kind,
                   Found<Stream> stream, bool synchronous);
    Status copy_3d(Lock& lock, const Memcpy3DParameters* parameters, Found<Stream> stream, bool synchronous);
    Status copy_peer(Lock& lock, void* destination, int destination_device, const void* source,
                     int source_device, std::size_t bytes, Found<Stream> stream, bool synchronous);
    Status make_set(const Box& box, std::uint32_t value, std::size_t element, const Extent& extent,
                    Stream& stream, Command** made);
    Status set(Lock& lock, const Box& box, std::uint32_t value, std::size_t element, const Extent& extent,
               Found<Stream> stream, bool synchronous = false);
    Status check_set_2d(const void* pointer, std::size_t pitch, std::size_t element, std::size_t width,
                        std::size_t height);
    Status set_2d(Lock& lock, void* pointer, std::size_t pitch, std::uint32_t value, std::size_t element,
                  std::size_t width, std::size_t height, Found<Stream> stream, bool synchronous = false);
    Status set_3d(Lock& lock, const PitchedPointer& pitched, int value, const Extent& extent,
                  Found<Stream> stream, bool synchronous);
    Status find_entry(KernelHandle handle, Kernel** kernel, std::shared_ptr<simt::Image>* image,
                      const cuscope_simt::KernelEntry** entry);
    FunctionSettings settings_of(const Kernel& kernel) const;  // for the current device
    int max_cluster_blocks(const Kernel& kernel) const;
    static std::map<int, std::size_t> first_limits(const DeviceModel& model);
    Status unknown_limit(Limit limit);
    Status check_attribute(const LaunchAttribute& attribute, LaunchAttributeId id);
    Status check_event(const LaunchAttribute& attribute, Event** event);
    void record_beside(Event* event, Stream& stream, Command* kernel, Timeline::Moment moment);
    Status read_attributes(const LaunchConfig& config, LaunchRequest* request);
    Status cluster_of(const LaunchConfig& config, const LaunchRequest& request, const Kernel& kernel,
                      const cuscope_simt::KernelEntry& entry, Dim3* cluster);
    Status check_launch(const LaunchConfig& config, Kernel& kernel, const cuscope_simt::KernelEntry& entry);
    // Launches a kernel in a stream. With `counting` set it runs the counting image and waits for the kernel.
    Status launch(Lock& lock, const LaunchConfig& config, KernelHandle kernel, void** arguments,
                  LaunchRequest request);
    void point(simt::Counting& counting, unsigned parameter, const void* value, std::size_t bytes);
    // Makes the command of a launch in a stream or of a kernel node.
    Status make_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments, Stream& stream,
                       LaunchRequest* request, Command** made);
    Status instance(Library& library, int device, std::shared_ptr<simt::Image>* image, Lock* lock = nullptr);
    int max_dynamic_shared(const Kernel& kernel, const cuscope_simt::KernelEntry& entry) const;
    Status out_of_memory(std::size_t bytes);
    static std::size_t held(const Allocation& allocation);  // bytes taken from the device's arena
    std::byte* allocate(Device& device, std::size_t bytes);
    // If there is no room, waits for the device and reclaims memory from its pools.
    Status allocate(Lock& lock, int device, std::size_t bytes, std::byte** base);
    Status malloc_from(Lock& lock, void** pointer, std::size_t bytes, Found<Pool> pool, Found<Stream> stream);
    Pool& pool_for_plain(int device, std::size_t bytes);
    Found<Pool> find_pool(MemPoolHandle handle);
    Found<Array> find_array(ArrayHandle handle);
    Found<MipmappedArray> find_mipmapped_array(MipmappedArrayHandle handle);
    Status check_array(const ChannelFormat& format, const Extent& extent, unsigned flags);
    Status allocate_array(Lock& lock, std::size_t bytes, std::byte** base);
    // `base_of` returns null once another thread has freed the array.
    Status free_array_memory(Lock& lock, const char* what, const std::function<std::byte*()>& base_of);
    Status make_array(Lock& lock, ArrayHandle* array, const ChannelFormat* format, const Extent& extent,
                      unsigned flags);
    Status check_resource(const ResourceDescription& resource, ChannelFormat* format);

    // Capture. A call that a capture does not allow invalidates that capture.
    Status spoil(Capture& capture, Status status, const std::string& detail);
    Status forbidden();  // for calls that may be unsafe while any stream is captured
    // Calls that name a stream check captures before their other arguments. A call that is refused in the
    // legacy default stream invalidates the captures of the device's blocking streams.
    Status admit_legacy(const Stream& stream);
    Status admit(const Stream& stream);  // for calls that may be captured, or that do not affect a capture
    Status admit_uncaptured(const Stream& stream, const char* detail);  // for calls that cannot be captured
    Status admit_pooled(const Stream& stream);  // for calls of the stream-ordered allocator
    Status inquire(const Stream& stream);       // for calls that query or synchronize a stream
    Status inquire(const Event& event);
    Status captured_event(const Event& event);  // for an event with a captured last record
    Status admit_awaited(Stream& stream, const Event* event, bool external);
    Status begin_capture(StreamHandle stream, CaptureMode mode, Graph* into,
                         const GraphNodeHandle* dependencies, const GraphEdgeData* edge_data,
                         std::size_t count);
    void leave_capture(Capture& capture);
    bool destroy_unless_captured(const void* graph);
    void join(Stream& stream, const std::vector<GraphNode*>& tips, const std::vector<GraphEdgeData>& edges);
    void add_captured(Stream& stream, std::unique_ptr<GraphNode> made);
    Status capture_wait(Stream& stream, Event& event, bool external);
    Status capture_record(Stream& stream, Event& event, EventHandle handle, bool external);
    void capture_external_wait(Stream& stream, EventHandle event);
    void capture_external_record(Stream& stream, EventHandle event);
    Status capture_copy(Stream& stream, const Box& destination, const Box& source, const Extent& extent,
                        MemcpyKind kind, const Memcpy3DParameters* parameters, Command* command);
    Status capture_set(Stream& stream, const Box& box, std::uint32_t value, std::size_t element,
                       const Extent& extent, Command* command);
    Status capture_kernel(Stream& stream, const LaunchConfig& config, KernelHandle kernel,
                          const LaunchRequest& request, Command* command);
    Status make_semaphores(const ExternalSemaphoreNodeParameters& parameters, bool wait, Stream& stream,
                           Command** made);
    Status enqueue_semaphores(Lock& lock, const ExternalSemaphoreNodeParameters& parameters, bool wait,
                              StreamHandle stream);
    Status capture_semaphores(Stream& stream, const ExternalSemaphoreNodeParameters& parameters, bool wait,
                              Command* command);
    Status capture_batch(Stream& stream, const BatchMemOpNodeParameters& parameters, Command* command);
    Status capture_host(Stream& stream, HostFunction function, void* data, Command* command);
    Status capture_alloc(Stream& stream, void** pointer, std::size_t bytes, int device);
    Status capture_free(Stream& stream, void* pointer);

    // Graphs
    Found<Graph> find_graph(GraphHandle handle);
    Found<GraphNode> find_node(GraphNodeHandle handle);
    Found<GraphExec> find_exec(GraphExecHandle handle);
    CommandRef adopt(Command* command);
    void take_command(GraphNode& node, const CommandRef& from);
    std::unique_ptr<Graph> new_graph();
    std::unique_ptr<Graph> copy_graph(const Graph& graph, bool hidden);
    void forget_nodes(Graph& graph);
    Status check_memory_operation(const MemoryOperation& operation, bool of_node);
    Status make_memory_operations(const BatchMemOpNodeParameters& parameters, Stream& stream, bool of_node,
                                  Command** made);
    Status enqueue_memory_operations(Lock& lock, StreamHandle stream,
                                     const BatchMemOpNodeParameters& parameters);
    Status make_host_command(const HostNodeParameters& parameters, Stream& stream, Command** made);
    struct NewEdge {
        GraphNode *from, *to;
        GraphEdgeData data;
    };
    // Reads the edges that a call names, and refuses edges that are not valid.
    Status read_edges(GraphHandle graph, const GraphNodeHandle* from, const GraphNodeHandle* to,
                      const GraphEdgeData* edge_data, std::size_t count, std::vector<NewEdge>* edges);
    Status check_edge(const GraphNode& from, const GraphNode& to, const GraphEdgeData& data);
    static GraphNode& append(Graph& graph, std::unique_ptr<GraphNode> node);
    static void connect(GraphNode& from, GraphNode& to, const GraphEdgeData& data);
    static Status give_nodes(HostRuntime& runtime, const std::vector<GraphNode*>& found,
                             GraphNodeHandle* nodes, std::size_t* count);
    Status give_edges(const std::vector<NewEdge>& edges, bool from_side, bool to_side, GraphNodeHandle* from,
                      GraphNodeHandle* to, GraphEdgeData* edge_data, std::size_t* count);
    void forget_node(const GraphNode& node);
    Status check_settable(const GraphNode& node, const GraphNodeParameters& parameters);
    Status check_node_event(EventHandle event);
    Status make_graph_memory(AllocNodeParameters& parameters, std::shared_ptr<GraphMemory>* made);
    void make_plan(GraphPlan& plan);
    std::shared_ptr<GraphPlan> plan_of(const Graph& graph);
    GraphPlan& changeable(GraphExec& exec);
    Status check_unique(const Graph& graph, const GraphExec* exec);
    Status check_executable(const Graph& graph, bool by_device, bool device_launch,
                            GraphInstantiateParameters* out);
    static void plan_graph(Graph& graph, GraphSteps& steps, const std::vector<int>& begins,
                           std::vector<int>* ends);
    bool is_there(const Box& box, const Extent& extent);
    Status check_plan(const GraphPlan& plan, int device, bool frees);
    void note_launching(GraphPlan& plan);
    void upload(const GraphExec& exec, Stream& stream);
    GraphExecUpdateInfo difference(const Graph& have, const Graph& want);
    void take_parameters(Graph& have, const Graph& want);
    // One launch of a graph's plan: see graph.hpp.
    struct GraphRun;
    void enqueue_steps(const GraphRun& run, const GraphSteps& steps, Command* begin, bool now,
                       std::vector<Command*>* ends);
    std::shared_ptr<LaunchEnvironment> outermost_environment(Stream& stream,
                                                             const std::shared_ptr<DeviceGraph>& graph);
    // Gives a kernel the environment in which it launches graphs.
    void let_launch(const std::shared_ptr<LaunchEnvironment>& environment, Command* command,
                    const KernelEffect& model);
    void begin_device_graph(const std::shared_ptr<LaunchEnvironment>& environment,
                            std::shared_ptr<DeviceGraph> graph, std::span<Command* const> after);
    void leave(const std::shared_ptr<LaunchEnvironment>& environment);
    void retire_graph_memory(const GraphMemory& memory);
    void sweep_graph_memory();

    std::mutex mutex_;
    std::condition_variable changed_;     // an effect is done
    std::condition_variable background_;  // a command has become pending
    Timeline timeline_;
    Effects effects_;
    MemoryRegistry memory_;
    PageLockedChunks page_locked_;
    std::vector<std::unique_ptr<Device>> devices_;
    std::atomic<int> device_count_{0};
    std::unordered_set<const void*> live_;           // handles
    std::unordered_set<const void*> reset_streams_;  // handles of streams that a reset destroyed
    std::map<const void*, std::unique_ptr<Event>> events_;
    std::map<const void*, std::unique_ptr<Library>> libraries_;
    struct Unloaded {
        std::unique_ptr<Library> library;
        std::vector<CommandRef> last;  // commands that may still use the library
    };
    std::vector<Unloaded> unloaded_;
    std::map<const void*, std::unique_ptr<Array>> arrays_;  // and levels of mipmapped arrays
    std::map<const void*, std::unique_ptr<MipmappedArray>> mipmapped_arrays_;
    std::map<const void*, std::shared_ptr<ExternalSemaphore>> semaphores_;
    std::map<unsigned long long, std::unique_ptr<TextureObject>> textures_;  // and surfaces
    std::map<const void*, ManagedRanges> managed_;                           // by address
    std::unique_ptr<Graphs> graphs_;
    std::string printed_;
    std::vector<const Command*> running_kernels_;
    const Command* running_callback_ = nullptr;
    unsigned long long next_stream_id_ = 1;
    bool stalled_ = false;  // some effect waits for the program, since stalled_since_
    std::chrono::steady_clock::time_point stalled_since_;
    std::chrono::steady_clock::time_point next_moment_;  // when linger() may wait again
    std::size_t unobserved_ = 0;  // commands issued since the devices were last simulated
    unsigned long long calls_ = 0;
    int waiting_ = 0;
    bool background_started_ = false;
    bool launch_blocking_ = false;
    bool stopping_ = false;
};

}  // namespace cuscope::host
