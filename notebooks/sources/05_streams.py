# %% [markdown]
# # Streams and overlap
#
# A device has several engines: for copies to the device, for copies to the host, and multiprocessors for kernels. A
# *stream* is a sequence of work that runs in order. Work in different streams may run at the same time, if the engines
# are free. This notebook draws the figures of CUDA's documents, and checks their statements in nanoseconds.
#
# The figures run on simulated devices, whose times are exact and the same on every run: you need no GPU. The program at
# the end also runs on the current device: a GPU if you have one. Run the cells in order.

# %%
import itertools

import numpy as np

import cuscope as cs
from cuscope import course
from cuscope.course import work  # the (start, end) of each piece of work in a trace, in nanoseconds


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
# ## Six kinds of work at a time
#
# CUDA lists six kinds of work that can run at the same time: computation on the host, kernels, copies to the device,
# copies to the host, copies within the device, and copies between devices. The next cell starts all of them on two
# devices.

# %%
one, two = cs.add_host_device("h200"), cs.add_host_device("h200")
size = 16 << 20
with two:
    on_two = cs.empty_plain(size)
    other_stream = cs.Stream()
with one:
    kernel = cs.Module("__global__ void kernel() {}").kernel
    a, b, c, d = (cs.empty_plain(size) for _ in range(4))
    host_in, host_out = cs.pinned_empty(size, np.float32), cs.pinned_empty(size, np.float32)
    host_in[:] = 1
    streams = [cs.Stream() for _ in range(4)]
    one.synchronize()
    two.synchronize()
    with cs.trace() as six:
        kernel.launch(grid=16, block=256, stream=streams[0], duration=1e-3)
        a.copy_from(host_in, stream=streams[1])
        b.copy_to(host_out, stream=streams[2])
        on_two.copy_from(d, stream=other_stream)
        c.copy_from(d, stream=streams[3])
        with cs.range("the host computes"):
            cs.host_work(1e-3)

kinds = ["kernel", "host to device", "device to host", "device to device", "device to other device"]
spans = {kind: work(six, kind)[0] for kind in kinds}
[host] = six.spans[six.spans["kind"] == "range"]
spans["host"] = (int(host["start"]), int(host["end"]))
for kind, (start, end) in spans.items():
    print(f"{kind:22s} {start / 1000:7.1f} .. {end / 1000:7.1f} us")
assert max(start for start, _ in spans.values()) < min(
    end for _, end in spans.values()
)  # a moment with all six
six

# %% [markdown]
# ## One copy engine
#
# Early devices had a single copy engine for both directions. It does the copies in the order in which the host issues
# them. Depth first, the copy in of the second chunk was issued after the copy out of the first, so it waits for it: the
# two streams do not overlap at all, just as the documents say.

# %%
blocked = cs.figures.depth_first("c1060")
summary(blocked)

assert work(blocked, "host to device")[1][0] == work(blocked, "device to host")[0][1]
assert blocked.duration == cs.figures.one_stream("c1060").duration
blocked

# %% [markdown]
# *Breadth first*, the host issues both copies in, then both kernels, then both copies out. Now the second copy in
# overlaps with the first kernel.

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
# The model `fermi` has two copy engines, and the order matters the other way round. A copy out has to know that its
# kernel has ended. If another kernel is queued behind that kernel, the device tells the ends of both together: breadth
# first, the first copy out waits for the second kernel.

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
# ## How many queues?
#
# A program may have any number of streams, but from compute capability 3.5 on the hardware has 32 queues for them. If there
# are more streams, some share a queue. A command that waits for its turn then holds up the streams behind it in the
# queue. Here each stream gets two kernels of one block and 1 ms. The device has room for all of them, so they should
# take 2 ms.

# %%
with cs.add_host_device("h200") as device:
    tiny = cs.Module("__global__ void tiny() {}").tiny
    took = {}
    for count in (32, 33):
        streams = [cs.Stream() for _ in range(count)]
        device.synchronize()
        with cs.trace() as trace:
            for stream in streams:
                for _ in range(2):
                    tiny.launch(grid=1, block=32, stream=stream, duration=1e-3)
        kernels = work(trace, "tiny")
        took[count] = (max(end for _, end in kernels) - kernels[0][0]) / 1e6
        print(f"{count} streams: {took[count]:.2f} ms")

