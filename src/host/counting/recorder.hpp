// Counts the accesses and steps of the threads of one block at a time. Lanes of a warp run one after the
// other, so the accesses that a GPU would do together are put together afterwards: the n-th execution of an
// instruction by each lane is one request, where n counts from the point where all lanes of the warp last
// met.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cuscope_simt/abi.h"
#include "host/counting/counting.hpp"
#include "host/counting/line_counts.hpp"
#include "host/counting/profiler.hpp"
#include "host/executor/image.hpp"

namespace cuscope::simt {

// Addresses in [begin, end).
struct Stretch {
    std::uintptr_t begin = 0, end = 0;
    Stretch() = default;
    Stretch(const void* start, std::size_t bytes)
        : begin(reinterpret_cast<std::uintptr_t>(start)), end(begin + bytes) {}
    bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
    const char* begin_pointer() const { return reinterpret_cast<const char*>(begin); }
};

class Recorder {
  public:
    // The facts about a launch that the recorder needs; valid while the launch lasts.
    struct Setting {
        const Counting* counting = nullptr;
        const Image* image_object = nullptr;
        Stretch code, image;  // the image's instructions, and the whole image
        Stretch static_shared, dynamic_shared;
        unsigned threads = 0;
        LineProfile* profile = nullptr;  // null: nothing is counted by line
    };

    void begin(Setting setting);
    void begin_block(std::uint64_t index);

    void access(unsigned thread, const char* instruction, std::uintptr_t address, unsigned bytes,
                cuscope_simt::Access access);
    void step(unsigned thread, const char* instruction);

    // All lanes of a warp, or all threads of the block, have come to one place.
    void meet(unsigned warp);
    void meet_all();

    // A thread that is far ahead lets the others of its block catch up. Then the recorded accesses can be put
    // together and forgotten.
    bool far_ahead(unsigned thread) const { return warps_[thread / 32].pending[thread % 32] >= most_pending; }
    void caught_up(unsigned thread) { warps_[thread / 32].pending[thread % 32] = 0; }
    bool crowded(unsigned warp) const { return warps_[warp].open >= most_pending; }
    // Puts together the requests that all of these lanes have passed.
    void settle_common(unsigned warp, unsigned lanes);

    // Discards the counts of the block: its threads were abandoned.
    void forget();
    const Sums& sums() const { return sums_; }
    // Adds the counts by line to the launch's.
    void add_lines() const;

    // Makes a profile of the block that runs next. Events beyond the limit are only numbered.
    void begin_profile(std::uint64_t most_events);
    // To be called once the block has ended.
    BlockProfile end_profile(std::uint64_t index);

  private:
    static constexpr unsigned banks = 32;
    static constexpr unsigned most_pending = 2048;
    static constexpr std::uint64_t most_open = 64 * most_pending;

    enum class Kind : unsigned char { load, store, atomic, step };
    using Request = WarpRequest;
    // One instruction in one warp: how often each lane has executed it, and the requests from number `first`
    // on.
    struct Sequence {
        std::array<std::uint32_t, 32> executed{};
        std::uint32_t first = 0;
        bool touched = false;
        std::vector<Request> requests;
        Targets targets;  // of a basic block, if the launch is profiled
    };
    struct Warp {
        std::vector<Sequence> sequences;  // by site
        std::vector<std::uint32_t> touched;
        std::array<std::uint32_t, 32> pending{};
        std::uint64_t open = 0;  // number of open requests
        // How often the warp has executed blocks that wait for other threads before their branch. After the
        // wait it executes the predicated block behind, or skips it.
        std::vector<std::pair<std::uint32_t, std::uint32_t>> undecided;  // site, number
    };
    struct Place {
        enum class Kind { range, variable, shared, uncounted };
        Kind kind = Kind::uncounted;
        Stretch stretch;
        std::size_t range = 0;
    };

    Sequence& sequence(Warp& warp, const char* instruction, Kind kind);
    void settle(Warp& warp, Sequence& sequence, Kind kind, std::size_t count);
    void settle(unsigned warp, std::uint32_t site, const Request& request, Kind kind);
    void go_on(Warp& warp, unsigned thread, std::uint32_t site, const Sequence& to);
    AccessedPlace place_of(const Place& place, std::uintptr_t address) const;
    bool past_limit() { return profiler_ && ++events_ > most_events_; }
    void finish(Warp& warp, std::uint32_t site);
    void count_skipped(Warp& warp);
    std::uint32_t executed_next(const Warp& warp, std::uint32_t site) const;
    Place find(std::uintptr_t address) const;
    unsigned number_of(const Warp& warp) const { return static_cast<unsigned>(&warp - warps_.data()); }
    static std::uint64_t passes_of_atomic(const Request& request, unsigned lanes);
    unsigned passes(const Request& request, unsigned lanes, unsigned before, unsigned bytes);
    unsigned passes_on_device(const Request& request, unsigned lanes, unsigned before, unsigned bytes);
    void join(unsigned thread, Request& request);
    void count_shared(unsigned warp, std::uint32_t site, const Request& request, unsigned lanes, Kind kind);

    Setting setting_;
    std::vector<std::uint32_t> sites_;  // indexed by offset in the code; sites count from 1, 0: not seen yet
    std::vector<Kind> kinds_;           // by site
    std::vector<const cuscope_simt::BlockCost*> costs_;  // by site; null for accesses
    std::vector<Stretch> variables_;
    std::vector<Warp> warps_;
    Place last_;
    // The words of each bank that one pass of a request reads. A member because it is too large for a fiber's
    // stack.
    std::array<std::array<std::uintptr_t, 64>, banks> in_bank_;
    Sums sums_;
    std::unique_ptr<Profiler> profiler_;  // null: no profile is made of this block
    // The last loads of a thread; a Run is a load with the loads that were joined to it.
    struct Recent {
        struct Run {
            std::uintptr_t begin = 0, end = 0;
            std::uint32_t lap = 0;
        };
        std::array<Run, 16> runs;
        unsigned next = 0;
        // Grows when the thread repeats a basic block, or waits for others: between two such moments, a GPU's
        // compiler may move loads.
        std::uint32_t lap = 0;
        std::uint32_t repeats = 0;  // how often it has repeated a block since its warp last met
    };
    std::vector<Recent> recent_;  // by thread; for profiles
    std::uint64_t events_ = 0, most_events_ = 0;
    std::unique_ptr<LineCounts> lines_;  // null: nothing is counted by line
    // By thread: its last basic block, and how often it has executed it since its warp last met. 0: it has
    // not since then.
    struct Behind {
        std::uint32_t site = 0, execution = 0;  // the site plus 1; 0: none
    };
    std::vector<Behind> behind_;
    bool joined_ = false;  // the request that is being counted continues the one before it
};

}  // namespace cuscope::simt
