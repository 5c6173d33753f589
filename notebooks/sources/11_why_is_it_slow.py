# %% [markdown]
# # Why is it slow?
#
# A kernel can be right and still take ten times longer than it should. In this notebook you find out why: you profile a
# kernel, read which line costs most, change that line, and profile again. Three things are behind most slow kernels: the
# addresses that the lanes of a warp access together, data that are read again and again, and lanes that wait for others.
#
# A profile comes from a simulated device, so this notebook uses `host:0` on every machine. All times and counts in it are
# simulated. Run the cells in order. The page `docs/profiling.md` explains every number.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cuscope as cs
from cuscope import course

course.follow_theme()  # figures in the colours of the page
device = cs.Device("host:0")
cs.set_device(device)
rng = np.random.default_rng(11)
print(device, device.model)

# %% [markdown]
# ## A first profile
#
# This kernel turns a matrix over its diagonal. `kernel.profile` takes the arguments of `kernel.launch`. It runs the kernel
# and counts the instructions and accesses of each line. With `blocks=64` it counts 64 blocks of the grid, and the others
# run as usual.

# %%
SOURCE = """
__global__ void naive(const float* in, float* out, int n) {
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[column * n + row + i] = in[(row + i) * n + column];
}
__global__ void tiled(const float* in, float* out, int n) {
    __shared__ float tile[32][WIDTH];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * n + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(row + i) * n + column] = tile[threadIdx.x][threadIdx.y + i];
}
"""


def line_of(text):
    """The number of the line of SOURCE that has this text."""
    return next(i for i, line in enumerate(SOURCE.splitlines(), 1) if text in line)


n = 2048
matrix = rng.random((n, n), dtype=np.float32)
d_in, d_out = cs.to_device(matrix), cs.zeros((n, n))


