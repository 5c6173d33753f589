// The state of one counted launch: the memory ranges to tell apart, and the sums. Threads of several workers
// add to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/launch_counts.hpp"

namespace cuscope::simt {

// A range of global memory, and the parameters that point to it.
struct CountedRange {
    std::uintptr_t begin, end;
    std::vector<unsigned> parameters;
};

struct Sums {
    GlobalCounts global;
    SharedCounts shared;
    std::uint64_t thread_steps = 0, warp_steps = 0;
    std::vector<GlobalCounts> ranges;
};

class LineProfile;

class Counting {
  public:
    // Records that the value of a parameter, or a part of it, is an address in the allocation [base, base +
    // bytes).
    void point(unsigned parameter, const void* address, const void* base, std::size_t bytes);
    // Records memory that is counted even if no parameter points to it.
    void allow(const void* base, std::size_t bytes);
    // Called once all parameters are known. A byte of an allocation belongs to the last parameter address at
    // or before it. The bytes before all of these addresses belong to the first one.
    void divide();

    // In the order of their addresses; ranges do not overlap.
    const std::vector<CountedRange>& ranges() const { return ranges_; }
    void add(const Sums& sums);
    LaunchCounts counts() const;

    std::shared_ptr<LineProfile> profile;  // null: nothing is counted by line

  private:
    struct Pointer {
        std::uintptr_t address, base, end;
        unsigned parameter;
    };

    std::vector<Pointer> pointers_;
    std::vector<CountedRange> others_;
    std::vector<CountedRange> ranges_;
    mutable std::mutex mutex_;
    Sums sums_;
};

}  // namespace cuscope::simt
