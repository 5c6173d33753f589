"""Semaphores of other interfaces: on a simulated device eventfds and counters in memory, usable by any process."""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import cuscope as cs
from support import MS, spin

SIMULATED = pytest.mark.host_only(
    "the other side of a real semaphore is another interface's, such as Vulkan's"
)


class Binary:
    """An eventfd and the device's semaphore of it."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_NONBLOCK)
        self.semaphore = cs.ExternalSemaphore(os.dup(self.fd))

    def signal(self) -> None:
        os.eventfd_write(self.fd, 1)

    def signalled(self) -> bool:
        try:
            return os.eventfd_read(self.fd) > 0
        except BlockingIOError:
            return False


class Timeline:
    """A counter in memory and the device's semaphore of it."""

    def __init__(self) -> None:
        self.fd = os.memfd_create("counter")
        os.truncate(self.fd, 4096)
        self.memory = mmap.mmap(self.fd, 4096)
        self.semaphore = cs.ExternalSemaphore(os.dup(self.fd), "timeline_semaphore_fd")

    @property
    def value(self) -> int:
        return struct.unpack_from("Q", self.memory)[0]

    @value.setter
    def value(self, value: int) -> None:
        struct.pack_into("Q", self.memory, 0, value)


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def stream() -> cs.Stream:
    return cs.Stream(non_blocking=True)


# ---- objects that are no semaphore


def descriptors() -> dict[str, int]:
    return {
        "pipe": os.pipe()[0],
        "file": os.open(__file__, os.O_RDONLY),
        "device": os.open("/dev/null", os.O_RDWR),
    }


@pytest.mark.parametrize("kind", ["opaque_fd", "timeline_semaphore_fd"])
def test_other_descriptors_are_refused_and_stay_open(device, kind):
    for fd in descriptors().values():
        with pytest.raises(cs.CudaError, match="cudaErrorUnknown") as refused:
            cs.ExternalSemaphore(fd, kind)
        assert refused.value.call == "cudaImportExternalSemaphore"
        os.fstat(fd)
        os.close(fd)


@SIMULATED
def test_a_counter_that_may_only_be_read_is_refused(device):
    counter = Timeline()
    fd = os.open(f"/proc/self/fd/{counter.fd}", os.O_RDONLY)
    with pytest.raises(cs.CudaError, match="cudaErrorUnknown"):
        cs.ExternalSemaphore(fd, "timeline_semaphore_fd")
    os.close(fd)


def test_descriptors_that_are_not_there_are_refused(device):
    with pytest.raises(cs.CudaError, match="cudaErrorUnknown"):
        cs.ExternalSemaphore(-1)
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        cs.ExternalSemaphore(-1, "timeline_semaphore_fd")
    for kind in ("opaque_fd", "timeline_semaphore_fd"):
        with pytest.raises(cs.CudaError, match="cudaErrorUnknown"):
            cs.ExternalSemaphore(987_654, kind)


def test_wrong_descriptors_and_types_are_refused(device):
    with pytest.raises(ValueError, match="type: 'opaque_win32'"):
        cs.ExternalSemaphore(0, "opaque_win32")
    with pytest.raises(ValueError, match="fd: "):
        cs.ExternalSemaphore(10**20)
    with pytest.raises(TypeError):
        cs.ExternalSemaphore("0")


@SIMULATED
def test_an_import_takes_the_descriptor_over(device, settled):
    fd = os.eventfd(0)
    semaphore = cs.ExternalSemaphore(fd)
    assert (semaphore.type, semaphore.device, semaphore.closed) == ("opaque_fd", device, False)
    semaphore.close()
    settled()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
    assert (semaphore.closed, semaphore.handle) == (True, 0)
    assert repr(semaphore) == f"<ExternalSemaphore opaque_fd of {device.name}, closed>"


# ---- in streams


@SIMULATED
def test_a_stream_signals(device):
    binary, timeline, s = Binary(), Timeline(), stream()
    s.signal_external(binary.semaphore)
    s.signal_external((timeline.semaphore, 5))
    s.synchronize()
    assert (binary.signalled(), timeline.value) == (True, 5)


@SIMULATED
def test_a_signal_has_its_place_in_the_stream(device):
    timeline, seen, s = Timeline(), [], stream()
    s.host_function(lambda: seen.append(timeline.value))
    s.signal_external((timeline.semaphore, 1))
    s.host_function(lambda: seen.append(timeline.value))
    s.synchronize()
    assert seen == [0, 1]


@SIMULATED
def test_a_stream_waits_for_a_signal_and_takes_it(device):
    binary, s = Binary(), stream()
    s.wait_external(binary.semaphore)
    assert not s.query()
    binary.signal()
    s.synchronize()
    assert not binary.signalled()


@SIMULATED
def test_a_stream_waits_for_a_value_or_more(device):
    timeline, s = Timeline(), stream()
    s.wait_external((timeline.semaphore, 3))
    timeline.value = 2
    assert not s.query()
    timeline.value = 4
    s.synchronize()
    assert timeline.value == 4


