"""Compilations: the files and processes that they leave behind, their time limit, and waits for another compilation."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import cuscope as cs
from support import forks_with_threads, in_threads

pytestmark = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("c++", "g++", "clang++")), reason="there is no compiler"
)

# With a directive, so that the cache gets the kernel's image alone: of a source without one, the cache also gets the
# preprocessed header of the language.
SOURCE = "#define VALUE 47\n__global__ void put(int* p) { *p = VALUE; }"
# The compiler proper, which the compiler driver starts, works on this source for minutes.
ENDLESS = """
template <int N, int D> struct Tree { static constexpr int value = Tree<2 * N, D - 1>::value + Tree<2 * N + 1, D - 1>::value; };
template <int N> struct Tree<N, 0> { static constexpr int value = N & 1; };
__global__ void put(int* p) { *p = Tree<1, 27>::value; }
"""
WAIT_S = 60.0  # for events that need no time, on a busy machine


def wait_until(happens: Callable[[], object], what: str) -> None:
    end = time.monotonic() + WAIT_S
    while not happens():
        assert time.monotonic() < end, f"{what} has not happened"
        time.sleep(0.02)


def processes_about(word: str) -> dict[int, str]:
    """The command lines of this machine's processes that contain the word, a folder."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line:
            found[int(entry.name)] = line
    return found


