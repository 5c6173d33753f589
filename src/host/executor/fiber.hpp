// A stack of its own for code that has to wait, and the switch between two of them. Knows nothing of blocks
// or kernels.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

namespace cuscope::simt {

// Where a stack that does not run now goes on. Floating-point control words are the OS thread's: kernels do
// not change them, so a switch leaves them alone.
struct Context {
#if defined(__x86_64__) || defined(__aarch64__)
    void* stack_pointer = nullptr;
#else
    ucontext_t registers;
#endif
};

// Leaves the running stack in `from` and goes on in `to`.
void switch_context(Context& from, Context& to) noexcept asm("cuscope_simt_switch");

// Makes `context` begin `entry(argument)`, which must not return, on the stack [low, high).
void make_context(Context& context, char* low, char* high, void (*entry)(void*), void* argument) noexcept;

// In a signal handler: the interrupted code does not go on, `to` does. `signal_context` is the handler's
// third argument. Gives no return where the platform can only leave the handler at once.
void resume_from_signal(void* signal_context, Context& to) noexcept;

// Where the interrupted code stood, and its stack pointer; null where the platform does not say.
const char* interrupted_address(const void* signal_context) noexcept;
const char* interrupted_stack(const void* signal_context) noexcept;

// Memory between inaccessible pages: one piece, or several of equal size with a smaller guard between them.
// Empty if the system has none.
class GuardedMemory {
  public:
    GuardedMemory() = default;
    explicit GuardedMemory(std::size_t bytes);
    // Pieces that `open` makes accessible.
    GuardedMemory(std::size_t bytes, unsigned pieces);
    GuardedMemory(GuardedMemory&& other) noexcept { swap(other); }
    GuardedMemory& operator=(GuardedMemory&& other) noexcept {
        swap(other);
        return *this;
    }
    ~GuardedMemory();

    // Where the piece begins; null if the system refuses.
    char* open(unsigned piece);

    // Of the first piece.
    char* begin() const { return begin_; }
    char* end() const { return begin_ + bytes_; }
    std::size_t bytes() const { return bytes_; }
    explicit operator bool() const { return begin_ != nullptr; }
    // Of either guard: as much as a wrong index may plausibly jump over.
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
