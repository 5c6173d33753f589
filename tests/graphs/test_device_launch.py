"""Graphs that kernels launch: their order, refused launches, and lifetimes."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import cuscope as cs
from cuscope import _core
from support import MS, module

SOURCE = r"""
__global__ void launch(cudaGraphExec_t exec, unsigned long long how, int* codes, int times) {
  for (int i = 0; i < times; ++i) codes[i] = cudaGraphLaunch(exec, (cudaStream_t)how);
}
__global__ void launch_many(const unsigned long long* execs, unsigned long long how, int* codes, int n) {
  for (int i = 0; i < n; ++i) codes[i] = cudaGraphLaunch((cudaGraphExec_t)execs[i], (cudaStream_t)how);
}
__global__ void launch_tail(cudaGraphExec_t exec) { cudaGraphLaunch(exec, cudaStreamGraphTailLaunch); }
__global__ void launch_beside(cudaGraphExec_t exec) { cudaGraphLaunch(exec, cudaStreamGraphFireAndForget); }
__global__ void launch_sibling(cudaGraphExec_t exec) {
  cudaGraphLaunch(exec, cudaStreamGraphFireAndForgetAsSibling);
}
__global__ void again(int* left, unsigned long long how, int* code) {
  if (--*left > 0) *code = cudaGraphLaunch(cudaGetCurrentGraphExec(), (cudaStream_t)how);
}
__global__ void who(unsigned long long* exec) { *exec = (unsigned long long)cudaGetCurrentGraphExec(); }
__global__ void append(int* log, int id) { log[atomicAdd(log, 1) + 1] = id; }
__global__ void spin(long long ns) {
  unsigned long long t0, t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); } while ((long long)(t - t0) < ns);
}
"""
TAIL, BESIDE, SIBLING = (n << 56 for n in (1, 2, 3))
SUCCESS, INVALID_VALUE = 0, 1
MOST_TAILS, MOST_BESIDE = 255, 120


class Program:
    """Graphs that append numbers to one log, and one list of the answers to launches."""

    def __init__(self, device: cs.Device) -> None:
        self.kernels = module(device, SOURCE)
        self.stream = cs.Stream(non_blocking=True)
        self.log, self.codes = cs.zeros(1024, np.int32), cs.full(512, -1, np.int32)
        self.made = 0

    def appending(self, number: int, us: int = 0, *, uploaded: bool = True, device_launch: bool = True):
        """An executable that appends a number after so many microseconds."""
        g = cs.Graph()
        self.append(g, number, us)
        return g.instantiate(device_launch=device_launch, upload=self.stream if uploaded else None)

    def append(
        self, g: cs.Graph, number: int, us: int = 0, after: cs.GraphNode | None = None
    ) -> cs.GraphNode:
        if us > 0:
            after = g.add_kernel(self.kernels.spin[1, 1], args=(us * 1000,), after=after)
        return g.add_kernel(self.kernels.append[1, 1], args=(self.log, number), after=after)

    def chain(self, *steps: tuple[object, ...], **flags):
        """An executable of steps in a row: ("append", number, us), or (how, executable)."""
        g, last = cs.Graph(), None
        for step in steps:
            if step[0] == "append":
                last = self.append(g, step[1], step[2], last)
            else:
                how, launched = step
                at = self.codes[self.made :]
                last = g.add_kernel(self.kernels.launch[1, 1], args=(launched, how, at, 1), after=last)
                self.made += 1
        return g.instantiate(**flags)

    def milliseconds(self, exe: cs.GraphExec) -> float:
        start, stop = cs.Event(), cs.Event()
        start.record(self.stream)
        exe.launch(self.stream)
        stop.record(self.stream)
        stop.synchronize()
        return stop - start

    def run(self, exe: cs.GraphExec) -> list[int]:
        """The appended numbers, in order."""
        self.log.fill(0, stream=self.stream)
        exe.launch(self.stream)
        log = self.log.to_host(stream=self.stream)
        return log[1 : 1 + log[0]].tolist()

    def answers(self, count: int | None = None) -> list[int]:
        return self.codes.to_host(stream=self.stream)[: self.made if count is None else count].tolist()


@pytest.fixture
def program(device):
    made = Program(device)
    device.synchronize()
    return made


# ---- the order of launched graphs


@pytest.mark.parametrize("device_launch", [False, True])
def test_tail_launches_run_in_order_after_the_graph(program, device_launch):
    a, b = program.appending(1, 500), program.appending(2)
    exe = program.chain((TAIL, a), (TAIL, b), ("append", 9, 200), device_launch=device_launch)
    assert program.run(exe) == [9, 1, 2]
    assert program.answers() == [SUCCESS, SUCCESS]


@pytest.mark.no_sanitizer("under it the graphs end in another order")
@pytest.mark.parametrize("how", [BESIDE, SIBLING])
@pytest.mark.parametrize("device_launch", [False, True])
def test_graphs_run_beside_the_one_that_launched_them(program, how, device_launch):
    a, b = program.appending(1, 20_000), program.appending(2)
    exe = program.chain((how, a), (how, b), ("append", 9, 8_000), device_launch=device_launch)
    assert program.run(exe) == [2, 9, 1]
    assert program.answers() == [SUCCESS, SUCCESS]


@pytest.mark.parametrize("how", [TAIL, BESIDE, SIBLING])
def test_the_next_in_the_stream_waits_for_all_that_was_launched(program, how):
    launching = program.chain((how, program.appending(1, 3_000)))
    program.log.fill(0, stream=program.stream)
    launching.launch(program.stream)
    program.kernels.append[1, 1, program.stream](program.log, 7)
    assert program.log.to_host(stream=program.stream)[:3].tolist() == [2, 1, 7]


def test_a_tail_of_a_tail_comes_before_the_rest(program):
    inner = program.appending(3)
    first = program.chain(("append", 1, 0), (TAIL, inner), device_launch=True, upload=program.stream)
    exe = program.chain((TAIL, first), (TAIL, program.appending(2)), ("append", 9, 100))
    assert program.run(exe) == [9, 1, 3, 2]
    assert program.answers() == [SUCCESS] * 3


@pytest.mark.no_sanitizer("under it the graphs end in another order")
def test_a_tail_waits_for_graphs_beside_it_and_their_tails(program):
    inner = program.appending(3)
    beside = program.chain(("append", 1, 1_000), (TAIL, inner), device_launch=True, upload=program.stream)
    exe = program.chain((BESIDE, beside), (TAIL, program.appending(2)), ("append", 9, 0))
    assert program.run(exe) == [9, 1, 3, 2]


@pytest.mark.no_sanitizer("under it the graphs end in another order")
def test_a_tail_does_not_wait_for_siblings(program):
    sibling, tail = program.appending(3, 10_000), program.appending(2)
    exe = program.chain((SIBLING, sibling), (TAIL, tail), ("append", 9, 0))
    assert program.run(exe) == [9, 2, 3]


@pytest.mark.no_sanitizer("under it the graphs end in another order")
def test_a_sibling_launched_by_a_graph_beside_belongs_to_the_launching_graph(program):
    sibling = program.appending(3, 10_000)
    beside = program.chain(("append", 1, 0), (SIBLING, sibling), device_launch=True, upload=program.stream)
    exe = program.chain((BESIDE, beside), (TAIL, program.appending(2)), ("append", 9, 1_000))
    assert program.run(exe) == [1, 9, 3, 2]


def test_the_streams_by_name(program):
    g, k = cs.Graph(), program.kernels
    launches = [
        (k.launch_tail, program.appending(1)),
        (k.launch_beside, program.appending(2)),
        (k.launch_sibling, program.appending(3, 8_000)),
    ]
    for kernel, inner in launches:
        g.add_kernel(kernel[1, 1], args=(inner,))
    program.append(g, 9, 4_000)
    assert program.run(g.instantiate()) == [2, 9, 1, 3]


def test_kernels_of_children_launch_as_the_graph_does(program):
    inner, g = cs.Graph(), cs.Graph()
    inner.add_kernel(program.kernels.launch_tail[1, 1], args=(program.appending(1),))
    node = g.add_child(inner)
    program.append(g, 9, 500, node)
    assert program.run(g.instantiate()) == [9, 1]


def test_captured_kernels_launch_graphs(program):
    inner = program.appending(1)
    with program.stream.capture() as graph:
        program.kernels.launch[1, 1](inner, BESIDE, program.codes, 1)
    assert program.run(graph.instantiate()) == [1]
    assert program.answers(1) == [SUCCESS]


def test_results_of_launched_graphs_are_there_after_a_wait(program):
    exe = program.chain((TAIL, program.appending(4, 1_000)))
    program.log.fill(0, stream=program.stream)
    done = cs.Event()
    exe.launch(program.stream)
    done.record(program.stream)
    done.synchronize()
    assert program.log.to_host(stream=program.stream)[:2].tolist() == [1, 4]


def test_launches_of_one_executable_do_not_overlap_with_graphs_that_earlier_ones_launched(program):
    exe = program.chain(("append", 1, 0), (TAIL, program.appending(2, 1_000)))
    streams = [cs.Stream(non_blocking=True) for _ in range(3)]
    program.log.fill(0, stream=program.stream)
    program.stream.synchronize()
    for stream in streams:
        exe.launch(stream)
    for stream in streams:
        stream.synchronize()
    assert program.log.to_host(stream=program.stream)[:7].tolist() == [6, 1, 2, 1, 2, 1, 2]


def test_events_of_the_graph_do_not_wait_for_graphs_beside_it(program):
    start, node, stop = cs.Event(), cs.Event(), cs.Event()
    g = cs.Graph()
    kernel = program.kernels.launch_beside[1, 1]
    g.add_event_record(node, after=g.add_kernel(kernel, args=(program.appending(1, 40_000),)))
    exe = g.instantiate()
    start.record(program.stream)
    exe.launch(program.stream)
    stop.record(program.stream)
    stop.synchronize()
    assert node - start < 20
    assert stop - start >= 40


def test_programs_declare_the_functions_themselves(device, program):
    source = r"""
    extern "C" __device__ cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
    extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
    __device__ cudaGraphExec_t current() {
      unsigned long long exec;
      asm("mov.u64 %0, %%current_graph_exec;" : "=l"(exec));
      return (cudaGraphExec_t)exec;
    }
    __global__ void turn(int* log, int* left) {
      log[++*log] = *left;
      if (--*left > 0) cudaGraphLaunch(current(), (cudaStream_t)0x0100000000000000);
    }
    __global__ void set(cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, 0); }"""
    left, g = cs.full(1, 3, np.int32), cs.Graph()
    g.add_kernel(module(device, source).turn[1, 1], args=(program.log, left))
    assert program.run(g.instantiate(device_launch=True)) == [3, 2, 1]


# ---- a graph that launches itself


@pytest.mark.parametrize("uploaded", [False, True])
def test_a_graph_runs_again_until_a_counter_ends(program, uploaded):
    left = cs.full(1, 50, np.int32)
    g = cs.Graph()
    node = program.append(g, 1)
    g.add_kernel(program.kernels.again[1, 1], args=(left, TAIL, program.codes), after=node)
    exe = g.instantiate(device_launch=True, upload=program.stream if uploaded else None)
    program.run(exe)  # the first launch uploads it
    assert left.to_host(stream=program.stream)[0] == 0
    left.fill(5, stream=program.stream)
    assert program.run(exe) == [1] * 5
    assert program.answers(1) == [SUCCESS]


@pytest.mark.parametrize("how", [BESIDE, SIBLING])
def test_a_graph_does_not_run_beside_itself(program, how):
    left = cs.full(1, 3, np.int32)
    g = cs.Graph()
    g.add_kernel(program.kernels.again[1, 1], args=(left, how, program.codes))
    g.instantiate(device_launch=True, upload=program.stream).launch(program.stream)
    assert program.answers(1) == [INVALID_VALUE]
    assert left.to_host(stream=program.stream)[0] == 2


def test_current_graph_exec_is_null_unless_kernels_may_launch_the_graph(program):
    left, seen = cs.full(1, 3, np.int32), cs.full(1, 5, np.uint64)
    g, other = cs.Graph(), cs.Graph()
    g.add_kernel(program.kernels.who[1, 1], args=(seen,))
    other.add_kernel(program.kernels.again[1, 1], args=(left, TAIL, program.codes))
    exe = g.instantiate(device_launch=True)
    exe.launch(program.stream)
    assert seen.to_host(stream=program.stream)[0] == exe.handle
    g.instantiate().launch(program.stream)
    assert seen.to_host(stream=program.stream)[0] == 0
    seen.fill(5, stream=program.stream)
    program.kernels.who[1, 1, program.stream](seen)
    assert seen.to_host(stream=program.stream)[0] == 0
    other.instantiate().launch(program.stream)
    assert program.answers(1) == [INVALID_VALUE]


def test_two_graphs_take_turns(device, program):
    left = cs.full(1, 6, np.int32)
    source = r"""
    __global__ void turn(int* log, int id, int* left, cudaGraphExec_t other) {
      log[++*log] = id;
      if (--*left > 0) cudaGraphLaunch(other, cudaStreamGraphTailLaunch);
    }"""
    turn = module(device, source).turn
    first, second = cs.Graph(), cs.Graph()
    node = first.add_kernel(turn[1, 1], args=(program.log, 1, left, None))
    a = first.instantiate(device_launch=True)
    second.add_kernel(turn[1, 1], args=(program.log, 2, left, a))
    b = second.instantiate(device_launch=True, upload=program.stream)
    a.set_kernel(node, turn[1, 1], args=(program.log, 1, left, b.handle))
    assert program.run(a) == [1, 2, 1, 2, 1, 2]


# ---- refused launches


@pytest.mark.parametrize("how", [TAIL, BESIDE, SIBLING])
def test_a_graph_is_launched_once_at_a_time(program, how):
    g = cs.Graph()
    g.add_kernel(program.kernels.launch[1, 1], args=(program.appending(1, 500), how, program.codes, 2))
    assert program.run(g.instantiate()) == [1]
    assert program.answers(2) == [SUCCESS, INVALID_VALUE]


def test_a_graph_that_runs_beside_is_refused_as_a_tail(program):
    inner = program.appending(2, 5_000)
    assert program.run(program.chain((BESIDE, inner), (TAIL, inner))) == [2]
    assert program.answers() == [SUCCESS, INVALID_VALUE]


def test_a_graph_is_launched_again_when_it_has_ended(program):
    inner = program.appending(3)
    exe = program.chain((BESIDE, inner), ("append", 9, 5_000), (BESIDE, inner))
    assert program.run(exe) == [3, 9, 3]
    assert program.answers() == [SUCCESS, SUCCESS]


@pytest.mark.parametrize(("how", "most"), [(TAIL, MOST_TAILS), (BESIDE, MOST_BESIDE), (SIBLING, MOST_BESIDE)])
def test_a_graph_launches_so_many(program, how, most):
    execs = [program.appending(i) for i in range(300)]
    handles = cs.to_device(np.array([e.handle for e in execs], np.uint64))
    g = cs.Graph()
    g.add_kernel(program.kernels.launch_many[1, 1], args=(handles, how, program.codes, 300))
    exe = g.instantiate()
    for _ in range(2):
        assert sorted(program.run(exe)) == list(range(most))
        assert program.answers(300) == [SUCCESS] * most + [INVALID_VALUE] * (300 - most)


def test_launches_count_when_they_have_ended_too_and_siblings_apart(program):
    execs = [program.appending(i) for i in range(100)]
    handles = cs.to_device(np.array([e.handle for e in execs], np.uint64))
    many, codes = program.kernels.launch_many, program.codes
    g = cs.Graph()
    a = g.add_kernel(many[1, 1], args=(handles, BESIDE, codes, 100))
    b = program.append(g, 999, 20_000, a)
    c = g.add_kernel(many[1, 1], args=(handles, BESIDE, codes[100:], 100), after=b)
    d = program.append(g, 999, 20_000, c)
    g.add_kernel(many[1, 1], args=(handles, SIBLING, codes[200:], 100), after=d)
    assert len(program.run(g.instantiate())) == 100 + 1 + 20 + 1 + 100
    assert program.answers(300) == [SUCCESS] * 120 + [INVALID_VALUE] * 80 + [SUCCESS] * 100


@pytest.mark.host_only("a GPU may find a destroyed graph at the address")
@pytest.mark.parametrize("how", [TAIL, BESIDE])
def test_an_executable_that_was_not_uploaded_is_refused(program, how):
    inner = program.appending(2, uploaded=False)
    exe = program.chain((how, inner))
    assert program.run(exe) == []
    assert program.answers() == [INVALID_VALUE]
    inner.upload(program.stream)
    assert program.run(exe) == [2]


def test_a_launch_of_the_host_uploads(program):
    inner = program.appending(2, uploaded=False)
    assert program.run(inner) == [2]
    assert program.run(program.chain((BESIDE, inner))) == [2]


@pytest.mark.parametrize("how", [0, 1, 2, 3, 4 << 56])
def test_other_streams_are_refused(program, how):
    assert program.run(program.chain((how, program.appending(1)))) == []
    assert program.answers() == [INVALID_VALUE]


def test_a_null_graph_is_refused(program):
    assert program.run(program.chain((BESIDE, None))) == []
    assert program.answers() == [INVALID_VALUE]


def test_outside_of_a_graph_kernels_launch_none(program):
    inner = program.appending(3)
    with pytest.raises(cs.CudaError) as caught:
        program.kernels.launch[1, 1, program.stream](inner, BESIDE, program.codes, 1)
    assert caught.value.name == "cudaErrorNotSupported"
    assert "Graph.add_kernel()" in caught.value.hint
    assert program.answers(1) == [-1]


@pytest.mark.host_only("CUDA does not permit it, and does not document the answer")
def test_bodies_of_conditional_nodes_launch_none(program):
    g = cs.Graph()
    body = g.add_if(g.conditional_handle(default=1)).bodies[0]
    node = body.add_kernel(program.kernels.launch_tail[1, 1], args=(program.appending(2),))
    with pytest.raises(cs.CudaError, match="launches graphs"):
        g.instantiate()
    node.destroy()
    body.add_kernel(program.kernels.append[1, 1], args=(program.log, 3))
    assert program.run(g.instantiate()) == [3]


def test_a_graph_that_is_none_of_the_devices_ends_the_program(device, run_python):
    result = run_python(
        f"""
        import numpy as np, cuscope as cs
        device = cs.Device({device.name!r}).__enter__()
        mod = cs.Module("__global__ void launch(cudaGraphExec_t e) {{ cudaGraphLaunch(e, cudaStreamGraphTailLaunch); }}")
        x, inner, g = cs.zeros(1), cs.Graph(), cs.Graph()
        inner.add_memset(x, 1)
        launched = inner.instantiate()
        launched.upload()
        g.add_kernel(mod.launch[1, 1], args=(launched,))
        exe = g.instantiate()
        exe.launch()
        try:
            device.synchronize()
        except cs.CudaError as error:
            print(error.name)
        """
    )
    assert result.stdout.split() == ["cudaErrorIllegalAddress"]


# ---- changes


def test_changes_count_from_the_next_upload_on(program):
    g = cs.Graph()
    node = program.append(g, 5)
    inner = g.instantiate(device_launch=True, upload=program.stream)
    exe = program.chain((BESIDE, inner))
    inner.set_kernel(node, program.kernels.append[1, 1], args=(program.log, 6))
    assert program.run(exe) == [5]
    inner.upload(program.stream)
    assert program.run(exe) == [6]
    other = cs.Graph()
    program.append(other, 8)
    assert inner.update(other)
    assert program.run(exe) == [6]
    inner.set_enabled(node, False)
    assert program.run(exe) == [6]
    inner.upload(program.stream)
    assert program.run(exe) == []


def test_a_kernel_does_not_become_one_that_launches(program):
    g, other = cs.Graph(), cs.Graph()
    node = program.append(g, 5)
    exe = g.instantiate()
    inner = program.appending(6)
    launches = (program.kernels.launch[1, 1], inner, TAIL, program.codes, 1)
    other.add_kernel(launches[0], args=launches[1:])
    update = exe.update(other)
    assert (bool(update), update.result) == (False, "unsupported_function_change")
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        exe.set_kernel(node, launches[0], args=launches[1:])
    assert program.run(exe) == [5]


def test_a_kernel_that_launches_becomes_one_that_does_not(program):
    g, other = cs.Graph(), cs.Graph()
    g.add_kernel(program.kernels.launch[1, 1], args=(program.appending(6), TAIL, program.codes, 1))
    exe = g.instantiate()
    program.append(other, 5)
    assert exe.update(other).result == "success"
    assert program.run(exe) == [5]


# ---- objects that stay alive


def test_kernels_keep_the_executables_that_they_launch(program):
    inner = program.appending(1, 2_000)
    exe = program.chain((TAIL, inner))
    gone = weakref.ref(inner)
    del inner
    gc.collect()
    assert gone() is None
    assert program.run(exe) == [1]


def test_a_launch_keeps_the_executables_that_its_kernels_will_launch(program):
    size = 1 << 20
    seen, y = cs.zeros(1, np.int32), cs.zeros(size, np.int32)
    inner = cs.Graph()
    inner.add_copy(seen, y[:1], after=inner.add_memset(y, 3))
    tail = inner.instantiate(device_launch=True, upload=program.stream)
    exe = program.chain(("append", 9, 20_000), (TAIL, tail))
    exe.launch(program.stream)
    del inner, tail, exe, y
    gc.collect()
    others = [cs.full(size, 7, np.int32, stream=cs.Stream(non_blocking=True)) for _ in range(4)]
    assert seen.to_host(stream=program.stream)[0] == 3
    assert all((other.to_host(stream=program.stream) == 7).all() for other in others)


def test_an_executable_that_is_its_own_argument_goes(program, settled):
    memory = _core.live()["device_memory"]
    x = cs.zeros(4)
    g = cs.Graph()
    a = g.add_memset(x, 1)
    node = g.add_kernel(program.kernels.launch_tail[1, 1], args=(None,), after=a)
    exe = g.instantiate(device_launch=True)
    exe.set_kernel(node, program.kernels.launch_tail[1, 1], args=(exe,))
    del x, g, a, node, exe
    settled()
    assert _core.live()["device_memory"] == memory


# ---- arguments


def test_a_closed_executable_is_refused(program):
    inner = program.appending(1)
    inner.close()
    with pytest.raises(ValueError, match=r"'exec'.*the GraphExec is closed"):
        program.chain((TAIL, inner))


@pytest.mark.parametrize("value", [1.5, "text", -1, True, np.zeros(4), "array"])
def test_values_that_are_no_executable_are_refused(program, value):
    value = program.log if isinstance(value, str) and value == "array" else value
    with pytest.raises(TypeError, match=r"'exec' \(cudaGraphExec_t\) takes a GraphExec, its handle"):
        program.chain((TAIL, value))
    with pytest.raises(TypeError, match="takes a GraphExec, its handle"):
        program.kernels.launch_tail[1, 1](value)


def test_an_executable_is_no_array(program):
    with pytest.raises(TypeError, match="a DeviceArray"):
        program.kernels.append[1, 1](program.appending(1), 1)


def test_the_handle_is_a_number_and_goes_with_the_executable(program):
    inner = program.appending(1)
    assert isinstance(inner.handle, int)
    assert program.run(program.chain((TAIL, inner.handle))) == [1]
    inner.close()
    with pytest.raises(ValueError, match="closed"):
        inner.handle  # noqa: B018


def test_any_executable_is_uploaded_and_flags_say_nothing_of_it(program):
    g = cs.Graph()
    program.append(g, 1)
    assert g.instantiate(upload=program.stream).flags == 0
    assert g.instantiate(upload=program.stream, device_launch=True).flags == 4


@pytest.mark.parametrize("upload", [1, "stream"])
def test_upload_takes_a_stream(device, upload):
    with pytest.raises(TypeError, match="stream"):
        cs.Graph().instantiate(upload=upload)


def test_an_upload_is_not_captured(program):
    g = cs.Graph()
    with program.stream.capture():
        with pytest.raises(cs.CaptureError, match="captured"):
            g.instantiate(upload=program.stream)


# ---- the simulation


@pytest.mark.host_only("durations are the simulation's")
def test_a_kernel_that_launches_takes_as_long_as_its_launch_says(program):
    inner, g = cs.Graph(), cs.Graph()
    program.append(inner, 1, 1_000)
    launched = inner.instantiate(device_launch=True, upload=program.stream)
    kernel = program.kernels.launch_tail.configure(grid=1, block=1, duration=5 * MS)
    g.add_kernel(kernel, args=(launched,))
    exe = g.instantiate()
    assert 6.0 <= program.milliseconds(exe) < 6.1


@pytest.mark.host_only("a GPU's times differ from run to run")
def test_the_same_program_takes_the_same_time(device):
    def once() -> tuple[float, list[int]]:
        program = Program(device)
        beside = [program.appending(i, 10 * i) for i in range(20)]
        handles = cs.to_device(np.array([e.handle for e in beside], np.uint64))
        g = cs.Graph()
        many = program.kernels.launch_many[2, 1]
        node = g.add_kernel(many, args=(handles, BESIDE, program.codes, 20))
        g.add_kernel(program.kernels.launch[1, 1], args=(beside[0], TAIL, program.codes, 1), after=node)
        exe = g.instantiate()
        device.synchronize()
        return program.milliseconds(exe), program.log.to_host(stream=program.stream).tolist()

    first = once()
    assert [once() for _ in range(3)] == [first] * 3
