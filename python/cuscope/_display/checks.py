"""The picture of a report of ``cs.check()``: each finding with the lines of the source that it names."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator

from .._cells import current_shell
from .._checking import CheckReport, Finding
from .cards import BAD, BUSY, GOOD, QUIET, Marked, card, code, text

__all__ = ["report"]

MOST_FINDINGS = 30
COLOURS = {"error": BAD, "warning": BUSY, "note": QUIET}


def report(found: CheckReport) -> str:
    findings = found.findings
    numbers = [
        (severity, sum(finding.severity == severity for finding in findings))
        for severity in ("error", "warning", "note")
    ]
    counted = ", ".join(f"{n} {severity}{'' if n == 1 else 's'}" for severity, n in numbers if n)
    worst = next((severity for severity, n in numbers if n), None)
    rows: list[tuple[str, object]] = [
        ("launches", found.launches or None),
        ("commands", found.commands or None),
    ]
    rows += [("not checked", kernel) for kernel in found.unchecked]
    below = "".join(_finding(finding) for finding in findings[:MOST_FINDINGS])
    if len(findings) > MOST_FINDINGS:
        below += f'<div class="csSoft">and {len(findings) - MOST_FINDINGS} more</div>'
    below += "".join(f'<div class="csSoft">{text(note)}</div>' for note in found._notes)
    state = (COLOURS[worst], counted) if worst else (GOOD, "no mistake found")
    return card("Check", rows, state=state, below=below)


def _finding(finding: Finding) -> str:
    dot = f'<span class="csDot" style="margin-left:0;background:{COLOURS[finding.severity]}"></span>'
    times = f' <span class="csSoft">{finding.count} times</span>' if finding.count > 1 else ""
    where = Marked(f" in kernel {code(finding.kernel)}") if finding.kernel else ""
    parts = [f"<div>{dot}<b>{text(finding.kind)}</b>{where}{times}</div>"]
    if lines := "\n".join(_lines(finding)):
        parts.append(f"<pre>{lines}</pre>")
    parts.append(f"<div>{text(finding.text)}</div>")
    if finding.drawing:
        parts.append(f"<pre>{text(finding.drawing)}</pre>")
    parts.append(f"<div>{text(finding.advice)}</div>")
    if finding.code:
        place = finding.code_before or "the later call"
        parts.append(f"<div>Missing before {text(place)}: {code(finding.code)}</div>")
    return (
        '<div style="margin-top:.6em;padding-top:.5em;border-top:1px solid rgba(128,128,128,.4);max-width:60em">'
        + "".join(parts)
        + "</div>"
    )


def _lines(finding: Finding) -> Iterator[str]:
    """The lines of the source, the earlier one first; none that is not known."""
    lines = dict.fromkeys(filter(None, (finding.other_line, finding.line)))
    known = [(line, source) for line in lines if (source := source_of(line, finding.kernel)) is not None]
    width = max((len(line) for line, _ in known), default=0)
    for line, source in known:
        yield f'<span class="csSoft">{text(line.ljust(width))}</span>  {text(source.strip())}'


def source_of(line: str, kernel: str) -> str | None:
    """The text of a line; None if it is not known.

    "Cell In[3]:2" is a line of the notebook, "cell:5" one of %%cuda, "kernel.cu:4" one of a string in the notebook that
    has a kernel of this name; others are lines of files.
    """
    name, _, number = line.rpartition(":")
    if not number.isdecimal():
        return None
    if kernel or name.startswith("Cell In["):
        lines = _cell(name, kernel).split("\n")
        return lines[int(number) - 1] if 0 < int(number) <= len(lines) else None
    return linecache.getline(name, int(number)).rstrip("\n") or None


def _cell(name: str, kernel: str) -> str:
    shell = current_shell()
    if shell is None:
        return ""
    cells: list[str] = list(shell.history_manager.input_hist_raw)
    if (found := re.fullmatch(r"Cell In\[(\d+)\]", name)) is not None:
        return cells[int(found[1])] if int(found[1]) < len(cells) else ""
    is_of_kernel = re.compile(rf"\b{re.escape(kernel.partition('<')[0])}\s*\(")
    magic = re.compile(rf"\s*%%cuda\b.*{re.escape(name.removeprefix('cell').strip())}")
    # A kernel may have been compiled several times: the last cell counts.
    for cell in reversed(cells):
        if name.startswith("cell"):
            sources = [cell] if magic.match(cell) else []
        else:
            sources = re.findall(r'"""(.*?)"""', cell, re.DOTALL)
        for source in sources:
            if is_of_kernel.search(source):
                return source
    return ""
