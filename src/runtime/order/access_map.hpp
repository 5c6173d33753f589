// The accesses to each byte of memory that a later command may still conflict with.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "runtime/order/command.hpp"

namespace cuscope::order {

// Two accesses that nothing orders, or an access to freed memory: the earlier one, the later one, and the
// bytes.
using Conflict =
    std::function<void(const Access& earlier, const Access& later, std::uintptr_t begin, std::uintptr_t end)>;

// Do the two accesses need an order that they do not have?
bool in_conflict(const Access& earlier, const Access& later);

class AccessMap {
  public:
    // Calls `conflict` for each earlier access that conflicts with this one, and remembers this one.
    void add(const AccessPtr& access, const Conflict& conflict);
    void clear() { cells_.clear(); }

  private:
    struct Cell {
        std::uintptr_t end = 0;
        AccessPtr last;                // the last write, allocation or release
        std::vector<AccessPtr> since;  // reads and atomic operations after it

        bool operator==(const Cell& other) const { return last == other.last && since == other.since; }
    };
    using Cells = std::map<std::uintptr_t, Cell>;

    // Makes a cell begin at this address if one holds it.
    void split(std::uintptr_t at);
    static void settle(Cell& cell, std::uintptr_t begin, const AccessPtr& access, const Conflict& conflict);

    Cells cells_;  // by their first address; they do not overlap
};

}  // namespace cuscope::order
