// Describes the failure of a block in words: which threads wait at which place for which threads, and the
// details of a fault.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuscope_simt/tensor/layout.h"
#include "host/executor/block.hpp"
#include "host/executor/grid.hpp"

namespace cuscope::simt {

std::string coordinates(const cuscope_simt::Index3& index) {
    return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) +
           ")";
}

std::string line_of(const Site* site) {
    return site == nullptr ? "" : std::string(site->file) + ":" + std::to_string(site->line);
}

std::string operation_at(const Site* site) {
    if (site == nullptr) return "an unknown place";
    return std::string(site->operation) + "() in " + line_of(site);
}

bool same_site(const Site* a, const Site* b) {
    if (a == nullptr || b == nullptr) return a == b;
    return a == b || (a->line == b->line && a->place == b->place &&
                      (a->file == b->file || std::strcmp(a->file, b->file) == 0));
}

}  // namespace cuscope::simt

namespace cuscope_simt {

using cuscope::simt::coordinates;
using cuscope::simt::line_of;
using cuscope::simt::operation_at;
using cuscope::simt::same_site;

namespace {

constexpr unsigned groups_named = 4;

std::string hexadecimal(unsigned long long value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%0*llx", digits, value);
    return text;
}

// " in kernel.cu:12"; empty if the line is not known.
std::string in(const std::string& line) { return line.empty() ? "" : " in " + line; }

Index3 thread_index(unsigned linear, const Index3& dim) {
    return {linear % dim.x, linear / dim.x % dim.y, linear / dim.x / dim.y};
}

std::string counted_threads(unsigned count, unsigned first, const Index3& dim, const char* one,
                            const char* several) {
    const std::string thread = "thread " + coordinates(thread_index(first, dim));
    if (count == 1) return thread + " " + one;
    return std::to_string(count) + " threads " + several + ", the first of them " + thread;
}

}  // namespace

std::string Block::block_name() const {
    return std::string("kernel '") + entry_->name + "', block " + coordinates(prototype_.block_index);
}

std::string Block::thread_name(const Strand* strand) const {
    return block_name() + ", thread " + coordinates(strand->thread_index);
}

cuscope::FoundThread Block::found(const Strand* strand, std::string line) const {
    const Index3 &block = prototype_.block_index, &thread = strand->thread_index;
    return {{block.x, block.y, block.z}, {thread.x, thread.y, thread.z}, std::move(line)};
}

// Describes the state of the threads in `asked`, except threads that wait with `like`.
std::string Block::describe_absent(const std::vector<bool>& asked, const Strand* like) const {
    struct Cohort {
        const Strand* example;  // null: ended
        unsigned count, first;
    };
    std::vector<const Strand*> holders(thread_count_);
    for (unsigned i = 0; i < used_; ++i)
        if (strands_[i]->wait != Strand::Wait::ended) holders[strands_[i]->linear_thread] = strands_[i];
    const auto has_started = [this](unsigned thread) { return place_of_thread(thread) < next_thread_; };
    std::vector<Cohort> groups;
    for (unsigned thread = 0; thread < thread_count_; ++thread) {
        if (!asked[thread]) continue;
        const Strand* holder = holders[thread];
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Cohort& known) {
            if (known.example == nullptr || holder == nullptr)
                return known.example == holder && has_started(known.first) == has_started(thread);
            return known.example->wait == holder->wait && same_site(known.example->site, holder->site) &&
                   (holder->wait != Strand::Wait::warp || known.example->mask == holder->mask);
        });
        if (group == groups.end())
            groups.push_back({holder, 1, thread});
        else
            ++group->count;
    }
    std::string text;
    for (std::size_t i = 0; i < groups.size() && i < groups_named; ++i) {
        const Cohort& group = groups[i];
        text += "; ";
        if (group.example == nullptr && !has_started(group.first)) {
            text += counted_threads(group.count, group.first, prototype_.block_dim, "has not started",
                                    "have not started");
            continue;
        }
        if (group.example != nullptr && group.example->wait == Strand::Wait::none) {
            text += counted_threads(group.count, group.first, prototype_.block_dim, "is elsewhere",
                                    "are elsewhere");
            continue;
        }
        if (group.example == nullptr) {
            text +=
                counted_threads(group.count, group.first, prototype_.block_dim, "has ended", "have ended");
            continue;
        }
        std::string place = operation_at(group.example->site);
        if (group.example->wait == Strand::Wait::warp && like->wait == Strand::Wait::warp)
            place += " with mask " + hexadecimal(group.example->mask, 8);
        text += counted_threads(group.count, group.first, prototype_.block_dim, ("waits at " + place).c_str(),
                                ("wait at " + place).c_str());
    }
    if (groups.size() > groups_named) text += "; others wait elsewhere";
    return text;
}

