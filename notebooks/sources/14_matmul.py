# %% [markdown]
# # Matrix products, step by step
#
# C = A B takes 2 m n k operations on m k + k n + m n numbers, so every number is used many times. A kernel is fast if a
# number waits for its next use in the right place: global memory is slow, shared memory is faster, and a register is
# fastest. This notebook goes through the package's kernels for this task (the folder cuda_kernels/matmul), called
# *rungs*, from the simplest to the fastest, and counts the memory accesses that each rung saves.
#
# A real GPU does not count accesses, so the cells that count use `host:0`, the simulated device. The other cells use the
# current device: a GPU if you have one. Run the cells in order.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cuscope as cs
from cuscope import course

course.follow_theme()  # figures in the colours of the page
device = cs.current_device()
counting = cs.Device("host:0")
print(device, "| counted on", counting)

# %% [markdown]
# ## How to count
#
# All rungs take `(a, b, c, problem)`; the last argument is a structure, which NumPy describes by a dtype.
# `kernel.count(...)` launches a kernel as `kernel.launch(...)` does, and returns the counts of its threads' accesses. The
# numbers in the text are for kernels compiled by g++. clang++ splits loads of 16 bytes, which rungs 06 to 08 use
# (docs/counting.md).
#
# m, n and k differ below, so that you can see which of them matters: A has 128 × 64 numbers, B 64 × 256, C 128 × 256.

# %%
m, n, k = 128, 256, 64
rng = np.random.default_rng(3)
a, b = rng.random((m, k), dtype=np.float32), rng.random((k, n), dtype=np.float32)
expected = a.astype(np.float64) @ b.astype(np.float64)
distances = [f"{x}_{of}" for of in ("row", "batch") for x in "abc"] + ["k_batch", "a_column", "c_column"]
Problem = np.dtype([(x, np.int32) for x in "mnk"] + [(x, np.int64) for x in distances], align=True)
problem = np.array([(m, n, k, k, n, n, 0, 0, 0, 0, 1, 1)], Problem)[
    0
]  # rows are dense, and there is no batch
kernels, counted = {}, {}


