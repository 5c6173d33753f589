"""The report itself: its words, its counts, what is left unchecked, and the ways to start a check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs

SOURCE = """
__global__ void late(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = n;
}
__global__ void doubled(const int* x, int* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
"""


@pytest.fixture(scope="module")
def module():
    with cs.Device("host:0"):
        yield cs.Module(SOURCE, file_name="late.cu")


def test_the_report_names_the_array_and_the_line_that_made_it(module):
    with cs.check() as report:
        x = cs.empty((4, 8), np.int32)  # made here
        module.late[1, 33](x, 1)
    (finding,) = report.findings
    lines = Path(__file__).read_text().splitlines()
    made = next(n for n, line in enumerate(lines, 1) if line.endswith("# made here"))
    assert finding.memory.startswith("the argument 'x' (int32, shape (4, 8), 128 bytes, made in ")
    assert finding.memory.endswith(f"test_report.py:{made})")
    assert (finding.kernel, finding.line, finding.block, finding.thread) == (
        "late",
        "late.cu:4",
        (0, 0, 0),
        (32, 0, 0),
    )
    assert "writes 4 bytes at element 32 of " in finding.text
    assert ": 0 bytes behind its end." in finding.text
    assert finding.advice.startswith("Compare the index with the size of the array")
    assert str(report).startswith(
        "1 finding in 1 launch\nerror: out of bounds in kernel 'late'\n  block (0,0,0)"
    )


def test_a_source_with_macros_of_system_headers_has_its_lines(tmp_path):
    file = tmp_path / "late.cu"
    file.write_text(
        "#include <cassert>\n__global__ void late(int* x) {\n    assert(x != NULL);\n    x[threadIdx.x] = 1;\n}\n"
    )
    with cs.Device("host:0"), cs.check() as report:
        cs.Module.from_file(file).late[1, 33](cs.empty(32, np.int32))
    assert [finding.line for finding in report.findings] == [f"{file}:4"]


def test_the_same_mistake_is_counted(module):
    with cs.check() as report:
        for _ in range(3):
            module.late[2, 33](cs.empty(64, np.int32), 1)
    (finding,) = report.findings
    assert finding.count == 6
    assert report.launches == 3
    assert "(6 times)" in str(report)


def test_mistakes_at_two_lines_are_two_findings():
    with cs.Device("host:0"):
        module = cs.Module(
            """
__global__ void shuffles(int* x) {
    if (threadIdx.x >= 16) return;
    x[threadIdx.x] = __shfl_sync(0xffff, 1, 20);
    x[threadIdx.x] += __shfl_sync(0xffff, 2, 21);
}
__global__ void barriers(int n) {
    if (threadIdx.x < n) __syncthreads();
    else __syncthreads();
    if (threadIdx.x > n) __syncthreads();
    else __syncthreads();
}""",
            file_name="two.cu",
        )
        with cs.check() as report:
            module.shuffles[1, 32](cs.zeros(16, np.int32))
            module.barriers[1, 32](8)
    lines = {kind: [] for kind in ("absent lane", "barrier")}
    for finding in report.findings:
        lines[finding.kind].append({finding.line, finding.other_line} - {""})
    assert lines == {
        "absent lane": [{"two.cu:4"}, {"two.cu:5"}],
        "barrier": [{"two.cu:8", "two.cu:9"}, {"two.cu:10", "two.cu:11"}],
    }


def test_an_array_of_before_has_no_line_and_counts_as_written(module):
    x, y = cs.empty(32, np.int32), cs.empty(32, np.int32)
    with cs.check() as report:
        module.doubled[1, 32](x, y)
    assert not report
    with cs.check() as report:
        module.late[1, 33](x, 1)
    assert "made before the check began" in report.findings[0].memory


@pytest.mark.parametrize("fill", ["zeros", "to_device", "copy_from", "copy", "kernel", "slices", "sum"])
def test_written_memory_may_be_read(module, fill):
    with cs.check() as report:
        x, y = cs.empty(32, np.int32), cs.empty(32, np.int32)
        if fill == "zeros":
            x = cs.zeros(32, np.int32)
        elif fill == "to_device":
            x = cs.to_device(np.arange(32, dtype=np.int32))
        elif fill == "copy_from":
            x.copy_from(np.arange(32, dtype=np.int32))
        elif fill == "copy":
            x.copy_from(cs.zeros(32, np.int32))
        elif fill == "kernel":
            module.late[1, 32](x, 3)
        elif fill == "slices":
            x[:20].copy_from(np.arange(20, dtype=np.int32))
            x[20:].copy_from(np.arange(12, dtype=np.int32))
        else:
            cs.sum(cs.zeros((5, 32), np.int32), axis=0, out=x, dtype=np.int32)
        module.doubled[1, 32](x, y)
    assert report.findings == [], str(report)


def test_a_slice_that_was_not_written_is_found(module):
    with cs.check() as report:
        x = cs.empty(32, np.int32)
        x[:20].copy_from(np.arange(20, dtype=np.int32))
        module.doubled[1, 32](x, cs.empty(32, np.int32))
    (finding,) = report.findings
    assert (finding.kind, finding.count) == ("never written", 12)


def test_memory_that_is_used_again_begins_as_never_written(module):
    with cs.check() as report:
        for _ in range(2):
            x = cs.empty(32, np.int32)
            module.late[1, 32](x, 1)
            del x
        module.doubled[1, 32](cs.empty(32, np.int32), cs.empty(32, np.int32))
    assert [finding.kind for finding in report.findings] == ["never written"]


def test_kernels_of_a_graph_are_checked(module):
    with cs.check() as report:
        x, stream = cs.empty(32, np.int32), cs.Stream()
        with stream.capture() as graph:
            module.late[1, 33, stream](x, 1)
        launched = graph.instantiate()
        launched.launch(stream)
        launched.launch(stream)
        stream.synchronize()
    (finding,) = report.findings
    assert (finding.kind, finding.count, report.launches) == ("out of bounds", 2, 2)


def test_a_kernel_without_source_is_named(tmp_path):
    with cs.Device("host:0"):
        image = tmp_path / "saved.image"
        image.write_bytes(cs.Module(SOURCE).image)
        loaded = cs.Module.from_file(image)
        with cs.check() as report:
            x = cs.empty(32, np.int32)
            loaded.late[1, 32](x, 1)
            cs.Module(SOURCE).doubled[1, 32](x, cs.empty(32, np.int32))
    assert report.findings == [], str(report)
    assert report.unchecked == ["late: it was loaded from a compiled image, without its source"]
    assert "not checked: late" in str(report)


def test_a_counted_launch_is_named_and_writes_its_arguments(module):
    x, y = cs.to_device(np.arange(32, dtype=np.int32)), cs.zeros(32, np.int32)
    with cs.check() as report:
        between = cs.empty(32, np.int32)
        module.doubled.count(x, between, grid=1, block=32)
        module.doubled[1, 32](between, y)
    assert not report
    assert report.launches == 1
    assert report.unchecked == ["doubled: count() counts what it does instead"]


def test_checks_may_overlap_and_each_has_its_own_findings(module):
    with cs.check() as outer:
        with cs.check() as inner:
            module.late[1, 33](cs.empty(32, np.int32), 1)
        module.doubled[1, 32](cs.empty(32, np.int32), cs.empty(32, np.int32))
    assert [finding.kind for finding in inner.findings] == ["out of bounds"]
    assert [finding.kind for finding in outer.findings] == ["out of bounds", "never written"]


def test_without_a_check_nothing_is_checked(module):
    with cs.check() as report:
        pass
    module.late[1, 33](cs.empty(32, np.int32), 1)
    assert (report.launches, report.findings) == (0, [])


def test_a_check_is_used_once():
    check = cs.check()
    with check:
        pass
    with pytest.raises(RuntimeError, match=r"call cs\.check\(\) again"), check:
        pass


def test_wait_is_a_bool():
    with pytest.raises(TypeError, match="wait: is True or False, not 'no'"):
        cs.check(wait="no")  # type: ignore[arg-type]


def test_two_runs_give_the_same_report(module):
    def run() -> str:
        with cs.check() as report:
            x = cs.zeros(200, np.int32)
            module.late[40, 33](x, 1)
            module.late[3, 64](x[:150], 2)
        return str(report)

    assert run() == run()


PROGRAM = f"""
import sys, numpy as np, cuscope as cs
with cs.Device("host:0"):
    module = cs.Module('''{SOURCE}''')
    module.late[1, int(sys.argv[1])](cs.empty(32, np.int32), 1)
    cs.synchronize()
"""


@pytest.mark.subprocess
@pytest.mark.parametrize(("threads", "code"), [("32", 0), ("33", 1)])
def test_the_command_checks_a_program(tmp_path, threads, code):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "cuscope", "check", str(program), threads],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert ("program.py:11)" in done.stderr) == (code == 1), done.stderr


@pytest.mark.subprocess
def test_the_environment_checks_a_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for value, found in (("1", True), ("0", False), ("", False)):
        done = subprocess.run(
            [sys.executable, str(program), "33"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "CUSCOPE_CHECK": value},
        )
        assert ("cuscope check: 1 finding in 1 launch" in done.stderr) == found, done.stderr


@pytest.mark.subprocess
@pytest.mark.parametrize("arguments", [[], ["missing.py"], ["--unknown"]])
def test_a_wrong_command_line_is_refused(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "cuscope", "check", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "python -m cuscope" in done.stderr


def test_a_kernel_beside_one_that_waits_is_left_out():
    with cs.Device("host:0"):
        module = cs.Module("""
__global__ void waits(volatile int* flag) { while (*flag == 0) __nanosleep(1000); }
__global__ void sets(volatile int* flag, int* y) { y[0] = 5; *flag = 1; }
__global__ void reads(const int* y, int* z) { z[0] = y[0]; }""")
        with cs.check() as report:
            flag, y, z = cs.zeros(1, np.int32), cs.empty(1, np.int32), cs.empty(1, np.int32)
            cs.synchronize()
            module.waits[1, 1, cs.Stream(non_blocking=True)](flag)
            module.sets[1, 1, cs.Stream(non_blocking=True)](flag, y)
            cs.synchronize()
            module.reads[1, 1](y, z)
            assert z.to_host()[0] == 5
    assert report.findings == [], str(report)
    assert report.launches == 2
    assert report.unchecked == ["sets: another kernel that is checked was waiting meanwhile"]


def test_an_overrun_into_memory_that_was_freed_before_the_check_is_found(module):
    for _ in range(4):
        cs.zeros(128, np.int32)
    with cs.check() as report:
        x, y = cs.empty(128, np.int32), cs.empty(128, np.int32)
        module.late[1, 129](x, 1)
        module.late[1, 129](y, 1)
    (finding,) = report.findings
    assert (finding.kind, finding.count) == ("out of bounds", 2)
    assert finding.memory.startswith("the argument 'x'")


@pytest.fixture
def beside():
    """Another device, and a structure with the address of an array there. A launch refuses the array itself."""
    data = np.zeros((), [("x", np.uint64)])
    other = cs.add_host_device("h200")
    with other:
        x = cs.zeros(8, np.int32)
    data["x"] = x.pointer
    module = cs.Module(
        "struct Data { int* x; };\n__global__ void set(Data data) { data.x[threadIdx.x] = 7; }"
    )
    yield other, module, data
    x.close()


def test_memory_of_another_device_without_peer_access_is_out_of_bounds(beside):
    other, module, data = beside

    with cs.check() as without:
        module.set[1, 8](data)
    cs.current_device().enable_peer_access(other)
    with cs.check() as allowed:
        module.set[1, 8](data)

    (finding,) = without.findings
    assert (finding.kind, finding.count) == ("out of bounds", 8)
    assert finding.memory.startswith("the argument 'data' (32 bytes")
    assert f"on {other.name}, which the kernel's device has no access to" in finding.text
    assert "enable_peer_access" in finding.advice
    assert not allowed, str(allowed)


def test_a_kernel_of_a_graph_has_the_access_of_its_launch(beside):
    other, module, data = beside
    here, stream = cs.current_device(), cs.Stream()
    reports = []
    with cs.check(), stream.capture() as graph:
        module.set[1, 8, stream](data)
    executable = graph.instantiate()

    for change in (here.enable_peer_access, here.disable_peer_access):
        change(other)
        with cs.check() as report:
            executable.launch(stream)
        reports.append(report)

    assert not reports[0], str(reports[0])
    assert [finding.kind for finding in reports[1].findings] == ["out of bounds"]
