# %% [markdown]
# # Rows, planes, pointers and variables
#
# `cs.empty` gives *linear* memory: one element behind the other. This notebook shows the other ways in which CUDA lays
# out device memory: rows that begin at aligned addresses (`cudaMallocPitch`), volumes of such rows (`cudaMalloc3D`),
# nodes that point to each other, and variables of a module. The kernels take CUDA's own types, `cudaPitchedPtr` and
# `cudaExtent`, so that you can use kernels of CUDA's documents as they are.
#
# It runs on a GPU if you have one; otherwise on `host:0`, a simulated device that gives the same answers. Run the cells
# in order. `%load_ext cuscope` adds `%%cuda`, which compiles a cell and makes its kernels names of the notebook.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cuscope as cs
from cuscope import course

course.follow_theme()  # figures in the colours of the page
# %load_ext cuscope
device = cs.current_device()
rng = np.random.default_rng(3)
device

# %% [markdown]
# ## Rows with a pitch
#
# A matrix of 64 × 64 floats has rows of 256 bytes. `cs.empty_pitched` (`cudaMallocPitch`) may put them further apart, so
# that each row begins at an address that suits the memory. The distance is the *pitch*, in bytes. A kernel has to use it:
# the row r begins at the address of the matrix + r × pitch.

# %%
# %%cuda
# __global__ void sum_of_rows(const float* matrix, size_t pitch, int width, int height, float* sums) {
#     int r = blockIdx.x * blockDim.x + threadIdx.x;
#     if (r >= height) return;
#     const float* row = reinterpret_cast<const float*>(reinterpret_cast<const char*>(matrix) + r * pitch);
#     float sum = 0;
#     for (int c = 0; c < width; ++c) sum += row[c];
#     sums[r] = sum;
# }

# %%
height, width = 64, 64
values = rng.random((height, width), dtype=np.float32)
matrix = cs.empty_pitched((height, width))
matrix.copy_from(values)  # cudaMemcpy2D
sums = cs.empty(height)
sum_of_rows[1, 64](matrix, matrix.pitch, width, height, sums)

print(f"a row has {4 * width} bytes, and the next one begins {matrix.pitch} bytes behind it")
assert np.allclose(sums.to_host(), values.sum(axis=1))
assert matrix.pitch >= 4 * width
assert matrix.pitch % device.properties.texture_pitch_alignment == 0
assert all((matrix.pointer + r * matrix.pitch) % 32 == 0 for r in range(height))

# %% [markdown]
# A kernel that takes the rows for dense reads the padding, too. Its sums are wrong, without any error:

# %%
matrix = cs.empty_pitched((height, 60))  # rows of 240 bytes
matrix.copy_from(values[:, :60])
sum_of_rows[1, 64](matrix, 4 * 60, 60, height, sums)  # the pitch should be matrix.pitch
wrong = sums.to_host()
sum_of_rows[1, 64](matrix, matrix.pitch, 60, height, sums)
right = sums.to_host()

print("first row:", wrong[0], right[0], " second row:", wrong[1], right[1])
assert wrong[0] == right[0]
assert wrong[1] != right[1]
assert np.allclose(right, values[:, :60].sum(axis=1))

# %% [markdown]
# ## Volumes, in CUDA's own types
#
# `cudaMalloc3D` takes a `cudaExtent` (width in bytes, height, depth) and gives a `cudaPitchedPtr`: the address, the
# pitch, and the logical width and height. `cs.empty_pitched` with three axes is the same memory. A plane is pitch ×
# height bytes behind the plane before it.

# %%
# %%cuda
# __global__ void scale_box(cudaPitchedPtr box, cudaExtent extent, float by) {
#     size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
#     if (x * sizeof(float) >= extent.width) return;
#     char* plane = static_cast<char*>(box.ptr) + z * box.pitch * extent.height;
#     float* row = reinterpret_cast<float*>(plane + y * box.pitch);
#     row[x] *= by;
# }

