// cooperative_groups: reductions and scans. The operations have the same order as on a GPU, so that sums of
// floating-point numbers are the same.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/groups/groups.h"

namespace cooperative_groups {

#define CUSCOPE_OPERATOR(name, expression)                                 \
    template <class T>                                                     \
    struct name {                                                          \
        CUSCOPE_INLINE T operator()(T a, T b) const { return expression; } \
    };
CUSCOPE_OPERATOR(plus, a + b)
CUSCOPE_OPERATOR(less, b < a ? b : a)
CUSCOPE_OPERATOR(greater, a < b ? b : a)
CUSCOPE_OPERATOR(bit_and, a& b)
CUSCOPE_OPERATOR(bit_or, a | b)
CUSCOPE_OPERATOR(bit_xor, a ^ b)
#undef CUSCOPE_OPERATOR

namespace details {

// 32-bit integers need one rendezvous, because a warp reduces them in one instruction.
template <class Operator>
struct Reduction {
    static constexpr bool in_one = false;
};
#define CUSCOPE_REDUCTION(op, type, kind_)                         \
    template <>                                                    \
    struct Reduction<op<type>> {                                   \
        static constexpr bool in_one = true;                       \
        using Value = type;                                        \
        static constexpr WarpKind kind = WarpKind::reduce_##kind_; \
    };
CUSCOPE_REDUCTION(plus, int, add_signed)
CUSCOPE_REDUCTION(plus, unsigned, add_unsigned)
CUSCOPE_REDUCTION(less, int, min_signed)
CUSCOPE_REDUCTION(less, unsigned, min_unsigned)
CUSCOPE_REDUCTION(greater, int, max_signed)
CUSCOPE_REDUCTION(greater, unsigned, max_unsigned)
CUSCOPE_REDUCTION(bit_and, int, and)
CUSCOPE_REDUCTION(bit_and, unsigned, and)
CUSCOPE_REDUCTION(bit_or, int, or)
CUSCOPE_REDUCTION(bit_or, unsigned, or)
CUSCOPE_REDUCTION(bit_xor, int, xor)
CUSCOPE_REDUCTION(bit_xor, unsigned, xor)
#undef CUSCOPE_REDUCTION

template <class Operator, class T>
CUSCOPE_INLINE T reduced_in_one(unsigned mask, T value, const char* file, int line) {
    const Site site{file, line, "reduce"};
    return static_cast<T>(
        rendezvous(Reduction<Operator>::kind, mask, static_cast<unsigned>(value), 0, nullptr, &site));
}

template <class Group, class T, class Operator>
T scanned(const Group& group, T value, Operator&& op, const char* file, int line) {
    const unsigned size = group.num_threads(), rank = group.thread_rank();
    for (unsigned delta = 1; delta < size; delta *= 2) {
        const T other = group.shfl_up(value, delta, file, line);
        if (rank >= delta) value = op(other, value);
    }
    return value;
}

template <unsigned Size, class Parent, class T, class Operator>
T reduced(const thread_block_tile<Size, Parent>& tile, T value, Operator&& op, const char* file, int line) {
    if constexpr (Size > 32) {
        const auto warp = tiled_partition<32>(this_thread_block());
        value = reduced(warp, value, op, file, line);
        const Site site{file, line, "reduce"};
        const Gathered all = tile.gathered(&value, site);
        constexpr unsigned warps = Size / 32;
        T sums[warps];
        for (unsigned i = 0; i < warps; ++i) sums[i] = all.template at<T>(32 * i);
        for (unsigned step = warps / 2; step > 0; step /= 2)
            for (unsigned i = 0; i < step; ++i) sums[i] = op(sums[i], sums[i + step]);
        all.done();
        return sums[0];
    } else if constexpr (Reduction<plain<Operator>>::in_one) {
        return reduced_in_one<plain<Operator>>(tile.cuscope_mask(), value, file, line);
    } else {
        for (unsigned mask = Size / 2; mask > 0; mask /= 2)
            value = op(value, tile.shfl_xor(value, mask, file, line));
        return value;
    }
}
template <class T, class Operator>
T reduced(const coalesced_group& group, T value, Operator&& op, const char* file, int line) {
    if constexpr (Reduction<plain<Operator>>::in_one) {
        return reduced_in_one<plain<Operator>>(group.cuscope_mask(), value, file, line);
    } else {
        if (group.size() == 32) {
            for (unsigned mask = 16; mask > 0; mask /= 2)
                value = op(value,
                           exchange<T>(~0u, value, lane() ^ static_cast<int>(mask), {file, line, "reduce"}));
            return value;
        }
        return group.shfl(scanned(group, value, op, file, line), static_cast<int>(group.size()) - 1, file,
                          line);
    }
}

}  // namespace details

template <class Group, class T, class Operator>
inline auto reduce(const Group& group, T&& value, Operator&& op, CUSCOPE_HERE) -> decltype(op(value, value)) {
    return details::reduced(group, static_cast<details::plain<T>>(value), op, file, line);
}

template <class Group, class T, class Operator>
inline auto inclusive_scan(const Group& group, T&& value, Operator&& op, CUSCOPE_HERE)
    -> decltype(op(value, value)) {
    return details::scanned(group, static_cast<details::plain<T>>(value), op, file, line);
}
template <class Group, class T>
inline details::plain<T> inclusive_scan(const Group& group, T&& value) {
    return inclusive_scan(group, value, plus<details::plain<T>>());
}
template <class Group, class T, class Operator>
inline auto exclusive_scan(const Group& group, T&& value, Operator&& op, CUSCOPE_HERE)
    -> decltype(op(value, value)) {
    using Value = details::plain<T>;
    const Value all = details::scanned(group, static_cast<Value>(value), op, file, line);
    const Value before = group.shfl_up(all, 1, file, line);
    return group.thread_rank() == 0 ? Value{} : before;
}
template <class Group, class T>
inline details::plain<T> exclusive_scan(const Group& group, T&& value) {
    return exclusive_scan(group, value, plus<details::plain<T>>());
}

namespace details {
// Returns the value of an atomic object before op(object, value) replaced it.
template <class Atomic, class T, class Operator>
T update(Atomic&& atomic, T value, Operator&& op) {
    T old = atomic.load();
    while (!atomic.compare_exchange_weak(old, op(old, value))) {
    }
    return old;
}
// The group's last thread does the update; all threads get the old value.
template <class Group, class Atomic, class T, class Operator>
T update_by_last(const Group& group, Atomic&& atomic, T all, Operator&& op, const char* file, int line) {
    const unsigned last = group.num_threads() - 1;
    T old{};
    if (group.thread_rank() == last) old = update(atomic, all, op);
    return group.shfl(old, static_cast<int>(last), file, line);
}
}  // namespace details

template <class Group, class Atomic, class T, class Operator>
inline auto inclusive_scan_update(const Group& group, Atomic&& atomic, T&& value, Operator&& op, CUSCOPE_HERE)
    -> decltype(op(value, value)) {
    const auto own = inclusive_scan(group, value, op, file, line);
    return op(details::update_by_last(group, atomic, own, op, file, line), own);
}
template <class Group, class Atomic, class T>
inline details::plain<T> inclusive_scan_update(const Group& group, Atomic&& atomic, T&& value) {
    return inclusive_scan_update(group, atomic, value, plus<details::plain<T>>());
}
template <class Group, class Atomic, class T, class Operator>
inline auto exclusive_scan_update(const Group& group, Atomic&& atomic, T&& value, Operator&& op, CUSCOPE_HERE)
    -> decltype(op(value, value)) {
    const auto all = inclusive_scan(group, value, op, file, line);
    const auto old = details::update_by_last(group, atomic, all, op, file, line);
    const auto before = group.shfl_up(all, 1, file, line);
    return group.thread_rank() == 0 ? old : op(old, before);
}
template <class Group, class Atomic, class T>
inline details::plain<T> exclusive_scan_update(const Group& group, Atomic&& atomic, T&& value) {
    return exclusive_scan_update(group, atomic, value, plus<details::plain<T>>());
}

template <class Group, class Atomic, class T, class Operator>
inline void reduce_update_async(const Group& group, Atomic& atomic, T&& value, Operator&& op, CUSCOPE_HERE) {
    const auto all = reduce(group, value, op, file, line);
    if (group.thread_rank() == 0) details::update(atomic, all, op);
}
template <class Group, class Target, class T, class Operator>
inline void reduce_store_async(const Group& group, Target& target, T&& value, Operator&& op, CUSCOPE_HERE) {
    const auto all = reduce(group, value, op, file, line);
    if (group.thread_rank() == 0) target = all;
}

}  // namespace cooperative_groups
