"""The operations where the package has no machine code of their kernels, as if nvcc had been missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import cuscope as cs
from reduction_plans import instance, planned_axis

FEW_ROWS = (4, 1 << 18)


@pytest.mark.gpu_only("a simulated device compiles these kernels in all other tests")
@pytest.mark.parametrize(
    "expressions",
    [
        ("xp.sum(x)", "xp.mean(x, axis=0)", "xp.sum(x, axis=1)", "xp.prod(x, axis=1)", "xp.max(x, axis=0)"),
        ("xp.argmax(x, axis=0)", "xp.argmin(x)", "xp.any(x, axis=1)", "xp.dot(x[0], x[1])"),
        ("xp.sum(few, axis=0)", "xp.max(few, axis=0)", "xp.argmax(few, axis=0)", "xp.prod(x[:, :3], axis=0)"),
        ("xp.matmul(x, x.T)", "xp.matmul(x[:4], x.T)", "x[::2, ::3].copy()", "x.T.copy()"),
    ],
)
def test_operations_compile_their_kernels_at_first_use(device, run_python, tmp_path, expressions):
    # The kernel with the most lambdas is among those that are compiled.
    _, _, (_, element, value) = instance("sum", "float16", "float16")
    multiprocessors = device.properties.multiprocessor_count
    assert planned_axis((1, *FEW_ROWS), element, value, multiprocessors)[0] == "shallow"
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

        def results(xp, array):
            x = array((np.arange(900) % 7).astype(np.float32).reshape(30, 30))
            few = array((np.arange({FEW_ROWS[0] * FEW_ROWS[1]}) % 7).astype(np.float16).reshape({FEW_ROWS}))
            for expression in {expressions}:
                yield eval(expression, {{"xp": xp, "x": x, "few": few}})

        for result, expected in zip(results(cs, cs.to_device), results(np, np.asarray)):
            result = result.to_host() if isinstance(result, cs.DeviceArray) else result
            np.testing.assert_allclose(result, expected, rtol=1e-6)
        print("done")
        """,
        env={"CUSCOPE_CACHE_DIR": str(tmp_path / "cache")},
        timeout=200,
    )

    assert answer.stdout == "done\n", answer.stderr
