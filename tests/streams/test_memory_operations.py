"""Stream memory operations: writes of a number and waits for one, in streams, in batches and in graphs."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cuscope as cs
from support import MS, load_basic, module, number_in, pinned, plain, spin, streams

pytestmark = pytest.mark.no_sanitizer("under it no stream goes on while another waits")
DTYPES = [np.int32, np.uint32, np.int64, np.uint64]


@pytest.fixture
def kernels(device):
    return load_basic(device)


# ---- in streams


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("memory", [plain, pinned])
def test_a_stream_writes_numbers(device, memory, dtype):
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    for value in (least, 0, 1, most):
        array, stream = memory(5, dtype), cs.Stream()
        stream.write_value(array, value)
        stream.synchronize()
        assert number_in(array) == value


def test_a_write_has_its_place_in_the_stream(device, kernels):
    (s,) = streams(1)
    x = plain(0, np.int32)
    kernels.store[1, 1, s](x, 1)
    s.write_value(x, 10)
    kernels.add_one[1, 1, s](x)
    assert x.to_host(stream=s).tolist() == [11]


def test_one_element_of_an_array_is_written(device):
    x = cs.empty_plain(4, np.uint32)
    x.fill(9)
    s = cs.Stream()
    s.write_value(x[2:3], 7)
    s.synchronize()
    assert x.to_host().tolist() == [9, 9, 7, 9]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("held", "condition", "value"),
    [(5, "geq", 5), (6, "geq", 5), (5, "eq", 5), (6, "and", 2), (6, "nor", 1), (0, "geq", 0)],
)
def test_a_wait_for_a_condition_that_holds_is_over_at_once(device, dtype, held, condition, value):
    array, s = plain(held, dtype), cs.Stream()
    s.wait_value(array, value, condition)
    s.synchronize()
    assert s.query()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("held", "condition", "value"), [(4, "geq", 5), (4, "eq", 5), (6, "and", 9), (-1, "nor", 0)]
)
def test_a_wait_for_a_condition_that_does_not_hold_stops_its_stream(device, dtype, held, condition, value):
    bits = 8 * np.dtype(dtype).itemsize
    array, (s, other) = plain(0, dtype), streams(2)
    least = int(np.iinfo(dtype).min)
    other.write_value(array, held if least < 0 or held >= 0 else held % 2**bits)
    other.synchronize()
    s.wait_value(array, value, condition)
    time.sleep(0.01)
    assert not s.query()
    other.write_value(array, 5 if condition in ("geq", "eq") else 8 if condition == "and" else 0)
    s.synchronize()


def test_greater_or_equal_goes_in_a_circle(device):
    array, s = plain(2**32 - 1), cs.Stream()
    s.wait_value(array, 2**31)  # the sign of the difference counts
    s.write_value(array, 3)
    s.wait_value(array, 2**32 - 1)
    s.synchronize()


@pytest.mark.parametrize("memory", [plain, pinned])
def test_another_stream_ends_a_wait(device, kernels, memory):
    flag, x = memory(), plain(0, np.int32)
    s, other = streams(2)
    s.wait_value(flag, 1)
    kernels.add_one[1, 1, s](x)
    kernels.store[1, 1, other](x, 10)
    other.write_value(flag, 1)
    s.synchronize()
    assert number_in(x) == 11


def test_a_kernel_ends_a_wait(device, kernels):
    flag, x = plain(0, np.int32), plain(0, np.int32)
    s, other = streams(2)
    s.wait_value(flag, 3, "eq")
    kernels.add_one[1, 1, s](x)
    kernels.store[1, 1, other](flag, 3)
    s.synchronize()
    assert number_in(x) == 1


def test_a_copy_ends_a_wait(device, kernels):
    flag, source = plain(), pinned(4)
    s, other = streams(2)
    s.wait_value(flag, 4)
    flag.copy_from(source, stream=other)
    s.synchronize()
    assert s.query()


def test_the_host_ends_a_wait(device):
    flag, s = pinned(), cs.Stream(non_blocking=True)
    s.wait_value(flag, 1)
    assert not s.query()
    flag[0] = 1
    s.synchronize()
    assert s.query()


def test_a_host_function_ends_a_wait(device):
    flag, (s, other) = pinned(), streams(2)
    s.wait_value(flag, 1)
    other.host_function(flag.fill, 1)
    s.synchronize()
    assert flag.tolist() == [1]


def test_another_thread_ends_a_wait_during_a_synchronisation(device):
    flag, s = pinned(), cs.Stream(non_blocking=True)
    s.wait_value(flag, 1)
    thread = threading.Timer(0.05, flag.fill, (1,))
    thread.start()
    s.synchronize()
    thread.join()
    assert flag.tolist() == [1]


def test_a_wait_ends_without_a_call_that_asks_for_it(device):
    flag, seen, s = pinned(), threading.Event(), cs.Stream(non_blocking=True)
    s.wait_value(flag, 1)
    s.host_function(seen.set)
    flag[0] = 1
    assert seen.wait(10)


def test_a_spinning_kernel_sees_a_write(device, kernels):
    flag, (s, other) = plain(0, np.int32), streams(2)
    module(device).forever[1, 1, s](flag)
    other.write_value(flag, 1)
    s.synchronize()
    assert s.query()


def test_other_streams_go_on_while_one_waits(device, kernels):
    flag, x, (s, other) = plain(), plain(0, np.int32), streams(2)
    s.wait_value(flag, 1)
    for _ in range(10):
        kernels.add_one[1, 1, other](x)
    other.synchronize()
    assert (number_in(x), s.query()) == (10, False)
    other.write_value(flag, 1)
    s.synchronize()


def test_streams_play_ball(device, kernels):
    ball, log, count = plain(), cs.empty_plain(20, np.int32), plain(0, np.int32)
    made = module(device)
    made.append[1, 1](log, count, 0)
    count.fill(0)
    cs.synchronize()
    first, second = streams(2)
    for turn in range(10):
        for stream, number in ((first, 2 * turn), (second, 2 * turn + 1)):
            stream.wait_value(ball, number, "eq")
            made.append[1, 1, stream](log, count, number)
            stream.write_value(ball, number + 1)
    second.synchronize()
    assert log.to_host().tolist() == list(range(20))


@settings(max_examples=30, deadline=None)
@given(turns=st.permutations(range(9)), data=st.data())
def test_turns_are_taken_in_any_order_of_calls(turns, data):
    """Any stream may get any turn, and the call for an early turn may come late."""
    for name in [d.name for d in cs.devices() if d.name in ("host:0", "cuda:0")]:
        with cs.Device(name) as device:
            append = module(device).append
            log, count, turn = cs.empty_plain(9, np.int32), plain(0, np.int32), plain(0, np.uint64)
            append[1, 1](log, count, 0)  # loaded before anything waits
            count.fill(0)
            cs.synchronize()
            which = [data.draw(st.integers(0, 3)) for _ in turns]
            ours = streams(4)
            # Within a stream turns go up: it cannot do a later one first.
            left = [[n for n in range(9) if which[n] == i] for i in range(4)]
            for shuffled in turns:
                s = ours[which[shuffled]]
                number = left[which[shuffled]].pop(0)
                s.wait_value(turn, number, "eq")
                append[1, 1, s](log, count, number)
                s.write_value(turn, number + 1)
            for s in ours:
                s.synchronize()
            assert log.to_host().tolist() == list(range(9))


def test_threads_that_wait_let_each_other_run(device):
    flags, (s, other) = [pinned(), pinned()], streams(2)
    s.wait_value(flags[0], 1)
    other.wait_value(flags[1], 1)
    threads = [threading.Thread(target=stream.synchronize) for stream in (s, other)]
    for thread in threads:
        thread.start()
    for flag in flags:
        flag[0] = 1
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_a_stream_keeps_the_memory_that_it_waits_for(device, settled):
    flag, s = pinned(), cs.Stream(non_blocking=True)
    s.wait_value(plain(1), 1)
    s.wait_value(flag, 1)
    s.write_value(flag[0:1], 2)
    alias = np.frombuffer(flag, np.uint32)  # a view of memory that the stream still uses
    alias[0] = 1
    s.synchronize()
    assert flag.tolist() == [2]


# ---- batches


def test_a_batch_is_done_in_order(device):
    flags = cs.pinned_empty(3, np.uint32)
    flags[:] = 0
    a, b, c = (flags[i : i + 1] for i in range(3))
    s = cs.Stream()
    s.batch_mem_op(
        [
            cs.WriteValue(a, 1),
            cs.WaitValue(a, 1, "eq"),
            cs.WriteValue(b, 2),
            cs.MemoryBarrier(),
            cs.WriteValue(c, 3),
        ]
    )
    s.synchronize()
    assert flags.tolist() == [1, 2, 3]


def test_a_batch_goes_on_where_it_waits(device):
    flags = cs.pinned_empty(3, np.uint64)
    flags[:] = 0
    begun, go_on, done = (flags[i : i + 1] for i in range(3))
    s, other = streams(2)
    s.batch_mem_op([cs.WriteValue(begun, 1), cs.WaitValue(go_on, 1), cs.WriteValue(done, 1)])
    other.batch_mem_op([cs.WaitValue(begun, 1), cs.MemoryBarrier("device")])
    other.synchronize()
    assert (flags.tolist(), s.query()) == ([1, 0, 0], False)
    other.batch_mem_op([cs.WriteValue(go_on, 1)])
    s.synchronize()
    assert flags.tolist() == [1, 1, 1]


def test_an_empty_batch_does_nothing(device):
    s = cs.Stream()
    s.batch_mem_op([])
    s.synchronize()
    assert s.query()


def test_a_batch_has_less_than_256_operations(device):
    flag, s = pinned(), cs.Stream()
    s.batch_mem_op([cs.WriteValue(flag, i) for i in range(255)])
    s.synchronize()
    assert flag.tolist() == [254]
    with pytest.raises(ValueError, match="256; a batch has less than 256"):
        s.batch_mem_op([cs.WriteValue(flag, 0)] * 256)
    assert flag.tolist() == [254]


def test_operations_have_their_parameters_as_properties(device):
    flag = pinned()
    write, wait, barrier = cs.WriteValue(flag, 3), cs.WaitValue(flag, 4, "and"), cs.MemoryBarrier()
    assert (write.array is flag, write.value) == (True, 3)
    assert (wait.value, wait.condition, barrier.scope) == (4, "and", "system")
    assert repr([write, wait, barrier]) == (
        "[<WriteValue 3, 32 bits>, <WaitValue 4, 32 bits, and>, <MemoryBarrier system>]"
    )


# ---- bad input


@pytest.mark.parametrize("use", ["write_value", "wait_value"])
def test_wrong_numbers_and_memory_are_refused(device, use):
    operate = getattr(cs.Stream(), use)
    for array, message in [
        (cs.zeros(1, np.uint32), "of a pool"),
        (cs.empty_managed(1, np.uint32), "managed"),
        (np.zeros(1, np.uint32), "pageable"),
        (cs.empty_plain(2, np.uint32), "2 elements"),
        (cs.empty_plain(0, np.uint32), "0 elements"),
        (cs.empty_plain(1, np.float32), "float32"),
        (cs.empty_plain(1, np.uint16), "uint16"),
    ]:
        with pytest.raises(ValueError, match=message):
            operate(array, 1)
    with pytest.raises(TypeError, match="array: takes"):
        operate([1], 1)


def test_numbers_that_do_not_fit_are_refused(device):
    s, flag = cs.Stream(), pinned(3)
    for value in (-1, 2**32, 10**30):
        with pytest.raises(ValueError, match="uint32 holds 0 to 4294967295"):
            s.write_value(flag, value)
    with pytest.raises(TypeError):
        s.write_value(flag, 1.5)
    with pytest.raises(ValueError, match="condition: 'ge'"):
        s.wait_value(flag, 1, "ge")
    s.synchronize()
    assert flag.tolist() == [3]


def test_read_only_memory_is_not_written(device):
    flag = pinned()
    flag.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        cs.WriteValue(flag, 1)
    cs.Stream().wait_value(flag, 0)


def test_batches_of_other_objects_are_refused(device):
    s = cs.Stream()
    with pytest.raises(TypeError, match="operations: takes"):
        s.batch_mem_op([1])
    with pytest.raises(TypeError, match="operations: takes a list"):
        s.batch_mem_op(cs.MemoryBarrier())
    with pytest.raises(ValueError, match="scope"):
        cs.MemoryBarrier("block")


def test_closed_arrays_and_streams_say_so(device):
    x, flag, s = plain(), pinned(), cs.Stream()
    write = cs.WriteValue(x, 1)
    x.close()
    with pytest.raises(ValueError, match="DeviceArray is closed"):
        s.batch_mem_op([write])
    s.close()
    with pytest.raises(ValueError, match="Stream is closed"):
        s.write_value(flag, 1)


# ---- simulated times


def waited(device, kernels, end: float) -> tuple[float, float]:
    """The end of one stream's wait, and the moment of another stream's write after so long a kernel; in ms."""
    flag, (s, other) = plain(0, np.int32), streams(2)
    start, wrote, over = (cs.Event() for _ in range(3))
    start.record(other)
    s.wait_value(flag, 1)
    over.record(s)
    spin(device, end, other)
    other.write_value(flag, 1)
    wrote.record(other)
    s.synchronize()
    other.synchronize()
    return wrote - start, over - start


@pytest.mark.host_only("a simulated device's times are the same on every run")
def test_a_wait_is_over_when_the_number_is_there(device, kernels):
    first = waited(device, kernels, 5 * MS)
    wrote, over = first
    assert 5 < wrote < 5.02
    assert 0 < over - wrote < 0.01
    assert [waited(device, kernels, 5 * MS) for _ in range(3)] == [first] * 3


@pytest.mark.host_only("a simulated device's times are the same on every run")
def test_a_wait_that_begins_late_ends_no_sooner(device, kernels):
    flag, (s, other) = plain(0, np.int32), streams(2)
    start, over = cs.Event(), cs.Event()
    start.record(s)
    other.write_value(flag, 1)
    spin(device, 3 * MS, s)
    s.wait_value(flag, 1)
    over.record(s)
    s.synchronize()
    assert 3 < over - start < 3.02


@pytest.mark.host_only("a simulated device's times are the same on every run")
@pytest.mark.parametrize("asks", [False, True])
def test_a_kernels_write_is_visible_at_its_end(device, asks):
    made = module(
        device,
        r"""__global__ void late(long long ns, int* p) {
  unsigned long long t0, t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); } while ((long long)(t - t0) < ns);
  *p = 1;
}""",
    )
    flag, (s, other) = plain(0, np.int32), streams(2)
    start, over = cs.Event(), cs.Event()
    start.record(other)
    made.late[1, 1, other](4_000_000, flag)
    if asks:
        cs.host_work(1 * MS)
        other.query()
    s.wait_value(flag, 1)
    over.record(s)
    s.synchronize()
    assert 4 < over - start < 4.02


@pytest.mark.host_only("a simulated device's times are the same on every run")
def test_a_write_of_the_host_is_visible_at_the_hosts_time(device):
    flag, s = pinned(), cs.Stream(non_blocking=True)
    start, over = cs.Event(), cs.Event()
    start.record(s)
    s.wait_value(flag, 1)
    over.record(s)
    cs.host_work(2 * MS)
    flag[0] = 1
    s.synchronize()
    assert 2 < over - start < 2.01


# ---- the end of the process, and Ctrl-C

WAITING = """
import signal, sys, threading, time
import numpy as np
import cuscope as cs

flag, stream = cs.pinned_empty(1, np.uint32), cs.Stream(non_blocking=True)
flag[0] = 0
stream.wait_value(flag, 1)
"""


def test_ctrl_c_ends_the_wait_for_a_wait(device, run_python):
    done = run_python(
        WAITING
        + """
import _thread
threading.Timer(0.5, _thread.interrupt_main).start()
try:
    stream.synchronize()
except KeyboardInterrupt:
    print("interrupted")
flag[0] = 1
stream.synchronize()
print("done")
"""
    )
    assert done.stdout.split() == ["interrupted", "done"], done.stderr


@pytest.mark.host_only("work of a real device that never ends keeps the driver busy at exit")
def test_a_process_that_ends_does_not_wait(device, run_python):
    done = run_python(WAITING + "print('end')\n", timeout=60)
    assert (done.stdout, done.returncode) == ("end\n", 0), done.stderr
