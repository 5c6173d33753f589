# %% [markdown]
# # The kinds of memory
#
# The kind of its memory decides how fast an array is copied, which side can read it, and when it is freed. This notebook
# goes through CUDA's kinds of memory. It runs on a GPU if you have one; otherwise on `host:0`, a simulated device. Run
# the cells in order.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

import cuscope as cs
from cuscope import course
from cuscope.course import milliseconds  # the device's time for work, between two events

course.follow_theme()  # figures in the colours of the page
device = cs.current_device()
print(device, device.memory_info())

# %% [markdown]
# ## Pageable and page-locked
#
# NumPy's memory is *pageable*: the operating system may move it at any time, so the device cannot read it by itself. A
# copy from pageable memory goes through a buffer of the driver. *Page-locked* (pinned) memory stays in its place. The
# copy engine of the device reads it at full speed, and the call does not wait for the copy.

# %%
n = 16 << 20
pageable = np.arange(n, dtype=np.float32)
pinned = cs.pinned_empty(n, np.float32)  # a NumPy array like any other
pinned[:] = pageable
x = cs.empty(n)

times = {
    "pageable to device": milliseconds(lambda: x.copy_from(pageable)),
    "pinned to device": milliseconds(lambda: x.copy_from(pinned)),
    "device to pageable": milliseconds(lambda: x.copy_to(pageable)),
    "device to pinned": milliseconds(lambda: x.copy_to(pinned)),
}
for way, spent in times.items():
    print(f"{way:20s} {spent:8.3f} ms {x.nbytes / spent / 1e6:8.1f} GB/s")

assert np.array_equal(pageable, pinned)
assert min(times.values()) > 0
if device.simulated:  # as measured on an H200: 9.3 and 55 GB/s
    assert times["pageable to device"] > 4 * times["pinned to device"]

# %%
fig, ax = plt.subplots(figsize=(6, 2))
ax.barh(list(times), [x.nbytes / spent / 1e6 for spent in times.values()])
ax.set_xlabel("GB/s")
plt.show()

# %% [markdown]
# `cs.register` page-locks an existing array for a while. This takes time itself, so it pays if you copy the array often.

# %%
with cs.register(pageable):
    registered = milliseconds(lambda: x.copy_from(pageable))
    print(cs.pointer_attributes(pageable).type, f"{registered:.3f} ms")
    assert cs.pointer_attributes(pageable).type == "host"

assert cs.pointer_attributes(pageable).type == "unregistered"

# %% [markdown]
# Page-locked memory is scarce: the system cannot move it, and the machine may have too little. Lock the memory that you
# copy from, not all of it, and drop it when you need it no more.
#
# ## Write-combining
#
# With `write_combined=True` (`cudaHostAllocWriteCombined`) the memory is not in the caches of the host's processor. That
# leaves the caches to other data, and may make copies to the device faster. But the host *reads* such memory very slowly,
# each time from the memory itself: only write it.
#
# On a simulated device it is ordinary memory of your computer, so your reads are as fast as ever, and the copy takes the
# same time, as measured on an H200. The difference shows on a GPU only, and not on every host: in a virtual machine with
# an H100 both reads took 8 ms, because its processor cached this memory, too. The cell measures it by the wall clock.

# %%
combined = cs.pinned_empty(n, np.float32, write_combined=True)
combined[:] = pinned  # writing is fine
from_combined = milliseconds(lambda: x.copy_from(combined))


def seconds_to_read(array):
    began = time.perf_counter()
    total = array.sum()
    return time.perf_counter() - began, total


(usual, total), (slow, same) = seconds_to_read(pinned), seconds_to_read(combined)
print(f"copy to the device: {from_combined:.3f} ms")
print(
    f"read by the host: {1e3 * usual:.1f} ms from usual memory, {1e3 * slow:.1f} ms from write-combined memory"
)
print(
    "measured, on memory that is" if not device.simulated else "measured, but on memory that is not",
    "write-combined",
)

assert total == same
if device.simulated:
    assert abs(from_combined - times["pinned to device"]) < 0.01 * from_combined

