# %% [markdown]
# # Patterns of memory access
#
# Additions, walks, transposes and averages compute almost nothing. Three things decide their time: the addresses that the
# lanes of a warp read together, the banks of shared memory that they use, and copies that run while a kernel computes.
# This notebook goes through kernels of CUDA's documents: [vec_add](../cuda_kernels/vec_add/README.md),
# [memory_walks](../cuda_kernels/memory_walks/README.md), [transpose](../cuda_kernels/transpose/README.md) and
# [averaging](../cuda_kernels/averaging/README.md).
#
# A real GPU does not count accesses, so the cells that count use `host:0`, the simulated device. The other cells use the
# current device: a GPU if you have one. The notebook reads the kernels from the repository, so run it inside of the
# repository. Run the cells in order.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import cuscope as cs

device = cs.current_device()
counting = cs.Device("host:0")
root = next((p for p in (Path.cwd(), *Path.cwd().parents) if (p / "cuda_kernels").is_dir()), None)
assert root is not None, "run this inside the repository: it reads cuda_kernels/"
rng = np.random.default_rng(5)
print(device, "| counted on", counting)


def show(file, start, end):
    """Print a file's source from the line that contains `start` to the next one that contains `end`."""
    lines = (root / "cuda_kernels" / f"{file}.cu").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if start in line)
    last = next(i for i, line in enumerate(lines) if end in line and i > first)
    print("\n".join(lines[first : last + 1]))


def kernels_of(file, *types):
    """The kernel of a file, in an instance for each of these types."""
    path = root / "cuda_kernels" / f"{file}.cu"
    source = path.read_text().partition("\ntemplate __global__")[0]
    names = [f"{path.stem[3:]}<{element}>" for element in types]
    module = cs.Module(source, name_expressions=names, include_paths=[path.parent], file_name=path.name)
    return [module[name] for name in names]


# %% [markdown]
# ## Neighbours: adding two arrays
#
# Each addition reads 8 bytes and writes 4. Thread i takes element i, so a warp reads 32 neighbouring floats. This is one
# *request* of 4 *sectors*: memory is read in sectors, pieces of 32 bytes. The third kernel moves 16 bytes with one
# instruction: it needs as many sectors, but a quarter of the requests.

