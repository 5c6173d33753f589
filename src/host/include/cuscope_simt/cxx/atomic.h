// cuda::atomic and cuda::atomic_ref of any scope, and fences. They are real atomics, sequentially consistent
// for every requested memory order.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/atomics.h"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace std {
enum memory_order {
    memory_order_relaxed,
    memory_order_consume,
    memory_order_acquire,
    memory_order_release,
    memory_order_acq_rel,
    memory_order_seq_cst
};
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

namespace cuscope {

// The type of the other operand of an addition. For a pointer it is a distance.
template <class T>
struct Difference {
    using Type = T;
};
template <class T>
struct Difference<T*> {
    using Type = __PTRDIFF_TYPE__;
};

// Waits a little, so that the thread that this thread waits for can run.
CUSCOPE_INLINE void wait_a_little() {
    ::cuscope_simt::switching([](::cuscope_simt::Fiber* self) { self->api->spin_hint(self); });
}

// The operations on the object that `self()` points to.
template <class Derived, class T>
class Operations {
    static_assert(__is_trivially_copyable(T), "an atomic type can be copied byte by byte");
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "cuscope's host runtime has atomic types of 1, 2, 4 and 8 bytes");
    using Delta = typename Difference<T>::Type;

    CUSCOPE_INLINE T* address() const { return static_cast<const Derived*>(this)->cuscope_address(); }
    CUSCOPE_INLINE T* at(::cuscope_simt::Access access = ::cuscope_simt::Access::ordered) const {
        return ::cuscope_simt::atomic_operand(address(), access);
    }
    template <class Change>
    CUSCOPE_INLINE T update(Change change) const {
        return ::cuscope_simt::atomic_update(address(), change, ::cuscope_simt::Access::ordered);
    }

  public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    CUSCOPE_INLINE bool is_lock_free() const { return true; }
    CUSCOPE_INLINE void store(T value, memory_order = memory_order_seq_cst) const {
        __atomic_store(at(::cuscope_simt::Access::ordered_store), &value, __ATOMIC_SEQ_CST);
        ::cuscope_simt::poll();
    }
    CUSCOPE_INLINE T load(memory_order = memory_order_seq_cst) const {
        ::cuscope_simt::poll();
        return ::cuscope_simt::atomic_load(at(::cuscope_simt::Access::ordered_load));
    }
    CUSCOPE_INLINE operator T() const { return load(); }
    CUSCOPE_INLINE T exchange(T value, memory_order = memory_order_seq_cst) const {
        T old;
        __atomic_exchange(at(), &value, &old, __ATOMIC_SEQ_CST);
        ::cuscope_simt::poll();
        return old;
    }
    CUSCOPE_INLINE bool compare_exchange_strong(T& expected, T value, memory_order,
                                                memory_order = memory_order_seq_cst) const {
        const bool done =
            __atomic_compare_exchange(at(), &expected, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        ::cuscope_simt::poll();
        return done;
    }
    CUSCOPE_INLINE bool compare_exchange_strong(T& expected, T value) const {
        return compare_exchange_strong(expected, value, memory_order_seq_cst);
    }
    CUSCOPE_INLINE bool compare_exchange_weak(T& expected, T value, memory_order,
                                              memory_order = memory_order_seq_cst) const {
        return compare_exchange_strong(expected, value, memory_order_seq_cst);
    }
    CUSCOPE_INLINE bool compare_exchange_weak(T& expected, T value) const {
        return compare_exchange_strong(expected, value, memory_order_seq_cst);
    }

    CUSCOPE_INLINE T fetch_add(Delta by, memory_order = memory_order_seq_cst) const {
        return update([by](T old) { return static_cast<T>(old + by); });
    }
    CUSCOPE_INLINE T fetch_sub(Delta by, memory_order = memory_order_seq_cst) const {
        return update([by](T old) { return static_cast<T>(old - by); });
    }
    CUSCOPE_INLINE T fetch_and(T bits, memory_order = memory_order_seq_cst) const {
        return update([bits](T old) { return static_cast<T>(old & bits); });
    }
    CUSCOPE_INLINE T fetch_or(T bits, memory_order = memory_order_seq_cst) const {
        return update([bits](T old) { return static_cast<T>(old | bits); });
    }
    CUSCOPE_INLINE T fetch_xor(T bits, memory_order = memory_order_seq_cst) const {
        return update([bits](T old) { return static_cast<T>(old ^ bits); });
    }
    CUSCOPE_INLINE T fetch_min(T other, memory_order = memory_order_seq_cst) const {
        return update([other](T old) { return other < old ? other : old; });
    }
    CUSCOPE_INLINE T fetch_max(T other, memory_order = memory_order_seq_cst) const {
        return update([other](T old) { return old < other ? other : old; });
    }
    CUSCOPE_INLINE T operator++(int) const { return fetch_add(1); }
    CUSCOPE_INLINE T operator--(int) const { return fetch_sub(1); }
    CUSCOPE_INLINE T operator++() const { return static_cast<T>(fetch_add(1) + 1); }
    CUSCOPE_INLINE T operator--() const { return static_cast<T>(fetch_sub(1) - 1); }
    CUSCOPE_INLINE T operator+=(Delta by) const { return static_cast<T>(fetch_add(by) + by); }
    CUSCOPE_INLINE T operator-=(Delta by) const { return static_cast<T>(fetch_sub(by) - by); }
    CUSCOPE_INLINE T operator&=(T bits) const { return static_cast<T>(fetch_and(bits) & bits); }
    CUSCOPE_INLINE T operator|=(T bits) const { return static_cast<T>(fetch_or(bits) | bits); }
    CUSCOPE_INLINE T operator^=(T bits) const { return static_cast<T>(fetch_xor(bits) ^ bits); }

    // Waits until the value differs from `old`.
    CUSCOPE_INLINE void wait(T old, memory_order = memory_order_seq_cst) const {
        for (T now = load(); __builtin_memcmp(&now, &old, sizeof(T)) == 0; now = load()) wait_a_little();
    }
    CUSCOPE_INLINE void notify_one() const {}
    CUSCOPE_INLINE void notify_all() const {}
};

}  // namespace cuscope