@SIMULATED
def test_a_counter_that_was_cut_off_counts_nothing(device):
    timeline, s = Timeline(), stream()
    timeline.value = 3
    os.truncate(timeline.fd, 0)
    s.wait_external((timeline.semaphore, 3))
    assert not s.query()
    os.truncate(timeline.fd, 4096)
    timeline.value = 3
    s.synchronize()
    assert timeline.value == 3


@SIMULATED
def test_a_stream_waits_for_several(device):
    first, second, timeline, s = Binary(), Binary(), Timeline(), stream()
    s.wait_external([first.semaphore, (timeline.semaphore, 1), second.semaphore])
    second.signal()
    timeline.value = 1
    assert not s.query()
    first.signal()
    s.synchronize()


@SIMULATED
def test_one_stream_signals_another(device):
    binary, seen, (s, t) = Binary(), [], (stream(), stream())
    t.wait_external(binary.semaphore)
    t.host_function(seen.append, 2)
    s.host_function(seen.append, 1)
    s.signal_external(binary.semaphore)
    t.synchronize()
    assert seen == [1, 2]


@SIMULATED
def test_another_thread_signals_while_a_thread_waits(device):
    binary, s = Binary(), stream()
    s.wait_external(binary.semaphore)
    thread = threading.Timer(0.05, binary.signal)
    thread.start()
    s.synchronize()
    thread.join()
    assert s.query()


@SIMULATED
def test_another_process_is_the_other_side(device):
    ready, done, s = Binary(), Timeline(), stream()
    s.wait_external(ready.semaphore)
    s.signal_external((done.semaphore, 9))
    program = (
        "import mmap, os, struct, time\n"
        f"memory = mmap.mmap({done.fd}, 4096)\n"
        f"os.eventfd_write({ready.fd}, 1)\n"
        "while struct.unpack_from('Q', memory)[0] != 9: time.sleep(0.001)\n"
        "print('seen')\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], pass_fds=(ready.fd, done.fd), stdout=subprocess.PIPE, text=True
    )
    s.synchronize()
    assert child.communicate(timeout=30)[0] == "seen\n"


@SIMULATED
def test_a_wait_is_over_when_the_signal_is_there(device):
    def waited() -> tuple[float, float]:
        binary, (s, t) = Binary(), (stream(), stream())
        start, signalled, over = (cs.Event() for _ in range(3))
        start.record(s)
        t.wait_external(binary.semaphore)
        over.record(t)
        spin(device, 5 * MS, s)
        s.signal_external(binary.semaphore)
        signalled.record(s)
        t.synchronize()
        return signalled - start, over - start

    spin(device, 1 * MS)
    cs.synchronize()
    signalled, over = waited()
    assert 5 < signalled < over < 5.02
    assert waited() == (signalled, over)


# ---- bad input


@SIMULATED
def test_values_are_for_timelines(device):
    binary, timeline, s = Binary(), Timeline(), stream()
    with pytest.raises(ValueError, match="needs its value"):
        s.signal_external(timeline.semaphore)
    with pytest.raises(ValueError, match="has no value"):
        s.wait_external((binary.semaphore, 1))
    with pytest.raises(ValueError, match="value"):
        s.signal_external((timeline.semaphore, -1))
    with pytest.raises(ValueError, match="a pair is"):
        s.signal_external([(timeline.semaphore, 1, 2)])
    with pytest.raises(ValueError, match="there are none"):
        s.signal_external([])
    with pytest.raises(TypeError, match="semaphores: takes"):
        s.signal_external([binary.fd])
    with pytest.raises(TypeError, match="semaphores: takes"):
        s.wait_external(None)
    s.synchronize()
    assert (binary.signalled(), timeline.value) == (False, 0)


@SIMULATED
def test_closed_semaphores_say_so(device):
    binary, s = Binary(), stream()
    binary.semaphore.close()
    binary.semaphore.close()
    with pytest.raises(ValueError, match="ExternalSemaphore is closed"):
        s.signal_external(binary.semaphore)


@SIMULATED
def test_semaphores_of_another_device_are_refused(device):
    with cs.add_host_device("h200"):
        binary = Binary()
    with pytest.raises(ValueError, match="one is on host:"):
        stream().signal_external(binary.semaphore)


# ---- lifetimes


@SIMULATED
def test_a_stream_keeps_the_semaphores_that_it_uses(device, settled):
    binary, s = Binary(), stream()
    s.wait_external(binary.semaphore)
    s.signal_external(binary.semaphore)
    binary.semaphore.close()
    binary.signal()
    s.synchronize()
    assert binary.signalled()


@SIMULATED
def test_an_executable_keeps_the_semaphores_that_it_uses(device, settled):
    binary, g, s = Binary(), cs.Graph(), stream()
    g.add_external_semaphore_signal(binary.semaphore)
    exe = g.instantiate()
    g.close()
    binary.semaphore.close()
    exe.launch(s)
    exe.close()
    s.synchronize()
    assert binary.signalled()


