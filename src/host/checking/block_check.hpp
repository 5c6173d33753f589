// The checks of one block at a time: which of its threads may access which memory, and in which order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuscope_simt/checking/state.h"
#include "host/checking/launch_check.hpp"

namespace cuscope::simt {

class BlockCheck {
  public:
    struct Setting {
        LaunchCheck* launch = nullptr;
        char *static_shared = nullptr, *dynamic_shared = nullptr;
        std::size_t static_bytes = 0, dynamic_bytes = 0;
        unsigned threads = 0;
        bool in_cluster = false;  // other blocks may write its shared memory, which this check does not see
    };
    void attach(const Setting& setting);
    cuscope_simt::CheckState* state() { return &state_; }

    void begin_block(std::uint64_t index);
    // All threads of the block that have not ended have met.
    void block_met();
    // Threads of one warp, or from `first` on `count` threads of the block.
    void warp_met(unsigned warp, unsigned lanes);
    void group_met(unsigned first, unsigned count);
    // The thread has waited for others; `device`: which may be of other blocks.
    void waited(unsigned thread, bool device);
    void grid_met();
    void fence(unsigned thread);
    // Other blocks may have run meanwhile.
    void went_on();
    void end_block();

    void access(unsigned thread, std::uintptr_t address, std::size_t bytes, cuscope_simt::Access access,
                const void* instruction);
    void index(unsigned thread, const char* array, long long index, const void* instruction);
    // A lane has asked for the value of a lane that did not come.
    void absent_lane(unsigned thread, unsigned source, const std::string& operation, const std::string& line);
    // Threads have met at barriers on different lines: two lanes of one warp, or whole warps.
    void different_barriers(unsigned thread, const std::string& line, unsigned other,
                            const std::string& other_line, bool of_one_warp);

    // Is the address in memory of the engine, which kernels access by means of cuscope's own headers, or in
    // memory that is not checked?
    std::function<bool(std::uintptr_t)> is_engines;

  private:
    using Stamp = cuscope_simt::Stamp;
    enum class Space { global, shared };

    struct Place {
        Region* region;
        Space space;
    };
    struct Access {
        unsigned thread;
        std::uintptr_t address;
        std::size_t bytes;
        bool reads, writes, atomic, orders, is_volatile, swaps;
        const void* instruction;
        Stamp code;
    };

    Place find(std::uintptr_t address);
    void check_memory(const Access& access);
    void outside(const Access& access);
    LaunchCheck::Outside outside_of_shared(std::uintptr_t address) const;
    void beyond(const Access& access, const Region& region);
    void unwritten(const Access& access, const Region& region, Space space);
    void settle(const Access& access, Region& region, Space space);
    void settle_cell(const Access& access, const Region& region, Space space, cuscope_simt::Cell& cell);
    bool is_ordered(Stamp stamp, unsigned thread, Stamp past) const;
    bool is_of_this_block(Stamp stamp) const;
    bool exempt(const Access& access, Stamp stamp, Space space) const;
    bool hides_plain_write(const Access& access, Stamp write, Stamp past) const;
    bool others_read(Stamp read, unsigned thread) const;
    bool others_wrote(Stamp write, unsigned thread, Stamp past) const;
    bool other_blocks_wrote(Stamp write, unsigned thread) const;
    // The other thread of a race: that of the stamp, one of the stamp's block, or one of another block.
    enum class Other { known, unknown, of_another_block };
    void race(const Access& access, const Region& region, Space space, Stamp stamp, bool other_writes,
              Other other);
    void settle_waiting_race();
    void note_flags(const Access& access);
    void fill_slot(const Access& access, const Region& region, Space space);
    void share_fences(unsigned first, unsigned end, unsigned lanes);
    void advance();
    void use_slots(bool use);
    void forget_slots();
    bool is_guard(std::size_t offset) const;
    std::string describe(const Region& region, Space space, std::uintptr_t address) const;
    static unsigned thread_of(Stamp stamp) {
        return static_cast<unsigned>((stamp & cuscope_simt::stamp_thread_mask) >>
                                     cuscope_simt::stamp_thread_at);
    }

    LaunchCheck* launch_ = nullptr;
    cuscope_simt::CheckState state_{};
    std::vector<cuscope_simt::CheckSlot> slots_, no_slots_;
    std::vector<Stamp> met_;                       // by thread: in its warp
    std::vector<Stamp> met_in_block_, acquired_;   // by thread
    Stamp all_acquired_ = 0, block_acquired_ = 0;  // the latest of acquired_; that all threads know
    std::vector<Stamp> fenced_;                    // by thread: its last fence in this block
    bool fences_ = false;
    std::uint64_t block_ = 0, cells_moved_ = 0;
    unsigned threads_ = 0;
    bool in_cluster_ = false;
    Region static_, dynamic_;

    // A store of a value to memory that another thread has stored to: whether both values are equal is known
    // once the store is done.
    struct WaitingRace {
        bool waits = false;
        std::uintptr_t address = 0;
        std::size_t bytes = 0;
        std::array<char, 16> before{};
        Finding* finding = nullptr;
    };
    WaitingRace waiting_;
};

}  // namespace cuscope::simt
