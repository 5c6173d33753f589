"""Several threads that use a device at once: no call hangs, and none uses what another thread destroyed."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import cuscope as cs
from support import in_threads

pytestmark = pytest.mark.no_sanitizer(
    "it runs one kernel at a time, so threads that wait for each other may wait for ever"
)


def run_threads(*functions):
    """Runs the functions in a thread each; raises the first exception, and fails if a thread does not end."""
    raised = in_threads(len(functions), lambda i: functions[i]())
    if raised:
        raise raised[0]


def in_loop(device, function, rounds):
    def loop():
        with device:
            for _ in range(rounds):
                function()

    return loop


def copy_out_and_back():
    x = np.arange(12, dtype=np.float32)
    assert np.array_equal(cs.to_device(x).to_host(), x)


def wait_for_host_function(non_blocking=False):
    stream = cs.Stream(non_blocking=non_blocking)
    ran = []
    stream.host_function(ran.append, 1)
    stream.synchronize()
    assert ran == [1]


def capture_and_launch():
    # Non-blocking, because a capture of a blocking stream would refuse the copies in the legacy stream.
    stream = cs.Stream(non_blocking=True)
    x = cs.full(64, 1, np.int32, stream=stream)
    with stream.capture("thread_local") as graph:
        x.copy_from(x, stream=stream)
    graph.instantiate().launch(stream)
    stream.synchronize()


@pytest.mark.parametrize("non_blocking", [False, True])
def test_copies_beside_host_functions_of_other_threads_end(device, non_blocking):
    # A synchronisation of the legacy stream waits for streams that other threads destroy meanwhile.
    run_threads(
        in_loop(device, copy_out_and_back, 3000),
        in_loop(device, copy_out_and_back, 3000),
        in_loop(device, lambda: wait_for_host_function(non_blocking), 3000),
        in_loop(device, lambda: wait_for_host_function(non_blocking), 3000),
    )


def test_captures_beside_copies_and_products_of_other_threads_end(device):
    a, b = np.eye(8, dtype=np.float32), np.ones((8, 8), np.float32)

    def multiply():
        assert np.array_equal(cs.matmul(a, b), b)

    with device:
        multiply()  # loads the kernels, which a capture of another thread might refuse
    run_threads(
        in_loop(device, multiply, 400),
        in_loop(device, copy_out_and_back, 800),
        in_loop(device, capture_and_launch, 800),
        in_loop(device, capture_and_launch, 800),
    )


def test_copies_in_the_legacy_stream_beside_captures_of_blocking_streams_end(device):
    # A GPU's driver reads such captures at every use of the legacy stream; this used to end the process.
    def capture():
        stream = cs.Stream()
        with stream.capture("thread_local") as graph:
            stream.host_function(lambda: None)
        graph.instantiate().launch(stream)
        stream.synchronize()

    def copy():
        try:
            x = cs.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
            assert np.array_equal(x.T.to_host(), np.arange(12, dtype=np.float32).reshape(3, 4).T)
        except cs.CaptureError:
            pass  # the legacy stream would wait for a stream that is being captured

    def capture_beside_copies():
        try:
            capture()
        except cs.CudaError:
            pass  # a copy that came first has invalidated the capture

    run_threads(
        *[in_loop(device, copy, 1000)] * 2,
        *[in_loop(device, capture_beside_copies, 1000)] * 2,
    )


def test_pools_come_and_go_beside_memory_of_other_pools_and_streams(device):
    # A GPU's driver ended the process with a SIGSEGV, or hung, within two seconds.
    def make_and_drop_a_pool():
        stream = cs.Stream()
        for _ in range(20):
            cs.MemoryPool().empty(100, stream=stream).fill(1, stream=stream)

    def use_memory_and_a_stream():
        with cs.Stream() as stream:
            x = cs.zeros(100, np.int32, stream=stream)
            x.fill(2, stream=stream)
            assert int(x.to_host(stream=stream).sum()) == 200

    run_threads(
        *(in_loop(device, make_and_drop_a_pool, 30) for _ in range(3)),
        *(in_loop(device, use_memory_and_a_stream, 300) for _ in range(3)),
    )


def test_captures_begin_beside_questions_about_other_streams(device):
    # A GPU's driver dies where a capture begins while another thread asks a stream of its own.
    def capture():
        stream = cs.Stream()
        x = cs.zeros(4, np.int32, stream=stream)
        for _ in range(20):
            with stream.capture("thread_local") as graph:
                x.fill(1, stream=stream)
            assert len(graph.nodes) == 1

    def ask():
        with cs.Stream() as stream:
            x = cs.zeros(4, np.int32, stream=stream)
            while not stream.query():
                pass
            x.close()

    run_threads(
        *(in_loop(device, capture, 30) for _ in range(3)), *(in_loop(device, ask, 600) for _ in range(3))
    )


def test_the_first_call_of_a_thread_may_hand_an_array_over(device):
    # A GPU's driver tells a thread without a context of no device address.
    arrays = [cs.zeros(4, np.int32), cs.empty_managed(4, np.int32)]
    shapes = []

    run_threads(lambda: shapes.extend(cs.from_dlpack(x.__dlpack__(stream=-1)).shape for x in arrays))

    assert shapes == [(4,), (4,)]


def test_synchronize_of_the_legacy_stream_while_another_thread_closes_the_streams(device):
    with device:
        for _ in range(20):
            streams = [cs.Stream() for _ in range(8)]
            gate = threading.Event()
            for stream in streams:
                stream.host_function(gate.wait)

            def close(streams=streams, gate=gate):
                for stream in streams:
                    stream.close()
                gate.set()

            run_threads(in_loop(device, device.default_stream.synchronize, 1), close)


def test_host_function_is_run_beside_one_that_waits_for_a_spinning_kernel(device):
    # The first host function waits for the kernel, which waits for the number that the second one writes.
    with device:
        module = cs.Module("""
            __global__ void spin(volatile int* flag, int* done) { while (*flag == 0) {} *done = 1; }
        """)
        flag, done = cs.pinned_empty(1, np.int32, mapped=True), cs.pinned_empty(1, np.int32, mapped=True)
        flag[0] = 1
        module.spin[1, 1](cs.device_view(flag), cs.device_view(done))
        cs.synchronize()
        flag[0] = done[0] = 0
        first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        order = []

        def set_flag():
            order.append("second")
            flag[0] = 1

        try:
            module.spin[1, 1, first](cs.device_view(flag), cs.device_view(done))
            first.host_function(order.append, "first")
            second.host_function(set_flag)
            run_threads(in_loop(device, first.synchronize, 1))
        finally:
            flag[0] = 1
        assert order == ["second", "first"]


def test_reset_beside_threads_that_issue_work_ends():
    # On a simulated device of its own, since a reset takes everything from the other tests.
    device = cs.add_host_device("h200")
    stop = threading.Event()

    def work():
        with device:
            while not stop.is_set():
                try:
                    stream = cs.Stream()
                    x = cs.zeros(64, np.int32, stream=stream)
                    x.fill(1, stream=stream)
                    x.to_host(stream=stream)
                except (cs.CudaError, ValueError, RuntimeError):
                    pass  # made before a reset

    def reset():
        for _ in range(30):
            device.reset()
        stop.set()

    try:
        run_threads(work, work, work, reset)
    finally:
        stop.set()
    with device:
        assert cs.full(4, 7, np.int32).to_host().tolist() == [7, 7, 7, 7]


@pytest.mark.subprocess
def test_interrupt_of_a_wait_while_another_thread_keeps_the_device_busy():
    # Work of the other thread that ends wakes the wait again and again; it has to look for Ctrl-C all the same.
    program = textwrap.dedent("""
        import threading, numpy as np, cuscope as cs

        flag, stream = cs.pinned_empty(1, np.uint32), cs.Stream(non_blocking=True)
        flag[0] = 0
        stream.wait_value(flag, 1)

        def busy():
            own = cs.Stream(non_blocking=True)
            x = cs.zeros(1024, np.float32, stream=own)
            h = cs.pinned_empty(1024, np.float32)
            while True:
                for _ in range(50):
                    x.copy_to(h, stream=own)
                own.synchronize()

        threading.Thread(target=busy, daemon=True).start()
        print("waits", flush=True)
        try:
            stream.synchronize()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        flag[0] = 1
    """)
    env = dict(os.environ, CUSCOPE_DEVICE="host:0")
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=env
    ) as process:
        try:
            assert process.stdout.readline() == "waits\n"
            timer = threading.Timer(1, process.send_signal, (signal.SIGINT,))
            timer.start()
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert out == "interrupted\n"
