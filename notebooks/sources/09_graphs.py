# %% [markdown]
# # Graphs and capture
#
# A program that launches the same kernels again and again spends much of its time on the launches. A *graph* describes
# the operations and their order once; launching the whole graph costs the host one call. This notebook captures graphs,
# builds them, changes them, and puts a loop into one. It runs on a GPU if you have one; otherwise on `host:0`, a
# simulated device. Run the cells in order.

# %%
import os

import numpy as np

import cuscope as cs
from cuscope import course

device = cs.current_device()
stream = cs.Stream()
mod = cs.Module("""
__global__ void step(float* x, float by) { x[threadIdx.x] = x[threadIdx.x] * by + 1; }
__global__ void add(float* x, const float* y) { x[threadIdx.x] += y[threadIdx.x]; }
""")
x, y = cs.zeros(256), cs.zeros(256)
device.synchronize()


def microseconds(work):
    """The host's time until all of `work` was done."""
    work()
    stream.synchronize()
    begin = cs.clock()
    work()
    stream.synchronize()
    return (cs.clock() - begin) * 1e6


device


# %% [markdown]
# ## Capture
#
# Work that you put into a stream during a capture does not run. It becomes the nodes of a graph, each behind the one
# before.


# %%
def chain():
    for _ in range(20):
        mod.step[1, 256, stream](x, 0.5)


with stream.capture() as graph:
    chain()

stream.synchronize()
assert (x.to_host() == 0).all()  # nothing has run
len(graph.nodes), graph.nodes[0].label

# %% [markdown]
# An *executable* is a graph that is ready to run. You launch it like a kernel, as often as you like.

# %%
exe = graph.instantiate()
exe.launch(stream)
assert np.allclose(x.to_host(stream=stream), 2)

one_by_one, as_a_graph = microseconds(chain), microseconds(lambda: exe.launch(stream))
print(f"20 kernels: {one_by_one:.1f} us one by one, {as_a_graph:.1f} us as a graph")

# %% [markdown]
# ## Several streams
#
# Another stream joins the capture when it waits for a captured stream. Before the capture ends, the first stream has to
# wait for it in turn. Work that could overlap in the streams can overlap in the graph.

# %%
side = cs.Stream()
with stream.capture() as diamond:
    mod.step[1, 256](x, 0.5)
    side.wait(stream)
    mod.step[1, 256](x, 0.5)
    mod.step[1, 256, side](y, 0.5)
    stream.wait(side)
    mod.add[1, 256](x, y)

assert len(diamond.edges) == 4
diamond

# %% [markdown]
# You can also build the same graph node by node. `after=` names the nodes that a node waits for.

# %%
built = cs.Graph()
a = built.add_kernel(mod.step[1, 256], args=(x, 0.5))
b = built.add_kernel(mod.step[1, 256], args=(x, 0.5), after=a)
c = built.add_kernel(mod.step[1, 256], args=(y, 0.5), after=a)
d = built.add_kernel(mod.add[1, 256], args=(x, y), after=[b, c])

assert built.to_dot() == diamond.to_dot()

# %% [markdown]
# ## Calls that cannot be captured
#
# The work of a captured stream does not run, so you cannot wait for it. Such a call is refused, and the error tells you
# the solution; the capture goes on.

# %%
with stream.capture() as graph:
    x.fill(1)
    try:
        stream.synchronize()
    except cs.CaptureError as error:
        print(error)
    x.fill(2)

assert [node.type for node in graph.nodes] == ["memset", "memset"]

# %% [markdown]
# If the first stream does not wait for a forked stream, there is no graph. You can still use both streams.

# %%
try:
    with stream.capture():
        side.wait(stream)
        y.fill(1, stream=side)
except cs.CaptureError as error:
    print(error)

assert stream.capture_status == side.capture_status == "none"

# %% [markdown]
# The legacy default stream waits for all blocking streams, so work in it would wait for work that does not run. It is
# refused while a blocking stream is captured. The capture of a non-blocking stream does not disturb it. A captured event
# marks a place in the graph, so you cannot ask whether it has happened.

