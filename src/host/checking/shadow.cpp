#include "host/checking/shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

namespace cuscope::simt {
namespace {

using cuscope_simt::Cell;
using cuscope_simt::cell_at;
using cuscope_simt::cell_place;

constexpr unsigned largest_shift = 4;
constexpr std::size_t granule_of_copies = 4;
constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

Shadow::Shadow(const void* begin, std::size_t bytes, bool written)
    : begin_(reinterpret_cast<std::uintptr_t>(begin)), end_(begin_ + bytes), bounds_{written ? 0u : 1u, 0} {}

Shadow::~Shadow() { release(cells_); }

void Shadow::release(const Cells& cells) {
    if (cells.first != nullptr) munmap(cells.first, cells.bytes);
}

bool Shadow::make(unsigned shift, Cells* made) const {
    const std::size_t first = cell_place(begin_ >> shift), last = cell_place((end_ - 1) >> shift);
    made->bytes = (last - first + 1) * sizeof(Cell);
    made->place = first;
    void* const got = mmap(nullptr, made->bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    made->first = got == MAP_FAILED ? nullptr : static_cast<Cell*>(got);
    if (made->first != nullptr && made->bytes >= huge_page) madvise(got, made->bytes, MADV_HUGEPAGE);
    return made->first != nullptr;
}

void Shadow::adopt(const Cells& cells, unsigned shift) {
    release(cells_);
    cells_ = cells;
    shift_ = shift;
    // Behind the shift, which fit() reads after the base.
    __atomic_store_n(&base_, reinterpret_cast<std::uintptr_t>(cells.first) - cells.place * sizeof(Cell),
                     __ATOMIC_RELEASE);
}

namespace {

// The largest granule for an access.
unsigned shift_for(std::uintptr_t address, std::size_t bytes) {
    return static_cast<unsigned>(std::countr_zero(address | bytes | std::size_t{1} << largest_shift));
}

}  // namespace

bool Shadow::fit(std::uintptr_t address, std::size_t bytes) {
    // Only the kernel that calls this makes granules smaller, so cells that are small enough stay.
    if (cells() != 0 && shift_ <= shift_for(address, bytes)) return true;
    const std::scoped_lock lock(mutex_);
    return fit_locked(address, bytes);
}

bool Shadow::fit_locked(std::uintptr_t address, std::size_t bytes) {
    const unsigned wanted = shift_for(address, bytes);
    if (cells_.first != nullptr && shift_ <= wanted) return true;
    Cells made;
    if (!make(wanted, &made)) return false;
    if (cells_.first != nullptr) {
        const unsigned difference = shift_ - wanted;
        const auto place = [](const Cells& cells, std::size_t number) -> Cell& {
            return cells.first[cell_place(number) - cells.place];
        };
        for (std::size_t number = begin_ >> wanted; number <= (end_ - 1) >> wanted; ++number) {
            const Cell& old = place(cells_, number >> difference);
            // Cells without content keep their pages unused.
            if (old.write != 0 || old.read != 0) place(made, number) = old;
        }
    }
    adopt(made, wanted);
    return true;
}

void Shadow::mark_all_written() { __atomic_store_n(&bounds_.written, 0, __ATOMIC_RELAXED); }

void Shadow::mark_written(const void* begin, std::size_t bytes) {
    if (__atomic_load_n(&bounds_.written, __ATOMIC_RELAXED) == 0 || bytes == 0) return;
    const std::uintptr_t from = std::max(reinterpret_cast<std::uintptr_t>(begin), begin_);
    const std::uintptr_t to = std::min(reinterpret_cast<std::uintptr_t>(begin) + bytes, end_);
    if (from == begin_ && to == end_) {
        mark_all_written();
    } else if (from < to) {
        const std::scoped_lock lock(mutex_);
        // A kernel may be running that knows where the cells are, so they stay.
        const bool fits = cells_.first != nullptr ? (from | to) % (std::uintptr_t{1} << shift_) == 0
                                                  : fit_locked(from | to, granule_of_copies);
        if (!fits) return mark_all_written();
        mark(from, to);
    }
}

void Shadow::mark(std::uintptr_t begin, std::uintptr_t end) {
    for (std::size_t number = begin >> shift_; number < end >> shift_; ++number) {
        Cell& cell = *cell_at(base_, number);
        if (cell.write == 0) cell.write = 1;
    }
}

void Shadow::forget_times(unsigned era) {
    if (era_ == era) return;
    era_ = era;
    if (cells_.first == nullptr) return;
    for (std::size_t i = 0; i < cells_.bytes / sizeof(Cell); ++i) {
        Cell& cell = cells_.first[i];
        if (cell.write > 1) cell.write = 1;
        cell.read = 0;
    }
}

}  // namespace cuscope::simt
