# %% [markdown]
# # Reductions, step by step
#
# A sum reads n numbers and does n - 1 additions: almost no work for each byte. So only the speed of memory limits a sum.
# The package's kernels for this task (the folder cuda_kernels/reduce_ladder), called *rungs*, go from the simplest to the
# fastest. Each rung removes something that keeps memory waiting: idle lanes, bank conflicts, barriers, launches.
#
# A real GPU does not count accesses, so the cells that count use `host:0`, the simulated device. The other cells use the
# current device: a GPU if you have one. Run the cells in order.

# %%
import math

import matplotlib.pyplot as plt
import numpy as np

import cuscope as cs
from cuscope import course

course.follow_theme()  # figures in the colours of the page
device = cs.current_device()
counting = cs.Device("host:0")
print(device, "| counted on", counting)

# %% [markdown]
# ## The tree
#
# The threads of a block add up their part as a tree in shared memory, and leave one value for each block. Further
# launches add these values until only one is left. The next cell does a whole sum by rung 03, launch by launch. After
# that we look only at the first launch, because it reads the array.

# %%
n = 1 << 16
rng = np.random.default_rng(4)
floats, integers = rng.random(n, dtype=np.float32), rng.integers(-1000, 1000, n, dtype=np.int32)


kernels = {}


def kernel_of(rung, element="float"):
    if (rung, element) not in kernels:
        kernels[rung, element] = course.kernel(f"reduce_ladder/{rung}", f"{rung[3:]}<{element}, Sum>")
    return kernels[rung, element]


