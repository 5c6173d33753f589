"""An IPython without a history or settings of its own, with the magics."""

from __future__ import annotations

import atexit

import pytest


class Notebook:
    """Runs cells as a notebook does, and returns their outputs."""

    def __init__(self, shell) -> None:
        self.shell = shell
        self.names = shell.user_ns

    def run(self, cell: str):
        """The value of the cell. Raises the exception of the cell."""
        done = self.shell.run_cell(cell, store_history=True)
        done.raise_error()
        return done.result

    def shown(self, cell: str):
        """Everything that the cell shows, and its exception or None."""
        from IPython.utils.capture import capture_output

        with capture_output() as shown:
            done = self.shell.run_cell(cell, store_history=True)
        return shown, done.error_in_exec or done.error_before_exec


@pytest.fixture
def notebook(device, tmp_path, monkeypatch):
    pytest.importorskip("IPython", reason="IPython is not installed")
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    # IPython warns where another environment is active than the one whose Python runs the tests.
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    made = Notebook(shell)
    made.run("import numpy as np, cuscope as cs\n%load_ext cuscope")
    yield made
    InteractiveShell.clear_instance()
    # Else the exit handlers keep all shells, and each collects all garbage when the process ends: 140 s after all tests.
    atexit.unregister(shell.atexit_operations)
