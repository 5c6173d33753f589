"""The process that uses the runtime: fork, exit with work pending, Ctrl-C, signals."""

from __future__ import annotations

import pytest

from support import forks_with_threads

PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
import cuscope as cs
MOD = cs.Module('''
__global__ void spin(long long ns) {
  unsigned long long t0, t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); } while ((long long)(t - t0) < ns);
}
__global__ void forever(volatile int* p) { while (*p == 0) { } }
__global__ void long_sum(unsigned* p, unsigned n) { unsigned s = *p; for (unsigned i = 0; i < n; i++) s = s * s + i; *p = s; }
__global__ void store(int* p, int v) { *p = v; }
''')
X = cs.zeros(1, np.int32)
cs.synchronize()
S = cs.Stream()
"""


def run(run_python, body: str, **arguments):
    import textwrap

    return run_python(PRELUDE + textwrap.dedent(body), **arguments)


# Fork


@forks_with_threads
def test_use_after_fork_is_a_clear_error(device, run_python):
    done = run(
        run_python,
        """
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            for use in (lambda: cs.zeros(3), S.synchronize, lambda: cs.Stream(), lambda: X.to_host(), cs.devices):
                try:
                    use()
                    os.write(write, b"no error\\n")
                except Exception as error:
                    os.write(write, (type(error).__name__ + ": " + str(error).replace("\\n", " ") + "\\n").encode())
            os._exit(7)
        os.close(write)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status))
        print(os.fdopen(read).read())
        X.fill(5)
        print(X.to_host().tolist())
        """,
    )

    assert done.returncode == 0, done.stderr
    code, *messages = [x for x in done.stdout.splitlines() if x]
    assert code == "7"
    assert messages[-1] == "[5]"
    for message in messages[:4]:
        assert "fork" in message
        assert "spawn" in message


@forks_with_threads
def test_forked_child_exits_cleanly_with_objects_alive(device, run_python):
    done = run(
        run_python,
        """
        import warnings

        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: fork with threads
        S.host_function(time.sleep, 0.1)
        child = os.fork()
        if child == 0:
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        S.synchronize()
        print(os.waitstatus_to_exitcode(status))
        """,
    )

    assert done.stdout.strip() == "0"
    assert done.stderr == ""


def test_fork_before_the_first_use_is_fine(device, run_python):
    done = run_python(
        """
        import os, sys
        import cuscope as cs
        child = os.fork()
        import numpy as np
        x = cs.full(3, 4.0, np.float32).to_host().tolist()
        if child == 0:
            os._exit(0 if x == [4, 4, 4] else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), x)
        """
    )

    assert done.stdout.strip() == "0 [4.0, 4.0, 4.0]", done.stderr


def test_multiprocessing_spawn_works(device, run_python):
    done = run_python(
        """
        import multiprocessing
        import numpy as np
        import cuscope as cs

        def work(i):
            return int(cs.full(3, i, np.int32).to_host().sum())

        if __name__ == "__main__":
            cs.zeros(3).to_host()
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                print(pool.map(work, range(4)))
        """
    )

    assert done.stdout.strip() == "[0, 3, 6, 9]", done.stderr


def test_subprocess_of_a_process_that_uses_the_runtime(device, run_python):
    done = run(
        run_python,
        """
        import subprocess
        print(subprocess.check_output([sys.executable, "-c", "print(1)"], text=True).strip())
        print(os.system("true"))
        """,
    )

    assert done.stdout.split() == ["1", "0"]


# Exit

PENDING = {
    "a kernel": "MOD.spin[1, 1, S](2_000_000_000)",
    "a kernel that never ends": "MOD.forever[1, 1, S](X)",
    "a host function": "S.host_function(time.sleep, 1)",
    "a host function that waits forever": "S.host_function(threading.Event().wait)",
    "a host function behind a kernel": "MOD.spin[1, 1, S](2_000_000_000); S.host_function(print, 'ran')",
    "copies": "P = cs.pinned_empty(1 << 26, np.uint8); Y = cs.empty(1 << 26, np.uint8); Y.copy_from(P, stream=S); Y.copy_to(P, stream=S)",
    "a wait for another stream": "T = cs.Stream(); MOD.spin[1, 1, T](2_000_000_000); S.wait(T); MOD.store[1, 1, S](X, 1)",
    "an exception of a host function": "S.host_function(lambda: None)",
    "frees": "Z = [cs.empty(1000, stream=S) for _ in range(100)]; MOD.spin[1, 1, S](1_000_000_000); del Z",
    "objects in a cycle": "C = [S, X, MOD]; C.append(C); del C, S, X, MOD",
}
ENDS = {"the last line": "", "sys.exit": "sys.exit(0)", "an inner function": "(lambda: sys.exit(0))()"}


@pytest.mark.parametrize("pending", PENDING)
def test_exit_with_work_pending_is_quiet(device, run_python, pending):
    if not device.simulated and "never ends" in pending:
        pytest.skip("a real kernel that never ends keeps the driver busy at exit")
    done = run(run_python, PENDING[pending], timeout=60)

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout in ("", "ran\n")


@pytest.mark.parametrize("end", ENDS)
def test_exit_in_the_middle_is_quiet(device, run_python, end):
    done = run(run_python, "MOD.spin[1, 1, S](1_000_000_000)\nS.host_function(str)\n" + ENDS[end], timeout=60)

    assert (done.returncode, done.stderr) == (0, "")


def test_exit_code_of_an_exception_is_kept(device, run_python):
    done = run(run_python, "MOD.spin[1, 1, S](1_000_000_000)\nraise SystemExit(9)", timeout=60)

    assert (done.returncode, done.stderr) == (9, "")


def test_exit_with_other_threads_at_work_is_quiet(device, run_python):
    done = run(
        run_python,
        """
        def work():
            s = cs.Stream()
            while True:
                MOD.store[1, 1, s](X, 1)
                s.host_function(str)
                s.query()
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        """,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert "Fatal" not in done.stderr


def test_exit_while_another_thread_synchronizes_is_quiet(device, run_python):
    done = run(
        run_python,
        """
        gate = threading.Event()
        S.host_function(gate.wait, 20)
        threading.Thread(target=S.synchronize, daemon=True).start()
        time.sleep(0.1)
        """,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_objects_in_module_globals_and_atexit(device, run_python):
    done = run(
        run_python,
        """
        import atexit
        atexit.register(lambda: print(X.to_host().tolist()))
        class Late:
            def __init__(self, x): self.x = x
            def __del__(self): self.x = None
        LATE = Late(cs.zeros(3))
        sys.modules["late"] = Late(cs.Stream())
        """,
    )

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[0]", "")


# Ctrl-C

WAITS = {
    "a long host function": ("S.host_function(threading.Event().wait, 15)", "S.synchronize()"),
    "a long host function, by event": (
        "S.host_function(threading.Event().wait, 15); E = S.record()",
        "E.synchronize()",
    ),
    "a long host function, by device": ("S.host_function(threading.Event().wait, 15)", "cs.synchronize()"),
    "a long kernel": ("MOD.long_sum[1, 1, S](cs.zeros(1, np.uint32), 0x7fffffff)", "S.synchronize()"),
    "a kernel that never ends": ("MOD.forever[1, 1, S](X)", "S.synchronize()"),
    "a copy behind a kernel that never ends": ("MOD.forever[1, 1, S](X)", "X.to_host(stream=S)"),
}


@pytest.mark.parametrize("wait", WAITS)
def test_keyboard_interrupt_comes_back_to_python(device, run_python, wait):
    if not device.simulated and "never ends" in wait:
        pytest.skip("a real kernel that never ends keeps the driver busy at exit")
    issue, use = WAITS[wait]
    done = run(
        run_python,
        f"""
        def interrupt():
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt, daemon=True).start()
        begin = time.monotonic()
        try:
            {issue}
            {use}
            print("ended by itself")
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - begin < 10)
        sys.stdout.flush()
        """,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "interrupted True"
    assert "Fatal" not in done.stderr


def test_program_goes_on_after_an_interrupt(device, run_python):
    done = run(
        run_python,
        """
        gate = threading.Event()
        S.host_function(gate.wait, 15)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            S.synchronize()
        except KeyboardInterrupt:
            gate.set()
        S.synchronize()
        X.fill(3)
        print(X.to_host().tolist(), S.query())
        """,
        timeout=60,
    )

    assert done.stdout.strip() == "[3] True", done.stderr


def test_other_signal_handlers_run_during_a_wait(device, run_python):
    done = run(
        run_python,
        """
        gate = threading.Event()
        signal.signal(signal.SIGUSR1, lambda *_: gate.set())
        S.host_function(gate.wait, 15)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        begin = time.monotonic()
        S.synchronize()
        print(time.monotonic() - begin < 10)
        """,
        timeout=60,
    )

    assert done.stdout.strip() == "True", done.stderr


# Faults outside of kernels

OWN_FAULTS = {
    "SIGSEGV": "import ctypes; ctypes.string_at(0)",
    "SIGABRT": "os.abort()",
    "SIGSEGV by kill": "os.kill(os.getpid(), signal.SIGSEGV); time.sleep(5)",
}


@pytest.mark.parametrize("fault", OWN_FAULTS)
def test_a_crash_outside_of_a_kernel_still_ends_the_process(device, run_python, fault):
    done = run(run_python, "MOD.store[1, 1](X, 1); cs.synchronize()\n" + OWN_FAULTS[fault], timeout=60)

    assert done.returncode in (-11, -6)


def test_pythons_fault_handler_keeps_working(device, run_python):
    done = run(
        run_python,
        """
        import faulthandler, ctypes
        faulthandler.enable()
        MOD.store[1, 1](X, 1)
        cs.synchronize()
        ctypes.string_at(0)
        """,
        timeout=60,
    )

    assert done.returncode == -11
    assert "Segmentation fault" in done.stderr
    assert "Current thread" in done.stderr


def test_fault_handler_enabled_before_the_first_kernel_keeps_working(device, run_python):
    done = run_python(
        "import faulthandler\nfaulthandler.enable()\n" + PRELUDE + "\nimport ctypes\nctypes.string_at(0)",
        timeout=60,
    )

    assert done.returncode == -11
    assert "Segmentation fault" in done.stderr
