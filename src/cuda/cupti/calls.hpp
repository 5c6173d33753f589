// What CUPTI's records do not tell about the call behind a piece of work: its number in the trace, the
// stream, the name that an operation gives its work. CUPTI numbers each call that gives work to a device, and
// the records of the work have this number, the correlation.
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

// Threads add entries without a lock: CUPTI gives no two calls the same correlation. The entries of the
// latest 2^20 correlations are kept, in 32 MiB; the records of their work come long before.
class Calls {
  public:
    void add(std::uint32_t correlation, const CallOfWork& call);
    // Nothing if no such call was added since clear().
    std::optional<CallOfWork> find(std::uint32_t correlation) const;
    void clear() { generation_.fetch_add(1, std::memory_order_relaxed); }

  private:
    static constexpr std::uint64_t in_block = 1 << 12, most_blocks = 1 << 8;
    struct Entry {
        std::atomic<std::uint64_t> key{0};  // written last
        CallOfWork call;
    };
    using Block = std::array<Entry, in_block>;

    std::uint64_t key(std::uint32_t correlation) const {
        return std::uint64_t{generation_.load(std::memory_order_relaxed)} << 32 | correlation;
    }

    std::atomic<std::uint32_t> generation_{1};
    std::array<std::atomic<Block*>, most_blocks> blocks_{};  // allocated at their first use and kept
};

}  // namespace cuscope::cuda::cupti
