"""Runs planted kernels under compute-sanitizer, several in one process, and reads its outputs. For planted_defects.py.

A process compiles the kernels of its batch and launches one after the other. It prints a line before and after each
launch. If a mistake ends the work on the device, another process goes on with the kernels behind it. If a kernel does not
end, the process is killed, and another one launches all kernels of the batch but this one, because an output that was
not flushed is lost.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from planted import ABSENT, BARRIER, NEVER, RACE, Planted, Sources

import cuscope as cs

TOOLS = {NEVER: "initcheck", RACE: "racecheck", BARRIER: "synccheck", ABSENT: "synccheck"}  # others: memcheck
# Kernels of one process. A wrong barrier may never let its kernel end, and memory that one kernel has written is
# never unwritten for the next.
TOGETHER = {"memcheck": 8, "racecheck": 8, "synccheck": 8, "initcheck": 1}
SECONDS_OF_START = 60  # Python, the device, the compilation, with other processes beside


@dataclass
class Seen:
    """The findings of compute-sanitizer in one form of a kernel."""

    state: str = "not launched"  # or "ended", "no end"
    findings: list[str] = field(default_factory=list)
    lines: set[str] = field(default_factory=set)


@dataclass
class Output:
    """The output of one process."""

    form: str = ""
    device: str = ""
    seen: dict[str, Seen] = field(default_factory=dict)
    other: list[str] = field(default_factory=list)  # messages that name no kernel
    complete: bool = False  # the summary is there


def tool_of(case: Planted) -> str:
    return TOOLS.get(case.kind, "memcheck")


# ---- the process under compute-sanitizer


def launch_all(batch: Sequence[Planted], names: Sequence[str], form: str, seconds: float) -> None:
    """Launches the kernels of these names on the current device."""

    def say(*words: object) -> None:
        print("planted:", *words, flush=True)

    def give_up(name: str) -> None:
        say("endless", name)
        os._exit(3)  # a wait for the kernel cannot be interrupted

    say("process", os.getpid())
    say("device", cs.current_device().properties.name)
    say("form", form)
    say("batch", *(case.kernel for case in batch))
    sources = Sources(batch)
    sources.module(mended=form == "mended")
    for case in batch:
        if case.kernel not in names:
            continue
        say("begin", case.kernel)
        watch = threading.Timer(seconds, give_up, [case.kernel])
        watch.daemon = True
        watch.start()
        try:
            sources.launch(case, mended=form == "mended")
            cs.synchronize()
        except cs.CudaError as error:
            print(error, flush=True)
        lost = False
        try:
            cs.synchronize()
            cs.zeros(1).to_host()
        except cs.CudaError:
            lost = True
        watch.cancel()
        say("end", case.kernel)
        if lost:
            say("lost")
            return


# ---- the output of compute-sanitizer


def messages(text: str) -> list[str]:
    """The messages of compute-sanitizer: a line at the margin and the indented ones below it."""
    found: list[str] = []
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        words = line.removeprefix("=========")
        if found and words.startswith(("    ", " and ")):
            found[-1] += "\n" + words.strip()
        elif words.strip():
            found.append(words.strip())
    boring = re.compile(r"COMPUTE-SANITIZER|\w+ SUMMARY:|Target application returned")
    return [message for message in found if not boring.match(message)]


def log_of(file: Path) -> Path:
    """The messages of compute-sanitizer have a file of their own, so that no line is cut by one of the program."""
    return file.with_suffix(".log")


def text_of(file: Path) -> str:
    return "\n".join(part.read_text(errors="replace") for part in (file, log_of(file)) if part.exists())


def read(text: str, table: dict[str, Planted]) -> Output:
    """Takes an output apart."""
    output = Output(complete=" SUMMARY: " in text)
    said = re.findall(r"^planted: (\w+) ?(.*)$", text, re.MULTILINE)
    batch: list[str] = []
    for word, rest in said:
        if word == "form":
            output.form = rest
        elif word == "device":
            output.device = rest
        elif word == "batch":
            batch = rest.split()
        elif word == "begin":
            output.seen[rest] = Seen("no end")
        elif word == "end":
            output.seen[rest].state = "ended"
    sources = Sources([table[name] for name in batch])
    for message in messages(text):
        lines = re.findall(r"planted\.cu:(\d+)", message)
        kernels = [kernel for line in lines if (kernel := sources.kernel_at(int(line)))]
        # Lines of a function that several kernels call do not tell the kernel. Its name does.
        kernels += [name for name in batch if re.search(rf"\b{name}\(", message)]
        if not kernels or kernels[0] not in output.seen:
            output.other.append(message)
            continue
        seen = output.seen[kernels[0]]
        seen.findings.append(message)
        # The distance from the beginning of the kernel is the same in each batch.
        begin = sources.begins[kernels[0]]
        seen.lines |= {f"{kernels[0]}:{int(line) - begin}" for line in lines}
    return output


# ---- the processes


def told(option: str) -> str:
    done = subprocess.run(
        ["compute-sanitizer", option], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr


class Runs:
    """The runs of all forms, with some processes beside each other. Outputs are kept as files in a folder."""

    def __init__(
        self, program: Path, device: str, folder: Path, *, seconds: float, jobs: int, limit: float
    ) -> None:
        self.program, self.folder, self.seconds, self.jobs = program, folder, seconds, jobs
        self.end = time.monotonic() + limit
        self.environment = {
            **os.environ,
            "CUSCOPE_DEVICE": device,
            "CUSCOPE_KEPT_MEMORY": "0",  # so that each array is an allocation of its own
            "PYTHONUNBUFFERED": "1",
        }
        self.help = told("--help")

    def options(self, tool: str) -> list[str]:
        """The options of a tool. Versions of compute-sanitizer have different ones."""
        wanted = {
            "--show-backtrace": "device",
            "--print-limit": "100000",
            "--target-processes": "application-only",
        }
        if tool == "memcheck":
            # Calls of the driver that the runtime asks and that fail are no mistakes of the kernel.
            wanted["--report-api-errors"] = "no"
            wanted["--destroy-on-device-error"] = "kernel"  # the next kernel can be launched
            wanted["--padding"] = "256"  # between allocations, so that an access behind one reaches no other
        if tool == "initcheck":
            wanted["--initcheck-address-space"] = "all"
        return [word for name, value in wanted.items() if name in self.help for word in (name, value)]

    def process(
        self, tool: str, form: str, batch: Sequence[Planted], names: Sequence[str], file: Path
    ) -> str:
        log = ["--log-file", str(log_of(file))] if "--log-file" in self.help else []
        command = [
            *("compute-sanitizer", "--tool", tool, *self.options(tool), *log),
            *(sys.executable, str(self.program), "--form", form, "--seconds", str(self.seconds)),
            *("--batch", *(case.kernel for case in batch), "--launch", *names),
        ]
        with file.open("w") as output:
            running = subprocess.Popen(
                command,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                seconds = SECONDS_OF_START + self.seconds + 2 * len(names)
                running.wait(max(0, min(seconds, self.end - time.monotonic())))
            except subprocess.TimeoutExpired:
                said = re.search(r"^planted: process (\d+)$", file.read_text(errors="replace"), re.MULTILINE)
                for kill, number in ((os.killpg, running.pid), *([(os.kill, int(said[1]))] if said else [])):
                    with contextlib.suppress(ProcessLookupError):
                        kill(number, signal.SIGKILL)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    running.wait(20)
        return text_of(file)

    def form(self, tool: str, form: str, batch: Sequence[Planted], number: int) -> None:
        """Launches the kernels of a batch, in as many processes as it takes."""
        table = {case.kernel: case for case in batch}
        left = list(table)
        for attempt in range(2 * len(batch)):
            if time.monotonic() > self.end:
                return
            file = self.folder / f"{tool}_{form}_{number:02}_{attempt:02}.txt"
            seen = read(self.process(tool, form, batch, left, file), table).seen
            endless = [name for name, of_kernel in seen.items() if of_kernel.state == "no end"]
            if endless:
                left = [name for name in left if name not in endless]
            else:
                left = [name for name in left if name not in seen]
            if not left or not seen:
                return

    def run(self, cases: Sequence[Planted]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "version.txt").write_text(told("--version"))
        work = []
        for tool in (
            "synccheck",
            "memcheck",
            "racecheck",
            "initcheck",
        ):  # first the tools whose processes may hang
            of_tool = [case for case in cases if tool_of(case) == tool]
            for form in ("wrong", "mended"):
                size = 1 if (tool, form) == ("synccheck", "wrong") else TOGETHER[tool]
                for number, begin in enumerate(range(0, len(of_tool), size)):
                    work.append((tool, form, of_tool[begin : begin + size], number))
        with ThreadPoolExecutor(self.jobs) as threads:
            for done in [threads.submit(self.form, *one) for one in work]:
                done.result()


@dataclass
class Answers:
    """Reads the outputs in a folder."""

    seen: dict[tuple[str, str], Seen] = field(default_factory=dict)  # of a kernel and its form
    other: list[str] = field(default_factory=list)  # messages that name no kernel
    device: str = ""
    version: str = ""  # of compute-sanitizer


def answers(folder: Path, table: dict[str, Planted]) -> Answers:
    """Reads all outputs. If a kernel was launched again, the later process counts."""
    all_of_them = Answers()
    version = folder / "version.txt"
    if version.exists():
        lines = version.read_text().splitlines()
        all_of_them.version = next((line for line in lines if line.startswith("Version")), "")
    for file in sorted(folder.glob("*check_*.txt")):
        output = read(text_of(file), table)
        for name, seen in output.seen.items():
            all_of_them.seen[name, output.form] = seen
        all_of_them.other += [f"{file.name}: {message}" for message in output.other]
        if not output.complete:
            all_of_them.other.append(f"{file.name}: compute-sanitizer has no summary")
        all_of_them.device = all_of_them.device or output.device
    return all_of_them
