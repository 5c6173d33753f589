// Makes the profile of one block from the requests and steps that the recorder has put together.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "host/counting/block_profile.hpp"
#include "host/counting/counting.hpp"
#include "host/executor/image.hpp"

namespace cuscope::simt {

// The pieces of 64 bytes that a block has touched, which of their sectors it has loaded, and whether it has
// stored to them.
class Footprint {
  public:
    void add(std::uintptr_t sector, bool load);
    // Calls function(unit, number of loaded sectors, stored) for each piece, in no order.
    template <class Function>
    void each(Function function) const {
        for (const std::uint64_t slot : slots_)
            if (slot != 0) function((slot >> 3) - 1, (slot & 1) + (slot >> 1 & 1), (slot & 4) != 0);
    }
    std::size_t size() const { return size_; }

  private:
    void grow();
    std::vector<std::uint64_t> slots_;  // 0: free; else the unit's number + 1, and three bits
    std::size_t size_ = 0;
};

class Profiler {
  public:
    Profiler(const Image& image, const Counting& counting, unsigned warps);

    // The cost of a basic block; null if it is not known.
    const cuscope_simt::BlockCost* cost(const char* instruction) const;
    void steps(unsigned warp, const cuscope_simt::BlockCost* cost, std::uint64_t count);
    // The warp skips the predicated block behind `before` so many times.
    void predicated(unsigned warp, const cuscope_simt::BlockCost* before, std::uint64_t count);
    void global(unsigned warp, const WarpRequest& request, unsigned lanes, cuscope_simt::Access access);
    // `joined`: a GPU's compiler joins this load to one before it, which then takes `wavefronts` more.
    void shared(unsigned warp, double wavefronts, cuscope_simt::Access access, bool joined);
    // The first lane of the warp executes a block that loads in a loop. nvcc interleaves the loads of some
    // iterations only, so the next ones are in another round.
    void iterate(unsigned warp, const cuscope_simt::BlockCost& cost);
    // The first lane of the warp makes its next access to global or shared memory, in the order of its
    // program.
    void go_on(unsigned warp, cuscope_simt::Access access, bool shared);
    // The warp has waited for its accesses.
    void met(unsigned warp);
    // All warps have met at a barrier.
    void barrier();

    // `events` happened, of which the first `recorded` were counted: the profile is for all of them.
    BlockProfile end(std::uint64_t index, std::uint64_t events, std::uint64_t recorded);

  private:
    static constexpr int no_loop = -1;
    struct Warp {
        BlockProfile::Chain chain;
        unsigned loads = 0, shared_loads = 0;  // since it last waited
        // The global loads of the first lane in the round that it has begun, the places in a loop where it
        // was, and the rounds before.
        unsigned begun = 0;
        std::vector<unsigned short> places;
        int loop = no_loop;               // where it is
        unsigned together = 0, rest = 1;  // of this loop: see BlockCost
        unsigned ended_rounds = 0, ended_loads = 0;
        // The first lane has global loads that it may not have used, behind so many loads from shared memory.
        bool loads_are_open = false;
        unsigned behind = 0, covering = 0;
        unsigned global_rounds = 0, shared_rounds = 0;  // since the last barrier
    };

    static void end_round(Warp& its);

    const Counting& counting_;
    std::vector<std::pair<const char*, const cuscope_simt::BlockCost*>> costs_;  // in order
    std::vector<Warp> warps_;
    BlockProfile profile_;
    BlockProfile::Phase before_;  // the sums of all phases so far
    Footprint footprint_;
    std::unordered_map<std::uintptr_t, double> atomic_lines_;
};

}  // namespace cuscope::simt
