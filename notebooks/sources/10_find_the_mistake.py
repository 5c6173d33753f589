# %% [markdown]
# # Find the mistake
#
# A wrong program often gives the right result: on your GPU, with your sizes, today. `cs.check()` finds mistakes that do not
# crash. It watches every access to memory that a kernel makes on a simulated device, and the order of the calls around the
# kernels on every device. This notebook shows what a report tells you. Then it has seven programs with a mistake each, and
# you mend them.
#
# Kernels are checked on `host:0`, the simulated device, so you need no GPU. Run the cells in order.

# %%
import numpy as np

import cuscope as cs
from cuscope import course

# %load_ext cuscope
host = cs.Device("host:0")
cs.set_device(host)
rng = np.random.default_rng(10)

# %% [markdown]
# ## What a report tells
#
# This kernel adds two arrays. It compares the index with the number of elements, and the result is right. `%%check` runs a
# cell in a check, and shows the report below it.

# %%
add = cs.Module("""
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) c[i] = a[i] + b[i];
}""").add

# %%
# %%check
a, b = rng.random(1000, dtype=np.float32), rng.random(1000, dtype=np.float32)
c = cs.empty(1000)
add[4, 256](cs.to_device(a), cs.to_device(b), c, 1000)
assert np.array_equal(c.to_host(), a + b)

# %% [markdown]
# The thread with `i == 1000` reads behind the end of `a` and `b`, and writes behind the end of `c`. Behind a small array
# there is often unused memory, so a GPU says nothing. One day other data lies there.
#
# Each finding has its kind, the line of the source, the block and the thread, the memory with the line that made it, and a
# piece of advice. A program asks for all of it with `cs.check()`. A report is true if there is a mistake, so a test may
# say `assert not report`.

# %%
with cs.check() as report:
    add[4, 256](cs.to_device(a), cs.to_device(b), cs.empty(1000), 1000)
assert report
first = report.findings[0]
print(first.kind, "|", first.line, "| block", first.block, "thread", first.thread)
print(first.memory)
assert {finding.kind for finding in report.findings} == {"out of bounds"}
assert {finding.line for finding in report.findings} == {"kernel.cu:4"}
assert first.block == (3, 0, 0)
assert first.thread == (1000 - 3 * 256, 0, 0)

# %% [markdown]
# ## Which thread wins a race
#
# Here each thread writes an element of shared memory, and reads the one of another thread. Nothing makes the second wait
# for the first. On a simulated device the threads run in a fixed order, so the result is the same on every run; on a GPU
# it may be another one. The finding names both lines and both threads, and says which thread wins here.

# %%
reverse = cs.Module("""
__global__ void reverse(const float* x, float* y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = s[63 - threadIdx.x];
}""").reverse
with cs.check() as report:
    reverse[1, 64](cs.to_device(a[:64]), cs.empty(64))
race = next(finding for finding in report.findings if finding.kind == "race")
print(race)
assert {race.line, race.other_line} == {"kernel.cu:4", "kernel.cu:5"}

# %% [markdown]
# ## How the exercises work
#
# Each exercise has the source of a wrong kernel, or a wrong program. First run it in a check and read the report: the
# cells below do that. Then copy it into the cell with `None`, mend it, and run the cell. A function checks your answer: the
# report must be empty, and the result right. A solution is in a folded cell behind each exercise.


# %%
def of_check(report):
    """The hint of an answer that is still wrong: the first finding."""
    return str(report.findings[0]) if report.findings else ""


# %% [markdown]
# ## Exercise 1: the edges
#
# Each element of the result is the mean of an element and its two neighbours. The elements at both ends keep their values.

# %%
smooth = """
__global__ void smooth(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
}"""

# %%
# %%check
cs.Module(smooth).smooth[2, 64](cs.to_device(a[:100]), cs.empty(100), 100)


# %%
@course.exercise
def check_smooth(source):
    with cs.check() as report:
        y = cs.empty(100)
        cs.Module(source).smooth[2, 64](cs.to_device(a[:100]), y, 100)
        result = y.to_host()
    assert not report, of_check(report)
    expected = np.convolve(a[:100], np.ones(3) / 3, "same")
    expected[[0, -1]] = a[0], a[99]
    assert np.allclose(result, expected), "an element is wrong: the ends keep their values"


# %%
mended = None  # mended = """..."""

solved = check_smooth(mended)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
solved = check_smooth("""
__global__ void smooth(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = i == 0 || i == n - 1 ? x[i] : (x[i - 1] + x[i] + x[i + 1]) / 3;
}""")
assert solved

