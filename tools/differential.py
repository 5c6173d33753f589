"""Puts the same random calls to two runtimes, and reports the differences of their answers.

Draws random sequences of calls of the raw contract, valid and invalid. Runs them on two runtimes in separate processes,
compares every status and output, shrinks a sequence with a difference to a program of few calls and prints it. `host:0`
has to answer like a GPU: each difference is a fault of the simulation, or is listed with its reason in
differential_known.txt.

    python tools/differential.py                         # cuda:0 against host:0
    python tools/differential.py host:0 host:0 --calls 100000
    python tools/differential.py --table cuda:0 > cuda.txt; python tools/differential.py --table host:0 | diff cuda.txt -
    python tools/differential.py cuda:0 --record answers.json.gz     # and on a machine without the GPU:
    python tools/differential.py answers.json.gz host:0

A runtime has the name of its device; FILE.py@DEVICE is that device's runtime, wrapped by the file's wrap(contract). The
same seed and counts draw the same programs. The exit status is 0 if only listed differences were found, otherwise 1.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from differential_draw import Step, random_program
from differential_program import HUNG
from differential_record import asked_alike, read, record

WORKER = Path(__file__).with_name("differential_program.py")
KNOWN = Path(__file__).with_name("differential_known.txt")


class Options(NamedTuple):
    first: str
    second: str
    devices: int
    limit: float  # seconds for one call
    shrink: float  # seconds for one difference


class Answers(NamedTuple):
    """The answers of a runtime, by step; and how its process ended and its last output, if it did not end by itself."""

    by_step: dict[int, list[Any]]
    end: str = ""
    stderr: str = ""


class Difference(NamedTuple):
    step: int
    call: str
    first: str
    second: str

    @property
    def kind(self) -> str:
        """Differences of one kind count as the same difference while a program is shrunk."""
        first, second = self.first, self.second
        if ended(first) != ended(second):  # if one process ended, the answer of the other one does not matter
            first, second = (x if ended(x) else "an answer" for x in (first, second))
        return f"{self.call} | {first} | {second}"


def ended(answer: str) -> bool:
    return answer.startswith(("the process ", "the call "))


class Known(NamedTuple):
    pattern: str
    reason: str


def start(name: str, limit: float) -> subprocess.Popen[str]:
    command = [sys.executable, str(WORKER), name, str(limit)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(worker: subprocess.Popen[str], given: str, patience: float) -> Answers:
    """The worker's answers so far, no matter how it ended. The worker ends itself if one call takes too long."""
    try:
        out, err = worker.communicate(given, timeout=patience)
    except subprocess.TimeoutExpired:
        worker.kill()
        out, err = worker.communicate()
        end = f"the process took more than {patience:.0f} s"
    else:
        code = worker.returncode
        end = (
            ""
            if code == 0
            else "the call did not return"
            if code == HUNG
            else f"the process ended with {signal.Signals(-code).name if code < 0 else f'exit status {code}'}"
        )
    answers: dict[int, list[Any]] = {}
    for line in out.splitlines():
        try:
            step, answer = json.loads(line)
        except ValueError:  # the last line of a process that was ended
            continue
        answers[step] = answer
    return Answers(answers, end, err)


def run(options: Options, steps: list[Step]) -> tuple[Answers, Answers]:
    given = json.dumps({"devices": options.devices, "steps": steps})
    patience = 60 + 3 * options.limit + len(steps) / 20
    workers = [start(name, options.limit) for name in (options.first, options.second)]
    first = finish(workers[0], given, patience)
    return first, finish(workers[1], given, patience)


def text(answers: Answers, step: int) -> str:
    answer = answers.by_step.get(step)
    return answers.end if answer is None else " ".join(str(x) for x in answer)


def differences(steps: list[Step], first: Answers, second: Answers) -> Difference | None:
    """The first step with different answers. If one process ends, the later steps cannot be compared."""
    for step in steps:
        number = step["id"]
        a, b = text(first, number), text(second, number)
        if a != b:
            return Difference(number, step["call"], a or "no answer", b or "no answer")
        if number not in first.by_step:
            # Both processes ended here in the same way: there is no answer to compare, and no difference.
            return None
    return None


def programs_of(steps: list[Step]) -> list[list[Step]]:
    made: list[list[Step]] = [[]]
    for step in steps:
        made[-1].append(step)
        if step["call"] == "clean_up":
            made.append([])
    return [program for program in made if program]


