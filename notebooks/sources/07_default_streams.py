# %% [markdown]
# # Default streams and implicit synchronization
#
# Work without a stream goes to the *default stream*. The *legacy* default stream is special: it waits for the work of
# other streams, and they wait for it. This is called implicit synchronization, and it is a common reason why programs
# with streams do not overlap. This notebook shows when it happens.
#
# The programs run on simulated devices, whose times are exact and the same on every run: you need no GPU. Run the cells
# in order.

# %%
import threading

import cuscope as cs
from cuscope import course
from cuscope.course import work  # the (start, end) of each piece of work in a trace, in nanoseconds

WAYS = ("default", "default and created", "default and non-blocking", "two created")

# %% [markdown]
# ## Two kernels that need half of the device each
#
# There is room for both, so it depends on their streams whether they overlap. Both in the default stream: they follow
# each other.

# %%
trace = cs.figures.half_kernels("h200", streams="default")

[one, other] = work(trace, "kernel")
assert other[0] == one[1]
trace

# %% [markdown]
# One in the default stream and one in a created stream: they still follow each other, because the created stream waits
# for the default stream.

# %%
trace = cs.figures.half_kernels("h200", streams="default and created")

[one, other] = work(trace, "kernel")
assert other[0] == one[1]
trace

# %% [markdown]
# A stream that was made with `cs.Stream(non_blocking=True)` takes no part in this.

# %%
trace = cs.figures.half_kernels("h200", streams="default and non-blocking")

[one, other] = work(trace, "kernel")
assert other[0] < one[1]
trace

# %% [markdown]
# Neither do two created streams wait for each other.

# %%
trace = cs.figures.half_kernels("h200", streams="two created")

[one, other] = work(trace, "kernel")
assert other[0] < one[1]
trace

# %% [markdown]
# On a device that runs one kernel at a time, no choice of streams helps.

# %%
print("share of the kernel time in which both run")
for model in ("c1060", "fermi", "k20x", "h200"):
    shares = [cs.figures.half_kernels(model, streams=way).overlap("kernel", "kernel") for way in WAYS]
    print(f"{model:6s}", *(f"{way}: {share:4.0%} " for way, share in zip(WAYS, shares, strict=True)))
    assert shares[:2] == [0, 0]
    assert [share > 0.9 for share in shares[2:]] == [model != "c1060"] * 2

# %% [markdown]
# ## A default stream for each thread
#
# Programs that nvcc compiles with `--default-stream per-thread` have another default stream: each thread of the host has
# its own, and it is an ordinary stream. In cuscope this is `device.per_thread_stream`, and the legacy one is
# `device.default_stream`. Two threads that use the legacy stream share it; with streams of their own, their kernels
# overlap.

# %%
device = cs.add_host_device("h200")
with device:
    kernel = cs.Module("__global__ void kernel() {}").kernel
    device.synchronize()


def two_threads(stream_of):
    def one_thread():
        with device:
            kernel.launch(grid=16, block=256, stream=stream_of(device), duration=2e-4)

    with cs.trace() as trace:
        for _ in range(2):  # one after the other, so that the trace is the same on every run
            thread = threading.Thread(target=one_thread)
            thread.start()
            thread.join()
        device.synchronize()
    return trace


legacy = two_threads(lambda device: device.default_stream)
per_thread = two_threads(lambda device: device.per_thread_stream)
print("share of the kernel time in which both run, legacy:", legacy.overlap("kernel", "kernel"), end=" ")
print(f"per thread: {per_thread.overlap('kernel', 'kernel'):.2f}")
assert legacy.overlap("kernel", "kernel") == 0
assert per_thread.overlap("kernel", "kernel") > 0.2

# %% [markdown]
# ## The list of the documents
#
# The documents list operations that keep commands of two streams from running at the same time, if the host issues one of
# them in between. Three of them are work of the default stream: a memset, a copy on the device, and anything else there.
# The operation waits for the first kernel, and the second kernel waits for it.

