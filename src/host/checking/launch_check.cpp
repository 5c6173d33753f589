#include "host/checking/launch_check.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <tuple>
#include <utility>

#include "host/executor/executor.hpp"
#include "runtime/order/notes.hpp"

namespace cuscope::simt {
namespace {

using cuscope_simt::Stamp;
using cuscope_simt::stamp_time_at;

// Moments are counted through all launches, so that stamps of earlier launches are recognized.
std::uint64_t last_moment = 1;
unsigned era = 0;
constexpr std::uint64_t most_moments = std::uint64_t{1} << 26;

// Not a std::timed_mutex: ThreadSanitizer does not know the function that waits for it for some time.
struct Turns {
    std::mutex mutex;
    std::condition_variable ended;
    bool taken = false;
};

// Never destroyed: a kernel may still run while the process exits.
Turns& turns() {
    static auto* const instance = new Turns;
    return *instance;
}

constexpr std::size_t most_findings = 200;
// Memory of more than this is not searched for addresses: then every address counts as known to the kernel.
constexpr std::size_t most_searched = std::size_t{64} << 20;

std::string bytes_text(std::size_t bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace

bool Turn::begin() {
    Turns& all = turns();
    std::unique_lock lock(all.mutex);
    if (!all.ended.wait_for(lock, std::chrono::seconds(2), [&] { return !all.taken; })) return false;
    return all.taken = has_it_ = true;
}

void Turn::end() {
    if (!has_it_) return;
    Turns& all = turns();
    const std::scoped_lock lock(all.mutex);
    all.taken = has_it_ = false;
    all.ended.notify_one();
}

void LaunchCheck::add(Region region) {
    if (region.begin < region.end) regions_.push_back(std::move(region));
}

void LaunchCheck::name(const void* begin, std::size_t bytes, const char* name) {
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    for (Region& region : regions_) {
        if (region.begin != first || region.end != first + bytes) continue;
        region.name = name;
        region.shadow = std::make_shared<Shadow>(begin, bytes, true);
    }
}

void LaunchCheck::point_parameters(const cuscope_simt::KernelEntry& kernel, const ArgumentBytes& arguments) {
    std::sort(regions_.begin(), regions_.end(),
              [](const Region& a, const Region& b) { return a.begin < b.begin; });
    parameter_names_.clear();
    std::string_view names = kernel.parameter_names;
    for (unsigned i = 0; i < kernel.parameter_count; ++i) {
        const std::size_t comma = std::min(names.find(','), names.size());
        parameter_names_.emplace_back(names.substr(0, comma));
        names.remove_prefix(std::min(comma + 1, names.size()));
        const auto& parameter = kernel.parameters[i];
        // A structure may hold addresses, too, and a packed one at any place.
        for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= parameter.size; ++at) {
            std::uintptr_t address = 0;
            std::memcpy(&address, arguments.data() + parameter.offset + at, sizeof address);
            Region* region = region_at(address);
            // The address just behind an array belongs to the array.
            if (region == nullptr && address != 0) region = region_at(address - 1);
            if (region == nullptr) continue;
            auto& parameters = region->parameters;
            if (std::find(parameters.begin(), parameters.end(), i) == parameters.end())
                parameters.push_back(i);
        }
    }
}

bool LaunchCheck::begin(const Launch& launch) {
    if (!turn_.begin()) return false;
    if (last_moment > most_moments) {
        last_moment = 1;
        ++era;
    }
    for (Region& region : regions_) {
        region.accessed = false;
        if (region.shadow) region.shadow->forget_times(era);
    }
    launch_ = &launch;
    owners_.clear();
    known_.clear();
    findings_.clear();
    published.clear();
    guesses.clear();
    reach_known_ = reach_unknown_ = false;
    last_ = nullptr;
    first_ = Stamp{last_moment + 1} << stamp_time_at;
    set_past(first_);
    count_checked_launch();
    return true;
}

void LaunchCheck::count_as_written() {
    for (const Region& region : regions_)
        if (region.shadow && (!region.parameters.empty() || !region.name.empty()))
            region.shadow->mark_all_written();
}

void LaunchCheck::end(const Outcome& outcome) {
    if (outcome.status != Status::success && outcome.status != Status::launch_timeout) {
        Finding finding;
        finding.kernel = launch_->kernel->name;
        finding.kind = outcome.status == Status::misaligned_address     ? "misaligned address"
                       : outcome.status == Status::illegal_address      ? "illegal address"
                       : outcome.status == Status::hardware_stack_error ? "stack overflow"
                       : outcome.status == Status::assert_              ? "assertion"
                       : outcome.of_meeting                             ? "barrier"
                                                                        : "failure";
        finding.text = outcome.detail;
        finding.first = outcome.where;
        finding.other = outcome.other;
        finding.advice =
            finding.kind == "barrier"
                ? "Let every thread of the block come to the barrier, and every lane of the mask "
                  "to the operation: take it out of the branch, or name fewer lanes."
            : finding.kind == "misaligned address"
                ? "Make the address a multiple of the size of the access."
                : "The kernel ended here: correct this error, and check again.";
        // The access itself was reported with more words.
        const bool known = finding.kind == "illegal address" && !findings_.empty();
        if (!known) findings_.push_back(std::move(finding));
    }
    guesses.settle();
    join_reads_and_writes();
    for (const Finding& finding : findings_) add_finding(finding);
    findings_.clear();
    tell_accesses(launch_->token);
    owners_ = {};
    turn_.end();
}

void LaunchCheck::tell_accesses(std::uint64_t token) const {
    if (token == 0) return;
    std::vector<order::Ran> ran;
    bool polls = false;
    for (const Region& region : regions_) {
        if (!region.accessed || !region.shadow) continue;
        polls |= region.shadow->for_each_access(
            first_, [&](std::uintptr_t begin, std::uintptr_t end, bool written, bool atomic) {
                begin = std::max(begin, region.begin);
                end = std::min(end, region.end);
                ran.push_back({begin, end, written, atomic});
            });
    }
    order::launch_ran(token, std::move(ran), polls, true);
}

void LaunchCheck::join_reads_and_writes() {
    constexpr std::string_view reads = " reads ", writes = " writes ";
    const auto place_of = [](const Finding& finding) {
        return std::tie(finding.kind, finding.severity, finding.first.block, finding.first.thread,
                        finding.first.line, finding.other.block, finding.other.thread, finding.other.line);
    };
    for (std::size_t i = 0; i < findings_.size(); ++i) {
        Finding& one = findings_[i];
        const std::size_t verb = one.text.find(reads);
        if (verb == std::string::npos) continue;
        // Both texts name the same place; what follows a comma differs in a race.
        std::string beginning(one.text, 0, one.text.find(',', verb));
        beginning.replace(verb, reads.size(), writes);
        const auto other = std::find_if(findings_.begin(), findings_.end(), [&](const Finding& finding) {
            return place_of(finding) == place_of(one) && finding.text.rfind(beginning, 0) == 0;
        });
        if (other == findings_.end()) continue;
        one.text.replace(verb, reads.size(), " reads and writes ");
        other->text.clear();  // to be erased: erasing now would move the findings
        one.count = std::max(one.count, other->count);
    }
    findings_.erase(std::remove_if(findings_.begin(), findings_.end(),
                                   [](const Finding& finding) { return finding.text.empty(); }),
                    findings_.end());
}

Stamp LaunchCheck::tick(std::uint64_t block) {
    owners_.push_back(static_cast<std::uint32_t>(block));
    return Stamp{++last_moment} << stamp_time_at;
}

void LaunchCheck::set_past(Stamp past) {
    past_ = past;
    for (const Region& region : regions_)
        if (region.shadow) region.shadow->set_past(past);
}

std::uint64_t LaunchCheck::block_at(Stamp stamp) const {
    const std::uint64_t moment = (stamp >> stamp_time_at) - (first_ >> stamp_time_at);
    return moment < owners_.size() ? owners_[moment] : no_block;
}

Region* LaunchCheck::region_at(std::uintptr_t address) {
    const auto after =
        std::upper_bound(regions_.begin(), regions_.end(), address,
                         [](std::uintptr_t at, const Region& region) { return at < region.begin; });
    return after == regions_.begin() || !after[-1].holds(address) ? nullptr : &after[-1];
}

bool LaunchCheck::has_access(const Region& region) const {
    const auto& refused = launch_->out_of_access;
    return !std::binary_search(refused.begin(), refused.end(), region.begin);
}

Region* LaunchCheck::find(std::uintptr_t address) {
    if (last_ != nullptr && last_->holds(address)) return last_;
    Region* const region = region_at(address);
    if (region == nullptr || !has_access(*region)) return nullptr;
    return last_ = region;
}

bool LaunchCheck::in_reach(const Region& region) {
    if (!region.parameters.empty() || !region.name.empty() || region.on_host) return true;
    if (!reach_known_) find_reach();
    return reach_unknown_ || reached_[static_cast<std::size_t>(&region - regions_.data())];
}

// Searches the memory of the arguments and the module's variables for addresses, then the memory at those.
void LaunchCheck::find_reach() {
    reach_known_ = true;
    reached_.assign(regions_.size(), false);
    std::vector<std::size_t> open;
    const auto reach = [&](std::size_t index) {
        if (reached_[index]) return;
        reached_[index] = true;
        open.push_back(index);
    };
    for (std::size_t i = 0; i < regions_.size(); ++i) {
        const Region& region = regions_[i];
        if (!region.parameters.empty() || !region.name.empty() || region.on_host) reach(i);
    }
    Region* const last = last_;
    while (!open.empty()) {
        const Region& region = regions_[open.back()];
        open.pop_back();
        if (!region.shadow) continue;
        if (region.end - region.begin > most_searched) {
            reach_unknown_ = true;
            break;
        }
        for (std::uintptr_t at = (region.begin + 7) / 8 * 8; at + 8 <= region.end; at += 8) {
            std::uintptr_t value = 0;
            std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
            if (value < 4096 || value >> 47 != 0) continue;
            if (const Region* found = find(value)) reach(static_cast<std::size_t>(found - regions_.data()));
        }
    }
    last_ = last;
}

std::string LaunchCheck::parameter_names(const Region& region) const {
    std::string text;
    for (const unsigned parameter : region.parameters) {
        const std::string& name = parameter_names_.at(parameter);
        text += (text.empty() ? "'" : ", '") + (name.empty() ? std::to_string(parameter) : name) + "'";
    }
    return text;
}

std::string LaunchCheck::describe_label(const MemoryLabel& label, std::size_t bytes) const {
    std::string text;
    if (!label.dtype.empty()) text += label.dtype + ", shape " + label.shape + ", ";
    text += bytes_text(bytes);
    if (!label.made_at.empty()) text += ", made in " + label.made_at;
    if (!label.freed_at.empty()) text += ", freed in " + label.freed_at;
    return text;
}

std::string LaunchCheck::describe(const Region& region) const {
    if (!region.name.empty())
        return "the variable '" + region.name + "' (" + bytes_text(region.end - region.begin) + ")";
    const bool several = region.parameters.size() > 1;
    std::string text = region.parameters.empty() ? region.on_host ? "host memory that kernels may use"
                                                                  : "an allocation that is no argument"
                       : several                 ? "the arguments " + parameter_names(region)
                                                 : "the argument " + parameter_names(region);
    const std::size_t bytes = region.end - region.begin;
    text += " (" +
            (region.label ? describe_label(*region.label, bytes)
                          : bytes_text(bytes) + ", made before the check began") +
            ")";
    return text;
}

std::string LaunchCheck::element(const Region& region, std::uintptr_t address) {
    const auto offset = static_cast<std::int64_t>(address) - static_cast<std::int64_t>(region.begin);
    if (region.label && region.label->item_bytes != 0) {
        const auto item = static_cast<std::int64_t>(region.label->item_bytes);
        if (offset % item == 0) return "element " + std::to_string(offset / item);
    }
    return "byte " + std::to_string(offset);
}

LaunchCheck::Outside LaunchCheck::describe_outside(std::uintptr_t address) {
    if (address < 4096)
        return {"at the address " + std::to_string(address) + ", which is null or a small number",
                "Pass an array; a null pointer has no memory.", ""};
    if (const Region* const region = region_at(address); region != nullptr && !has_access(*region)) {
        const std::string memory = describe(*region);
        return {"at " + element(*region, address) + " of " + memory + " on host:" +
                    std::to_string(region->device) + ", which the kernel's device has no access to",
                "Call Device.enable_peer_access() of the kernel's device, or copy the array to that device.",
                memory};
    }
    for (const FreedMemory& freed : freed_) {
        if (address < freed.begin || address >= freed.end) continue;
        const std::string memory =
            "freed memory (" + describe_label(*freed.label, freed.end - freed.begin) + ")";
        return {
            "of " + memory + ", at byte " + std::to_string(address - freed.begin),
            "Keep a reference to the array until the kernel has ended, or pass the array itself instead of "
            "its address.",
            memory};
    }
    // The nearest memory of the kernel, on either side. A wrong index reaches far behind an argument. Memory
    // that is no argument lies near by chance if it is far away: the host's memory may be beside it.
    const Region* nearest = nullptr;
    for (const bool arguments : {true, false}) {
        std::uintptr_t least = std::uintptr_t{1} << (arguments ? 30 : 20);
        for (const Region& region : regions_) {
            if (arguments == region.parameters.empty() || !has_access(region)) continue;
            const std::uintptr_t distance = address >= region.end    ? address - region.end
                                            : address < region.begin ? region.begin - address
                                                                     : 0;
            if (distance < least) {
                least = distance;
                nearest = &region;
            }
        }
        if (nearest != nullptr) break;
    }
    if (nearest == nullptr)
        return {
            "at an address that is no memory of the device",
            "A kernel cannot use the host's memory: copy the array to the device (cs.to_device), or make it "
            "with cs.pinned_empty or cs.managed_empty.",
            ""};
    const bool behind = address >= nearest->begin;
    const std::string memory = describe(*nearest);
    std::string text = "at " + element(*nearest, address) + " of " + memory + ": " +
                       bytes_text(behind ? address - nearest->end : nearest->begin - address) +
                       (behind ? " behind its end" : " before its beginning");
    return {std::move(text),
            behind ? "Compare the index with the size of the array before the access, as in 'if (i < n)', or "
                     "make the array larger."
                   : "The index is negative: begin the loop later, or compare the index with 0.",
            memory};
}

std::string LaunchCheck::line_of(const void* instruction) const {
    return launch_->image->source_line(static_cast<const char*>(instruction) - 1);
}

std::string LaunchCheck::line_of(Stamp stamp) const {
    const Stamp code = stamp & cuscope_simt::stamp_code_mask;
    return code == 0 ? "" : line_of(launch_->image->facts().code_begin + code);
}

FoundThread LaunchCheck::thread_of(std::uint64_t block, unsigned thread, std::string line) const {
    FoundThread found;
    found.line = std::move(line);
    const auto fill = [](std::array<std::int64_t, 3>& to, std::uint64_t number, const Dim3& size) {
        to = {static_cast<std::int64_t>(number % size.x), static_cast<std::int64_t>(number / size.x % size.y),
              static_cast<std::int64_t>(number / size.x / size.y)};
    };
    if (block != no_block) fill(found.block, block, launch_->grid);
    fill(found.thread, thread, launch_->block);
    return found;
}

Finding* LaunchCheck::finding(const char* kind, const void* first, const void* other, std::uintptr_t memory,
                              bool* is_new) {
    *is_new = false;
    for (const Known& known : known_) {
        if (known.kind != kind || known.first != first || known.other != other || known.memory != memory)
            continue;
        Finding& found = findings_[known.finding];
        ++found.count;
        return &found;
    }
    if (findings_.size() >= most_findings) return nullptr;
    *is_new = true;
    known_.push_back({kind, first, other, memory, findings_.size()});
    Finding& made = findings_.emplace_back();
    made.kind = kind;
    made.kernel = launch_->kernel->name;
    return &made;
}

}  // namespace cuscope::simt
