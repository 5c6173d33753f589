# %% [markdown]
# # Streams and overlap
#
# A device has several engines: for copies to the device, for copies to the host, and multiprocessors for kernels. A
# *stream* is a sequence of work that runs in order. Work in different streams may run at the same time, if the engines are
# free. This notebook draws the figures of CUDA's documents, and checks in nanoseconds what the documents say.
#
# The programs run on simulated devices, whose times are exact and the same on every run: you need no GPU. Run the cells in
# order.

# %%
import itertools

import cuscope as cs


def work(trace, name, stream=None):
    """The pieces of work of this name, as (start, end) in nanoseconds, in the order of their starts."""
    spans = trace.spans[trace.spans["device"] != ""]
    chosen = (spans["name"] == name) & ((stream is None) | (spans["stream"] == stream))
    return [(int(span["start"]), int(span["end"])) for span in spans[chosen]]


def summary(trace):
    copies, kernels = trace.busy("copy"), trace.busy("kernel")
    print(f"{trace.duration / 1000:.0f} us; copies take {copies:.0%} of the time, kernels {kernels:.0%}")


cs.models()

# %% [markdown]
# ## One stream
#
# Two chunks of data are copied to the device, computed, and copied back. In one stream, each step starts when the step
# before it ends. Point at a bar to see its times.

# %%
single = cs.figures.one_stream("h200")
summary(single)

steps = single.spans[single.spans["device"] != ""]
assert (steps["start"][1:] == steps["end"][:-1]).all()
assert single.overlap("copy", "kernel") == 0
single

# %% [markdown]
# ## Two streams
#
# The same two chunks in a stream each. The host issues everything for the first chunk, then everything for the second:
# *depth first*. Now the second chunk is copied in while the first one is computed.

# %%
double = cs.figures.depth_first("h200")
summary(double)

[first_in, second_in] = work(double, "host to device")
[first_kernel, second_kernel] = work(double, "kernel")
assert first_kernel[0] == first_in[1]
assert second_kernel[0] == second_in[1]
assert second_in[0] < first_kernel[1]  # the copy starts before the kernel ends
assert double.duration < 0.75 * single.duration
double

# %% [markdown]
# With more chunks and streams, you see the staircase of the documents. The engine for one direction does one copy after
# the other, so the copies in take turns.

# %%
stairs = cs.figures.depth_first("h200", chunks=4, streams=4)
summary(stairs)

finish = cs.model("h200").copy_finish_ns  # the end of a copy, in which its engine begins the next one
copies = work(stairs, "host to device")
assert all(later[0] == earlier[1] - finish for earlier, later in itertools.pairwise(copies))
stairs

# %% [markdown]
# ## One copy engine
#
# Early devices had a single copy engine for both directions. It does the copies in the order in which the host issues
# them. Depth first, the copy in of the second chunk was issued after the copy out of the first, so it waits for it: the two
# streams do not overlap at all, just as the documents say.

# %%
blocked = cs.figures.depth_first("c1060")
summary(blocked)

assert work(blocked, "host to device")[1][0] == work(blocked, "device to host")[0][1]
assert blocked.duration == cs.figures.one_stream("c1060").duration
blocked

# %% [markdown]
# *Breadth first*, the host issues both copies in, then both kernels, then both copies out. Now the second copy in overlaps
# with the first kernel.

# %%
rewritten = cs.figures.breadth_first("c1060")
summary(rewritten)

assert work(rewritten, "host to device")[1][0] == work(rewritten, "host to device")[0][1]
assert rewritten.overlap("copy", "kernel") > 0.3
assert rewritten.duration < blocked.duration
rewritten

# %% [markdown]
# ## One queue for kernels
#
# The model `fermi` has two copy engines, and the order matters the other way round. A copy out has to know that its kernel
# has ended. If another kernel is queued behind that kernel, the device tells the ends of both together: breadth first, the
# first copy out waits for the second kernel.

# %%
late = cs.figures.breadth_first("fermi")
summary(late)

[first_kernel, second_kernel] = work(late, "kernel")
assert work(late, "device to host")[0][0] == second_kernel[1] > first_kernel[1]
assert work(cs.figures.depth_first("fermi"), "device to host")[0][0] < second_kernel[1]
late

# %% [markdown]
# ## The order of issue, on four generations
#
# From `k20x` on, the device has many queues, and the order does not matter any more.

# %%
print("us          one stream   depth first   breadth first")
took = {}
for model in ("c1060", "fermi", "k20x", "h200"):
    ways = cs.figures.one_stream, cs.figures.depth_first, cs.figures.breadth_first
    took[model] = [way(model).duration for way in ways]
    print(
        f"{model:6s} {took[model][0] / 1000:15.0f} {took[model][1] / 1000:13.0f} {took[model][2] / 1000:15.0f}"
    )

assert took["c1060"][2] < took["c1060"][1] == took["c1060"][0]
assert took["fermi"][1] < took["fermi"][2] < took["fermi"][0]
for model in ("k20x", "h200"):
    assert abs(took[model][1] - took[model][2]) < 0.01 * took[model][0]

# %% [markdown]
# ## Page-locked memory
#
# A copy overlaps with other work only if the host's memory is page-locked. Here a copy goes into one stream, and then a
# kernel into another. With page-locked memory, the call returns at once, and both run at the same time.

# %%
locked = cs.figures.host_memory("h200")

[copy], [kernel] = work(locked, "host to device"), work(locked, "kernel")
assert kernel[0] < copy[1]
locked

# %% [markdown]
# With pageable memory, the call comes back after the copy. The host issues the kernel too late for any overlap, and the
# copy itself is slower.

# %%
pageable = cs.figures.host_memory("h200", pageable=True)

[slow_copy], [kernel] = work(pageable, "host to device"), work(pageable, "kernel")
assert kernel[0] > slow_copy[1]
assert slow_copy[1] - slow_copy[0] > 1.5 * (copy[1] - copy[0])
pageable

# %% [markdown]
# ## Three ways to copy
#
# A synchronous copy keeps the host waiting; then the launch takes its time, too. An asynchronous copy in the same stream
# saves that time. Only in another stream does the kernel run beside the copy, and then it must not need the copied data.

# %%
waiting = {}
for way in ("synchronous", "same stream", "different streams"):
    trace = cs.figures.copy_and_kernel("h200", copy=way)
    [copy], [kernel] = work(trace, "host to device"), work(trace, "kernel")
    waiting[way] = kernel[0] - copy[1]
    print(f"{way:17s} the kernel starts {waiting[way] / 1000:7.1f} us after the end of the copy")

assert waiting["synchronous"] > waiting["same stream"] == 0 > waiting["different streams"]
trace

# %% [markdown]
# ## To try
#
# 1. Draw `cs.figures.depth_first("h200", chunks=8, streams=2)` and the same with 3 streams. What limits each of them?
# 2. Make a device of your own: `cs.model("h200", copy_engines=1)`. Which order of issue does it need?
# 3. Give the kernels twice the time (`kernel=2`). On which models do they overlap?
# 4. Ask a trace for advice: `print(single.explain())`.
