"""Every public object in every state: an operation of Python itself (repr, copy, comparison) never fails, ends the
process or waits.

Some states cannot be left again: a lost device, a child after fork, the end of the interpreter. Each of them is tested
in a process of its own, which goes through the whole table of object_states.py.
"""

from __future__ import annotations

import copy
import pickle

import pytest

import cuscope as cs
from package.object_states import (
    CONSTANT,
    EXTENSION_TYPES,
    OBJECTS,
    OPERATIONS,
    SIMULATED_ONLY,
    World,
    close,
    public_types,
)
from support import NO_DEVICE, TESTS, forks_with_threads

PRELUDE = f"""
import faulthandler, sys
faulthandler.dump_traceback_later(100, exit=True)
sys.path.insert(0, {str(TESTS)!r})
import gc, os, signal
import cuscope as cs
from package.object_states import World, failures, lose, objects
device = cs.current_device()
"""


@pytest.fixture(scope="module")
def worlds():
    return {}


@pytest.fixture
def world(device, worlds):
    if device not in worlds:
        worlds[device] = World()
    return worlds[device]


def test_the_table_has_every_public_class(world):
    made = {
        type(make(world))
        for name, make in OBJECTS.items()
        if name not in SIMULATED_ONLY or world.device.simulated
    }
    simulated = {
        cs.Counts,
        cs.KernelTime,
        cs.Finding,
        cs.GlobalCounts,
        cs.ExternalSemaphore,
        cs.PendingWork,
        cs.PendingReason,
        cs.Profile,
        cs.ProfiledLine,
        cs.ProfiledAccess,
        cs.ProfileFinding,
        cs.ProfilePicture,
    }

    assert public_types() - made - simulated == set()


@pytest.mark.parametrize("state", ["new", "closed"])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", OBJECTS)
def test_python_handles_an_object(world, name, operation, state):
    if name in SIMULATED_ONLY and not world.device.simulated:
        pytest.skip(f"a GPU has no {name}")
    thing = OBJECTS[name](world)
    if state == "closed":
        close(thing)

    OPERATIONS[operation](name, thing)


def report(run_python, body: str, before: str = "") -> list[str]:
    """The lines of a process that goes through the table; the last line tells that it came to the end."""
    done = run_python(before + PRELUDE + body)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.subprocess
def test_objects_of_a_lost_device_behave(device, run_python):
    lines = report(
        run_python,
        """
world = World()
things = list(objects(device.simulated, world))
lose(device, world.module)
print(*failures(things), "end", sep="\\n")
""",
    )

    assert lines == ["end"]


@pytest.mark.subprocess
def test_objects_after_a_reset_behave(device, run_python):
    lines = report(
        run_python,
        """
world = World()
things = list(objects(device.simulated, world))
device.reset()
print(*failures(things), sep="\\n", end="")
del things, world
gc.collect()
print(cs.full(3, 2.0).to_host().tolist())
""",
    )

    assert lines == ["[2.0, 2.0, 2.0]"]


@pytest.mark.subprocess
def test_numpy_arrays_over_memory_that_a_reset_took_are_read_and_written(device, run_python):
    # NumPy cannot be told that the memory is gone.
    done = run_python(
        """
        import numpy as np
        import cuscope as cs

        arrays = [cs.pinned_empty(3, np.int32), cs.pinned_empty(1 << 20, np.int32)]
        managed = cs.empty_managed(5, np.int32)
        arrays.append(managed.host_view())
        for array in arrays:
            array[:] = 7
        cs.current_device().reset()
        for array in arrays:
            array[-1] += 1
        del arrays, array, managed
        print(cs.full(2, 3, np.int32).to_host().tolist())
        """
    )

    assert done.stdout == "[3, 3]\n", done.stderr


@pytest.mark.subprocess
@forks_with_threads
def test_objects_in_a_forked_child_behave(device, run_python):
    lines = report(
        run_python,
        """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: fork with threads
things = list(objects(device.simulated))
sys.stdout.flush()
faulthandler.cancel_dump_traceback_later()  # its thread is not in the child, which would wait for it
child = os.fork()
signal.alarm(60)
if child == 0:
    print(*failures(things), "child", sep="\\n", flush=True)
    del things
    gc.collect()
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(*failures(things), "end", sep="\\n")
""",
    )

    assert lines == ["child", "0", "end"]


