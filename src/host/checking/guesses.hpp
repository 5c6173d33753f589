// Plain reads that race with atomicCAS alone. A loop around atomicCAS takes its first guess of a value by a
// plain load, and goes on until the guess was right. So such a race is a note if the thread that reads then
// swaps at the same address, and an error otherwise. Whether the thread swaps is known when the launch has
// ended.
#pragma once

#include <unordered_set>
#include <vector>

#include "cuscope_simt/checking/state.h"
#include "runtime/checking.hpp"

namespace cuscope::simt {

// A thread of the launch, and the address that it accesses.
struct ThreadAt {
    std::uint64_t block;
    unsigned thread;
    std::uintptr_t address;
    bool operator==(const ThreadAt&) const = default;
};

class Guesses {
  public:
    void clear();
    // The thread has compared and swapped, by the instruction with this offset in stamps.
    void add_swap(const ThreadAt& by, cuscope_simt::Stamp code);
    // Another atomic operation has changed memory of the region that begins there.
    void add_other(std::uintptr_t region) { others_.insert(region); }
    bool is_swap(cuscope_simt::Stamp code) const { return swaps_.contains(code); }
    // Were the region's atomic operations so far all atomicCAS?
    bool only_swaps(std::uintptr_t region) const { return !others_.contains(region); }

    // The thread reads now, and the read is the finding: it has to swap after it.
    void read_now(Finding* finding, const ThreadAt& reader);
    // The thread has read before.
    void has_read(Finding* finding, const ThreadAt& reader) { found_.push_back({finding, reader, true}); }
    // Threads that are not known have read.
    void have_read(Finding* finding) { found_.push_back({finding, {}, false}); }
    // Makes notes of the findings whose readers have swapped, if they are not errors for another reason.
    void settle();

  private:
    struct Hash {
        std::size_t operator()(const ThreadAt& at) const {
            return (at.address ^ at.block << 20 ^ std::uint64_t{at.thread} << 40) * 0x9e3779b97f4a7c15u;
        }
    };
    struct Found {
        Finding* finding;
        ThreadAt reader;
        bool known;
    };

    std::unordered_set<cuscope_simt::Stamp> swaps_;
    std::unordered_set<std::uintptr_t> others_;
    std::unordered_set<ThreadAt, Hash> swapped_;
    std::vector<Found> found_;
};

}  // namespace cuscope::simt
