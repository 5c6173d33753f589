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
#include "cuscope_simt/counting/state.h"
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
    // For the hooks, which write down addresses and steps themselves unless the recorder needs their order.
    cuscope_simt::CountState* state() { return &state_; }
    void begin_block(std::uint64_t index);

    // To be called before an access or a step of a thread. `alone`: all threads that began before it have
    // ended.
    void follow(unsigned thread, bool alone) {
        if (hooks_write() && state_.thread != thread) turn_to(thread, alone);
    }
    void access(unsigned thread, const char* instruction, std::uintptr_t address, unsigned bytes,
                cuscope_simt::Access access);
    void step(unsigned thread, const char* instruction);

    // All lanes of a warp, or all threads of the block, have come to one place.
    void meet(unsigned warp);
    void meet_all();

    // A thread that is far ahead lets the others of its block catch up. Then the recorded accesses can be put
    // together and forgotten. If the hooks write, a thread is asked about before an access that finds no
    // room; else it is asked about after each access.
    bool lacks_room(unsigned thread, const char* instruction, unsigned bytes, cuscope_simt::Access access);
    bool far_ahead(unsigned thread) const {
        return !hooks_write() && warps_[thread / 32].pending[thread % 32] >= most_pending;
    }
    void caught_up(unsigned thread);
    bool crowded(unsigned warp) const { return open_requests(warps_[warp]) >= most_pending; }
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
    static constexpr unsigned most_ahead = most_pending / 2;  // at one instruction, if the hooks write
    static constexpr std::uint64_t most_open = 64 * most_pending;
    static constexpr std::size_t all_requests = ~std::size_t{0};

    enum class Kind : unsigned char { load, store, atomic, step };
    using Request = WarpRequest;
    // The lanes of a request whose loads a GPU's compiler joins to one before: see Request.
    struct Joined {
        unsigned lanes = 0, before = 0;
    };
    // One instruction in one warp. The n-th address of each lane belongs to the n-th request.
    struct Sequence {
        std::unique_ptr<std::uintptr_t[]> room;                   // for a few addresses of each lane
        std::array<std::unique_ptr<std::uintptr_t[]>, 32> rooms;  // for more of them
        std::array<std::uintptr_t*, 32> begin{};
        std::uintptr_t all_begins = 0;  // their sum
        // By lane: the number of addresses for which there is room, and how many there were when the thread
        // last waited for the others.
        std::array<std::size_t, 32> room_for{}, at_wait{};
        bool has_waited = false;     // some of at_wait are not 0
        std::vector<Joined> joined;  // by request, for profiles
        Targets targets;             // of a basic block, if the launch is profiled
    };
    struct Warp {
        std::vector<Sequence> sequences;            // by site
        std::vector<cuscope_simt::Column> columns;  // by site and lane
        std::vector<unsigned char> is_touched;      // by site
        std::vector<std::uint32_t> touched;         // in the order of the first touch
        bool is_followed = false;                   // the hooks may have written since the warp last met
        // By lane: its accesses since it last waited for the others, if the hooks tell of them.
        std::array<std::uint32_t, 32> pending{};
        // How often the warp has executed blocks that wait for other threads before their branch. After the
        // wait it executes the predicated block behind, or skips it.
        std::vector<std::pair<std::uint32_t, std::size_t>> undecided;  // site, number
        // Has any lane come to the site since the warp last met?
        bool has_any(std::uint32_t site) const {
            std::uintptr_t sum = 0;
            for (unsigned lane = 0; lane < 32; ++lane) sum += columns[site * 32 + lane].next;
            return sum != sequences[site].all_begins;
        }
        // The addresses or the executions of a lane.
        std::size_t count(std::uint32_t site, unsigned lane, Kind kind) const {
            const std::uintptr_t next = columns[site * 32 + lane].next;
            if (kind == Kind::step) return next;
            return (next - reinterpret_cast<std::uintptr_t>(sequences[site].begin[lane])) / sizeof next;
        }
    };
    struct Place {
        enum class Kind { range, variable, shared, uncounted };
        Kind kind = Kind::uncounted;
        Stretch stretch;
        std::size_t range = 0;
    };

    // A profiler needs the order of all accesses and steps.
    bool hooks_write() const { return !profiler_; }
    std::uint32_t site_of(const char* instruction, unsigned bytes, Kind kind);
    void make_room();
    void grow(Warp& warp, std::uint32_t site, unsigned lane);
    void turn_to(unsigned thread, bool alone);
    static void touch(Warp& warp, std::uint32_t site) {
        if (warp.is_touched[site] != 0) return;
        warp.touched.push_back(site);
        warp.is_touched[site] = 1;
    }
    std::size_t requests(const Warp& warp, std::uint32_t site) const;
    std::uint64_t open_requests(const Warp& warp) const;
    void set_end(Warp& warp, std::uint32_t site, unsigned lane) const;
    template <class Function>
    void each_site(const Warp& warp, Function function) const;
    void settle(Warp& warp, std::uint32_t site, std::size_t count);
    void settle(unsigned warp, std::uint32_t site, const Request& request, Kind kind);
    void go_on(Warp& warp, unsigned thread, std::uint32_t site, std::uint32_t execution);
    AccessedPlace place_of(const Place& place, std::uintptr_t address) const;
    bool past_limit() { return profiler_ && ++events_ > most_events_; }
    void finish(Warp& warp, std::uint32_t site);
    void count_skipped(Warp& warp);
    std::size_t executed_next(const Warp& warp, std::uint32_t site) const;
    Place find(std::uintptr_t address) const;
    unsigned number_of(const Warp& warp) const { return static_cast<unsigned>(&warp - warps_.data()); }
    static std::uint64_t passes_of_atomic(const Request& request, unsigned lanes);
    unsigned passes(const Request& request, unsigned lanes, unsigned before, unsigned bytes);
    bool without_conflict(const Request& request, unsigned lanes, unsigned before, unsigned bytes);
    unsigned passes_on_device(const Request& request, unsigned lanes, unsigned before, unsigned bytes);
    void join(unsigned thread, std::uintptr_t address, unsigned bytes, Joined& joined);
    void count_shared(unsigned warp, std::uint32_t site, const Request& request, unsigned lanes, Kind kind);

    Setting setting_;
    std::vector<std::uint32_t> sites_;   // indexed by offset in the code; sites count from 1, 0: not seen yet
    std::vector<Kind> kinds_;            // by site
    std::vector<unsigned> bytes_;        // by site; 0 for a step
    std::vector<std::uint32_t> others_;  // by site: the next site of the same instruction, or 0
    std::vector<const cuscope_simt::BlockCost*> costs_;  // by site; null for accesses
    std::vector<Stretch> variables_;
    std::vector<Warp> warps_;
    std::vector<cuscope_simt::CountSlot> slots_;
    std::vector<cuscope_simt::Column*> columns_;  // by warp
    cuscope_simt::CountState state_{};
    Request request_;  // that is being counted
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
