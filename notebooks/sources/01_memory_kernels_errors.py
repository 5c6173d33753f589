# %% [markdown]
# # Memory, the first kernel, and errors
#
# This notebook introduces CUDA. It runs on a GPU if you have one; otherwise on `host:0`, a simulated device that gives
# the same answers. You need not change anything. Run the cells in order.

# %% [markdown]
# ## Devices
#
# A *device* has its own memory and runs *kernels*: functions that many threads execute at once. The *host* is the
# computer around it, where this Python program runs. `cs.devices()` lists the devices, real ones first.

# %%
import numpy as np

import cuscope as cs
from cuscope import course

cs.devices()

# %%
device = cs.current_device()
properties = device.properties
print(device)
print("simulated:          ", device.simulated)
print("compute capability: ", device.compute_capability)
print("multiprocessors:    ", properties.multiprocessor_count)
print("threads in a block: ", properties.max_threads_per_block, "at most")
print("memory:             ", device.memory_info())

assert device in cs.devices()
assert properties.warp_size == 32

# %% [markdown]
# Nothing has to be started. The runtime makes a *context* for a device at the first call that needs it, and loads code
# when it is used first. So the first calls of a program take longer: leave them out when you measure. `device.reset()`
# (`cudaDeviceReset`) destroys the context with everything in it, and the next call makes a new one. The cell does so on
# an extra simulated device.

# %%
with cs.add_host_device("h200") as spare:
    old = cs.zeros(3)
    spare.reset()
    try:
        old.to_host()
        raise AssertionError("not refused")
    except ValueError as error:
        print(error)
    assert cs.zeros(3).to_host().tolist() == [0, 0, 0]  # a new context

# %% [markdown]
# ## Memory
#
# The device works on its own memory. `cs.to_device` copies data to the device, and `.to_host()` copies it back.

# %%
a = np.arange(12, dtype=np.float32).reshape(3, 4)
d_a = cs.to_device(a)
back = d_a.to_host()

print(d_a.shape, d_a.dtype, d_a.nbytes, "bytes at", hex(d_a.pointer))
assert np.array_equal(back, a)
assert back is not a

# %% [markdown]
# You can also allocate memory without a copy: `cs.empty` (with random content), `cs.zeros`, `cs.full`. A slice along the
# first axis is a *view*: it shares the memory and copies nothing.

# %%
d = cs.zeros((4, 3), np.int32)
d[1].fill(7)
d[2:] = np.array([[1, 2, 3], [4, 5, 6]], np.int32)

print(d.to_host())
assert d.to_host().tolist() == [[0, 0, 0], [7, 7, 7], [1, 2, 3], [4, 5, 6]]

# %% [markdown]
# NumPy cannot read device memory. If you try, you get an error that tells you the method to use instead.

# %%
try:
    np.asarray(d_a)
except TypeError as error:
    print("TypeError:", error)
    message = str(error)
assert ".to_host()" in message

# %% [markdown]
# ## The first kernel
#
# A kernel is a function in CUDA C++. `cs.Module` compiles it: for the GPU, or for your computer's processor if the device
# is simulated.
#
# `__global__` marks a function that the host can start. You *launch* it with a **grid** of **blocks** of threads. Each
# thread computes the index of its element from its block and its place in the block, and does one addition:
#
#     index = blockDim.x * blockIdx.x + threadIdx.x
#
# The last block may reach past the end of the arrays, so the kernel checks `i < n`.

# %%
module = cs.Module("""
__global__ void vec_add(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
""")
module.vec_add

# %%
n = 1_000_000
rng = np.random.default_rng(1)
x, y = rng.random((2, n), dtype=np.float32)
d_x, d_y = cs.to_device(x), cs.to_device(y)
d_z = cs.empty_like(d_x)

block = 256  # threads in a block
grid = (n + block - 1) // block  # blocks: enough for n threads
module.vec_add[grid, block](d_x, d_y, d_z, n)

z = d_z.to_host()
print(f"{grid} blocks of {block} threads for {n} elements")
assert np.array_equal(z, x + y)

# %% [markdown]
# A launch returns at once: the kernel runs while Python goes on. `.to_host()` waits for the kernel, because both are in
# the same *stream*. A stream is a queue of work that the device does in order.
#
# ### Blocks and threads of a grid
#
# Grids and blocks have up to three dimensions. This kernel notes for each element which block and thread visited it.

# %%
who = cs.Module("""
__global__ void who(int* block_of, int* thread_of, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        block_of[y * width + x] = blockIdx.y * gridDim.x + blockIdx.x;
        thread_of[y * width + x] = threadIdx.y * blockDim.x + threadIdx.x;
    }
}
""").who

