# %% [markdown]
# # Several devices
#
# A host can have several devices. Each has its own memory, its own engines and its own default stream, so all of them can
# work at the same time. This notebook shows how you list and choose them, how one device waits for another, how data gets
# from one to the other, and how a program divides its work.
#
# The programs run on two simulated devices, whose times are exact and the same on every run: you need no GPU. With two
# GPUs, replace the first line of the next cell by `one, two = cs.Device("cuda:0"), cs.Device("cuda:1")`; then the times
# are measured, and the assertions about them may fail. Run the cells in order.

# %%
import numpy as np

import cuscope as cs
from cuscope import course

one, two = cs.add_host_device("h200"), cs.add_host_device("h200")
for device in cs.devices():
    properties = device.properties
    print(device, properties.multiprocessor_count, "multiprocessors,", device.compute_capability)
assert {one, two} < set(cs.devices())

# %% [markdown]
# ## The current device
#
# New arrays, streams, events and kernels are made on the *current* device. `with device:` chooses it for a block,
# `cs.set_device` from now on (`cudaSetDevice`). Each thread of the host has its own current device. An object stays on
# its device, whichever is current later.

# %%
SOURCE = "__global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }"
n = 1 << 20
twice, x, streams = {}, {}, {}
for device in (one, two):
    with device:
        twice[device] = cs.Module(SOURCE).twice
        x[device] = cs.full(n, 1, np.float32)
        streams[device] = cs.Stream()
        assert cs.current_device() == device
for device in (one, two):
    device.synchronize()

assert x[two].device == two
assert cs.pointer_attributes(x[two]).device == two.name

# %% [markdown]
# The address alone tells where memory is (`cudaPointerGetAttributes`): host and devices share one address space, so a
# copy needs no direction.
#
# A kernel runs in streams of its own device only:

