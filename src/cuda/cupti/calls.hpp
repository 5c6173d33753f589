// What CUPTI's records do not tell about the call behind a piece of work: its number in the trace, the
// stream, the name that an operation gives its work. CUPTI hands the place of an entry back with the work.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace cuscope::cuda::cupti {

struct CallOfWork {
    std::uint64_t call = 0;    // the number of the HostRecord; 0: unknown
    std::uint64_t stream = 0;  // Stream.id; 0: unknown
    std::uint32_t name = 0;    // in place of the kernel's, as an index into activity_names()
};

// Threads add entries without a lock. The latest 2^20 entries are kept, in 32 MiB; CUPTI hands places back
// long before.
class Calls {
  public:
    // The place of a new entry, never 0.
    std::uint64_t add(const CallOfWork& call);
    // Nothing if there is no such entry.
    std::optional<CallOfWork> find(std::uint64_t place) const;

  private:
    static constexpr std::uint64_t in_block = 1 << 12, most_blocks = 1 << 8;
    struct Entry {
        std::atomic<std::uint64_t> place{0};  // written last
        CallOfWork call;
    };
    using Block = std::array<Entry, in_block>;

    std::atomic<std::uint64_t> next_{0};
    std::array<std::atomic<Block*>, most_blocks> blocks_{};  // allocated at their first use and kept
};

}  // namespace cuscope::cuda::cupti
