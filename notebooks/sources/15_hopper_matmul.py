# %% [markdown]
# # Hopper's matrix product
#
# The notebook [14_matmul](14_matmul.ipynb) ended with tensor cores: one instruction of a warp, `mma`, multiplies 16 × 16
# by 16 × 8 numbers. The warp is busy with feeding it: `ldmatrix` has to bring the factors from shared memory to
# registers, for every few products. Hopper (compute capability 9.0) has another instruction, `wgmma`: four warps
# together, a *warpgroup*, multiply 64 × 16 by 16 × N numbers, and the tensor cores read both factors from shared memory
# *by themselves*.
#
# This notebook takes the instruction apart, and then runs the package's kernel, `matmul/10_wgmma`. The simulated device
# executes the same instructions, so you need no GPU. It computes their results, but it does not model the speed of tensor
# cores: every time in this notebook was measured, on an H200 or an H100. Run the cells in order.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cuscope as cs
from cuscope import course

course.follow_theme()  # figures in the colours of the page
device = cs.current_device()
# Also where there is a GPU: its compiler would need the option for sm_90a.
hopper = cs.add_host_device("h200")
rng = np.random.default_rng(6)
print(device, "| the kernels of this notebook run on", hopper)

# %% [markdown]
# ## Why larger products
#
# A product of x × k by k × y numbers reads (x + y) k numbers for x y k multiply-adds: large tiles read less for each
# multiply-add. A warp of rung 09 keeps 64 × 64 sums in its registers. A warpgroup of `wgmma` keeps 64 × 256 sums, in the
# registers of four warps.

# %%
products = {"one mma": (16, 8), "a warp of rung 09": (64, 64), "one wgmma": (64, 256)}
each = {}
for name, (x, y) in products.items():
    each[name] = 2 * (x + y) / (x * y)
    print(f"{name:18s} {x:3d} x {y:3d}: {each[name]:.3f} bytes of shared memory for a multiply-add of halves")

fig, ax = plt.subplots(figsize=(6, 1.8))
ax.barh(list(each), list(each.values()))
ax.set_xlabel("bytes of shared memory for a multiply-add")
plt.show()
assert each["one mma"] > 2 * each["a warp of rung 09"] > 2 * each["one wgmma"]

# %% [markdown]
# ## A matrix in shared memory
#
# The instruction gets two *descriptors*, numbers of 64 bits that say where a factor lies. A row has 128 bytes: 64 halves,
# in eight chunks of 16 bytes. The tensor cores read the same chunk of eight rows at once. If all rows were alike, these
# eight chunks would lie in the same four banks. So the chunks of a row are *permuted*: chunk x of row r is at x ^ (r %
# 8).

# %%
row, chunk = np.mgrid[:8, :8]
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for ax, title, at in zip(axes, ("rows alike", "permuted"), (chunk, chunk ^ row % 8), strict=True):
    ax.imshow(at, cmap="tab10", vmax=9)
    for r, x in np.ndindex(8, 8):
        ax.text(x, r, at[r, x], ha="center", va="center", color="white", fontweight="bold")
    ax.add_patch(plt.Rectangle((2.5, -0.5), 1, 8, fill=False, edgecolor="red", lw=2))
    ax.set_title(
        f"{title}: chunk 3 lies in {len(set(at[:, 3].tolist()))} group(s) of four banks", fontsize="medium"
    )
    ax.set_xlabel("chunk of the matrix")
    ax.set_ylabel("row")
plt.show()

assert len(set(chunk[:, 3].tolist())) == 1
assert all(len(set((chunk ^ row % 8)[:, x].tolist())) == 8 for x in range(8))

# %% [markdown]
# `matrix_at` makes a descriptor from an address and two distances: from 8 rows to the next 8, and from 64 columns to the
# next 64.

# %%
course.show("matmul/wgmma.cuh", "unsigned long long matrix_at", "}")

# %% [markdown]
# ## One slab, step by step
#
# The next kernel multiplies a slab: 64 × 64 numbers of A by 64 × 128 numbers of B. Shared memory is filled with two
# images that NumPy has permuted. Then there are five steps:
#
# 1. The tensor cores read shared memory by another way (the *async proxy*) than the threads that wrote it. A fence and a
#    barrier make the writes visible to them.
# 2. `wgmma.fence`: the registers of the sums are ready.
# 3. Four products, each for 16 steps of k. The instructions only *start* here.
# 4. `wgmma.commit_group`: these products are one group.
# 5. `wgmma.wait_group`: the group has ended. Before that, no thread may read the sums.