block_of, thread_of = cs.zeros((4, 8), np.int32), cs.zeros((4, 8), np.int32)
who[(2, 2), (4, 2)](block_of, thread_of, 8, 4)
print("block:\n", block_of.to_host(), "\nthread:\n", thread_of.to_host(), sep="")

assert block_of.to_host()[3, 7] == 3
assert thread_of.to_host()[0].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]

# %% [markdown]
# ### Functions that call themselves
#
# Functions for the device may call others, and themselves. Each thread has a stack for it; `device.limit("stack_size")`
# is its size in bytes (`cudaDeviceGetLimit`), and `set_limit` changes it, if a kernel needs more.

# %%
towers = cs.Module("""
__device__ long long moves(int disks) { return disks == 0 ? 0 : 2 * moves(disks - 1) + 1; }
__global__ void hanoi(long long* out) { out[threadIdx.x] = moves(threadIdx.x); }
""").hanoi
with cs.add_host_device("h200") as spare:
    before = spare.limit("stack_size")
    spare.set_limit("stack_size", 4 * before)
    print("stack of a thread:", before, "bytes, then", spare.limit("stack_size"))
    assert spare.limit("stack_size") == 4 * before

out = cs.zeros(20, np.int64)
towers[1, 20](out)
print(out.to_host())
assert out.to_host().tolist() == [2**disks - 1 for disks in range(20)]

# %% [markdown]
# ### Arguments are checked
#
# In C++ a wrong argument often causes a crash or a wrong number. cuscope compares each argument with the kernel's
# parameters before it launches anything.

# %%
wrong = [
    ("a NumPy array", (x, d_y, d_z, n)),
    ("other elements", (d_x, d_y, cs.zeros(n, np.float64), n)),
    ("one too few", (d_x, d_y, d_z)),
    ("a float for an int", (d_x, d_y, d_z, 1.5)),
]
refused = 0
for what, arguments in wrong:
    try:
        module.vec_add[grid, block](*arguments)
    except (TypeError, ValueError) as error:
        refused += 1
        print(f"{what}: {type(error).__name__}: {error}\n")
assert refused == len(wrong)

# %% [markdown]
# ## Time
#
# An *event* is a mark in a stream. The device notes the time when it gets there, so two events measure the time between
# them. On a simulated device this is the time of the model.
#
# Copies run at full speed, and while Python goes on, only from *page-locked* (pinned) memory.

# %%
pinned = cs.pinned_empty(n, np.float32)
pinned[:] = x


def milliseconds(work):
    start, stop = cs.Event(), cs.Event()
    start.record()
    work()
    stop.record()
    stop.synchronize()
    return stop - start


copy_pageable = milliseconds(lambda: d_x.copy_from(x))
copy_pinned = milliseconds(lambda: d_x.copy_from(pinned))
kernel = milliseconds(lambda: module.vec_add[grid, block](d_x, d_y, d_z, n))
print(
    f"copy from pageable memory {copy_pageable:.3f} ms, from pinned memory {copy_pinned:.3f} ms, kernel {kernel:.3f} ms"
)

assert min(copy_pageable, copy_pinned, kernel) > 0

# %% [markdown]
# A copy to or from pinned memory is *asynchronous*: the call returns before the bytes have arrived. If you read the array
# before you wait, you may see the old bytes. On a GPU that depends on luck; on a simulated device you see them every
# time.

# %%
box = cs.pinned_empty(n, np.float32)
box[:] = 0
d_x.fill(3)
d_x.copy_to(box)  # returns at once
early = box[0].item()
cs.synchronize()  # now the copy is complete
late = box[0].item()
print(f"before waiting: {early}, after waiting: {late}")

assert late == 3
assert early == 0 or not device.simulated

# %% [markdown]
# Work in different streams may overlap. Work in one stream never does, and an event lets one stream wait for another.

# %%
first, second = cs.Stream(), cs.Stream()
ready = cs.Event(timing=False)

d_x.copy_from(pinned, stream=first)
ready.record(first)
second.wait(ready)  # the kernel starts when the copy has ended; Python does not wait
module.vec_add[grid, block, second](d_x, d_y, d_z, n)
second.synchronize()

assert np.array_equal(d_z.to_host(), x + y)

# %% [markdown]
# ## Errors
#
# ### Source that does not compile
#
# The message shows your own line.

# %%
try:
    cs.Module("""
__global__ void broken(float* p) {
    p[threadIdx.x] = undefined_name;
}
""")
except cs.CompileError as error:
    print(error)
    message = str(error)
