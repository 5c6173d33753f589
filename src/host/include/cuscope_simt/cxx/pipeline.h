// cuda::memcpy_async and cuda::pipeline. The threads that ask for a copy make it at once, so a later wait
// finds it done.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/cxx/barrier.h"
#include "cuscope_simt/groups/shape.h"

namespace cuda {

enum class async_contract_fulfillment { none, async };
enum class pipeline_role { producer, consumer };

template <thread_scope Scope>
class pipeline;

namespace cuscope {

CUSCOPE_INLINE void copy(void* to, const void* from, decltype(sizeof(0)) bytes) {
    ::cuscope_simt::copying(to, from, bytes);
    __builtin_memmove(to, from, bytes);
}
// Copies the calling thread's part, in pieces of 16 bytes.
template <class Group>
CUSCOPE_INLINE void copy_part(const Group& group, void* to, const void* from, decltype(sizeof(0)) bytes) {
    const decltype(sizeof(0)) step = 16 * static_cast<decltype(sizeof(0))>(group.size());
    for (decltype(sizeof(0)) at = 16 * static_cast<decltype(sizeof(0))>(group.thread_rank()); at < bytes;
         at += step)
        copy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at,
             bytes - at < 16 ? bytes - at : 16);
}

// Barriers and pipelines: a copy may be bound to them.
template <class T>
inline constexpr bool is_waitable = false;
template <thread_scope Scope, class Completion>
inline constexpr bool is_waitable<barrier<Scope, Completion>> = true;
template <thread_scope Scope>
inline constexpr bool is_waitable<pipeline<Scope>> = true;

template <bool condition, class T>
struct If {};
template <class T>
struct If<true, T> {
    using Type = T;
};

}  // namespace cuscope

template <class To, class From, class Size, class Waitable>
CUSCOPE_INLINE typename cuscope::If<cuscope::is_waitable<Waitable>, async_contract_fulfillment>::Type
memcpy_async(To* to, const From* from, const Size& bytes, Waitable&) {
    cuscope::copy(to, from, static_cast<decltype(sizeof(0))>(bytes));
    return async_contract_fulfillment::none;
}
template <class Group, class To, class From, class Size, class Waitable>
CUSCOPE_INLINE typename cuscope::If<cuscope::is_waitable<Waitable>, async_contract_fulfillment>::Type
memcpy_async(const Group& group, To* to, const From* from, const Size& bytes, Waitable&) {
    cuscope::copy_part(group, to, from, static_cast<decltype(sizeof(0))>(bytes));
    return async_contract_fulfillment::none;
}

namespace device {
template <class T, decltype(sizeof(0)) Alignment, class Completion>
CUSCOPE_INLINE async_contract_fulfillment memcpy_async_tx(T* to, const T* from,
                                                          const ::cuda::aligned_size_t<Alignment>& bytes,
                                                          barrier<thread_scope_block, Completion>& made) {
    static_assert(Alignment >= 16, "memcpy_async_tx takes sizes and addresses that are multiples of 16");
    cuscope::copy(to, from, bytes);
    made.cuscope_bytes(0, static_cast<__PTRDIFF_TYPE__>(static_cast<decltype(sizeof(0))>(bytes)));
    return async_contract_fulfillment::async;
}
}  // namespace device

namespace cuscope {
// produced: the stage's data is complete. consumed: the stage may be filled again.
template <thread_scope Scope>
struct Stage {
    barrier<Scope> produced, consumed;
};
}  // namespace cuscope

template <thread_scope Scope, unsigned char Stages>
class pipeline_shared_state {
  public:
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state&) = delete;
    pipeline_shared_state& operator=(const pipeline_shared_state&) = delete;

    cuscope::Stage<Scope> cuscope_stages[Stages];
    unsigned cuscope_producers;
};

template <thread_scope Scope>
class pipeline {
    using Stage = cuscope::Stage<Scope>;

  public:
    pipeline(pipeline&&) = default;
    pipeline(const pipeline&) = delete;
    pipeline& operator=(const pipeline&) = delete;