# %%
for operation, name in (
    ("memset", "memset"),
    ("copy on device", "device to device"),
    ("default stream", "kernel"),
):
    for model in ("c1060", "fermi", "k20x", "h200"):
        trace = cs.figures.implicit_synchronization(model, operation=operation)
        [one], [between], [other] = work(trace, "kernel", 1), work(trace, name, 0), work(trace, "kernel", 2)
        assert between[0] == one[1]
        assert other[0] == between[1]
trace

# %% [markdown]
# The other operations of the list are allocations, and another configuration of the shared memory. They give the device
# no work. On the simulated devices they take the host's time, during which it issues nothing, but the kernels overlap
# afterwards. The documents say that these operations prevent an overlap, so do not rely on it. Allocate
# before the work begins, or in stream order (`cs.empty`).

# %%
for operation in ("none", "page-locked allocation", "device allocation", "shared memory configuration"):
    trace = cs.figures.implicit_synchronization("h200", operation=operation)
    [one, other] = work(trace, "kernel")
    print(f"{operation:27s} the second kernel starts {(other[0] - one[0]) / 1000:5.1f} us after the first")
    assert other[0] < one[1]
cs.figures.implicit_synchronization("h200", operation="page-locked allocation")

# %% [markdown]
# ## Your own program
#
# A trace says why work started when it did. If the reason is "default stream", you have found implicit synchronization.
# Forgetting `stream=` in one place is enough.

# %%
with cs.add_host_device("h200"):
    kernel = cs.Module("__global__ void kernel() {}").kernel
    array = cs.empty(1 << 20)
    one, other = cs.Stream(), cs.Stream()
    cs.synchronize()

    def program(stream_of_fill):
        with cs.trace() as trace:
            kernel.launch(grid=16, block=256, stream=one, duration=1e-4)
            array.fill(0, stream=stream_of_fill)
            kernel.launch(grid=16, block=256, stream=other, duration=1e-4)
        return trace

    forgotten, given = program(None), program(other)

assert forgotten.overlap("kernel", "kernel") == 0
assert given.overlap("kernel", "kernel") > 0.8
print(forgotten.explain())
forgotten

# %% [markdown]
# ## Exercise: which kernels wait?
#
# Three kernels are issued one behind the other, each with room for all: into stream A, into stream B, into stream C. For
# each line of the table, do the second and the third kernel overlap with the first? Answer with pairs of True and False.
#
# | | A | B | C |
# | --- | --- | --- | --- |
# | 1 | created | created | created |
# | 2 | created | default | created |
# | 3 | created | default | non-blocking |
# | 4 | non-blocking | default | created |

# %%
LINES = {
    1: ("created", "created", "created"),
    2: ("created", "default", "created"),
    3: ("created", "default", "non-blocking"),
    4: ("non-blocking", "default", "created"),
}


def overlaps(line):
    with cs.add_host_device("h200") as device:
        kernel = cs.Module("__global__ void kernel() {}").kernel
        kinds = {"created": cs.Stream, "non-blocking": lambda: cs.Stream(non_blocking=True)}
        streams = [kinds[kind]() if kind in kinds else device.default_stream for kind in LINES[line]]
        device.synchronize()
        with cs.trace() as trace:
            for stream in streams:
                kernel.launch(grid=16, block=256, stream=stream, duration=2e-4)
        [a], [b], [c] = (work(trace, "kernel", stream) for stream in streams)
    return b[0] < a[1], c[0] < a[1]


@course.exercise
def check_waits(answers):
    for line in LINES:
        assert tuple(answers[line]) == overlaps(line), f"line {line}: look again at A = {LINES[line][0]}"


# %%
answers = None  # for example {1: (True, True), 2: ...}

solved = check_waits(answers)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
# The default stream waits for created streams, and they for it. A non-blocking stream does not take part.
solved = check_waits({1: (True, True), 2: (False, False), 3: (False, True), 4: (True, False)})
assert solved

# %% [markdown]
# ## To try
#
# 1. Make one of the two streams of the last program with `non_blocking=True`. What does the memset still wait for?
# 2. Trace a program of yours: `python -m cuscope trace program.py --out trace.svg`. Does any work wait for the default
#    stream?
# 3. On `c1060`, which of the figures above overlap at all, and why?
