# %% [markdown]
# # Events, host functions and priorities
#
# Streams run independently, until you tell one to wait for another. This notebook shows the means for it: events, host
# functions, waits of the host, and priorities, which decide whose blocks go first.
#
# The programs run on simulated devices, whose times are exact and the same on every run: you need no GPU. Run the cells
# in order.

# %%
import os
import subprocess
import sys
import threading

import cuscope as cs
from cuscope import course
from cuscope.course import work  # the (start, end) of each piece of work in a trace, in nanoseconds

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

[before, behind] = work(ordered, "kernel", first)
[waited] = work(ordered, "kernel", second)
assert before[1] <= waited[0] < behind[1]  # it waits for the first kernel, and not for the second
ordered

# %% [markdown]
# Without the event, the kernel of the second stream starts at once.

# %%
with cs.trace() as free:
    launch(first, 100)
    launch(second, 100)

assert work(free, "kernel", second)[0][0] < work(free, "kernel", first)[0][1]
free.overlap("kernel", "kernel")

# %% [markdown]
# An event that was never recorded counts as having happened. A record sets it back, until the stream has come to it.

# %%
event = cs.Event()
never_recorded = event.query()
launch(first, 100)
event.record(first)
recorded = event.query()
event.synchronize()
print("never recorded:", never_recorded, " recorded:", recorded, " waited for:", event.query())
assert (never_recorded, recorded, event.query()) == (True, False, True)

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
# If you only need the order, `cs.Event(timing=False)` keeps no time (`cudaEventDisableTiming`), which may cost less.
# Asking for a time is an error then.

# %%
plain = cs.Event(timing=False)
plain.record(first)
plain.synchronize()
try:
    plain - start
    raise AssertionError("not refused")
except (ValueError, cs.CudaError) as error:
    print(error)

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
assert work(waits, "kernel", first)[0][1] <= call["end"] < work(waits, "kernel", second)[0][1]
waits

# %% [markdown]
# With the environment variable `CUDA_LAUNCH_BLOCKING=1`, every launch waits for its kernel. This helps you to find the
# launch that fails, and makes the program slow. CUDA reads it once, so the next cell starts a Python of its own.

# %%
PROGRAM = """
import cuscope as cs
with cs.Device("host:0"):
    kernel = cs.Module("__global__ void kernel() {}").kernel
    begin = cs.clock()
    kernel.launch(grid=1, block=1, duration=1e-3)
    print(1e6 * (cs.clock() - begin))
"""
launch_takes = {}
for blocking in "01":
    environment = {**os.environ, "CUDA_LAUNCH_BLOCKING": blocking}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    launch_takes[blocking] = float(done.stdout)
    print(
        f"CUDA_LAUNCH_BLOCKING={blocking}: the launch of a kernel of 1000 us takes {launch_takes[blocking]:.0f} us"
    )
assert launch_takes["0"] < 10
assert launch_takes["1"] > 1000

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

[before, behind] = work(called, "kernel", first)
function = called.spans[called.spans["kind"] == "host function"][0]
assert done == ["the first kernel has ended"]
assert before[1] <= function["start"]
assert function["end"] <= behind[0]
assert work(called, "kernel", second)[0][0] < before[1]  # the other stream goes on
called

# %% [markdown]
# Two streams call back when their chunk is there. The functions run one after the other, in the order in which the
# streams reach them.

# %%
order = []
launch(first, 300)
first.host_function(order.append, "first stream")
launch(second, 100)
second.host_function(order.append, "second stream")
cs.synchronize()

print(order)
assert order == ["second stream", "first stream"]

# %% [markdown]
# In the legacy default stream, a host function waits for the work of *all* streams before it, and the work behind it in
# all streams waits for the function.

# %%
with cs.trace() as barrier:
    launch(first, 100)
    launch(second, 300)
    device.default_stream.host_function(order.clear)
    launch(first, 100)

function = barrier.spans[barrier.spans["kind"] == "host function"][0]
[before, behind] = work(barrier, "kernel", first)
assert function["start"] >= work(barrier, "kernel", second)[0][1]
assert behind[0] >= function["end"]
barrier

# %% [markdown]
# A host function that calls the runtime could wait for itself. CUDA forbids it; cuscope refuses the call, and raises the
# error where you wait. Let the function wake a thread of yours instead.

# %%
first.host_function(lambda: cs.zeros(3))
try:
    first.synchronize()
    raise AssertionError("not refused")
except cs.CudaError as error:
    print(error)
    assert error.name == "cudaErrorNotPermitted"

ended = threading.Event()
first.host_function(ended.set)
first.synchronize()
assert ended.is_set()

# %% [markdown]
# ## Priorities
#
# When a block ends and its place becomes free, a waiting block of the stream with the greatest priority takes it. Smaller
# numbers are greater priorities. Blocks that already run are not interrupted. Here a kernel with four times as many
# blocks as fit on the device is followed by a small kernel on a stream with a greater priority.

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
# Programmatic dependent launch lets a kernel start before the kernel in front of it has ended: when all blocks of the
# first have called `cudaTriggerProgrammaticLaunchCompletion()`. The second kernel begins with work that does not need the
# first one, and waits in `cudaGridDependencySynchronize()` for its results.

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
# The nodes of a graph wait only for the nodes before them, so the two kernels in the middle run at the same time. A
# kernel on another stream does not wait for the graph.

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
# ## Exercise: a third stream
#
# Write `program(a, b, c)`: a kernel of 100 us in stream `a`, one of 200 us in `b`, and one of 50 us in `c` that starts
# when *both* have ended. The host may not wait. `launch(stream, microseconds)` launches a kernel.


# %%
@course.exercise
def check_third(program):
    a, b, c = cs.Stream(), cs.Stream(), cs.Stream()
    cs.synchronize()
    with cs.trace() as trace:
        program(a, b, c)
    kernels = [work(trace, "kernel", stream) for stream in (a, b, c)]
    assert [len(of) for of in kernels] == [1, 1, 1], "each stream gets one kernel"
    [[in_a], [in_b], [in_c]] = kernels
    assert in_b[0] < in_a[1], "a and b should run at the same time"
    assert in_c[0] >= max(in_a[1], in_b[1]), "the kernel in c starts before a kernel in front of it has ended"
    assert in_c[0] == in_b[1], "the kernel in c starts too late: does the host wait?"


# %%
program = None  # def program(a, b, c): ...

solved = check_third(program)

# %% [markdown]
# A solution is in the next cell, which is folded.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def both(a, b, c):
    launch(a, 100)
    launch(b, 200)
    c.wait(a.record())
    c.wait(b.record())
    launch(c, 50)


solved = check_third(both)
assert solved

# %% [markdown]
# ## To try
#
# 1. Let the first stream wait for the second as well, in the cell of the first event. Does the order of the calls matter?
# 2. Give the host function `time.sleep` and a second. Does the trace change? Simulated time is not the wall clock's.
# 3. Which `kernel.launch(..., priority=...)` gives a single kernel a priority of its own?