assert "undefined_name" in message

# %% [markdown]
# ### Calls that the runtime refuses
#
# Such an error has no effect on later calls: the next call works.

# %%
try:
    module.vec_add[grid, 2048](d_x, d_y, d_z, n)  # a block has 1024 threads at most
    raise AssertionError("not refused")
except (ValueError, cs.CudaError) as error:
    print(type(error).__name__, error, sep=": ")

module.vec_add[grid, block](d_x, d_y, d_z, n)
assert np.array_equal(d_z.to_host(), x + y)

# %% [markdown]
# ### Wild addresses
#
# A kernel that reads or writes outside of all memory stops with `cudaErrorIllegalAddress`. The launch itself succeeds;
# the next call that waits raises the error. The error is *sticky*: the device is lost for this process, and each later
# call on it gives the same error. To use a real GPU again, you have to start a new process.
#
# So this cell uses an extra simulated device, which you can afford to lose. (If a kernel writes outside of *its* array
# but inside of another one, the hardware does not notice it, and the other array is damaged without an error.)

# %%
victim = cs.add_host_device("h200")
with victim:
    bad = cs.Module("""
__global__ void bad(int* p) {
    p[1LL << 40] = 1;
}
""").bad
    p = cs.zeros(1, np.int32)
    bad[1, 1](p)  # accepted
    for attempt in ("waiting", "a new allocation"):
        try:
            victim.synchronize() if attempt == "waiting" else cs.zeros(1, np.int32)
            raise AssertionError("no error")
        except cs.CudaError as error:
            print(f"{attempt}: {error}\n")
            assert error.name == "cudaErrorIllegalAddress"

assert np.array_equal(d_z.to_host(), x + y)  # the other device goes on

# %% [markdown]
# ### A barrier that not all threads reach
#
# At `__syncthreads()` the threads of a block wait for each other: for all threads that have not returned. Here one half
# of a warp waits for the other half, which waits at another place, so the block cannot go on. A GPU may hang, or go on as
# if nothing had happened. A simulated device reports the threads that wait, and the line.

# %%
with cs.add_host_device("h200") as victim:
    half = cs.Module("""
__global__ void half(int* p) {
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncwarp();
    p[threadIdx.x] = 1;
}
""").half
    half[1, 32](cs.zeros(32, np.int32))
    try:
        victim.synchronize()
        raise AssertionError("no error")
    except cs.CudaError as error:
        print(error)
        message = str(error)
assert "16 of 32 threads" in message
assert "kernel.cu:4" in message

# %% [markdown]
# ### Errors in a host function
#
# A host function is Python code in a stream. If it raises an exception, the next synchronisation of that stream raises
# the exception again; the stream itself goes on.

# %%
stream = cs.Stream()
seen = []
stream.host_function(int, "no number")
stream.host_function(seen.append, "still running")
try:
    stream.synchronize()
    raise AssertionError("no error")
except ValueError as error:
    print("ValueError:", error)
stream.synchronize()
assert seen == ["still running"]

# %% [markdown]
# ## Exercise: the other way round
#
# Write a kernel `reverse(const int* in, int* out, int n)` that stores the elements in reverse order. It is launched with
# enough blocks of 256 threads. Replace `None` by the source, a text with `"""` around it.


# %%
@course.exercise
def check_reverse(source):
    reverse = cs.Module(source).reverse
    for n in (1, 256, 1000):
        values = np.arange(n, dtype=np.int32)
        out = cs.full(n + 1, -1, np.int32)  # one element more, which has to stay as it is
        reverse[(n + 255) // 256, 256](cs.to_device(values), out, n)
        found = out.to_host()
        assert np.array_equal(found[:n], values[::-1]), f"n = {n}: the result begins with {found[:4]}"
        assert found[n] == -1, f"n = {n}: a thread has written behind the end"


# %%
source = None
# source = """
# __global__ void reverse(const int* in, int* out, int n) {
#     ...
# }
# """

solved = check_reverse(source)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
solved = check_reverse("""
__global__ void reverse(const int* in, int* out, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) out[n - 1 - i] = in[i];
}
""")
assert solved

# %% [markdown]
# ## To try
#
# 1. Leave out `if (i < n)` in `vec_add` and launch it on 1,000,001 elements. Is there an error? Should there be one?
# 2. Launch `vec_add` with blocks of 1 thread and of 1024 threads, and compare the times.
# 3. Put two copies into two streams, and find out from events whether they overlapped.
# 4. Call `cs.zeros(3)` in a host function. Which error do you get, and why does CUDA not allow the call?
