"""The picture of a memory pool."""

from __future__ import annotations

from .. import _core
from .cards import GOOD, QUIET, Marked, ask, byte_text, card, code, text

__all__ = ["pool"]


def pool(p: _core.MemoryPool) -> str:
    closed = p.closed
    known = None if closed or not _core.may_look() else ask(lambda: p.statistics)
    threshold = ask(lambda: p.release_threshold) if known else None
    limit = ask(lambda: p.limit)
    rows = [
        ("device", code(p.device.name)),
        ("in use", None if known is None else _bar(known.used, known.reserved)),
        ("most in use", None if known is None else byte_text(known.used_high)),
        ("reserved", None if known is None else byte_text(known.reserved)),
        ("limit", None if closed else byte_text(limit) if limit else "the device's memory"),
        ("kept at a synchronisation", None if threshold is None else byte_text(threshold)),
    ]
    state = (QUIET, "closed") if closed else (QUIET, "state unknown") if known is None else None
    return card(
        "MemoryPool", rows, about="the device's own" if ask(lambda: p.is_default) else "", state=state
    )


def _bar(used: int, reserved: int) -> Marked:
    share = min(used / reserved, 1) if reserved else 0
    return Marked(
        f"{text(byte_text(used))} "
        f'<svg xmlns="http://www.w3.org/2000/svg" width="104" height="10" role="img"><title>{share:.0%} of the '
        f'reserved memory</title><rect x=".5" y=".5" width="103" height="9" rx="2" fill="none" '
        f'stroke="{QUIET}"/><rect x="2" y="2" width="{100 * share:.1f}" height="6" fill="{GOOD}"/></svg>'
    )
