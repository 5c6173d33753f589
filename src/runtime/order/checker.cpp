#include "runtime/order/checker.hpp"

#include <algorithm>
#include <utility>

namespace cuscope::order {
namespace {

// The host function that this thread runs.
CommandPtr& running_host_function() {
    static thread_local CommandPtr command;
    return command;
}

// A graph is launched many times: its nodes are compared with each other in the first ones.
constexpr unsigned most_comparisons = 3;
constexpr std::size_t most_unused = 64;

}  // namespace

Checker& Checker::get() {
    static auto* const instance = new Checker;  // a kernel may still run while the process exits
    return *instance;
}

void Checker::begin() {
    const std::scoped_lock lock(mutex_);
    active_ = true;
    host_.set(host_timeline, 1);
}

void Checker::end() {
    const std::scoped_lock lock(mutex_);
    if (!active_) return;
    process(true);
    for (auto& [handle, event] : events_) report_unrecorded(event);
    active_ = false;
    streams_.clear();
    unused_.clear();
    made_on_line_.clear();
    host_ = release_ = {};
    legacy_.clear();
    blocking_.clear();
    all_.clear();
    events_.clear();
    last_launch_.clear();
    host_functions_.clear();
    live_.clear();
    flags_.clear();
    log_.clear();
    ran_.clear();
    accesses_.clear();
}

bool Checker::knows(const StreamKey& stream) {
    const std::scoped_lock lock(mutex_);
    return streams_.contains(stream);
}

void Checker::introduce(const StreamKey& key, StreamFacts facts) {
    const std::scoped_lock lock(mutex_);
    Stream& stream = streams_[key];
    stream = {};
    stream.runtime = std::get<0>(key);
    // A timeline whose commands all lie before whatever comes now may go on as another stream.
    const auto unused = std::find_if(unused_.begin(), unused_.end(),
                                     [&](const auto& one) { return host_.at(one.first) >= one.second; });
    if (unused != unused_.end()) {
        stream.timeline = unused->first;
        stream.tick = unused->second;
        unused_.erase(unused);
    } else {
        stream.timeline = last_timeline_++;
    }
    stream.found.name = facts.name;
    stream.found.is_default = facts.legacy;
    if (facts.made_at != 0) {
        stream.found.made_at = text_of_program_line(facts.made_at);
        stream.found.nth = made_on_line_[facts.made_at]++;
    }
    stream.facts = std::move(facts);
}

void Checker::stream_destroyed(const StreamKey& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = streams_.find(key);
    if (found == streams_.end()) return;
    // A stream that is gone before the line makes the next one is the package's own, or the program dropped
    // it.
    const auto made = made_on_line_.find(found->second.facts.made_at);
    if (made != made_on_line_.end() && found->second.found.nth + 1 == made->second) --made->second;
    if (unused_.size() < most_unused) unused_.emplace_back(found->second.timeline, found->second.tick);
    streams_.erase(found);
}

// Only streams that were introduced are used.
Checker::Stream& Checker::find(const StreamKey& stream) { return streams_[stream]; }

// All that a command that comes now in the stream lies behind.
Clock Checker::clock_of(const Stream& stream) const {
    Clock clock = stream.clock;
    clock.join(host_);
    const Device device{stream.runtime, stream.facts.device};
    const auto& others = stream.facts.legacy ? blocking_ : legacy_;
    if (const auto found = others.find(device); stream.facts.blocking && found != others.end())
        clock.join(found->second);
    return clock;
}

CommandPtr Checker::advance(Stream& stream, std::string what) {
    auto command = std::make_shared<Command>();
    command->clock = clock_of(stream);
    command->timeline = stream.timeline;
    command->tick = ++stream.tick;
    command->clock.set(stream.timeline, stream.tick);
    command->stream = stream.found;
    command->what = std::move(what);
    command->line = line_;
    stream.clock = command->clock;
    const Device device{stream.runtime, stream.facts.device};
    all_[device].join(stream.clock);
    if (stream.facts.legacy) legacy_[device] = stream.clock;
    if (stream.facts.blocking) blocking_[device].join(stream.clock);
    // What the host does from now on is no longer before the command.
    host_.set(host_timeline, host_.at(host_timeline) + 1);
    return command;
}

void Checker::add(CommandPtr command, Work work) {
    count_checked_command();
    for (const void* const key : work.host_functions) host_functions_[key] = command;
    if (work.accesses.empty() && work.kernels.empty() && !work.graph) return;
    for (Access& access : work.accesses) label(access);
    for (KernelPart& kernel : work.kernels)
        for (Access& access : kernel.by_signature) label(access);
    log_.push_back({std::move(command), std::move(work)});
    process(false);
}

void Checker::enqueue(const StreamKey& key, Work work) {
    const Call call(*this);
    if (!active_) return;
    CommandPtr command = advance(find(key), work.what);
    add(std::move(command), std::move(work));
}

void Checker::enqueue_open_wait(const StreamKey& key, Work work) {
    const Call call(*this);
    if (!active_) return;
    Stream& stream = find(key);
    static std::uint64_t waits = 0;
    stream.clock.set(open_waits, ++waits);
    CommandPtr command = advance(stream, work.what);
    add(std::move(command), std::move(work));
}

void Checker::enqueue_flags(const StreamKey& key, Work work) {
    const Call call(*this);
    if (!active_) return;
    CommandPtr command = advance(find(key), work.what);
    for (const Access& access : work.accesses) flags_[access.begin] = command->clock;
    add(std::move(command), std::move(work));
}

void Checker::enqueue_graph(const StreamKey& key, GraphExecHandle exec, Work work) {
    const Call call(*this);
    if (!active_) return;
    Stream& stream = find(key);
    // Launches of one executable run one after the other.
    stream.clock.join(last_launch_[exec]);
    const auto for_each_event = [&](EventHandle GraphPart::*which, auto use) {
        if (!work.graph) return;
        for (const GraphShape::Node& node : work.graph->nodes)
            if (node.part.enabled && node.part.*which != nullptr) use(events_[node.part.*which]);
    };
    // The whole graph counts as ordered by its events.
    for_each_event(&GraphPart::waits_for, [&](const Event& event) {
        if (event.recorded) stream.clock.join(*event.recorded);
    });
    CommandPtr command = advance(stream, work.what);
    for_each_event(&GraphPart::records, [&](Event& event) {
        event.recorded = command->clock;
        event.recorded_at = command->line;
        event.recorded_in = stream.found;
    });
    last_launch_[exec] = command->clock;
    add(std::move(command), std::move(work));
}

void Checker::find_stale(const StreamKey& key, const GraphShape& shape) {
    const Call call(*this);
    if (!active_) return;
    const FoundCall launch{"the launch of the graph", text_of_program_line(line_), find(key).found};
    for (const GraphShape::Node& node : shape.nodes) {
        const GraphPart& part = node.part;
        if (!part.enabled) continue;
        for (const auto& [begin, serial] : part.uses) {
            const auto found = live_.find(begin);
            if (found != live_.end() && found->second.serial == serial) continue;
            Finding finding;
            finding.kind = "stale pointer";
            finding.calls = {{part.what, text_of_program_line(part.line), launch.stream}, launch};
            finding.first.line = launch.line;
            finding.other.line = finding.calls[0].line;
            finding.text = "A node of the graph, " + part.what + " (added in " + finding.other.line +
                           "), uses memory that was freed since" +
                           (found == live_.end() ? "" : " and that belongs to another array now") +
                           ". {1} launches the graph (" + launch.line + ").";
            finding.advice =
                "Keep the array as long as the graph, or give the node the new array before the launch, with "
                "exec.set_kernel(node, ...) or exec.set_copy(node, ...).";
            finding.code = "exec.set_kernel(node, ...)";
            finding.where = launch.line;
            add_finding(finding);
        }
    }
}

void Checker::exec_destroyed(GraphExecHandle exec) {
    const std::scoped_lock lock(mutex_);
    last_launch_.erase(exec);
}

void Checker::event_created(EventHandle event) {
    const Call call(*this);
    Event& made = events_[event];
    report_unrecorded(made);
    made = {};
    made.known = true;
    made.made_at = line_;
}

void Checker::event_destroyed(EventHandle event) {
    const std::scoped_lock lock(mutex_);
    const auto found = events_.find(event);
    if (found == events_.end()) return;
    report_unrecorded(found->second);
    events_.erase(found);
}

void Checker::event_recorded(EventHandle handle, const StreamKey& key) {
    const Call call(*this);
    if (!active_) return;
    Stream& stream = find(key);
    Event& event = events_[handle];
    event.recorded = advance(stream, "the record of an event")->clock;
    event.recorded_at = line_;
    event.recorded_in = stream.found;
}

void Checker::event_captured(EventHandle event) {
    const std::scoped_lock lock(mutex_);
    if (active_ && events_.contains(event)) events_[event].known = false;
}

void Checker::stream_waits(const StreamKey& key, EventHandle handle) {
    const Call call(*this);
    if (!active_) return;
    Stream& stream = find(key);
    const auto found = events_.find(handle);
    if (found != events_.end()) {
        Event& event = found->second;
        if (event.recorded) {
            stream.clock.join(*event.recorded);
            // In a loop, the first wait may come before the first record.
            std::erase_if(event.unrecorded, [&](const UnrecordedWait& wait) { return wait.line == line_; });
        } else if (event.known) {
            event.unrecorded.push_back(
                {{"the wait for an event", text_of_program_line(line_), stream.found}, line_});
        }
    }
    advance(stream, "the wait for an event");
}

void Checker::host_waits(EventHandle handle) {
    const Call call(*this);
    if (!active_) return;
    const auto found = events_.find(handle);
    if (found == events_.end()) return;
    Event& event = found->second;
    FoundStream host;
    host.is_host = true;
    host.name = "the host";
    if (event.recorded)
        std::erase_if(event.unrecorded, [&](const UnrecordedWait& wait) { return wait.line == line_; });
    else if (event.known)
        event.unrecorded.push_back({{"the wait for an event", text_of_program_line(line_), host}, line_});
}

void Checker::report_unrecorded(Event& event) {
    for (const UnrecordedWait& wait : event.unrecorded) {
        Finding finding;
        finding.kind = "event never recorded";
        finding.severity = Severity::warning;
        const std::string made = text_of_program_line(event.made_at);
        const std::string later = event.recorded ? text_of_program_line(event.recorded_at) : std::string();
        finding.calls = {{event.recorded ? "the record of the event" : "the event",
                          event.recorded ? later : made, event.recorded_in},
                         wait.call};
        finding.first.line = wait.call.line;
        finding.other.line = finding.calls[0].line;
        finding.text = "{1} waits in " + wait.call.line + " for an event" +
                       (made.empty() ? "" : ", made in " + made + ",") +
                       " that was not recorded before. CUDA does not wait for such an event.";
        if (event.recorded) finding.text += " The event is recorded later, in " + later + ".";
        finding.advice =
            event.recorded
                ? "Record the event before the wait: move line " + later + " before " + wait.call.line + "."
                : "Record the event in the stream to wait for, behind the work to wait for and "
                  "before " +
                      wait.call.line + ".";
        finding.code = "stream.record(event)";
        finding.where = wait.call.line;
        add_finding(finding);
    }
    event.unrecorded.clear();
}

void Checker::event_done(EventHandle event, bool tidying) {
    const std::scoped_lock lock(mutex_);
    const auto found = events_.find(event);
    if (!active_ || found == events_.end() || !found->second.recorded) return;
    (tidying ? release_ : host_).join(*found->second.recorded);
}

void Checker::stream_done(const StreamKey& key, bool tidying) {
    const std::scoped_lock lock(mutex_);
    if (!active_) return;
    Stream& stream = find(key);
    Clock done = stream.clock;
    const Device device{stream.runtime, stream.facts.device};
    if (stream.facts.legacy) done.join(blocking_[device]);
    (tidying ? release_ : host_).join(done);
}

void Checker::device_done(const void* runtime, int device, bool tidying) {
    const std::scoped_lock lock(mutex_);
    if (active_) (tidying ? release_ : host_).join(all_[{runtime, device}]);
}

void Checker::allocated(const void* pointer, std::size_t bytes, const StreamKey* key) {
    const Call call(*this);
    if (!active_ || pointer == nullptr || bytes == 0) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    live_[begin] = {begin + bytes, ++last_serial_};
    Access access;
    access.begin = begin;
    access.end = begin + bytes;
    access.role = Role::alloc;
    Work work;
    CommandPtr command;
    if (key != nullptr) {
        command = advance(find(*key), "the allocation");
    } else {
        auto made = std::make_shared<Command>();
        made->clock = host_;
        made->tick = host_.at(host_timeline);
        made->stream.is_host = true;
        made->stream.name = "the host";
        made->what = "cudaMalloc";
        made->line = line_;
        command = made;
        host_.set(host_timeline, host_.at(host_timeline) + 1);
    }
    work.accesses.push_back(std::move(access));
    add(std::move(command), std::move(work));
}

std::uint64_t Checker::serial_at(const void* pointer) {
    const std::scoped_lock lock(mutex_);
    const auto found = live_.find(reinterpret_cast<std::uintptr_t>(pointer));
    return found == live_.end() ? 0 : found->second.serial;
}

std::uint64_t Checker::serial_holding(std::uintptr_t address, std::uintptr_t* begin) {
    const std::scoped_lock lock(mutex_);
    auto after = live_.upper_bound(address);
    if (after == live_.begin() || address >= (--after)->second.end) return 0;
    *begin = after->first;
    return after->second.serial;
}

std::uintptr_t Checker::end_of_allocation(std::uintptr_t address) {
    const std::scoped_lock lock(mutex_);
    auto after = live_.upper_bound(address);
    if (after == live_.begin() || address >= (--after)->second.end) return 0;
    return after->second.end;
}

void Checker::freed(const void* pointer, std::uint64_t serial, const StreamKey* key, const char* call,
                    bool tidying) {
    const Call locked(*this);
    const auto found = live_.find(reinterpret_cast<std::uintptr_t>(pointer));
    // Its size is not known if it was made before the check. Another thread may have got it already.
    if (!active_ || found == live_.end() || found->second.serial != serial) return;
    Access access;
    access.begin = found->first;
    access.end = found->second.end;
    access.role = Role::free;
    live_.erase(found);
    Work work;
    CommandPtr command;
    const auto before = [&](Clock clock) {
        if (tidying) clock.join(release_);
        return clock;
    };
    if (key != nullptr) {
        auto made = std::make_shared<Command>(*advance(find(*key), call));
        made->clock = before(made->clock);
        command = made;
    } else {
        auto made = std::make_shared<Command>();
        made->clock = before(host_);
        made->tick = host_.at(host_timeline);
        made->stream.is_host = true;
        made->stream.name = "the host";
        made->what = call;
        made->line = line_;
        command = made;
        host_.set(host_timeline, host_.at(host_timeline) + 1);
    }
    work.accesses.push_back(std::move(access));
    add(std::move(command), std::move(work));
}

void Checker::host_access(std::uintptr_t begin, std::uintptr_t end, bool writes, const std::string& what) {
    const Call call(*this);
    if (!active_ || begin >= end) return;
    CommandPtr command = running_host_function();
    if (command == nullptr) {
        if (!writes) {
            for (auto flag = flags_.lower_bound(begin); flag != flags_.end() && flag->first < end; ++flag)
                host_.join(flag->second);
        }
        auto made = std::make_shared<Command>();
        made->clock = host_;
        made->tick = host_.at(host_timeline);
        made->stream.is_host = true;
        made->stream.name = "the host";
        made->what = what;
        made->line = line_;
        command = made;
    }
    Work work;
    Access access;
    access.begin = begin;
    access.end = end;
    access.role = writes ? Role::write : Role::read;
    work.accesses.push_back(std::move(access));
    add(std::move(command), std::move(work));
}

void Checker::host_function_begins(const void* key) {
    const std::scoped_lock lock(mutex_);
    const auto found = host_functions_.find(key);
    if (!active_ || found == host_functions_.end()) return;
    running_host_function() = found->second;
    // The function may tell the program that the commands before it have ended.
    host_.join(found->second->clock);
}

void Checker::host_function_ends() { running_host_function() = nullptr; }

void Checker::launch_ran(std::uint64_t token, RanLaunch ran) {
    const std::scoped_lock lock(mutex_);
    if (!active_) return;
    ran_[token] = std::move(ran);
    process(false);
}

void Checker::label(Access& access) {
    if (access.label) return;
    access.label = label_holding(access.begin, &access.base);
}

void Checker::process(bool all) {
    while (!log_.empty()) {
        const Entry& entry = log_.front();
        if (!all) {
            for (const KernelPart& kernel : entry.work.kernels)
                if (kernel.token != 0 && !ran_.contains(kernel.token)) return;
        }
        compare(entry);
        for (const KernelPart& kernel : entry.work.kernels) ran_.erase(kernel.token);
        log_.pop_front();
    }
}

void Checker::compare(const Entry& entry) {
    std::vector<std::pair<std::size_t, AccessPtr>> accesses;
    const auto take = [&](const Access& from, std::size_t place) -> Access& {
        auto made = std::make_shared<Access>(from);
        made->by = entry.by;
        accesses.emplace_back(place, made);
        return *made;
    };
    if (entry.work.graph) {
        const auto& nodes = entry.work.graph->nodes;
        for (std::size_t place = 0; place < nodes.size(); ++place) {
            const GraphPart& part = nodes[place].part;
            if (!part.enabled) continue;
            for (const Access& access : part.accesses) {
                Access& made = take(access, place);
                made.node = part.what;
                made.node_line = part.line;
                label(made);
            }
        }
    }
    for (const Access& access : entry.work.accesses) take(access, 0);
    for (const KernelPart& kernel : entry.work.kernels) {
        const auto ran = ran_.find(kernel.token);
        const auto add = [&](const Access& access) {
            Access& made = take(access, kernel.place);
            made.node = kernel.node;
            made.node_line = kernel.node_line;
        };
        if (kernel.token == 0 || ran == ran_.end() || !ran->second.known) {
            for (const Access& access : kernel.by_signature) {
                if (access.role == Role::atomic) entry.by->polls = true;
                add(access);
            }
            continue;
        }
        if (ran->second.polls) entry.by->polls = true;
        for (const Ran& piece : ran->second.accesses) {
            Access access;
            access.begin = piece.begin;
            access.end = piece.end;
            access.role = piece.atomic ? Role::atomic : piece.written ? Role::write : Role::read;
            for (const Access& known : kernel.by_signature) {
                if (piece.begin < known.begin || piece.begin >= known.end) continue;
                access.argument = known.argument;
                access.label = known.label;
                access.base = known.base;
            }
            label(access);
            add(access);
        }
    }
    for (const auto& [place, access] : accesses) {
        accesses_.add(
            access, [](const Access& earlier, const Access& later, std::uintptr_t begin, std::uintptr_t end) {
                // Nodes with memory that was freed before the launch are found when the launch is made.
                const bool stale = earlier.role == Role::free && !later.node.empty();
                if (!stale || !happens_before(*earlier.by, *later.by))
                    add_finding(order_finding(earlier, later, begin, end));
            });
    }
    if (entry.work.graph && entry.work.graph->compared < most_comparisons) {
        ++entry.work.graph->compared;
        compare_nodes(*entry.work.graph, accesses);
    }
}

}  // namespace cuscope::order