// `first`: a strand that waits for the reason to report. If null: the first thread that waits at the barrier,
// or else at a rendezvous.
namespace {

using cuscope::simt::Strand;

bool waits_at_mbarrier(const Strand* strand) {
    return strand->wait == Strand::Wait::outside &&
           std::strncmp(strand->site->operation, "mbarrier.", std::strlen("mbarrier.")) == 0;
}

// The arrivals and bytes that the phase of the barrier waits for. The strand waits for a change of the
// barrier's first half.
std::string state_of_mbarrier(const Strand* strand) {
    unsigned long long word = 0;
    std::memcpy(&word, static_cast<const void*>(strand->word), sizeof word);
    const auto barrier = tensor::Mbarrier::of(word);
    std::string text = ". The phase waits for " + std::to_string(barrier.pending) +
                       (barrier.pending == 1 ? " more arrival" : " more arrivals");
    if (barrier.bytes > 0)
        text += ", and for " + std::to_string(barrier.bytes) + " bytes that were announced and not copied";
    if (barrier.bytes < 0)
        text += ", and " + std::to_string(-barrier.bytes) + " bytes were copied that nobody has announced";
    return text + ".";
}

}  // namespace

void Block::describe_deadlock(const Strand* first) {
    const bool search = first == nullptr;
    auto rank = [](const Strand* strand) {
        return strand->wait == Strand::Wait::barrier ? 0 : strand->wait == Strand::Wait::outside ? 1 : 2;
    };
    for (unsigned i = 0; search && i < used_; ++i) {
        const Strand* strand = strands_[i];
        if (strand->wait == Strand::Wait::ended || strand->wait == Strand::Wait::none) continue;
        if (first == nullptr || rank(strand) < rank(first) ||
            (rank(strand) == rank(first) && strand->linear_thread < first->linear_thread))
            first = strand;
    }
    const bool in_warp = first->wait == Strand::Wait::warp;
    const unsigned warp_begin = first->linear_thread - first->lane();
    const bool in_group = first->wait == Strand::Wait::group;
    std::vector<bool> asked(thread_count_, !in_warp && !in_group);
    if (in_group) {
        for (const Group& group : groups_)
            for (const Strand* strand = group.waiting.first(); strand != nullptr; strand = strand->next)
                if (strand == first)
                    std::fill_n(asked.begin() + group.first,
                                std::min(group.count, thread_count_ - group.first), true);
    }
    if (in_warp) {
        for (unsigned lane = 0; lane < 32 && warp_begin + lane < thread_count_; ++lane)
            asked[warp_begin + lane] = (first->mask >> lane & 1) != 0;
    }
    // An operation that uses the values of other threads needs all of them. Any other operation does not wait
    // for threads that have ended.
    const bool needs_all = in_group || (in_warp && first->kind == WarpKind::gather);
    if (!needs_all) {
        std::vector<bool> going_on(thread_count_);
        for (unsigned thread = 0; thread < thread_count_; ++thread)
            going_on[thread] = place_of_thread(thread) >= next_thread_;
        for (unsigned i = 0; i < used_; ++i)
            if (strands_[i]->wait != Strand::Wait::ended) going_on[strands_[i]->linear_thread] = true;
        for (unsigned thread = 0; thread < thread_count_; ++thread)
            asked[thread] = asked[thread] && going_on[thread];
    }
    const auto total = static_cast<unsigned>(std::count(asked.begin(), asked.end(), true));
    unsigned waiting = 0;
    for (unsigned i = 0; i < used_; ++i) {
        const Strand* strand = strands_[i];
        if (strand->wait != first->wait || !asked[strand->linear_thread]) continue;
        if (in_warp ? strand->mask != first->mask || strand->kind != first->kind
                    : !same_site(strand->site, first->site))
            continue;
        asked[strand->linear_thread] = false;
        ++waiting;
    }
    std::string text = block_name() + ": " + std::to_string(waiting) + " of " + std::to_string(total);
    if (in_warp) {
        text += " lanes of mask " + hexadecimal(first->mask, 8) + " in warp " +
                std::to_string(first->warp_index()) + (waiting == 1 ? " waits at " : " wait at ");
    } else {
        text += waiting == 1 ? " threads waits at " : " threads wait at ";
    }
    text += operation_at(first->site) + describe_absent(asked, first);
    const std::string lanes = needs_all ? ". Every lane that the mask names"
                                        : ". Every lane that the mask names and that has not ended";
    text += in_warp    ? lanes + " has to come, with the same mask and operation."
            : in_group ? ". Every thread of the group has to come."
            : waits_at_mbarrier(first)
                ? state_of_mbarrier(first)
                : ". Every thread of the block that has not ended has to come to a barrier.";
    failure_ = {Status::launch_failure, std::move(text), found(first, line_of(first->site)), {}, true};
    const Strand* other = nullptr;
    for (unsigned i = 0; i < used_; ++i) {
        const Strand* strand = strands_[i];
        if (!asked[strand->linear_thread] || strand->wait == Strand::Wait::ended || strand->site == nullptr ||
            same_site(strand->site, first->site))
            continue;
        if (other == nullptr || strand->linear_thread < other->linear_thread) other = strand;
    }
    if (other != nullptr) failure_.other = found(other, line_of(other->site));
}