assert round(took[32]) == 2
assert round(took[33]) == 3

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
# ## Which calls return at once?
#
# Calls that give the device work usually return before the work is done. Here each of them is made while the device is
# busy for a millisecond. Copies of pageable memory wait, unless they bring at most 64 KB to the device: the driver keeps
# these bytes.

# %%
with cs.add_host_device("h200") as device:
    busy = cs.Module("__global__ void busy() {}").busy
    size = 1 << 20
    x, y = cs.empty(size), cs.empty(size)
    locked_memory, pageable_memory = cs.pinned_empty(size, np.float32), np.zeros(size, np.float32)
    locked_memory[:] = 0
    at_most_64_kb = slice(0, (64 << 10) // 4)
    calls = {
        "launch of a kernel": lambda: busy[1, 1](),
        "memset": lambda: x.fill(1),
        "copy on the device": lambda: y.copy_from(x),
        "page-locked, to the device": lambda: x.copy_from(locked_memory),
        "page-locked, to the host": lambda: x.copy_to(locked_memory),
        "pageable, 64 KB to the device": lambda: x[at_most_64_kb].copy_from(pageable_memory[at_most_64_kb]),
        "pageable, to the device": lambda: x.copy_from(pageable_memory),
        "pageable, to the host": lambda: x.copy_to(pageable_memory),
    }
    returns = {}
    for name, call in calls.items():
        device.synchronize()
        busy.launch(grid=1, block=1, duration=1e-3)
        began = cs.clock()
        call()
        returns[name] = not cs.current_stream().query()
        print(
            f"{name:30s} {'returns' if returns[name] else 'waits':7s} after {1e6 * (cs.clock() - began):6.0f} us"
        )
    device.synchronize()

assert [name for name in calls if not returns[name]] == ["pageable, to the device", "pageable, to the host"]

# %% [markdown]
# Closing a stream (`cudaStreamDestroy`) returns at once, too, even if the stream has work. The work goes on, and the
# stream is freed behind it.

# %%
with cs.add_host_device("h200") as device:
    kernel = cs.Module("__global__ void kernel(int* x) { *x = 42; }").kernel
    x, stream = cs.zeros(1, np.int32), cs.Stream()
    device.synchronize()
    began = cs.clock()
    kernel.launch(x, grid=1, block=1, stream=stream, duration=1e-3)
    stream.close()
    closed = cs.clock() - began
    device.synchronize()
    print(
        f"the stream is closed after {1e6 * closed:.0f} us, its work has ended after {1e6 * (cs.clock() - began):.0f} us"
    )
    assert closed < 1e-4 < 1e-3 < cs.clock() - began
    assert x.to_host()[0] == 42

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
# ## A whole program: averages in chunks
#
# The data of this program is larger than the part that you want to keep on the device. So it is divided into chunks. For
# each chunk, `a` and `b` are copied to the device, a kernel averages three neighbours of each, and `c` is copied back.
# The chunks do not depend on each other.
#
# Does the device copy while it computes? Its properties say so: `async_engine_count` is the number of copy engines, and
# `concurrent_kernels` whether two kernels can run at the same time.

# %%
course.show("averaging/01_averaging", "__device__ inline", "c[i] =")
print("\ncopy engines, concurrent kernels")
for model in ("c1060", "fermi", "k20x", "h200"):
    properties = cs.add_host_device(model).properties
    print(f"{model:6s} {properties.async_engine_count} {properties.concurrent_kernels}")
    assert properties.async_engine_count >= 1  # otherwise streams would not help
    assert properties.concurrent_kernels == (model != "c1060")

# %% [markdown]
# `depth first` issues all steps of a chunk, then all steps of the next one. `breadth first` takes the chunks in pairs: `a` of
# both, `b` of both, both kernels, `c` of both.

# %%
chunks, chunk = 8, 1 << 19
source = (course.kernel_sources("averaging") / "01_averaging.cu").read_text()
values = np.random.default_rng(5).integers(0, 1 << 24, (2, chunks, chunk), np.int32)


def smoothed(x):
    at = np.arange(x.shape[1])
    total = x.astype(np.int64) + x[:, (at + 1) % 256] + x[:, (at + 2) % 256]
    return total.astype(np.float32) / np.float32(3)


averages = np.trunc((smoothed(values[0]) + smoothed(values[1])) / 2).astype(np.int32)


def run(streams, make=cs.pinned_empty, together=1, size=chunk, duration=None):
    """The first `size` elements of all chunks, `together` of them side by side. Returns the time, in milliseconds."""
    averaging = cs.Module(source).averaging
    host_a, host_b, host_c = (make((chunks, size), np.int32) for _ in range(3))
    host_a[:], host_b[:] = values[..., :size]
    host_c[:] = -1
    buffers = [[cs.empty(size, np.int32, stream=stream) for _ in range(3)] for stream in streams]
    steps = (
        lambda i, a, b, c: a.copy_from(host_a[i]),
        lambda i, a, b, c: b.copy_from(host_b[i]),
        lambda i, a, b, c: averaging.launch(a, b, c, size, grid=size // 256, block=256, duration=duration),
        lambda i, a, b, c: c.copy_to(host_c[i]),
    )
    with streams[0]:
        steps[2](0, *buffers[0])  # once before, because the first launch loads the kernel
    for stream in streams:
        stream.synchronize()
    began = cs.clock()
    for first in range(0, chunks, together):
        for step in steps:
            for i in range(first, first + together):
                with streams[i % len(streams)]:
                    step(i, *buffers[i % len(streams)])
    for stream in streams:
        stream.synchronize()
    ended = cs.clock()
    assert np.abs(host_c - averages[:, :size]).max() <= 1
    return (ended - began) * 1000


device = cs.current_device()
print("milliseconds, simulated" if device.simulated else "milliseconds, measured", "on", device)
ways = {
    "one stream, pageable memory": (1, np.empty),
    "one stream, page-locked memory": (1, cs.pinned_empty),
    "two streams, page-locked memory": (2, cs.pinned_empty),
    "three streams, page-locked memory": (3, cs.pinned_empty),
}
took = {}
for title, (count, make) in ways.items():
    # On a GPU, the best of three runs: other programs may use its copy engines, too.
    took[title] = min(
        run([cs.Stream() for _ in range(count)], make) for _ in range(1 if device.simulated else 3)
    )
    print(f"{title:34s} {took[title]:7.3f}")
if device.simulated:
    assert took["two streams, page-locked memory"] < took["one stream, page-locked memory"]
    assert took["one stream, page-locked memory"] < took["one stream, pageable memory"]

# %% [markdown]
# With two streams, one chunk is copied in while another is copied out. Most of the time goes to the copies in, so more
# streams overlap little more. The kernel takes little time: the device's own memory is many times faster than the bus to
# it.
#
# ### On the device of the documents
#
# The documents explain the order of issue for a device with *one* copy engine and one engine for kernels: the model
# `c1060`. The copy of `c` to the host waits for its kernel. Depth first, it stands in the queue of the copy engine
# *before* the copies in of the next chunk, and blocks them. So two streams are no faster than one. Breadth first, the
# copies in of the second stream run while the first kernel computes. The chunks are smaller here, and the kernels take
# 250 us, about as long as the copies.


# %%
def traced(model, count, together):
    with cs.add_host_device(model), cs.trace() as trace:
        run([cs.Stream() for _ in range(count)], together=together, size=1 << 17, duration=2.5e-4)
    return trace


def milliseconds(trace):
    """From the start of the first copy in to the end of the last copy out."""
    [first, *_], [*_, last] = work(trace, "host to device"), work(trace, "device to host")
    return (last[1] - first[0]) / 1e6


single, deep, broad = traced("c1060", 1, 1), traced("c1060", 2, 1), traced("c1060", 2, 2)
for name, trace in (("one stream", single), ("two, depth first", deep), ("two, breadth first", broad)):
    hidden = trace.overlap("copy", "averaging")
    print(f"{name:19s} {milliseconds(trace):6.2f} ms; a kernel hides {hidden:4.0%} of the copy time")

assert abs(milliseconds(deep) - milliseconds(single)) < 0.01 * milliseconds(single)
assert milliseconds(broad) < 0.85 * milliseconds(deep)
assert deep.overlap("copy", "averaging") < 0.01
deep

# %%
assert broad.overlap("copy", "averaging") > 0.25
broad

# %% [markdown]
# ### And on later devices
#
# From two copy engines on, depth first hides copies, too, and on `fermi`, with its one queue for kernels, it is the better
# order. So the best order of issue depends on the device.

# %%
print("milliseconds: one stream, two streams depth first, two streams breadth first")
orders = {}
for model in ("c1060", "fermi", "k20x", "h200"):
    orders[model] = [milliseconds(traced(model, *how)) for how in ((1, 1), (2, 1), (2, 2))]
    print(f"{model:6s}", *(f"{time:9.3f}" for time in orders[model]))

assert orders["c1060"][2] < orders["c1060"][1]
assert orders["fermi"][1] < orders["fermi"][2]
for model in ("k20x", "h200"):
    assert abs(orders[model][1] - orders[model][2]) < 0.02 * orders[model][0]
    assert orders[model][1] < orders[model][0]

# %% [markdown]
# ## Exercise: an order for one copy engine
#
# Three chunks, each with a copy in (`in`), a kernel (`run`) and a copy out (`out`), on three streams of a `c1060`. Give
# the order in which the host issues the nine steps, as a list of pairs such as `("in", 0)`. The order within a chunk has
# to stay. Can you do as well as breadth first? The check runs your order on the model.


# %%
def issue(order):
    with cs.add_host_device("c1060") as device:
        kernel = cs.Module("__global__ void kernel() {}").kernel
        streams = [cs.Stream() for _ in range(3)]
        host = [cs.pinned_empty(1 << 19, np.float32) for _ in range(3)]
        on_device = [cs.empty_plain(1 << 19) for _ in range(3)]
        device.synchronize()
        with cs.trace() as trace:
            for step, i in order:
                if step == "in":
                    on_device[i].copy_from(host[i], stream=streams[i])
                elif step == "run":
                    kernel.launch(grid=30, block=256, stream=streams[i], duration=4e-4)
                else:
                    on_device[i].copy_to(host[i], stream=streams[i])
    return trace


DEPTH = [(step, i) for i in range(3) for step in ("in", "run", "out")]
BREADTH = [(step, i) for step in ("in", "run", "out") for i in range(3)]
by_depth, by_breadth = milliseconds(issue(DEPTH)), milliseconds(issue(BREADTH))
print(f"depth first {by_depth:.3f} ms, breadth first {by_breadth:.3f} ms")


@course.exercise
def check_order(order):
    assert sorted(order) == sorted(DEPTH), "these are not the nine steps, each once"
    for i in range(3):
        own = [step for step, chunk in order if chunk == i]
        assert own == ["in", "run", "out"], f"chunk {i} has the order {own}"
    time = milliseconds(issue(order))
    print(f"{time:.3f} ms")
    assert order != BREADTH, "this is breadth first: find another order"
    assert time <= 1.001 * by_breadth, f"breadth first takes {by_breadth:.3f} ms"


# %%
order = None  # for example [("in", 0), ("run", 0), ("in", 1), ...]

solved = check_order(order)

# %% [markdown]
# A solution is in the next cell, which is folded.

# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
# A kernel may be issued as soon as its copy in: what counts is that no copy out stands before a copy in.
own_order = [
    ("in", 0),
    ("run", 0),
    ("in", 1),
    ("run", 1),
    ("in", 2),
    ("run", 2),
    ("out", 0),
    ("out", 1),
    ("out", 2),
]
solved = check_order(own_order)
assert solved

# %% [markdown]
# ## To try
#
# 1. Draw `cs.figures.depth_first("h200", chunks=8, streams=2)` and the same with 3 streams. What limits each of them?
# 2. Make a device of your own: `cs.model("h200", copy_engines=1)`. Which order of issue does it need?
# 3. Give the kernels twice the time (`kernel=2`). On which models do they overlap?
# 4. Ask a trace for advice: `print(single.explain())`.