@pytest.mark.subprocess
def test_objects_at_the_end_of_the_interpreter_behave(device, run_python):
    lines = report(
        run_python,
        """
class Last:
    def __init__(self, name):
        self.name, self.things, self.failures, self.write = name, things, failures, os.write

    def __call__(self):
        for line in [*self.failures(self.things), self.name]:
            self.write(1, line.encode() + b"\\n")

class Dropped(Last):
    __del__ = Last.__call__

things = list(objects(device.simulated))
at_last = Last("after the runtimes were shut down")
atexit.register(Last("before the runtimes are shut down"))
kept = Dropped("modules go")
kept.cycle = kept  # goes with the last collection
""",
        before="""
import atexit
atexit.register(lambda: at_last())  # what is registered first runs last
""",
    )

    assert lines == ["before the runtimes are shut down", "after the runtimes were shut down", "modules go"]


def test_a_closed_pool_is_still_found_in_a_dict(device):
    pool, again = cs.MemoryPool(), cs.MemoryPool()
    table = {pool: "it"}
    pool.close()
    again.close()

    assert table[pool] == "it"
    assert pool != again
    assert again not in table


def test_a_pool_is_itself_wherever_it_comes_from(device):
    pool = cs.MemoryPool()
    before = device.memory_pool
    device.memory_pool = pool
    current = device.memory_pool
    device.memory_pool = None

    assert current == pool
    assert hash(current) == hash(pool)
    assert pool != before
    assert device.memory_pool == before


def test_a_pool_is_not_the_one_that_got_the_handle_of_a_closed_pool(device):
    closed = []
    for _ in range(8):
        pool = cs.MemoryPool()
        assert pool not in closed
        pool.close()
        closed.append(pool)

    assert len(set(closed)) == 8


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_device_is_the_device(device, protocol):
    assert pickle.loads(pickle.dumps(device, protocol)) == device
    assert copy.copy(device) == copy.deepcopy(device) == device


def test_a_pickled_device_that_is_not_there_is_named(device):
    name = f"host:{NO_DEVICE}"
    made = pickle.dumps(device, 0).replace(device.name.encode(), name.encode())

    with pytest.raises(ValueError, match=name):
        pickle.loads(made)


def test_pickling_an_array_names_the_object_to_pickle_instead(device):
    with pytest.raises(TypeError, match=r"DeviceArray cannot be copied or pickled: .*to_host\(\)"):
        pickle.dumps({"weights": cs.zeros(3)})


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_subclass_is_refused_like_its_base(device, protocol):
    class Named(cs.Stream):
        pass

    with pytest.raises(TypeError, match="Stream cannot be copied or pickled"):
        pickle.dumps(Named(), protocol)


def test_a_subclass_may_say_how_it_is_pickled(device):
    stream = Restored()

    assert isinstance(pickle.loads(pickle.dumps(stream)), Restored)
    assert copy.copy(stream) != stream


class Restored(cs.Stream):
    def __reduce__(self):
        return (Restored, ())


@pytest.mark.parametrize(
    "type_", sorted(public_types() - CONSTANT, key=lambda t: t.__name__), ids=lambda t: t.__name__
)
def test_an_object_whose_init_never_ran_is_refused(type_):
    if type_ not in EXTENSION_TYPES:
        pytest.skip("a class of Python")
    kept = []

    class Half(type_):
        def __init__(self):
            kept.append(self)
            for use in (repr, hash, lambda x: x == x, lambda x: x.__reduce__()):
                kept.append(raised_by(use, self))

    with pytest.raises(TypeError, match="__init__"):
        Half()
    half, *errors = kept
    assert {type(e) for e in errors} <= {TypeError, type(None)}
    for name in dir(type_):
        raised_by(lambda name=name: getattr(half, name))
    for call in (
        "close",
        "query",
        "synchronize",
        "to_host",
        "launch",
        "instantiate",
        "statistics",
    ):
        if hasattr(type_, call):
            error = raised_by(lambda call=call: getattr(half, call)())
            assert isinstance(error, TypeError), (call, error)


def raised_by(call, *arguments):
    try:
        call(*arguments)
    except Exception as error:
        return error
    return None