// All threads have come to a barrier, but to different barrier functions.
void Block::describe_mixed_barrier() {
    const Strand* first = nullptr;
    const Strand* other = nullptr;
    const auto nearer = [](const Strand* strand, const Strand* known) {
        return known == nullptr || strand->linear_thread < known->linear_thread;
    };
    for (unsigned i = 0; i < used_; ++i) {
        const Strand* strand = strands_[i];
        if (strand->wait == Strand::Wait::barrier && nearer(strand, first)) first = strand;
    }
    unsigned count = 0;
    for (unsigned i = 0; i < used_; ++i) {
        const Strand* strand = strands_[i];
        if (strand->wait != Strand::Wait::barrier) continue;
        if (strand->barrier_kind == first->barrier_kind)
            ++count;
        else if (nearer(strand, other))
            other = strand;
    }
    failure_ = {Status::launch_failure,
                block_name() + ": " + std::to_string(count) + " of " + std::to_string(live_) +
                    (count == 1 ? " threads waits at " : " threads wait at ") + operation_at(first->site) +
                    ", and thread " + coordinates(thread_index(other->linear_thread, prototype_.block_dim)) +
                    " at " + operation_at(other->site) +
                    ". These meet, but give different answers: on a GPU the result is undefined. Every "
                    "thread of the block has to call the same function.",
                found(first, line_of(first->site)), found(other, line_of(other->site)), true};
}

void Block::describe_foreign_lane(const Strand* self) {
    failure_ = {Status::launch_failure,
                thread_name(self) + ": " + operation_at(self->site) + " with mask " +
                    hexadecimal(self->mask, 8) + ", which does not name the caller's own lane " +
                    std::to_string(self->lane()) + ". A lane may call it only with a mask that has its bit.",
                found(self, line_of(self->site)),
                {},
                true};
}

