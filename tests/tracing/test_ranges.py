"""cs.range: which ranges are noted, and when; a recorder takes the notes."""

import asyncio
import sys
import threading
import types

import pytest

import cuscope as cs
from cuscope.tracing import ranges


class Notes:
    """A recorder that remembers what it was told."""

    def __init__(self):
        self.log = []
        self.texts = [""]

    def range_begin(self, text):
        self.texts.append(text)
        self.log.append(f"+{text}")
        return len(self.texts) - 1

    def range_end(self, token):
        self.log.append(f"-{self.texts[token]}")

    @property
    def innermost(self):
        entry = ranges.innermost_range.get()
        return self.texts[entry.token if entry else 0]


@pytest.fixture
def notes():
    recorder = Notes()
    ranges.set_recorder(recorder)
    yield recorder
    ranges.set_recorder(None)


def test_ranges_nest(notes):
    with cs.range("outer"):
        with cs.range("inner"):
            assert notes.innermost == "inner"
        assert notes.innermost == "outer"
    assert notes.innermost == ""
    assert notes.log == ["+outer", "+inner", "-inner", "-outer"]


def test_a_range_ends_when_the_block_raises(notes):
    with pytest.raises(KeyError):
        with cs.range("fails"):
            raise KeyError
    assert notes.log == ["+fails", "-fails"]


def test_one_range_may_be_entered_again(notes):
    step = cs.range("step")
    with step:
        with step:
            pass
    with step:
        pass
    assert notes.log == ["+step", "+step", "-step", "-step", "+step", "-step"]


def test_each_run_of_a_decorated_function_is_a_range(notes):
    @cs.range("solve")
    def solve(n):
        """Solves."""
        return solve(n - 1) + 1 if n else 0

    assert solve(2) == 2
    assert solve.__doc__ == "Solves."
    assert notes.log == ["+solve"] * 3 + ["-solve"] * 3


def test_a_decorated_generator_is_a_range_while_it_runs(notes):
    @cs.range("generate")
    def generate():
        yield notes.innermost
        return

    assert list(generate()) == ["generate"]
    assert notes.log == ["+generate", "-generate"]


def test_asyncio_tasks_have_ranges_of_their_own(notes):
    seen = []

    @cs.range("task")
    async def task(name, turns):
        with cs.range(name):
            for turn in turns:
                await turn.wait()
                seen.append((name, notes.innermost))

    async def main():
        first, second = asyncio.Event(), asyncio.Event()
        with cs.range("main"):
            tasks = asyncio.gather(task("a", [first]), task("b", [second]))
            await asyncio.sleep(0)
            first.set()
            await asyncio.sleep(0)
            second.set()
            await tasks
            seen.append(("main", notes.innermost))

    asyncio.run(main())
    assert seen == [("a", "a"), ("b", "b"), ("main", "main")]


def test_threads_have_ranges_of_their_own(notes):
    seen = []
    with cs.range("main"):
        thread = threading.Thread(target=lambda: seen.append(notes.innermost))
        thread.start()
        thread.join()
    inherits = getattr(sys.flags, "thread_inherit_context", False)  # on free-threaded Python
    assert seen == ["main" if inherits else ""]


def test_a_block_without_a_trace_does_not_end_the_range_of_another_thread(notes):
    shared = cs.range("shared")
    inside, left = threading.Event(), threading.Event()

    def run():
        with shared:
            inside.set()
            left.wait(60)
            notes.log.append("still inside")

    ranges.set_recorder(None)
    thread = threading.Thread(target=run)
    with shared:  # begins before there is a trace
        ranges.set_recorder(notes)
        thread.start()
        inside.wait(60)
    left.set()
    thread.join()

    assert notes.log == ["+shared", "still inside", "-shared"]


def test_threads_may_share_a_range(notes):
    shared = cs.range("shared")
    both = threading.Barrier(2)

    def run():
        with shared:
            both.wait()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(notes.log) == ["+shared", "+shared", "-shared", "-shared"]


def test_a_range_that_began_before_the_trace_is_not_noted():
    recorder = Notes()
    with cs.range("early"):
        ranges.set_recorder(recorder)
        with cs.range("within"):
            pass
        late = cs.range("late")
        late.__enter__()
        ranges.set_recorder(None)
    late.__exit__(None, None, None)
    assert recorder.log == ["+within", "-within", "+late", "-late"]


def test_a_range_may_end_in_another_context(notes):
    async def main():
        async def steps():
            with cs.range("steps"):
                yield 1
                yield 2

        iterator = steps()
        await asyncio.create_task(iterator.__anext__())
        await asyncio.create_task(iterator.aclose())

    asyncio.run(main())
    assert notes.log == ["+steps", "-steps"]


def test_ranges_go_to_nvtx_where_it_is_installed(monkeypatch):
    log = []
    nvtx = types.ModuleType("nvtx")
    nvtx.start_range = lambda text: log.append(f"+{text}") or text
    nvtx.end_range = lambda mark: log.append(f"-{mark}")
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)
    monkeypatch.setattr(ranges, "_nvtx", False)
    with cs.range("a"), cs.range("b"):
        pass
    assert log == ["+a", "+b", "-b", "-a"]


def test_the_name_must_be_a_string():
    with pytest.raises(TypeError, match="the name of a range must be a string, not int: 3"):
        cs.range(3)
