// PTX's barriers in shared memory (mbarrier), and addresses in the shared memory of other blocks of the
// cluster. A barrier is one word of 64 bits, as on a GPU, so that a program may place it anywhere. Other
// blocks may arrive on other OS threads, so every change is one atomic operation.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/spaces.h"
#include "cuscope_simt/tensor/layout.h"

namespace cuscope_simt {
namespace tensor {

// The shared memory of the block with rank r in the cluster begins at (r + 1) << rank_shift, as 32-bit
// addresses of the space shared::cluster. An address without a rank is the block's own.
inline constexpr unsigned rank_shift = 27;
CUSCOPE_INLINE unsigned long long local_part(unsigned long long address) {
    return address & ((1u << rank_shift) - 1);
}

CUSCOPE_INLINE char* local_at(unsigned long long address) {
    return static_cast<char*>(__cvta_shared_to_generic(static_cast<size_t>(address)));
}

inline char* cluster_at(unsigned long long address, const Site* site) {
    if (address >> rank_shift == 0) return local_at(address);
    const unsigned rank = static_cast<unsigned>(address >> rank_shift) - 1;
    const void* const own = local_at(local_part(address));
    void* const there = switching([&](Fiber* self) { return self->api->map_shared(self, own, rank, site); });
    if (there == nullptr)
        fault(Fault::trap, "an address of shared::cluster that no block of the cluster has", site);
    return static_cast<char*>(there);
}

// mapa: the same address in the shared memory of another block.
inline unsigned long long map_address(unsigned long long address, unsigned rank, const Site* site) {
    if (rank >= __clusterSizeInBlocks())
        fault(Fault::trap, "mapa: the cluster has no block of this rank", site);
    return local_part(address) | static_cast<unsigned long long>(rank + 1) << rank_shift;
}
CUSCOPE_INLINE unsigned rank_of(unsigned long long address) {
    return address >> rank_shift == 0 ? __clusterRelativeBlockRank()
                                      : static_cast<unsigned>(address >> rank_shift) - 1;
}

CUSCOPE_INLINE unsigned long long* barrier_word(char* address, const Site* site) {
    if (reinterpret_cast<__UINTPTR_TYPE__>(address) % 8 != 0)
        fault(Fault::misaligned, "an mbarrier at an address that is no multiple of 8", site);
    return reinterpret_cast<unsigned long long*>(address);
}

CUSCOPE_INLINE bool is_shared_by_one_block(const void* address) {
    return __clusterSizeInBlocks() <= 1 && cuscope_fiber->api->shared_rank(cuscope_fiber, address) >= 0;
}

CUSCOPE_INLINE void note_meeting(const void* address) {
    synchronized(is_shared_by_one_block(address) ? Synchronization::met_in_block
                                                 : Synchronization::met_on_device);
}

inline void init(char* address, unsigned arrivals, const Site* site) {
    unsigned long long* const word = barrier_word(address, site);
    if (arrivals == 0 || arrivals > Mbarrier::most_arrivals)
        fault(Fault::trap, "mbarrier.init: the count of arrivals is from 1 to 1048575", site);
    wrote(address, 8);
    const Unchecked unchecked;
    __atomic_store_n(word, Mbarrier{0, arrivals, 0, arrivals}.word(), __ATOMIC_RELEASE);
}

// Counts arrivals and bytes. Returns the word before, which is the state that PTX's arrivals return.
inline unsigned long long change(char* address, unsigned arrivals, unsigned dropped, long long bytes,
                                 const Site* site) {
    unsigned long long* const word = barrier_word(address, site);
    bool completed = false;
    unsigned long long before;
    {
        const Unchecked unchecked;
        before = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        for (;;) {
            Mbarrier barrier = Mbarrier::of(before);
            if (arrivals > barrier.pending)
                fault(Fault::trap,
                      "an arrival at an mbarrier whose phase waits for fewer arrivals: either it was not "
                      "initialised, or more threads arrive than mbarrier.init has announced",
                      site);
            const long long left = barrier.bytes + bytes;
            if (left > Mbarrier::most_bytes || left < -Mbarrier::most_bytes)
                fault(Fault::trap,
                      "an mbarrier counts at most 1048575 bytes that are announced and not copied", site);
            barrier.pending -= arrivals;
            barrier.expected -= dropped;
            barrier.bytes = static_cast<int>(left);
            completed = barrier.pending == 0 && barrier.bytes == 0;
            if (completed) {
                ++barrier.phase;
                barrier.pending = barrier.expected;
            }
            if (__atomic_compare_exchange_n(word, &before, barrier.word(), false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE))
                break;
        }
    }
    // The thread that completes a phase hands on what earlier arrivals have done.
    if (completed) note_meeting(address);
    return before;
}

inline unsigned long long arrive(char* address, unsigned count, const Site* site) {
    const unsigned long long before = change(address, count, 0, 0, site);
    poll();
    return before;
}
inline unsigned long long arrive_and_drop(char* address, unsigned count, const Site* site) {
    return change(address, count, count, 0, site);
}
inline unsigned long long arrive_and_expect(char* address, long long bytes, const Site* site) {
    return change(address, 1, 0, bytes, site);
}
inline unsigned long long arrive_drop_and_expect(char* address, long long bytes, const Site* site) {
    return change(address, 1, 1, bytes, site);
}
inline void expect(char* address, long long bytes, const Site* site) { change(address, 0, 0, bytes, site); }
inline void complete(char* address, long long bytes, const Site* site) {
    change(address, 0, 0, -bytes, site);
}

CUSCOPE_INLINE unsigned long long look(const unsigned long long* word) {
    const Unchecked unchecked;
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

// Has the phase ended? `bits` are the bits of the phase's number that the caller knows: 1 for a parity, 7 for
// a state.
inline bool test_wait(char* address, unsigned long long phase, unsigned bits, const Site* site) {
    const unsigned long long* const word = barrier_word(address, site);
    if (((look(word) ^ phase) & bits) == 0) switching([](Fiber* self) { self->api->spin_hint(self); });
    if (((look(word) ^ phase) & bits) == 0) return false;
    note_meeting(address);
    return true;
}

// The same, but the thread is set aside until the phase has ended, if only threads of its block can end it.
inline bool try_wait(char* address, unsigned long long phase, unsigned bits, const Site* site) {
    const unsigned long long* const word = barrier_word(address, site);
    if (!is_shared_by_one_block(address)) return test_wait(address, phase, bits, site);
    for (;;) {
        const unsigned long long now = look(word);
        if (((now ^ phase) & bits) != 0) break;
        // The half with the phase's number. Other changes of it wake the thread, which waits again.
        const auto* const half = reinterpret_cast<const unsigned*>(word);
        switching([&](Fiber* self) { self->api->wait_word(self, half, static_cast<unsigned>(now), site); });
    }
    note_meeting(address);
    return true;
}

// elect.sync: one lane of the mask, always the same.
inline bool elect(unsigned mask, unsigned* leader, const Site* site) {
    rendezvous(WarpKind::sync, mask, 0, 0, nullptr, site);
    *leader = static_cast<unsigned>(__builtin_ctz(mask));
    return static_cast<unsigned>(lane()) == *leader;
}

}  // namespace tensor
}  // namespace cuscope_simt
