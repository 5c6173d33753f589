// The findings of a block's checks: where each mistake was made, in words, and what to do about it.
#include <cstring>
#include <functional>
#include <string>

#include "host/checking/block_check.hpp"
#include "host/executor/executor.hpp"

namespace cuscope::simt {

using cuscope_simt::stamp_atomic;

std::string BlockCheck::describe(const Region& region, Space space, std::uintptr_t address) const {
    if (space == Space::global)
        return LaunchCheck::element(region, address) + " of " + launch_->describe(region);
    if (&region == &dynamic_)
        return "byte " + std::to_string(address - region.begin) + " of the block's dynamic shared memory (" +
               std::to_string(region.end - region.begin) + " bytes)";
    const std::size_t offset = address - region.begin;
    for (const SharedVariable& variable : launch_->launch().image->shared_variables())
        if (!variable.is_guard && offset - variable.offset < variable.bytes)
            return "byte " + std::to_string(offset - variable.offset) + " of the __shared__ variable '" +
                   variable.name + "' (" + std::to_string(variable.bytes) + " bytes)";
    return "byte " + std::to_string(offset) + " of the block's __shared__ variables";
}

namespace {

std::string coordinates(const std::array<std::int64_t, 3>& at) {
    return "(" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," + std::to_string(at[2]) + ")";
}
std::string name_of(const FoundThread& found) {
    return "block " + coordinates(found.block) + ", thread " + coordinates(found.thread);
}
std::string in_line(const std::string& line) { return line.empty() ? "" : " in " + line; }
const char* verb(bool reads, bool writes, bool atomic) {
    return atomic && reads && writes ? "changes" : writes ? "writes" : "reads";
}

// Findings of barriers and shuffles are told apart by their lines: these have no addresses of instructions.
std::uintptr_t key_of(const std::string& lines) { return std::hash<std::string>{}(lines); }

constexpr const char* out_of_bounds = "out of bounds";
constexpr const char* never_written = "never written";
constexpr const char* race_kind = "race";

}  // namespace

// Just beside shared memory, it is shared memory that was meant.
LaunchCheck::Outside BlockCheck::outside_of_shared(std::uintptr_t address) const {
    constexpr std::uintptr_t reach = std::uintptr_t{1} << 20;
    for (const Region* region : {&dynamic_, &static_}) {
        if (region->begin == 0) continue;
        const bool behind = address >= region->end;
        const std::uintptr_t distance = behind ? address - region->end : region->begin - address;
        if (distance >= reach) continue;
        const std::string bytes = std::to_string(region->end - region->begin) + " bytes of ";
        return {"at byte " +
                    std::to_string(static_cast<std::int64_t>(address) -
                                   static_cast<std::int64_t>(region->begin)) +
                    " of the block's " + bytes +
                    (region == &dynamic_ ? "dynamic shared memory" : "__shared__ variables"),
                region == &dynamic_
                    ? "Ask for more shared memory in the launch, kernel[grid, block, stream, bytes], "
                      "or compare the index before the access."
                    : "Compare the index before the access, or make the array larger.",
                ""};
    }
    return launch_->describe_outside(address);
}

void BlockCheck::outside(const Access& access) {
    bool is_new = false;
    Finding* const found = launch_->finding(out_of_bounds, access.instruction, nullptr, 0, &is_new);
    if (!is_new) return;
    const LaunchCheck::Outside where = outside_of_shared(access.address);
    found->first = launch_->thread_of(block_, access.thread, launch_->line_of(access.instruction));
    found->memory = where.memory;
    found->text = name_of(found->first) + in_line(found->first.line) + " " +
                  verb(access.reads, access.writes, access.atomic) + " " + std::to_string(access.bytes) +
                  (access.bytes == 1 ? " byte " : " bytes ") + where.text + ".";
    found->advice = where.advice;
}

