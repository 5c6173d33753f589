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
#include "host/counting/distinct.hpp"
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
    bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
    const char* begin_pointer() const { return reinterpret_cast<const char*>(begin); }
};

// Memory that holds zeros. The system gives pages of it only when they are written, because a launch uses few
// of the instructions of a large image.
class ZeroMemory {
  public:
    void make(std::size_t bytes);
    char* data() const { return memory_.get(); }

  private:
    struct Unmap {
        std::size_t bytes;
        void operator()(char* memory) const;
    };
    std::unique_ptr<char, Unmap> memory_;
};

// The size of the memory to which the code of an image writes while nothing is counted.
std::size_t idle_bytes(const cuscope_simt::ImageTable& table);

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
    // A thread of another warp than before begins. `alone`: all threads that began before it have ended.
    void begin_warp(unsigned warp, bool alone);

    // The sites of an instruction; a copy may access more or fewer bytes each time.
    std::uint32_t access_site(const char* instruction, unsigned bytes, cuscope_simt::Access access) {
        return site_of(instruction, bytes, static_cast<Kind>(access));
    }
    std::uint32_t step_site(const char* instruction) { return site_of(instruction, 0, Kind::step); }
    // Of entries of the image's tables.
    std::uint32_t access_site(unsigned entry) const { return steps_ + entry; }
    std::uint32_t step_site(unsigned entry) const { return entry; }

    void access(unsigned thread, std::uint32_t site, std::uintptr_t address);
    void step(unsigned thread, std::uint32_t site);

    // All lanes of a warp, or all threads of the block, have come to one place.
    void meet(unsigned warp);
    void meet_all();

    // A thread that is far ahead lets the others of its block catch up. Then the recorded accesses can be put
    // together and forgotten. If the hooks write, a thread is asked about before an access that finds no
    // room; else it is asked about after each access.
    bool lacks_room(unsigned thread, std::uint32_t site) const;
    bool far_ahead(unsigned thread) const {
        return is_told() && warps_[thread / 32].pending[thread % 32] >= most_pending;
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
    static constexpr unsigned banks = 32, bank_bytes = 4;
    static constexpr unsigned most_pending = 2048;
    static constexpr std::uint64_t most_open = 64 * most_pending;
    static constexpr std::size_t all_requests = ~std::size_t{0};
    static constexpr unsigned no_warp = ~0u;

    enum class Kind : unsigned char { load, store, atomic, step };
    using Request = WarpRequest;
    using Accesses = cuscope_simt::Accesses;
    using Steps = cuscope_simt::Steps;
    using Piece = cuscope_simt::Piece;
    // The lanes of a request whose loads a GPU's compiler joins to one before: see Request.
    struct Joined {
        unsigned lanes = 0, before = 0;
    };
    struct Place {
        enum class Kind { range, variable, shared, uncounted };
        Kind kind = Kind::uncounted;
        Stretch stretch;
        std::size_t range = 0;
    };
    // The accesses of all lanes between the last two meetings, and their counts. If all lanes then access the
    // addresses that are expected of them, only the place has changed.
    struct Shape {
        std::size_t count = 0;  // accesses of each lane; 0: not known
        std::int64_t stride = 0;
        std::uintptr_t first = 0;                // of the first lane
        std::uintptr_t to_lowest = 0, span = 0;  // from there to the lowest address; from that to the highest
        GlobalCounts global;
        SharedCounts shared;
    };
    // One instruction in one warp. The n-th access of each lane belongs to the n-th request.
    struct Sequence {
        Accesses* accesses = nullptr;            // null for the begin of a basic block
        Steps* steps = nullptr;                  // null for accesses
        std::unique_ptr<Accesses> own_accesses;  // where the image has no table of them
        std::unique_ptr<Steps> own_steps;
        // Rooms for closed pieces: one for few of all lanes, and larger ones.
        std::unique_ptr<Piece[]> room;
        std::array<std::unique_ptr<Piece[]>, 32> rooms;
        std::array<Piece*, 32> begin{};
        // By lane: the accesses before the last one that found `most_accesses` left.
        std::array<std::uint32_t, 32> before{};
        bool has_waited = false;            // some of them are not 0
        bool is_touched = false;            // in Warp::touched
        std::uintptr_t previous_first = 0;  // of the first request when the warp last met
        Shape shape;
        Place last;                  // that was accessed last
        std::vector<Joined> joined;  // by request, for profiles
        Targets targets;             // of a basic block, if the launch is profiled

        // The accesses or the executions of a lane.
        std::size_t count(unsigned lane) const {
            if (steps != nullptr) return cuscope_simt::most_steps - steps->left[lane];
            return before[lane] + static_cast<std::size_t>(cuscope_simt::most_accesses) -
                   static_cast<std::size_t>(accesses->open[lane].left);
        }
    };
    struct Warp {
        ZeroMemory memory;
        // In this memory, by entry of the image's tables. Null before the warp's first thread begins.
        char *steps = nullptr, *accesses = nullptr;
        std::vector<std::unique_ptr<Sequence>> sequences;  // by site; null: not used by the warp yet
        std::vector<std::uint32_t> active;                 // the sites to which hooks may write
        std::vector<std::uint32_t> touched;                // sites that the recorder was told of, in order
        // By lane: its accesses since it last waited for the others, if the hooks tell of them.
        std::array<std::uint32_t, 32> pending{};
        // How often the warp has executed blocks that wait for other threads before their branch. After the
        // wait it executes the predicated block behind, or skips it.
        std::vector<std::pair<std::uint32_t, std::size_t>> undecided;  // site, number
    };

    // Is the recorder told of all accesses? A profiler needs their order.
    bool is_told() const { return profiler_ != nullptr || !has_table_; }
    std::uint32_t site_of(const char* instruction, unsigned bytes, Kind kind);
    std::uint32_t add_site(const char* instruction, unsigned bytes, Kind kind);
    void make_memory(Warp& warp);
    void point_hooks();
    Sequence& sequence(Warp& warp, std::uint32_t site) {
        if (site < warp.sequences.size() && warp.sequences[site]) return *warp.sequences[site];
        return begin_sequence(warp, site);
    }
    Sequence& begin_sequence(Warp& warp, std::uint32_t site);
    const Sequence* known(const Warp& warp, std::uint32_t site) const {
        return site < warp.sequences.size() ? warp.sequences[site].get() : nullptr;
    }
    static void grow(Sequence& its, unsigned lane);
    static void touch(Warp& warp, Sequence& its, std::uint32_t site) {
        if (its.is_touched) return;
        warp.touched.push_back(site);
        its.is_touched = true;
    }
    static std::size_t requests(const Sequence& its);
    std::uint64_t open_requests(const Warp& warp) const;
    template <class Function>
    void each_site(const Warp& warp, Function function) const;
    static void extend(Sequence& its, unsigned lane);
    void settle(Warp& warp, std::uint32_t site, std::size_t count);
    bool settle_alike(unsigned warp, std::uint32_t site, Sequence& its);
    bool count_again(const Sequence& its, std::uintptr_t first, std::size_t count, std::int64_t stride);
    void settle_shape(unsigned warp, std::uint32_t site, Sequence& its, std::size_t count,
                      std::int64_t stride);
    static void begin_again(Sequence& its);
    void keep_rest(Sequence& its, const std::array<std::size_t, 32>& counts, std::size_t count);
    void settle_requests(unsigned warp, std::uint32_t site, Sequence& its, std::size_t number,
                         std::size_t count, const std::int64_t* stride);
    bool settle_repeated(unsigned warp, std::uint32_t site, Sequence& its, std::size_t count,
                         std::int64_t stride);
    void settle(unsigned warp, std::uint32_t site, Sequence& its, std::uint64_t times);
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
    void count_shared(unsigned warp, std::uint32_t site, const Place& its_place, unsigned lanes,
                      std::uint64_t times, unsigned known);

    Setting setting_;
    bool has_table_ = false;   // of accesses
    std::uint32_t steps_ = 0;  // sites of basic blocks in the image's table; the sites of accesses follow
    std::uint32_t table_sites_ = 0;          // sites of the image's tables
    std::vector<std::uint32_t> sites_;       // by offset in the code; sites count from 1. For other sites
    std::vector<const char*> instructions_;  // by site
    std::vector<Kind> kinds_;                // by site
    std::vector<unsigned> bytes_;            // by site; 0 for a step
    std::vector<std::uint32_t> others_;      // by site: the next site of the same instruction, or 0
    std::vector<const cuscope_simt::BlockCost*> costs_;  // by site; null for accesses
    std::vector<Stretch> variables_;
    std::vector<Warp> warps_;
    ZeroMemory idle_;
    std::vector<char*> step_pointers_, access_pointers_;  // by warp
    cuscope_simt::CountState state_{};
    // The request that is being counted, and the pieces from which the next ones come. Members because they
    // are too large for a fiber's stack.
    Request request_;
    struct Cursor {
        std::array<std::uintptr_t, 32> address;
        std::array<std::int64_t, 32> stride;
        std::array<std::uint32_t, 32> left;  // accesses of the piece
        std::array<const Piece*, 32> next;   // null: the piece is the open one
    } cursor_;
    // The words of each bank that one pass of a request reads.
    std::array<std::array<std::uintptr_t, 64>, banks> in_bank_;
    Distinct distinct_;
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
