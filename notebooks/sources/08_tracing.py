# %% [markdown]
# # Traces: reading a timeline
#
# The notebooks before this one drew small programs as timelines. This one shows how you trace a program of your own, how
# you read the picture, and how you ask it questions: which parts were busy, which work hid which, which chain of work
# made the program as long as it was, and what to change.
#
# The programs run on a simulated device, whose times are exact and the same on every run: you need no GPU. On a GPU the
# same calls give measured times (docs/tracing.md). Run the cells in order.

# %%
import itertools
import tempfile
from pathlib import Path

import numpy as np

import cuscope as cs
from cuscope import course

# %load_ext cuscope
device = cs.add_host_device("h200")
cs.set_device(device)
device

# %% [markdown]
# ## A program
#
# Four blocks of a signal are copied to the device, smoothed, and copied back. All of it goes through one stream, and the
# memory of the host is pageable: the first version that you would write.

# %%
# %%cuda
# __global__ void smooth(const float* in, float* out, int n) {
#     int i = blockIdx.x * blockDim.x + threadIdx.x;
#     if (i >= n) return;
#     float sum = 0;
#     for (int d = -3; d <= 3; ++d) sum += in[min(max(i + d, 0), n - 1)];
#     out[i] = sum / 7;
# }

# %%
blocks, n = 4, 1 << 20
signal = np.random.default_rng(8).random((blocks, n), dtype=np.float32)
expected = sum(signal[:, np.clip(np.arange(n) + d, 0, n - 1)] for d in range(-3, 4)) / np.float32(7)


