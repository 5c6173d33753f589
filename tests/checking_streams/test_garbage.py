"""The check of streams while Python collects garbage, which may release arrays and streams at any moment."""

from __future__ import annotations

import pytest

pytestmark = [
    pytest.mark.subprocess,
    pytest.mark.host_only("the check is the same code on a GPU"),
]

PROGRAM = """
    import gc

    import numpy as np

    import cuscope as cs


    def leave_garbage():
        circle = [cs.zeros(4), cs.Stream(), cs.Event()]
        circle.append(circle)


    def inner(x, stream, host):
        leave_garbage()
        x.copy_from(host, stream=stream)
        leave_garbage()
        event = stream.record()
        other = cs.Stream()
        other.wait(event)
        leave_garbage()
        x.copy_to(host, stream=stream)
        event.synchronize()
        stream.synchronize()
        leave_garbage()
        assert (host == 1).all()
        leave_garbage()
        x[:4].fill(1)


    with cs.Device("host:0"), cs.check() as report:
        x, stream, host = cs.zeros(8, np.float32), cs.Stream(), cs.pinned_empty(8, np.float32)
        host[:] = 1
        for objects in range(1, 120):
            gc.set_threshold(objects)  # of new objects, so that the collection comes at another place in each round
            inner(x, stream, host)
            cs.synchronize()
    print(len(report.findings))
"""


def test_arrays_that_the_garbage_collector_releases_do_not_hold_the_check_up(device, run_python):
    assert run_python(PROGRAM, timeout=60).stdout == "0\n"
