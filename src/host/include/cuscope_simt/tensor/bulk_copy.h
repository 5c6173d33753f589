// PTX's bulk copies (cp.async.bulk), of contiguous bytes and of tiles of a tensor map. They copy at once: the
// bytes of a load are counted at its barrier when the instruction ends, and groups of stores have ended then.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/ptx.h"
#include "cuscope_simt/tensor/layout.h"
#include "cuscope_simt/tensor/mbarrier.h"

namespace cuscope_simt {
namespace tensor {

CUSCOPE_INLINE bool is_multiple(const void* address, unsigned bytes) {
    return reinterpret_cast<__UINTPTR_TYPE__>(address) % bytes == 0;
}

// Copies to one block, or to every block of a multicast's mask, and counts the bytes at the barrier of each.
template <class Copy>
inline void deliver(unsigned long long to, unsigned long long barrier, long long bytes, const Site* site,
                    Copy&& copy) {
    copy(cluster_at(to, site));
    complete(cluster_at(barrier, site), bytes, site);
}
template <class Copy>
inline void deliver(unsigned long long to, unsigned long long barrier, long long bytes, const Site* site,
                    Copy&& copy, unsigned mask) {
    for (unsigned rank = 0; rank < 16; ++rank) {
        if ((mask >> rank & 1u) == 0) continue;
        copy(cluster_at(map_address(to, rank, site), site));
        complete(cluster_at(map_address(barrier, rank, site), site), bytes, site);
    }
}

// Tells counting and checking images of an access to contiguous bytes. Counting images take accesses as a
// warp makes them: not beyond a piece of memory that is served at once, of `piece` bytes.
CUSCOPE_INLINE void note([[maybe_unused]] const char* address, [[maybe_unused]] unsigned bytes,
                         [[maybe_unused]] unsigned piece, [[maybe_unused]] Access access) {
#ifdef CUSCOPE_CHECKED
    if (bytes != 0) count(address, bytes, access);
#elif defined(CUSCOPE_COUNTED)
    for (unsigned at = 0, part; at < bytes; at += part) {
        const auto left =
            static_cast<unsigned>(piece - (reinterpret_cast<__UINTPTR_TYPE__>(address) + at) % piece);
        part = left < bytes - at ? left : bytes - at;
        count(address + at, part, access);
    }
#endif
}
template <bool load>
CUSCOPE_INLINE void note_global(const char* address, unsigned bytes) {
    note(address, bytes, 32, load ? Access::load : Access::store);
}
template <bool load>
CUSCOPE_INLINE void note_shared(const char* address, unsigned bytes) {
    note(address, bytes, 16, load ? Access::store : Access::load);
}

// Copies contiguous bytes of one chunk or row.
template <bool load>
CUSCOPE_UNCOUNTED inline void copy_part(char* shared, char* global, unsigned bytes) {
    note_shared<load>(shared, bytes);
    __builtin_memcpy(load ? shared : global, load ? global : shared, bytes);
}

inline void copy_bytes(char* to, const char* from, unsigned bytes, const Site* site) {
    if (!is_multiple(to, 16) || !is_multiple(from, 16))
        fault(Fault::misaligned, "cp.async.bulk between addresses that are no multiples of 16", site);
    if (bytes % 16 != 0) fault(Fault::trap, "cp.async.bulk copies multiples of 16 bytes", site);
    // Either may be the one in shared memory.
    note(from, bytes, 32, Access::load);
    note(to, bytes, 32, Access::store);
    __builtin_memcpy(to, from, bytes);
}

// One more argument is the mask of a multicast.
template <class... Masked>
inline void load_bytes(unsigned long long to, const char* from, unsigned bytes, unsigned long long barrier,
                       const Site* site, Masked... mask) {
    deliver(
        to, barrier, bytes, site, [&](char* there) { copy_bytes(there, from, bytes, site); }, mask...);
}

inline const TensorMapLayout& tensor_map(const char* address, const Site* site) {
    if (!is_multiple(address, 64))
        fault(Fault::misaligned, "a tensor map at an address that is no multiple of 64", site);
    const auto& map = *reinterpret_cast<const TensorMapLayout*>(address);
    const Unchecked unchecked;
    if (map.mark != TensorMapLayout::right_mark)
        fault(
            Fault::trap,
            "a tensor map that cuTensorMapEncodeTiled has not made for this device: pass a cuscope.TensorMap",
            site);
    return map;
}

// The place of a chunk of 16 bytes in shared memory: bits of its row are added, without carry, to bits of its
// number. 32B: 1 bit, 64B: 2 bits, 128B: 3 bits.
CUSCOPE_INLINE char* swizzled(char* address, unsigned swizzle) {
    const auto at = reinterpret_cast<__UINTPTR_TYPE__>(address);
    return reinterpret_cast<char*>(at ^ (at >> 3 & ((1u << swizzle) - 1) << 4));
}

// The elements between two places of a row of the tile lie in the array.
struct Inside {
    long long begin, end;
};

// Fills bytes of shared memory that stand for elements outside of the array.
inline void fill_outside(char* to, unsigned bytes, const TensorMapLayout& map) {
    note_shared<true>(to, bytes);
    if (map.fills_with_nan == 0) {
        __builtin_memset(to, 0, bytes);
        return;
    }
    // The hardware's NaN, in each element type: words of 16 bits.
    for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<char>(i % 2 == 0 ? 0xf7 : 0x7f);
}

// Loads as CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 round to the nearest number with 10 bits of fraction, and to the
// even one in the middle of two.
inline void round_to_tf32(char* at, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i += 4) {
        unsigned number;
        __builtin_memcpy(&number, at + i, 4);
        if ((number & 0x7f800000u) != 0x7f800000u)
            number = (number + 0xfffu + (number >> 13 & 1u)) & ~0x1fffu;
        __builtin_memcpy(at + i, &number, 4);
    }
}

// A row along axis 0: `row` is its first byte in shared memory, without swizzling, and `global` its first
// element in the array, if it lies there.
template <bool load>
inline void copy_row(char* row, char* global, Inside inside, const TensorMapLayout& map) {
    const unsigned element = map.element_bytes, bytes = map.box[0] * element;
    const unsigned begin = static_cast<unsigned>(inside.begin) * element,
                   end = static_cast<unsigned>(inside.end) * element;
    if (end > begin) note_global<load>(global + begin, end - begin);
    if (map.swizzle == 0) {
        if (end > begin) copy_part<load>(row + begin, global + begin, end - begin);
        if (load && map.rounds_to_tf32 != 0) round_to_tf32(row + begin, end - begin);
        if (load && begin > 0) fill_outside(row, begin, map);
        if (load && end < bytes) fill_outside(row + end, bytes - end, map);
        return;
    }
    for (unsigned at = 0; at < bytes; at += 16) {
        char* const chunk = swizzled(row + at, map.swizzle);
        const unsigned low = begin > at ? (begin < at + 16 ? begin - at : 16) : 0,
                       high = end > at ? (end < at + 16 ? end - at : 16) : 0;
        if (high > low) {
            copy_part<load>(chunk + low, global + at + low, high - low);
            if (load && map.rounds_to_tf32 != 0) round_to_tf32(chunk + low, high - low);
            if (load && low > 0) fill_outside(chunk, low, map);
            if (load && high < 16) fill_outside(chunk + high, 16 - high, map);
        } else if (load) {
            fill_outside(chunk, 16, map);
        }
    }
}

// The tile whose first element has the coordinates; that of axis 0 comes first.
template <bool load, int rank>
inline void copy_tile(char* shared, const TensorMapLayout& map, const int (&first)[rank], const Site* site) {
    if (!is_multiple(shared, 128))
        fault(Fault::misaligned, "a tile in shared memory at an address that is no multiple of 128", site);
    if (static_cast<long long>(first[0]) * map.element_bytes % 16 != 0)
        fault(
            Fault::illegal_instruction,
            "a tile that does not begin at a multiple of 16 bytes of its row: the first coordinate times the "
            "size of an element",
            site);
    // An H200 loads such tiles, and stores none of them.
    for (const int coordinate : first)
        if (!load && coordinate < 0)
            fault(Fault::illegal_instruction,
                  "a store of a tile with a negative coordinate: a tile may be stored beyond the end of "
                  "an axis, but not before its begin",
                  site);
    const long long extent = static_cast<long long>(map.extents_less_1[0]) + 1;
    const long long box = map.box[0], x = first[0];
    const long long from = x < 0 ? -x : 0, to = extent - x < box ? extent - x : box;
    const Inside whole{from < box ? from : box, to > from ? to : (from < box ? from : box)};
    unsigned counts[5], at[5] = {};
    unsigned rows = 1;
    for (int i = 1; i < rank; ++i) {
        counts[i] = (map.box[i] + map.element_strides[i] - 1u) / map.element_strides[i];
        rows *= counts[i];
    }
    // With swizzling, a row has as many bytes as the swizzle spans, and a shorter one leaves a gap.
    const unsigned row_bytes = map.swizzle == 0 ? map.box[0] * map.element_bytes : 16u << map.swizzle;
    for (unsigned row = 0; row < rows; ++row) {
        long long offset = x * map.element_bytes;
        bool inside = true;
        for (int i = 1; i < rank; ++i) {
            const long long place = static_cast<long long>(first[i]) + at[i] * map.element_strides[i];
            inside = inside && place >= 0 && place <= static_cast<long long>(map.extents_less_1[i]);
            offset += place * static_cast<long long>(map.strides[i]);
        }
        char* const global = reinterpret_cast<char*>(map.address + static_cast<unsigned long long>(offset));
        if (load || inside)
            copy_row<load>(shared + static_cast<size_t>(row) * row_bytes, global,
                           inside ? whole : Inside{0, 0}, map);
        for (int i = 1; i < rank; ++i) {
            if (++at[i] < counts[i]) break;
            at[i] = 0;
        }
    }
}

inline unsigned tile_bytes(const TensorMapLayout& map) {
    unsigned bytes = map.box[0] * map.element_bytes;
    for (unsigned i = 1; i < map.rank; ++i)
        bytes *= (map.box[i] + map.element_strides[i] - 1u) / map.element_strides[i];
    return bytes;
}

template <int rank>
inline const TensorMapLayout& tensor_map_of(const char* address, const Site* site) {
    const TensorMapLayout& map = tensor_map(address, site);
    if (map.rank != rank)
        fault(Fault::trap, "cp.async.bulk.tensor of another number of axes than the tensor map has", site);
    return map;
}

template <int rank, class... Masked>
inline void load_tile(unsigned long long to, const char* map_address, const int (&first)[rank],
                      unsigned long long barrier, const Site* site, Masked... mask) {
    const TensorMapLayout& map = tensor_map_of<rank>(map_address, site);
    deliver(
        to, barrier, tile_bytes(map), site, [&](char* there) { copy_tile<true>(there, map, first, site); },
        mask...);
}

// st.async
template <class T, unsigned long n>
inline void store_values(unsigned long long to, const T (&values)[n], unsigned long long barrier,
                         const Site* site) {
    ptx::write(cluster_at(to, site), values);
    complete(cluster_at(barrier, site), sizeof values, site);
}

template <int rank>
inline void store_tile(const char* map_address, const int (&first)[rank], unsigned long long from,
                       const Site* site) {
    copy_tile<false>(local_at(from), tensor_map_of<rank>(map_address, site), first, site);
    poll();
}

}  // namespace tensor
}  // namespace cuscope_simt
