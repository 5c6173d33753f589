"""Random operations by random threads, on objects of one thread and on objects that all threads share.

    python tests/stress --seconds 60 --threads 2,4,8 --seed 1,2,3 --device host:0 --operations capture,launch

Each seed runs with each number of threads, for its share of the time. The exit status is 0 if all went well, 1 if
memory grew or an operation raised an error that it must not raise, and 9 if nothing happened for --patience seconds;
then every thread's traceback is printed. A seed decides the operations of each thread, but not how the threads
interleave.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import gc
import os
import sys
import threading
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cuscope as cs
from operations import CAPTURE_ERRORS, OPERATIONS, RACES, Objects, Operation, Worker

MIB = 1 << 20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def expected(operation: Operation, error: Exception) -> str | None:
    """The name under which the exception is counted; None if it is a failure."""
    if isinstance(error, cs.CudaError) and error.name in (*CAPTURE_ERRORS, *operation.errors):
        return error.name
    if isinstance(error, (cs.CudaError, ValueError)):
        return next((text for text in RACES if text in str(error)), None)
    return None


class Run:
    """Some threads with one seed."""

    def __init__(self, device: cs.Device, seed: int, threads: int, operations: list[Operation]) -> None:
        self.device, self.seed, self.operations = device, seed, operations
        self.done = [0] * threads
        self.now = ["start"] * threads
        self.outcomes: collections.Counter[str] = collections.Counter()
        self.failure: str | None = None
        self.stop = False
        # All objects exist before the first thread captures, because a capture refuses some calls that make them.
        with device:
            shared = Objects()
            self.workers = [Worker(1000 * seed + i, shared, device) for i in range(threads)]
        self.threads = [threading.Thread(target=self.work, args=(i,), daemon=True) for i in range(threads)]

    def work(self, index: int) -> None:
        try:
            with self.device:
                while not self.stop:
                    self.step(self.workers[index], index)
        except BaseException:
            self.fail(index, traceback.format_exc())

    def step(self, worker: Worker, index: int) -> None:
        operation = worker.random.choice(self.operations)
        self.now[index] = operation.name
        try:
            operation.run(worker)
            outcome = "ok"
        except Exception as error:
            outcome = expected(operation, error)
            if outcome is None:
                self.fail(index, traceback.format_exc())
                return
        self.outcomes[outcome] += 1
        self.done[index] += 1

    def fail(self, index: int, text: str) -> None:
        if self.failure is None:
            self.failure = (
                f"seed {self.seed}, thread {index} of {len(self.done)}, operation {self.done[index]}, "
                f"{self.now[index]}:\n{text}"
            )
        self.stop = True

    def go_on(self, seconds: float, patience: float) -> None:
        """Runs for so long. Ends the process if nothing happens any more."""
        for thread in self.threads:
            thread.start()
        begin = moved = time.monotonic()
        last = -1
        while any(thread.is_alive() for thread in self.threads):
            # This needs no GIL, because a thread that hangs may hold it.
            faulthandler.dump_traceback_later(2 * patience, exit=True)
            time.sleep(0.2)
            now = time.monotonic()
            if now - begin > seconds:
                self.stop = True
            if sum(self.done) != last:
                last, moved = sum(self.done), now
            if now - moved > patience:
                self.give_up()

    def give_up(self) -> None:
        print(f"STUCK: seed {self.seed}, {sum(self.done)} operations, now {self.now}", flush=True)
        if (pending := getattr(cs, "pending", None)) is not None:
            print(pending(), flush=True)
        faulthandler.dump_traceback(all_threads=True)
        sys.stderr.flush()
        if os.environ.get("CUSCOPE_STRESS_WAIT"):  # waits for a debugger
            time.sleep(1e6)
        os._exit(9)


def one(
    device: cs.Device, seed: int, threads: int, operations: list[Operation], seconds: float, patience: float
) -> bool:
    run = Run(device, seed, threads, operations)
    run.go_on(seconds, patience)
    count, outcomes, failure = sum(run.done), run.outcomes, run.failure
    usual = ", ".join(f"{name} {times}" for name, times in outcomes.most_common())
    print(f"seed {seed}, {threads} threads: {count} operations: {usual}", flush=True)
    if failure is not None:
        print("FAILED", failure, flush=True)
        return False
    del run
    faulthandler.dump_traceback_later(2 * patience, exit=True)
    gc.collect()
    with device:
        device.memory_pool = None
        device.synchronize()
        gc.collect()
        device.memory_pool.trim()
        assert cs.full(3, 2.0).to_host().tolist() == [2.0] * 3
    faulthandler.cancel_dump_traceback_later()
    return True


def main(arguments: list[str] | None = None) -> int:
    numbers = lambda text: [int(part) for part in text.split(",")]  # noqa: E731
    parser = argparse.ArgumentParser(
        prog="stress", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=numbers, default=[1, 2, 3])
    parser.add_argument("--threads", type=numbers, default=[2, 4, 8])
    parser.add_argument("--device", default="host:0")
    parser.add_argument("--operations", type=lambda text: text.split(","), default=list(OPERATIONS))
    parser.add_argument("--patience", type=float, default=30.0)
    parser.add_argument(
        "--growth",
        type=float,
        default=48.0,
        help="MiB that memory may grow by after the first round; sanitizers need more, for notes of their own",
    )
    options = parser.parse_args(arguments)
    faulthandler.enable()
    device = cs.Device(options.device)
    operations = [
        OPERATIONS[name]
        for name in options.operations
        if device.simulated or not OPERATIONS[name].simulated_only
    ]

    rounds = [(seed, threads) for seed in options.seed for threads in options.threads]
    warm = None
    for seed, threads in rounds:
        if not one(device, seed, threads, operations, options.seconds / len(rounds), options.patience):
            return 1
        warm = warm or resident()
    grown = resident() - (warm or 0)
    print(f"{resident() / MIB:.0f} MiB, {grown / MIB:+.0f} MiB since the first round", flush=True)
    return 1 if grown > options.growth * MIB else 0


if __name__ == "__main__":
    sys.exit(main())
