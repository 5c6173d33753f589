// Commands of streams, calls of the host, and the memory that they read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/checking.hpp"
#include "runtime/order/clock.hpp"

namespace cuscope::order {

struct Command {
    Timeline timeline = host_timeline;
    std::uint64_t tick = 0;
    Clock clock;         // all that lies before the command, with its own tick
    FoundStream stream;  // stream.is_host: a call of the host
    std::string what;    // "kernel 'add'", "the copy to the host"
    std::uint32_t line = 0;
    // It may wait for a number in memory, or the host has read such a number of it. Then it may be ordered
    // with others although nobody knows.
    mutable bool polls = false;
};
using CommandPtr = std::shared_ptr<const Command>;

inline bool happens_before(const Command& a, const Command& b) { return b.clock.at(a.timeline) >= a.tick; }

enum class Role : std::uint8_t {
    read,
    write,
    atomic,  // atomic operations, and numbers that streams write and wait for
    alloc,   // from here on the memory exists
    free,
};

struct Access {
    std::uintptr_t begin = 0, end = 0;
    Role role = Role::read;
    // False: it is known from the signature of a kernel alone.
    bool exact = true;
    std::string argument;  // the kernel's parameter; or empty
    CommandPtr by;
    // Of a node in a graph: its name and its line. The command is then the launch.
    std::string node;
    std::uint32_t node_line = 0;
    MemoryLabelPtr label;
    std::uintptr_t base = 0;  // of the label

    bool writes() const { return role != Role::read; }
};
using AccessPtr = std::shared_ptr<const Access>;

}  // namespace cuscope::order
