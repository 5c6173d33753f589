// The results of a counted launch: the number of memory accesses of its threads, and the requests, sectors
// and wavefronts that its warps needed for them. A request is one instruction of a warp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace cuscope {

struct LaunchProfile;

struct GlobalCounts {
    std::uint64_t loads = 0, stores = 0, atomics = 0;  // by threads
    std::uint64_t load_requests = 0, store_requests = 0;
    std::uint64_t load_sectors = 0, store_sectors = 0;  // sectors of 32 bytes
    std::uint64_t load_bytes = 0, store_bytes = 0;      // bytes that threads requested

    GlobalCounts& operator+=(const GlobalCounts& other) {
        loads += other.loads;
        stores += other.stores;
        atomics += other.atomics;
        load_requests += other.load_requests;
        store_requests += other.store_requests;
        load_sectors += other.load_sectors;
        store_sectors += other.store_sectors;
        load_bytes += other.load_bytes;
        store_bytes += other.store_bytes;
        return *this;
    }
};

struct SharedCounts {
    std::uint64_t loads = 0, stores = 0, atomics = 0;  // by threads
    std::uint64_t load_requests = 0, store_requests = 0;
    std::uint64_t load_wavefronts = 0, store_wavefronts = 0;
    std::uint64_t load_bank_conflicts = 0, store_bank_conflicts = 0;  // wavefronts beyond the minimum

    SharedCounts& operator+=(const SharedCounts& other) {
        loads += other.loads;
        stores += other.stores;
        atomics += other.atomics;
        load_requests += other.load_requests;
        store_requests += other.store_requests;
        load_wavefronts += other.load_wavefronts;
        store_wavefronts += other.store_wavefronts;
        load_bank_conflicts += other.load_bank_conflicts;
        store_bank_conflicts += other.store_bank_conflicts;
        return *this;
    }
};

struct LaunchCounts {
    GlobalCounts global;
    SharedCounts shared;
    // The basic blocks that threads ran, and the basic blocks that their warps issued.
    std::uint64_t thread_steps = 0, warp_steps = 0;

    struct Argument {
        unsigned parameter;
        GlobalCounts counts;
    };
    std::vector<Argument> arguments;  // by parameter; only parameters that hold an allocation's address
    std::shared_ptr<const LaunchProfile> profile;  // null: the launch was not profiled
};

}  // namespace cuscope
