"""Every Python program in README.md and docs/ runs as it stands, and every link to a file leads somewhere."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = [
    pytest.param(page, program, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, program in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    )
]


@pytest.mark.parametrize(("page", "program"), PROGRAMS)
def test_program_of_a_document_runs(
    page: Path, program: str, device: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "NumPy 2.1" in program and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("needs NumPy 2.1")
    if "explain_time" in program:
        monkeypatch.delenv("CUSCOPE_KERNEL_TIME", raising=False)
    with device:
        exec(compile(program, str(page), "exec"), {"__name__": "program"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_a_document_lead_to_files(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / link).exists(), link
