// The shadow cells of one piece of memory: which of its bytes were ever written, and by which threads they
// were accessed last. A piece has one cell for each granule; accesses that are smaller than the granule make
// it smaller. One kernel at a time uses the cells, and copies on other streams may mark them meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cuscope_simt/checking/state.h"

namespace cuscope::simt {

class Shadow {
  public:
    // `written`: all of it counts as written, since the memory was in use before the checks began.
    Shadow(const void* begin, std::size_t bytes, bool written);
    ~Shadow();
    Shadow(const Shadow&) = delete;
    Shadow& operator=(const Shadow&) = delete;

    // A copy or a memset has written a part of it.
    void mark_written(const void* begin, std::size_t bytes);
    void mark_all_written();

    // Makes the granule small enough for an access. False: there is no memory for the cells.
    bool fit(std::uintptr_t address, std::size_t bytes);
    unsigned shift() const { return shift_; }
    // The cell of an address is cell_at(cells(), address >> shift()). 0: there are no cells yet.
    cuscope_simt::CellBase cells() const { return __atomic_load_n(&base_, __ATOMIC_ACQUIRE); }
    // Time began anew: what the cells say about threads is forgotten.
    void forget_times(unsigned era);

    // Calls `tell(begin, end, written, atomic)` for each range that was read, and each that was written,
    // since the moment. Returns whether there were atomic or volatile loads.
    template <class Tell>
    bool for_each_access(cuscope_simt::Stamp since, Tell tell) const;

    // written: 1, or 0 if all of it counts as written. A copy on another stream may change it while a kernel
    // runs, so it is read as an atomic value.
    const cuscope_simt::CellBounds* bounds() const { return &bounds_; }
    void set_past(cuscope_simt::Stamp past) { bounds_.past = past; }

  private:
    struct Cells {
        cuscope_simt::Cell* first = nullptr;
        std::size_t bytes = 0, place = 0;  // of the mapping; the cell_place of the first cell
    };
    bool make(unsigned shift, Cells* made) const;
    bool fit_locked(std::uintptr_t address, std::size_t bytes);
    void adopt(const Cells& cells, unsigned shift);
    static void release(const Cells& cells);
    void mark(std::uintptr_t begin, std::uintptr_t end);

    const std::uintptr_t begin_, end_;
    mutable std::mutex mutex_;  // for making and moving the cells, and for marking them
    cuscope_simt::CellBounds bounds_;
    Cells cells_;
    cuscope_simt::CellBase base_ = 0;
    unsigned shift_ = 0;
    unsigned era_ = 0;
};

template <class Tell>
bool Shadow::for_each_access(cuscope_simt::Stamp since, Tell tell) const {
    const std::scoped_lock lock(mutex_);
    bool polls = false;
    if (cells_.first == nullptr) return polls;
    enum Kind : unsigned { none, plain, atomic };
    struct Run {
        unsigned kind = none;
        std::size_t first = 0;
    } reads, writes;
    const auto go_on = [&](Run& run, unsigned kind, std::size_t number, bool written) {
        if (run.kind == kind) return;
        if (run.kind != none) tell(run.first << shift_, number << shift_, written, run.kind == atomic);
        run = {kind, number};
    };
    // Without branches: this looks at all cells after each launch.
    const auto kind_of = [since](cuscope_simt::Stamp stamp) {
        return static_cast<unsigned>(stamp >= since) << ((stamp & cuscope_simt::stamp_atomic) != 0);
    };
    const std::size_t end = ((end_ - 1) >> shift_) + 1;
    for (std::size_t number = begin_ >> shift_; number < end; ++number) {
        const cuscope_simt::Cell& cell = *cuscope_simt::cell_at(base_, number);
        const unsigned read = kind_of(cell.read), write = kind_of(cell.write);
        if (read == reads.kind && write == writes.kind) continue;
        polls |= read == atomic;
        go_on(reads, read, number, false);
        go_on(writes, write, number, true);
    }
    go_on(reads, none, end, false);
    go_on(writes, none, end, true);
    return polls;
}

}  // namespace cuscope::simt
