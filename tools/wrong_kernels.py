"""Runs random wrong kernels, and shows that the process survives them.

    python tools/wrong_kernels.py --count 1000 --seed 1

A kernel writes beside its local, shared, heap, argument or constant memory by up to 1 MiB, misses a barrier, never
ends, recurses for ever, or jumps to an address without code; or the source has an initialiser that does one of these.
All cases run in one process, each on a new simulated device. A case passes if it ends with an exception, with Ctrl-C,
or without an error, and if a device then computes a right result: the same device, or a new one if an error has lost
it. The exit status is 0 if all cases pass and the process survives. The cases of a seed are always the same.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import threading
import time

KERNELS = r"""
typedef long long i64;
__device__ int counter[16];
__device__ int filled[16] = {1, 2, 3};
__constant__ int table[64];
__constant__ float coefficients[8] = {1, 2, 3};

__global__ void right(int* x, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < n) x[t] = s[n - 1 - t] + table[t];
}

#define FILL(type, array)                                                      \
    volatile type* const from = (volatile type*)array + offset;                \
    if (blockIdx.x * blockDim.x + threadIdx.x == who)                          \
        for (int i = 0; i < n; ++i) from[i] = (type)value;

#define LOCAL(name, type, length)                                              \
    __global__ void name(int* x, i64 offset, int n, i64 value, unsigned who) { \
        type a[length] = {1, 2, 3};                                            \
        FILL(type, a)                                                          \
        x[threadIdx.x] = (int)a[1];                                            \
    }
LOCAL(local_char, char, 5)
LOCAL(local_int, int, 4)
LOCAL(local_long, i64, 32)
LOCAL(local_double, double, 1000)

__global__ void local_barrier(int* x, i64 offset, int n, i64 value, unsigned who) {
    int a[8] = {1, 2, 3};
    __syncthreads();
    FILL(int, a)
    __syncthreads();
    x[threadIdx.x] = a[threadIdx.x % 8];
}

__device__ __attribute__((noinline)) int deeper(int* x, i64 offset, int n, i64 value, unsigned who) {
    int a[8] = {1, 2, 3};
    FILL(int, a)
    return a[x[0] & 7];
}
__global__ void local_function(int* x, i64 offset, int n, i64 value, unsigned who) {
    x[threadIdx.x] = deeper(x, offset, n, value, who);
}

__global__ void shared_one(int* x, i64 offset, int n, i64 value, unsigned who) {
    __shared__ int s[32];
    s[threadIdx.x % 32] = 1;
    __syncthreads();
    FILL(int, s)
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x % 32];
}
__global__ void shared_two(int* x, i64 offset, int n, i64 value, unsigned who) {
    __shared__ char s[7];
    __shared__ double t[100];
    s[threadIdx.x % 7] = 1;
    t[threadIdx.x % 100] = 2;
    FILL(char, s)
    x[threadIdx.x] = s[threadIdx.x % 7] + (int)t[0];
}
__global__ void shared_dynamic(int* x, i64 offset, int n, i64 value, unsigned who) {
    extern __shared__ int d[];
    d[threadIdx.x % 16] = 1;
    __syncthreads();
    FILL(int, d)
    x[threadIdx.x] = d[0];
}

__global__ void heap_malloc(int* x, i64 offset, int n, i64 value, unsigned who) {
    int* p = (int*)malloc(64);
    int* q = (int*)malloc(100);
    if (p == nullptr || q == nullptr) return;
    FILL(int, p)
    free(p);
    x[threadIdx.x] = q[0];
    free(q);
}
__global__ void heap_new(int* x, i64 offset, int n, i64 value, unsigned who) {
    int* p = new int[16];
    FILL(int, p)
    x[threadIdx.x] = p[0];
    delete[] p;
}
__global__ void heap_free(int* x, i64 offset, int n, i64 value, unsigned who) {
    char* p = (char*)malloc(64);
    if (blockIdx.x * blockDim.x + threadIdx.x == who) free(p + offset);
    free(p);
    if (n == 1) free(p);
    if (n == 2) free(x);
    if (n == 3) delete x;
}

__global__ void argument(int* x, i64 offset, int n, i64 value, unsigned who) { FILL(int, x) }
__global__ void variable(int* x, i64 offset, int n, i64 value, unsigned who) {
    FILL(int, counter)
    x[threadIdx.x] = counter[0];
}
__global__ void initialised(int* x, i64 offset, int n, i64 value, unsigned who) { FILL(int, filled) }
__global__ void constant(int* x, i64 offset, int n, i64 value, unsigned who) {
    FILL(int, table)
    x[threadIdx.x] = (int)coefficients[1];
}