with counting:
    sequential = kernel_of("03_sequential")
    values, left, launches = cs.to_device(floats), n, []
    while left > 1:
        blocks = -(-left // 256)
        partials = cs.empty(blocks, np.float32)
        sequential[blocks, 256](values, partials, left)
        launches.append(f"{left} -> {blocks}")
        values, left = partials, blocks
    total = values.to_host()[0]
print(len(launches), "launches:", ", ".join(launches))
print(total, "and NumPy:", floats.sum())

assert len(launches) == 2
assert np.isclose(total, floats.sum(), rtol=1e-6)

# %% [markdown]
# `kernel.count(...)` launches a kernel as `kernel.launch(...)` does, and returns the counts of its threads' accesses
# (docs/counting.md).

# %%
counted = {}


def count(rung, blocks, element="float", tickets=False):
    """Count a rung's first launch, in blocks of 256 threads, and compare its result with NumPy's sum."""
    x = integers if element == "int" else floats
    with counting:
        kernel = kernel_of(rung, element)
        out = cs.zeros(blocks, x.dtype)
        more = [cs.zeros(blocks, x.dtype), cs.zeros(1, np.uint32)] if tickets else []
        counts = kernel.count(cs.to_device(x), out, n, *more, grid=blocks, block=256)
        assert np.isclose(out.to_host().sum(dtype=np.float64), x.sum(dtype=np.float64), rtol=1e-6)
    counted[rung] = counts
    assert x.nbytes <= counts.global_load_bytes <= 1.01 * x.nbytes  # every element is read once
    return counts


def report(rung):
    counts = counted[rung]
    print(
        f"{rung}: {counts.shared_load_requests} requests to read shared memory in "
        f"{counts.shared_load_wavefronts} wavefronts, {counts.bank_conflicts} bank conflicts; "
        f"{counts.warp_steps} steps of warps, {counts.active_threads_per_warp:.1f} threads active in each"
    )


# %% [markdown]
# ## 01: neighbours first
#
# In step s, every (2 s)-th thread adds its neighbour at distance s.

# %%
course.show("reduce_ladder/01_interleaved_modulo", "for (unsigned s", "out[blockIdx.x]")
print()
count("01_interleaved_modulo", n // 256)
report("01_interleaved_modulo")

# %% [markdown]
# ## 02: the threads that work stand together
#
# A warp executes one instruction for its 32 lanes. If a condition holds only for some lanes, the other lanes wait: this
# is *divergence*. In rung 01 all eight warps of a block go through the first five steps, for 16, 8, 4, 2 and 1 of their
# lanes. In rung 02 the first threads of the block work, so whole warps work or rest.

# %%
course.show("reduce_ladder/02_interleaved_strided", "for (unsigned s", "out[blockIdx.x]")
print()
count("02_interleaved_strided", n // 256)
report("02_interleaved_strided")

steps = [1 << i for i in range(8)]  # the distance s
thread = np.arange(256)
busy = {  # the warps of a block in which a lane works
    "01": [len(set(thread[thread % (2 * s) == 0] // 32)) for s in steps],
    "02": [len(set(thread[2 * s * thread < 256] // 32)) for s in steps],
}
fig, ax = plt.subplots(figsize=(6, 2.2))
for i, (rung, warps) in enumerate(busy.items()):
    ax.bar(np.arange(8) + 0.4 * i - 0.2, warps, 0.4, label=f"rung {rung}")
ax.set_xticks(range(8), [f"s = {s}" for s in steps])
ax.set_ylabel("warps that work")
ax.legend()
plt.show()

modulo, strided = counted["01_interleaved_modulo"], counted["02_interleaved_strided"]
print("warps that work, in all steps:", {rung: sum(warps) for rung, warps in busy.items()})
assert modulo.active_threads_per_warp < strided.active_threads_per_warp
assert modulo.shared_load_requests > 3 * strided.shared_load_requests

# %% [markdown]
# There is a quarter of the requests to shared memory, for the same sums. But look at the *wavefronts*: there are as many
# as before. Shared memory has 32 banks. Words at a distance of 32 are in the same bank, which serves them one at a time.
# In rung 02 the lanes read words 2 s apart, so up to 32 of them use the same bank. Instead of divergence there are now
# *bank conflicts*.
#
# ## 03: neighbouring lanes, neighbouring words
#
# In each step the second half of the values is added to the first half.

# %%
course.show("reduce_ladder/03_sequential", "for (unsigned s", "out[blockIdx.x]")
print()
count("03_sequential", n // 256)
report("03_sequential")

sequential = counted["03_sequential"]
print()
for counts, rung in ((modulo, "01"), (strided, "02"), (sequential, "03")):
    print(f"{rung}: {counts.shared_load_requests:6d} requests, {counts.shared_load_wavefronts:6d} wavefronts")
assert strided.bank_conflicts > 0
assert sequential.bank_conflicts == 0
assert sequential.shared_load_wavefronts == strided.shared_load_requests

# %% [markdown]
# Nsight Compute reported the same for these three kernels on an H200, for 65536 integers: 17920 conflicts of loads and
# 8960 of stores in rung 02, none in the others (`tests/launching/test_counts.py`).
#
# ## 04 to 06: fewer steps, fewer barriers
#
# In rung 03 half of the threads load an element and never work again. So in rung 04 each thread loads two elements and
# adds them at once. The last six steps lie within a warp, so they need no barrier of the block: in rung 05 `__syncwarp`
# is enough. If the size of the block is a constant, no loop and no comparison is left (rung 06).

# %%
course.show("reduce_ladder/04_first_add_during_load", "T value", "shared[tid] = value")
print()
course.show("reduce_ladder/05_unrolled_last_warp", "for (unsigned s = 32", "    }")
print()
for rung in ("04_first_add_during_load", "05_unrolled_last_warp", "06_fully_unrolled"):
    count(rung, n // 512)
    report(rung)

assert counted["06_fully_unrolled"].warp_steps < counted["04_first_add_during_load"].warp_steps

# %% [markdown]
# ## 07 to 11: the tree no longer matters
#
# Rung 07 launches only as many blocks as the device can hold. Each thread first adds up many elements in a register, so
# each block needs the tree only once. Within a warp, lanes read each other's registers by `__shfl_down_sync` (08), or
# leave the sum to one instruction, for integers (09). The values of the blocks are added by `atomicAdd` (08, 09), by a
# second launch (10), or by the last block (11).

# %%
course.show("reduce_ladder/07_grid_stride", "for (long long i", "value = Operation")
print()
course.show("reduce_ladder/09_reduce_sync", "value = Instruction", "of_warp[warp] = value")
print()
blocks = 32  # for 2 ** 16 elements: 8 a thread
for rung, element, tickets in (
    ("07_grid_stride", "float", False),
    ("08_warp_shuffle", "float", False),
    ("09_reduce_sync", "int", False),
    ("10_two_kernels", "float", False),
    ("11_last_block", "float", True),
):
    count(rung, blocks, element, tickets)
    report(rung)

assert counted["08_warp_shuffle"].global_atomics == blocks
assert counted["10_two_kernels"].global_atomics == 0
assert counted["08_warp_shuffle"].shared_load_requests < counted["07_grid_stride"].shared_load_requests / 10

# %% [markdown]
# ## 12: loads of 16 bytes
#
# How many bytes must be in flight to keep memory busy? As many as memory delivers during the time that one load takes.
# One load of 4 bytes a thread is less than that. So in this rung a thread issues eight loads of 16 bytes before it uses
# the first.

# %%
course.show("reduce_ladder/12_vector_loads", "for (; done + round", "take<Operation>(values")
print()
count("12_vector_loads", 8, tickets=True)
report("12_vector_loads")

fewer = counted["11_last_block"].global_load_requests / counted["12_vector_loads"].global_load_requests
print(f"{fewer:.1f} times fewer requests to global memory for the same bytes")


# %% [markdown]
# ## All rungs
#
# The launches are counted for a sum of 2^20 elements, the accesses for one launch with 2^16 elements.


# %%
def launches_of(rung, left=1 << 20):
    number = int(rung[:2])
    if number >= 7:
        return 2 if number in (7, 10) else 1
    elements, launches = 256 if number <= 3 else 512, 0
    while left > 1:
        left, launches = -(-left // elements), launches + 1
    return launches


print("                          launches  requests: global   shared  wavefronts  conflicts  active threads")
for rung, counts in counted.items():
    print(
        f"{rung:26s} {launches_of(rung):7d}  {counts.global_load_requests:16d}  {counts.shared_load_requests:7d}"
        f"  {counts.shared_load_wavefronts:10d}  {counts.bank_conflicts:9d}  {counts.active_threads_per_warp:14.1f}"
    )
assert len(counted) == 12

# %% [markdown]
# ## How much time the rungs save
#
# The times below were measured on an NVIDIA H200 (by
# `benchmarks/cpp/reductions.cu`). They are for sums of floats and include all launches of a rung. `cs.sum` uses
# `single_launch` on a GPU (cuda_kernels/reduce_auto).

# %%
results = course.results("reductions")
measured = {}  # microseconds, by rung and size
for rung, size, microseconds in results["rows"]:
    measured.setdefault(rung, {})[size] = microseconds

fig, ax = plt.subplots(figsize=(8, 3.5))
for rung in measured:
    if rung[:2] not in ("01", "03", "06", "07", "12", "si"):
        continue  # too close to others to be told apart
    sizes = np.array(list(measured[rung]))
    ax.plot(sizes, 4e-3 * sizes / np.array(list(measured[rung].values())), "o-", ms=3, label=rung)
ax.set_xscale("log", base=2)
ax.set_yscale("log")
ax.set_xlabel("elements (float32)")
ax.set_ylabel("GB/s")
ax.set_title(results["device"])
ax.legend(fontsize="small")
plt.show()

large = 1 << 28
for rung in measured:
    print(f"{rung:26s} {4e-3 * large / measured[rung][large]:6.0f} GB/s of 2^28 elements")
assert measured["01_interleaved_modulo"][large] > 5 * measured["07_grid_stride"][large]


# %% [markdown]
# Removing divergence and bank conflicts doubles the rate. Rungs 04 to 07 bring it close to the bandwidth of memory: each
# thread has more work, and the tree is needed only once for many elements. For small arrays launches cost most, so the
# rungs with a single launch are the fastest.
#
# ### The time from counts
#
# `kernel.explain_time(...)` launches a kernel on the simulated device, and shows the part of the device that bounds it
# (docs/kernel-time.md). It is the time of one launch, on data that are in the cache. The measured times above include
# the further launches, and data that come from memory: so they are longer, but the rungs come in the same order.

# %%
size = 1 << 22
many = rng.random(size, dtype=np.float32)
explained = {}
with counting:
    on_device = cs.to_device(many)
    for rung, blocks in (
        ("01_interleaved_modulo", size // 256),
        ("02_interleaved_strided", size // 256),
        ("03_sequential", size // 256),
        ("04_first_add_during_load", size // 512),
        ("07_grid_stride", 8 * 132),
    ):
        out = cs.zeros(blocks, np.float32)
        explained[rung] = time = kernel_of(rung).explain_time(on_device, out, size, grid=blocks, block=256)
        print(
            f"{rung:24s} {1e6 * time.seconds:5.1f} us simulated, bound by {time.bound:8s}"
            f" {measured[rung][size]:5.1f} us measured on an H200"
        )
        assert np.isclose(out.to_host().sum(dtype=np.float64), many.sum(dtype=np.float64), rtol=1e-6)

seconds = [time.seconds for time in explained.values()]
assert seconds == sorted(seconds, reverse=True)
print()
print(explained["01_interleaved_modulo"])

# %% [markdown]
# Rung 01 is bound by the *issue* of instructions: `%` takes many of them, and a warp with few active lanes takes as many as
# a full one. From rung 07 on, only the way of the data to the multiprocessors counts.
#
# ### On this device
#
# Each rung is also a variant of `cs.reduce`. The next cell measures the time between two events on the current device. On
# `host:0` it is the time of the model, from the times that were measured on an H200.

# %%
size = 1 << 20
host_x = rng.standard_normal(size).astype(np.float32)
x, result = cs.to_device(host_x), cs.empty((), np.float32)
exact = math.fsum(host_x.tolist())
times, sums = {}, {}
print("simulated" if device.simulated else "measured", "on", device)
for rung in ("01_interleaved_modulo", "11_last_block", "single_launch"):
    variant = rung if rung == "single_launch" else rung[3:]
    work = lambda: cs.reduce(x, "sum", out=result, variant=variant)  # noqa: B023, E731
    few = x if variant == "single_launch" else x[:1000]
    cs.reduce(few, "sum", out=result, variant=variant)  # loads the kernel, and gets its workspace
    times[variant] = 1e3 * min(course.milliseconds(work) for _ in range(1 if device.simulated else 10))
    sums[variant] = result.to_host()[()]
    print(f"{variant:24s} {times[variant]:6.1f} us here, {measured[rung][size]:6.1f} us measured on an H200")
    assert abs(sums[variant] - exact) < 1e-6 * np.abs(host_x).sum()

if device.simulated:  # a real GPU may be busy with other work, which the times include
    assert times["interleaved_modulo"] > times["last_block"]

# %% [markdown]
# These times include the time that the device waits for the host between launches. The benchmark stops the stream until
# all work is enqueued, so that only the time of the device counts.
#
# ## `cs.sum` and `cs.reduce`
#
# These functions take NumPy arrays and device arrays of any dtype, strides and axes, and choose a kernel. `explain` gives
# the choice and its reason, and `variants` lists the kernels.

# %%
grid = rng.random((300, 200), dtype=np.float32)
print(cs.sum(grid), cs.sum(grid, axis=0).shape, cs.reduce(grid, "max", axis=1, variant="last_block")[:3])
print(cs.reduce.explain(x, "sum"))
print(cs.reduce.explain(cs.to_device(grid), "sum", axis=0))
for variant in cs.reduce.variants()[-4:]:
    print(f"{variant.name}: {variant.does} (needs {variant.needs})")

assert np.allclose(cs.sum(grid, axis=0), grid.sum(axis=0))
assert np.array_equal(cs.reduce(grid, "max", axis=1, variant="last_block"), grid.max(axis=1))

# %% [markdown]
# ## How exact?
#
# Additions of floats round, so the order matters. Adding all numbers one after the other in float32 is a bad order: the
# running sum is rounded after every number. In a tree, a number goes through few additions. `cs.sum` adds in double
# precision and rounds once. `math.fsum` is exact, except that it rounds its result. The numbers here have both signs, so
# their sum is small compared with them.

# %%
unit = float(np.spacing(np.float32(abs(exact))))  # the distance between float32 numbers there
errors = {
    "a running sum of float32": np.cumsum(host_x, dtype=np.float32)[-1],
    "np.sum": host_x.sum(),
    "rung 01": sums["interleaved_modulo"],
    "rung 11": sums["last_block"],
    "cs.sum": cs.sum(host_x),
}
for name, value in errors.items():
    print(f"{name:26s} {value:14.4f}  off by {abs(float(value) - exact) / unit:8.2f} units in the last place")

assert abs(float(errors["cs.sum"]) - exact) <= 0.5 * unit * 1.001
assert abs(float(errors["a running sum of float32"]) - exact) > 10 * unit

# %% [markdown]
# ## The same bits every time?
#
# All rungs but 08 and 09 add the elements in a fixed order. In 08 and 09 blocks reach their `atomicAdd` in any order,
# which makes no difference for the integers of 09. The next cell runs three variants four times each:

# %%
for variant in ("warp_shuffle", "last_block", "single_launch"):
    bits = {cs.reduce(x[: 1 << 18], "sum", variant=variant).to_host().tobytes() for _ in range(4)}
    print(f"{variant:16s} {len(bits)} different result{'s' * (len(bits) > 1)}")
    assert len(bits) == 1 or variant == "warp_shuffle"

# %% [markdown]
# ## Exercise: conflicts without another order
#
# Rung 02 has bank conflicts, because its lanes use words that are a multiple of 2, 4, 8, ... apart. Keep its order of
# additions, and remove the conflicts by *padding*: put element `i` at the place `PLACE(i)` of the shared array, which may
# have up to 512 words. Write the macro `PLACE` as text.

# %%
PADDED = """
#define PLACE(i) (%s)
__global__ void padded(const float* in, float* out) {
    __shared__ float shared[512];
    const int tid = threadIdx.x;
    shared[PLACE(tid)] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        const int i = 2 * s * tid;
        if (i < 256) shared[PLACE(i)] += shared[PLACE(i + s)];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[PLACE(0)];
}
"""


@course.exercise
def check_padding(place):
    with counting:
        x, out = cs.to_device(floats), cs.zeros(n // 256)
        counts = cs.Module(PADDED % place).padded.count(x, out, grid=n // 256, block=256)
        print(f"{counts.bank_conflicts} bank conflicts; unpadded, rung 02 has {strided.bank_conflicts}")
        total = out.to_host().sum(dtype=np.float64)
    assert np.isclose(total, floats.sum(dtype=np.float64), rtol=1e-6), (
        "the sum is wrong: do two elements share a place?"
    )
    assert counts.bank_conflicts < strided.bank_conflicts / 10, "there are too many conflicts left"


# %%
place = None  # for example "i"

solved = check_padding(place)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
# One unused word behind each 32 words: places 32 apart are in different banks now.
solved = check_padding("(i) + (i) / 32")
assert solved

# %% [markdown]
# ## To try
#
# 1. Count rung 03 with `Maximum` in place of `Sum`. What changes?
# 2. Take the `__syncwarp()` out of rung 05. Is the sum still right on `host:0`? Why may it be wrong on a GPU?
# 3. Count rung 07 with 1, 8 and 256 blocks: how do the steps of warps grow? How fast would one block be on a GPU with 132
#    multiprocessors?
# 4. Sum 2^20 numbers, of which the first is 1e8 and the other ones are 1: with `np.cumsum`, each rung, and `cs.sum`.