def transpose(kernel):
    """The profile of a launch, after a check of its result."""
    d_out.fill(0)
    profile = kernel.profile(d_in, d_out, n, grid=(n // 32, n // 32), block=(32, 8), blocks=64)
    assert np.array_equal(d_out.to_host(), matrix.T)
    return profile


plain = cs.Module(SOURCE, options=["-DWIDTH=32"])
naive = transpose(plain.naive)
naive

# %% [markdown]
# The table has a row for each line that ran. A *request* is one access of a warp: one instruction, for its 32 lanes. Memory
# is moved in *sectors* of 32 bytes. A warp that stores 32 neighbouring floats needs 4 sectors; here it needs 32, because
# neighbouring lanes store to different rows of `out`.

# %%
access = line_of("out[column * n + row + i]")
load, store = naive.line(access).accesses
print(f"line {access}: {load.sectors_per_request:g} sectors to load, {store.sectors_per_request:g} to store")

assert load.sectors_per_request == 4
assert store.sectors_per_request == 32
assert naive.findings[0].rule == "uncoalesced"
assert naive.findings[0].line == access

# %% [markdown]
# The picture shows one request of the store. A row has 128 bytes of `out`. The numbers are lanes. Of each sector that is
# moved, 4 bytes are wanted, and 28 are moved in vain.

# %%
naive.accesses(access, 1)

# %% [markdown]
# ## Through shared memory
#
# A block reads a tile row by row into shared memory, and stores it row by row. The turn happens in shared memory, where no
# sectors are moved. All accesses to global memory now have 4 sectors.

# %%
tiled = transpose(plain.tiled)
print(tiled)

assert all(line.sectors_per_request == 4 for line in tiled.lines if line.requests)
assert not [finding for finding in tiled.findings if finding.rule == "uncoalesced"]

# %% [markdown]
# A new finding takes the place of the old one. Shared memory has 32 *banks*, and neighbouring words lie in neighbouring
# banks. A bank serves one word at a time. The lanes read a column of the tile, whose rows have 32 words, so all 32 lanes want
# words of one bank: a 32-way *bank conflict*.

# %%
column = line_of("= tile[threadIdx.x][threadIdx.y + i]")
assert tiled.findings[0].rule == "bank conflict"
assert tiled.findings[0].numbers["ways"] == 32

tiled.accesses(column)

# %% [markdown]
# ## Padding
#
# With one more word in each row, the words of a column lie in 32 different banks. The finding says so. `WIDTH` is 33 now, and
# nothing else changes.

# %%
padded = transpose(cs.Module(SOURCE, options=["-DWIDTH=33"]).tiled)

assert padded.line(column).bank_conflicts == 0
assert not {"uncoalesced", "bank conflict"} & {finding.rule for finding in padded.findings}

padded.accesses(column)

# %%
steps = {"naive": naive, "tiled": tiled, "padded": padded}
times = {name: profile.time.seconds * 1e6 for name, profile in steps.items()}
fig, ax = plt.subplots(figsize=(6, 2))
ax.barh(list(times), list(times.values()))
ax.set_xlabel("simulated time, µs")
ax.invert_yaxis()
plt.show()
for name, profile in steps.items():
    print(f"{name:7s} {times[name]:6.1f} µs, bound by {profile.time.bound}")

assert times["naive"] > 2 * times["padded"]
assert times["tiled"] > times["padded"]

# %% [markdown]
# ## The same data again and again
#
# A product of matrices is different: its accesses can be perfect, and it is still slow. Each thread computes one element of
# C, and reads a row of A and a column of B.

# %%
PRODUCT = """
__global__ void naive(const float* A, const float* B, float* C, int n) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += A[row * n + i] * B[i * n + column];
    C[row * n + column] = sum;
}
__global__ void tiled(const float* A, const float* B, float* C, int n) {
    __shared__ float a[16][16], b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < n; start += 16) {
        a[threadIdx.y][threadIdx.x] = A[row * n + start + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(start + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}
"""
size = 256
left, right = rng.random((2, size, size), dtype=np.float32)
A, B, C = cs.to_device(left), cs.to_device(right), cs.zeros((size, size))
product = cs.Module(PRODUCT)


def multiply(kernel, blocks=None):
    """The profile of a product, after a check of its result."""
    profile = kernel.profile(A, B, C, size, grid=(size // 16, size // 16), block=(16, 16), blocks=blocks)
    assert np.allclose(C.to_host(), left @ right, rtol=1e-4)
    return profile


slow = multiply(product.naive)
print(slow)

# %% [markdown]
# No line wastes sectors, but every warp reads the same rows and columns again. `different_load_sectors` counts each sector
# once, the counts of the argument count every request.

# %%
requested = slow.counts.by_argument["A"].load_sectors
different = slow.different_load_sectors["A"]
print(f"A: {requested} sectors are requested, {different} are different: {requested / different:g} times")

assert requested == 128 * different
assert [finding.rule for finding in slow.findings] == ["repeated reads", "repeated reads"]

# %% [markdown]
# With tiles of 16 by 16 elements, a block reads each element once into shared memory, and 16 threads use it there.

# %%
fast = multiply(product.tiled)
again = fast.counts.by_argument["A"].load_sectors / fast.different_load_sectors["A"]
print(f"A is requested {again:g} times")

assert again == size / 16
assert fast.counts.global_load_requests < slow.counts.global_load_requests / 10

# %% [markdown]
# A *roofline* compares a kernel with its device: to the right, a kernel computes more for each byte; upwards, it computes
# faster. The lines are the roofs of the device: no point can lie above them. Both points lie below the same place of the
# roof, because the L1 cache serves the repeated reads within a block, so that the L2 cache delivers the same bytes. The
# tiled product lies higher: its warps wait for fewer requests.

# %%
slow.roofline()

# %%
fast.roofline()

# %%
assert fast.counters["operations"] == slow.counters["operations"] == 2 * size**3
assert np.isclose(fast.counters["l2_bytes"], slow.counters["l2_bytes"])
assert fast.time.seconds < slow.time.seconds

# %% [markdown]
# ## Lanes that wait for others
#
# The lanes of a warp execute one instruction together. If a condition sends them different ways, the warp runs both ways, one
# after the other. In this sum every other thread stops in the first step, three of four in the second, and so on. In each
# warp a few lanes work, and all others wait.

# %%
SUM = """
__global__ void spread(const float* in, float* out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        if (t % (2 * step) == 0)
            s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void together(const float* in, float* out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step)
            s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
"""
values = rng.random(1 << 20, dtype=np.float32)
d_values, d_sums = cs.to_device(values), cs.zeros(values.size // 256)
sums = cs.Module(SUM)


def add_up(kernel):
    """The profile of the sums of 256 elements each, after a check of their total."""
    profile = kernel.profile(d_values, d_sums, grid=d_sums.size, block=256, blocks=64)
    assert np.isclose(d_sums.to_host().sum(dtype=np.float64), values.sum(dtype=np.float64))
    return profile


spread, together = add_up(sums.spread), add_up(sums.together)
spread

# %%
for name, profile, line in (("spread", spread, 9), ("together", together, 21)):
    work = profile.line(line)
    print(
        f"{name:9s} {work.active_threads:4.1f} lanes add together; {profile.counters['divergent_branches']} branches diverge"
    )

assert spread.line(9).active_threads < 8 < 16 < together.line(21).active_threads
assert together.counters["divergent_branches"] < spread.counters["divergent_branches"] / 4
assert together.time.seconds < spread.time.seconds

# %% [markdown]
# ## Exercise: fields of a structure
#
# Each particle has a position and a mass, four floats. The kernel adds up masses. Profile it, and write a kernel `masses` with
# another layout of the data: your kernel gets the four fields in four arrays of their own.

# %%
PARTICLES = """
struct Particle { float x, y, z, mass; };
__global__ void masses(const Particle* particles, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * particles[i].mass;
}
"""
particles = rng.random((1 << 14, 4), dtype=np.float32)
d_particles, d_masses = cs.to_device(particles), cs.zeros(1 << 14)
kernel = cs.Module(PARTICLES).masses
profile = kernel.profile(d_particles, d_masses, grid=64, block=256)
print(profile)

assert profile.findings[0].numbers["sectors_per_request"] == 16


# %%
@course.exercise
def check_fields(source):
    """Checks a kernel masses(const float* x, const float* y, const float* z, const float* mass, float* out)."""
    fields = [cs.to_device(np.ascontiguousarray(particles[:, i])) for i in range(4)]
    out = cs.zeros(1 << 14)
    profile = cs.Module(source).masses.profile(*fields, out, grid=64, block=256)
    assert np.array_equal(out.to_host(), 2 * particles[:, 3]), "the results are wrong"
    worst = max(line.sectors_per_request for line in profile.lines)
    assert worst == 4, f"there are {worst:g} sectors a request, and 4 would do"
    print(f"4 sectors a request, {profile.time.seconds * 1e6:.2f} µs")


# %%
source = None
# source = """
# __global__ void masses(const float* x, const float* y, const float* z, const float* mass, float* out) {
#     ...
# }
# """

solved = check_fields(source)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
solved = check_fields("""
__global__ void masses(const float*, const float*, const float*, const float* mass, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * mass[i];
}
""")
assert solved

# %% [markdown]
# ## Exercise: a bank conflict of your own
#
# In this kernel each thread reads `s[STRIDE * t % 1024]`. Which strides have no bank conflicts? Predict the number of
# wavefronts of a request for each of them, before you run the check. Which property of a stride decides?

# %%
STRIDED = """
__global__ void strided(float* out) {
    __shared__ float s[1024];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[STRIDE * threadIdx.x % 1024];
}
"""


def wavefronts_of(stride):
    """The wavefronts of a request, from a profile."""
    kernel = cs.Module(STRIDED, options=[f"-DSTRIDE={stride}"]).strided
    line = kernel.profile(cs.zeros(1024), grid=1, block=1024).line(6)
    return line.wavefronts / line.shared_requests


@course.exercise
def check_strides(prediction):
    """Checks a dictionary with the wavefronts of a request for the strides 1, 2, 3, 8 and 32."""
    assert set(prediction) == {1, 2, 3, 8, 32}, "predict the strides 1, 2, 3, 8 and 32"
    for stride, predicted in prediction.items():
        counted = wavefronts_of(stride)
        assert predicted == counted, f"stride {stride}: {counted:g} wavefronts, not {predicted:g}"


# %%
prediction = None  # for example {1: 1, 2: ..., 3: ..., 8: ..., 32: ...}

solved = check_strides(prediction)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
# The greatest common divisor d of the stride and 32 decides: the lanes use 32 / d banks.
solved = check_strides({1: 1, 2: 2, 3: 1, 8: 8, 32: 32})
assert solved

# %% [markdown]
# ## Exercise: work for neighbours
#
# Every eighth element needs many steps. In `uneven` one lane of eight works while the others wait. Write `even`, with the same
# arguments and the same results, so that the lanes of a warp work together. The launch has one thread for each element.

# %%
UNEVEN = """
__global__ void uneven(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 8 == 0) {
        float v = x[i];
        for (int k = 0; k < 64; ++k) v = v * 0.99f + 0.01f;
        x[i] = v;
    }
}
"""
elements = rng.random(1 << 14, dtype=np.float32)
d_elements = cs.to_device(elements)
profile = cs.Module(UNEVEN).uneven.profile(d_elements, elements.size, grid=64, block=256)
expected = d_elements.to_host()
print(profile)

assert profile.line(6).active_threads < 5


# %%
@course.exercise
def check_even(source):
    """Checks a kernel even(float* x, int n)."""
    x = cs.to_device(elements)
    mine = cs.Module(source).even.profile(x, elements.size, grid=64, block=256)
    assert np.array_equal(x.to_host(), expected), "the results are wrong"
    saved = profile.counters["instructions"] / mine.counters["instructions"]
    assert mine.counters["active_threads"] > 28, (
        f"{mine.counters['active_threads']:.1f} of 32 lanes work together"
    )
    assert saved > 4, f"the kernel has {saved:.1f} times fewer instructions; more than 4 is possible"
    print(f"{saved:.1f} times fewer instructions")


# %%
source = None
# source = """
# __global__ void even(float* x, int n) {
#     ...
# }
# """

solved = check_even(source)

# %% [markdown]
# A solution is in the next cell, which is folded. Neighbouring lanes access elements 32 bytes apart, so a request has 32
# sectors. `uneven` needed as many for these 32 elements: 8 requests with 4 sectors each.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
solved = check_even("""
__global__ void even(float* x, int n) {
    int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float v = x[i];
        for (int k = 0; k < 64; ++k) v = v * 0.99f + 0.01f;
        x[i] = v;
    }
}
""")
assert solved

# %% [markdown]
# ## In a notebook
#
# After `%load_ext cuscope`, a cell that begins with `%%profile` shows a profile of each kernel that it launches. You need not
# change the launches.
