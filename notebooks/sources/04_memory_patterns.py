# %% [markdown]
# # Patterns of memory access
#
# Additions, walks and transposes compute almost nothing. Two things decide their time: the addresses that the lanes of a
# warp read together, and the banks of shared memory that they use. This notebook goes through the package's kernels for
# them (the folders cuda_kernels/vec_add, memory_walks and transpose).
#
# A real GPU does not count accesses, so this notebook uses `host:0`, the simulated device, on every machine. All times
# and counts in it are simulated. Run the cells in order.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cuscope as cs
from cuscope import course

course.follow_theme()  # figures in the colours of the page
counting = cs.Device("host:0")
rng = np.random.default_rng(5)
print(cs.current_device(), "| counted on", counting)

# %% [markdown]
# ## Neighbours: adding two arrays
#
# Each addition reads 8 bytes and writes 4. Thread i takes element i, so a warp reads 32 neighbouring floats. This is one
# *request* of 4 *sectors*: memory is read in sectors, pieces of 32 bytes. The third kernel moves 16 bytes with one
# instruction: it needs as many sectors, but a quarter of the requests.

# %%
course.show("vec_add/01_vec_add", "const long long i", "c[i] =")
print()
n = 10_000
a, b = rng.random((2, n), dtype=np.float32)
added = {}
with counting:
    d_a, d_b = cs.to_device(a), cs.to_device(b)
    for rung, blocks in (("01_vec_add", -(-n // 256)), ("02_grid_stride", 8), ("03_vectorised", 8)):
        d_c = cs.full(n, np.nan, np.float32)
        add = course.kernel(f"vec_add/{rung}", f"{rung[3:]}<float>")
        added[rung] = counts = add.count(d_a, d_b, d_c, n, grid=blocks, block=256)
        assert np.array_equal(d_c.to_host(), a + b)
        print(
            f"{rung:15s} {blocks:3d} blocks: {counts.global_load_requests:4d} requests to read "
            f"{counts.global_load_sectors} sectors, {counts.global_load_bytes / a.nbytes:g} arrays in all"
        )

assert added["01_vec_add"].global_load_sectors == 2 * a.nbytes / 32
assert added["03_vectorised"].global_load_bytes == 2 * a.nbytes

# %% [markdown]
# ## Strides
#
# Here the lanes do not read neighbouring elements. Each request moves whole sectors, so a stride of 2 wastes half of the
# moved bytes, and a stride of 8 floats or more wastes seven eighths.

# %%
with counting:
    strided = cs.Module("""
__global__ void strided(const float* in, float* out, int stride, int offset) {
    out[threadIdx.x] = in[offset + threadIdx.x * stride];
}
""").strided
    x, y = cs.zeros(2048, np.float32), cs.zeros(32, np.float32)
    strides = [1, 2, 3, 4, 6, 8, 16, 32]
    sectors = [strided.count(x, y, s, 0, grid=1, block=32).global_load_sectors for s in strides]
    offsets = [strided.count(x, y, 1, o, grid=1, block=32).global_load_sectors for o in range(9)]

fig, axes = plt.subplots(1, 2, figsize=(8, 2.5), sharey=True)
axes[0].plot(strides, sectors, "o-")
axes[0].set_xlabel("floats from lane to lane")
axes[0].set_ylabel("sectors of a request")
axes[1].plot(range(9), offsets, "o-")
axes[1].set_xlabel("floats from an aligned address to the first lane")
plt.show()

for stride, count in zip(strides, sectors, strict=True):
    print(f"stride {stride:2d}: {32 * 4 / (32 * count):7.1%} of the moved bytes are used")
assert sectors == [4, 8, 12, 16, 24, 32, 32, 32]
assert offsets == [4, 5, 5, 5, 5, 5, 5, 5, 4]

# %% [markdown]
# A request that does not begin at a multiple of 32 bytes needs a fifth sector. The pitch of an array avoids this.
#
# ## Walks over pitched memory
#
# With `cs.empty_pitched` every row begins at an aligned address; the distance between two rows is `pitch` bytes. In
# kernel 01 a thread walks along a row, so the lanes of a warp read elements of one column. In kernel 02 the lanes read
# neighbours in a row.

# %%
course.show("memory_walks/01_rows", "T* row", "row[x]")
print()
course.show("memory_walks/02_columns", "T* row", "row[x]")
print()
height, width = 96, 100
matrix = rng.random((height, width), dtype=np.float32)
walked = {}
with counting:
    rows = course.kernel("memory_walks/01_rows", "rows<float>")
    columns = course.kernel("memory_walks/02_columns", "columns<float>")
    dense = cs.to_device(matrix)
    pitched, again = cs.empty_pitched(matrix.shape), cs.empty_pitched(matrix.shape)
    pitched.copy_from(matrix)
    again.copy_from(matrix)
    down, across = {"grid": 1, "block": 96}, {"grid": (4, 12), "block": (32, 8)}
    walked["rows, pitched"] = rows.count(again, again.pitch, width, height, 2, **down)
    walked["columns, dense"] = columns.count(dense, 4 * width, width, height, 2, **across)
    walked["columns, pitched"] = columns.count(pitched, pitched.pitch, width, height, 2, **across)
    for array in (dense, pitched, again):
        assert np.array_equal(array.to_host(), 2 * matrix)
print(f"rows of {4 * width} bytes, {pitched.pitch} bytes apart where they are pitched")
for how, counts in walked.items():
    each = counts.global_load_sectors / counts.global_load_requests
    print(f"{how:17s} {each:5.2f} sectors a request, {counts.global_load_sectors} in all")

assert walked["rows, pitched"].global_load_sectors == height * width  # one for each element
assert walked["columns, pitched"].global_load_sectors == height * -(-4 * width // 32)
assert walked["columns, dense"].global_load_sectors > walked["columns, pitched"].global_load_sectors

# %% [markdown]
# 100 floats are twelve and a half sectors: 13 is the least that a row can take.
#
# In an array with three axes, slices are `pitch × rows` bytes apart. The rows are the rows of the whole array, even if
# the walk covers only a part of it.

# %%
course.show("memory_walks/03_slices", "char* slice", "row[x]")
box = rng.random((5, 20, 100), dtype=np.float32)
with counting:
    d_box = cs.empty_pitched(box.shape)
    d_box.copy_from(box)
    part = d_box[1:4, 8:20]  # three slices, twelve rows of each
    walk = course.kernel("memory_walks/03_slices", "slices<float>")
    counts = walk.count(part, d_box.pitch, 20, 100, 12, 3, 10, grid=(4, 2, 3), block=(32, 8))
    walked_box = d_box.to_host()
print()
print(f"{counts.global_loads} loads in {counts.global_load_sectors} sectors")

box[1:4, 8:20] *= 10
assert np.array_equal(walked_box, box)
assert counts.global_load_sectors == 3 * 12 * 13

# %% [markdown]
# ## Transposes
#
# A transpose makes rows into columns. Without a trick, either the reads or the writes of a warp are far apart. So a tile
# goes through shared memory, and both sides access rows of global memory.

# %%
course.show("transpose/01_straight", "const long long row =", "static_cast<T*>(out)")
print()
course.show("transpose/tile.cuh", "for (int k", "__syncthreads();  // the next")
matrix = rng.random((256, 256), dtype=np.float32)
types = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
turns, turned = {}, {}
with counting:
    d_in = cs.to_device(matrix)
    for rung in ("01_straight", "02_tiled", "03_padded"):
        d_out = cs.zeros((256, 256), np.float32)
        instances = course.kernels(f"transpose/{rung}", [f"{rung[3:]}<{name}>" for name in types.values()])
        turns[rung] = dict(zip(types, instances, strict=True))
        turned[rung] = turns[rung][4].count(d_in, d_out, 256, 256, grid=(8, 8), block=(32, 8))
        assert np.array_equal(d_out.to_host(), matrix.T)

print("sectors:       read   written   of shared memory: requests  wavefronts  conflicts")
for rung, counts in turned.items():
    print(
        f"{rung:12s} {counts.global_load_sectors:6d}  {counts.global_store_sectors:8d}"
        f"  {counts.shared_load_requests:26d}  {counts.shared_load_wavefronts:10d}  {counts.bank_conflicts:9d}"
    )
least = matrix.nbytes // 32
assert turned["01_straight"].global_store_sectors == 8 * least
assert turned["02_tiled"].global_store_sectors == turned["02_tiled"].global_load_sectors == least
assert turned["02_tiled"].shared_load_wavefronts == 32 * turned["02_tiled"].shared_load_requests
assert turned["03_padded"].bank_conflicts == 0

# %% [markdown]
# With tiles, there are as few sectors as possible. But now a column of the tile is read from shared memory. Word w lies
# in bank w mod 32. With 32 floats in a row, a column lies in a single bank, which serves the 32 lanes one after the
# other: 32 *wavefronts* for a request, 31 of them *conflicts*. One more float in each row, which is never used, moves
# each row on by one bank.
#
# Nsight Compute reported the same numbers for these kernels on an H200 (`tests/launching/test_counts.py`).

# %%
row, column = np.mgrid[:32, :32]
fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, length in zip(axes, (32, 33), strict=True):
    bank = (row * length + column) % 32
    shown = ax.imshow(bank, cmap="twilight")
    ax.add_patch(plt.Rectangle((4.5, -0.5), 1, 32, fill=False, edgecolor="red"))
    ax.set_title(f"{length} floats a row: banks of a column: {len(set(bank[:, 5]))}", fontsize="medium")
    ax.set_xlabel("column of the tile")
    ax.set_ylabel("row")
fig.colorbar(shown, ax=axes, label="bank")
plt.show()

# %% [markdown]
# Elements of other sizes use the banks in other ways. 8 bytes are two words, and a warp is served in two halves. Smaller
# elements share a word, which all lanes get at once. One more such element in each row moves the row on by less than a
# bank, so in some columns two lanes still conflict.

# %%
print("bytes of an element   wavefronts for a request: tiled  padded")
for size in types:
    values = rng.integers(0, 256, (64, 64 * size), np.uint8).view(f"u{size}")
    with counting:
        d_in, d_out = cs.to_device(values), cs.zeros((64, 64), values.dtype)
        each = []
        for rung in ("02_tiled", "03_padded"):
            counts = turns[rung][size].count(d_in, d_out, 64, 64, grid=(2, 2), block=(32, 8))
            each.append(counts.shared_load_wavefronts / counts.shared_load_requests)
            assert np.array_equal(d_out.to_host(), values.T)
    print(f"{size:19d}  {each[0]:32g}  {each[1]:6g}")
    assert each[1] < each[0]

# %% [markdown]
# ## Exercise: sums of columns
#
# Write a kernel `column_sums(const float* matrix, float* sums, int width, int height)` for a dense matrix. It is launched
# with one thread for each column, in blocks of 64 threads. Every sector of the matrix should be fetched once only.


# %%
@course.exercise
def check_columns(source):
    height, width = 50, 128
    values = rng.random((height, width), dtype=np.float32)
    with counting:
        sums = cs.zeros(width)
        kernel = cs.Module(source).column_sums
        counts = kernel.count(cs.to_device(values), sums, width, height, grid=2, block=64)
        found = sums.to_host()
    assert np.allclose(found, values.sum(axis=0), rtol=1e-4), "the sums are wrong"
    print(f"{counts.global_load_sectors} sectors are fetched; the matrix has {values.nbytes // 32}")
    assert counts.global_load_sectors == values.nbytes // 32, (
        "neighbouring lanes should read neighbouring elements"
    )


# %%
source = None
# source = """
# __global__ void column_sums(const float* matrix, float* sums, int width, int height) {
#     ...
# }
# """

solved = check_columns(source)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
solved = check_columns("""
__global__ void column_sums(const float* matrix, float* sums, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width) return;
    float sum = 0;
    for (int row = 0; row < height; ++row) sum += matrix[row * width + column];
    sums[column] = sum;
}
""")
assert solved

# %% [markdown]
# ## To try
#
# 1. Count `strided` with lanes in reverse order, and with all lanes at one address. How many sectors does each take?
# 2. Which widths of a dense matrix need no pitch? Count `columns` for widths of 96, 100 and 104.
# 3. Make the tile's rows 34 or 36 elements long. How many wavefronts does a request take for floats, and for doubles?
# 4. Transpose a matrix of 1000 × 3 elements, straight and tiled: which one touches fewer sectors?