# %% [markdown]
# ## Exercise 2: a sum in shared memory
#
# A block adds 256 numbers: in each step, the first half of the threads adds the second half of the numbers. The kernel
# gives the right sum here.

# %%
block_sum = """
__global__ void block_sum(const int* x, int* sum) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2)
        if (t < half) s[t] += s[t + half];
    if (t == 0) *sum = s[0];
}"""
ones = np.ones(256, np.int32)

# %%
# %%check
cs.Module(block_sum).block_sum[1, 256](cs.to_device(ones), cs.empty(1, np.int32))


# %%
@course.exercise
def check_block_sum(source):
    with cs.check() as report:
        total = cs.empty(1, np.int32)
        cs.Module(source).block_sum[1, 256](cs.to_device(ones), total)
        result = int(total.to_host()[0])
    assert not report, of_check(report)
    assert result == 256, f"the sum is {result}, not 256"


# %%
mended = None  # mended = """..."""

solved = check_block_sum(mended)

# %% [markdown]
# A solution is in the next cell, which is folded. The barrier is in the loop, but not in the branch: all threads have to
# come to it.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
solved = check_block_sum("""
__global__ void block_sum(const int* x, int* sum) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) *sum = s[0];
}""")
assert solved

# %% [markdown]
# ## Exercise 3: a barrier in a branch
#
# The first half of a warp loads the numbers, the second half adds them. Each half waits, but not at the same place, so no
# thread goes on. A GPU hangs, or does something else, since CUDA leaves it open. The simulated device says which threads wait
# where, and ends the kernel.

# %%
halves = """
__global__ void halves(const float* x, float* y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    if (t < 16) {
        s[t] = x[t];
        s[t + 16] = x[t + 16];
        __syncthreads();
    } else {
        __syncwarp();
        y[t - 16] = s[t - 16] + s[t];
    }
}"""

# %%
with cs.add_host_device("h200") as other, cs.check() as report:  # an error ends the work on its device
    try:
        cs.Module(halves).halves[1, 32](cs.to_device(a[:32]), cs.empty(16))
        other.synchronize()
    except cs.CudaError as error:
        print(error.name)
report


# %%
@course.exercise
def check_halves(source):
    with cs.add_host_device("h200") as device, cs.check() as report:
        try:
            y = cs.empty(16)
            cs.Module(source).halves[1, 32](cs.to_device(a[:32]), y)
            result = y.to_host()
            device.synchronize()
        except cs.CudaError:
            result = np.zeros(16, np.float32)
    assert not report.findings, of_check(report)
    assert np.array_equal(result, a[:16] + a[16:32]), "the sums are wrong"


# %%
mended = None  # mended = """..."""

solved = check_halves(mended)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
solved = check_halves("""
__global__ void halves(const float* x, float* y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    if (t < 16) {
        s[t] = x[t];
        s[t + 16] = x[t + 16];
    }
    __syncthreads();
    if (t >= 16) y[t - 16] = s[t - 16] + s[t];
}""")
assert solved

# %% [markdown]
# ## Exercise 4: a histogram
#
# This kernel counts how often each value occurs. Two mistakes are in it: one of them is in the kernel, the other one in
# the call.

# %%
histogram = """
__global__ void histogram(const int* values, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bins[values[i]] += 1;
}"""
values = rng.integers(0, 10, 500, dtype=np.int32)


def count_values(source):
    bins = cs.empty(10, np.int32)
    cs.Module(source).histogram[4, 128](cs.to_device(values), bins, 500)
    return bins.to_host()


# %%
# %%check
count_values(histogram).sum()


# %%
@course.exercise
def check_histogram(source, program):
    with cs.check() as report:
        result = program(source)
    assert not report, of_check(report)
    assert np.array_equal(result, np.bincount(values, minlength=10)), "a count is wrong"


# %%
mended = None  # mended = """..."""
program = None  # def program(source): ...

solved = check_histogram(mended, program)

# %% [markdown]
# A solution is in the next cell, which is folded.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def count_from_zero(source):
    bins = cs.zeros(10, np.int32)
    cs.Module(source).histogram[4, 128](cs.to_device(values), bins, 500)
    return bins.to_host()


solved = check_histogram(
    """
__global__ void histogram(const int* values, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[values[i]], 1);
}""",
    count_from_zero,
)
assert solved

# %% [markdown]
# ## Exercise 5: two streams
#
# Commands of two streams run at the same time unless something orders them. This program copies an array to the device in
# one stream, doubles it in another one, and copies the result back. The report draws both calls on their streams, and
# names the missing line.

# %%
twice = cs.Module("""
__global__ void twice(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}""").twice
data = cs.pinned_empty(1000)
data[:] = a


