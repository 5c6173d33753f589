# %% [markdown]
# # Graphs and capture
#
# A program that launches the same kernels again and again spends much of its time on the launches. A *graph* describes
# the operations and their order once; launching the whole graph costs the host one call. This notebook captures graphs,
# builds them, changes them, and puts a loop into one. It runs on a GPU if you have one; otherwise on `host:0`, a
# simulated device. Run the cells in order.

# %%
import numpy as np

import cuscope as cs

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
assert as_a_graph < one_by_one

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
# ## New input
#
# A graph reads its arrays, NumPy arrays too, when it runs, not when it was captured.

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