# %% [markdown]
# ## Mapped
#
# Kernels can also read and write page-locked memory of the host *in place*, over the bus, without a copy. This is slow
# for data that a kernel uses often. It is right for data that a kernel uses once, or that is larger than the device's
# memory.

# %%
module = cs.Module("""
__global__ void twice(float* x, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
__global__ void sum_rows(const float* x, long long pitch, int width, int height, float* sums) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row >= height) return;
    const float* p = (const float*)((const char*)x + row * pitch);
    float sum = 0;
    for (int i = 0; i < width; i++) sum += p[i];
    sums[row] = sum;
}
""")
mapped = cs.pinned_empty(1000, np.float32, mapped=True)
mapped[:] = 21
seen = cs.device_view(mapped)  # the same memory, as an array for kernels
module.twice[4, 256](seen, 1000)
cs.synchronize()  # before the host reads the result

print(mapped[:5])
assert (mapped == 42).all()
assert device.properties.can_map_host_memory

# %% [markdown]
# Such a kernel overlaps its own transfers with its work, without any stream. But nothing orders the host and the kernel:
# you have to wait before you read the results, and atomic operations of the kernel are not atomic for the host.

# %% [markdown]
# ## Managed
#
# *Managed* memory has one address for host and device: when one of them uses a page, the page moves there. `prefetch`
# moves pages in advance, at the speed of a copy; `advise` tells the driver how you will use them.

# %%
m = cs.empty_managed(1000)
h = m.host_view()  # a NumPy array over the same memory
h[:] = np.arange(1000)

m.prefetch()  # to the device, in stream order
module.twice[4, 256](m, 1000)
m.prefetch("host")
cs.synchronize()

print(h[:5], m.range_attributes)
assert np.array_equal(h, 2 * np.arange(1000))

# %% [markdown]
# ## Pitched
#
# A kernel reads the rows of a matrix fastest if each row starts at an aligned address. `cs.empty_pitched` pads the rows:
# the distance from a row to the next is `pitch` bytes. You have to pass the pitch to a kernel. Copies and views know it
# by themselves.

# %%
matrix = np.random.default_rng(2).random((100, 130), dtype=np.float32)
p = cs.empty_pitched(matrix.shape)
p.copy_from(matrix)
sums = cs.empty(100)
module.sum_rows[1, 128](p, p.pitch, 130, 100, sums)

print(f"{matrix.shape[1]} floats are {matrix.shape[1] * 4} bytes; the pitch is {p.pitch}")
assert np.allclose(sums.to_host(), matrix.sum(axis=1))

part = p[10:20, ::2]  # a view: basic indexing as in NumPy, and no copy
assert np.array_equal(part.to_host(), matrix[10:20, ::2])
assert np.array_equal(p.T.to_host(), matrix.T)

# %% [markdown]
# A kernel takes views of whole rows, but no views with steps and no transposed axes, because it does not know their
# strides. `.copy()` makes a dense array.

# %%
try:
    module.sum_rows[1, 128](part, part.pitch, 65, 10, sums)
    raise AssertionError("not refused")
except ValueError as error:
    print(error)

dense = part.copy()
module.sum_rows[1, 128](dense, dense.pitch, 65, 10, sums)
assert np.allclose(sums.to_host()[:10], matrix[10:20, ::2].sum(axis=1))

# %% [markdown]
# ## Pools
#
# `cudaMalloc` is slow, and freeing its memory waits for the whole device. Arrays of `cs.empty` come from a *pool*
# instead, in the order of a stream: a new array gets the memory that another one gave back, without a call of the driver.
# When the host synchronizes, the pool gives memory back to the device, down to a threshold. Memory that other streams
# still use is not given to any other array.

# %%
pool = cs.MemoryPool(release_threshold=64 << 20)
first = pool.empty(1 << 20)
address = first.pointer
del first  # given back in stream order
second = pool.empty(1 << 20)
print("the same memory again:", second.pointer == address)
print(pool.statistics)
assert pool.statistics.used >= second.nbytes

del second
cs.synchronize()
assert pool.statistics.used == 0
assert pool.statistics.reserved > 0  # kept for the next array
pool.trim()
assert pool.statistics.reserved == 0

# %% [markdown]
# With `device.memory_pool = pool`, `cs.empty` and the other functions take memory from your pool; `limit=` bounds its
# size.

