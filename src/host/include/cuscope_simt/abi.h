// What a compiled kernel and the engine that runs it agree on. Included by both, so nothing here needs a
// library.
//
// A compiled image is a shared object that exports one symbol, `cuscope_image`. A block's threads run one
// after the other on a stack; `Fiber` is what the thread that now runs on it can see of itself. A thread that
// has to wait keeps its fiber, and the engine goes on with the next thread on a fresh one. Kernel code finds
// its Fiber in one register (GCC, x86-64: r15) or one thread-local pointer (elsewhere). The image's `run`
// sets it and puts back what was there before it returns. A thread-local pointer belongs to whichever fiber
// ran last, so there the image sets it again after every engine call that may switch; a register needs
// nothing. A block stays on one OS thread from start to end.
//
// A kernel that is wrong may overwrite its own stack, its variables and its shared memory, so the engine
// keeps nothing there that it relies on: a Fiber lies apart from the stack it belongs to, `run` ends with a
// call instead of a return, and shared memory lies where the engine says.
#pragma once

namespace cuscope_simt {

inline constexpr unsigned abi_version = 5;

// An atomic operation, fence or volatile poll adds one to Fiber::spin_count and calls spin_hint at this
// value.
inline constexpr unsigned spin_limit = 256;

struct Index3 {
    unsigned x, y, z;
};

// Where in the user's source an operation stands. Two sites are the same if file and line are.
struct Site {
    const char* file;
    int line;
    const char* operation;  // "__syncthreads"
};

enum class BarrierKind : int { plain, count, all, any };

enum class WarpKind : int {
    sync,
    // operand: the lane to read from, already computed, width and bounds included (they are the caller's
    // work). A lane outside the mask has deposited nothing: the caller's own value comes back.
    shuffle,
    ballot,  // also any, all, uni: the caller derives them from the ballot and the mask
    match_any,
    match_all,
    reduce_add_signed,
    reduce_add_unsigned,
    reduce_min_signed,
    reduce_min_unsigned,
    reduce_max_signed,
    reduce_max_unsigned,
    reduce_and,
    reduce_or,
    reduce_xor,
    // The result is the address of a table with the values of all the warp's lanes. It stays as it is until
    // the lanes of the mask meet again, so what the values point to can be read before that.
    gather,
};

// Which threads a barrier in two steps is of.
enum class Scope : int { block, cluster, grid };

// trap: __trap(). assertion: a failed assert(); `message` is the line that CUDA prints, which the engine
// writes to stderr. misaligned: an address that is no multiple of the access's size.
// no_graph: what was launched is no graph that kernels can launch. smashed_stack: a function's frame is
// damaged, or that of the loop over a block's threads, where Fiber::ended is set if it is not known which of
// them did it; `message` is then no text but the address behind the call in the damaged function, or null.
enum class Fault : int { trap, assertion, misaligned, unsupported, no_graph, smashed_stack };

enum class Access : unsigned { load, store, atomic };

struct Fiber;
struct Block;  // the engine's own

// The engine's functions. All may switch to another fiber unless they say otherwise, and none returns once
// the kernel has to end. `site` must live as long as the image.
struct Api {
    // Returns what the kind asks for (0 for plain; 0 or 1 for all and any).
    int (*barrier)(Fiber* self, BarrierKind kind, int predicate, const Site* site);
    // One rendezvous of the lanes in `mask`: deposits `value` (up to 64 bits) and `operand`; returns the
    // result. reduce_* are 32-bit. match_all: *extra becomes its predicate; `extra` may be null otherwise.
    unsigned long long (*warp)(Fiber* self, WarpKind kind, unsigned mask, unsigned long long value,
                               int operand, int* extra, const Site* site);
    // The lanes of the warp that come to this site while every other thread of the block waits or has ended.
    unsigned (*active_mask)(Fiber* self, const Site* site);
    unsigned long long (*clock_cycles)(Fiber* self);     // of the simulated multiprocessor
    unsigned long long (*global_timer_ns)(Fiber* self);  // simulated device time
    void (*nanosleep)(Fiber* self, unsigned nanoseconds);
    // Lets other threads and blocks make progress; sets spin_count to 0.
    void (*spin_hint)(Fiber* self);
    int (*print)(Fiber* self, const char* text, unsigned long bytes);  // does not switch; returns `bytes`
    // Ends the kernel with an error; does not return. `message` and `site` may be null.
    void (*fault)(Fiber* self, Fault fault, const char* message, const Site* site);
    // One rendezvous of `count` threads of the block, from linear thread `first` on; returns a table with the
    // values of all the block's threads, as WarpKind::gather does of a warp's.
    const unsigned long long* (*gather)(Fiber* self, unsigned first, unsigned count, unsigned long long value,
                                        const Site* site);
    // A barrier in two steps: `wait` returns once every thread of the scope has called `arrive`, which does
    // not switch, as often as the caller. A cluster's threads that have ended count as arrived.
    unsigned (*arrive)(Fiber* self, Scope scope);
    void (*wait)(Fiber* self, Scope scope, unsigned token, const Site* site);
    // Of an address in this block's shared memory, the same one in that of a block of the cluster; waits for
    // that block to start. Null if it is none.
    void* (*map_shared)(Fiber* self, const void* address, unsigned rank, const Site* site);
    // The rank of the cluster's block in whose shared memory an address is; -1 if it is in none.
    int (*shared_rank)(Fiber* self, const void* address);
    // Returns once *word is no longer `value`: another thread of the block is to change it.
    void (*wait_word)(Fiber* self, const unsigned* word, unsigned value, const Site* site);
    // Programmatic dependent launches: lets the kernels behind this one start, once a thread of each block
    // has said so; waits for the kernels before it. Neither switches.
    void (*trigger_dependents)(Fiber* self);
    void (*wait_for_primary)(Fiber* self);
    // The device's heap. Neither switches. Null if it is full. Without a site it is `delete`, which leaves
    // what other allocators gave.
    void* (*heap_allocate)(Fiber* self, unsigned long bytes);
    void (*heap_free)(Fiber* self, void* address, const Site* site);
    // Graphs that kernels launch. Neither switches. `exec` is a cudaGraphExec_t, `stream` one of the streams
    // that say how; the answer is a cudaError_t. The graph of which the kernel is a node; null if it is of
    // none.
    int (*launch_graph)(Fiber* self, void* exec, void* stream);
    void* (*current_graph)(Fiber* self);
    // Of images that count (counts_accesses): the thread is about to access memory, or begins a basic block.
    // `instruction` is an address in the image's code that tells one from another.
    void (*access)(Fiber* self, const void* address, unsigned bytes, Access access, const void* instruction);
    void (*step)(Fiber* self, const void* instruction);  // does not switch
    // The end of `run`: the fiber's last thread has ended. Does not return.
    void (*finish)(Fiber* self);
    // PTX's barriers with a number: the caller is one of `count` threads of the block (0: of all) that come
    // to barrier `id`. Those that wait return once all have come; the others go on at once.
    void (*named_barrier)(Fiber* self, unsigned id, unsigned count, bool waits, const Site* site);
};

inline constexpr unsigned named_barriers = 16;  // of a block

struct Fiber {
    // Of the thread that runs now: `run` sets these, and adds one to *next_thread, before it calls the
    // kernel. Where no thread of the image can ever wait it sets *next_thread to thread_count at once.
    Index3 thread_index;
    unsigned linear_thread;
    // Of the block, which the engine sets.
    Index3 block_index;
    unsigned thread_count;
    Index3 block_dim;
    unsigned multiprocessor;  // %smid
    Index3 grid_dim;
    unsigned multiprocessor_count;
    unsigned* next_thread;  // how many have started: thread_in_order() gives the next one
    char* dynamic_shared;   // aligned to 1024; its contents are a fixed pattern when a block starts
    unsigned long long dynamic_shared_bytes;
    const Api* api;
    Block* block;
    unsigned spin_count;
    unsigned is_cooperative;  // may the blocks of the grid wait for each other?
    Index3 cluster_dim;       // in blocks; (1, 1, 1) without clusters
    unsigned cluster_token;   // of the thread's last arrival at the cluster's barrier
    char* static_shared;      // the block's; null if the image has none
    char* stack_begin;        // the thread's local memory lies in [stack_begin, stack_end)
    char* stack_end;
    unsigned ended;  // `run` has called the kernel for its last thread
};

struct ParameterLayout {
    unsigned size, alignment, offset;
};

// The thread of a block that starts as the n-th, counted from 0.
__attribute__((always_inline)) constexpr unsigned thread_in_order(unsigned n, unsigned thread_count,
                                                                  bool lanes_descend) {
    const unsigned first = n & ~31u, beyond = first + 32 < thread_count ? first + 32 : thread_count;
    return lanes_descend ? first + beyond - 1 - n : n;
}

struct KernelEntry {
    const char* name;             // as its user writes it
    const char* lowered;          // the mangled name, unique in the image; Image::load fills it in
    const char* signature;        // typeid(function).name(): demangles to "void (*)(float const*, int)"
    const char* parameter_names;  // joined by ','; an empty name where the source has none
    const ParameterLayout* parameters;
    unsigned parameter_count;
    unsigned max_threads_per_block;  // of __launch_bounds__; 0 if there is none
    unsigned min_blocks_per_multiprocessor;
    Index3 cluster_dim;            // of __cluster_dims__; zeroes if there is none
    unsigned static_shared_bytes;  // Image::load fills it in
    // Runs threads of a block, from *next_thread on, until none is left; the engine calls it once for each
    // fiber, and it ends with a call of Api::finish on that fiber. arguments[i] points to the value of the
    // i-th argument.
    void (*run)(Fiber* self, void** arguments);
    const void* function;  // the kernel's own code: its symbol is the mangled name
    bool launches_graphs;  // as far as the source says
};

struct GlobalEntry {
    const char* name;  // as its user writes it
    void* address;
    unsigned long long bytes;
    bool constant;
};

enum ImageFlags : unsigned {
    uses_barriers = 1u << 0,
    uses_warp = 1u << 1,
    uses_atomics = 1u << 2,  // blocks run in order, so that the result does not depend on the host's threads
    uses_clock = 1u << 3,    // how long a kernel takes may depend on running it
    uses_print = 1u << 4,
    uses_heap = 1u << 8,
    uses_trigger = 1u << 9,  // its blocks may let dependent kernels start before they end
    counts_accesses = 1u << 10,
    launches_graphs = 1u << 11,  // blocks run in order, and the simulation waits for what they launch
    // Of each warp, the lane with the highest number runs first: of several stores to one address, lane 0's
    // is the last, as on a GPU. In a source with atomic operations the lanes run in their order instead, so
    // that the operations take them in that order. CUDA promises none.
    lanes_descend = 1u << 12,
};

// __shared__ variables are the image's only thread-local ones (beside the Fiber pointer, where that is one).
// Where places_shared is set, the image finds them by a function of its own: at Fiber::static_shared where
// the Fiber is in a register, else at what *shared_key, a key of pthread_getspecific() that the engine sets,
// gives. The engine fills that memory with a fixed pattern before each block of a kernel that has
// static_shared_bytes, so no variable there may have an initial value.
struct ImageTable {
    unsigned abi;
    unsigned flags;
    // Writes as many entries as the counts say. No initialiser of the image has to run before.
    void (*describe)(KernelEntry* kernels, GlobalEntry* globals);
    unsigned kernel_count;
    unsigned global_count;
    // Runs functions, as KernelEntry::run runs threads: what initialises objects at file scope. The two
    // arguments are where the list of them begins and ends.
    void (*initialize)(Fiber* self, void** arguments);
    bool places_shared;
    unsigned* shared_key;  // null where the Fiber is in a register
    // Memory of the image behind all of its variables, which nothing uses: the engine closes it.
    char* guard;
    unsigned long long guard_bytes;
};

}  // namespace cuscope_simt