# %%
SLAB = """
#include "wgmma.cuh"
__global__ void slab(const uint4* images, float* c) {
    __shared__ __align__(1024) char shared[3 * 8192];  // 64 rows of A, and two panels of 64 rows of B
    for (int i = threadIdx.x; i < 3 * 512; i += 128) reinterpret_cast<uint4*>(shared)[i] = images[i];
    show_to_tensor_cores();
    __syncthreads();

    float sums[64] = {};
    fence_warpgroup();
    for (int i = 0; i < 4; ++i)
        multiply_add(__half(), sums, matrix_at(shared + i * 32, 16, 1024),
                     matrix_at(shared + 8192 + i * 2048, 8192, 1024));
    commit_products();
    wait_for_products<0>();
    for (int i = 0; i < 64; ++i) c[threadIdx.x * 64 + i] = sums[i];
}
"""


def permuted(panel):
    """64 rows of 64 halves, with the chunks of each row where the tensor cores look for them."""
    chunks = panel.reshape(64, 8, 8)
    image = np.empty_like(chunks)
    for r, x in np.ndindex(64, 8):
        image[r, x ^ r % 8] = chunks[r, x]
    return image


with hopper:
    slab = cs.Module(SLAB, include_paths=[course.kernel_sources("matmul")]).slab
    a, b = rng.random((64, 64)).astype(np.float16), rng.random((64, 128)).astype(np.float16)
    images = np.stack([permuted(a), permuted(b[:, :64]), permuted(b[:, 64:])])
    of_threads = cs.zeros((128, 64))
    slab[1, 128](cs.to_device(images.view(np.uint32).reshape(-1, 4)), of_threads)
    sums = of_threads.to_host()
print("sums of thread 0:", sums[0, :4], "...")

# %% [markdown]
# Each thread has 64 of the 64 × 128 sums. With g = lane / 4 and t = lane % 4, a thread has columns 8 i + 2 t and
# 8 i + 2 t + 1 of the rows g and g + 8 of its warp's 16 rows.