# %%
small = cs.MemoryPool(limit=32 << 20)
try:
    small.empty(64 << 20, np.uint8)
    raise AssertionError("not refused")
except cs.OutOfMemoryError as error:
    print(error)

plain = cs.empty_plain(1000)  # memory of cudaMalloc, if you need it
print(cs.pointer_attributes(plain))

# %% [markdown]
# ## Variables of a module
#
# `__constant__` and `__device__` variables have an address and a size; `symbol` gives you an array over a variable.

# %%
constants = cs.Module("""
__constant__ float weights[3];
__global__ void blur(const float* in, float* out, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = weights[0] * in[i - 1] + weights[1] * in[i] + weights[2] * in[i + 1];
}
""")
constants.symbol("weights", np.float32).copy_from(np.array([0.25, 0.5, 0.25], np.float32))
signal, blurred = cs.to_device(np.arange(64, dtype=np.float32) ** 2), cs.zeros(64)
constants.blur[1, 64](signal, blurred, 64)

assert blurred.to_host()[1:-1].tolist() == [i**2 + 0.5 for i in range(1, 63)]

# %% [markdown]
# ## Textures
#
# A *texture* is another way to read an array: by coordinates that need not be whole numbers. The hardware computes the
# values between the elements (`filter`) and outside of the array (`address`), and reads neighbouring elements fast. The
# elements are in a `CudaArray`. Only the device knows their layout in memory, so you copy them in and out.
#
# Element `i` covers the coordinates from `i` to `i + 1`, so its middle is at `i + 0.5`.

# %%
textures = cs.Module("""
__global__ void along(cudaTextureObject_t t, float* out, int n, float from, float step) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) out[i] = tex1D<float>(t, from + i * step);
}
__global__ void rotate(cudaTextureObject_t image, float* out, int width, int height, float angle, float zoom) {
    int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
    float s = sinf(angle) / zoom, c = cosf(angle) / zoom;
    out[y * width + x] = tex2D<float>(image, u * c - v * s + 0.5f, u * s + v * c + 0.5f);
}
__global__ void soften(cudaTextureObject_t image, cudaSurfaceObject_t out, int width, int height, int radius) {
    int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++) sum += tex2D<float>(image, x + i + 0.5f, y + j + 0.5f);
    surf2Dwrite(sum / ((2 * radius + 1) * (2 * radius + 1)), out, x * (int)sizeof(float), y);
}
""")
values = np.array([1, 3, 2, 4], np.float32)
line = cs.CudaArray(4)
line.copy_from(values)
n_points = 241
at = -1 + np.arange(n_points) * 0.025
curves = {}
for between in ("point", "linear"):
    for address in ("clamp", "border"):
        out = cs.empty(n_points)
        texture = cs.Texture(line, filter=between, address=address)
        textures.along[1, 256](texture, out, n_points, -1.0, 0.025)
        curves[between, address] = out.to_host()

fig, axes = plt.subplots(1, 2, figsize=(9, 2.5), sharey=True)
for ax, address in zip(axes, ("clamp", "border"), strict=True):
    ax.plot(at, curves["point", address], label="point")
    ax.plot(at, curves["linear", address], label="linear")
    ax.plot(np.arange(4) + 0.5, values, "o", color=plt.rcParams["text.color"], label="elements")
    ax.set_title(f"address='{address}'")
axes[0].legend()
plt.show()

middle = np.isclose((at + 0.5) % 1, 0) & (at > 0) & (at < 4)
assert np.allclose(curves["linear", "clamp"][middle], values, atol=0.02)
assert curves["linear", "border"][0] == 0

# %% [markdown]
# ### An image, turned
#
# With *normalized* coordinates, from 0 to 1, a kernel need not know the size of the image. `'wrap'` and `'mirror'` repeat
# the image.

# %%
size = 128
yy, xx = np.mgrid[:size, :size] / size
squares = ((xx * 8).astype(int) + (yy * 8).astype(int)) % 2
image = ((np.hypot(xx - 0.5, yy - 0.5) < 0.42) * (0.35 + 0.65 * squares)).astype(np.float32)
image[8:24, 8:24] = 1
picture = cs.CudaArray(image.shape)
picture.copy_from(image)