// The access begins in the region and ends behind it.
void BlockCheck::beyond(const Access& access, const Region& region) {
    bool is_new = false;
    Finding* const found = launch_->finding(out_of_bounds, access.instruction, nullptr, 0, &is_new);
    if (!is_new) return;
    const Space space = &region == &static_ || &region == &dynamic_ ? Space::shared : Space::global;
    found->first = launch_->thread_of(block_, access.thread, launch_->line_of(access.instruction));
    if (space == Space::global) found->memory = launch_->describe(region);
    found->text = name_of(found->first) + in_line(found->first.line) + " " +
                  verb(access.reads, access.writes, access.atomic) + " " + std::to_string(access.bytes) +
                  " bytes from " + describe(region, space, access.address) + ": " +
                  std::to_string(access.address + access.bytes - region.end) +
                  " of these bytes lie behind its end.";
    found->advice = "Access fewer bytes at the end of the array, or make the array larger.";
}

void BlockCheck::index(unsigned thread, const char* array, long long index, const void* instruction) {
    bool is_new = false;
    Finding* const found = launch_->finding(out_of_bounds, instruction, nullptr, 1, &is_new);
    if (!is_new) return;
    found->first = launch_->thread_of(block_, thread, launch_->line_of(instruction));
    found->text = name_of(found->first) + in_line(found->first.line) + " uses the index " +
                  std::to_string(index) + " of an array of type " + array + ".";
    found->advice =
        "An index is from 0 to the size of the array minus 1: compare it before the access, or make "
        "the array larger.";
}

void BlockCheck::unwritten(const Access& access, const Region& region, Space space) {
    bool is_new = false;
    Finding* const found =
        launch_->finding(never_written, access.instruction, nullptr, region.begin, &is_new);
    if (!is_new) return;
    found->first = launch_->thread_of(block_, access.thread, launch_->line_of(access.instruction));
    if (space == Space::global) found->memory = launch_->describe(region);
    found->text = name_of(found->first) + in_line(found->first.line) + " " +
                  verb(access.reads, access.writes, access.atomic) + " " +
                  describe(region, space, access.address) + ", which was never written.";
    found->advice =
        space == Space::shared
            ? "Shared memory has no value when a block starts: write it first, and let the threads "
              "meet (__syncthreads) before they read what others wrote."
            : "Fill the array first: cs.zeros, cs.full or cs.to_device in place of cs.empty.";
}

void BlockCheck::race(const Access& access, const Region& region, Space space, Stamp stamp, bool other_writes,
                      Other other) {
    const bool known = other == Other::known;
    const Stamp other_code = known ? stamp & cuscope_simt::stamp_code_mask : 0;
    const void* const other_instruction = other_code == 0 ? nullptr : state_.code + other_code;
    bool is_new = false;
    Finding* const found = launch_->finding(race_kind, access.instruction, other_instruction,
                                            space == Space::shared ? 0 : region.begin, &is_new);
    if (found == nullptr) return;
    const bool values_matter =
        access.writes && !access.reads && access.bytes <= 16 && (stamp & stamp_atomic) == 0;
    Guesses& guesses = launch_->guesses;
    const bool reads_plainly = !access.writes && !access.atomic && !access.is_volatile;
    const bool swapped_by_other =
        known ? guesses.is_swap(other_code) : (stamp & stamp_atomic) != 0 && guesses.only_swaps(region.begin);
    const bool guess = access.bytes <= 8 && (other_writes ? reads_plainly && swapped_by_other
                                                          : access.swaps && (stamp & stamp_atomic) == 0);
    if (is_new) {
        const bool same_block = is_of_this_block(stamp) && other != Other::of_another_block;
        const std::uint64_t other_block = same_block                         ? block_
                                          : other == Other::of_another_block ? LaunchCheck::no_block
                                                                             : launch_->block_at(stamp);
        found->first = launch_->thread_of(block_, access.thread, launch_->line_of(access.instruction));
        found->other =
            launch_->thread_of(other_block, thread_of(stamp), known ? launch_->line_of(stamp) : "");
        if (!known) found->other.thread = {-1, -1, -1};
        const std::string me = name_of(found->first);
        const auto its_name = [&]() -> std::string {
            if (other == Other::of_another_block) return "a thread of another block";
            if (known)
                return same_block ? "thread " + coordinates(found->other.thread) : name_of(found->other);
            return same_block ? "another thread of the block"
                              : "a thread of block " + coordinates(found->other.block);
        };
        const std::string them = its_name();
        if (space == Space::global) found->memory = launch_->describe(region);
        found->text =
            me + in_line(found->first.line) + " " + verb(access.reads, access.writes, access.atomic) + " " +
            describe(region, space, access.address) + ", which " + them + in_line(found->other.line) +
            (other_writes ? " writes" : " reads") + ", and nothing orders the two. Here ";
        if (other_writes && access.writes)
            found->text += me + " comes last, so its value stays; on a GPU either value may stay.";
        else if (other_writes)
            found->text += me + " gets the new value; on a GPU it may get the old one.";
        else
            found->text += them + " gets the old value; on a GPU it may get the new one.";
        const bool same_warp = same_block && known && thread_of(stamp) / 32 == access.thread / 32;
        found->advice =
            !same_block
                ? "Blocks of a launch run in any order, or at once: let each block write elements of its "
                  "own, use an atomic operation, or do the second step in another kernel."
            : same_warp
                ? "Lanes of a warp do not run in step: put __syncwarp() between the two accesses, or "
                  "__syncthreads() if other warps take part."
                : "Put __syncthreads() between the two accesses, where all threads of the block come to "
                  "it, or use an atomic operation.";
        if (values_matter || guess) found->severity = Severity::note;
    }
    if (guess && found->severity == Severity::note) {
        if (other_writes)
            guesses.read_now(found, {block_, access.thread, access.address});
        else if (known)
            guesses.has_read(found, {is_of_this_block(stamp) ? block_ : launch_->block_at(stamp),
                                     thread_of(stamp), access.address});
        else
            guesses.have_read(found);
        return;
    }
    if (!values_matter) {
        found->severity = Severity::error;
        return;
    }
    if (found->severity == Severity::error) return;
    waiting_.waits = true;
    waiting_.address = access.address;
    waiting_.bytes = access.bytes;
    waiting_.finding = found;
    std::memcpy(waiting_.before.data(), reinterpret_cast<const void*>(access.address), access.bytes);
    use_slots(false);
}