# %%
show("vec_add/01_vec_add", "const long long i", "c[i] =")
print()
n = 10_000
a, b = rng.random((2, n), dtype=np.float32)
added = {}
with counting:
    d_a, d_b = cs.to_device(a), cs.to_device(b)
    for rung, blocks in (("01_vec_add", -(-n // 256)), ("02_grid_stride", 8), ("03_vectorised", 8)):
        d_c = cs.full(n, np.nan, np.float32)
        [add] = kernels_of(f"vec_add/{rung}", "float")
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
    print(f"stride {stride:2d}: {32 * 4 / (32 * count):7.1%} of what is moved is used")
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
show("memory_walks/01_rows", "T* row", "row[x]")
print()
show("memory_walks/02_columns", "T* row", "row[x]")
print()
height, width = 96, 100
matrix = rng.random((height, width), dtype=np.float32)
walked = {}
with counting:
    [rows], [columns] = (kernels_of(f"memory_walks/{rung}", "float") for rung in ("01_rows", "02_columns"))
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
show("memory_walks/03_slices", "char* slice", "row[x]")
box = rng.random((5, 20, 100), dtype=np.float32)
with counting:
    d_box = cs.empty_pitched(box.shape)
    d_box.copy_from(box)
    part = d_box[1:4, 8:20]  # three slices, twelve rows of each
    [walk] = kernels_of("memory_walks/03_slices", "float")
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
show("transpose/01_straight", "const long long row =", "static_cast<T*>(out)")
print()
tile = (root / "cuda_kernels" / "transpose" / "tile.cuh").read_text()
print(tile[tile.index("        for (int k") : tile.index("        __syncthreads();  // the next")])
matrix = rng.random((256, 256), dtype=np.float32)
types = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
turns, turned = {}, {}
with counting:
    d_in = cs.to_device(matrix)
    for rung in ("01_straight", "02_tiled", "03_padded"):
        d_out = cs.zeros((256, 256), np.float32)
        turns[rung] = dict(zip(types, kernels_of(f"transpose/{rung}", *types.values()), strict=True))
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
# ## Averages on several streams
#
# Here the copies matter more than the kernel. The data is larger than you want to keep on the device, so each chunk of
# two arrays is copied in, averaged, and copied out. The chunks are independent, so one chunk can be copied while another
# is computed, and the kernel stays as it is.

# %%
show("averaging/01_averaging", "__device__ inline", "c[i] =")

chunks, chunk = 8, 1 << 19


def smoothed(x):
    at = np.arange(x.shape[1])
    total = x.astype(np.int64) + x[:, (at + 1) % 256] + x[:, (at + 2) % 256]
    return total.astype(np.float32) / np.float32(3)


source = (root / "cuda_kernels" / "averaging" / "01_averaging.cu").read_text()
values = rng.integers(0, 1 << 24, (2, chunks, chunk), np.int32)
averages = np.trunc((smoothed(values[0]) + smoothed(values[1])) / 2).astype(np.int32)


def run(streams, make=cs.pinned_empty, breadth=1, duration=None):
    """All chunks, `breadth` of them side by side: the copies in of each, then the kernels, then the copies out.

    Returns how long it took, in milliseconds.
    """
    averaging = cs.Module(source).averaging
    host_a, host_b, host_c = (make((chunks, chunk), np.int32) for _ in range(3))
    host_a[:], host_b[:] = values
    host_c[:] = -1
    buffers = [[cs.empty(chunk, np.int32, stream=stream) for _ in range(3)] for stream in streams]

    def copy_in(i, a, b, _):
        a.copy_from(host_a[i])
        b.copy_from(host_b[i])

    def compute(_, a, b, c):
        averaging.launch(a, b, c, chunk, grid=chunk // 256, block=256, duration=duration)

    def copy_out(i, _a, _b, c):
        c.copy_to(host_c[i])

    with streams[0]:
        compute(0, *buffers[0])  # once before, because the first launch loads the kernel
    for stream in streams:
        stream.synchronize()
    began = cs.clock()
    for first in range(0, chunks, breadth):
        for step in (copy_in, compute, copy_out):
            for i in range(first, min(first + breadth, chunks)):
                number = i % len(streams)
                with streams[number]:
                    step(i, *buffers[number])
    for stream in streams:
        stream.synchronize()
    ended = cs.clock()
    assert np.abs(host_c - averages).max() <= 1
    return (ended - began) * 1000


ways = {
    "one stream, pageable memory": (1, np.empty),
    "one stream, page-locked memory": (1, cs.pinned_empty),
    "two streams, page-locked memory": (2, cs.pinned_empty),
    "three streams, page-locked memory": (3, cs.pinned_empty),
}
took = {}
for title, (count, make) in ways.items():
    took[title] = run([cs.Stream() for _ in range(count)], make)
    print(f"{title:34s} {took[title]:7.3f} ms")
assert took["two streams, page-locked memory"] < took["one stream, page-locked memory"]
assert took["one stream, page-locked memory"] < took["one stream, pageable memory"]


# %% [markdown]
# Copies of pageable memory go through a buffer of the driver, and the host waits for them. Page-locked memory is read by
# the copy engine itself. With two streams, one chunk is copied in while another is copied out.
#
# A trace shows how the engines are shared. It is taken on a simulated device here, so that it looks the same on every
# machine.


# %%
def traced(count):
    with cs.add_host_device("h200"), cs.trace() as trace:
        run([cs.Stream() for _ in range(count)])
    return trace


fig, axes = plt.subplots(3, 1, figsize=(8, 6), layout="constrained")
traces = [traced(count) for count in (1, 2, 3)]
for ax, trace in zip(axes, traces, strict=True):
    trace.plot(ax, show="engines")
plt.show()

finish = cs.model("h200").copy_finish_ns  # the end of a copy, in which its engine begins the next one
for trace in traces:
    print(f"copies in hide {trace.overlap('copy to host', 'copy to device'):4.0%} of the copies out")
    for engine in ("copy to device", "copy to host"):
        copies = trace.spans[trace.spans["engine"] == engine]
        assert (copies["start"][1:] >= copies["end"][:-1] - finish).all()  # one after the other
assert traces[0].overlap("copy to host", "copy to device") == 0
assert traces[1].overlap("copy to host", "copy to device") > 0.5

# %% [markdown]
# An engine moves the bytes of one copy at a time. The end of a copy takes a few microseconds, in which the engine begins
# a copy of another stream: the picture puts such a neighbour into a second lane. Most of the time goes to the copies in,
# so more than two streams can overlap little more. The kernel takes little time: the device's own memory is many times
# faster than the bus to it. The notebook [07_streams](07_streams.ipynb) shows the order of the steps one by one.
#
# ### Older devices, and the order of issue
#
# CUDA's documents warn of devices up to compute capability 3.0. There, work that waits for a kernel, such as a copy out
# behind it in its stream, also waits for the kernels that were issued before it in *other* streams. So the order of issue
# matters: either chunk by chunk, or the copies of two chunks, their kernels, and their copies out. A model of such a
# device is part of the package ([docs/simulation.md](../docs/simulation.md)). Kernels take 0.5 ms here, as if they
# computed more.

# %%
print("milliseconds: one stream, two streams chunk by chunk, two streams two chunks at a time")
for model in ("h200", "fermi"):
    with cs.add_host_device(model):
        single, by_chunk, by_two = (
            run([cs.Stream() for _ in range(count)], breadth=breadth, duration=5e-4)
            for count, breadth in ((1, 1), (2, 1), (2, 2))
        )
    print(f"{model:6s} {single:9.3f} {by_chunk:9.3f} {by_two:9.3f}")
    assert by_chunk < single
    assert by_two > 1.2 * by_chunk if model == "fermi" else by_two < 1.01 * by_chunk

# %% [markdown]
# ## To try
#
# 1. Count `strided` with lanes in reverse order, and with all lanes at one address. How many sectors does each take?
# 2. Which widths of a dense matrix need no pitch? Count `columns` for widths of 96, 100 and 104.
# 3. Make the tile's rows 34 or 36 elements long. How many wavefronts does a request take for floats, and for doubles?
# 4. Transpose a matrix of 1000 × 3 elements, straight and tiled: which one touches fewer sectors?
# 5. On a GPU, find a size of a chunk at which two streams take twice as long as one. Why does this happen?
