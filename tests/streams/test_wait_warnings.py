"""The warning of a wait during which nothing runs, and the table that a test prints when it hangs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support import TESTS

HANGING = r"""
import sys, threading, warnings, numpy as np, cuscope as cs
flag = cs.pinned_empty(1, np.uint32)
flag[0] = 0
stream = cs.Stream(non_blocking=True)
stream.wait_value(flag, 1)
def let_go():
    flag[0] = 1
timer = threading.Timer(4, let_go)
timer.start()
"""


def test_a_wait_without_progress_warns_once_on_its_line(device, run_python):
    program = HANGING + "stream.synchronize()  # this line\nprint('done')\n"

    result = run_python(program, env={"CUSCOPE_WAIT_WARNING": "0.5"})

    assert result.returncode == 0, result.stderr
    assert result.stdout == "done\n"
    line = 1 + program.splitlines().index("stream.synchronize()  # this line")
    assert result.stderr.count("PendingWarning") == 1
    assert f"program.py:{line}: PendingWarning" in result.stderr
    assert "wait_value >= 1" in result.stderr
    assert "is 0, waits for >= 1" in result.stderr


def test_a_wait_warns_on_other_threads_too(device, run_python):
    program = HANGING + "t = threading.Thread(target=lambda: stream.synchronize())\nt.start()\nt.join()\n"

    result = run_python(program, env={"CUSCOPE_WAIT_WARNING": "0.5"})

    assert result.returncode == 0, result.stderr
    assert result.stderr.count("PendingWarning") == 1


@pytest.mark.parametrize("thread", [False, True], ids=["main", "other"])
def test_a_warning_that_is_an_error_ends_the_wait(device, run_python, thread):
    wait = """
def wait():
    try:
        stream.synchronize()
    except cs.PendingWarning as warning:
        print("ended:", "wait_value" in str(warning))
warnings.simplefilter("error", cs.PendingWarning)
"""
    call = "t = threading.Thread(target=wait)\nt.start()\nt.join()\n" if thread else "wait()\n"

    result = run_python(
        HANGING + wait + call + "let_go()\nstream.synchronize()\n", env={"CUSCOPE_WAIT_WARNING": "0.5"}
    )

    assert result.returncode == 0, result.stderr
    assert result.stdout == "ended: True\n"


def test_a_wait_warns_never_if_the_limit_is_zero(device, run_python):
    result = run_python(HANGING + "stream.synchronize()\n", env={"CUSCOPE_WAIT_WARNING": "0"})

    assert result.returncode == 0, result.stderr
    assert "PendingWarning" not in result.stderr


@pytest.mark.host_only("a GPU does not tell a kernel that computes from one that hangs")
def test_a_kernel_whose_blocks_end_is_no_reason_to_warn(device, run_python):
    program = r"""
    import os, time, cuscope as cs, numpy as np
    mod = cs.Module('''__global__ void work(float* x, int n) {
        float v = x[blockIdx.x];
        for (int i = 0; i < n; ++i) v = v * 1.0000001f + 1e-9f;
        x[blockIdx.x] = v;
    }''')
    blocks = 200 * os.cpu_count()  # the processors share them
    x = cs.zeros(blocks, np.float32)
    begin = time.monotonic()
    mod.work[blocks, 1](x, 5_000_000)
    cs.synchronize()
    print(time.monotonic() - begin > 0.5)
    """

    result = run_python(program, env={"CUSCOPE_WAIT_WARNING": "0.25"})

    assert result.returncode == 0, result.stderr
    assert result.stdout == "True\n"
    assert "PendingWarning" not in result.stderr


def test_a_long_compilation_is_no_reason_to_warn_here_and_in_a_process_that_waits_for_it(
    device, run_python, tmp_path
):
    program = """
        import os, subprocess, sys, cuscope as cs
        body = "float y = x[0];" + "y = sinf(y) * cosf(y) + powf(y, 1.5f);" * 12 + "x[0] = y;"
        source = "".join(f"__global__ void k{i}(float* x) {{ {body} }}" for i in range(40))
        other = subprocess.Popen([sys.executable, __file__, "other"]) if len(sys.argv) == 1 else None
        with cs.Device(os.environ["CUSCOPE_DEVICE"]):
            cs.Module(source)
        if other:
            print(other.wait())
    """
    env = {"CUSCOPE_WAIT_WARNING": "0.2", "CUSCOPE_CACHE_DIR": str(tmp_path / "cache")}

    result = run_python(program, env=env)

    assert result.stdout == "0\n", result.stderr
    assert "PendingWarning" not in result.stderr


def test_a_limit_that_is_no_number_is_refused(run_python):
    result = run_python("import cuscope", env={"CUSCOPE_WAIT_WARNING": "soon"})

    assert result.returncode != 0
    assert "CUSCOPE_WAIT_WARNING: 'soon' is no number of seconds" in result.stderr


# ---- tests that hang

HANGS = r"""
import threading
import numpy as np
import cuscope as cs

# Not in the test: the first use of a busy GPU may take longer than the test's limit.
flag = cs.pinned_empty(1, np.uint32)
stream = cs.Stream(non_blocking=True)

def test_that_hangs():
    flag[0] = 0
    stream.wait_value(flag, 1)
    try:
        {wait}
    finally:
        flag[0] = 1
"""


@pytest.mark.parametrize("wait", ["stream.synchronize()", "threading.Event().wait(60)"])
@pytest.mark.parametrize("method", ["signal", "thread"])
def test_a_test_that_hangs_prints_the_work_in_flight(tmp_path, wait, method):
    pytest.importorskip("pytest_timeout")
    test = tmp_path / "test_hangs.py"
    test.write_text(HANGS.format(wait=wait))
    options = ("-q", "-p", "no:cacheprovider", "-p", "conftest", "--rootdir", str(tmp_path))

    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--timeout", "3", "--timeout-method", method, str(test)],
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])},
        text=True,
        capture_output=True,
        timeout=120,
    )

    assert result.returncode != 0
    assert "test_hangs.py::test_that_hangs hangs; cs.pending() says:" in result.stderr
    assert "wait_value >= 1" in result.stderr
