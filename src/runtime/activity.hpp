// Records of what a program did: the calls of the host, and the work of the devices. They are CUPTI's
// activity records in a form that both runtimes can fill.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cuscope {

// The values are part of the layout that Python reads: python/cuscope/tracing/records.py.
enum class ActivityKind : std::uint8_t {
    kernel,
    copy,
    memset,
    host_function,
    graph,      // the begin of a graph's launch
    graph_end,  // completes it
    allocation,
    free,
    memory_operation,
    semaphore,
    event_record,
    event_wait,
    other,
};
enum class ActivityEngine : std::uint8_t {
    none,
    copy_to_device,
    copy_to_host,
    copy_on_device,
    kernels,
    host_functions
};
// Why work started when it did.
enum class ActivityReason : std::uint8_t {
    unknown,
    issued,
    stream_order,
    event,
    default_stream,
    graph,
    queue,
    engine,
    multiprocessors,
};

// Work of a device. Times are nanoseconds of the host's clock; -1: unknown. `number` identifies the work.
// Relations are numbers; 0: none.
struct WorkRecord {
    std::uint64_t number = 0;
    std::uint64_t call = 0;   // the HostRecord of the call that issued it
    std::uint64_t cause = 0;  // the work whose end let it start
    std::uint64_t graph = 0;  // the launch of a graph that it belongs to
    std::uint64_t stream = 0;
    std::int64_t start = 0, end = 0, issued = -1, ready = -1, bytes = 0;
    std::uint32_t name = 0;    // index into activity_names(); 0: none
    std::uint32_t device = 0;  // the device's name, in the same way
    std::array<std::uint32_t, 3> grid{}, block{};
    std::uint32_t shared_bytes = 0;
    ActivityKind kind = ActivityKind::other;
    ActivityReason reason = ActivityReason::unknown;
    ActivityEngine engine = ActivityEngine::none;
    std::uint8_t pageable = 0;
};
static_assert(sizeof(WorkRecord) == 120);

// The names of directions in traces, and the engines that do such copies.
enum class CopyDirection { host_to_device, device_to_host, device_to_device, host_to_host, to_other_device };
void set_direction(WorkRecord* record, CopyDirection direction);

// A call of the runtime, or a range of the program (cs.range).
struct HostRecord {
    std::uint64_t number = 0;
    std::uint64_t waited_for = 0;  // the work whose end ended the call's wait
    std::uint64_t range = 0;       // the innermost range around it
    std::int64_t start = 0, end = 0;
    std::uint32_t name = 0, line = 0;  // indices into activity_names()
    std::uint32_t thread = 0;          // the system's number of the thread
    std::uint32_t is_range = 0;
};
static_assert(sizeof(HostRecord) == 56);

struct StreamRecord {
    std::uint64_t id = 0;
    std::uint32_t device = 0;  // index into activity_names()
    int ordinal = 0;           // of the device
    int priority = 0;
    bool blocking = true, legacy = false, per_thread = false;
};

// Names are kept as long as the process lives, so that records need no strings. The index of the empty name
// is 0.
std::uint32_t index_of_name(std::string_view name);
std::vector<std::string> activity_names();
std::string activity_name(std::uint32_t index);

// The calling thread's part in a record.
struct CallContext {
    std::uint64_t call = 0;        // the number of the call that it is in
    std::uint64_t range = 0;       // the innermost range that it is in
    std::uint64_t waited_for = 0;  // set by a runtime that waits for work
    std::uint32_t work_name = 0;   // a name for the work in place of the kernel's
    std::uint32_t line = 0;        // the line of the program, noted before the GIL was released
    std::uint32_t thread = 0;      // the system's number of the thread, if thread_number() was called
};
inline CallContext& call_context() {
    static constinit thread_local CallContext context;
    return context;
}
std::uint64_t next_activity_number();
// The system's number of the calling thread.
std::uint32_t thread_number(CallContext& context = call_context());

// Memory for records.
struct RecordBlock {
    void* data = nullptr;
    std::size_t bytes = 0;
};
// The block with twice its bytes. An empty block becomes one that an earlier array gave back, if there is
// one. Throws std::bad_alloc, and the block stays as it was, if there is no memory.
RecordBlock grown_block(RecordBlock block);
void give_back(RecordBlock block);

// An array that only grows. Large arrays grow without a copy: realloc moves their pages to other addresses. A
// std::vector would touch twice the memory, which costs more than making the records. So do page faults, so
// large arrays ask for huge pages, and some blocks of earlier arrays are kept.
template <class Record>
class RecordArray {
  public:
    static_assert(std::is_trivially_copyable_v<Record>);
    RecordArray() = default;
    RecordArray(const RecordArray&) = delete;
    RecordArray& operator=(const RecordArray&) = delete;
    ~RecordArray() { give_back(block_); }

    void push_back(const Record& record) {
        if ((size_ + 1) * sizeof(Record) > block_.bytes) block_ = grown_block(block_);
        static_cast<Record*>(block_.data)[size_++] = record;
    }
    const Record* data() const { return static_cast<const Record*>(block_.data); }
    std::size_t size() const { return size_; }

  private:
    RecordBlock block_;
    std::size_t size_ = 0;
};

// The records of one trace, up to a limit.
class ActivityLog {
  public:
    explicit ActivityLog(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    RecordArray<WorkRecord> work;
    RecordArray<HostRecord> host;
    std::vector<StreamRecord> streams;
    std::uint64_t dropped = 0;

  private:
    friend class ActivityRecorder;
    bool has_room(std::size_t bytes);

    std::size_t most_bytes_, bytes_ = 0;
};

// Where the records of work come from.
enum class WorkSource { none, simulation, cupti, events };
struct WorkRecording {
    WorkSource source = WorkSource::none;
    std::string problem;  // why it is not the best source of the runtime, with the way out; empty: it is
};

// Hands the records of one runtime to all traces that run.
class ActivityRecorder {
  public:
    void start(std::shared_ptr<ActivityLog> log);
    // True if no other trace runs.
    bool stop(const std::shared_ptr<ActivityLog>& log);
    bool is_last(const std::shared_ptr<ActivityLog>& log);
    void add(const WorkRecord& record);
    void add(const std::vector<WorkRecord>& records);
    void add(const HostRecord& record);
    void add(const StreamRecord& record);
    // Counts records that a runtime could not make.
    void drop(std::uint64_t count);

  private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<ActivityLog>> logs_;
};

}  // namespace cuscope