class Place:
    """A temporary folder, a cache and a compiler that counts its runs, for processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.temporary, self.cache = folder / "temporary", folder / "cache"
        self.temporary.mkdir()
        self.runs = folder / "runs"
        self.runs.touch()
        self.wrapper = folder / "compiler"
        self.wrap()
        self.children: list[subprocess.Popen[str]] = []

    def wrap(self, before: str = "") -> None:
        """`before` is a shell command that runs before each compilation of an image."""
        compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))))
        self.wrapper.write_text(
            textwrap.dedent(f"""\
            #!/bin/sh
            case "$*" in *image.so*)
                echo run >> {self.runs}
                {before}
            esac
            exec {compiler} "$@"
            """)
        )
        self.wrapper.chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "TMPDIR": str(self.temporary),
            "CUSCOPE_CACHE_DIR": str(self.cache),
            "CUSCOPE_CXX": str(self.wrapper),
            "CUSCOPE_DEVICE": "host:0",
            "PYTHONUNBUFFERED": "1",
        }

    def start(
        self, source: str, program: str = "cs.Module(source)", **environment: str
    ) -> subprocess.Popen[str]:
        """Starts a Python process that compiles the source."""
        text = (
            f"import signal, cuscope as cs\nsource = {source!r}\nprint('ready')\n{textwrap.dedent(program)}\n"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", text],
            env=os.environ | {"PYTHONFAULTHANDLER": "1"} | self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.children.append(child)
        return child

    def compiles(self) -> int:
        """The number of compilations of images so far."""
        return len(self.runs.read_text().splitlines())

    def folders(self) -> list[Path]:
        return list(self.temporary.iterdir())


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    for child in place.children:
        child.kill()
        child.communicate()


def test_compiler_ends_with_a_python_that_is_killed(place):
    python = place.start(ENDLESS)
    wait_until(lambda: place.compiles() == 1, "the compilation")
    wait_until(lambda: "cc1" in str(processes_about(str(place.temporary))), "the compiler proper")

    python.kill()

    wait_until(lambda: not processes_about(str(place.temporary)), "the compiler's end")


def test_folder_goes_with_a_python_that_is_killed(place):
    place.wrap("sleep 600")
    python = place.start(SOURCE)
    wait_until(lambda: place.compiles() == 1, "the compilation")

    python.kill()

    wait_until(lambda: not place.folders(), "the folder's end")


def test_killed_python_that_has_forked_takes_its_compiler_along(place):
    place.wrap("sleep 600")
    python = place.start(
        SOURCE,
        """
        import os, threading, time
        threading.Thread(target=cs.Module, args=(source,), daemon=True).start()
        while "run" not in open(os.environ["CUSCOPE_CXX"][:-len("compiler")] + "runs").read():
            time.sleep(0.02)
        child = os.fork()
        if child == 0:
            time.sleep(600)
        print(child)
        time.sleep(600)
        """,
    )
    python.stdout.readline()
    child = int(python.stdout.readline())
    try:
        python.kill()

        wait_until(lambda: not place.folders(), "the folder's end")
        wait_until(lambda: not processes_about(str(place.temporary)), "the compiler's end")
    finally:
        os.kill(child, signal.SIGKILL)


def test_folder_of_a_killed_process_and_watcher_is_removed_by_the_next(place):
    place.wrap("sleep 600")
    python = place.start(SOURCE)
    wait_until(lambda: place.compiles() == 1, "the compilation")
    (folder,) = place.folders()
    (group,) = {os.getpgid(pid) for pid in processes_about(str(folder))}
    python.send_signal(signal.SIGSTOP)  # so that it cannot remove the folder itself
    os.killpg(group, signal.SIGKILL)
    python.kill()
    python.wait()
    assert place.folders() == [folder]
    place.wrap()

    other = place.start(SOURCE)

    assert other.wait(WAIT_S) == 0, other.stderr.read()
    assert not place.folders()


def test_folder_of_a_compilation_under_way_is_left_alone(place):
    place.wrap("sleep 600")
    place.start(SOURCE)
    wait_until(lambda: place.compiles() == 1, "the compilation")
    (folder,) = place.folders()
    place.wrap()

    other = place.start(SOURCE + "// another")

    assert other.wait(WAIT_S) == 0, other.stderr.read()
    assert place.folders() == [folder]


def test_interrupted_compilation_leaves_nothing(place):
    python = place.start(ENDLESS)
    wait_until(lambda: place.compiles() == 1, "the compilation")

    python.send_signal(signal.SIGINT)

    assert "KeyboardInterrupt" in python.communicate(timeout=WAIT_S)[1]
    assert not place.folders()
    wait_until(lambda: not processes_about(str(place.temporary)), "the compiler's end")


def test_processes_that_need_one_kernel_compile_it_once(place):
    place.wrap("sleep 1")
    children = [place.start(SOURCE) for _ in range(4)]

    assert [child.wait(WAIT_S) for child in children] == [0] * 4
    assert place.compiles() == 1


def test_processes_whose_source_includes_compile_it_once(place):
    place.wrap("sleep 2")
    children = [place.start("#include <cmath>\n" + SOURCE) for _ in range(3)]

    assert [child.wait(WAIT_S) for child in children] == [0] * 3
    assert place.compiles() == 1


def test_threads_that_need_one_kernel_compile_it_once(place, monkeypatch):
    place.wrap("sleep 1")
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    modules: list[cs.Module] = []

    raised = in_threads(4, lambda _: modules.append(cs.Module(SOURCE, device=cs.Device("host:0"))))

    assert raised == []
    assert sorted(module.cached for module in modules) == [False, True, True, True]
    assert place.compiles() == 1


def test_process_that_waits_takes_over_from_one_that_is_killed(place):
    place.wrap("sleep 600")
    holder = place.start(SOURCE)
    wait_until(lambda: place.compiles() == 1, "the compilation")
    place.wrap()
    waiting = place.start(SOURCE)
    waiting.stdout.readline()

    holder.kill()

    assert waiting.wait(WAIT_S) == 0, waiting.stderr.read()
    assert place.compiles() == 2


def test_process_that_waits_compiles_if_the_other_one_fails(place):
    failed = place.runs.with_name("failed")
    place.wrap(f"sleep 1; [ -e {failed} ] || {{ touch {failed}; exit 1; }}")
    first, second = place.start(SOURCE), place.start(SOURCE)

    assert sorted([first.wait(WAIT_S), second.wait(WAIT_S)]) == [0, 1]


def test_interrupt_while_another_process_compiles_ends_the_wait(place):
    place.wrap("sleep 600")
    place.start(SOURCE)
    wait_until(lambda: place.compiles() == 1, "the compilation")
    waiting = place.start(SOURCE)
    waiting.stdout.readline()
    wait_until(lambda: open_lock(waiting.pid), "the wait for the other process")

    waiting.send_signal(signal.SIGINT)

    assert "KeyboardInterrupt" in waiting.communicate(timeout=WAIT_S)[1]
    assert place.compiles() == 1


def test_interrupt_while_another_thread_compiles_ends_the_wait(place):
    place.wrap("sleep 600")
    python = place.start(
        SOURCE,
        """
        import os, threading, time
        threading.Thread(target=cs.Module, args=(source,), daemon=True).start()
        while "run" not in open(os.environ["CUSCOPE_CXX"][:-len("compiler")] + "runs").read():
            time.sleep(0.02)
        print("waiting")
        try:
            cs.Module(source)
        except KeyboardInterrupt:
            print("interrupted")
        """,
    )
    python.stdout.readline()
    python.stdout.readline()
    wait_until(lambda: open_lock(python.pid) == 2, "the wait for the other thread")

    python.send_signal(signal.SIGINT)

    assert python.stdout.readline() == "interrupted\n"


def open_lock(pid: int) -> int:
    """The number of lock files that the process has open."""
    count = 0
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            count += entry.readlink().suffix == ".lock"
        except OSError:
            continue
    return count


def test_interrupt_while_the_compiler_is_asked_its_version(place):
    place.wrapper.write_text(f"#!/bin/sh\necho run >> {place.runs}\nsleep 600\n")
    python = place.start(SOURCE)
    wait_until(lambda: place.compiles() == 1, "the question")

    python.send_signal(signal.SIGINT)

    assert "KeyboardInterrupt" in python.communicate(timeout=WAIT_S)[1]


@pytest.fixture
def here(place, monkeypatch) -> Place:
    """The place, for compilations in this process."""
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    return place


def compile_here(source: str = SOURCE) -> cs.Module:
    return cs.Module(source, device=cs.Device("host:0"))


def test_compilation_beyond_its_limit_is_an_error_that_names_the_environment_variable(here, monkeypatch):
    here.wrap("sleep 600")
    monkeypatch.setenv("CUSCOPE_COMPILE_TIMEOUT", "0.5")

    with pytest.raises(cs.CompileError) as raised:
        compile_here()

    assert raised.value.name == "cudaErrorTimeout"
    for words in ("was stopped after 0.5 seconds", "CUSCOPE_COMPILE_TIMEOUT", "'none'"):
        assert words in str(raised.value)
    assert not here.folders()
    wait_until(lambda: not processes_about(str(here.temporary)), "the compiler's end")


def test_compilation_beyond_its_limit_leaves_the_device_usable(here, monkeypatch):
    here.wrap("sleep 600")
    monkeypatch.setenv("CUSCOPE_COMPILE_TIMEOUT", "0.5")
    with pytest.raises(cs.CompileError):
        compile_here()
    monkeypatch.delenv("CUSCOPE_COMPILE_TIMEOUT")
    here.wrap()

    assert compile_here().kernels == ("put",)


@pytest.mark.parametrize("limit", ["0", "none", "", "600", "1e3"])
def test_valid_limits_of_a_compilation_are_taken(here, monkeypatch, limit):
    monkeypatch.setenv("CUSCOPE_COMPILE_TIMEOUT", limit)

    assert compile_here().kernels == ("put",)


@pytest.mark.parametrize("limit", ["-1", "soon", "nan", "inf", "5s", " 5"])
def test_invalid_limits_of_a_compilation_are_refused(here, monkeypatch, limit):
    monkeypatch.setenv("CUSCOPE_COMPILE_TIMEOUT", limit)

    with pytest.raises(cs.CompileError, match=f"CUSCOPE_COMPILE_TIMEOUT is '{limit}'; allowed is"):
        compile_here()


def test_process_that_a_compiler_leaves_behind_is_not_waited_for(here):
    here.wrap("sleep 3 &")

    assert compile_here().kernels == ("put",)


def test_temporary_folder_may_be_relative(here, monkeypatch):
    monkeypatch.chdir(here.temporary.parent)
    monkeypatch.setenv("TMPDIR", here.temporary.name)

    assert compile_here().kernels == ("put",)
    assert not here.folders()


def lock_of(entry: Path) -> Path:
    return entry.with_suffix(".lock")


@pytest.fixture
def entry(here) -> Path:
    """The path at which the cache would keep SOURCE; the file does not exist."""
    compile_here()
    (path,) = here.cache.iterdir()
    path.unlink()
    return path


def test_compilation_leaves_no_lock(here, entry):
    assert list(here.cache.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"garbage"])
def test_lock_file_without_an_owner_is_taken(here, entry, content):
    lock_of(entry).write_bytes(content)
    lock_of(entry).chmod(0o600)

    assert compile_here().cached is False
    assert compile_here().cached is True
    assert list(here.cache.iterdir()) == [entry]


def test_lock_of_a_killed_process_for_another_kernel_is_removed(here, entry):
    other = here.cache / ("0" * 64 + ".lock")
    other.touch(0o600)

    compile_here()

    assert list(here.cache.iterdir()) == [entry]


@pytest.mark.parametrize("what", ["folder", "folder with a file", "link", "fifo"])
def test_lock_that_is_no_file_stops_no_compilation(here, entry, what):
    lock = lock_of(entry)
    if what.startswith("folder"):
        lock.mkdir()
        if what.endswith("file"):
            (lock / "file").touch()
    elif what == "link":
        lock.symlink_to(here.temporary)
    else:
        os.mkfifo(lock)

    assert compile_here().cached is False
    assert compile_here().cached is True


@pytest.mark.parametrize("files", [[], ["file"]])
def test_folder_in_the_place_of_a_cached_kernel_is_replaced(here, entry, files):
    entry.mkdir()
    for name in files:
        (entry / name).touch()

    assert compile_here().cached is False
    assert compile_here().cached is True


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_cache_that_may_not_be_written_stops_no_compilation(here, entry):
    here.cache.chmod(0o500)
    try:
        assert compile_here().cached is False
    finally:
        here.cache.chmod(0o700)


@forks_with_threads
def test_compilation_in_a_child_after_fork_is_an_error_not_a_wait(place):
    place.wrap("sleep 1")
    python = place.start(
        SOURCE,
        """
        import os, sys, threading, time
        made = threading.Thread(target=cs.Module, args=(source,))
        made.start()
        while "run" not in open(os.environ["CUSCOPE_CXX"][:-len("compiler")] + "runs").read():
            time.sleep(0.02)
        child = os.fork()
        if child == 0:
            try:
                cs.Module(source)
            except cs.CudaError as error:
                os._exit(0 if error.name == "cudaErrorInitializationError" else 1)
            os._exit(2)
        made.join()
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
    )

    assert python.wait(WAIT_S) == 0, python.stderr.read()