def count(rung, name, tile, block, shared=0):
    """Run a rung on the simulated device, compare its product with NumPy's, and keep the counts."""
    with counting:
        kernel = kernels[rung] = course.kernel(f"matmul/{rung}", name)
        if shared:
            kernel.max_dynamic_shared = shared
        d_a, d_b, d_c = cs.to_device(a), cs.to_device(b), cs.full((m, n), np.nan, np.float32)
        grid = (m // tile[0]) * (n // tile[1])
        counts = kernel.count(d_a, d_b, d_c, problem, grid=grid, block=block, shared=shared)
        assert np.allclose(d_c.to_host(), expected, rtol=1e-5)
    counted[rung] = counts
    return counts


def report(counts):
    for name, array in (("a", a), ("b", b)):
        own = counts.by_argument[name]
        print(
            f"each element of {name.upper()} is read {own.load_bytes / array.nbytes:5.1f} times,"
            f" in requests of {own.load_sectors / own.load_requests:5.2f} sectors"
        )
    if counts.shared_load_requests:
        print(
            f"shared memory: {counts.shared_load_wavefronts / (m * n * k / 32):.3f} wavefronts for a"
            f" multiply-add of a warp, {counts.bank_conflicts} bank conflicts"
        )


# %% [markdown]
# ## 01: one thread an element
#
# Every element of C has a thread of its own. The thread reads a row of A and a column of B.

# %%
course.show("matmul/01_naive", "const int row", "rounded<T>")
print()
report(count("01_naive", "naive<float>", (16, 16), (16, 16)))

by_argument = counted["01_naive"].by_argument
assert by_argument["a"].loads == n * a.size  # each element of A, n times
assert by_argument["b"].loads == m * b.size  # each element of B, m times

# %% [markdown]
# A row of A serves n elements of C, so each of its elements is read n times; each element of B is read m times. CUDA's
# documents say so, and the counter agrees to the last load.
#
# The *sectors* show a second problem. Memory is read in pieces of 32 bytes. The 32 threads of a warp are in 16 rows here,
# because `threadIdx.x` counts rows: a request for A touches 16 sectors, and uses 4 bytes of each.
#
# ## 02: x counts along the row
#
# Now neighbouring threads compute neighbouring elements in a row of C. For this, two indices change places.

# %%
course.show("matmul/02_coalesced", "const int row", "rounded<T>")
print()
report(count("02_coalesced", "coalesced<float>", (16, 16), (16, 16)))

naive, coalesced = counted["01_naive"], counted["02_coalesced"]
print(f"sectors in all: {naive.global_load_sectors} before, {coalesced.global_load_sectors} now")
assert coalesced.global_loads == naive.global_loads
assert naive.global_load_sectors > 4 * coalesced.global_load_sectors

# %% [markdown]
# There are as many loads, but less than a quarter of the sectors. A warp still covers two rows of a 16 × 16 block: it
# reads two elements of A, each for 16 threads, and 16 neighbours of B.
#
# ## 03: shared tiles
#
# Now the threads of a block share the numbers that they load. Each thread loads one element of a 16 × 16 tile of A and
# one of B into shared memory, and uses 16 elements of each tile.

# %%
course.show("matmul/03_shared_tiles", "Accumulator", "no thread reads")
print()
report(count("03_shared_tiles", "shared_tiles<float>", (16, 16), (16, 16)))

by_argument = counted["03_shared_tiles"].by_argument
assert by_argument["a"].loads == n // 16 * a.size
assert by_argument["b"].loads == m // 16 * b.size
assert counted["03_shared_tiles"].bank_conflicts == 0

# %% [markdown]
# Each element is read n / 16 or m / 16 times, as CUDA's documents say of tiles of 16. There are fewer accesses to global
# memory, but each multiply-add now waits for two loads from shared memory. In one *wavefront* the 32 banks of shared
# memory serve one word each. A multiprocessor serves one wavefront per cycle, and could do four warps' multiply-adds in
# that cycle. With two wavefronts for a multiply-add, 7 of 8 multipliers are idle.
#
# ## 04 and 05: a thread computes more
#
# Now a number waits in a register. A thread that computes 8 elements of a column uses its number of B 8 times: 9 loads
# for 8 multiply-adds. A thread that computes 8 × 8 elements uses 16 numbers for 64 multiply-adds.

# %%
course.show("matmul/04_thread_tile_1d", "for (int i = 0; i < depth", "multiply_add")
report(count("04_thread_tile_1d", "thread_tile_1d<float>", (64, 64), 512))
print()
course.show("matmul/05_thread_tile_2d", "T from_a[side]", "multiply_add(sums[r][s]")
report(count("05_thread_tile_2d", "thread_tile_2d<float>", (128, 128), 256))

by_argument = counted["05_thread_tile_2d"].by_argument
assert by_argument["a"].loads == n // 128 * a.size
assert by_argument["b"].loads == m // 128 * b.size
assert counted["05_thread_tile_2d"].shared_load_wavefronts * 4 * 32 == m * n * k

# %% [markdown]
# The block's tile grew, too, to 64 × 64 and to 128 × 128: each element of A is read n / 64, then n / 128 times.
#
# ## 06 and 07: fewer instructions, less waiting
#
# Rung 06 loads four numbers at once. The number of wavefronts stays the same, but there are a quarter of the *requests*.
# This helps because a multiprocessor issues loads and multiply-adds from the same slots. Rung 07 loads the next tile
# while the current one is multiplied. This costs a second tile of shared memory and changes no count: it only saves time.

# %%
course.show("matmul/06_vectorised", "Tiles tiles;", "store_sums")
print()
for rung, name in (("06_vectorised", "vectorised<float>"), ("07_double_buffered", "double_buffered<float>")):
    counts = count(rung, name, (128, 128), 256)
    print(rung, counts.shared_load_requests, "requests to shared memory,", end=" ")
    print(f"{counts.shared_load_wavefronts} wavefronts, {counts.bank_conflicts} bank conflicts")

before, now = counted["05_thread_tile_2d"], counted["06_vectorised"]
assert before.shared_load_requests > now.shared_load_requests  # 4 times, from g++
assert before.global_load_bytes == now.global_load_bytes

# %% [markdown]
# ## 08: warp tiles
#
# How many numbers does a *warp* read? 64 × 64 elements of C need 128 numbers for each step of k, where 16 × 128 elements
# need 144. With 16 × 8 elements a thread and 128 × 256 a block, each element of A is read n / 256 times. The kernel
# copies from global to shared memory with `cp.async`, which the counter does not count as a load of a thread. The loads
# of the threads from shared memory are counted.

# %%
counts = count(
    "08_warp_tiles",
    # A tile of 128 x 256, slabs 16 deep, 16 x 8 elements a thread, 3 slabs, 4 floats a load.
    "warp_tiles<float, 128, 256, 16, 16, 8, 3, 4>",
    (128, 256),
    256,
    shared=3 * 16 * (128 + 4 + 256) * 4,  # columns of A are 4 floats longer, against bank conflicts
)
per_multiply = counts.shared_load_wavefronts / (m * n * k / 32)
print(f"{per_multiply:.3f} wavefronts for a multiply-add of a warp, {counts.bank_conflicts} bank conflicts")

assert counts.shared_load_wavefronts < 0.8 * now.shared_load_wavefronts

# %% [markdown]
# ## 09: tensor cores
#
# Now the hardware multiplies matrices. `mma` does 16 × 8 × 16 multiply-adds of half precision in one instruction of a
# warp. The kernel has to supply it with numbers fast enough: `ldmatrix` reads eight rows at once, which must lie in
# different banks. Here they do, because pieces of 16 bytes change places within a row.

# %%
side = 64
x, y = (rng.random((side, side), dtype=np.float32).astype(np.float16) for _ in range(2))
with counting:
    tensor_cores = course.kernel("matmul/09_tensor_cores", "tensor_cores<__half, float, 64, 64, 32, 32, 3>")
    z = cs.zeros((side, side), np.float32)
    counts = tensor_cores.count(
        cs.to_device(x),
        cs.to_device(y),
        z,
        np.array([(side,) * 6 + (0,) * 4 + (1, 1)], Problem)[0],
        grid=1,
        block=128,
        shared=3 * 128 * (64 + 64),
    )
print(f"{counts.shared_load_wavefronts / (side**3 / 32):.3f} wavefronts for 32 multiply-adds,", end=" ")
print(counts.bank_conflicts, "bank conflicts")

assert np.allclose(z.to_host(), x.astype(np.float64) @ y.astype(np.float64), rtol=1e-5)
assert counts.bank_conflicts == 0

# %% [markdown]
# ## All rungs for float
#
# The table shows how often an element of A and B is read, for these m and n. The numbers of rung 08 are for its own tile.

# %%
rungs = list(counted)
reads = {
    rung: [c.by_argument[x].load_bytes / array.nbytes for x, array in (("a", a), ("b", b))]
    for rung, c in counted.items()
}
reads["08_warp_tiles"] = [n / 256, m / 128]
wavefronts = {rung: c.shared_load_wavefronts / (m * n * k / 32) for rung, c in counted.items()}
requests = {rung: c.shared_load_requests / (m * n * k / 32) for rung, c in counted.items()}

print("                      reads of A  reads of B  for a multiply-add of a warp, from shared memory:")
for rung in rungs:
    print(f"{rung:20s}  {reads[rung][0]:10g}  {reads[rung][1]:10g}", end="  ")
    print(f"{wavefronts[rung]:6.3f} wavefronts, {requests[rung]:6.3f} requests")

fig, ax = plt.subplots(figsize=(8, 3))
at = np.arange(len(rungs))
for i, name in enumerate("AB"):
    ax.bar(at + 0.4 * i - 0.2, [reads[rung][i] for rung in rungs], 0.4, label=f"of {name}")
ax.set_yscale("log", base=2)
ax.set_ylim(0.5, 512)
ax.set_xticks(at, [rung.replace("_", " ") for rung in rungs], rotation=20, ha="right")
ax.set_ylabel("reads of an element")
ax.set_title(f"from global memory, m = {m}, n = {n}")
ax.legend()
plt.show()

totals = [sum(reads[rung]) for rung in rungs]
assert totals == sorted(totals, reverse=True)

# %% [markdown]
# ## How much time the rungs save
#
# The times below were measured on an NVIDIA H200 (by
# `benchmarks/matmul_rungs.py`). Each rung is represented by its fastest instance.

# %%
results = course.results("matmul")
measured = {}  # TFLOP/s, by rung and n
for size, name, rate, _ in results["rows"]["float"]:
    rung = next((r for r in rungs if r[3:] == name.partition("<")[0]), name)
    by_size = measured.setdefault(rung, {})
    by_size[size] = max(rate, by_size.get(size, 0))

sizes = sorted({size for by_size in measured.values() for size in by_size})
print(f"TFLOP/s of float on an {results['device']}")
print(" " * 20, *(f"{size:>7d}" for size in sizes))
for rung, by_size in measured.items():
    print(f"{rung:20s}", *(f"{by_size[size]:7.1f}" if size in by_size else " " * 7 for size in sizes))

fig, ax = plt.subplots(figsize=(8, 3.5))
for rung, by_size in measured.items():
    ax.plot(list(by_size), list(by_size.values()), marker="o", label=rung, ls="-" if rung in rungs else ":")
ax.set_xscale("log", base=2)
ax.set_xlabel("n: matrices have n rows and n columns")
ax.set_ylabel("TFLOP/s")
ax.set_title(results["device"])
ax.legend(fontsize="small", bbox_to_anchor=(1.02, 1), loc="upper left")
plt.show()

assert measured["08_warp_tiles"][4096] > measured["02_coalesced"][2048] > measured["01_naive"][1024]

# %% [markdown]
# ### Two roofs
#
# Two limits bound the speed of a kernel, its *roofs*. The first is the speed of the multipliers: multiprocessors × 128
# lanes × 2 operations × clock. The second is the bandwidth of memory, times the operations that the kernel does for each
# byte it asks for. A tile of x × y elements of C asks for 4 (x + y) bytes for 2 x y operations, so large tiles are far to
# the right in the plot.
#
# The bandwidth is the rate of the fastest reduction that was measured on the same GPU (notebook 13).

# %%
h200 = counting.properties
lanes, gigahertz = 128, 1.98  # of a multiprocessor of compute capability 9.0, and of the measured H200
peak = h200.multiprocessor_count * lanes * 2 * gigahertz / 1e3  # TFLOP/s
sums = course.results("reductions")["rows"]
bandwidth = max(4 * size / microseconds / 1e6 for _, size, microseconds in sums if size >= 1 << 28)  # TB/s

intensity = {rung: 2 * m * n * k / (reads[rung][0] * a.nbytes + reads[rung][1] * b.nbytes) for rung in rungs}
best = {rung: max(measured[rung].values()) for rung in rungs}

fig, ax = plt.subplots(figsize=(8, 4))
x = np.geomspace(0.1, 100, 100)
ax.plot(x, np.minimum(peak, x * bandwidth), color=plt.rcParams["text.color"], lw=1)
ax.annotate(f"{peak:.1f} TFLOP/s", (20, peak * 1.15))
ax.annotate(f"{bandwidth:.2f} TB/s", (1.2, bandwidth * 0.8))
for rung in rungs:
    ax.plot(intensity[rung], best[rung], "o", label=rung)
ax.set_xscale("log")
ax.set_yscale("log")
ax.set_ylim(0.4, 150)
ax.set_xlabel("operations for each byte asked of global memory")
ax.set_ylabel("TFLOP/s, at the best n measured")
ax.legend(fontsize="small", loc="lower right")
plt.show()

print("                      operations a byte  TFLOP/s  of the memory's roof  of the multipliers' roof")
for rung in rungs:
    of_memory, of_lanes = best[rung] / (intensity[rung] * bandwidth), best[rung] / peak
    print(f"{rung:20s}  {intensity[rung]:17.2f}  {best[rung]:7.1f}  {of_memory:20.2f}  {of_lanes:24.2f}")

assert best["01_naive"] < intensity["01_naive"] * bandwidth < best["02_coalesced"]
assert all(best[rung] < peak for rung in rungs)

# %% [markdown]
# Rung 02 is *above* the roof of memory, because caches deliver most of its data. Rung 01 is below it, because it uses
# only an eighth of most of its sectors. From rung 03 on, memory is not the limit any more. Now shared memory is: it
# serves one wavefront per cycle to lanes that could do four multiply-adds of a warp. This is a third roof.

# %%
print("                      roof of shared memory  measured, TFLOP/s")
for rung in rungs[2:]:
    roof = peak * min(1, 0.25 / wavefronts[rung])
    print(f"{rung:20s}  {roof:21.1f}  {best[rung]:17.1f}")

assert 0.8 < best["03_shared_tiles"] / (peak / 8) < 1


# %% [markdown]
# Rung 03 is at this roof. So is rung 04, and even a little above: a GPU's compiler may load two neighbours of A at once
# where the host's compiler does not, so the count is too high. From rung 05 on there are few enough wavefronts; the
# remaining time goes to instructions that do not multiply, and to waiting.
#
# ### The time from counts
#
# On `host:0`, the time of a kernel follows from its instructions and accesses: `explain_time` counts them for some
# blocks, and finds the part of the device that bounds the kernel (docs/kernel-time.md). Does it put the rungs into the
# order of the H200? Here are both at n = 512.

# %%
size = 512
square = rng.random((size, size), dtype=np.float32)
product = square @ square
of_size = np.array([(size,) * 6 + (0,) * 4 + (1, 1)], Problem)[0]
explained = {}
with counting:
    d_square, d_product = cs.to_device(square), cs.empty((size, size), np.float32)
    for rung, side, block in (
        ("01_naive", 16, (16, 16)),
        ("02_coalesced", 16, (16, 16)),
        ("03_shared_tiles", 16, (16, 16)),
        ("04_thread_tile_1d", 64, 512),
        ("05_thread_tile_2d", 128, 256),
        ("06_vectorised", 128, 256),
    ):
        time = kernels[rung].explain_time(
            d_square, d_square, d_product, of_size, grid=(size // side) ** 2, block=block
        )
        there = 2 * size**3 / measured[rung][size] / 1e6
        print(
            f"{rung:20s} {1e6 * time.seconds:7.1f} us simulated, bound by {time.bound:13s}"
            f" {there:7.1f} us measured on an H200"
        )
        explained[rung] = time, there
        assert np.allclose(d_product.to_host(), product, rtol=1e-4)
        assert 0.5 < 1e6 * time.seconds / there < 2

for time, there in explained.values():  # every pair with measured times that differ clearly
    for other, other_there in explained.values():
        assert time.seconds > other.seconds or there < 1.2 * other_there
print()
print(explained["05_thread_tile_2d"][0])

# %% [markdown]
# The order is the same, but for pairs with nearly equal times. n = 512 is small: tiles of 128 × 128 give 16 blocks to the
# 132 multiprocessors of an H200, so rungs 05 and 06 are slower here than rung 03. The table says so: their bound is the
# *latency* of one block, and the busiest multiprocessor has more than 8 times the mean work.
#
# ### On this device
#
# Each rung is also a variant of `cs.matmul`. The next cell measures two of them on the current device. On `host:0` the
# time is the one that was measured on an H200, by a formula: see docs/simulation.md.

# %%
d_square, small = cs.to_device(square), cs.to_device(square[:128, :128].copy())
d_product = cs.empty((size, size), np.float32)
print("simulated" if device.simulated else "measured", "on", device)
for rung in ("02_coalesced", "08_warp_tiles"):
    cs.matmul(small, small, variant=rung[3:])  # loads the kernel
    time = course.milliseconds(lambda: cs.matmul(d_square, d_square, d_product, variant=rung[3:]))  # noqa: B023
    there = 2 * size**3 / measured[rung][size] / 1e6
    print(f"{rung:20s} {1e3 * time:7.1f} us here, {there:7.1f} us measured on an H200")
    assert np.allclose(d_product.to_host(), product, rtol=1e-4)

# %% [markdown]
# Rung 08 has smaller tiles for such sizes. `cs.matmul` chooses a rung, and `explain` gives the reason:

# %%
for shape in ((64, 64), (512, 512), (4096, 4096)):
    operand = np.empty(shape, np.float32)
    print(shape, cs.matmul.explain(operand, operand), sep=": ")

names = [variant.name for variant in cs.matmul.variants()]
print(names)
assert all(rung[3:] in names for rung in rungs)

# %% [markdown]
# ## How exact?
#
# The error of each element is the difference to a product in double precision, relative to |A| |B|. Float32 has a
# fraction of 24 bits, so it rounds by 6e-8 at most; tf32 and half precision have 11 bits. They lose accuracy when the
# factors are rounded; the sums are float32 in all cases.

# %%
side = 128
left, right = (rng.standard_normal((side, side)).astype(np.float32) for _ in range(2))
exact = left.astype(np.float64) @ right.astype(np.float64)
scale = np.abs(left).astype(np.float64) @ np.abs(right)


def error(product):
    return (np.abs(product.astype(np.float64) - exact) / scale).max()


into = np.empty((side, side), np.float32)
halves = left.astype(np.float16), right.astype(np.float16)
errors = {
    "NumPy, float32": error(left @ right),
    "auto": error(cs.matmul(left, right)),
    "warp_tiles": error(cs.matmul(left, right, variant="warp_tiles")),
    "tensor_cores, tf32": error(cs.matmul(left, right, variant="tensor_cores")),
    "tensor_cores, half": error(cs.matmul(*halves, into, variant="tensor_cores")),
}
for name, value in errors.items():
    print(f"{name:20s} {value:.1e}")

assert max(errors[name] for name in ("auto", "warp_tiles")) < 1e-6
assert 1e-5 < errors["tensor_cores, tf32"] < 1e-3

# %% [markdown]
# So `auto` never rounds float32 to tf32. You can ask for it by name, `variant="tensor_cores"`.
#
# ## Exercise: a tile of your own
#
# With tiles of `SIDE` × `SIDE` elements, each element of A is read n / SIDE times. Write the kernel: the block computes
# one tile of C, in a loop over tiles of A and B that its threads load into shared memory together. All sizes are
# multiples of `SIDE`. The check counts the loads.

# %%
HEADER = "#define SIDE 16\n"


@course.exercise
def check_tiles(source):
    height, width, depth = 64, 96, 48
    left, right = rng.random((height, depth), np.float32), rng.random((depth, width), np.float32)
    with counting:
        kernel = cs.Module(HEADER + source).tiles
        A, B, C = cs.to_device(left), cs.to_device(right), cs.zeros((height, width))
        counts = kernel.count(A, B, C, height, width, depth, grid=(width // 16, height // 16), block=(16, 16))
        assert np.allclose(C.to_host(), left @ right, rtol=1e-4), "the product is wrong"
    reads = counts.by_argument["A"].loads / left.size, counts.by_argument["B"].loads / right.size
    print(f"each element of A is read {reads[0]:g} times, and of B {reads[1]:g} times")
    assert reads == (width / 16, height / 16), f"tiles read them {width / 16:g} and {height / 16:g} times"
    assert counts.bank_conflicts == 0, f"there are {counts.bank_conflicts} bank conflicts"


# %%
source = None
# source = """
# __global__ void tiles(const float* A, const float* B, float* C, int height, int width, int depth) {
#     __shared__ float a[SIDE][SIDE], b[SIDE][SIDE];
#     ...
# }
# """

solved = check_tiles(source)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
solved = check_tiles("""
__global__ void tiles(const float* A, const float* B, float* C, int height, int width, int depth) {
    __shared__ float a[SIDE][SIDE], b[SIDE][SIDE];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE + x;
    float sum = 0;
    for (int start = 0; start < depth; start += SIDE) {
        a[y][x] = A[row * depth + start + x];
        b[y][x] = B[(start + y) * width + column];
        __syncthreads();  // both tiles are there
        for (int i = 0; i < SIDE; ++i) sum += a[y][i] * b[i][x];
        __syncthreads();  // all threads have used them
    }
    C[row * width + column] = sum;
}
""")
assert solved

# %% [markdown]
# ## To try
#
# 1. Make the tile of rung 03 8 × 8 or 32 × 32 (`side`, and the block): how often is A read? How many wavefronts does a
#    multiply-add take?
# 2. Keep the tile of A in rung 03 transposed: store to `a_tile[x][y]`, and read `a_tile[i][y]`. How many bank conflicts
#    are there, and how many does one more column save?
# 3. Give rung 02 blocks of 32 × 8 threads (`corner_of_block<8, 32>`). Does a request for A take fewer sectors?
# 4. Take m = 100, n = 200, k = 50, and grids that cover C. Is A still read n / 16 times by rung 03?
# 5. On a GPU, run Nsight Compute over rung 02, and compare its sectors with the counts in this notebook.
