"""``%%profile``: runs a cell of Python, and shows a profile of each kernel that it launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core
from .cells import arguments_of, parser_of, run

if TYPE_CHECKING:
    from .._profiling import Profile

__all__ = ["magic"]

MOST_SHOWN = 10  # profiles below a cell


def _parser() -> Any:
    parser = parser_of(
        "%%profile",
        description="Run the cell, and show the counters of each kernel that it launches, by source line.",
        epilog="Example: %%profile p --blocks 64",
    )
    parser.add_argument(
        "name", nargs="?", help="a variable for the cuscope.Profile; a list of them if there are several"
    )
    parser.add_argument("--blocks", type=int, help="count so many blocks of each launch; default: all")
    parser.add_argument("--kernel", "-k", help="profile only the kernel of this name")
    parser.add_argument("--text", action="store_true", help="print the profiles as text")
    parser.add_argument("--quiet", "-q", action="store_true", help="show nothing")
    return parser


def _shape(profile: Profile) -> tuple[object, ...]:
    counts = tuple(sorted(profile.counters.items()))
    return profile.kernel, profile.grid, profile.block, counts


def _show(profiles: list[Profile], as_text: bool) -> None:
    """Launches of a kernel with the same counters are shown once, with their number."""
    from IPython import display as ipython_display

    display: Any = ipython_display
    shown: dict[tuple[object, ...], list[Profile]] = {}
    for profile in profiles:
        shown.setdefault(_shape(profile), []).append(profile)
    for same in list(shown.values())[:MOST_SHOWN]:
        times = f"{len(same)} launches like this:" if len(same) > 1 else ""
        if as_text:
            print("\n".join(filter(None, (times, str(same[0])))))  # noqa: T201 - below the cell
        else:
            heading = f"<div>{times}</div>" if times else ""
            display.display(display.HTML(heading + same[0]._repr_html_()))
    if len(shown) > MOST_SHOWN:
        print(f"%%profile: {len(shown) - MOST_SHOWN} other profiles are not shown; `%%profile p` keeps all")  # noqa: T201


def magic(shell: Any) -> Callable[[str, str], Any]:
    parser = _parser()

    def profile_cell(line: str, cell: str) -> Any:
        __tracebackhide__ = True
        from IPython.core.error import UsageError

        arguments = arguments_of(parser, line)
        if arguments.blocks is not None and arguments.blocks < 1:
            raise UsageError(f"%%profile: --blocks {arguments.blocks}: at least 1 block has to be counted")
        profiles: list[Profile] = []

        def take(profile: Profile) -> None:
            if arguments.kernel is None or profile.kernel == arguments.kernel:
                profiles.append(profile)

        _core.profile_launches(take, arguments.blocks)
        try:
            value = run(shell, cell)
        finally:  # a cell that fails shows the launches before
            _core.profile_launches(None)
            if arguments.name and profiles:
                shell.push({arguments.name: profiles[0] if len(profiles) == 1 else profiles})
            if not arguments.quiet:
                _show(profiles, arguments.text)
        if not profiles and not arguments.quiet:
            name = f" of {arguments.kernel}" if arguments.kernel else ""
            print(f"%%profile: the cell made no launch{name} that can be profiled")  # noqa: T201 - below the cell
        return value

    profile_cell.__doc__ = parser.format_help()
    return profile_cell