# %%
thread, number = np.mgrid[:128, :64]
warp, lane = thread // 32, thread % 32
rows = 16 * warp + lane // 4 + 8 * (number % 4 // 2)
columns = 8 * (number // 4) + 2 * (lane % 4) + number % 2
c, owner = np.full((64, 128), np.nan, np.float32), np.zeros((64, 128), int)
c[rows, columns] = sums
owner[rows, columns] = thread

fig, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
axes[0].imshow(owner // 32, cmap="viridis")
axes[0].set_title("the warp that has an element of C", fontsize="medium")
axes[1].imshow(owner[:16, :16] // 4 % 2 + owner[:16, :16] % 4 * 2, cmap="tab10", vmax=9)
for y, x in np.ndindex(16, 16):
    axes[1].text(x, y, owner[y, x], ha="center", va="center", color="white", fontsize=6)
axes[1].set_title("the thread, for the first 16 rows and columns", fontsize="medium")
plt.show()

exact = a.astype(np.float64) @ b.astype(np.float64)
print("largest difference from NumPy:", np.abs(c - exact).max())
assert np.allclose(c, exact, rtol=1e-5)

# %% [markdown]
# Without the permutation the result is wrong: the tensor cores look for the chunks at other places.

# %%
with hopper:
    plain = np.stack([a, b[:, :64], b[:, 64:]])
    slab[1, 128](cs.to_device(plain.view(np.uint32).reshape(-1, 4)), of_threads)
    wrong = np.empty_like(c)
    wrong[rows, columns] = of_threads.to_host()
print("elements that differ:", f"{np.mean(~np.isclose(wrong, exact, rtol=1e-3)):.0%}")
assert not np.allclose(wrong, exact, rtol=1e-2)

# %% [markdown]
# ## The whole kernel
#
# `wgmma` only starts the products, and `cp.async` only starts copies. So the kernel has several slabs under way: while
# the tensor cores multiply one, the threads copy the slab after the next one. A block has two warpgroups, each with 64
# rows of C. In the main loop, each step waits for *its* copies, starts its products, starts a copy, and waits for the
# products of the step *before*, whose slab is overwritten next.

# %%
course.show("matmul/10_wgmma.cu", "for (int left = p.k", "wait_for_products<1>")

# %% [markdown]
# The next cell runs the kernel, with tiles of 128 × 128 and three slabs, for sizes that are no multiples of the tile. It
# needs more than 48 KiB of shared memory, so it has to opt in (`max_dynamic_shared`).

# %%
distances = [f"{x}_{of}" for of in ("row", "batch") for x in "abc"] + ["k_batch", "a_column", "c_column"]
Problem = np.dtype([(x, np.int32) for x in "mnk"] + [(x, np.int64) for x in distances], align=True)
m, n, k = 136, 200, 88
a, b = rng.random((m, k)).astype(np.float16), rng.random((k, n)).astype(np.float16)
tile, slabs, slab_bytes = 128, 3, 64 * 2 * (128 + 128)
with hopper:
    wgmma = course.kernel("matmul/10_wgmma", "wgmma<__half, float, 128, 3>")
    wgmma.max_dynamic_shared = slabs * slab_bytes
    c = cs.full((m, n), np.nan, np.float32)
    problem = np.array([(m, n, k, k, n, n, 0, 0, 0, 0, 1, 1)], Problem)[0]
    blocks = -(-m // tile) * -(-n // tile)
    wgmma.launch(
        cs.to_device(a), cs.to_device(b), c, problem, grid=blocks, block=256, shared=slabs * slab_bytes
    )
    product = c.to_host()
exact = a.astype(np.float64) @ b.astype(np.float64)
print(f"{blocks} blocks with {slabs * slab_bytes} bytes of shared memory each")
print("largest difference from NumPy:", np.abs(product - exact).max())

assert np.allclose(product, exact, rtol=1e-5)

# %% [markdown]
# ## How much faster?
#
# These are products of halves with n = 4096, measured on an H200. The results with `wgmma` and `tma` are of
# later runs than the others, so each is compared with cuBLAS in the run of its own.

# %%
results = course.results("matmul")
best = {}  # TFLOP/s, and the share of the peer
for size, name, rate, share in results["rows"]["__half"]:
    kind = name.partition("<")[0]
    if size == 4096 and rate > best.get(kind, (0, 0))[0]:
        best[kind] = rate, share
fig, ax = plt.subplots(figsize=(6, 1.8))
ax.barh(list(best), [rate for rate, _ in best.values()])
ax.set_xlabel(f"TFLOP/s, measured on an {results['device']}")
plt.show()
for kind, (rate, share) in best.items():
    print(f"{kind:15s} {rate:6.1f} TFLOP/s, {share:4.0%} of cuBLAS")

assert best["wgmma"][0] > 1.5 * best["tensor_cores"][0]

# %% [markdown]
# The next rung, `matmul/11_tma`, lets the *tensor memory accelerator* copy whole tiles, so that no thread computes
# addresses. `cs.matmul` uses it for large products of halves on a GPU of compute capability 9.0. `explain` says so:

# %%
half = np.empty((4096, 4096), np.float16)
print(cs.matmul.explain(half, half))
if device.compute_capability == (9, 0) and not device.simulated:
    d_half, d_product = cs.zeros((4096, 4096), np.float16), cs.empty((4096, 4096), np.float32)
    for _ in range(2):
        time = course.milliseconds(lambda: cs.matmul(d_half, d_half, d_product, variant="wgmma"))
    print(f"measured here, with wgmma: {2 * 4096**3 / time / 1e9:.0f} TFLOP/s")

# %% [markdown]
# ## Floats on tensor cores, without losing digits
#
# Tensor cores take halves, bfloat16, tf32, fp8 and bytes, but no floats: as tf32, a float keeps 10 bits of its fraction
# of 23. Rung 14, `matmul/14_split_floats`, loses nothing: a float is the *sum of three bfloat16*. The first is the number,
# rounded to 8 significant bits; the second is the rest, rounded again; the third is the rest of that.


# %%
def bfloat16(x):
    """Rounds floats to bfloat16, which are the upper 16 bits of a float: to the nearest, ties to even."""
    bits = x.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + (bits >> 16 & 1)
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


def parts(x):
    first = bfloat16(x)
    second = bfloat16(x - first)
    return [first, second, bfloat16(x - first - second)]


n = 128
a, b = rng.standard_normal((2, n, n)).astype(np.float32)
for x, *of_x in zip(a[0, :4], *(part[0, :4] for part in parts(a)), strict=True):
    print(f"{x:+.9f} = " + " ".join(f"{part:+.9f}" for part in of_x))
assert all(np.array_equal(np.sum(parts(x), axis=0, dtype=np.float64), x) for x in (a, b))

# %% [markdown]
# So a product of two floats is a sum of nine products of bfloat16. The next cell adds them one after another, the largest
# first, with exact sums. After six, the error is far below the last bit of a float, so the last three products do not
# matter. The dashed line is the error of float sums, in the order in which the processor adds them.

# %%
exact = a.astype(np.float64) @ b.astype(np.float64)
magnitudes = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)


def error(product):
    return (np.abs(product - exact) / magnitudes).max()


of_a, of_b = ([part.astype(np.float64) for part in parts(x)] for x in (a, b))
pairs = sorted(np.ndindex(3, 3), key=sum)
total, errors = np.zeros((n, n)), []
for i, j in pairs:
    total += of_a[i] @ of_b[j]
    errors.append(error(total))

fig, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
ax.semilogy(range(1, 10), np.maximum(errors, 2.0**-52), "o-")
ax.axhline(error(a @ b), ls="--", label="sums of floats")
ax.axhline(2.0**-24, ls=":", label="half of a float's last bit")
ax.set_xlabel("products of bfloat16")
ax.set_ylabel("largest error")
ax.legend()
plt.show()
assert errors[0] > 2**-12
assert errors[5] < 2**-23

# %% [markdown]
# `cs.matmul` divides the factors on the device, and adds the six products in the order of their size. Here are its results
# on the simulated H200, and its times on an H100, which were measured.

# %%
with hopper:
    product = cs.matmul(a, b, variant="split_floats")
unit = 2.0**-24
print(
    f"largest error: split_floats {error(product) / unit:.2f}, float sums {error(a @ b) / unit:.2f}, in units of 2^-24"
)
assert error(product) < 2 * unit

of_h100 = course.results("matmul", "h100")
rates = {name.partition("<")[0]: rate for size, name, rate, _ in of_h100["rows"]["float"] if size == 4096}
for name, rate in rates.items():
    print(f"{name:15s} {rate:6.1f} TFLOP/s with n = 4096, measured on an {of_h100['device']}")
assert rates["split_floats"] > 2 * rates["cuBLAS (torch)"]

# %% [markdown]
# ## Integers as bytes
#
# Rung 13, `matmul/13_wgmma_planes`, does the same with integers: an `int` is four bytes, byte i worth 256^i. A product has
# 16 pairs of bytes. Those with i + j > 3 are multiples of 2^32 and do not change an `int`, which wraps around: ten remain.

# %%
x, y = rng.integers(-(2**31), 2**31, (2, n, n)).astype(np.int32)
bytes_of_x, bytes_of_y = ([(of >> 8 * i & 255).astype(np.int64) for i in range(4)] for of in (x, y))
ten = [(i, j) for i, j in np.ndindex(4, 4) if i + j <= 3]
sums = sum((bytes_of_x[i] @ bytes_of_y[j]) << 8 * (i + j) for i, j in ten)
with hopper:
    product = cs.matmul(x, y, variant="wgmma_planes")
print(f"{len(ten)} of 16 products; C[0, :3] = {product[0, :3]}")
assert np.array_equal(sums.astype(np.int32), x @ y)
assert np.array_equal(product, x @ y)

# %% [markdown]
# ## Exercise: the place of an element
#
# Write a function `place(row, column)` that gives the byte at which element (row, column) of a panel of 64 × 64 halves
# lies in shared memory. The check puts the numbers there, and lets the tensor cores multiply them by the identity.


# %%
@course.exercise
def check_place(place):
    panel = rng.random((64, 64)).astype(np.float16)
    image = np.zeros(64 * 64, np.float16)
    used = set()
    for r, x in np.ndindex(64, 64):
        byte = place(r, x)
        assert byte % 2 == 0, f"element ({r}, {x}): a half begins at an even byte, and not at {byte}"
        assert 0 <= byte < 8192, f"element ({r}, {x}): {byte} is outside of the panel, which has 8192 bytes"
        used.add(byte)
        image[byte // 2] = panel[r, x]
    assert len(used) == 64 * 64, "two elements have the same place"
    one = permuted(np.eye(64, dtype=np.float16))
    with hopper:
        all_three = np.stack([image.reshape(one.shape), one, one])
        slab[1, 128](cs.to_device(all_three.view(np.uint32).reshape(-1, 4)), of_threads)
        result = np.empty((64, 128), np.float32)
        result[rows, columns] = of_threads.to_host()
    assert np.array_equal(result[:, :64], panel), "the tensor cores have read other numbers"


# %%
place = None  # def place(row, column): ...

solved = check_place(place)

# %% [markdown]
# A solution is in the next cell, which is folded.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def place_of(row, column):
    chunk = column // 8
    return 128 * row + 16 * (chunk ^ row % 8) + 2 * (column % 8)


solved = check_place(place_of)
assert solved

# %% [markdown]
# ## To try
#
# 1. Leave out `show_to_tensor_cores()` in the slab's kernel. The simulated device gives the same result; why may a GPU
#    not?
# 2. Start the products of both panels of B as two groups of `m64n64k16`. Which descriptors do they need?
# 3. How many slabs of 128 × 256 tiles fit into the 227 KiB of shared memory that a block of an H200 can have?