// The store is done by now. A store that changes nothing is a note, as in compute-sanitizer's racecheck: the
// result does not depend on the order of the threads.
void BlockCheck::settle_waiting_race() {
    if (!waiting_.waits) return;
    waiting_.waits = false;
    if (state_.mixed == 0) use_slots(true);
    if (std::memcmp(waiting_.before.data(), reinterpret_cast<const void*>(waiting_.address),
                    waiting_.bytes) != 0)
        waiting_.finding->severity = Severity::error;
}

void BlockCheck::absent_lane(unsigned thread, unsigned source, const std::string& operation,
                             const std::string& line) {
    bool is_new = false;
    Finding* const found = launch_->finding("absent lane", nullptr, nullptr, key_of(line), &is_new);
    if (!is_new) return;
    found->severity = Severity::warning;
    found->first = launch_->thread_of(block_, thread, line);
    found->text = name_of(found->first) + in_line(line) + " asks for the value of lane " +
                  std::to_string(source) + " in " + operation +
                  "(), but that lane takes no part in it: the result is undefined.";
    found->advice =
        "Name the lanes that take part in the mask, and ask for their values only; or let all lanes "
        "of the warp take part, with a neutral value.";
}

void BlockCheck::different_barriers(unsigned thread, const std::string& line, unsigned other,
                                    const std::string& other_line, bool of_one_warp) {
    bool is_new = false;
    Finding* const found = launch_->finding("barrier", nullptr, nullptr,
                                            key_of(line + (of_one_warp ? "|" : "||") + other_line), &is_new);
    if (!is_new) return;
    found->severity = of_one_warp ? Severity::error : Severity::note;
    found->first = launch_->thread_of(block_, thread, line);
    found->other = launch_->thread_of(block_, other, other_line);
    found->text =
        name_of(found->first) + " waits at the barrier in " + line + ", and thread " +
        coordinates(found->other.thread) +
        (line == other_line ? " at another barrier of that line" : " at the barrier in " + other_line) +
        ": they meet by chance. CUDA allows a barrier in a branch only if all threads of the block take "
        "the same branch.";
    found->advice = "Take the barrier out of the branch, so that all threads come to the same one.";
}

}  // namespace cuscope::simt
