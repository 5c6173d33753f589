"""The repr of an object: one line, which never fails and never waits."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import MS, module, spin

OBJECTS = {
    "device": lambda d: d,
    "properties": lambda d: d.properties,
    "memory info": lambda d: d.memory_info(),
    "stream": lambda d: cs.Stream(priority=-1, non_blocking=True),
    "default stream": lambda d: d.default_stream,
    "per-thread stream": lambda d: d.per_thread_stream,
    "event": lambda d: cs.Event(),
    "array": lambda d: cs.zeros((3, 4), np.int16),
    "module": lambda d: module(d),
    "kernel": lambda d: module(d).vec_add,
    "configured kernel": lambda d: module(d).vec_add[1, 2],
    "parameter": lambda d: module(d).vec_add.parameters[0],
    "attributes": lambda d: module(d).vec_add.attributes,
    "info": lambda d: cs.info(),
}


@pytest.mark.parametrize("what", OBJECTS)
def test_repr_is_text_that_names_the_type(device, what):
    text = repr(OBJECTS[what](device))

    assert text
    if what not in ("info", "properties", "attributes"):
        assert "\n" not in text
        assert len(text) < 300
    assert " object at 0x" not in text


def test_repr_of_a_device_is_its_name_and_model():
    assert repr(cs.Device("host:0")) == "Device('host:0', h200 model)"


def test_repr_of_an_array_says_shape_type_and_device(device):
    text = repr(cs.zeros((3, 4), np.int16))

    assert all(part in text for part in ("(3, 4)", "int16", device.name))


@pytest.mark.parametrize("make", [cs.Stream, cs.Event, lambda: cs.zeros(3)])
def test_repr_of_a_closed_object_says_closed(device, make):
    thing = make()
    thing.close()

    assert "closed" in repr(thing)


def test_repr_does_not_wait(device):
    s = cs.Stream()
    spin(device, 50 * MS, s)
    event = s.record()
    start = cs.clock()
    for thing in (s, event, device, cs.current_stream()):
        repr(thing)

    assert s.query() is False
    if device.simulated:
        assert cs.clock() - start < 5 * MS
    s.synchronize()


def test_properties_of_closed_objects_do_not_fail(device):
    s, e, x = cs.Stream(), cs.Event(), cs.zeros(3)
    for thing in (s, e, x):
        thing.close()

    assert (s.device, e.device, x.device) == (device, device, device)
    assert (x.shape, x.dtype, e.timing, s.non_blocking) == ((3,), np.float32, True, False)


def test_repr_works_after_the_device_was_lost(device, run_python):
    done = run_python(
        """
        import numpy as np
        import cuscope as cs
        mod = cs.Module("__global__ void wild(int* p) { p[1LL << 40] = 1; }")
        p = cs.zeros(1, np.int32)
        s, e = cs.Stream(), cs.Event()
        mod.wild[1, 1](p)
        try:
            cs.synchronize()
        except cs.CudaError:
            pass
        for x in (p, s, e, mod, mod.wild, cs.current_device(), cs.devices(), cs.current_stream()):
            assert repr(x)
        print("fine")
        """
    )

    assert done.stdout.strip() == "fine", done.stderr
    assert done.returncode == 0
