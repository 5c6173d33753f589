// The room on a device's multiprocessors. Blocks of different kernels share a multiprocessor as long as they
// fit. A block never spans two: a large block may have to wait although smaller rooms add up to its size.
// A multiprocessor divides its memory into shared memory and cache only while it is empty. So a kernel whose
// blocks need more shared memory waits until the blocks of other kernels have ended.
#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/device_model.hpp"

namespace cuscope::host {

// Blocks of a kernel that wait for room.
struct BlockGroup {
    std::int64_t wanted;
    std::int64_t block_units;  // see Multiprocessors::units
    SharedMemoryNeed shared_memory;
    // Blocks of the kernel ran before. On an H200 a block that ends is replaced at once on its own
    // multiprocessor, so multiprocessors are filled one after the other. The first blocks of a kernel go to
    // the multiprocessor with the most room instead.
    bool replaces;
};

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

    // Takes room for at most `group.wanted` blocks. `placed`: the number of blocks that got room. Returns a
    // number to give to `leave`, or none if no block fits.
    static constexpr int none = -1;
    int place(const BlockGroup& group, std::int64_t* placed);
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
    void take_in_order(Placement& placement, std::int64_t wanted, std::int32_t size);
    void look_for_room(std::int32_t shared_bytes);
    void divide(const Placement& placement, std::int32_t carveout);

    std::vector<std::int32_t> free_units_, carveouts_;
    std::vector<std::int32_t> room_;  // of free_units_, the part that the kernel to be placed may take
    std::vector<Placement> placements_;
    std::vector<int> free_;  // unused elements of placements_
};

}  // namespace cuscope::host
