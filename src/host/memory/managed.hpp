// The advice and the prefetches of a managed allocation, by ranges of pages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "runtime/memory_types.hpp"

namespace cuscope::host {

struct PageState {
    bool read_mostly = false;
    int preferred_location = invalid_device_id;
    int last_prefetch = invalid_device_id;
    int location = invalid_device_id;  // where the pages are; invalid until a prefetch
    std::vector<int> accessed_by;      // sorted
    bool operator==(const PageState&) const = default;
};

class ManagedRanges {
  public:
    static constexpr std::size_t page = 4096;

    // Changes the state of the pages that overlap [offset, offset + bytes).
    template <class Change>
    void change(std::size_t offset, std::size_t bytes, Change&& change) {
        const std::size_t first = offset / page, last = (offset + bytes + page - 1) / page;
        split(first);
        split(last);
        for (auto run = runs_.find(first); run != runs_.end() && run->first < last; ++run)
            change(run->second);
    }
    // Visits these pages' states, each with the number of consecutive pages that share it.
    template <class Visit>
    void visit(std::size_t offset, std::size_t bytes, Visit&& visit) const {
        const std::size_t first = offset / page, last = (offset + bytes + page - 1) / page;
        for (auto run = std::prev(runs_.upper_bound(first)); run != runs_.end() && run->first < last; ++run) {
            const auto next = std::next(run);
            const std::size_t end = next == runs_.end() ? last : std::min(last, next->first);
            visit(run->second, end - std::max(first, run->first));
        }
    }

  private:
    void split(std::size_t at) {
        const auto run = std::prev(runs_.upper_bound(at));
        if (run->first != at) runs_.emplace_hint(std::next(run), at, run->second);
    }

    std::map<std::size_t, PageState> runs_{{0, {}}};  // by first page; a run ends where the next begins
};

}  // namespace cuscope::host