// "kernel.cu:12" for the call that returns to an address; empty if its line is not known.
std::string Block::line_of_call(const void* return_address) const {
    if (return_address == nullptr) return "";
    return image_->source_line(static_cast<const char*>(return_address) - 1);
}

// The same for a fault. The kernel may have called code outside the image, such as memcpy(), which has put
// nothing on the stack above its return address. The same holds after a jump to an address without code, and
// for the functions of instrumented images that do an atomic operation, which have no lines.
std::string Block::line_of_fault() const {
    const cuscope::simt::Image& image = *image_;
    const std::string line = image.source_line(target.instruction);
    if (!line.empty()) return line;
    const auto stack = reinterpret_cast<std::uintptr_t>(target.stack);
    const auto begin = reinterpret_cast<std::uintptr_t>(running_->memory_begin);
    const auto end = reinterpret_cast<std::uintptr_t>(running_->stack_end);
    if (stack % sizeof(void*) != 0 || stack < begin || stack >= end) return "";
    const void* const returns_to = *reinterpret_cast<const void* const*>(stack);
    if (image.holds_code(target.instruction) && !image.is_call_of(returns_to, target.instruction)) return "";
    return line_of_call(returns_to);
}

// The place of an overrun is not known, only the place where it was noticed.
std::string Block::describe_smashed(const void* noticed) const {
    const std::string line = line_of_call(noticed), kernel = image_->source_line(entry_->function);
    std::string text = "it wrote past the end of a local array";
    if (!line.empty())
        text += " of the function that ends" + in(line);
    else if (!kernel.empty())
        text += " of the kernel in " + kernel + ", or of a function that the kernel calls";
    return text + ": what lies behind it on its stack is damaged";
}