fig, axes = plt.subplots(1, 4, figsize=(10, 2.7))
axes[0].imshow(image, cmap="gray")
axes[0].set_title("the image")
turned = {}
for ax, address in zip(axes[1:], ("border", "mirror", "wrap"), strict=True):
    texture = cs.Texture(picture, filter="linear", address=address, normalized_coordinates=True)
    out = cs.empty(image.shape)
    textures.rotate[(16, 16), (8, 8)](texture, out, size, size, 0.5, 0.6)
    turned[address] = out.to_host()
    ax.imshow(turned[address], cmap="gray")
    ax.set_title(f"'{address}'")
for ax in axes:
    ax.axis("off")
plt.show()

assert turned["border"][0, 0] == 0
texture = cs.Texture(picture, filter="linear", normalized_coordinates=True)
textures.rotate[(16, 16), (8, 8)](texture, out, size, size, 0.0, 1.0)
assert np.allclose(out.to_host(), image, atol=0.01)  # not turned at all

# %% [markdown]
# ### An image, blurred
#
# A *surface* is the counterpart: kernels write an array through it. The kernel needs no `if` for the border of the image,
# because the texture handles it.

# %%
soft = cs.CudaArray(image.shape, surface=True)
textures.soften[(16, 16), (8, 8)](cs.Texture(picture), cs.Surface(soft), size, size, 3)
result = soft.to_host()

fig, axes = plt.subplots(1, 2, figsize=(5.5, 2.7))
for ax, (title, shown) in zip(axes, {"before": image, "after": result}.items(), strict=True):
    ax.imshow(shown, cmap="gray")
    ax.set_title(title)
    ax.axis("off")
plt.show()

padded = np.pad(image, 3, mode="edge")
windows = np.lib.stride_tricks.sliding_window_view(padded, (7, 7))
assert np.allclose(result, windows.mean(axis=(2, 3)), atol=1e-4)

# %% [markdown]
# ## When memory is freed
#
# You may drop an array while the device still works on it: its memory is freed after every stream that used it, not
# before. You need not wait for anything.

# %%
stream = cs.Stream()
box = cs.pinned_empty(1 << 20, np.float32)
y = cs.full(1 << 20, 5.0, np.float32)
stream.wait(cs.current_stream())
y.copy_to(box, stream=stream)  # has not run yet
del y  # gone for Python, not for the stream
z = cs.zeros(1 << 20)
stream.synchronize()

assert (box == 5).all()

# %% [markdown]
# ## Exercise: in place
#
# Write `twice_in_place(h)`: it doubles a page-locked array of the host, with the kernel `module.twice`, without a copy
# and without memory of the device, and returns when `h` has the result.


# %%
@course.exercise
def check_in_place(program):
    h = cs.pinned_empty(5000, np.float32, mapped=True)
    h[:] = np.arange(5000)
    with cs.trace() as trace:
        program(h)
        seen = h.copy()  # at once
    kinds = trace.spans["kind"].tolist()
    assert "copy" not in kinds, "there is a copy"
    assert "allocation" not in kinds, "there is an allocation"
    assert not np.array_equal(seen, np.arange(5000)), "nothing is doubled: have you waited?"
    assert np.array_equal(seen, 2 * np.arange(5000)), "not all elements are doubled"


# %%
twice_in_place = None  # def twice_in_place(h): ...

solved = check_in_place(twice_in_place)

# %% [markdown]
# A solution is in the next cell, which is folded.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def by_a_view(h):
    module.twice[(len(h) + 255) // 256, 256](cs.device_view(h), len(h))
    cs.synchronize()


solved = check_in_place(by_a_view)
assert solved

# %% [markdown]
# ## To try
#
# 1. How large must an array be until `cs.register`, a copy and closing the registration together are faster than a copy
#    of pageable memory?
# 2. Write `sum_rows` for managed memory, once with and once without `prefetch`, and compare the times on a GPU.
# 3. Turn the image by a right angle four times, each time from the last result. How does `filter="linear"` change the
#    image?
# 4. Make a `uint8` image with `normalized_reads=True`. Which number does the kernel read for 255?
