"""Fixtures of all tests: a device of each runtime, its contract, and a process of its own."""

from __future__ import annotations

import contextlib
import functools
import gc
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

TESTS = str(Path(__file__).resolve().parent)
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)  # for support.py and semantics/

# Compiled kernels are kept in a folder of this test run, which the processes that it starts share.
if "CUSCOPE_CACHE_DIR" not in os.environ:
    _cache = tempfile.TemporaryDirectory(prefix="cuscope-tests-", ignore_cleanup_errors=True)
    os.environ["CUSCOPE_CACHE_DIR"] = _cache.name
os.environ.pop("CUDA_LAUNCH_BLOCKING", None)
# Times from counts compile each launched kernel a second time. Tests of order and overlap need no such times;
# tests/kernel_time and the fixture times_from_counts ask for them.
os.environ.setdefault("CUSCOPE_KERNEL_TIME", "bytes")
# Warnings are errors here: a test fails if nothing happens for so long during a wait, and the warning lists the work
# that is waited for. A kernel under a sanitizer may take longer than the usual ten seconds.
os.environ["CUSCOPE_WAIT_WARNING"] = "60"
# The threads of NumPy's matrix products wait for the next product on a busy processor, which the tests of other
# processes need. Read when NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # For a job in the background: the processes of tests that interrupt themselves would ignore the signal, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest  # noqa: E402

# The files whose tests take longest, the longest first. Parallel runs begin with them. Otherwise a few long tests may
# be left at the end, and keep one processor busy.
LONGEST_FILES = (
    "test_notebooks.py",
    "test_reduction_kernels.py",
    "test_reduce.py",
    "test_planted.py",
    "test_kernel_files.py",
    "test_wait_warnings.py",
    "test_ordering_machine.py",
    "test_half.py",
    "test_differential.py",
    "test_no_false_alarm.py",
    "test_counts.py",
    "test_matmul_kernels.py",
    "test_process.py",
    "test_wrong_kernels.py",
    "test_compiling.py",
    "test_language.py",
    "test_explain_time.py",
    "test_bfloat16.py",
    "test_large.py",
    "test_stress.py",
    "test_compile_cache.py",
    "test_host_headers.py",
)

# Tests of kernels, and of variants of matmul, whose results the tensor memory accelerator writes. compute-sanitizer's
# initcheck does not see such writes, and takes the results for memory that nobody has written. The last alternative begins
# at the first bracket only: a name may have very many, and a search from each of them takes minutes.
WRITES_BOXES = re.compile(
    r"test_matmul_(float8|parts)\.py|by_boxes\[|^[^\[]*\[.*\b(tma|float8|wgmma_planes|split_floats)\b"
)

# Devices that a test has lost for good: every later test on them would fail.
LOST: dict[str, str] = {}


class HangWatch:
    """Prints the work in flight shortly before a test runs into its time limit. It runs in a thread of its own, because
    the test may be in a call that never returns.
    """

    ahead = 1.0  # seconds

    def __init__(self) -> None:
        self.terminal = os.dup(2)  # the terminal, although pytest captures the output of tests
        self.deadline = math.inf
        self.test = ""
        threading.Thread(target=self.watch, name="hang watch", daemon=True).start()

    @pytest.hookimpl
    def pytest_timeout_set_timer(self, item: pytest.Item, settings) -> None:
        self.test = item.nodeid
        self.deadline = time.monotonic() + max(0.0, settings.timeout - self.ahead)

    @pytest.hookimpl
    def pytest_timeout_cancel_timer(self, item: pytest.Item) -> None:
        self.deadline = math.inf

    def watch(self) -> None:
        while True:
            time.sleep(self.ahead / 2)
            if time.monotonic() < self.deadline:
                continue
            self.deadline = math.inf
            cs = sys.modules.get("cuscope")
            if cs is not None:
                os.write(self.terminal, f"\n{self.test} hangs; cs.pending() says:\n{cs.pending()}\n".encode())


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # the order is made below
    if config.pluginmanager.hasplugin("timeout"):
        config.pluginmanager.register(HangWatch(), "hang watch")
    for line in (
        "host_only(reason): runs on host:0 alone, because of the reason",
        "gpu_only(reason): runs on cuda:0 alone, because of the reason",
        "no_sanitizer(reason): not under compute-sanitizer, because of the reason",
        "no_racecheck(reason): not under compute-sanitizer's racecheck, because of the reason",
        "no_initcheck(reason): not under compute-sanitizer's initcheck, because of the reason",
        "counts_memory: nobody else may use the device meanwhile",
        "measures_time: nobody else may use the device meanwhile, whose turns would make times longer",
        "own_process: of what a program does in a process of its own, which compute-sanitizer does not look into",
    ):
        config.addinivalue_line("markers", line)


@pytest.hookimpl(optionalhook=True)  # pytest-xdist need not be there
def pytest_xdist_auto_num_workers() -> int:
    """The number of processes of `pytest -n auto`. Many tests wait for a while, so there are more than processors."""
    processors = len(os.sched_getaffinity(0))
    return processors + (processors + 1) // 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """With --dist loadgroup: tests of one file stay in one process, which compiles their kernels once, and all tests of
    the GPU in another one, because some count its memory. pytest-xdist 3.8 itself does not see the groups of pytest 9.2.
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class FileByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "cuda:0" if "cuda:0" in nodeid else nodeid.partition("::")[0]

    return FileByFile(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):  # a process of pytest-xdist
        tests = Counter(item.path for item in items)
        ranks = {name: rank for rank, name in enumerate(LONGEST_FILES)}
        items.sort(key=lambda item: (ranks.get(item.path.name, len(ranks)), -tests[item.path]))
    items[:] = sampled(items)
    for item in items:
        if "run_python" in getattr(item, "fixturenames", ()):
            item.add_marker("own_process")
        if WRITES_BOXES.search(item.nodeid):
            item.add_marker(pytest.mark.no_initcheck("it does not see results that are written as boxes"))


