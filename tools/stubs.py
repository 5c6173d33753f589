"""Writes python/cuscope/_core.pyi from the installed extension; with --check, tells whether it is up to date."""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "python" / "cuscope" / "_core.pyi"


def generate() -> str:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pybind11_stubgen", "cuscope._core", "--numpy-array-use-type-var"]
        subprocess.run([*command, "--exit-code", "-o", folder], check=True, cwd=folder)
        path = Path(folder) / "cuscope" / "_core.pyi"
        if not path.exists():  # the stub is a package if the extension has submodules
            path = Path(folder) / "cuscope" / "_core" / "__init__.pyi"
        options = ["--config", str(ROOT / "pyproject.toml")]
        subprocess.run([sys.executable, "-m", "ruff", "format", "-q", *options, str(path)], check=True)
        # The options of this build are values, not types.
        return re.sub(
            r"build_config: dict = \{.*?\n\}",
            "build_config: dict[str, str]",
            path.read_text(),
            flags=re.DOTALL,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 if the stub is not up to date"
    )
    check = parser.parse_args().check
    text = generate()
    if not check:
        STUB.write_text(text)
        return 0
    committed = STUB.read_text() if STUB.exists() else ""
    if committed == text:
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(committed.splitlines(True), text.splitlines(True), "committed", "generated")
    )
    print("\npython/cuscope/_core.pyi is not up to date: python tools/stubs.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
