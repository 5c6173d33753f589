"""The operations where the package has no machine code of their kernels, as if nvcc had been missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import cuscope as cs


@pytest.mark.gpu_only("a simulated device compiles these kernels in all other tests")
@pytest.mark.parametrize(
    "expressions",
    [
        ("cs.sum(d)", "cs.mean(d, axis=0)", "cs.sum(d, axis=1)", "cs.prod(d, axis=1)", "cs.max(d, axis=0)"),
        ("cs.argmax(d, axis=0)", "cs.argmin(d)", "cs.any(d, axis=1)", "cs.dot(d[0], d[1])"),
        (
            "cs.sum(few, axis=0)",
            "cs.max(few, axis=0)",
            "cs.argmax(few, axis=0)",
            "cs.sum(d[:, :3].copy(), axis=0)",
        ),
        ("cs.matmul(d, d.T)", "cs.matmul(d[:4], d.T)", "d[::2, ::3].copy()", "d.T.copy()"),
    ],
)
def test_operations_compile_their_kernels_at_first_use(device, run_python, tmp_path, expressions):
    shutil.copytree(
        Path(cs.__file__).parent,
        tmp_path / "cuscope",
        ignore=shutil.ignore_patterns("*.fatbin", "__pycache__"),
    )

    answer = run_python(
        f"""
        from pathlib import Path
        import numpy as np
        import cuscope as cs

        assert not list((Path(cs.__file__).parent / "kernels").rglob("*.fatbin"))
        d = cs.to_device(np.arange(900, dtype=np.float32).reshape(30, 30) % 7)
        few = cs.to_device(np.arange(20000, dtype=np.float16).reshape(4, 5000) % 7)
        for expression in {expressions}:
            eval(expression)
            cs.synchronize()
        print("done")
        """,
        env={"CUSCOPE_CACHE_DIR": str(tmp_path / "cache")},
        timeout=200,
    )

    assert answer.stdout == "done\n", answer.stderr
