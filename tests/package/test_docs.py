"""Every Python program in README.md and docs/ runs as it stands, and every link leads to a file and a heading."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents import PAGES, name_of, prepare, programs, prose

PROGRAMS = [
    pytest.param(page, program, id=f"{name_of(page)}-{number}")
    for page in PAGES
    for number, program in enumerate(programs(page))
]
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)")


def anchors(page: Path) -> set[str]:
    """The headings of a page as code hosts and the site name them."""
    headings = re.findall(r"^#+ +(.*)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize(("page", "program"), PROGRAMS)
def test_program_of_a_document_runs(
    page: Path, program: str, device: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(program, monkeypatch)
    with device:
        exec(compile(program, str(page), "exec"), {"__name__": "program"})


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_of_a_document_lead_to_files_and_headings(page: Path) -> None:
    for link, anchor in LINK.findall(re.sub(r"`[^`]*`", "", prose(page))):
        target = page.parent / link if link else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), f"{link}#{anchor}"