def still(options: Options, steps: list[Step], wanted: Difference) -> bool:
    found = differences(steps, *run(options, steps))
    return found is not None and found.kind == wanted.kind


def renumbered(given: Any, number: dict[int, int]) -> Any:
    """The arguments of a step, or a part of them, with the new numbers of the steps that they name."""
    if isinstance(given, dict):
        return {key: renumbered(inner, number) for key, inner in given.items()}
    if not isinstance(given, list):
        return given
    if given[:1] in (["step"], ["node"]):
        return [given[0], number.get(given[1], 0), *given[2:]]
    return [renumbered(inner, number) for inner in given]


def copied(steps: list[Step], first: int) -> list[Step]:
    """The steps with new numbers, counted from `first`, and a clean-up."""
    number = {step["id"]: first + i for i, step in enumerate(steps)}
    made = []
    for step in steps:
        copy = step | {"id": number[step["id"]], "args": renumbered(step["args"], number)}
        if "destroys" in step:
            copy["destroys"] = [number[i] for i in step["destroys"] if i in number]
        made.append(copy)
    return [*made, {"id": first + len(steps), "thread": 0, "call": "clean_up", "args": []}]


def needed(steps: list[Step]) -> list[Step]:
    """The last step, the steps that it names, the steps that these name, and so on."""
    named, kept = {steps[-1]["id"]}, []

    def note(given: Any) -> None:
        if isinstance(given, dict):
            given = list(given.values())
        if isinstance(given, list):
            if given[:1] in (["step"], ["node"]):
                named.add(given[1])
            for inner in given:
                note(inner)

    for step in reversed(steps):
        if step["id"] in named:
            kept.append(step)
            note(step["args"])
    return kept[::-1]


def which_still(
    options: Options, candidates: list[list[Step]], wanted: Difference, alone: bool = False
) -> list[bool]:
    """Tells for each candidate whether it differs in the same way. Runs many in one process, unless `alone`."""
    if alone:
        return [still(options, candidate, wanted) for candidate in candidates]
    answered: list[bool] = []
    while len(answered) < len(candidates):
        copies, first = [], 1
        for candidate in candidates[len(answered) :]:
            copies.append(copied(candidate, first))
            first += len(copies[-1])
        answers = run(options, [step for copy in copies for step in copy])
        for copy in copies:
            found = differences(copy, *answers)
            answered.append(found is not None and found.kind == wanted.kind)
            if any(copy[-1]["id"] not in a.by_step for a in answers):
                break  # a process ended here: run the others in new ones
    return answered


def shrunk(options: Options, steps: list[Step], wanted: Difference) -> list[Step]:
    """Leaves out steps that the difference does not need, larger parts first, until the time is over."""
    until = time.monotonic() + options.shrink
    at = next(i for i, step in enumerate(steps) if step["id"] == wanted.step)
    kept = steps[: at + 1]
    if which_still(options, [needed(kept)], wanted) == [True]:
        kept = needed(kept)
    size = max(1, len(kept) // 2)
    alone = False  # programs have been seen to answer differently in one process with others
    while time.monotonic() < until:
        parts = [set(range(i, min(i + size, len(kept) - 1))) for i in range(0, len(kept) - 1, size)]

        def without(left_out: set[int], kept: list[Step] = kept) -> list[Step]:
            return [step for i, step in enumerate(kept) if i not in left_out]

        # First try to leave out each part alone, and then as many of the removable parts as possible together.
        yes = which_still(options, [without(x) for x in parts], wanted, alone)
        can_go = [part for part, goes in zip(parts, yes, strict=True) if goes]
        together = [set().union(*can_go[:n]) for n in range(1, len(can_go) + 1)]
        yes = which_still(options, [without(x) for x in together], wanted, alone)
        if any(yes):
            fewer = without(max((x for x, goes in zip(together, yes, strict=True) if goes), key=len))
            if alone or still(options, fewer, wanted):
                kept = fewer
            else:
                alone = True
                continue
        elif size == 1:
            break
        size = max(1, size // 2)
    return kept


def shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(inner)}" for key, inner in value.items()) + "}"
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        return f"[{', '.join(map(shown, value))}]" if isinstance(value, list) else str(value)
    what, *rest = value
    if what == "step":
        more = "".join(f"[{i}]" for i in rest[1:2] if i) + "".join(f" + {i}" for i in rest[2:3] if i)
        return f"r{rest[0]}{more}"
    if what == "node":
        return f"r{rest[0]}.nodes[{rest[1]}]"
    return f"{what}({', '.join(map(shown, rest))})" if rest else what