def sampled(items: list[pytest.Item]) -> list[pytest.Item]:
    """Where CUSCOPE_TEST_EVERY is n: every n-th set of parameters of a test with more than four sets, but at most 16.

    The sanitizers look for mistakes in code, and some of the sets run nearly all of it.
    """
    every = int(os.environ.get("CUSCOPE_TEST_EVERY", "1"))
    if every == 1:
        return items
    tests = [item.nodeid.partition("[")[0] for item in items]
    sets, before = Counter(tests), Counter[str]()
    kept = []
    for item, test in zip(items, tests, strict=True):
        step = max(every, math.ceil(sets[test] / 16))
        # The number of sets is the product of the numbers of values. With a common divisor, some values would be left out.
        while step > every and math.gcd(step, sets[test]) > 1:
            step += 1
        if sets[test] <= 4 or before[test] % step == 0:
            kept.append(item)
        before[test] += 1
    return kept


@pytest.fixture(scope="module", autouse=True)
def freeze_older_objects() -> None:
    """Tests that collect garbage would go through all objects of pytest and of earlier files, each time."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The reasons for skipped tests: one line for each reason, not one for each test."""
    reasons = Counter(report.longrepr[2] for report in terminalreporter.getreports("skipped"))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" not in metafunc.fixturenames:
        return
    host_only = metafunc.definition.get_closest_marker("host_only")
    gpu_only = metafunc.definition.get_closest_marker("gpu_only")
    names = ["host:0"] if host_only else ["cuda:0"] if gpu_only else devices_here()
    metafunc.parametrize("device", names, indirect=True)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Garbage is collected during a test only if the test calls gc.collect(). A collection frees arrays that earlier tests
    left in reference cycles. Such a release is work of the default stream, which waits for other streams. So it would
    change the order and the times that tests assert.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@functools.cache
def devices_here() -> list[str]:
    """One device of each runtime that this machine has. A missing GPU gives no parameter: it would double the number of
    tests, and each would be skipped after it was collected and sent to a process.
    """
    import cuscope as cs

    return [name for name in ("host:0", "cuda:0") if name in [d.name for d in cs.devices()]]


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Iterator:
    """The device under test, current on this thread; the test is skipped if the machine has no such device."""
    import cuscope as cs

    name = request.param
    if name not in devices_here():
        pytest.skip(f"there is no {name} on this machine")
    if name in LOST:
        pytest.fail(f"{name} was lost in {LOST[name]}", pytrace=False)
    device = cs.Device(name)
    with device:
        yield device
        try:
            device.synchronize()
        except cs.CudaError:
            LOST[name] = request.node.nodeid
            raise


@pytest.fixture
def times_from_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The times of kernels come from counts, as they do unless a variable of the environment says otherwise."""
    monkeypatch.delenv("CUSCOPE_KERNEL_TIME", raising=False)


@pytest.fixture
def contract(device):
    """The raw contract of the device's runtime, with no error left over from another test."""
    from cuscope import _core

    contract = _core.contract(device.name)
    contract.get_last_error()
    return contract


@pytest.fixture
def settled(device) -> Callable[[], None]:
    """Frees everything that earlier tests left behind, so that memory can be counted."""

    import cuscope as cs

    def settle() -> None:
        cs.Stream()  # the first one loads kernels, which take memory
        gc.collect()
        # A device gives memory back at its next call, and no test calls the devices of another.
        others = [other for other in cs.devices() if other.simulated and other != device]
        # Some releases, made by one wait, let the next wait make more, also on another device.
        for _ in range(3):
            for other in others:
                with contextlib.suppress(cs.CudaError):  # the device is lost
                    other.synchronize()
            device.synchronize()
            gc.collect()
        if device.memory_pool.is_default:
            device.memory_pool.trim()

    settle()
    return settle


@pytest.fixture
def drawn() -> Iterator[threading.Event]:
    """An event that is set when a wait has drawn its bar. Tests choose bars with cs.show_progress(); here they end."""
    import cuscope as cs
    from cuscope import _progress

    event, show = threading.Event(), _progress._show

    def draw(*progress: object) -> None:
        try:
            show(*progress)
        finally:
            event.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_progress, "_show", draw)
        yield event
    cs.show_progress()


RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_python(request: pytest.FixtureRequest, tmp_path: Path) -> RunPython:
    """Runs a program in a process of its own, on the device under test, and waits for its end, but not for ever."""

    def run(
        source: str, *arguments: str, env: dict[str, str] | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        name = request.getfixturevalue("device").name if "device" in request.fixturenames else "host:0"
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(source))
        environment = os.environ | {"CUSCOPE_DEVICE": name, "PYTHONUNBUFFERED": "1"} | (env or {})
        return subprocess.run(
            [sys.executable, str(program), *arguments],
            check=False,
            cwd=tmp_path,
            env=environment,
            text=True,
            capture_output=True,
            timeout=timeout,
        )

    return run