// `caller`: the return address of the call that found the fault.
void Block::describe_fault(const Strand* self, Fault kind, const char* message, const Site* site,
                           const void* caller) {
    std::string what = kind == Fault::smashed_stack ? describe_smashed(message)
                       : message == nullptr         ? ""
                                                    : message;
    if (what.empty()) what = kind == Fault::assertion ? "an assertion failed" : "__trap()";
    Status status = Status::launch_failure;
    if (kind == Fault::misaligned) status = Status::misaligned_address;
    if (kind == Fault::illegal_instruction) status = Status::illegal_instruction;
    if (kind == Fault::smashed_stack) status = Status::illegal_address;
    if (kind == Fault::no_graph) {
        status = Status::illegal_address;
        what =
            "cudaGraphLaunch() of an executable that was not instantiated with device_launch, or was "
            "destroyed";
    }
    if (kind == Fault::assertion) {
        status = Status::assert_;
        // CUDA prints assertion failures itself.
        const std::string line = what + "\n";
        [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
    }
    const bool unknown = kind == Fault::smashed_stack && self->ended != 0;
    std::string text = unknown ? block_name() + ": one of its threads" : thread_name(self);
    text += ": " + what;
    const std::string line = site != nullptr                ? line_of(site)
                             : kind != Fault::smashed_stack ? line_of_call(caller)
                                                            : "";
    if (kind != Fault::assertion) text += in(line);  // its message has the line already
    failure_ = {status, std::move(text)};
    if (!unknown) failure_.where = found(self, line);
}

void Block::describe_overrun(const std::string& where) {
    const std::string kernel = image_->source_line(entry_->function);
    failure_ = {Status::illegal_address,
                block_name() + ": one of its threads wrote " + where +
                    ", which was noticed when all of them had ended: which thread, and on which line" +
                    (kernel.empty() ? "" : " of the kernel in " + kernel) + ", is not known"};
}

// Names the memory next to an inaccessible address: ", 12 bytes behind ..."; or empty.
std::string Block::place_of(const Strand* strand, std::uintptr_t address) const {
    constexpr std::size_t reach = cuscope::simt::GuardedMemory::guard_bytes;
    std::string place;
    const auto look = [&](const char* begin, const char* end, const std::string& what) {
        const auto low = reinterpret_cast<std::uintptr_t>(begin),
                   high = reinterpret_cast<std::uintptr_t>(end);
        if (!place.empty() || begin == nullptr) return;
        if (address >= high && address - high < reach)
            place = ", " + std::to_string(address - high) + " bytes behind the end of " + what;
        else if (address < low && low - address <= reach)
            place = ", " + std::to_string(low - address) + " bytes before the beginning of " + what;
    };
    look(strand->memory_begin, strand->memory_end,
         "the thread's local memory: an index of a local array is too large or negative");
    if (static_shared_bytes_ != 0)
        look(static_shared_, static_shared_ + static_shared_bytes_, "the block's __shared__ variables");
    if (prototype_.dynamic_shared != nullptr)
        look(prototype_.dynamic_shared, prototype_.dynamic_shared + prototype_.dynamic_shared_bytes,
             "the block's " + std::to_string(prototype_.dynamic_shared_bytes) +
                 " bytes of dynamic shared memory");
    const auto& table = image_->table();
    const auto guard = reinterpret_cast<std::uintptr_t>(table.guard);
    if (place.empty() && address >= guard && address < guard + table.guard_bytes)
        place = ", behind the end of the module's variables";
    return place;
}

void Block::describe_signal() {
    if (failure_.status != Status::success) return;
    const Strand* strand = running_;
    std::string text = thread_name(strand) + ": ";
    const auto address = reinterpret_cast<std::uintptr_t>(target.address);
    const auto stack = reinterpret_cast<std::uintptr_t>(strand->memory_begin);
    const auto pointer = reinterpret_cast<std::uintptr_t>(target.stack);
    // A function touches its frame page by page, downwards from the stack pointer.
    constexpr std::uintptr_t most_step = 64 << 10;
    Status status = Status::illegal_address;
    // The signal came through another handler, which did not pass the address on.
    const bool second_hand = target.code <= 0;
    const std::string known = line_of_fault(), line = in(known);
    switch (target.signal) {
        case SIGSEGV:
        case SIGBUS:
            if (address < stack && stack - address <= cuscope::simt::GuardedMemory::guard_bytes &&
                (target.stack == nullptr || (pointer < stack + most_step && address + most_step > pointer))) {
                status = Status::hardware_stack_error;
                text += "its stack of " + std::to_string(grid->launch().stack_bytes) + " bytes is full" +
                        line +
                        ": local arrays that large, or a recursion that deep, need a larger "
                        "stack limit";
            } else if (target.signal == SIGBUS && target.code == BUS_ADRALN) {
                status = Status::misaligned_address;
                text += "an access to the misaligned address " + hexadecimal(address, 1) + line;
            } else if (second_hand) {
                text += "an access where there is no memory" + line;
            } else if (target.instruction != nullptr && target.instruction == target.address) {
                text +=
                    "a jump to the address " + hexadecimal(address, 1) + line +
                    ", where there is no code: its stack was written over, or a function pointer is wrong";
            } else if (target.code != SEGV_MAPERR && target.code != SEGV_ACCERR && target.signal == SIGSEGV) {
                text += "an access" + line +
                        ", to an address that no memory can have, or that is not aligned for a vector";
            } else {
                const std::string place = place_of(strand, address);
                text += std::string(target.is_write ? "a write to" : "a read of") + " the address " +
                        hexadecimal(address, 1) + line +
                        (place.empty() ? ", where there is no memory" : place);
            }
            break;
        case SIGFPE:
            status = Status::launch_failure;
            text += "a division that has no result" + line;
            break;
        case SIGILL:
            status = Status::illegal_instruction;
            text += "an illegal instruction" + line;
            break;
        default:
            return;  // the kernel was told to leave
    }
    failure_ = {status, std::move(text), found(strand, known)};
}

CUSCOPE_ON_FIBER void Block::fault(Strand* self, Fault kind, const char* message, const Site* site,
                                   const void* caller) {
    describe_fault(self, kind, message, site, caller);
    leave(self);
}

}  // namespace cuscope_simt
