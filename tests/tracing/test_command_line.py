"""python -m cuscope trace: the program runs as Python itself would run it."""

import signal
import subprocess
import sys
import textwrap

import pytest

import cuscope as cs
from cuscope.tracing import Trace, load
from cuscope.tracing.command_line import split

pytestmark = pytest.mark.subprocess

# Runs the command with a trace of nothing, which says whether it began and ended.
RUN = """
import sys
from contextlib import contextmanager
import cuscope as cs
from cuscope import _cli
from cuscope.tracing import Trace

@contextmanager
def trace():
    t = Trace.from_spans([], duration=1500)
    try:
        yield t
    finally:
        t.devices["host:0"] = {"model": "ended"}

cs.trace = trace
sys.exit(_cli.main(sys.argv[1:]))
"""


def command(*arguments, cwd, **options):
    (cwd / "run_command.py").write_text(RUN)
    return subprocess.run(
        [sys.executable, "run_command.py", "trace", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def python(*arguments, cwd):
    return subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def script(folder, text, name="program.py"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return str(path.relative_to(folder))


def test_the_summary_and_the_file_follow_the_output_of_the_program(tmp_path):
    script(tmp_path, "print('hello')")
    done = command("program.py", "--out", "t.json.gz", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr == "\ntrace of 1.5 us (simulation): 0 calls, 0 spans of devices\n\nsaved t.json.gz\n"
    assert load(tmp_path / "t.json.gz").devices == {"host:0": {"model": "ended"}}


def test_without_out_only_the_summary_is_shown(tmp_path):
    script(tmp_path, "")
    before = {path.name for path in tmp_path.iterdir()} | {"run_command.py"}
    done = command("program.py", cwd=tmp_path)
    assert done.stderr.startswith("\ntrace of")
    assert "saved" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == before


PROGRAM = """
    import sys, os
    sys.path.insert(0, sys.path.pop(0))
    import neighbour
    print(__name__, __file__, sys.argv, os.path.basename(sys.path[0]), neighbour.X, sys.modules["__main__"].__file__)
"""


def test_a_script_sees_what_python_shows_it(tmp_path):
    script(tmp_path, "X = 5", "folder/neighbour.py")
    name = script(tmp_path, PROGRAM, "folder/program.py")
    arguments = [name, "-v", "--limit", "3", "x y"]
    assert command(*arguments, cwd=tmp_path).stdout == python(*arguments, cwd=tmp_path).stdout != ""


def test_a_module_sees_what_python_shows_it(tmp_path):
    script(tmp_path, "X = 5", "neighbour.py")
    script(tmp_path, PROGRAM, "package/__main__.py")
    for name in ("package", "package.__main__"):
        arguments = ["-m", name, "-m", "--x=3"]
        assert command(*arguments, cwd=tmp_path).stdout == python(*arguments, cwd=tmp_path).stdout != ""


@pytest.mark.parametrize(
    "text",
    [
        "raise SystemExit",
        "import sys; sys.exit(0)",
        "import sys; sys.exit(7)",
        "import sys; sys.exit('a message')",
        "raise SystemExit(True)",
        "1 / 0",
        "def f():\n    raise KeyError('x') from ValueError('y')\nf()",
        "import nothing_of_this_name",
        "x = = 1",
        "import threading; threading.Timer(0.2, print, ('thread',)).start(); print('main')",
    ],
)
def test_exit_codes_and_errors_are_those_of_python(tmp_path, text):
    script(tmp_path, text)
    traced, plain = command("program.py", "--out", "t.json", cwd=tmp_path), python("program.py", cwd=tmp_path)
    assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout)
    # Python shows the path of the script as it was given, and so does the command.
    before_summary = traced.stderr.partition("\ntrace of")[0]
    assert before_summary == plain.stderr
    assert load(tmp_path / "t.json").devices


def test_a_missing_module_is_named(tmp_path):
    done = command("-m", "nothing_of_this_name", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("python -m cuscope trace: No module named nothing_of_this_name")


def test_a_missing_script_is_named(tmp_path):
    done = command("missing.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "python -m cuscope trace: can't open file 'missing.py': there is no such file\n"


@pytest.mark.parametrize(
    ("out", "message"), [("t.txt", "the name must end in .json"), ("missing/t.json", "there is no folder")]
)
def test_a_wrong_file_is_refused_before_the_program_runs(tmp_path, out, message):
    script(tmp_path, "print('ran')")
    done = command("program.py", "--out", out, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_an_interrupted_program_leaves_its_trace(tmp_path):
    script(tmp_path, f"import os, time; os.kill(os.getpid(), {int(signal.SIGINT)}); time.sleep(60)")
    done = command("program.py", "--out", "t.json", cwd=tmp_path)
    assert done.returncode == 130
    assert "KeyboardInterrupt" in done.stderr
    assert "runpy" not in done.stderr
    assert load(tmp_path / "t.json").devices


@pytest.mark.parametrize(
    ("line", "own", "program"),
    [
        ("p.py a --out t.json", ["--out", "t.json"], ["p.py", "a"]),
        ("p.py --out=t.json a", ["--out=t.json"], ["p.py", "a"]),
        ("--out t.json p.py --out x", ["--out", "t.json"], ["p.py", "--out", "x"]),
        ("p.py a -- --out x", [], ["p.py", "a", "--out", "x"]),
        ("p.py --out t.json -- --out x", ["--out", "t.json"], ["p.py", "--out", "x"]),
        ("-- p.py --out x", [], ["p.py", "--out", "x"]),
        ("-m mod --out t.svg -x", ["--out", "t.svg", "-m", "mod"], ["-x"]),
        ("-m mod", ["-m", "mod"], []),
        ("--help p.py", ["--help"], ["p.py"]),
        ("", [], []),
    ],
)
def test_the_command_line_is_split(line, own, program):
    assert split(line.split()) == (own, program)


def test_ranges_and_traces_are_public():
    assert cs.tracing.Trace is Trace
    assert cs.tracing.range is cs.range
