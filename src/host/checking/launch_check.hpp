// The checks of one launch: the memory that its kernel may access, the time, and the findings. Blocks of a
// checked launch run in order, one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuscope_simt/checking/state.h"
#include "host/checking/guesses.hpp"
#include "host/checking/shadow.hpp"
#include "host/executor/argument_bytes.hpp"
#include "host/executor/image.hpp"
#include "runtime/checking.hpp"
#include "runtime/types.hpp"

namespace cuscope::simt {

struct Launch;
struct Outcome;

// A piece of memory that kernels address.
struct Region {
    std::uintptr_t begin = 0, end = 0;
    std::shared_ptr<Shadow> shadow;  // null: accesses are not checked
    MemoryLabelPtr label;
    std::string name;  // of a variable; else empty
    bool on_host = false;
    int device = -1;                   // that allocated the memory; -1: none
    bool accessed = false;             // in this launch
    std::vector<unsigned> parameters;  // that hold an address in it

    bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

// Checked launches run one at a time: the moments are common to all of them.
class Turn {
  public:
    ~Turn() { end(); }
    // False: another launch has the turn, and does not end it for a while.
    bool begin();
    void end();

  private:
    bool has_it_ = false;
};

class LaunchCheck {
  public:
    // All memory of the device and the host that kernels may know. To be called while the launch is made.
    void add(Region region);
    // A variable of the image; its memory was added before.
    void name(const void* begin, std::size_t bytes, const char* name);
    // Equal for launches of one kernel with equal arguments.
    std::uint64_t key = 0;
    void set_freed(std::vector<FreedMemory> freed) { freed_ = std::move(freed); }
    // `arguments`: the values of the launch.
    void point_parameters(const cuscope_simt::KernelEntry& kernel, const ArgumentBytes& arguments);

    // For the launch's run. False: another checked launch is running and does not end.
    bool begin(const Launch& launch);
    // The launch runs without checks: the memory of its arguments counts as written.
    void count_as_written();
    void end(const Outcome& outcome);

    // The next moment, at which the block begins or goes on.
    cuscope_simt::Stamp tick(std::uint64_t block);
    std::uint64_t block_at(cuscope_simt::Stamp stamp) const;
    // Stamps before it are of earlier launches, or from before all threads of the grid met.
    cuscope_simt::Stamp past() const { return past_; }
    void grid_met() { set_past(tick(no_block)); }
    static constexpr std::uint64_t no_block = ~std::uint32_t{0};
    std::uint64_t last_ticked() const { return owners_.empty() ? no_block : owners_.back(); }

    // Null if the kernel's device has no access to the memory there.
    Region* find(std::uintptr_t address);
    // May a kernel know the address of this memory, because an argument or memory in its reach holds it?
    bool in_reach(const Region& region);

    // Where an access lies that hits no memory of the kernel: a text, and advice.
    struct Outside {
        std::string text, advice, memory;
    };
    Outside describe_outside(std::uintptr_t address);
    // "the argument 'x' (float32, shape (4,), 16 bytes, made in program.py:3)".
    std::string describe(const Region& region) const;
    // "element 5" or "byte 20" of a region.
    static std::string element(const Region& region, std::uintptr_t address);

    std::string line_of(const void* instruction) const;
    std::string line_of(cuscope_simt::Stamp stamp) const;
    FoundThread thread_of(std::uint64_t block, unsigned thread, std::string line) const;
    const Launch& launch() const { return *launch_; }

    // The finding of a kind at these places. `is_new`: it was not found before, and has to be filled in; else
    // its count has grown by one. Null: there are too many findings.
    Finding* finding(const char* kind, const void* first, const void* other, std::uintptr_t memory,
                     bool* is_new);
    // By address: the latest moment that an atomic or volatile store behind a fence has published.
    std::unordered_map<std::uintptr_t, cuscope_simt::Stamp> published;
    Guesses guesses;
    std::uint64_t cells_moved = 0;  // how often a granule became smaller

  private:
    // x[i] += 1 reads and writes. A read and a write of one thread at one line become one finding.
    void join_reads_and_writes();
    // Tells the check of the order of commands what the launch has read and written.
    void tell_accesses(std::uint64_t token) const;
    struct Known {
        const char* kind;
        const void *first, *other;
        std::uintptr_t memory;
        std::size_t finding;
    };

    Region* region_at(std::uintptr_t address);
    // Does the device of the launch have access to the memory?
    bool has_access(const Region& region) const;
    void set_past(cuscope_simt::Stamp past);
    void find_reach();
    std::string describe_label(const MemoryLabel& label, std::size_t bytes) const;
    std::string parameter_names(const Region& region) const;

    const Launch* launch_ = nullptr;
    std::vector<Region> regions_;  // by address, once the launch runs
    std::vector<FreedMemory> freed_;
    std::vector<std::string> parameter_names_;
    std::vector<bool> reached_;
    bool reach_known_ = false, reach_unknown_ = false;
    Region* last_ = nullptr;
    cuscope_simt::Stamp first_ = 0, past_ = 0;
    std::vector<std::uint32_t> owners_;  // the block of each moment from first_ on
    std::vector<Known> known_;
    std::deque<Finding> findings_;  // do not move
    Turn turn_;
};

}  // namespace cuscope::simt
