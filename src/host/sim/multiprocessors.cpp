#include "host/sim/multiprocessors.hpp"

#include <algorithm>

namespace cuscope::host {

Multiprocessors::Multiprocessors(int count)
    : free_units_(static_cast<std::size_t>(count), units),
      carveouts_(free_units_.size(), 0),
      room_(free_units_) {}

Multiprocessors::Placement& Multiprocessors::make(int* number) {
    if (free_.empty()) {
        free_.push_back(static_cast<int>(placements_.size()));
        placements_.emplace_back();
    }
    *number = free_.back();
    free_.pop_back();
    return placements_[static_cast<std::size_t>(*number)];
}

void Multiprocessors::take(Placement& placement, std::size_t multiprocessor, std::int64_t blocks,
                           std::int32_t size) {
    const std::int32_t taken = static_cast<std::int32_t>(blocks) * size;
    free_units_[multiprocessor] -= taken;
    placement.push_back({static_cast<int>(multiprocessor), taken});
}

void Multiprocessors::look_for_room(std::int32_t shared_bytes) {
    for (std::size_t i = 0; i < room_.size(); ++i) {
        const bool empty = free_units_[i] == units;
        room_[i] = empty || shared_bytes <= carveouts_[i] ? free_units_[i] : 0;
    }
}

int Multiprocessors::place(const BlockGroup& group, std::int64_t* placed) {
    const auto size = static_cast<std::int32_t>(group.block_units);
    look_for_room(group.shared_memory.bytes);
    const auto most = std::max_element(room_.begin(), room_.end());
    *placed = 0;
    if (group.wanted <= 0 || *most < size) return none;
    int number = none;
    Placement& placement = make(&number);
    if (group.wanted == 1) {
        take(placement, static_cast<std::size_t>(most - room_.begin()), 1, size);
        *placed = 1;
    } else {
        std::int64_t fitting = 0;
        for (const std::int32_t room : room_) fitting += room / size;
        *placed = std::min(group.wanted, fitting);
        if (fitting > group.wanted && !group.replaces) {
            take_best(placement, group.wanted, size);
        } else {
            take_in_order(placement, *placed, size);
        }
    }
    divide(placement, group.shared_memory.carveout);
    return number;
}

void Multiprocessors::take_in_order(Placement& placement, std::int64_t wanted, std::int32_t size) {
    for (std::size_t i = 0; wanted > 0; ++i) {
        const std::int64_t blocks = std::min<std::int64_t>(wanted, room_[i] / size);
        if (blocks > 0) take(placement, i, blocks, size);
        wanted -= blocks;
    }
}

// Divides the memory of multiprocessors that were empty.
void Multiprocessors::divide(const Placement& placement, std::int32_t carveout) {
    for (const Share& share : placement) {
        const auto i = static_cast<std::size_t>(share.multiprocessor);
        if (room_[i] == units) carveouts_[i] = carveout;
    }
}

// The same as `wanted` times one block on the multiprocessor with the most room, but with few passes. A block
// sees the room that the blocks before it have left: finds the least room that a block gets to see. Blocks
// that see more are placed in any case, and blocks that see exactly this much in the order of the
// multiprocessors.
void Multiprocessors::take_best(Placement& placement, std::int64_t wanted, std::int32_t size) {
    const auto seeing = [size](std::int32_t room, std::int32_t least) -> std::int64_t {
        return room < least ? 0 : (room - least) / size + 1;
    };
    const auto blocks_seeing = [&](std::int32_t least) {
        std::int64_t blocks = 0;
        for (const std::int32_t room : room_) blocks += seeing(room, least);
        return blocks;
    };
    const auto [smallest, largest] = std::minmax_element(room_.begin(), room_.end());
    if (*smallest == *largest) {  // the usual case
        const std::size_t count = room_.size(), whole = static_cast<std::size_t>(wanted) / count;
        const std::size_t more = static_cast<std::size_t>(wanted) % count;
        for (std::size_t i = 0; i < (whole > 0 ? count : more); ++i)
            take(placement, i, static_cast<std::int64_t>(whole + (i < more ? 1 : 0)), size);
        return;
    }
    std::int32_t low = size, high = *largest + 1;  // enough blocks see `low`, too few see `high`
    while (high - low > 1) {
        const std::int32_t middle = low + (high - low) / 2;
        (blocks_seeing(middle) >= wanted ? low : high) = middle;
    }
    std::int64_t rest = wanted - blocks_seeing(low + 1);
    for (std::size_t i = 0; i < room_.size(); ++i) {
        const std::int64_t sure = seeing(room_[i], low + 1);
        const bool one_more = rest > 0 && seeing(room_[i], low) > sure;
        rest -= one_more ? 1 : 0;
        if (sure > 0 || one_more) take(placement, i, sure + (one_more ? 1 : 0), size);
    }
}

void Multiprocessors::leave(int placement) {
    Placement& shares = placements_[static_cast<std::size_t>(placement)];
    for (const Share& share : shares)
        free_units_[static_cast<std::size_t>(share.multiprocessor)] += share.units;
    shares.clear();
    free_.push_back(placement);
}

}  // namespace cuscope::host
