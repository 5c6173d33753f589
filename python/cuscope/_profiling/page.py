"""A profile as a page of a notebook: annotated source, findings and drawings. It has no scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .building import base_name
from .text import HEADS, cells_of, heading, legend
from .warp import draw

if TYPE_CHECKING:
    from .profile import Profile
    from .records import ProfiledAccess

__all__ = ["page"]

MOST_DRAWINGS = 3
STYLE = (
    "<style>"
    ".csProfile{font-size:13px;line-height:1.45;color:var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))}"
    ".csProfile table{border-collapse:collapse;margin:.4em 0;border:0;font-size:12px}"
    ".csProfile td,.csProfile th{padding:.1em .7em;border:0;text-align:right;white-space:nowrap;background:none;"
    "font-variant-numeric:tabular-nums}"
    ".csProfile tr,.csProfile tbody tr:nth-child(odd){background:none}"
    ".csProfile td:last-child,.csProfile th:last-child{text-align:left}"
    ".csProfile code{font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:12px;white-space:pre;"
    "background:none;color:inherit;padding:0;border:0}"
    ".csProfile .csFound{background:rgba(208,138,29,.18)}"
    ".csProfile .csSoft{opacity:.7}"
    ".csProfile ul{margin:.3em 0 .6em 1.2em;padding:0}"
    ".csProfile details{margin:.4em 0}"
    "</style>"
)


def _whole_source(profile: Profile) -> list[str]:
    source = profile._facts["source"]
    return str(source["text"]).splitlines() if source else []


def _table(profile: Profile) -> str:
    everything = sum(line.instructions for line in profile.lines)
    own = profile._own_file
    found = {finding.line for finding in profile.findings}
    mine = {line.number: line for line in profile.lines if line.number and base_name(line.file) == own}
    source = _whole_source(profile)
    rows: list[tuple[bool, list[str]]] = []
    if mine and source:
        first, last = min(mine), min(max(mine), len(source))
        for number in range(first, last + 1):
            cells: tuple[str, ...] = cells_of(mine[number], everything) if number in mine else ("",) * 7
            rows.append((number in found, [str(number), *cells, source[number - 1]]))
    for line in profile.lines:
        if line.number not in mine or base_name(line.file) != own:
            name = f"{line.file.rpartition('/')[2]}:{line.number}" if line.number else "no line"
            rows.append((False, [name, *cells_of(line, everything), line.text]))
    used = [i for i in range(len(HEADS)) if i in (0, 1, 2, 8) or any(cells[i] for _, cells in rows)]
    head = "".join(f"<th>{escape(HEADS[i])}</th>" for i in used)
    lines = []
    for marked, texts in rows:
        text = "".join(
            f"<td><code>{escape(texts[i])}</code></td>" if i == 8 else f"<td>{escape(texts[i])}</td>"
            for i in used
        )
        style = ' class="csFound"' if marked else ""
        lines.append(f"<tr{style}>{text}</tr>")
    compares = any("(" in cells[4] + cells[6] for _, cells in rows)
    below = f'<div class="csSoft">{escape(legend(compares))}</div>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{below}"


def _drawings(profile: Profile) -> str:
    """Of the instructions that findings are about, and of the others hidden behind a heading."""
    wanted = {
        (finding.line, space)
        for finding in profile.findings
        for space, rules in (
            ("global", ("uncoalesced", "misaligned", "narrow")),
            ("shared", ("bank conflict",)),
        )
        if finding.rule in rules
    }
    shown: list[ProfiledAccess] = []
    others: list[ProfiledAccess] = []
    for line in profile.lines:
        for one in line.accesses:
            wasteful = one.sectors > one.ideal_sectors or one.wavefronts > one.ideal_wavefronts
            (shown if (one.line, one.space) in wanted and wasteful else others).append(one)
    parts = [f"<div>{draw(profile, one)}</div>" for one in shown[:MOST_DRAWINGS]]
    rest = (shown[MOST_DRAWINGS:] + others)[: 2 * MOST_DRAWINGS]
    if rest:
        hidden = "".join(f"<div>{draw(profile, one)}</div>" for one in rest)
        parts.append(f"<details><summary>accesses of a warp at other lines</summary>{hidden}</details>")
    return "".join(parts)


def page(profile: Profile) -> str:
    parts = [f"<div><b>{escape(heading(profile))}</b></div>", _table(profile)]
    if profile.findings:
        items = "".join(
            f"<li>{f'line {f.line}: ' if f.line else ''}{escape(f.text)}. <span class='csSoft'>{escape(f.advice)}</span></li>"
            for f in profile.findings
        )
        parts.append(f"<ul>{items}</ul>")
    parts.append(_drawings(profile))
    if profile.time is not None:
        parts.append(f"<details><summary>roofline</summary>{profile.roofline().svg}</details>")
    if profile.note:
        parts.append(f'<div class="csSoft">{escape(profile.note)}</div>')
    return f'<div class="csProfile">{STYLE}{"".join(parts)}</div>'