def first_version(signal, result):
    for i in range(blocks):
        with cs.range(f"block {i}"):
            x, y = cs.to_device(signal[i]), cs.empty(n)
            smooth.launch(x, y, n, grid=n // 256, block=256, duration=2e-4)
            y.copy_to(result[i])
            cs.synchronize()


result = np.zeros_like(signal)
first_version(signal, result)
assert np.allclose(result, expected, rtol=1e-5)

# %% [markdown]
# The kernel gets its time from `duration=`, as if it computed for 200 us, so that the picture has something to show.
#
# ## The picture
#
# `%%trace t` traces a cell: the picture is below it, and the trace is in the variable `t`. A trace in a program is
# `with cs.trace() as t:`, and of a whole program `python -m cuscope trace program.py`.

# %%
# %%trace first
first_version(signal, result)

# %% [markdown]
# Read it from top to bottom:
#
# - **ranges**: the parts that the program has named with `cs.range`.
# - **host**: the calls of the program. A long bar is a call that waits.
# - **streams**: the work in the order of each stream.
# - **engines**: the same work again, by the part of the device that did it: the two copy engines and the multiprocessors.
#
# Time goes from left to right. Point at a bar to see its name, its times and the reason for its start. A gap in all
# engines is time in which the device does nothing.

# %%
print(first)
gaps = first.gaps()
idle = sum(end - start for start, end, _, _ in gaps.tolist())
print(f"the device is idle for {idle / 1000:.0f} us of {first.duration / 1000:.0f} us")
assert first.overlap("copy", "kernel") == 0

# %% [markdown]
# ## The numbers behind it
#
# `t.spans` is a NumPy array with a row for each bar, in nanoseconds. `cause` is the row of the work whose end let this
# one start, and `reason` says why it was that one.

# %%
work = first.spans[first.spans["device"] != ""]
for span in work[np.isin(work["kind"], ["copy", "kernel"])][:6]:
    print(f"{span['start'] / 1000:8.1f} .. {span['end'] / 1000:8.1f} us  {span['name']:16s} {span['reason']}")

kernels = first.spans[first.spans["name"] == "smooth"]
copies = first.spans[first.spans["kind"] == "copy"]
print(
    f"{len(kernels)} kernels; copies move {copies['bytes'].sum() / 1e6:.0f} MB, pageable: {copies['pageable'].all()}"
)
assert (kernels["end"] - kernels["start"] == 200_000).all()
assert copies["bytes"].sum() == 2 * signal.nbytes
assert copies["pageable"].all()
assert set(first.spans["name"][kernels["range"]].tolist()) == {f"block {i}" for i in range(blocks)}

# %% [markdown]
# ## The critical path
#
# The critical path goes back from the last end, from each piece of work to the one that it waited for. Only a shorter hop
# on it makes the program shorter.

# %%
path = first.critical_path()
for kind, nanoseconds in path.totals.items():
    print(f"{kind:8s} {nanoseconds / 1000:7.0f} us, {nanoseconds / first.duration:4.0%}")
assert sum(path.totals.values()) <= first.duration
assert max(path.totals, key=path.totals.get) == "copy"

# %% [markdown]
# ## Advice
#
# `explain()` says in sentences what the trace shows, with the largest saving first.

# %%
advice = first.explain()
print(advice)
rules = [finding.rule for finding in advice.findings]
assert "pageable copies" in rules

# %% [markdown]
# ## Following it
#
# Page-locked memory makes the copies faster and asynchronous, and two streams let the copies of one block run beside the
# kernel of another one.


# %%
def second_version(signal, result, streams):
    buffers = [[cs.empty(n, stream=stream) for _ in range(2)] for stream in streams]
    for i in range(blocks):
        with cs.range(f"block {i}"), streams[i % len(streams)]:
            x, y = buffers[i % len(streams)]
            x.copy_from(signal[i])
            smooth.launch(x, y, n, grid=n // 256, block=256, duration=2e-4)
            y.copy_to(result[i])
    for stream in streams:
        stream.synchronize()


locked, answer = cs.pinned_empty(signal.shape, np.float32), cs.pinned_empty(signal.shape, np.float32)
locked[:] = signal
two = [cs.Stream(), cs.Stream()]

# %%
# %%trace second
second_version(locked, answer, two)

# %%
print(f"{first.duration / 1000:.0f} us before, {second.duration / 1000:.0f} us now")
print(f"a kernel hides {second.overlap('copy', 'kernel'):.0%} of the copy time")
assert np.allclose(answer, expected, rtol=1e-5)
assert second.duration < 0.6 * first.duration
assert second.overlap("copy", "kernel") > 0.4
assert "pageable copies" not in [finding.rule for finding in second.explain().findings]

# %% [markdown]
# In the picture, the copies in follow each other without a gap, and each kernel starts when its copy has ended. A bar
# that touches the end of a bar in another row waited for it.

# %%
chosen = course.work(second, "smooth", two[0])
copied = course.work(second, "host to device", two[0])
print("kernels of the first stream start", [start - copied[i][1] for i, (start, _) in enumerate(chosen)])
assert all(start >= copied[i][1] for i, (start, _) in enumerate(chosen))

# %% [markdown]
# ## The time of a statement
#
# If you need only the time of one statement, `%gpu_timeit` gives the time of the host and the time of the device. On a
# simulated device both times come from the model.

# %%
x, y = cs.to_device(signal[0]), cs.empty(n)
# %gpu_timeit smooth[n // 256, 256](x, y, n)

# %% [markdown]
# ## Files
#
# `t.save("t.json")` writes a file for ui.perfetto.dev, and `cs.tracing.load` reads it back. `t.save("t.svg")` writes the
# picture.

# %%
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "second.json.gz"
    second.save(file)
    again = cs.tracing.load(file)
    print(f"{file.stat().st_size} bytes")
assert again == second

# %% [markdown]
# ## Exercise: less waiting
#
# This program waits after every kernel, and allocates in its loop. Write `faster(steps)`, which launches the same kernels
# on the same data and ends with one wait, so that the device has no gap of more than 2 us between the kernels.

# %%
steps = 10


def slow(steps):
    x = cs.zeros(n)
    for _ in range(steps):
        y = cs.empty_plain(n)  # cudaMalloc
        smooth.launch(x, y, n, grid=n // 256, block=256, duration=2e-5)
        cs.synchronize()
        x = y
    return x


@course.exercise
def check_faster(program):
    with cs.trace() as trace:
        result = program(steps)
    starts = course.work(trace, "smooth")
    assert len(starts) == steps, f"the trace has {len(starts)} kernels, and not {steps}"
    assert result.shape == (n,), "return the array of the last kernel"
    gaps = [after[0] - before[1] for before, after in itertools.pairwise(starts)]
    print(
        f"{trace.duration / 1000:.0f} us; the longest gap between two kernels has {max(gaps) / 1000:.1f} us"
    )
    assert max(gaps) <= 2000, "the device waits between the kernels: " + str(trace.explain())


print("the program above:")
assert not check_faster(slow)

# %%
faster = None  # def faster(steps): ...

solved = check_faster(faster)

# %% [markdown]
# A solution is in the next cell, which is folded.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def two_buffers(steps):
    x, y = cs.zeros(n), cs.empty(n)
    for _ in range(steps):
        smooth.launch(x, y, n, grid=n // 256, block=256, duration=2e-5)
        x, y = y, x
    cs.synchronize()
    return x


solved = check_faster(two_buffers)
assert solved

# %% [markdown]
# ## To try
#
# 1. Use three streams in `second_version`. What limits it now? Ask `second.explain()`.
# 2. Give the kernels 400 us. Which engine bounds the program?
# 3. `print(second.busy())`: which engine is busy for the longest time?
