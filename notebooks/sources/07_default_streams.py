# %% [markdown]
# # Default streams and implicit synchronization
#
# Work without a stream goes to the *default stream*. The *legacy* default stream is special: it waits for the work of
# other streams, and they wait for it. This is called implicit synchronization, and it is a common reason why programs with
# streams do not overlap. This notebook shows when it happens.
#
# The programs run on simulated devices, whose times are exact and the same on every run: you need no GPU. Run the cells in
# order.

# %%
import cuscope as cs


def work(trace, name, stream=None):
    """The pieces of work of this name, as (start, end) in nanoseconds, in the order of their starts."""
    spans = trace.spans[trace.spans["device"] != ""]
    chosen = (spans["name"] == name) & ((stream is None) | (spans["stream"] == stream))
    return [(int(span["start"]), int(span["end"])) for span in spans[chosen]]


WAYS = ("default", "default and created", "default and non-blocking", "two created")

# %% [markdown]
# ## Two kernels that need half of the device each
#
# There is room for both, so it depends on their streams whether they overlap. Both in the default stream: they follow each
# other.

# %%
trace = cs.figures.half_kernels("h200", streams="default")

[one, other] = work(trace, "kernel")
assert other[0] == one[1]
trace

# %% [markdown]
# One in the default stream and one in a created stream: they still follow each other, because the created stream waits for
# the default stream.

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
# The other operations of the list are allocations, and another configuration of the shared memory. They give the device no
# work. On the simulated devices they take the host's time, during which it issues nothing, but the kernels overlap
# afterwards. The documents list these operations among those that prevent an overlap, so do not rely on it. Allocate before the
# work begins, or in stream order (`cs.empty`).

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
# ## To try
#
# 1. Make one of the two streams of the last program with `non_blocking=True`. What does the memset still wait for?
# 2. Trace a program of yours: `python -m cuscope trace program.py --out trace.svg`. Does any work wait for the default
#    stream?
# 3. On `c1060`, which of the figures above overlap at all, and why?
