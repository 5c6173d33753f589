#include "runtime/checking.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

namespace cuscope {

std::atomic<int> detail::checks_running{0};

namespace {

constexpr std::size_t most_freed = 256;

std::atomic<ProgramLine> program_line_function{nullptr};
std::atomic<ProgramLineText> line_text_function{nullptr};

// Never destroyed: a kernel may still run while the process exits.
struct Checks {
    std::mutex mutex;
    std::uint64_t last = 0;
    std::map<std::uint64_t, Findings> running;
    std::map<std::uintptr_t, MemoryLabelPtr> labels;
    std::map<std::uintptr_t, std::uintptr_t> known;  // begin and end
    std::deque<FreedMemory> freed;
};

Checks& checks() {
    static auto* const instance = new Checks;
    return *instance;
}

auto key_of(const Finding& finding) {
    return std::tie(finding.kind, finding.kernel, finding.first.line, finding.other.line, finding.memory,
                    finding.severity);
}

}  // namespace

void Findings::add(const Finding& finding) {
    const auto known = std::find_if(list_.begin(), list_.end(),
                                    [&](const Finding& other) { return key_of(other) == key_of(finding); });
    if (known != list_.end()) {
        known->count += finding.count;
    } else if (list_.size() < most) {
        list_.push_back(finding);
    } else {
        ++left_out;
    }
}

std::vector<Finding> Findings::list() const { return list_; }

std::uint64_t begin_check() {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    all.running[++all.last];
    ++detail::checks_running;
    return all.last;
}

Findings end_check(std::uint64_t handle) {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    auto ended = all.running.extract(handle);
    if (ended.empty()) return {};
    if (--detail::checks_running == 0) {
        all.labels.clear();
        all.freed.clear();
        all.known.clear();
    }
    return std::move(ended.mapped());
}

Findings findings_of(std::uint64_t handle) {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.running.find(handle);
    return found == all.running.end() ? Findings() : found->second;
}

void add_finding(const Finding& finding) {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    for (auto& [handle, findings] : all.running) findings.add(finding);
}

void count_checked_launch() {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    for (auto& [handle, findings] : all.running) ++findings.launches;
}

void count_unchecked_launch(const std::string& kernel, const std::string& reason) {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    const std::string line = kernel + ": " + reason;
    for (auto& [handle, findings] : all.running) {
        ++findings.unchecked;
        auto& names = findings.unchecked_kernels;
        if (std::find(names.begin(), names.end(), line) == names.end()) names.push_back(line);
    }
}

void count_checked_command() {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    for (auto& [handle, findings] : all.running) ++findings.commands;
}

void set_program_line(ProgramLine line, ProgramLineText text) noexcept {
    program_line_function = line;
    line_text_function = text;
}

std::uint32_t program_line_number() {
    const ProgramLine function = program_line_function.load();
    return function == nullptr ? 0 : function();
}

std::string text_of_program_line(std::uint32_t line) {
    const ProgramLineText function = line_text_function.load();
    return function == nullptr || line == 0 ? std::string() : function(line);
}

std::string program_line() { return text_of_program_line(program_line_number()); }

void label_memory(const void* address, std::size_t bytes) {
    auto label = std::make_shared<MemoryLabel>();
    label->bytes = bytes;
    label->made_at = program_line();
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    all.labels[reinterpret_cast<std::uintptr_t>(address)] = std::move(label);
}

void describe_memory(const void* address, std::string dtype, std::string shape, std::size_t item_bytes) {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.labels.find(reinterpret_cast<std::uintptr_t>(address));
    if (found == all.labels.end()) return;
    auto label = std::make_shared<MemoryLabel>(*found->second);
    label->dtype = std::move(dtype);
    label->shape = std::move(shape);
    label->item_bytes = item_bytes;
    found->second = std::move(label);
}

MemoryLabelPtr label_of(const void* address) {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.labels.find(reinterpret_cast<std::uintptr_t>(address));
    return found == all.labels.end() ? nullptr : found->second;
}

MemoryLabelPtr label_holding(std::uintptr_t address, std::uintptr_t* base) {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    auto after = all.labels.upper_bound(address);
    if (after == all.labels.begin()) return nullptr;
    --after;
    if (address - after->first >= after->second->bytes) return nullptr;
    *base = after->first;
    return after->second;
}

void know_memory(const void* address, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    std::uintptr_t& end = all.known[begin];
    end = std::max(end, begin + bytes);
}

std::vector<std::pair<std::uintptr_t, std::uintptr_t>> known_memory() {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    return {all.known.begin(), all.known.end()};
}

void note_freed(const void* address, std::size_t bytes) {
    const std::string line = program_line();
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    auto label = std::make_shared<MemoryLabel>();
    if (const auto found = all.labels.find(begin); found != all.labels.end()) {
        *label = *found->second;
        all.labels.erase(found);
    }
    label->freed_at = line;
    all.freed.push_front({begin, begin + bytes, std::move(label)});
    if (all.freed.size() > most_freed) all.freed.pop_back();
}

std::vector<FreedMemory> freed_memory() {
    Checks& all = checks();
    const std::scoped_lock lock(all.mutex);
    return {all.freed.begin(), all.freed.end()};
}

}  // namespace cuscope
