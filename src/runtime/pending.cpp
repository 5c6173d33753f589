#include "runtime/pending.hpp"

#include <algorithm>
#include <array>

namespace cuscope {
namespace {

// Marks all work that the work in `from` waits for, directly or indirectly, and the work in `from` itself.
std::vector<bool> reach(const PendingList& list, std::vector<int> from) {
    std::vector<bool> reached(list.size());
    while (!from.empty()) {
        const auto at = static_cast<std::size_t>(from.back());
        from.pop_back();
        if (reached[at]) continue;
        reached[at] = true;
        for (const PendingReason& reason : list[at].reasons)
            from.insert(from.end(), reason.blockers.begin(), reason.blockers.end());
    }
    return reached;
}

// For example "memset of 4 KiB (2 in Stream #3)".
std::string named(const PendingWork& work) {
    const std::string position = work.position > 0 ? std::to_string(work.position) + " " : "";
    return work.what + " (" + position + "in " + work.stream + ")";
}

}  // namespace

const char* name_of(PendingState state) {
    static constexpr std::array names{"ready", "running", "waiting", "unknown"};
    return names.at(static_cast<std::size_t>(state));
}

const char* name_of(PendingKind kind) {
    static constexpr std::array names{"order",     "default_stream", "event",           "graph",
                                      "queue",     "engine",         "multiprocessors", "value",
                                      "semaphore", "host_function",  "kernel",          "simulation"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string text_of(const PendingList& list, const PendingReason& reason) {
    std::string text = reason.text;
    const std::size_t place = text.find("{}");
    if (place != std::string::npos && !reason.blockers.empty()) {
        const std::size_t more = reason.blockers.size() - 1;
        text.replace(place, 2,
                     named(list[static_cast<std::size_t>(reason.blockers.front())]) +
                         (more > 0 ? " and " + std::to_string(more) + " more" : ""));
    }
    if (reason.circle) text += ", but that waits for this itself: a circle";
    return text;
}

void find_circles(PendingList* list) {
    for (std::size_t i = 0; i < list->size(); ++i) {
        for (PendingReason& reason : (*list)[i].reasons) {
            if ((reason.kind != PendingKind::value && reason.kind != PendingKind::semaphore) ||
                reason.blockers.empty())
                continue;
            reason.circle = std::all_of(reason.blockers.begin(), reason.blockers.end(), [&](int blocker) {
                const std::vector<bool> reached = reach(*list, {blocker});
                return static_cast<bool>(reached[i]);
            });
        }
    }
}

std::vector<std::string> roots_of(const PendingList& list, int device) {
    std::vector<std::string> roots;
    std::vector<int> asked;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (device < 0 || list[i].device == device) asked.push_back(static_cast<int>(i));
    }
    const std::vector<bool> reached = reach(list, asked);
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!reached[i]) continue;
        const PendingWork& work = list[i];
        if (work.reasons.empty() && work.state == PendingState::running)
            roots.push_back("the end of " + named(work));
        for (const PendingReason& reason : work.reasons) {
            if (reason.blockers.empty() || reason.circle)
                roots.push_back(named(work) + ": " + text_of(list, reason));
        }
    }
    const bool all_wait = std::all_of(asked.begin(), asked.end(), [&](int place) {
        return list[static_cast<std::size_t>(place)].state == PendingState::waiting;
    });
    if (roots.empty() && !asked.empty() && all_wait) {
        roots.emplace_back(
            "itself: each piece of work waits for another of them, which is a defect of cuscope");
    }
    return roots;
}

std::string text_of_bytes(std::size_t bytes) {
    static constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    std::size_t rest = 0;
    for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) {
        rest = bytes % 1024;
        bytes /= 1024;
    }
    std::string text = std::to_string(bytes);
    if (rest * 10 / 1024 > 0) text += "." + std::to_string(rest * 10 / 1024);
    return text + " " + (unit == 0 && bytes == 1 ? "byte" : units[unit]);
}

}  // namespace cuscope