def doubled():
    uploads, work = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    x = cs.empty(1000, stream=uploads)
    x.copy_from(data, stream=uploads)
    twice[4, 256, work](x, 1000)
    return x.to_host(stream=work)


# %%
# %%check
doubled()[:3]


# %%
@course.exercise
def check_doubled(program):
    with cs.check() as report:
        result = program()
    assert not report, of_check(report)
    assert np.array_equal(result, 2 * a), "the numbers are not doubled"
    with cs.trace() as trace:
        program()
    streams = trace.spans["stream"][np.isin(trace.spans["name"], ["twice", "host to device"])]
    assert len(set(streams.tolist())) == 2, "let the copy and the kernel stay in a stream each"


# %%
mended = None  # def mended(): ...

solved = check_doubled(mended)

# %% [markdown]
# A solution is in the next cell, which is folded.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def doubled_in_order():
    uploads, work = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    x = cs.empty(1000, stream=uploads)
    x.copy_from(data, stream=uploads)
    work.wait(uploads)
    twice[4, 256, work](x, 1000)
    return x.to_host(stream=work)


solved = check_doubled(doubled_in_order)
assert solved

# %% [markdown]
# ## Exercise 6: a buffer that is filled again
#
# The program sends three chunks through one page-locked buffer. A copy from page-locked memory returns at once, and reads
# the memory later.


# %%
def send(chunks, arrays, stream):
    buffer = cs.pinned_empty(1000)
    for chunk, array in zip(chunks, arrays, strict=True):
        buffer[:] = chunk
        array.copy_from(buffer, stream=stream)
    stream.synchronize()


chunks = [rng.random(1000, dtype=np.float32) for _ in range(3)]

# %%
# %%check
uploads = cs.Stream()
send(chunks, [cs.empty(1000, stream=uploads) for _ in range(3)], uploads)


# %%
@course.exercise
def check_send(program):
    with cs.check() as report:
        uploads = cs.Stream()
        arrays = [cs.empty(1000, stream=uploads) for _ in range(3)]
        program(chunks, arrays, uploads)
        results = [array.to_host(stream=uploads) for array in arrays]
    assert not report, of_check(report)
    assert all(map(np.array_equal, results, chunks)), "an array has the numbers of another chunk"


# %%
mended = None  # def mended(chunks, arrays, stream): ...

solved = check_send(mended)

# %% [markdown]
# A solution is in the next cell, which is folded. It has two buffers, so that the host fills one while the other one is
# sent.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def send_in_turns(chunks, arrays, stream):
    buffers, sent = [cs.pinned_empty(1000), cs.pinned_empty(1000)], [None, None]
    for step, (chunk, array) in enumerate(zip(chunks, arrays, strict=True)):
        which = step % 2
        if sent[which] is not None:
            sent[which].synchronize()
        buffers[which][:] = chunk
        array.copy_from(buffers[which], stream=stream)
        sent[which] = stream.record()
    stream.synchronize()


solved = check_send(send_in_turns)
assert solved

# %% [markdown]
# ## Exercise 7: a graph
#
# A graph that you build node by node has only the order that you give it. This one sets an array, and doubles it.


# %%
def graph_of(x):
    graph = cs.Graph()
    graph.add_memset(x, 3.0)
    graph.add_kernel(twice[4, 256], args=(x, 1000))
    return graph


def launch(make):
    stream = cs.Stream()
    x = cs.empty(1000, stream=stream)
    make(x).instantiate().launch(stream)
    return x.to_host(stream=stream)


# %%
# %%check
launch(graph_of)[:3]


# %%
@course.exercise
def check_graph(make):
    with cs.check() as report:
        result = launch(make)
    assert not report, of_check(report)
    assert (result == 6).all(), "each element should be 6"


# %%
mended = None  # def mended(x): ...

solved = check_graph(mended)

# %% [markdown]
# A solution is in the next cell, which is folded.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def graph_in_order(x):
    graph = cs.Graph()
    filled = graph.add_memset(x, 3.0)
    graph.add_kernel(twice[4, 256], args=(x, 1000), after=filled)
    return graph


solved = check_graph(graph_in_order)
assert solved

# %% [markdown]
# ## To try
#
# 1. `python -m cuscope check program.py` checks a program as it is. Try it on one of your own.
# 2. Put `__syncwarp()` in place of `__syncthreads()` into the loop of exercise 2. From which step on would it be enough?
# 3. In exercise 5, record an event before the copy, and let `work` wait for it. Does the report change?
# 4. Take the wait of the host out of the solution of exercise 6. What does the report say, and when?