@pytest.mark.gpu_only("NVRTC compiles in this process, and cannot be stopped")
@pytest.mark.no_sanitizer("it asks how long something takes")
@pytest.mark.parametrize(
    "delay_ms", [0, 1, 2, 4, 8]
)  # NVRTC ignores SIGINT for a part of its first milliseconds
def test_interrupt_while_nvrtc_compiles(device, place, delay_ms):
    python = place.start(ENDLESS, CUSCOPE_DEVICE=device.name)
    python.stdout.readline()
    wait_until(lambda: open_lock(python.pid), "the compilation")

    time.sleep(delay_ms / 1000)
    python.send_signal(signal.SIGINT)

    error = python.communicate(timeout=WAIT_S)[1]
    assert "KeyboardInterrupt" in error, python.returncode


@pytest.mark.gpu_only("NVRTC compiles in this process, and nobody can stop it")
def test_compilation_by_nvrtc_beyond_its_limit(device, place):
    python = place.start(ENDLESS, CUSCOPE_DEVICE=device.name, CUSCOPE_COMPILE_TIMEOUT="0.5")

    error = python.communicate(timeout=WAIT_S)[1]

    assert "CompileError" in error
    assert "NVRTC was given up after 0.5 seconds" in error


@pytest.mark.gpu_only("for simulated devices a compiler counts its runs")
def test_processes_that_need_one_kernel_of_a_gpu_compile_it_once(device, place):
    program = "print(cs.Module(source).cached)"
    children = [place.start(SOURCE, program, CUSCOPE_DEVICE=device.name) for _ in range(4)]

    answers = [child.communicate(timeout=WAIT_S)[0].split()[-1] for child in children]

    assert sorted(answers) == ["False", "True", "True", "True"]