__global__ void barrier_divergent(int* x, i64 offset, int n, i64 value, unsigned who) {
    if (threadIdx.x % 2 == 0) __syncthreads(); else if (n > 2) __syncthreads();
    if (threadIdx.x < who) return;
    __syncthreads();
    x[threadIdx.x] = 1;
}
__global__ void barrier_missing(int* x, i64 offset, int n, i64 value, unsigned who) {
    for (int i = 0; i < (int)(threadIdx.x % 3) + n; ++i) __syncthreads();
    x[threadIdx.x] = 1;
}
__global__ void warp_missing(int* x, i64 offset, int n, i64 value, unsigned who) {
    if (threadIdx.x % 4 != who % 4) x[threadIdx.x] = __shfl_sync(0xffffffff, n, 3);
    __syncwarp((unsigned)value | 1);
}

__device__ volatile int flag;
__global__ void loop_empty(int* x, i64 offset, int n, i64 value, unsigned who) {
    if (threadIdx.x == who % 4) for (;;) {}
}
__global__ void loop_flag(int* x, i64 offset, int n, i64 value, unsigned who) { while (flag == 0) {} }
__global__ void loop_barrier(int* x, i64 offset, int n, i64 value, unsigned who) { for (;;) __syncthreads(); }
__global__ void loop_atomic(int* x, i64 offset, int n, i64 value, unsigned who) {
    while (atomicCAS(counter, 5, 6) != 7) {}
}
__global__ void loop_malloc(int* x, i64 offset, int n, i64 value, unsigned who) { for (;;) free(malloc(32)); }

__device__ __attribute__((noinline)) int recurse(volatile int* x, int depth) {
    volatile char frame[200];
    frame[depth % 200] = (char)depth;
    return depth < 0 ? 0 : recurse(x, depth + 1) + frame[3];
}
__global__ void recursion(int* x, i64 offset, int n, i64 value, unsigned who) {
    if (threadIdx.x == who % 4) x[0] = recurse(x, 0);
}
__device__ __attribute__((noinline)) int recurse_and_call(int* x, int depth) {
    volatile char frame[64];
    frame[depth % 64] = 1;
    int* p = (int*)malloc(16);
    printf("%d\n", depth);
    free(p);
    __syncwarp(1u << threadIdx.x);
    return recurse_and_call(x, depth + 1) + frame[3];
}
__global__ void recursion_with_calls(int* x, i64 offset, int n, i64 value, unsigned who) {
    if (threadIdx.x == 0) x[0] = recurse_and_call(x, 0);
}

__global__ void null_write(int* x, i64 offset, int n, i64 value, unsigned who) { *(volatile int*)(offset & 0xfff) = 1; }
__global__ void wild_write(int* x, i64 offset, int n, i64 value, unsigned who) { *(volatile int*)(value << 48) = 1; }
__global__ void wild_call(int* x, i64 offset, int n, i64 value, unsigned who) { ((void (*)())(value << 40 | 8))(); }
__global__ void data_call(int* x, i64 offset, int n, i64 value, unsigned who) { ((void (*)())x)(); }
__global__ void misaligned(int* x, i64 offset, int n, i64 value, unsigned who) {
    *(volatile int*)((char*)x + (offset | 1) % 64) = 1;
}
__global__ void trap(int* x, i64 offset, int n, i64 value, unsigned who) { if (threadIdx.x == who % 4) __trap(); }
__global__ void division(int* x, i64 offset, int n, i64 value, unsigned who) { x[0] = n / x[3]; }
"""

# Kernels that write beside their memory, kernels with so few random numbers that a few cases are enough, and kernels
# that have to be interrupted.
WRITING = [
    "local_char",
    "local_int",
    "local_long",
    "local_double",
    "local_barrier",
    "local_function",
    "shared_one",
    "shared_two",
    "shared_dynamic",
    "heap_malloc",
    "heap_new",
    "heap_free",
    "argument",
    "variable",
    "initialised",
    "constant",
]
OTHER = [
    "barrier_divergent",
    "barrier_missing",
    "warp_missing",
    "recursion",
    "recursion_with_calls",
    "null_write",
    "wild_write",
    "wild_call",
    "data_call",
    "misaligned",
    "trap",
    "division",
]
ENDLESS = ["loop_empty", "loop_flag", "loop_barrier", "loop_atomic", "loop_malloc"]
INITIALISERS = {
    "null": "__device__ int d = *(volatile int*)16;",
    "overrun": "static int f() { volatile int a[4]; for (int i = 0; i < 5000; ++i) a[i] = i; return a[1]; }\n"
    "__device__ int d = f();",
    "recursion": "__attribute__((noinline)) int f(volatile int n) { volatile char a[64]; a[n % 64] = 1; return f(n + 1) + a[3]; }\n__device__ int d = f(1);",
    "loop": "static int f() { volatile int n = 1; while (n) {} return 1; }\n__device__ int d = f();",
    "heap": "static int f() { int* p = new int[4]; for (int i = 0; i < 9000; ++i) p[i] = i; delete[] p; return 1; }\n"
    "__device__ int d = f();",
    "destructor": "struct S { int* p; S() : p(nullptr) {} ~S() { *p = 1; } };\n__device__ S d;",
}


class Case:
    """One wrong kernel: its program, and its numbers."""

    def __init__(self, generator: random.Random) -> None:
        draw = generator.random()
        if draw < 0.80:
            self.name = generator.choice(WRITING)
        elif draw < 0.95:
            self.name = generator.choice(OTHER)
        elif draw < 0.98:
            self.name = generator.choice(ENDLESS)
        else:
            self.name = "initialiser " + generator.choice(sorted(INITIALISERS))
        size = 1 if self.name in ("local_char", "shared_two", "heap_free") else 4
        size = 8 if self.name in ("local_long", "local_double") else size
        distance = int(2 ** generator.uniform(0, 20)) // size
        self.offset = distance * generator.choice((1, 1, 1, -1))
        self.n = min(
            generator.choice((1, 2, 3, 8, 64, 1000, 1 << 18)),
            max(1, ((1 << 20) - abs(distance * size)) // size),
        )
        self.value = generator.choice((0, 1, -1, 5, 0x41414141, generator.getrandbits(62), 64 << 32))
        self.grid = generator.choice((1, 1, 3))
        self.block = generator.choice((1, 32, 33, 64, 256))
        self.who = generator.randrange(self.grid * self.block)

    def __repr__(self) -> str:
        return (
            f"{self.name}[{self.grid}, {self.block}](x, {self.offset}, {self.n}, {self.value:#x}, {self.who})"
        )


class Interrupter:
    """Sends Ctrl-C to the main thread until the thread has ended its wait."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def work(self) -> None:
        while not self.over.wait(0.15):
            os.kill(os.getpid(), signal.SIGINT)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        for _ in range(3):
            try:
                self.over.set()
                self.thread.join()
                time.sleep(0)  # a signal may have come last
                return
            except KeyboardInterrupt:
                continue


