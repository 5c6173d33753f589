#include "runtime/activity.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <new>
#include <unordered_map>
#include <utility>

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

// Blocks of traces that have ended, for the next ones: the first touch of new pages took half of the time
// that a trace costs a simulated launch. Never destroyed, like the names.
class SpareBlocks {
  public:
    // The largest block; an empty one if there is none.
    RecordBlock take() {
        // After a fork another thread may hold the lock for ever.
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) return {};
        const auto less = [](const RecordBlock& a, const RecordBlock& b) { return a.bytes < b.bytes; };
        return std::exchange(*std::max_element(blocks_.begin(), blocks_.end(), less), {});
    }
    // False: there is no room for it.
    bool keep(RecordBlock block) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) return false;
        std::size_t bytes = block.bytes;
        for (const RecordBlock& kept : blocks_) bytes += kept.bytes;
        const auto free = std::find_if(blocks_.begin(), blocks_.end(),
                                       [](const RecordBlock& kept) { return kept.data == nullptr; });
        if (bytes > most_bytes || free == blocks_.end()) return false;
        *free = block;
        return true;
    }

  private:
    static constexpr std::size_t most_bytes = std::size_t{32} << 20;
    std::mutex mutex_;
    std::array<RecordBlock, 8> blocks_{};
};

SpareBlocks& spare_blocks() {
    static SpareBlocks* const instance = new SpareBlocks;
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

RecordBlock grown_block(RecordBlock block) {
    constexpr std::size_t huge_page = std::size_t{2} << 20, least = std::size_t{32} << 10;
    if (block.data == nullptr) {
        if (const RecordBlock spare = spare_blocks().take(); spare.data != nullptr) return spare;
    }
    const std::size_t bytes = std::max(least, 2 * block.bytes);
    void* const grown = std::realloc(block.data, bytes);
    if (grown == nullptr) throw std::bad_alloc();
    const auto begin = reinterpret_cast<std::uintptr_t>(grown);
    const std::uintptr_t first = (begin + huge_page - 1) / huge_page * huge_page;
    const std::uintptr_t last = (begin + bytes) / huge_page * huge_page;
    // A refusal does not matter: the pages are small then.
    if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
    return {grown, bytes};
}

void give_back(RecordBlock block) {
    if (block.data != nullptr && !spare_blocks().keep(block)) std::free(block.data);
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
