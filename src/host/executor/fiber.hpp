// Stacks for code that has to wait, and the switch between two stacks. Knows nothing of blocks or kernels.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

namespace cuscope::simt {

// The point where a suspended stack continues. Floating-point control words belong to the OS thread: kernels
// do not change them, so a switch does not save them.
struct Context {
#if defined(__x86_64__) || defined(__aarch64__)
    void* stack_pointer = nullptr;
#else
    ucontext_t registers;
#endif
};

// Suspends the running stack in `from` and continues in `to`. Returns 0, so that functions with a result can
// end with this call.
int switch_context(Context& from, Context& to) noexcept asm("cuscope_simt_switch");
// The same, faster for functions that end with this call.
int jump_to_context(Context& from, Context& to) noexcept asm("cuscope_simt_jump");

// Loads the part of a suspended stack into the cache that its continuation reads first.
inline void prefetch_stack(const Context& context) noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
    const char* const top = static_cast<const char*>(context.stack_pointer);
    __builtin_prefetch(top, 1);
    __builtin_prefetch(top + 64, 1);
#else
    static_cast<void>(context);
#endif
}

// Makes `context` begin `entry(argument)`, which must not return, on the stack [low, high).
void make_context(Context& context, char* low, char* high, void (*entry)(void*), void* argument) noexcept;

// Call in a signal handler: execution goes on in `to` instead of the interrupted code. `signal_context` is
// the handler's third argument. Does not return on platforms where the handler can only be left at once.
void resume_from_signal(void* signal_context, Context& to) noexcept;

// The instruction and the stack pointer of the interrupted code; null where the platform does not tell them.
const char* interrupted_address(const void* signal_context) noexcept;
const char* interrupted_stack(const void* signal_context) noexcept;

// Memory between inaccessible pages: one piece, or several of equal size with a smaller guard between them.
// Empty if the system refuses the memory.
class GuardedMemory {
  public:
    GuardedMemory() = default;
    explicit GuardedMemory(std::size_t bytes);
    // Several pieces; `open` makes a piece accessible.
    GuardedMemory(std::size_t bytes, unsigned pieces);
    GuardedMemory(GuardedMemory&& other) noexcept { swap(other); }
    GuardedMemory& operator=(GuardedMemory&& other) noexcept {
        swap(other);
        return *this;
    }
    ~GuardedMemory();

    // The begin of the piece; null if the system refuses.
    char* open(unsigned piece);

    // These describe the first piece.
    char* begin() const { return begin_; }
    char* end() const { return begin_ + bytes_; }
    std::size_t bytes() const { return bytes_; }
    explicit operator bool() const { return begin_ != nullptr; }
    // Size of each of the two outer guards: as far as a wrong index may plausibly reach.
    static constexpr std::size_t guard_bytes = 1 << 20;

  private:
    void swap(GuardedMemory& other) noexcept;

    char* mapping_ = nullptr;
    std::size_t mapped_bytes_ = 0;
    char* begin_ = nullptr;
    std::size_t bytes_ = 0;
    int pieces_ = 0;
    bool guarded_ = false;
};

}  // namespace cuscope::simt
