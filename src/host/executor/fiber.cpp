#include "host/executor/fiber.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "host/executor/asan.hpp"

// The switches save only the registers that a callee has to preserve. They differ in how processors predict
// where they go. `ret` is expected to go where the last call came from: right if both stacks have switched at
// the same call, and the functions around that call return as expected, too. A jump is expected to go where
// it went after similar branches. That is right for a loop with two barriers, too: each thread of the block
// arrives at one of them and switches to a thread that waits at the other.
#if defined(__x86_64__)
asm(R"(
    .text
    .p2align 4
    .globl cuscope_simt_switch
    .hidden cuscope_simt_switch
    .type cuscope_simt_switch, @function
cuscope_simt_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    .globl cuscope_simt_resume
    .hidden cuscope_simt_resume
cuscope_simt_resume:
    movq (%rsi), %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    xorl %eax, %eax
    ret
    .size cuscope_simt_switch, . - cuscope_simt_switch

    .p2align 4
    .globl cuscope_simt_jump
    .hidden cuscope_simt_jump
    .type cuscope_simt_jump, @function
cuscope_simt_jump:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq (%rsi), %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    xorl %eax, %eax
    notrack jmp *%rcx
    .size cuscope_simt_jump, . - cuscope_simt_jump

    .globl cuscope_simt_start
    .hidden cuscope_simt_start
    .type cuscope_simt_start, @function
cuscope_simt_start:
    .cfi_startproc
    .cfi_undefined rip
    movq %r12, %rdi
    call *%r13
    ud2
    .cfi_endproc
    .size cuscope_simt_start, . - cuscope_simt_start
)");
#elif defined(__aarch64__)
asm(R"(
    .text
    .p2align 4
    .globl cuscope_simt_switch
    .hidden cuscope_simt_switch
    .type cuscope_simt_switch, %function
    .globl cuscope_simt_jump
    .hidden cuscope_simt_jump
    .type cuscope_simt_jump, %function
cuscope_simt_switch:
cuscope_simt_jump:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    .globl cuscope_simt_resume
    .hidden cuscope_simt_resume
cuscope_simt_resume:
    ldr x9, [x1]
    mov sp, x9
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    mov w0, #0
    ret
    .size cuscope_simt_switch, . - cuscope_simt_switch

    .globl cuscope_simt_start
    .hidden cuscope_simt_start
    .type cuscope_simt_start, %function
cuscope_simt_start:
    .cfi_startproc
    .cfi_undefined x30
    mov x0, x19
    blr x20
    brk #1
    .cfi_endproc
    .size cuscope_simt_start, . - cuscope_simt_start
)");
#endif

#if defined(__x86_64__) || defined(__aarch64__)
extern "C" {
void cuscope_simt_resume();
void cuscope_simt_start();
}
#endif

