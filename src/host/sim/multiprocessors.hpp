// The room on a device's multiprocessors. Blocks of different kernels share a multiprocessor as long as they
// fit. A block never spans two: a large block may have to wait although smaller rooms add up to its size.
#pragma once

#include <cstdint>
#include <vector>

namespace cuscope::host {

class Multiprocessors {
  public:
    // The room of one multiprocessor. A block of a kernel takes this number divided by how many of the
    // kernel's blocks fit.
    static constexpr std::int32_t units = std::int32_t{1} << 20;

    explicit Multiprocessors(int count);

    // The number of blocks that fit if all multiprocessors are empty.
    std::int64_t most_blocks(std::int64_t block_units) const {
        return static_cast<std::int64_t>(room_.size()) * (units / block_units);
    }

    // Takes room for at most `wanted` blocks, each time on the multiprocessor with the most room. `placed`:
    // the number of blocks that got room. Returns a number to give to `leave`, or none if no block fits.
    static constexpr int none = -1;
    int place(std::int64_t wanted, std::int64_t block_units, std::int64_t* placed);
    void leave(int placement);

  private:
    struct Share {
        int multiprocessor;
        std::int32_t units;
    };
    using Placement = std::vector<Share>;

    Placement& make(int* number);
    void take(Placement& placement, std::size_t multiprocessor, std::int64_t blocks, std::int32_t size);
    void take_best(Placement& placement, std::int64_t wanted, std::int32_t size);

    std::vector<std::int32_t> room_;
    std::vector<Placement> placements_;
    std::vector<int> free_;  // unused elements of placements_
};

}  // namespace cuscope::host