@SIMULATED
def test_descriptors_are_closed_with_their_last_user(device, settled):
    before = open_descriptors()
    for _ in range(50):
        binary, timeline, s = Binary(), Timeline(), stream()
        with s.capture() as graph:
            s.signal_external([binary.semaphore, (timeline.semaphore, 1)])
            s.wait_external((timeline.semaphore, 1))
        graph.instantiate().launch(s)
        s.synchronize()
        os.close(binary.fd)
        timeline.memory.close()
        os.close(timeline.fd)
        del binary, timeline, graph, s
    settled()
    device.synchronize()
    assert open_descriptors() <= before


# ---- in graphs


@SIMULATED
def test_nodes_signal_and_wait_whenever_the_graph_runs(device):
    go, done, g, s = Binary(), Timeline(), cs.Graph(), stream()
    wait = g.add_external_semaphore_wait(go.semaphore)
    signal = g.add_external_semaphore_signal((done.semaphore, 4), after=wait)
    exe = g.instantiate()
    for _ in range(3):
        done.value = 0
        exe.launch(s)
        time.sleep(0.002)
        assert (s.query(), done.value) == (False, 0)
        go.signal()
        s.synchronize()
        assert done.value == 4
    assert [n.type for n in g.nodes] == ["external_semaphore_wait", "external_semaphore_signal"]
    assert signal.params == {"semaphores": [{"semaphore": done.semaphore.handle, "value": 4}]}
    assert wait.label == "external_semaphore_wait"
    assert "external_semaphore_signal" in g.to_dot()


@SIMULATED
def test_captured_calls_are_nodes(device):
    a, b, s = Timeline(), Binary(), stream()
    with s.capture() as graph:
        s.wait_external((a.semaphore, 1))
        s.signal_external([(a.semaphore, 2), b.semaphore])
    assert [n.type for n in graph.nodes] == ["external_semaphore_wait", "external_semaphore_signal"]
    assert graph.edges == [tuple(graph.nodes)]
    assert graph.nodes[1].label == "external_semaphore_signal\n2 semaphores"
    copy = graph.clone()
    assert [n.params for n in copy.nodes] == [n.params for n in graph.nodes]
    a.value = 1
    copy.instantiate().launch(s)
    s.synchronize()
    assert (a.value, b.signalled()) == (2, True)


@SIMULATED
def test_executables_take_other_semaphores_and_values(device):
    a, b, g, s = Timeline(), Timeline(), cs.Graph(), stream()
    node = g.add_external_semaphore_signal((a.semaphore, 1))
    exe = g.instantiate()
    exe.set_external_semaphores(node, (b.semaphore, 2))
    exe.launch(s)
    s.synchronize()
    assert (a.value, b.value) == (0, 2)
    other = cs.Graph()
    other.add_external_semaphore_signal((a.semaphore, 3))
    assert exe.update(other)
    exe.launch(s)
    s.synchronize()
    assert (a.value, b.value) == (3, 2)


@SIMULATED
def test_executables_keep_the_number_of_semaphores(device):
    a, b, g, s = Timeline(), Timeline(), cs.Graph(), stream()
    node, empty = g.add_external_semaphore_signal((a.semaphore, 1)), g.add_empty()
    exe, both = g.instantiate(), [(a.semaphore, 2), (b.semaphore, 2)]
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        exe.set_external_semaphores(node, both)
    with pytest.raises(ValueError, match="of type empty"):
        exe.set_external_semaphores(empty, (a.semaphore, 1))
    other = cs.Graph()
    changed = other.add_external_semaphore_signal(both)
    other.add_empty()
    answer = exe.update(other)
    assert (answer.result, answer.node) == ("parameters_changed", changed)
    exe.launch(s)
    s.synchronize()
    assert (a.value, b.value) == (1, 0)


@SIMULATED
def test_the_device_does_not_start_a_semaphore_node_by_itself(device):
    binary, g = Binary(), cs.Graph()
    node = g.add_external_semaphore_signal(binary.semaphore)
    exe = g.instantiate()
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        exe.set_enabled(node, False)
    with pytest.raises(cs.CudaError, match="external_semaphore_signal"):
        g.instantiate(device_launch=True)


def test_a_reset_does_not_wait_for_semaphores(run_python):
    done = run_python(
        """
        import os
        import numpy as np
        import cuscope as cs
        with cs.add_host_device("h200") as device:
            stream, flag = cs.Stream(non_blocking=True), cs.pinned_empty(1, np.uint32)
            flag[0] = 0
            stream.wait_external(cs.ExternalSemaphore(os.eventfd(0)))
            stream.wait_value(flag, 1)
            device.reset()
            print("reset")
        """,
        timeout=60,
    )
    assert done.stdout == "reset\n", done.stderr