template <class T, thread_scope Scope = thread_scope_system>
class atomic : public cuscope::Operations<atomic<T, Scope>, T> {
  public:
    atomic() = default;
    constexpr atomic(T value) : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    CUSCOPE_INLINE T operator=(T value) {
        this->store(value);
        return value;
    }
    CUSCOPE_INLINE T* cuscope_address() const { return const_cast<T*>(&value_); }

  private:
    alignas(sizeof(T)) T value_;
};

template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref : public cuscope::Operations<atomic_ref<T, Scope>, T> {
  public:
    static constexpr decltype(sizeof(0)) required_alignment = sizeof(T);

    CUSCOPE_INLINE explicit atomic_ref(T& object) : object_(&object) {}
    atomic_ref(const atomic_ref&) = default;
    atomic_ref& operator=(const atomic_ref&) = delete;
    CUSCOPE_INLINE T operator=(T value) const {
        this->store(value);
        return value;
    }
    CUSCOPE_INLINE T* cuscope_address() const { return object_; }

  private:
    T* object_;
};

template <thread_scope Scope = thread_scope_system>
class atomic_flag {
  public:
    atomic_flag() = default;
    constexpr atomic_flag(bool value) : value_(value) {}
    CUSCOPE_INLINE bool test(memory_order = memory_order_seq_cst) const { return value_.load() != 0; }
    CUSCOPE_INLINE bool test_and_set(memory_order = memory_order_seq_cst) { return value_.exchange(1) != 0; }
    CUSCOPE_INLINE void clear(memory_order = memory_order_seq_cst) { value_.store(0); }
    CUSCOPE_INLINE void wait(bool old, memory_order = memory_order_seq_cst) const {
        value_.wait(static_cast<unsigned>(old));
    }
    CUSCOPE_INLINE void notify_one() const {}
    CUSCOPE_INLINE void notify_all() const {}

  private:
    atomic<unsigned, Scope> value_;
};

CUSCOPE_INLINE void atomic_thread_fence(memory_order, thread_scope = thread_scope_system) { __threadfence(); }
CUSCOPE_INLINE void atomic_signal_fence(memory_order) { asm volatile("" ::: "memory"); }

namespace std {
template <class T>
using atomic = ::cuda::atomic<T>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T>;
using atomic_flag = ::cuda::atomic_flag<>;
using atomic_int = atomic<int>;
using atomic_uint = atomic<unsigned>;
using atomic_llong = atomic<long long>;
using atomic_ullong = atomic<unsigned long long>;
using atomic_bool = atomic<bool>;
using ::cuda::atomic_signal_fence;
CUSCOPE_INLINE void atomic_thread_fence(memory_order order) { ::cuda::atomic_thread_fence(order); }
}  // namespace std

}  // namespace cuda
