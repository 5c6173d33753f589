// The interface between a compiled kernel and the engine that runs it. Both include this file, so it needs no
// library.
//
// A compiled image is a shared object that exports one symbol, `cuscope_image`. A block's threads run one
// after the other on a stack. `Fiber` holds the data of the thread that currently runs on this stack. A
// thread that has to wait keeps its fiber, and the engine runs the next thread on a fresh fiber. Kernel code
// finds its Fiber in one register (GCC, x86-64: r15) or in one thread-local pointer (elsewhere). The image's
// `run` sets the register or pointer, and restores it before it returns. A thread-local pointer belongs to
// the fiber that ran last, so the image sets it again after every engine call that may switch fibers; a
// register needs no such repair. A block stays on one OS thread from start to end.
//
// A faulty kernel may overwrite its own stack, its variables and its shared memory. So the engine keeps no
// data there that it relies on: a Fiber lies apart from its stack, `run` ends with a call instead of a
// return, and the engine chooses the place of shared memory.
#pragma once

namespace cuscope_simt {

inline constexpr unsigned abi_version = 12;

// An atomic operation, a fence or a volatile poll adds one to Fiber::spin_count, and calls spin_hint when the
// count reaches this value.
inline constexpr unsigned spin_limit = 256;

struct Index3 {
    unsigned x, y, z;
};

// The place of an operation in the user's source. Two sites are the same if file, line and place are.
struct Site {
    const char* file;
    int line;
    const char* operation;  // "__syncthreads"
    int place = 0;          // which of the line's operations it is, counted from 0
};

enum class BarrierKind : int { plain, count, all, any };

enum class WarpKind : int {
    sync,
    // operand: the lane to read from. The caller has computed it already, with width and bounds. A lane
    // outside the mask has deposited no value: then the caller's own value comes back.
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
    // The result is the address of a table with the values of all lanes of the warp. The table stays
    // unchanged until the lanes of the mask meet again. So a lane may deposit a pointer, and other lanes may
    // read through it until then.
    gather,
};

// The threads that take part in a barrier with separate arrival and wait.
enum class Scope : int { block, cluster, grid };

// trap: __trap(). assertion: a failed assert(); `message` is CUDA's text for it, which the engine writes to
// stderr. misaligned: an address that is not a multiple of the access's size. no_graph: the launched object
// is not a graph that kernels can launch. smashed_stack: the frame of a function is damaged, or the frame of
// the loop over a block's threads. In the second case Fiber::ended is set if it is not known which of the
// threads did it. `message` is then not a text, but the address just behind the call in the damaged function,
// or null.
enum class Fault : int {
    trap,
    assertion,
    misaligned,
    unsupported,
    no_graph,
    smashed_stack,
    illegal_instruction
};

// atomic: an operation that reads and writes, and orders nothing else. ordered: operations of cuda::atomic,
// which also order other accesses. compare_and_swap: like atomic, but it
// checks the value that it replaces.
enum class Access : unsigned {
    load,
    store,
    atomic,
    ordered,
    ordered_load,
    ordered_store,
    volatile_load,
    volatile_store,
    compare_and_swap,
};

// fence: __threadfence() and its like. met: threads of the block have met, by means that the engine does not
// know, or of the whole device.
enum class Synchronization : unsigned { fence, met_in_block, met_on_device };

struct Fiber;
struct Block;       // defined by the engine
struct CheckState;  // of images that check: see checking/state.h
struct CountState;  // of images that count: see counting/state.h

// The engine's functions. All may switch to another fiber unless their comment says otherwise. None returns
// once the kernel has to end. `site` must live as long as the image.
struct Api {
    // Returns the result for the kind (0 for plain; 0 or 1 for all and any).
    int (*barrier)(Fiber* self, BarrierKind kind, int predicate, const Site* site);
    // One rendezvous of the lanes in `mask`. Deposits `value` (up to 64 bits) and `operand`; returns the
    // result. reduce_* are 32-bit. match_all: *extra becomes its predicate. For other kinds `extra` may be
    // null.
    unsigned long long (*warp)(Fiber* self, WarpKind kind, unsigned mask, unsigned long long value,
                               int operand, int* extra, const Site* site);
    // Returns the lanes of the warp that come to this site while every other thread of the block waits or has
    // ended.
    unsigned (*active_mask)(Fiber* self, const Site* site);
    // Neither switches. The place of the call tells one wait for a time from another.
    unsigned long long (*clock_cycles)(Fiber* self);     // of the simulated multiprocessor
    unsigned long long (*global_timer_ns)(Fiber* self);  // simulated device time
    void (*nanosleep)(Fiber* self, unsigned nanoseconds);
    // Lets other threads and blocks make progress; sets spin_count to 0.
    void (*spin_hint)(Fiber* self);
    int (*print)(Fiber* self, const char* text, unsigned long bytes);  // does not switch; returns `bytes`
    // Ends the kernel with an error; does not return. `message` and `site` may be null.
    void (*fault)(Fiber* self, Fault fault, const char* message, const Site* site);
    // One rendezvous of `count` threads of the block, from linear thread `first` on. Returns a table with the
    // values of all threads of the block, like WarpKind::gather for a warp.
    const unsigned long long* (*gather)(Fiber* self, unsigned first, unsigned count, unsigned long long value,
                                        const Site* site);
    // A barrier with separate arrival and wait: `wait` returns once every thread of the scope has called
    // `arrive` as often as the caller. `arrive` does not switch. Ended threads of a cluster count as arrived.
    unsigned (*arrive)(Fiber* self, Scope scope);
    void (*wait)(Fiber* self, Scope scope, unsigned token, const Site* site);
    // Translates an address in this block's shared memory to the same address in the shared memory of another
    // block of the cluster. Waits for that block to start. Null if the address or the block does not exist.
    void* (*map_shared)(Fiber* self, const void* address, unsigned rank, const Site* site);
    // The rank of the block of the cluster whose shared memory holds an address; -1 if none does.
    int (*shared_rank)(Fiber* self, const void* address);
    // Returns once *word differs from `value`. Another thread of the block has to change it.
    void (*wait_word)(Fiber* self, const unsigned* word, unsigned value, const Site* site);
    // Programmatic dependent launches. trigger_dependents lets later kernels start, once a thread of each
    // block has called it. wait_for_primary waits for the earlier kernels. Neither switches.
    void (*trigger_dependents)(Fiber* self);
    void (*wait_for_primary)(Fiber* self);
    // The device's heap. Neither function switches. Returns null if the heap is full. A call without a site
    // comes from `delete`, which ignores memory of other allocators.
    void* (*heap_allocate)(Fiber* self, unsigned long bytes);
    void (*heap_free)(Fiber* self, void* address, const Site* site);
    // Graphs that kernels launch. Neither function switches. launch_graph: `exec` is a cudaGraphExec_t,
    // `stream` one of the named streams for device graph launches; returns a cudaError_t. current_graph: the
    // graph that holds the kernel as a node, or null.
    int (*launch_graph)(Fiber* self, void* exec, void* stream);
    void* (*current_graph)(Fiber* self);
    // For images that count (counts_accesses): the thread is about to access memory, or begins a basic block.
    // `instruction` is an address in the image's code that identifies the instruction.
    void (*access)(Fiber* self, const void* address, unsigned bytes, Access access, const void* instruction);
    void (*step)(Fiber* self, const void* instruction);  // does not switch
    // The end of `run`: the fiber's last thread has ended. Does not return.
    void (*finish)(Fiber* self);
    // PTX's numbered barriers: the caller is one of `count` threads of the block (0: all threads) that come
    // to barrier `id`. If `waits`, returns once all have come; else at once.
    void (*named_barrier)(Fiber* self, unsigned id, unsigned count, bool waits, const Site* site);
    // For images that check (checks_accesses). None of them switches. check_access: the thread is about to
    // access memory. check_index: it is about to use an index that is not below the size of the array, whose
    // type is "'int [8]'".
    void (*check_access)(Fiber* self, const void* address, unsigned long bytes, Access access,
                         const void* instruction);
    void (*check_synchronization)(Fiber* self, Synchronization kind);
    void (*check_index)(Fiber* self, const char* array, long long index, const void* instruction);
    // For images that count and have a table of their accesses. access_at, step_at: like access and step, for
    // an entry of ImageTable::accesses and ImageTable::costs. begin_warp: the thread is the first one of its
    // warp to begin since a thread of another warp began. Only access_at may switch.
    void (*access_at)(Fiber* self, const void* address, unsigned site);
    void (*step_at)(Fiber* self, unsigned site);
    void (*begin_warp)(Fiber* self);
};

inline constexpr unsigned named_barriers = 16;  // of a block

struct Fiber {
    // About the current thread: `run` sets these, and adds one to *next_thread, before it calls the kernel.
    // If no thread of the image can ever wait, it sets *next_thread to thread_count at once.
    Index3 thread_index;
    unsigned linear_thread;
    // About the block; the engine sets these.
    Index3 block_index;
    unsigned thread_count;
    Index3 block_dim;
    unsigned multiprocessor;  // %smid
    Index3 grid_dim;
    unsigned multiprocessor_count;
    unsigned* next_thread;  // number of started threads: thread_in_order() gives the next thread
    char* dynamic_shared;   // aligned to 1024; its contents are a fixed pattern when a block starts
    unsigned long long dynamic_shared_bytes;
    const Api* api;
    Block* block;
    unsigned spin_count;
    unsigned is_cooperative;  // may the blocks of the grid wait for each other?
    Index3 cluster_dim;       // in blocks; (1, 1, 1) without clusters
    unsigned cluster_token;   // of the thread's last arrival at the cluster's barrier
    char* static_shared;      // of the block; null if the image has none
    char* stack_begin;        // the thread's local memory lies in [stack_begin, stack_end)
    char* stack_end;
    unsigned ended;     // `run` has called the kernel for its last thread
    CheckState* check;  // null: the launch is not checked
    CountState* count;  // of images that count; else null
    // Of images that count: where the thread writes down its steps and its accesses. See counting/state.h.
    char* steps;
    char* accesses;
};

struct ParameterLayout {
    unsigned size, alignment, offset;
};

// The thread of a block that starts n-th, counted from 0.
__attribute__((always_inline)) constexpr unsigned thread_in_order(unsigned n, unsigned thread_count,
                                                                  bool lanes_descend) {
    const unsigned first = n & ~31u, beyond = first + 32 < thread_count ? first + 32 : thread_count;
    return lanes_descend ? first + beyond - 1 - n : n;
}

struct KernelEntry {
    const char* name;             // as the user writes it
    const char* lowered;          // the mangled name, unique in the image; Image::load fills it in
    const char* signature;        // typeid(function).name(): demangles to "void (*)(float const*, int)"
    const char* parameter_names;  // joined by ','; an empty name where the source has none
    const ParameterLayout* parameters;
    unsigned parameter_count;
    unsigned max_threads_per_block;  // of __launch_bounds__; 0 if there is none
    unsigned min_blocks_per_multiprocessor;
    Index3 cluster_dim;            // of __cluster_dims__; zeroes if there is none
    unsigned static_shared_bytes;  // Image::load fills it in
    // Runs threads of a block, from *next_thread on, until none is left. The engine calls it once for each
    // fiber. It ends with a call of Api::finish on that fiber. arguments[i] points to the value of the i-th
    // argument.
    void (*run)(Fiber* self, void** arguments);
    const void* function;  // the kernel's own code; its symbol is the mangled name
    bool launches_graphs;  // as far as the source shows
};

struct GlobalEntry {
    const char* name;  // as the user writes it
    void* address;
    unsigned long long bytes;
    bool constant;
};

enum ImageFlags : unsigned {
    uses_barriers = 1u << 0,
    uses_warp = 1u << 1,
    uses_atomics = 1u << 2,  // blocks run in order, so that the result does not depend on the host's threads
    uses_clock = 1u << 3,    // the duration of a kernel may depend on running it
    uses_print = 1u << 4,
    uses_heap = 1u << 8,
    uses_trigger = 1u << 9,  // the blocks may let dependent kernels start before they end
    counts_accesses = 1u << 10,
    launches_graphs = 1u << 11,  // blocks run in order; the simulation waits for the graphs that they launch
    // In each warp, the lane with the highest number runs first. Then the last of several stores to one
    // address is lane 0's, as on a GPU. If the source has atomic operations, the lanes run in ascending order
    // instead, so that the operations take place in lane order. CUDA promises neither order.
    lanes_descend = 1u << 12,
    checks_accesses = 1u << 13,
};

// The kinds of instructions that a basic block costs a GPU, besides its accesses to memory.
enum class CostKind : int { integer, float32, float64, special, control };
inline constexpr int cost_kinds = 5;

// An estimate of the instructions that one execution of a basic block costs a warp of a GPU. The compiler
// driver makes it from the block's instructions in an image that counts.
struct BlockCost {
    int site;  // the distance from this field to the address that the block's call of Api::step reports
    unsigned short quarters[cost_kinds];  // of an instruction, by CostKind
    unsigned short chain;                 // the longest chain of dependent instructions, in quarters
    unsigned short flags;                 // BlockFlags
    unsigned short predicated_accesses;   // of the next block, if next_is_predicated
    // If the block loads in a loop of which nvcc interleaves some iterations: the executions of the block in
    // these iterations, and in the iterations that nvcc does together when fewer are left. Else 0.
    unsigned short together, rest;
    // The number of the loop, times 256, and a number that all copies of the block in the loop have.
    unsigned short place;
    unsigned short entry;  // instructions before the first iteration
};

enum BlockFlags : unsigned short {
    ends_with_branch = 1,  // a conditional jump, or one of a table
    // The branch skips the block of the next record, which is short. A GPU gives predicates to its
    // instructions: a warp issues them even if none of its lanes executes the block.
    next_is_predicated = 2,
    meets_before_branch = 4,  // the block waits for other threads, and then branches
};

inline constexpr unsigned line_cost_units = 1024;

// The part of a basic block's cost that belongs to one line of the source.
struct LineCost {
    int site;   // the distance from this field to the address that the block's call of Api::step reports
    int place;  // the distance from this field to the first instruction of the line
    // In units of 1 / line_cost_units.
    unsigned instructions[cost_kinds];
    unsigned operations32, operations64;  // additions, multiplications and others of floats and doubles
    int is_last;                          // a branch at the end of the block belongs to this line
};

// An instruction that accesses memory, in an image that counts.
struct AccessSite {
    int site;  // the distance from this field to an address just behind the instruction's hook
    unsigned short bytes;
    unsigned short access;  // Access
};

// __shared__ variables are the only thread-local variables of the image, except a thread-local Fiber pointer.
// If places_shared is set, the image finds them with its own function: at Fiber::static_shared if the Fiber
// is in a register, else at the pointer that pthread_getspecific(*shared_key) returns; the engine sets both.
// If a kernel has static_shared_bytes, the engine fills this memory with a fixed pattern before each of its
// blocks. So no variable there may have an initial value.
struct ImageTable {
    unsigned abi;
    unsigned flags;
    // Writes kernel_count and global_count entries. Does not need the image's initialisers to have run.
    void (*describe)(KernelEntry* kernels, GlobalEntry* globals);
    unsigned kernel_count;
    unsigned global_count;
    // Runs the functions that initialise objects at file scope, like KernelEntry::run runs threads. The two
    // arguments are the begin and the end of the list of functions.
    void (*initialize)(Fiber* self, void** arguments);
    bool places_shared;
    unsigned* shared_key;  // null where the Fiber is in a register
    // Unused memory of the image behind all of its variables. The engine makes it inaccessible.
    char* guard;
    unsigned long long guard_bytes;
    // Of an image that counts; all are null if the costs are not known.
    const BlockCost* costs;
    const BlockCost* costs_end;
    const LineCost* lines;
    const LineCost* lines_end;
    // Null if the hooks tell the engine of each access and each step.
    const AccessSite* accesses;
    const AccessSite* accesses_end;
};

}  // namespace cuscope_simt