namespace cuscope::simt {

#if defined(__x86_64__)

void make_context(Context& context, char*, char* high, void (*entry)(void*), void* argument) noexcept {
    auto top = reinterpret_cast<std::uintptr_t>(high) & ~std::uintptr_t{15};
    auto* frame = reinterpret_cast<void**>(top) - 7;
    frame[0] = nullptr;                         // r15
    frame[1] = nullptr;                         // r14
    frame[2] = reinterpret_cast<void*>(entry);  // r13
    frame[3] = argument;                        // r12
    frame[4] = nullptr;                         // rbx
    frame[5] = nullptr;                         // rbp: the end of the chain of frames
    frame[6] = reinterpret_cast<void*>(&cuscope_simt_start);
    context.stack_pointer = frame;
}

void resume_from_signal(void* signal_context, Context& to) noexcept {
    greg_t* registers = static_cast<ucontext_t*>(signal_context)->uc_mcontext.gregs;
    registers[REG_RSI] = reinterpret_cast<greg_t>(&to);
    registers[REG_RIP] = reinterpret_cast<greg_t>(&cuscope_simt_resume);
    registers[REG_EFL] &= ~greg_t{0x400};  // the ABI wants the direction flag clear
}

const char* interrupted_address(const void* signal_context) noexcept {
    return reinterpret_cast<const char*>(
        static_cast<const ucontext_t*>(signal_context)->uc_mcontext.gregs[REG_RIP]);
}

const char* interrupted_stack(const void* signal_context) noexcept {
    return reinterpret_cast<const char*>(
        static_cast<const ucontext_t*>(signal_context)->uc_mcontext.gregs[REG_RSP]);
}

#elif defined(__aarch64__)

void make_context(Context& context, char*, char* high, void (*entry)(void*), void* argument) noexcept {
    auto top = reinterpret_cast<std::uintptr_t>(high) & ~std::uintptr_t{15};
    auto* frame = reinterpret_cast<void**>(top) - 20;
    for (int i = 0; i < 20; ++i) frame[i] = nullptr;
    frame[0] = argument;                                       // x19
    frame[1] = reinterpret_cast<void*>(entry);                 // x20
    frame[11] = reinterpret_cast<void*>(&cuscope_simt_start);  // x30
    context.stack_pointer = frame;
}

void resume_from_signal(void* signal_context, Context& to) noexcept {
    mcontext_t& machine = static_cast<ucontext_t*>(signal_context)->uc_mcontext;
    machine.regs[1] = reinterpret_cast<std::uintptr_t>(&to);
    machine.pc = reinterpret_cast<std::uintptr_t>(&cuscope_simt_resume);
}

const char* interrupted_address(const void* signal_context) noexcept {
    return reinterpret_cast<const char*>(static_cast<const ucontext_t*>(signal_context)->uc_mcontext.pc);
}

const char* interrupted_stack(const void* signal_context) noexcept {
    return reinterpret_cast<const char*>(static_cast<const ucontext_t*>(signal_context)->uc_mcontext.sp);
}

#else

int switch_context(Context& from, Context& to) noexcept {
    swapcontext(&from.registers, &to.registers);
    return 0;
}

int jump_to_context(Context& from, Context& to) noexcept { return switch_context(from, to); }

namespace {

// makecontext passes ints only.
void start(unsigned entry_high, unsigned entry_low, unsigned argument_high, unsigned argument_low) {
    auto join = [](unsigned high, unsigned low) {
        return static_cast<std::uintptr_t>((std::uint64_t{high} << 32) | low);
    };
    auto entry = reinterpret_cast<void (*)(void*)>(join(entry_high, entry_low));
    entry(reinterpret_cast<void*>(join(argument_high, argument_low)));
}

}  // namespace

void make_context(Context& context, char* low, char* high, void (*entry)(void*), void* argument) noexcept {
    getcontext(&context.registers);
    context.registers.uc_stack.ss_sp = low;
    context.registers.uc_stack.ss_size = static_cast<std::size_t>(high - low);
    context.registers.uc_link = nullptr;
    std::uint64_t e = reinterpret_cast<std::uintptr_t>(entry), a = reinterpret_cast<std::uintptr_t>(argument);
    makecontext(&context.registers, reinterpret_cast<void (*)()>(&start), 4, static_cast<unsigned>(e >> 32),
                static_cast<unsigned>(e), static_cast<unsigned>(a >> 32), static_cast<unsigned>(a));
}

void resume_from_signal(void*, Context& to) noexcept { setcontext(&to.registers); }

const char* interrupted_address(const void*) noexcept { return nullptr; }

const char* interrupted_stack(const void*) noexcept { return nullptr; }

#endif

namespace {

// Each guard costs two of the 65,530 mappings that a process may have. Beyond this many guards, stacks get
// unused writable memory instead.
constexpr int guard_budget = 24000;
std::atomic<int> guards_in_use{0};

// Distance between pieces. With a megabyte, a block of a thousand threads would spread over a thousand page
// tables, and take twice as long. An odd number of pages from one stack to the next is best for the caches.
constexpr std::size_t gap_bytes = 12 << 10;

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes) : GuardedMemory(bytes, 1) { open(0); }

GuardedMemory::GuardedMemory(std::size_t bytes, unsigned pieces) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    bytes = (bytes + page - 1) / page * page;
    const std::size_t total = guard_bytes + pieces * (bytes + gap_bytes) + guard_bytes;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    pieces_ = static_cast<int>(pieces);
    guarded_ = guards_in_use.fetch_add(pieces_, std::memory_order_relaxed) < guard_budget;
    if (!guarded_) guards_in_use.fetch_sub(pieces_, std::memory_order_relaxed);
    void* mapping = mmap(nullptr, total, guarded_ ? PROT_NONE : PROT_READ | PROT_WRITE, flags, -1, 0);
    if (mapping == MAP_FAILED) return;
    mapping_ = static_cast<char*>(mapping);
    mapped_bytes_ = total;
    begin_ = mapping_ + guard_bytes;
    bytes_ = bytes;
}

char* GuardedMemory::open(unsigned piece) {
    if (begin_ == nullptr) return nullptr;
    char* const begin = begin_ + piece * (bytes_ + gap_bytes);
    if (!guarded_ || mprotect(begin, bytes_, PROT_READ | PROT_WRITE) == 0) return begin;
    if (piece == 0) begin_ = nullptr;
    return nullptr;
}

GuardedMemory::~GuardedMemory() {
#if defined(CUSCOPE_ASAN)
    // Frames of a thread that left without returning have poisoned this memory. The next mapping here may be
    // Python's.
    if (mapping_ != nullptr) __asan_unpoison_memory_region(mapping_, mapped_bytes_);
#endif
    if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
    if (guarded_) guards_in_use.fetch_sub(pieces_, std::memory_order_relaxed);
}

void GuardedMemory::swap(GuardedMemory& other) noexcept {
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    std::swap(guarded_, other.guarded_);
    std::swap(pieces_, other.pieces_);
}

}  // namespace cuscope::simt