def listing(steps: list[Step], first: Answers, second: Answers) -> str:
    lines = []
    for step in steps:
        a, b = text(first, step["id"]), text(second, step["id"])
        call = f"r{step['id']} = {step['call']}({', '.join(map(shown, step['args']))})"
        thread = f"[thread {step['thread']}] " if step["thread"] else ""
        lines.append(f"  {thread + call:<72} {a}" + (f"   BUT   {b}" if a != b else ""))
    return "\n".join(lines)


def read_known(path: Path) -> list[Known]:
    """Lines of `call | first answer | second answer | reason`; the first three fields may contain *."""
    known = []
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = line.rpartition("|")
            known.append(Known(" | ".join(x.strip() for x in pattern.split("|")), reason.strip()))
    return known


def reason_for(known: list[Known], found: Difference) -> str | None:
    return next((k.reason for k in known if fnmatch.fnmatchcase(found.kind, k.pattern)), None)


def examine(options: Options, batch: list[list[Step]], index: int, found: Difference) -> str:
    """The difference, with the fewest calls that were found to cause it."""
    whole = [step for program in batch[: index + 1] for step in program]
    alone = batch[index]
    note = ""
    if still(options, alone, found):
        steps = shrunk(options, alone, found)
    elif still(options, whole, found):
        steps = shrunk(options, whole, found)
        note = "  (needs calls of programs before it)\n"
    else:
        return (
            f"{found.kind}\n  (it did not happen again: the answers depend on time, or on what was there)\n"
            + listing(alone[: 1 + [s["id"] for s in alone].index(found.step)], Answers({}), Answers({}))
        )
    answers = run(options, steps)
    said = "".join(
        f"\n  {name} wrote: {a.stderr.strip()[-500:]}"
        for name, a in zip((options.first, options.second), answers, strict=True)
        if a.end
    )
    return f"{found.kind}\n{note}{listing(steps, *answers)}{said}\n  program: {json.dumps(steps)}"


class Count:
    programs = calls = known = 0


def compare_recorded(options: Options, most: int, known: list[Known]) -> int:
    """Compares the second runtime with the recorded answers. Returns the number of kinds of unlisted differences."""
    devices, batches = read(Path(options.first))
    kinds: dict[str, int] = {}
    reasons: dict[str, int] = {}
    compared = in_a_row = number = 0
    for batch in batches:
        for given, got in zip(batch, asked_alike(options.second, devices, options.limit, batch), strict=True):
            first, second = (
                Answers({s["id"]: a for s, a in zip(x.steps, x.answers, strict=True) if a is not None}, x.end)
                for x in (given, got)
            )
            found = differences(given.steps, first, second)
            reached = (
                [s["id"] for s in given.steps].index(found.step)
                if found
                else sum(s["id"] in first.by_step and s["id"] in second.by_step for s in given.steps)
            )
            compared += reached
            in_a_row += reached
            number += 1
            reason = reason_for(known, found) if found else None
            if reason is not None:
                reasons[reason] = reasons.get(reason, 0) + 1
            elif found:
                in_a_row = 0
                kinds[found.kind] = kinds.get(found.kind, 0) + 1
                if kinds[found.kind] == 1 and len(kinds) <= most:
                    upto = given.steps[: reached + 1]
                    print(f"\ndifference {len(kinds)}, program {number - 1}: {found.kind}")
                    print(listing(upto, first, second), flush=True)
    print(
        f"\n{number} programs, {compared} calls compared, the last {in_a_row} without an unlisted difference"
    )
    print(f"{sum(kinds.values())} differences that are not listed, of {len(kinds)} kinds")
    for kind, times in sorted(kinds.items(), key=lambda item: -item[1]):
        print(f"  {times} times: {kind}")
    for reason, times in reasons.items():
        print(f"  {times} times, listed: {reason}")
    return len(kinds)


