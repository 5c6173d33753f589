#include "cuda/cupti/collector.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "cuda/cupti/layouts.hpp"
#include "runtime/compile/signature.hpp"

namespace cuscope::cuda::cupti {
namespace {

std::uint32_t device_name(std::uint32_t device) { return index_of_name("cuda:" + std::to_string(device)); }

std::array<std::uint32_t, 3> sizes(const std::int32_t (&size)[3]) {
    return {static_cast<std::uint32_t>(size[0]), static_cast<std::uint32_t>(size[1]),
            static_cast<std::uint32_t>(size[2])};
}

// Of a stream that only other libraries use. CUDA's own ids are smaller.
std::uint64_t id_of_foreign_stream(std::uint32_t context, std::uint32_t stream) {
    return static_cast<std::uint64_t>(context) << 32 | stream;
}

CopyDirection direction_of(CopyKind kind) {
    switch (kind) {
        case CopyKind::host_to_device:
        case CopyKind::host_to_array:
            return CopyDirection::host_to_device;
        case CopyKind::device_to_host:
        case CopyKind::array_to_host:
            return CopyDirection::device_to_host;
        case CopyKind::host_to_host:
            return CopyDirection::host_to_host;
        case CopyKind::peer_to_peer:
            return CopyDirection::to_other_device;
        default:
            return CopyDirection::device_to_device;
    }
}

// The fields that all layouts of work have.
template <class Layout, class Work>
Work work_of(const Layout& layout) {
    Work work;
    work.record.start = static_cast<std::int64_t>(layout.start);
    work.record.end = static_cast<std::int64_t>(layout.end);
    work.record.device = device_name(layout.device);
    work.correlation = layout.correlation;
    work.context = layout.context;
    work.stream = layout.stream;
    work.of_graph = layout.graph_node != 0;
    return work;
}

}  // namespace

void Collector::take(const void* record) {
    const std::lock_guard lock(mutex_);
    switch (*static_cast<const Kind*>(record)) {
        case Kind::concurrent_kernel:
            return take_kernel(record);
        case Kind::memcpy:
            return take_copy(*static_cast<const MemcpyLayout*>(record));
        case Kind::memcpy2:
            return take_copy(*static_cast<const PeerCopyLayout*>(record));
        default:
            return;
    }
}

void Collector::take_kernel(const void* record) {
    const auto& kernel = *static_cast<const KernelLayout*>(record);
    auto work = work_of<KernelLayout, Work>(kernel);
    work.record.kind = ActivityKind::kernel;
    work.record.engine = ActivityEngine::kernels;
    work.record.name = name_of_kernel(kernel.name);
    work.record.grid = sizes(kernel.grid);
    work.record.block = sizes(kernel.block);
    work.record.shared_bytes =
        static_cast<std::uint32_t>(kernel.static_shared_bytes + kernel.dynamic_shared_bytes);
    add(std::move(work));
}

template <class Layout>
void Collector::take_copy(const Layout& copy) {
    auto work = work_of<Layout, Work>(copy);
    work.record.kind = ActivityKind::copy;
    set_direction(&work.record, direction_of(static_cast<CopyKind>(copy.copy_kind)));
    work.record.bytes = static_cast<std::int64_t>(copy.bytes);
    work.record.pageable = copy.source_kind == pageable_memory || copy.destination_kind == pageable_memory;
    add(std::move(work));
}

void Collector::add(Work work) {
    if (work.record.start == 0 || work.record.end == 0) return;  // it has not ended
    work.record.number = next_activity_number();
    complete(work);
    if (work.of_graph) note_node(work);
    taken_.push_back(work.record);
}

std::uint32_t Collector::name_of_kernel(const char* mangled) {
    if (mangled == nullptr) return 0;
    std::uint32_t& name = kernel_names_[mangled];
    if (name == 0) name = index_of_name(function_name(demangle(mangled)));
    return name;
}

void Collector::add_stream(const StreamRecord& stream) {
    const std::lock_guard lock(mutex_);
    known_streams_[stream.id] = stream;
}

bool Collector::knows_stream(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    return known_streams_.contains(id);
}

// Work whose call is unknown is of another library.
void Collector::complete(Work& work) {
    const CallOfWork call = calls_.find(work.correlation).value_or(CallOfWork{});
    work.record.call = call.call;
    if (call.name != 0) work.record.name = call.name;
    std::uint64_t& learned = streams_[{work.context, work.stream}];
    if (call.stream != 0 && !work.of_graph) learned = call.stream;
    const std::uint64_t stream = call.stream != 0 ? call.stream : learned;
    work.record.stream = stream != 0 ? stream : id_of_foreign_stream(work.context, work.stream);
}

// The launch begins with the first start of a node, and ends with the last end.
void Collector::note_node(Work& node) {
    const auto [found, is_new] = graphs_.try_emplace(node.correlation);
    GraphLaunch& launch = found->second;
    if (is_new) {
        launch.record.kind = ActivityKind::graph;
        launch.record.number = next_activity_number();
        launch.record.call = node.record.call;
        launch.record.stream = node.record.stream;
        launch.record.device = node.record.device;
        launch.record.start = node.record.start;
        launch.record.end = node.record.end;
    }
    launch.record.start = std::min(launch.record.start, node.record.start);
    launch.record.end = std::max(launch.record.end, node.record.end);
    launch.changed = true;
    node.record.graph = launch.record.number;
}

void Collector::deliver(ActivityRecorder& recorder, bool graphs) {
    std::vector<WorkRecord> records;
    std::vector<StreamRecord> streams;
    {
        const std::lock_guard lock(mutex_);
        records.swap(taken_);
        if (graphs) deliver_graphs(&records);
        std::set<std::uint64_t> used;
        for (const WorkRecord& record : records) used.insert(record.stream);
        for (const std::uint64_t id : used) {
            if (const auto found = known_streams_.find(id); found != known_streams_.end())
                streams.push_back(found->second);
        }
    }
    recorder.add(records);
    for (const StreamRecord& stream : streams) recorder.add(stream);
}

// Nodes that end after the record of their launch was handed over extend it.
void Collector::deliver_graphs(std::vector<WorkRecord>* records) {
    for (auto& [correlation, launch] : graphs_) {
        if (!launch.changed) continue;
        launch.changed = false;
        WorkRecord record = launch.record;
        if (std::exchange(launch.handed_over, true)) {
            record.kind = ActivityKind::graph_end;
            record.number = next_activity_number();
            record.graph = launch.record.number;
        }
        records->push_back(record);
    }
}

void Collector::clear() {
    const std::lock_guard lock(mutex_);
    taken_.clear();
    graphs_.clear();
    streams_.clear();
}

}  // namespace cuscope::cuda::cupti
