"""``%gpu_timeit``: how long a statement takes on the host, and how long its work takes on the device."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from typing import Any

from .. import _core
from .cells import parser_of
from .times import GpuTimes

__all__ = ["magic"]

# How often, and the functions to call before the first and after the last time.
Repeat = Callable[[int, Callable[[], None], Callable[[], None]], None]

ENOUGH = 0.5  # seconds of measuring, if the number of runs is not given
LEAST_RUNS, MOST_RUNS = 7, 1000
SIMULATED_RUNS = 3  # the times of a model do not vary


def _parser() -> Any:
    parser = parser_of(
        "%gpu_timeit",
        description=(
            "Time a statement: the host's time until it returns, and the device's time between two events "
            "around it. With %%gpu_timeit, the rest of the line is set-up code, and the cell is timed."
        ),
        epilog="Example: %gpu_timeit -r 20 add[4096, 256](x, y, z, n)",
    )
    add = parser.add_argument
    add("-n", type=int, default=1, help="how often a run repeats the statement; default: 1")
    add("-r", type=int, help=f"the number of runs; default: for {ENOUGH} s, at least {LEAST_RUNS}")
    add("-w", type=int, default=2, help="the number of runs before, which are not measured; default: 2")
    add("-s", metavar="NAME", help="the variable of the stream with the work; default: the current stream")
    add("-o", action="store_true", help="return the times as an object")
    add("-q", action="store_true", help="print nothing")
    return parser


def magic(shell: Any) -> Callable[..., GpuTimes | None]:
    from IPython.core.error import UsageError
    from IPython.core.magic import needs_local_scope, no_var_expand

    parser = _parser()

    @no_var_expand
    @needs_local_scope
    def gpu_timeit(
        line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None
    ) -> GpuTimes | None:
        __tracebackhide__ = True
        arguments, code = _split(parser, line)
        if arguments.n < 1 or arguments.w < 0 or (arguments.r is not None and arguments.r < 1):
            raise UsageError("%gpu_timeit: -n and -r are 1 or more, -w is 0 or more")
        names = {**shell.user_ns, **(local_ns or {})}
        if cell is None and not code.strip():
            raise UsageError("%gpu_timeit: there is no statement to time")
        repeat = _compiled(shell, code if cell is None else cell, "pass" if cell is None else code or "pass")
        stream: object = _core.current_stream()
        if arguments.s is not None:
            stream = names.get(arguments.s)
        if not isinstance(stream, _core.Stream):
            raise UsageError(f"%gpu_timeit: -s {arguments.s}: takes the name of a Stream")
        times = _measure(repeat(names), stream, arguments)
        if not arguments.q:
            print(times)  # noqa: T201 - below the cell
        return times if arguments.o else None

    gpu_timeit.__doc__ = parser.format_help()
    return gpu_timeit


def _split(parser: Any, line: str) -> tuple[Any, str]:
    """The options, which come first, and the code behind them, with its own quotes and spaces."""
    takes = {one: action.nargs != 0 for action in parser._actions for one in action.option_strings}
    rest, options = line.lstrip(), []
    while rest.startswith("-"):
        word, _, behind = rest.partition(" ")
        if word == "--":
            rest = behind
            break
        flag = word[:2]
        if flag not in takes:
            break  # the code begins with a minus
        options.append(word)
        rest = behind.lstrip()
        if takes[flag] and word == flag:
            value, _, rest = rest.partition(" ")
            options.append(value)
            rest = rest.lstrip()
    return parser.parse_args(options), rest


def _compiled(shell: Any, code: str, setup: str) -> Callable[[dict[str, Any]], Repeat]:
    """A function of a namespace that returns the function which runs the set-up code, and then repeats the code.

    Names that the code assigns stay in the function, as with %timeit.
    """
    name = "<gpu_timeit>"
    tree = ast.parse(
        "def repeat(_count, _begin, _end):\n    _begin()\n    for _ in _range(_count):\n        pass\n    _end()\n"
    )
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    loop = function.body[1]
    assert isinstance(loop, ast.For)
    loop.body = shell.transform_ast(ast.parse(shell.transform_cell(code), name)).body or loop.body
    function.body[:0] = shell.transform_ast(ast.parse(shell.transform_cell(setup), name)).body
    made = compile(ast.fix_missing_locations(tree), name, "exec")

    def bind(names: dict[str, Any]) -> Repeat:
        names["_range"] = range
        exec(made, names)
        repeat: Repeat = names["repeat"]
        return repeat

    return bind


def _measure(repeat: Repeat, stream: _core.Stream, arguments: Any) -> GpuTimes:
    device, count = stream.device, arguments.n
    __tracebackhide__ = True
    clock = _core.clock if _core.current_device().simulated else time.perf_counter
    start, stop = _core.Event(device=device), _core.Event(device=device)
    host, work = [], []

    moments = [0.0, 0.0]

    def begin() -> None:
        start.record(stream)
        moments[0] = clock()

    def end() -> None:
        moments[1] = clock()
        stop.record(stream)

    def run() -> tuple[float, float]:
        __tracebackhide__ = True
        repeat(count, begin, end)
        stop.synchronize()
        # Rounded to nanoseconds: the differences of a model's times are equal then.
        nanoseconds = round((moments[1] - moments[0]) * 1e9)
        return nanoseconds / (1e9 * count), (stop - start) / (1e3 * count)

    stream.synchronize()
    for _ in range(arguments.w):
        run()
    wall = time.perf_counter()
    runs = arguments.r or (SIMULATED_RUNS if device.simulated else MOST_RUNS)
    for i in range(runs):
        if arguments.r is None and i >= LEAST_RUNS and time.perf_counter() - wall > ENOUGH:
            break
        one = run()
        host.append(one[0])
        work.append(one[1])
    wall = time.perf_counter() - wall
    return GpuTimes(host, work, count, device, wall / (len(host) * count))