def compare(
    options: Options, seed: int, calls: int, length: int, most: int, seconds: float, known: list[Known]
) -> int:
    """Runs batches of programs until so many calls were compared. Returns the number of unlisted differences."""
    count, kinds, reasons = Count(), {}, {}
    until = time.monotonic() + seconds
    number, in_a_row = 0, 0
    while count.calls < calls and len(kinds) < most and time.monotonic() < until:
        batch: list[list[Step]] = []
        first = 1
        for _ in range(min(40, max(1, (calls - count.calls + length) // (length + 1)))):
            program = random_program(random.Random(f"{seed}/{number}"), first, length, options.devices)
            first, number = program.next, number + 1
            batch.append(program.steps)
        while batch:
            answers = run(options, [step for program in batch for step in program])
            ended = len(batch)
            for index, program in enumerate(batch):
                found = differences(program, *answers)
                count.programs += 1
                done = [s for s in program if s["id"] in answers[0].by_step and s["id"] in answers[1].by_step]
                reached = (
                    [s["id"] for s in done].index(found.step)
                    if found and found.step in {s["id"] for s in done}
                    else len(done)
                )
                count.calls += reached
                in_a_row = 0 if found else in_a_row + reached
                if found:
                    reason = reason_for(known, found)
                    if reason is not None:
                        count.known += 1
                        in_a_row += reached
                        reasons[reason] = reasons.get(reason, 0) + 1
                    elif found.kind not in kinds:
                        kinds[found.kind] = 1
                        print(
                            f"\ndifference {len(kinds)}, seed {seed}, program {number - len(batch) + index}:"
                        )
                        print(examine(options, batch, index, found), flush=True)
                    else:
                        kinds[found.kind] += 1
                if len(kinds) >= most:
                    break
                if len(done) < len(program):  # a process ended here: run the rest of the batch in new ones
                    ended = index + 1
                    break
            batch = [] if len(kinds) >= most else batch[ended:]
    print(
        f"\n{count.programs} programs, {count.calls} calls compared, the last {in_a_row} without an unlisted difference"
    )
    print(
        f"{sum(kinds.values())} differences that are not listed, of {len(kinds)} kinds; {count.known} that are"
    )
    for kind, times in kinds.items():
        print(f"  {times} times: {kind}")
    for reason, times in reasons.items():
        print(f"  {times} times, listed: {reason}")
    if count.calls < calls:
        print(
            f"ended before {calls} calls: {'too many differences' if len(kinds) >= most else 'out of time'}"
        )
    return len(kinds)


def main() -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", nargs="?", default="cuda:0")
    parser.add_argument("second", nargs="?", default="host:0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=10_000, help="how many to compare at least")
    parser.add_argument("--length", type=int, default=50, help="calls of a program")
    parser.add_argument("--devices", type=int, default=1, help="2: a second device takes part")
    parser.add_argument("--seconds", type=float, default=3600, help="limit in time for all of it")
    parser.add_argument("--limit", type=float, default=20, help="seconds for one call")
    parser.add_argument("--shrink", type=float, default=120, help="seconds to shrink one difference")
    parser.add_argument("--most", type=int, default=20, help="kinds of differences after which it ends")
    parser.add_argument("--known", type=Path, default=KNOWN, help="the list of known differences")
    parser.add_argument("--replay", type=Path, help="a program, as it was printed, to run again")
    parser.add_argument(
        "--table", action="store_true", help="one answer for each call in each state, of the first runtime"
    )
    parser.add_argument(
        "--record", type=Path, help="a file for the first runtime's answers, to be compared later"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time, where answers are recorded")
    given = parser.parse_args()
    options = Options(given.first, given.second, given.devices, given.limit, given.shrink)
    if given.table:
        from differential_table import table

        for line in table(options):
            print(line, flush=True)
        return 0
    if given.replay:
        steps = json.loads(given.replay.read_text())
        answers = run(options, steps)
        print(listing(steps, *answers))
        return int(differences(steps, *answers) is not None)
    if given.record:
        asking = (given.seed, given.calls, given.length, given.devices, given.limit, given.jobs)
        record(given.first, given.record, *asking)
        return 0
    if given.first.endswith(".json.gz"):
        return int(compare_recorded(options, given.most, read_known(given.known)) > 0)
    found = compare(
        options, given.seed, given.calls, given.length, given.most, given.seconds, read_known(given.known)
    )
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
