#include "core/device/pending.hpp"

#include <algorithm>
#include <map>

#include "core/device/devices.hpp"
#include "core/device/observed.hpp"
#include "core/stream/host_task.hpp"

namespace cuscope::core {
namespace {

// The later commands of a stream are of little interest, because they wait for the earlier ones.
constexpr int most_lines_of_stream = 8;
constexpr std::size_t most_roots = 8;

void name_host_functions(PendingList* list) {
    for (PendingWork& work : *list) {
        HostTaskInfo info;
        if (work.function == nullptr || !find_host_task(work.function, work.data, &info)) continue;
        if (!info.name.empty()) work.what += " " + info.name;
        if (!info.begun) continue;
        for (PendingReason& reason : work.reasons) {
            if (reason.kind == PendingKind::host_function && reason.blockers.empty())
                reason.text += " (" + std::to_string(static_cast<long long>(info.seconds)) + " s)";
        }
    }
}

void add(const PendingList& list, const std::string& kind, int device, PendingReport* report) {
    for (const PendingWork& work : list) {
        if (device >= 0 && work.device != device) continue;
        PendingEntry& entry = report->entries.emplace_back();
        entry.device = kind + ":" + std::to_string(work.device);
        entry.stream = work.stream;
        entry.position = work.position;
        entry.what = work.what;
        entry.state = work.state;
        entry.works = work.works;
        for (const PendingReason& reason : work.reasons)
            entry.reasons.emplace_back(reason.kind, cuscope::text_of(list, reason));
    }
    const std::vector<std::string> roots = roots_of(list, device);
    report->roots.insert(report->roots.end(), roots.begin(), roots.end());
}

}  // namespace

PendingReport pending(const DevicePtr& device) {
    PendingReport report;
    if (forked_after_use()) return report;
    std::vector<DevicePtr> asked{device};
    if (!device) asked = known_devices();
    // By the kind first, because the order of addresses differs from run to run.
    std::map<std::pair<std::string, const Runtime*>, std::vector<DevicePtr>> by_runtime;
    for (const DevicePtr& one : asked) by_runtime[{one->kind(), &one->own_runtime()}].push_back(one);
    for (const auto& [runtime, devices] : by_runtime) {
        PendingList list;
        if (devices.front()->simulated()) {
            list = devices.front()->runtime().pending();
        } else {
            for (const DevicePtr& one : devices) observe(*one, &list);
            if (!list.empty()) report.observed.push_back(devices.front()->kind());
        }
        name_host_functions(&list);
        find_circles(&list);
        add(list, devices.front()->kind(), device ? device->ordinal() : -1, &report);
    }
    return report;
}

std::string text_of(const PendingReport& report) {
    if (report.entries.empty()) return "nothing is in flight";
    // Grouped by stream, in the order in which the oldest commands of the streams were enqueued.
    std::vector<std::pair<std::string, std::vector<const PendingEntry*>>> streams;
    std::map<std::string, std::size_t> places;
    std::size_t widest = 0;
    for (const PendingEntry& entry : report.entries) {
        const std::string stream = entry.device + ", " + entry.stream;
        const auto [place, added] = places.emplace(stream, streams.size());
        if (added) streams.push_back({stream, {}});
        streams[place->second].second.push_back(&entry);
    }
    for (const auto& [stream, entries] : streams) {
        const std::size_t shown = std::min<std::size_t>(entries.size(), most_lines_of_stream);
        for (std::size_t i = 0; i < shown; ++i) widest = std::max(widest, entries[i]->what.size());
    }
    std::string text;
    for (const auto& [stream, entries] : streams) {
        text += stream + ": " + std::to_string(entries.size()) + " in flight\n";
        int lines = 0;
        for (const PendingEntry* entry : entries) {
            if (lines++ == most_lines_of_stream) {
                text += "       ... and " +
                        std::to_string(entries.size() - static_cast<std::size_t>(most_lines_of_stream)) +
                        " more behind it\n";
                break;
            }
            std::string number = entry->position > 0 ? std::to_string(entry->position) : "-";
            number.insert(0, number.size() < 5 ? 5 - number.size() : 0, ' ');
            text += number + "  " + entry->what + std::string(widest - entry->what.size() + 2, ' ') +
                    name_of(entry->state) + "\n";
            for (const auto& [kind, reason] : entry->reasons) text += "         " + reason + "\n";
        }
    }
    if (!report.roots.empty()) {
        text += "In the end all of it waits for:\n";
        for (std::size_t i = 0; i < std::min(report.roots.size(), most_roots); ++i)
            text += "    " + report.roots[i] + "\n";
        if (report.roots.size() > most_roots)
            text += "    ... and " + std::to_string(report.roots.size() - most_roots) + " more\n";
    }
    for (const std::string& device : report.observed) {
        text += device +
                ": as far as is known. A GPU does not say where it stands: work that has ended may be "
                "listed.\n";
    }
    text.pop_back();
    return text;
}

}  // namespace cuscope::core