# %%
for mistake in (
    lambda: twice[one][n // 256, 256, streams[two]](x[one], n),
    lambda: x[one].fill(0, stream=streams[two]),
):
    try:
        mistake()
        raise AssertionError("not refused")
    except ValueError as error:
        print(error, end="\n\n")

# %% [markdown]
# ## At the same time
#
# The host gives work to one device, then to the other. Neither waits: two kernels that each fill a device run side by
# side. The kernels get a time of 300 us here, as if they computed more.

# %%
with cs.trace() as both:
    for device in (one, two):
        twice[device].launch(x[device], n, grid=n // 256, block=256, stream=streams[device], duration=3e-4)

shared = both.overlap(f"{one.name} kernels", f"{two.name} kernels")
print(f"{shared:.0%} of the first kernel's time, the second one runs, too")
assert shared > 0.9
both

# %% [markdown]
# ## One device waits for another
#
# A stream can wait for an event of another device. That is how work on one device comes behind work on another one, while
# the host goes on. The difference of two events of *different* devices is refused: their clocks are not compared.

# %%
with cs.trace() as ordered:
    twice[one].launch(x[one], n, grid=n // 256, block=256, stream=streams[one], duration=2e-4)
    done = streams[one].record()
    streams[two].wait(done)
    twice[two].launch(x[two], n, grid=n // 256, block=256, stream=streams[two], duration=2e-4)
    other = streams[two].record()

[first, second] = course.work(ordered, "twice")
assert second[0] >= first[1]
try:
    other - done
    raise AssertionError("not refused")
except ValueError as error:
    print(error)
ordered

# %% [markdown]
# ## Copies between devices
#
# `copy_from` and `copy_to` copy from device to device (`cudaMemcpyPeer`), in a stream of either. If the devices have a
# link, the data do not go through the host. The other way, through page-locked memory, takes two copies over the slower
# bus.

# %%
with one:
    here = cs.to_device(np.arange(n, dtype=np.float32))
    box = cs.pinned_empty(n, np.float32)
with two:
    there = cs.zeros(n)
one.synchronize()
two.synchronize()


def through_the_host():
    here.copy_to(box, stream=streams[one])
    streams[two].wait(streams[one])
    there.copy_from(box, stream=streams[two])


def spans_of(run):
    with cs.trace() as trace:
        run()
    copies = trace.spans[trace.spans["kind"] == "copy"]
    return int(copies["end"].max() - copies["start"].min()), len(copies)


direct, copies = spans_of(lambda: there.copy_from(here))
assert copies == 1
there.fill(0)
two.synchronize()
indirect, copies = spans_of(through_the_host)
assert copies == 2

print(
    f"direct {direct / 1000:.1f} us ({here.nbytes / direct:.0f} GB/s), through the host {indirect / 1000:.1f} us"
)
assert np.array_equal(there.to_host(), np.arange(n))
assert indirect > 3 * direct

# %% [markdown]
# The rate of the link belongs to the model of the device, so you can ask what a slower link would cost:

# %%
print("GB/s of the link   us for 4 MiB")
rates, times = (16, 50, 450), []
for rate in rates:
    model = cs.model("h200", link_rate=rate)
    a, b = cs.add_host_device(model), cs.add_host_device(model)
    with a:
        source = cs.zeros(n)
    with b:
        target = cs.zeros(n)
    a.synchronize()
    b.synchronize()
    time, _ = spans_of(lambda: target.copy_from(source))  # noqa: B023
    times.append(time)
    print(f"{rate:16d} {time / 1000:14.1f}")
assert times == sorted(times, reverse=True)
assert abs(times[0] - source.nbytes / rates[0]) < 0.2 * times[0]

# %% [markdown]
# ## Peer access
#
# A kernel may also use the memory of another device *in place*, over the link, if the devices allow it. Without peer
# access such an argument is refused:

# %%
print("can access:", one.can_access_peer(two))
try:
    twice[one][n // 256, 256, streams[one]](x[two], n)
    raise AssertionError("not refused")
except ValueError as error:
    print(error)

one.enable_peer_access(two)
before = x[two].to_host(stream=streams[two])
twice[one][n // 256, 256, streams[one]](x[two], n)
streams[two].wait(streams[one])
assert np.array_equal(x[two].to_host(stream=streams[two]), 2 * before)
one.disable_peer_access(two)

# %% [markdown]
# ## Page-locked memory for all devices
#
# Page-locked memory is locked for the device that was current. With `portable=True` (`cudaHostAllocPortable`) it is
# locked for all. Where host and devices share one address space, as on every 64-bit system today, page-locked memory is
# fast for all devices in any case; on the simulated devices, too.

# %%
times = {}
for portable in (False, True):
    with one:
        h = cs.pinned_empty(n, np.float32, portable=portable)
    h[:] = 1
    for device in (one, two):
        times[portable, device] = course.milliseconds(
            lambda: x[device].copy_from(h, stream=streams[device]),  # noqa: B023
            streams[device],
        )
        assert (x[device].to_host(stream=streams[device]) == 1).all()
print({f"portable={portable}, {device.name}": round(time, 4) for (portable, device), time in times.items()})
assert one.properties.unified_addressing
assert max(times.values()) == min(times.values())

# %% [markdown]
# ## Exercise: divide the work
#
# Write `doubled(values, devices)`, which doubles a page-locked array in place: each device copies its share in, doubles
# it with `twice[device]`, and copies it out. The devices have to work at the same time, so wait only at the end.
# `streams[device]` is a stream of each device.


# %%
@course.exercise
def check_doubled(program):
    with one:  # page-locked for the runtime of these devices
        values = cs.pinned_empty(4 * n, np.float32)
    values[:] = np.arange(4 * n) % 1000
    expected = 2 * values
    with cs.trace() as alone:
        program(values, [one])
    assert np.array_equal(values, expected), "the numbers are not doubled on one device"
    values[:] = np.arange(4 * n) % 1000
    with cs.trace() as together:
        program(values, [one, two])
    assert np.array_equal(values, expected), "the numbers are not doubled on two devices"
    ratio = alone.duration / together.duration
    print(f"{alone.duration / 1000:.0f} us on one device, {together.duration / 1000:.0f} us on two")
    assert ratio > 1.5, (
        "two devices should be at least 1.5 times as fast as one: does the host wait in between?"
    )


# %%
doubled = None  # def doubled(values, devices): ...

solved = check_doubled(doubled)

# %% [markdown]
# A solution is in the next cell, which is folded.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def in_shares(values, devices):
    share = len(values) // len(devices)
    for i, device in enumerate(devices):
        part, stream = values[i * share : (i + 1) * share], streams[device]
        with device, stream:
            on_device = cs.empty(share)
            on_device.copy_from(part)
            twice[device][share // 256, 256](on_device, share)
            on_device.copy_to(part)
    for device in devices:
        streams[device].synchronize()


solved = check_doubled(in_shares)
assert solved

# %% [markdown]
# ## To try
#
# 1. Which device's stream should a copy between devices be in, if a kernel on the other one waits for it?
# 2. Let `doubled` use chunks and two streams for each device. How much faster is it?
# 3. `cs.add_host_device(cs.model("h200", multiprocessors=66))`: divide the work between unequal devices.
