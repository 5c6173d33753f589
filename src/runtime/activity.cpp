#include "runtime/activity.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <new>
#include <unordered_map>

namespace cuscope {
namespace {

// Never destroyed: threads of the runtimes may record while the process exits.
struct Names {
    std::mutex mutex;
    std::deque<std::string> names{""};
    std::unordered_map<std::string_view, std::uint32_t> places;
};

Names& table() {
    static Names* const instance = new Names;
    return *instance;
}

}  // namespace

std::uint32_t index_of_name(std::string_view name) {
    if (name.empty()) return 0;
    Names& all = table();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.places.find(name); found != all.places.end()) return found->second;
    const auto place = static_cast<std::uint32_t>(all.names.size());
    all.places.emplace(all.names.emplace_back(name), place);  // a deque: the text keeps its address
    return place;
}

std::vector<std::string> activity_names() {
    Names& all = table();
    const std::lock_guard lock(all.mutex);
    return {all.names.begin(), all.names.end()};
}

void set_direction(WorkRecord* record, CopyDirection direction) {
    struct Known {
        const char* name;
        ActivityEngine engine;
    };
    static constexpr std::array<Known, 5> known = {{
        {"host to device", ActivityEngine::copy_to_device},
        {"device to host", ActivityEngine::copy_to_host},
        {"device to device", ActivityEngine::copy_on_device},
        {"host to host", ActivityEngine::none},
        {"device to other device", ActivityEngine::copy_on_device},
    }};
    static const auto names = [] {
        std::array<std::uint32_t, known.size()> made{};
        for (std::size_t i = 0; i < known.size(); ++i) made[i] = index_of_name(known[i].name);
        return made;
    }();
    const auto place = static_cast<std::size_t>(direction);
    record->name = names[place];
    record->engine = known[place].engine;
}

std::string activity_name(std::uint32_t index) {
    Names& all = table();
    const std::lock_guard lock(all.mutex);
    return all.names.at(index);
}

std::uint64_t next_activity_number() {
    static std::atomic<std::uint64_t> number{0};
    return number.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint32_t thread_number(CallContext& context) {
    if (context.thread == 0) context.thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    return context.thread;
}

void* grown_block(void* block, std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    void* const grown = std::realloc(block, bytes);
    if (grown == nullptr) throw std::bad_alloc();
    const auto begin = reinterpret_cast<std::uintptr_t>(grown);
    const std::uintptr_t first = (begin + huge_page - 1) / huge_page * huge_page;
    const std::uintptr_t last = (begin + bytes) / huge_page * huge_page;
    // A refusal does not matter: the pages are small then.
    if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
    return grown;
}

bool ActivityLog::has_room(std::size_t bytes) {
    if (bytes_ + bytes <= most_bytes_) {
        bytes_ += bytes;
        return true;
    }
    ++dropped;
    return false;
}

void ActivityRecorder::start(std::shared_ptr<ActivityLog> log) {
    const std::lock_guard lock(mutex_);
    logs_.push_back(std::move(log));
}

bool ActivityRecorder::stop(const std::shared_ptr<ActivityLog>& log) {
    const std::lock_guard lock(mutex_);
    std::erase(logs_, log);
    return logs_.empty();
}

bool ActivityRecorder::is_last(const std::shared_ptr<ActivityLog>& log) {
    const std::lock_guard lock(mutex_);
    return logs_.size() == 1 && logs_.front() == log;
}

void ActivityRecorder::add(const WorkRecord& record) {
    const std::lock_guard lock(mutex_);
    for (const auto& log : logs_) {
        if (log->has_room(sizeof record)) log->work.push_back(record);
    }
}

void ActivityRecorder::add(const std::vector<WorkRecord>& records) {
    const std::lock_guard lock(mutex_);
    for (const auto& log : logs_) {
        for (const WorkRecord& record : records) {
            if (log->has_room(sizeof record)) log->work.push_back(record);
        }
    }
}

void ActivityRecorder::add(const HostRecord& record) {
    const std::lock_guard lock(mutex_);
    for (const auto& log : logs_) {
        if (log->has_room(sizeof record)) log->host.push_back(record);
    }
}

void ActivityRecorder::add(const StreamRecord& record) {
    const std::lock_guard lock(mutex_);
    for (const auto& log : logs_) {
        const bool known = std::any_of(log->streams.begin(), log->streams.end(),
                                       [&](const StreamRecord& other) { return other.id == record.id; });
        if (!known) log->streams.push_back(record);
    }
}

void ActivityRecorder::drop(std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    for (const auto& log : logs_) log->dropped += count;
}

}  // namespace cuscope
