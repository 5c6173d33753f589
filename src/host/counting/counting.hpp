// One counted launch: which memory to tell apart, and the sums. Threads of several workers add to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/launch_counts.hpp"

namespace cuscope::simt {

// A stretch of global memory, and which parameters point to it.
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

class Counting {
  public:
    // The value of a parameter, or a part of it, is an address in the allocation [base, base + bytes).
    void point(unsigned parameter, const void* address, const void* base, std::size_t bytes);
    // Memory that no parameter needs to point to.
    void allow(const void* base, std::size_t bytes);
    // Once all is known: what lies in an allocation belongs to the last address at or before it, and what
    // lies before all of them to the first.
    void divide();

    // In the order of their addresses, none within another.
    const std::vector<CountedRange>& ranges() const { return ranges_; }
    void add(const Sums& sums);
    LaunchCounts counts() const;

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
