#include "core/trace/recording.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "core/device/devices.hpp"
#include "core/trace/order_checks.hpp"
#include "runtime/measuring_runtime.hpp"
#include "runtime/process.hpp"

namespace cuscope::core {
namespace {

using Lock = std::unique_lock<std::mutex>;

struct Decorators {
    std::shared_ptr<MeasuringRuntime> measuring;  // null: the runtime records all work itself
    std::unique_ptr<TracingRuntime> tracing;
};

// Never destroyed: devices may call through a decorator while the process exits.
struct Traced {
    std::mutex mutex;  // held while CUPTI starts or hands over records, which takes long: use locked()
    std::map<std::string, Decorators> decorators;        // by the kind of the runtime; made once and kept
    std::vector<std::shared_ptr<Recording>> recordings;  // that run
    std::atomic<int> running{0};
    std::atomic<FindLine> find_line{[] { return std::uint32_t{0}; }};
    std::atomic<bool> measures_simulated{false};
};

Traced& traced() {
    static Traced* const instance = new Traced;
    return *instance;
}

// The decorator of the device's runtime; null if the device has no runtime of its own kind (a test's).
TracingRuntime* decorator(Device& device) {
    const std::shared_ptr<Runtime> runtime = use_runtime(device.kind());
    if (runtime.get() != &device.own_runtime()) return nullptr;
    Decorators& made = traced().decorators[device.kind()];
    if (!made.tracing) {
        std::shared_ptr<Runtime> under = order_runtime(device.kind());
        const bool for_test = device.simulated() && traced().measures_simulated;
        if (!device.simulated() || for_test)
            under = made.measuring = std::make_shared<MeasuringRuntime>(std::move(under), for_test);
        made.tracing = std::make_unique<TracingRuntime>(std::move(under), traced().find_line.load());
    }
    return made.tracing.get();
}

// A GPU takes part from its first use on. A program that simulates all its work need not wait for CUPTI.
bool takes_part(const Device& device) { return device.simulated() || device.used(); }

// A simulated device without work is left alone: it may be lost, and a wait would cost its host time. A GPU
// that was not used has no context, and a wait would make one.
bool may_have_work(Device& device) {
    if (!device.simulated()) return device.used();
    const PendingList pending = device.own_runtime().pending();
    return std::any_of(pending.begin(), pending.end(),
                       [&](const PendingWork& work) { return work.device == device.ordinal(); });
}

}  // namespace

std::mutex& decorators_mutex() { return traced().mutex; }
bool recording() { return traced().running.load(std::memory_order_relaxed) > 0; }
void measure_simulated_work() { traced().measures_simulated = true; }
void set_find_line(FindLine find_line) { traced().find_line = find_line; }

void Recording::add(const std::string& kind, TracingRuntime& runtime) {
    Part& part = parts_[kind];
    if (part.log) return;
    part.log = std::make_shared<ActivityLog>(most_bytes_);
    part.start_ns = runtime.now_ns();
    part.work = runtime.start(part.log);
}

void Recording::start() {
    refuse_after_fork();
    std::vector<DevicePtr> used = known_devices();
    used.push_back(current_device());  // made if it is not known yet
    const Lock lock = locked<Lock>(traced().mutex);
    for (const DevicePtr& device : used) {
        if (device != used.back() && !takes_part(*device)) continue;
        if (TracingRuntime* runtime = decorator(*device)) {
            add(device->kind(), *runtime);
            device->call_through(runtime);
        }
    }
    traced().recordings.push_back(shared_from_this());
    ++traced().running;
}

void Recording::wait() {
    for (const DevicePtr& device : known_devices()) {
        if (!parts_.contains(device->kind()) || !may_have_work(*device)) continue;
        const DeviceScope scope(*device);
        device->check_wait(device->own_runtime().wait_beside_captures(), "cudaDeviceSynchronize");
    }
}

void wait_for_simulated_devices() {
    if (forked_after_use()) return;
    for (const DevicePtr& device : known_devices()) {
        if (!device->simulated() || !may_have_work(*device)) continue;
        const DeviceScope scope(*device);
        if (device->own_runtime().wait_beside_captures() == Status::not_ready) throw Interrupted();
    }
}

void Recording::stop() {
    if (forked_after_use()) return;
    const std::vector<DevicePtr> used = known_devices();
    const Lock lock = locked<Lock>(traced().mutex);
    if (stopped_) return;
    stopped_ = true;
    --traced().running;
    std::erase(traced().recordings, shared_from_this());
    for (auto& [kind, part] : parts_) {
        TracingRuntime& runtime = *traced().decorators.at(kind).tracing;
        part.end_ns = runtime.now_ns();
        std::string problem;
        const bool last = runtime.stop(part.log, &problem);
        if (part.work.problem.empty()) part.work.problem = std::move(problem);
        if (!last) continue;
        for (const DevicePtr& device : used) {
            if (device->kind() == kind) device->call_through(nullptr);
        }
    }
}

std::map<std::string, std::string> Recording::problems() const {
    const Lock lock = locked<Lock>(traced().mutex);
    std::map<std::string, std::string> problems;
    for (const auto& [kind, part] : parts_) {
        if (!part.work.problem.empty()) problems[kind] = part.work.problem;
    }
    return problems;
}

void trace_device(Device& device) {
    if (!recording() || !takes_part(device)) return;
    const WithoutInterpreter released;  // the begin of a recording may wait
    const Lock lock = locked<Lock>(traced().mutex);
    if (traced().recordings.empty()) return;
    TracingRuntime* const runtime = decorator(device);
    if (runtime == nullptr) return;
    for (const auto& running : traced().recordings) running->add(device.kind(), *runtime);
    device.call_through(runtime);
}

void forget_traced_work(Device& device) {
    const Lock lock = locked<Lock>(traced().mutex);
    const auto found = traced().decorators.find(device.kind());
    if (found != traced().decorators.end() && found->second.measuring)
        found->second.measuring->forget_device(device.ordinal());
}

Range begin_range(Device& device) {
    Range range;
    range.number = next_activity_number();
    range.line = traced().find_line.load()();
    range.outer = call_context().range;
    range.start_ns = device.own_runtime().trace_clock_ns();
    return range;
}

void end_range(Device& device, const Range& range, std::string_view text) {
    HostRecord record;
    record.number = range.number;
    record.range = range.outer;
    record.start = range.start_ns;
    record.end = device.own_runtime().trace_clock_ns();
    record.name = index_of_name(text);
    record.line = range.line;
    record.thread = thread_number();
    record.is_range = 1;
    const Lock lock = locked<Lock>(traced().mutex);
    const auto found = traced().decorators.find(device.kind());
    if (found != traced().decorators.end()) found->second.tracing->add_range(record);
}

}  // namespace cuscope::core