# %%
refused = []
for non_blocking in (False, True):
    captured = cs.Stream(non_blocking=non_blocking)
    with captured.capture():
        mod.step[1, 256](x, 0.5)
        marked = captured.record()
        try:
            y.fill(1, stream=device.default_stream)
        except cs.CaptureError as error:
            refused.append(error.name)
            print("non-blocking:", non_blocking, error.name)
        try:
            marked.query()
            raise AssertionError("not refused")
        except cs.CaptureError as error:
            print("query of a captured event:", error.name)
            assert error.name == "cudaErrorCapturedEvent"
assert refused == ["cudaErrorStreamCaptureImplicit"]

# %% [markdown]
# A call that only the runtime can refuse, such as the launch of a block that is too large, *invalidates* the capture.
# From then on nothing can be captured, the end of the capture is an error, and there is no graph. Afterwards the stream
# is as before.

# %%
stream.begin_capture()
try:
    mod.step[1, 4096, stream](x, 0.5)
    raise AssertionError("not refused")
except cs.CudaError as error:
    print(error.name, end=" -> ")
print(stream.capture_status)
try:
    stream.end_capture()
    raise AssertionError("there is a graph")
except cs.CaptureError as error:
    print(error.name)
    assert error.name == "cudaErrorStreamCaptureInvalidated"

assert stream.capture_status == "none"

# %% [markdown]
# ## The kinds of nodes
#
# A graph may have kernels, copies, memsets, functions of the host, waits and records of events, memory, other graphs
# (child graphs), empty nodes, and nodes that decide what runs.

# %%
every = cs.Graph()
seen = []
values = np.zeros(256, np.float32)
event = cs.Event()
child = cs.Graph()
child.add_memset(y, 2)
nodes = [every.add_empty()]
for add in (
    lambda after: every.add_copy(x, values, after=after),
    lambda after: every.add_memset(y, 1, after=after),
    lambda after: every.add_child(child, after=after),
    lambda after: every.add_kernel(mod.add[1, 256], args=(x, y), after=after),
    lambda after: every.add_event_record(event, after=after),
    lambda after: every.add_event_wait(event, after=after),
    lambda after: every.add_host(seen.append, "done", after=after),
):
    nodes.append(add(nodes[-1]))
choice = every.conditional_handle(default=1)
decides = every.add_if(choice, after=nodes[-1])
decides.bodies[0].add_memset(x, 7)
exe = every.instantiate()
exe.launch(stream)

assert (x.to_host(stream=stream) == 7).all()
assert seen == ["done"]
print([node.type for node in every.nodes])
assert len({node.type for node in every.nodes}) == 9
every

# %% [markdown]
# The picture names the conditional node by its kind: `if`, `while` or `switch`.
#
# Two more kinds signal a semaphore of another interface, such as Vulkan, and wait for one. On a simulated device, an
# eventfd of the system takes the place of the semaphore, so that you can see the signal.

# %%
with cs.add_host_device("h200"):
    ours = os.eventfd(0)
    semaphore, signalling = cs.ExternalSemaphore(os.dup(ours)), cs.Graph()
    signalled = signalling.add_external_semaphore_signal(semaphore)
    waited = signalling.add_external_semaphore_wait(semaphore, after=signalled)
    signalling.add_external_semaphore_signal(semaphore, after=waited)
    signalling.instantiate().launch()
    cs.synchronize()

print([node.type for node in signalling.nodes])
assert os.eventfd_read(ours) == 1  # of two signals, the wait has taken one
os.close(ours)

# %% [markdown]
# ## Edges with data
#
# An ordinary edge waits for the *end* of a node. A *programmatic* edge lets a kernel start when all blocks of the kernel
# before it have called `cudaTriggerProgrammaticLaunchCompletion()` (notebook 06). A capture makes one from a launch with
# `programmatic=True`. It is dashed in the picture.

# %%
early = cs.Module("""
__global__ void primary(float* x) { cudaTriggerProgrammaticLaunchCompletion(); x[threadIdx.x] = 1; }
__global__ void secondary(float* x) { cudaGridDependencySynchronize(); x[threadIdx.x] += 1; }
""")
with stream.capture() as dependent:
    early.primary.launch(x, grid=1, block=256)
    early.secondary.launch(x, grid=1, block=256, programmatic=True)
dependent.instantiate().launch(stream)

assert (x.to_host(stream=stream) == 2).all()
assert len(dependent.edges) == len(dependent.programmatic_edges) == 1
assert not diamond.programmatic_edges
dependent

