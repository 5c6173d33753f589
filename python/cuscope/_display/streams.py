"""The pictures of streams and events: whether their work has ended."""

from __future__ import annotations

from .. import _core
from .cards import BAD, BUSY, GOOD, QUIET, Marked, ask, card, code

__all__ = ["event", "stream"]

STATES = {
    "closed": (QUIET, "closed"),
    "reset": (QUIET, "its device was reset"),
    "lost": (BAD, "its device is lost by an error"),
    "captured": (BUSY, "being captured"),
    "unknown": (QUIET, "state unknown"),
}


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def stream(s: _core.Stream) -> str:
    state, in_flight, first, last = _core.look_at_stream(s)
    if state == "done":
        shown = (GOOD, "done")
    elif state == "working":
        known = f"{_counted(in_flight, 'command')} in flight" if in_flight else "work in flight"
        shown = (BUSY, known)
    else:
        shown = STATES[state]
    title = repr(s).strip("<>").partition(" of ")[0]
    rows = [
        ("now", code(first) if first else None),
        ("last command", code(last) if last else None),
        ("device", code(s.device.name)),
        ("priority", ask(lambda: s.priority) or None),
        (
            "blocking",
            "no: not ordered with the legacy default stream" if ask(lambda: s.non_blocking) else None,
        ),
    ]
    return card(title, rows, state=shown)


def event(e: _core.Event) -> str:
    state, time, now = _core.look_at_event(e)
    rows = [("device", code(e.device.name)), ("timing", "on" if e.timing else "off")]
    if state == "happened":
        shown = (GOOD, "happened")
        if time >= 0:
            ago = max(now - time, 0) * 1e-3
            rows.insert(
                0,
                ("when", Marked(f"{ago:,.6g} &micro;s ago, at cs.clock() = {time * 1e-9:.9f} (simulated)")),
            )
    elif state == "pending":
        shown = (BUSY, "recorded, has not happened yet")
    elif state == "not recorded":
        shown = (QUIET, "never recorded")
    elif state == "captured":
        shown = (BUSY, "recorded in a capture")
    else:
        shown = STATES[state]
    return card("Event", rows, state=shown)
