"""Memory that is kept for later arrays and results: small blocks of a stream, and the pool of large results."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import cuscope as cs


def test_small_arrays_have_their_own_memory_while_they_live(device):
    rng = np.random.default_rng(0)
    alive = []
    for i in range(400):
        x = cs.full(int(rng.choice([1, 7, 64, 1000])), i, np.int32)
        alive.append((i, x))
        if len(alive) > 20:
            del alive[int(rng.integers(len(alive)))]

    assert all((x.to_host() == i).all() for i, x in alive)


def test_memory_of_one_stream_is_used_in_another_after_its_earlier_use(device):
    first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    large = cs.zeros(1 << 22, stream=first)
    for i in range(40):
        for _ in range(10):
            large.fill(i, stream=first)  # the first stream is behind
            cs.empty(256, np.int32, stream=first).fill(i, stream=first)
        x = cs.empty(256, np.int32, stream=first)
        x.fill(-i, stream=second)
        first.synchronize()

        assert (x.to_host(stream=second) == -i).all()


def test_streams_that_go_give_their_small_arrays_back(device):
    used = device.memory_pool.statistics.used
    for _ in range(20):
        stream = cs.Stream()
        for _ in range(20):
            cs.zeros(100, stream=stream)
        del stream
    device.synchronize()

    assert device.memory_pool.statistics.used == used


def test_statistics_count_arrays_alone(device):
    device.synchronize()
    used = device.memory_pool.statistics.used
    for _ in range(100):
        cs.zeros(1000)
    device.synchronize()

    assert device.memory_pool.statistics.used == used


def test_arrays_of_a_pool_of_the_program_go_back_to_it(device):
    pool = cs.MemoryPool()
    device.memory_pool = pool
    try:
        x = cs.zeros(1 << 20)
        used = pool.statistics.used
        for _ in range(50):
            cs.sum(x), cs.zeros(100)
        cs.sum(x.reshape(2, -1), axis=0)
        device.synchronize()

        assert pool.statistics.used == used
    finally:
        device.memory_pool = None


@pytest.mark.counts_memory
@pytest.mark.no_initcheck("it keeps records of its own")
def test_results_go_back_by_a_trim(device, settled):
    x = cs.full((2, 32 << 20), 1, np.uint8)
    free = device.memory_info().free
    for _ in range(3):
        y = cs.max(x, axis=0)
        device.synchronize()
    assert y.to_host().sum() == 32 << 20
    del y
    settled()

    assert device.memory_info().free >= free


@pytest.mark.counts_memory
@pytest.mark.no_initcheck("it keeps records of its own")
def test_small_arrays_of_a_loop_that_synchronizes_go_back_after_it(device, settled):
    stream = cs.Stream()
    cs.zeros(100, stream=stream)
    settled()
    free = device.memory_info().free
    for i in range(50):
        for _ in range(20):
            cs.zeros(100, stream=stream)
        x = cs.full(100, i, stream=stream)
        device.synchronize()
        assert (x.to_host(stream=stream) == i).all()
    del x
    settled()

    assert device.memory_info().free >= free


def test_threads_share_the_small_arrays_of_a_stream(device):
    stream = cs.Stream()
    wrong = []

    def work(number: int) -> None:
        for _ in range(200):
            x, y = cs.full(50, number, np.int32, stream=stream), cs.full(50, -number, np.int32, stream=stream)
            if (
                not (x.to_host(stream=stream) == number).all()
                or not (y.to_host(stream=stream) == -number).all()
            ):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wrong


def test_a_capture_takes_no_kept_memory(device):
    stream = cs.Stream()
    for _ in range(20):
        cs.zeros(100, stream=stream)
    with stream.capture() as graph:
        x = cs.full(100, 3, stream=stream)
    for _ in range(20):
        cs.zeros(100, stream=stream)
    exe = graph.instantiate()
    exe.launch(stream)

    assert (x.to_host(stream=stream) == 3).all()


def test_nothing_is_kept_if_the_environment_says_so(device, run_python):
    done = run_python(
        """
        import cuscope as cs
        for _ in range(20):
            assert cs.sum(cs.full(100, 1, "float32")).to_host() == 100
        x = cs.full((4, 1 << 20), 1, "float32")
        assert (cs.sum(x, axis=0).to_host() == 4).all()
        """,
        env={"CUSCOPE_KEPT_MEMORY": "0"},
    )

    assert done.returncode == 0, done.stderr


def test_a_wrong_number_of_bytes_is_refused(run_python):
    done = run_python("import cuscope", env={"CUSCOPE_KEPT_MEMORY": "much"})

    assert done.returncode != 0
    assert "CUSCOPE_KEPT_MEMORY: 'much' is no number of bytes" in done.stderr