# %% [markdown]
# NumPy describes a structure by a dtype with the same fields. Two functions make the arguments of the kernel:

# %%
PitchedPtr = np.dtype([("ptr", "u8"), ("pitch", "u8"), ("xsize", "u8"), ("ysize", "u8")])
Extent = np.dtype([("width", "u8"), ("height", "u8"), ("depth", "u8")])


def pitched_ptr(box):
    _, height, width = box.shape
    return np.array((box.pointer, box.pitch, width * box.itemsize, height), PitchedPtr)[()]


def extent_of(box):
    depth, height, width = box.shape
    return np.array((width * box.itemsize, height, depth), Extent)[()]


values = rng.random((3, 4, 100), dtype=np.float32)
box = cs.empty_pitched(values.shape)
box.copy_from(values)  # cudaMemcpy3D
scale_box[(1, 4, 3), 128](pitched_ptr(box), extent_of(box), 10.0)

print(pitched_ptr(box), extent_of(box))
assert np.array_equal(box.to_host(), 10 * values)
assert box[1].pointer - box.pointer == box.pitch * 4  # the next plane

# %% [markdown]
# The picture shows the memory, in steps of 16 bytes. The empty end of each row is padding, which nothing uses.

# %%
used = np.full((3 * 4, box.pitch // 16), np.nan)
for z, y, x in np.ndindex(box.shape):
    used[z * 4 + y, 4 * x // 16] = z
fig, ax = plt.subplots(figsize=(8, 2.5), layout="constrained")
shown = ax.pcolormesh(used, cmap=plt.get_cmap("viridis", 3), vmin=-0.5, vmax=2.5, edgecolor="face")
ax.invert_yaxis()
ax.set_xlabel(f"address within a row of {box.pitch} bytes, in steps of 16 bytes")
ax.set_ylabel("row, through all planes")
fig.colorbar(shown, label="plane", ticks=range(3))
plt.show()
share = box.nbytes / (box.pitch * 4 * 3)
print(f"{share:.0%} of the memory is used")
assert share == 4 * 100 / box.pitch

# %% [markdown]
# ## Copies of a part
#
# `cudaMemcpy2D` and `cudaMemcpy3D` copy a rectangle or a box out of pitched memory, between any two pitches, in one
# call. In cuscope this is the copy of a view. The trace counts the copies.

# %%
target = np.zeros((2, 2, 100), np.float32)
with cs.trace() as trace:
    box[1:3, 1:3].copy_to(target)

copies = trace.spans[trace.spans["kind"] == "copy"]
print(f"{len(copies)} copy of {copies['bytes'].sum()} bytes")
assert np.array_equal(target, 10 * values[1:3, 1:3])
assert len(copies) == 1

# %% [markdown]
# ## Nodes that point to each other
#
# All linear memory of a device is in one address space. So separate allocations can hold pointers to each other, as in a
# list or a binary tree. Here each node of a search tree is an allocation of its own.

# %%
# %%cuda
# struct Node { int key; Node *left, *right; };
# __global__ void find(const Node* root, const int* keys, int* depths, int n) {
#     int i = blockIdx.x * blockDim.x + threadIdx.x;
#     if (i >= n) return;
#     int depth = 1;
#     for (const Node* at = root; at; at = keys[i] < at->key ? at->left : at->right, ++depth)
#         if (at->key == keys[i]) { depths[i] = depth; return; }
#     depths[i] = -1;  // not in the tree
# }

# %%
Node = np.dtype([("key", "i4"), ("left", "u8"), ("right", "u8")], align=True)
allocations = []  # keeps the nodes alive: the device does not know which memory points to them


def tree(keys):
    """The address of a tree of these sorted keys; 0 for none."""
    if not keys:
        return 0
    middle = len(keys) // 2
    node = np.array([(keys[middle], tree(keys[:middle]), tree(keys[middle + 1 :]))], Node)
    allocations.append(cs.to_device(node))
    return allocations[-1].pointer


keys = sorted(rng.choice(1000, 31, replace=False).tolist())
tree(keys)
root = allocations[-1]
asked = np.array([*keys, -5, 2000], np.int32)
depths = cs.empty(len(asked), np.int32)
find[1, 64](root, cs.to_device(asked), depths, len(asked))
found = depths.to_host()

print("depths of the keys:", found[:-2], " of others:", found[-2:])
assert sorted(found[:-2].tolist()) == [1] + 2 * [2] + 4 * [3] + 8 * [4] + 16 * [5]
assert found[-2:].tolist() == [-1, -1]

# %% [markdown]
# ## Variables of a module
#
# A module can have variables: in constant memory, in device memory, and pointers. `mod.symbol(name, dtype)` is an array
# over a variable (`cudaGetSymbolAddress`, `cudaGetSymbolSize`), and a copy to it is `cudaMemcpyToSymbol`. `%%cuda mod`
# puts the module into a variable.

# %%
# %%cuda mod
# __constant__ float table[256];
# __device__ float factor;
# __device__ float* target;
# __global__ void store(int n) {
#     int i = threadIdx.x;
#     if (i < n) target[i] = factor * table[i];
# }

# %%
data = rng.random(256, dtype=np.float32)
table, factor = mod.symbol("table", np.float32), mod.symbol("factor", np.float32)
table.copy_from(data)
factor.copy_from(np.float32([3.14]))
x = cs.zeros(256)
mod.symbol("target", np.uint64).copy_from(np.uint64([x.pointer]))
mod.store[1, 256](256)

print(f"table: {table.nbytes} bytes, factor: {factor.nbytes} bytes")
assert (table.nbytes, factor.nbytes) == (1024, 4)
assert np.array_equal(table.to_host(), data)  # cudaMemcpyFromSymbol
assert np.array_equal(x.to_host(), np.float32(3.14) * data)

# %% [markdown]
# ## Exercise: sums of planes
#
# Write a kernel `plane_sums(cudaPitchedPtr box, cudaExtent extent, float* sums)`, launched with one thread for each
# plane, that stores the sum of the plane's elements. Be careful with the units: `extent.width` is in bytes.


# %%
@course.exercise
def check_planes(source):
    kernel = cs.Module(source).plane_sums
    for shape in ((3, 4, 5), (7, 1, 100), (1, 33, 130)):
        values = rng.random(shape, dtype=np.float32)
        box = cs.empty_pitched(shape)
        box.copy_from(values)
        sums = cs.full(shape[0], -1.0, np.float32)
        kernel[1, shape[0]](pitched_ptr(box), extent_of(box), sums)
        right = np.allclose(sums.to_host(), values.sum(axis=(1, 2)), rtol=1e-4)
        assert right, f"wrong sums for {shape[0]} planes of {shape[1]} rows of {shape[2]} floats"


# %%
source = None
# source = """
# __global__ void plane_sums(cudaPitchedPtr box, cudaExtent extent, float* sums) {
#     ...
# }
# """

solved = check_planes(source)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
solved = check_planes("""
__global__ void plane_sums(cudaPitchedPtr box, cudaExtent extent, float* sums) {
    const char* plane = static_cast<const char*>(box.ptr) + threadIdx.x * box.pitch * extent.height;
    float sum = 0;
    for (size_t y = 0; y < extent.height; ++y) {
        const float* row = reinterpret_cast<const float*>(plane + y * box.pitch);
        for (size_t x = 0; x < extent.width / sizeof(float); ++x) sum += row[x];
    }
    sums[threadIdx.x] = sum;
}
""")
assert solved

# %% [markdown]
# ## To try
#
# 1. From which width on is more than 90 % of the pitched memory used?
# 2. Copy a box between two arrays of different pitches. How many copies does the trace have? And if you leave out every
#    second row?
# 3. Let `find` insert a key that is not there. Does the host or the kernel allocate the node?
