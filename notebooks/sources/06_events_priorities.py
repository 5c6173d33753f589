# %% [markdown]
# # Events, host functions and priorities
#
# Streams run independently, until you tell one to wait for another. This notebook shows the means for it: events, host
# functions, waits of the host, and priorities, which say who goes first.
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


device = cs.add_host_device("h200")
cs.set_device(device)
kernel = cs.Module("__global__ void kernel() {}").kernel
first, second = cs.Stream(), cs.Stream()
cs.synchronize()


def launch(stream, microseconds):
    kernel.launch(grid=16, block=256, stream=stream, duration=microseconds * 1e-6)


device

# %% [markdown]
# ## An event orders two streams
#
# `first.record()` puts an event into a stream. It completes when all work before it in that stream has ended. After
# `second.wait(event)`, new work in the second stream waits for it. The host does not wait.

# %%
with cs.trace() as ordered:
    launch(first, 100)
    event = first.record()
    launch(first, 100)
    second.wait(event)
    launch(second, 100)

[before, behind] = work(ordered, "kernel", first.id)
[waited] = work(ordered, "kernel", second.id)
assert before[1] <= waited[0] < behind[1]  # it waits for the first kernel, and not for the second
ordered

# %% [markdown]
# Without the event, the kernel of the second stream starts at once.

# %%
with cs.trace() as free:
    launch(first, 100)
    launch(second, 100)

assert work(free, "kernel", second.id)[0][0] < work(free, "kernel", first.id)[0][1]
free.overlap("kernel", "kernel")

# %% [markdown]
# ## Events measure time
#
# The difference of two events is the time between them on the device, in milliseconds. It includes the time that the work
# between them has waited.

# %%
start = first.record()
launch(first, 250)
stop = first.record()
stop.synchronize()

print(f"{stop - start:.4f} ms")
assert 0.25 <= stop - start < 0.26

# %% [markdown]
# ## The host waits
#
# `query()` says whether the work of a stream or an event is done. `synchronize()` waits for it. Waiting for one stream
# leaves the others running.

# %%
with cs.trace() as waits:
    launch(first, 100)
    launch(second, 400)
    assert not first.query()
    first.synchronize()
    assert first.query()
    assert not second.query()
    cs.synchronize()

call = waits.spans[waits.spans["name"] == "cudaStreamSynchronize"][0]
assert work(waits, "kernel", first.id)[0][1] <= call["end"] < work(waits, "kernel", second.id)[0][1]
waits

# %% [markdown]
# ## Host functions
#
# A host function runs on the host when the work before it in its stream has ended, and the work behind it waits for it.
# It must not call the runtime.

# %%
done = []
with cs.trace() as called:
    launch(first, 100)
    first.host_function(done.append, "the first kernel has ended")
    launch(first, 100)
    launch(second, 300)

[before, behind] = work(called, "kernel", first.id)
function = called.spans[called.spans["kind"] == "host function"][0]
assert done == ["the first kernel has ended"]
assert before[1] <= function["start"]
assert function["end"] <= behind[0]
assert work(called, "kernel", second.id)[0][0] < before[1]  # the other stream goes on
called

# %% [markdown]
# ## Priorities
#
# When a block ends and its place becomes free, a waiting block of the stream with the greatest priority takes it. Smaller
# numbers are greater priorities. Blocks that already run are not interrupted. Here a kernel with four times as many blocks
# as fit on the device is followed by a small kernel on a stream with a greater priority.

# %%
print("least and greatest priority:", device.stream_priority_range)
urgent = cs.figures.priorities("h200")

[large], [small] = work(urgent, "kernel", 1), work(urgent, "kernel", 2)
assert small[0] == large[0] + 200_000  # when the first quarter of the blocks has ended
assert small[1] < large[1]
urgent

# %% [markdown]
# With equal priorities, the small kernel waits until all blocks of the large one have had their turn.

# %%
equal = cs.figures.priorities("h200", prioritized=False)

[large], [small] = work(equal, "kernel", 1), work(equal, "kernel", 2)
assert small[0] == large[1]
equal

# %% [markdown]
# ## Starting before the end
#
# Programmatic dependent launch lets a kernel start before the kernel in front of it has ended: when all blocks of the first
# have called `cudaTriggerProgrammaticLaunchCompletion()`. The second kernel begins with work that does not need the first
# one, and waits in `cudaGridDependencySynchronize()` for its results.

# %%
early, late = cs.figures.dependent_launch("h200"), cs.figures.dependent_launch("h200", programmatic=False)

for trace in (early, late):
    [primary], [secondary] = work(trace, "primary"), work(trace, "secondary")
    print(f"the second kernel starts {(secondary[0] - primary[1]) / 1000:.0f} us after the end of the first")
assert work(late, "secondary")[0][0] == work(late, "primary")[0][1]
assert work(early, "secondary")[0][0] < work(early, "primary")[0][1]
assert late.duration - early.duration > 70_000  # the 80 us of independent work are hidden
early

# %% [markdown]
# ## A graph beside a stream
#
# The nodes of a graph wait only for the nodes before them, so the two kernels in the middle run at the same time. A kernel
# on another stream does not wait for the graph.

# %%
graph = cs.figures.graph_beside_stream("h200")

[copied_in], [copied_out] = work(graph, "host to device"), work(graph, "device to host")
[one, other] = work(graph, "kernel", 1)
[beside] = work(graph, "kernel", 2)
assert one[0] == other[0] == copied_in[1]
assert copied_out[0] == one[1]
assert beside[0] < copied_in[1]
graph

# %% [markdown]
# ## To try
#
# 1. Let the first stream wait for the second as well, in the cell of the first event. Does the order of the calls matter?
# 2. Give the host function `time.sleep` and a second. Does the trace change? Simulated time is not the wall clock's.
# 3. Which `kernel.launch(..., priority=...)` gives a single kernel a priority of its own?