    CUSCOPE_INLINE void producer_acquire(CUSCOPE_HERE) {
        stage(filled_).consumed.wait_parity(parity(filled_) == 0, file, line);
    }
    CUSCOPE_INLINE void producer_commit() { stage(filled_++).produced.arrive(); }
    CUSCOPE_INLINE void consumer_wait(CUSCOPE_HERE) {
        stage(emptied_).produced.wait_parity(parity(emptied_) != 0, file, line);
    }
    template <class Duration>
    CUSCOPE_INLINE bool consumer_wait_for(const Duration&) {
        return stage(emptied_).produced.try_wait_parity(parity(emptied_) != 0);
    }
    CUSCOPE_INLINE void consumer_release() { stage(emptied_++).consumed.arrive(); }
    CUSCOPE_INLINE bool quit() { return false; }

    CUSCOPE_INLINE pipeline(Stage* stages, unsigned count) : stages_(stages), count_(count) {}

  private:
    CUSCOPE_INLINE Stage& stage(unsigned turn) { return stages_[turn % count_]; }
    CUSCOPE_INLINE unsigned parity(unsigned turn) const { return turn / count_ & 1u; }

    Stage* stages_;
    unsigned count_;
    unsigned filled_ = 0, emptied_ = 0;  // stages that this thread has filled, and emptied
};

// The pipeline of a single thread never waits.
template <>
class pipeline<thread_scope_thread> {
  public:
    pipeline() = default;
    pipeline(pipeline&&) = default;
    pipeline(const pipeline&) = delete;
    pipeline& operator=(const pipeline&) = delete;

    CUSCOPE_INLINE void producer_acquire() {}
    CUSCOPE_INLINE void producer_commit() {}
    CUSCOPE_INLINE void consumer_wait() {}
    template <class Duration>
    CUSCOPE_INLINE bool consumer_wait_for(const Duration&) {
        return true;
    }
    CUSCOPE_INLINE void consumer_release() {}
    CUSCOPE_INLINE bool quit() { return true; }
};

CUSCOPE_INLINE pipeline<thread_scope_thread> make_pipeline() { return {}; }

namespace cuscope {
template <class Group, thread_scope Scope, unsigned char Stages>
CUSCOPE_INLINE pipeline<Scope> start_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                                              unsigned producers, unsigned consumers, const char* file,
                                              int line) {
    if (group.thread_rank() == 0) {
        for (auto& stage : state->cuscope_stages) {
            init(&stage.produced, static_cast<__PTRDIFF_TYPE__>(producers));
            init(&stage.consumed, static_cast<__PTRDIFF_TYPE__>(consumers));
        }
    }
    group.sync(file, line);
    return pipeline<Scope>(state->cuscope_stages, Stages);
}
}  // namespace cuscope

template <class Group, thread_scope Scope, unsigned char Stages>
CUSCOPE_INLINE pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                                             CUSCOPE_HERE) {
    const unsigned all = static_cast<unsigned>(group.size());
    return cuscope::start_pipeline(group, state, all, all, file, line);
}
template <class Group, thread_scope Scope, unsigned char Stages>
CUSCOPE_INLINE pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                                             decltype(sizeof(0)) producers, CUSCOPE_HERE) {
    const unsigned some = static_cast<unsigned>(producers);
    return cuscope::start_pipeline(group, state, some, static_cast<unsigned>(group.size()) - some, file,
                                   line);
}
template <class Group, thread_scope Scope, unsigned char Stages>
CUSCOPE_INLINE pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                                             pipeline_role role, CUSCOPE_HERE) {
    if (group.thread_rank() == 0) __atomic_store_n(&state->cuscope_producers, 0u, __ATOMIC_SEQ_CST);
    group.sync(file, line);
    if (role == pipeline_role::producer) __atomic_fetch_add(&state->cuscope_producers, 1u, __ATOMIC_SEQ_CST);
    group.sync(file, line);
    const unsigned some = __atomic_load_n(&state->cuscope_producers, __ATOMIC_SEQ_CST);
    return cuscope::start_pipeline(group, state, some, static_cast<unsigned>(group.size()) - some, file,
                                   line);
}

template <unsigned char Prior>
CUSCOPE_INLINE void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {}
template <thread_scope Scope>
CUSCOPE_INLINE void pipeline_producer_commit(pipeline<thread_scope_thread>&, barrier<Scope>&) {}

}  // namespace cuda