# %% [markdown]
# ## New input
#
# A graph reads its arrays, NumPy arrays too, when it runs, not when it was captured. (The sum is a node, too. On a
# simulated device its kernel is called `native`: the processor computes the sum in its own way, in the time of a GPU's
# kernel.)

# %%
values = np.ones(256, np.float32)
with stream.capture() as graph:
    x.copy_from(values)
    total = cs.sum(x)  # operations are captured, too; each launch writes the same result array
exe = graph.instantiate()

for factor in (1, 2, 3):
    values[:] = factor
    exe.launch(stream)
    assert total.to_host(stream=stream) == 256 * factor
graph

# %% [markdown]
# ## Changes
#
# An executable can take over the parameters of another graph with the same structure, or of a single node. If a change is
# not possible, the result gives the reason, and the executable stays as it was.

# %%
g = cs.Graph()
node = g.add_memset(x, 1)
exe = g.instantiate()
exe.set_memset(node, x, 5)
exe.launch(stream)
assert (x.to_host(stream=stream) == 5).all()

other = cs.Graph()
other.add_memset(y, 7)
assert exe.update(other)

other.add_empty()
exe.update(other)

# %% [markdown]
# ## A loop on the device
#
# A conditional node reads a number that kernels set, and repeats its body as long as the number is not 0. The host
# launches the graph once.

# %%
newton = cs.Module("""
__global__ void improve(float* x, float of, cudaGraphConditionalHandle go_on) {
    float better = (*x + of / *x) / 2;
    cudaGraphSetConditional(go_on, fabsf(better - *x) > 1e-6f * better);
    *x = better;
}""")
root = cs.full(1, 1, np.float32)
g = cs.Graph()
go_on = g.conditional_handle(default=1)
loop = g.add_while(go_on)
loop.bodies[0].add_kernel(newton.improve[1, 1], args=(root, 2.0, go_on))
g.instantiate().launch(stream)
assert np.isclose(root.to_host(stream=stream)[0], 2**0.5)
g

# %% [markdown]
# `_repr_svg_` is the picture that you see. Its boxes name the loop:

# %%
picture = g._repr_svg_()
assert ">while" in picture
assert "conditional" not in picture

# %% [markdown]
# ## Exercise: a loop that counts
#
# Write `collatz(graph, x, steps)`. It adds a `while` node to the empty graph that runs until the integer `x` is 1: an
# even `x` is halved, an odd one becomes 3 x + 1, and each round adds 1 to `steps`. Both are arrays with one `int`. The
# kernel is there; you need a handle, a node, and the kernel in its body.

# %%
round_of = cs.Module("""
__global__ void round_of(int* x, int* steps, cudaGraphConditionalHandle go_on) {
    *x = *x % 2 ? 3 * *x + 1 : *x / 2;
    ++*steps;
    cudaGraphSetConditional(go_on, *x != 1);
}""").round_of


@course.exercise
def check_collatz(build):
    number, steps = cs.zeros(1, np.int32), cs.zeros(1, np.int32)
    graph = cs.Graph()
    build(graph, number, steps)
    assert "while" in graph._repr_svg_(), "the graph has no while node"
    exe = graph.instantiate()
    for start, expected in ((6, 8), (27, 111)):
        number.fill(start, stream=stream)
        steps.fill(0, stream=stream)
        exe.launch(stream)
        found = steps.to_host(stream=stream)[0]
        assert found == expected, f"{found} rounds from {start}; there should be {expected}"


# %%
collatz = None  # def collatz(graph, x, steps): ...

solved = check_collatz(collatz)

# %% [markdown]
# A solution is in the next cell, which is folded.


# %% jupyter={"source_hidden": true} tags=["solution", "hide-input"]
def loop_of(graph, x, steps):
    go_on = graph.conditional_handle(default=1)
    loop = graph.add_while(go_on)
    loop.bodies[0].add_kernel(round_of[1, 1], args=(x, steps, go_on))


solved = check_collatz(loop_of)
assert solved

# %% [markdown]
# ## To try
#
# 1. Count the host's time for 1, 10 and 100 kernels, one by one and as a graph. Where does the graph begin to pay?
# 2. Capture a program of yours that calls `to_host()`. What does the error advise?
# 3. Make `improve` start from another number, without another instantiation (`exe.set_kernel`).