def run_case(case: Case) -> str:
    """The result of a case: "nothing", the name of an error, or "interrupted"."""
    import numpy as np

    import cuscope as cs

    try:
        if case.name.startswith("initialiser"):
            source = INITIALISERS[case.name.split()[1]] + "\n__global__ void k(int* x) { x[0] = 1; }"
            if case.name.endswith("loop"):
                with Interrupter():
                    cs.Module(source)
            module = cs.Module(source)
            module.k[1, 1](cs.zeros(1, np.int32))
            cs.synchronize()
            return "nothing"
        x = cs.zeros(256, np.int32)
        kernel = getattr(cs.Module(KERNELS), case.name)
        shared = 64 if case.name == "shared_dynamic" else 0
        kernel[case.grid, case.block, None, shared](x, case.offset, case.n, case.value, case.who)
        if case.name in ENDLESS:
            with Interrupter():
                cs.synchronize()
        cs.synchronize()
        return "nothing"
    except cs.CudaError as error:
        return error.name
    except KeyboardInterrupt:
        return "interrupted"


def is_right(module, np, cs) -> bool:
    x = cs.to_device(np.arange(64, dtype=np.int32))
    module.right[2, 64](x, 0)
    module.right[1, 64](x, 64)
    return x.to_host().tolist() == list(range(63, -1, -1))


def run_all(count: int, seed: int, verbose: bool) -> int:
    """Runs the cases in this process. Returns the number of failed cases."""
    import numpy as np

    import cuscope as cs

    generator = random.Random(seed)
    outcomes: collections.Counter[str] = collections.Counter()
    failed = 0
    sentinel = np.arange(1 << 18, dtype=np.int64)
    device = None
    for number in range(count):
        case = Case(generator)
        if verbose:
            print(number, case, end=" ", file=sys.stderr, flush=True)
        # A device of little memory, because the addresses of a thousand devices have to fit into the process.
        device = device or cs.add_host_device("fermi")
        with device:
            outcome = run_case(case)
            if outcome == "interrupted":
                device.reset()  # ends the kernel, and makes the device unavailable
        if outcome != "nothing":
            device = cs.add_host_device("fermi")
        with device:
            well = is_right(cs.Module(KERNELS), np, cs)
            device.reset()
        outcomes[outcome] += 1
        if verbose or not well:
            print(outcome, "" if well else "BUT A DEVICE COMPUTES WRONG RESULTS", file=sys.stderr, flush=True)
        failed += not well
    if not (sentinel == np.arange(1 << 18)).all():
        print("memory of Python was written over", file=sys.stderr)
        failed += 1
    for outcome, cases in outcomes.most_common():
        print(f"{cases:6d}  {outcome}")
    print(f"{count} wrong kernels, {failed} failed; the process lives")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="show each case and what came of it")
    parser.add_argument("--here", action="store_true", help="run in this process instead of one that may die")
    options = parser.parse_args()
    if options.here:
        return 1 if run_all(options.count, options.seed, options.verbose) else 0
    command = [sys.executable, "-X", "faulthandler", __file__, "--here", "--verbose"]
    command += ["--count", str(options.count), "--seed", str(options.seed)]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    lines: collections.deque[str] = collections.deque(maxlen=40)
    for line in child.stderr:
        lines.append(line)
        if options.verbose:
            print(line, end="", file=sys.stderr)
    status = child.wait()
    if status != 0:
        print("".join(lines))
        print(f"the process ended with status {status}")
    return 0 if status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
