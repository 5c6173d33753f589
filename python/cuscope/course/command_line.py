"""``python -m cuscope notebooks``: copies the notebooks of the course to a folder."""

from __future__ import annotations

import argparse
import importlib.util
import shlex
import sys

from .copying import copy_notebooks

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        nargs="?",
        default="cuscope-notebooks",
        metavar="FOLDER",
        help="the folder, made if need be (default: cuscope-notebooks)",
    )
    parser.add_argument("--force", action="store_true", help="overwrite notebooks that you have changed")


def run(options: argparse.Namespace) -> int:
    """Copy, and print the state of each notebook and how to open them."""
    try:
        copied = copy_notebooks(options.folder, force=options.force)
    except OSError as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    notes = {"written": "", "unchanged": "", "kept": ": you have changed it; --force overwrites it"}
    for one in copied:
        print(f"{one.state:9} {one.path}{notes[one.state]}")
    if importlib.util.find_spec("jupyterlab") is None:
        print("\nTo get JupyterLab: pip install 'cuscope[notebook]'")
    print(f"\nTo open them: jupyter lab {shlex.quote(options.folder)}")
    return 0
