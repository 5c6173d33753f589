"""The pictures of modules and kernels: their signatures."""

from __future__ import annotations

from .. import _core
from .cards import Marked, ask, byte_text, card, code, text

__all__ = ["kernel", "module"]

MOST_KERNELS = 50


def _signature(k: _core.Kernel) -> Marked:
    shown = repr(k).removeprefix("<Kernel ").rpartition(" on ")[0]
    if not shown.startswith(k.name):
        return code(shown)
    return Marked(f"<code><b>{text(k.name)}</b>{text(shown[len(k.name) :])}</code>")


def module(m: _core.Module) -> str:
    names = m.kernels
    lines = [f"<div>{_signature(m[name])}</div>" for name in names[:MOST_KERNELS]]
    if len(names) > MOST_KERNELS:
        lines.append(f'<div class="csSoft">and {len(names) - MOST_KERNELS} more</div>')
    if not names:
        lines.append('<div class="csSoft">no kernels</div>')
    return card("Module", about=f"on {m.device.name}", below="".join(lines))


def kernel(k: _core.Kernel) -> str:
    known = ask(lambda: k.attributes) if _core.may_look() else None
    rows = []
    if known is not None:
        rows = [
            ("registers", f"{known.registers} of each thread" if known.registers else None),
            ("shared memory", f"{byte_text(known.shared_size)} of each block" if known.shared_size else None),
            ("local memory", f"{byte_text(known.local_size)} of each thread" if known.local_size else None),
            ("block", f"up to {known.max_threads_per_block} threads"),
        ]
    return card("Kernel", rows, about=f"on {k.device.name}", below=f"<div>{_signature(k)}</div>")
